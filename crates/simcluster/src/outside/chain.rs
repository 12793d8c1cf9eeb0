//! A chain: how high it is at a time, whether it stands, when it wants another binary. *No client.*

use jiff::{SignedDuration, Timestamp};

/// A planned upgrade.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Upgrade {
    /// The name of the plan.
    pub name: String,
    /// At this height the old binary stops.
    pub height: u64,
    /// The image that goes on.
    pub image: String,
}

/// A chain that makes a block every so often.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Chain {
    /// Its ID.
    pub id: String,
    /// The height at `since`.
    pub height: u64,
    /// When it had that height.
    pub since: Timestamp,
    /// How long a block takes; more than zero.
    pub block_every: SignedDuration,
    /// Whether it makes no more blocks.
    pub halted: bool,
    /// Upgrades, by height.
    pub upgrades: Vec<Upgrade>,
}

impl Chain {
    /// The height at a time.
    #[must_use]
    pub fn height_at(&self, time: Timestamp) -> u64 {
        if self.halted {
            return self.height;
        }
        let passed = time.duration_since(self.since).as_millis().max(0);
        let blocks = passed / self.block_every.as_millis().max(1);
        self.height.saturating_add(u64::try_from(blocks).unwrap_or_default())
    }

    /// When a height is reached, unless the chain stands before that.
    #[must_use]
    pub fn time_of(&self, height: u64) -> Option<Timestamp> {
        let blocks = height.saturating_sub(self.height);
        if self.halted && blocks > 0 {
            return None;
        }
        let wait = self.block_every.checked_mul(i32::try_from(blocks).ok()?)?;
        self.since.checked_add(wait).ok()
    }

    /// Stops making blocks, or goes on.
    pub(crate) fn set_halted(&mut self, halted: bool, now: Timestamp) {
        self.height = self.height_at(now);
        self.since = now;
        self.halted = halted;
    }

    /// The upgrade at which a node with this image stops: the first one after that which the image is made for. An image
    /// that no upgrade names is the one from before all of them.
    #[must_use]
    pub fn stops_at(&self, image: &str) -> Option<&Upgrade> {
        let made_for =
            self.upgrades.iter().filter(|upgrade| upgrade.image == image).map(|upgrade| upgrade.height).max();
        self.upgrades
            .iter()
            .filter(|upgrade| made_for.is_none_or(|made| upgrade.height > made))
            .min_by_key(|upgrade| upgrade.height)
    }

    /// The upgrade that an image is made for, if a node at `height` has not come to it yet.
    #[must_use]
    pub fn too_new(&self, height: u64, image: &str) -> Option<&Upgrade> {
        self.upgrades.iter().find(|upgrade| upgrade.image == image && upgrade.height > height.saturating_add(1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chain() -> Chain {
        Chain {
            id: "lab".to_owned(),
            height: 100,
            since: Timestamp::UNIX_EPOCH,
            block_every: SignedDuration::from_secs(5),
            halted: false,
            upgrades: vec![Upgrade { name: "v2".to_owned(), height: 110, image: "chain:2".to_owned() }],
        }
    }

    #[test]
    fn heights_and_times_fit_together() {
        let chain = chain();
        let time = chain.time_of(110).expect("a time");
        assert_eq!((chain.height_at(time), chain.height_at(Timestamp::UNIX_EPOCH)), (110, 100));
    }

    #[test]
    fn a_halted_chain_stands() {
        let mut chain = chain();
        let (stop, much_later) = (chain.time_of(104).expect("a time"), chain.time_of(500).expect("a time"));
        chain.set_halted(true, stop);
        assert_eq!((chain.height_at(much_later), chain.time_of(105)), (104, None));
        chain.set_halted(false, much_later);
        assert_eq!(chain.height_at(much_later), 104);
    }

    #[test]
    fn an_upgrade_stops_the_old_image_and_the_new_one_may_not_come_early() {
        let chain = chain();
        assert_eq!(chain.stops_at("chain:1").map(|upgrade| upgrade.height), Some(110));
        assert_eq!(chain.stops_at("chain:2"), None);
        assert!(chain.too_new(100, "chain:2").is_some() && chain.too_new(110, "chain:2").is_none());
    }
}
