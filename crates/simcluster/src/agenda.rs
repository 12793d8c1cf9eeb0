//! What the models are to look at, and when. *No client.*

use std::collections::BTreeMap;

use jiff::Timestamp;

use crate::server::Key;

/// Each model's work queue, in one order of time. Two entries of the same moment keep the order in which they came.
#[derive(Debug, Default)]
pub(crate) struct Agenda {
    due: BTreeMap<(Timestamp, u64), (usize, Key)>,
    places: BTreeMap<(usize, Key), (Timestamp, u64)>,
    count: u64,
}

impl Agenda {
    /// Adds a look at something. What is to be looked at earlier already stays as it is.
    pub(crate) fn add(&mut self, at: Timestamp, model: usize, key: Key) {
        let entry = (model, key);
        if let Some(place) = self.places.get(&entry) {
            if place.0 <= at {
                return;
            }
            self.due.remove(place);
        }
        self.count += 1;
        let place = (at, self.count);
        self.places.insert(entry.clone(), place);
        self.due.insert(place, entry);
    }

    /// When there is something to do next.
    pub(crate) fn next(&self) -> Option<Timestamp> {
        self.due.first_key_value().map(|((at, _), _)| *at)
    }

    /// The next entry that is due.
    pub(crate) fn take_due(&mut self, now: Timestamp) -> Option<(usize, Key)> {
        if self.next()? > now {
            return None;
        }
        let (_, entry) = self.due.pop_first()?;
        self.places.remove(&entry);
        Some(entry)
    }
}

#[cfg(test)]
mod tests {
    use jiff::SignedDuration;

    use super::*;

    #[test]
    fn the_earlier_look_wins_and_ties_keep_their_order() {
        let at = |milliseconds| Timestamp::UNIX_EPOCH + SignedDuration::from_millis(milliseconds);
        let key = |name| Key::new("pods", "a", name);
        let mut agenda = Agenda::default();
        agenda.add(at(9), 0, key("x"));
        agenda.add(at(5), 1, key("x"));
        agenda.add(at(5), 0, key("x"));
        agenda.add(at(7), 0, key("x"));
        assert_eq!(agenda.take_due(at(4)), None);
        assert_eq!(agenda.take_due(at(5)), Some((1, key("x"))));
        assert_eq!(agenda.take_due(at(5)), Some((0, key("x"))));
        assert_eq!(agenda.next(), None);
    }
}
