//! The kubelet's crash back-off: none after the first crash, then 10 s doubling to 300 s, forgotten after 600 s. *No client.*
//!
//! As client-go's `flowcontrol.Backoff` is used by `kuberuntime`'s `doBackOff`: what counts is the time from the end of the
//! container; an entry that was last touched more than twice the maximum before that end starts anew.

use jiff::{SignedDuration, Timestamp};

const FIRST: SignedDuration = SignedDuration::from_secs(10);
const MOST: SignedDuration = SignedDuration::from_secs(300);
const FORGOTTEN: SignedDuration = SignedDuration::from_secs(600);

/// One container's entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct BackOff {
    entry: Option<(SignedDuration, Timestamp)>,
}

impl BackOff {
    fn entry_for(self, ended: Timestamp) -> Option<(SignedDuration, Timestamp)> {
        self.entry.filter(|(_, touched)| ended.duration_since(*touched) <= FORGOTTEN)
    }

    /// When a container that ended may be started again.
    pub(super) fn until(self, ended: Timestamp) -> Timestamp {
        self.entry_for(ended).and_then(|(delay, _)| ended.checked_add(delay).ok()).unwrap_or(ended)
    }

    /// How long this wait is.
    pub(super) fn delay(self, ended: Timestamp) -> SignedDuration {
        self.entry_for(ended).map_or(SignedDuration::ZERO, |(delay, _)| delay)
    }

    /// The container is started again now.
    pub(super) fn touch(&mut self, ended: Timestamp, now: Timestamp) {
        let delay = self.entry_for(ended).map_or(FIRST, |(delay, _)| delay.saturating_mul(2).min(MOST));
        self.entry = Some((delay, now));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_double_to_five_minutes_and_are_forgotten_after_ten_good_ones() {
        let mut back_off = BackOff::default();
        let mut now = Timestamp::UNIX_EPOCH;
        let mut waits = Vec::new();
        for _ in 0..8 {
            let ended = now + SignedDuration::from_secs(1);
            now = back_off.until(ended);
            waits.push(now.duration_since(ended).as_secs());
            back_off.touch(ended, now);
        }
        assert_eq!(waits, [0, 10, 20, 40, 80, 160, 300, 300]);
        let long_after = now + SignedDuration::from_secs(601);
        assert_eq!(back_off.until(long_after), long_after);
        back_off.touch(long_after, long_after);
        assert_eq!(back_off.delay(long_after), FIRST);
    }
}
