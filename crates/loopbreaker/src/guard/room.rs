//! Where a ring may stand, and how large it grows. *No client.*

use std::path::Path;

use chainstore::ring::{Checked, Ring, RingEntry};

use super::writer;

/// Why a ring must not stand there.
pub(super) fn is_in_data(ring: &Path, home: &Path) -> Option<&'static str> {
    let real = |path: &Path| {
        let known = path.ancestors().find_map(|known| Some((known.canonicalize().ok()?, known)));
        known.map(|(real, known)| real.join(path.strip_prefix(known).unwrap_or(Path::new(""))))
    };
    let (ring, home) = (real(ring)?, real(home)?);
    if ring.starts_with(home.join("data")) || real(&home.join("data")).is_some_and(|data| ring.starts_with(data)) {
        return Some("the ring would be in the data directory (give --ring DIR, outside of it)");
    }
    let is_data = ["application.db", "state.db", "blockstore.db"].iter().any(|name| home.join(name).is_dir());
    (is_data && ring.starts_with(&home)).then_some(
        "--home is a data directory, and the ring would be in it (give the home, or --ring DIR outside of it)",
    )
}

/// The oldest entries go, but the first one of a crash loop stays: it is from before the engine came. `bytes` is what the
/// new entry has, or will have.
pub(super) fn make(path: &Path, ring: &Ring, entry: &RingEntry, bytes: u64, keep: u16, bytes_max: u64) {
    let numbers = ring.older.iter().copied().chain(ring.slots.iter().map(|slot| slot.sequence));
    let here = numbers.map(|sequence| (sequence, writer::entry_of(path, sequence))).filter(|(_, dir)| dir.is_dir());
    let mut entries: Vec<(u64, u64)> = here.map(|(sequence, dir)| (sequence, writer::size(&dir))).collect();
    entries.push((entry.sequence, bytes));
    for sequence in to_remove(&entries, first_of_loop(ring, entry), keep, bytes_max) {
        writer::remove(path, sequence);
    }
}

/// The first entry of the loop that the newest one is in: the earliest of those, one after the other, that saw damage or
/// carry it on.
fn first_of_loop(ring: &Ring, newest: &RingEntry) -> Option<u64> {
    let is_sick = |entry: &RingEntry| entry.outcome.as_deref() == Some("damaged") || !entry.earlier.is_empty();
    // Where nobody looked, the loop may go on.
    let is_unknown = |entry: &RingEntry| entry.checked == Checked::Nothing && !is_sick(entry);
    let carried = newest.earlier.iter().map(|kept| kept.sequence).min();
    let known = ring.slots.iter().rev().filter(|slot| !slot.entry().is_some_and(is_unknown));
    let before = known.map_while(|slot| slot.entry().filter(|entry| is_sick(entry)));
    let loop_before = before.map(|entry| entry.sequence).min();
    (is_sick(newest) || is_unknown(newest)).then(|| carried.into_iter().chain(loop_before).min()).flatten()
}

/// Which entries go, of `(sequence, bytes)` from the oldest to the newest.
fn to_remove(entries: &[(u64, u64)], protected: Option<u64>, keep: u16, bytes_max: u64) -> Vec<u64> {
    let newest = entries.last().map(|(sequence, _)| *sequence);
    let mut count = entries.len();
    let mut bytes: u64 = entries.iter().map(|(_, bytes)| *bytes).sum();
    let mut gone = Vec::new();
    for (sequence, size) in entries {
        let is_needed = Some(*sequence) == protected || Some(*sequence) == newest;
        if is_needed || (count <= usize::from(keep) && bytes <= bytes_max) {
            continue;
        }
        count = count.saturating_sub(1);
        bytes = bytes.saturating_sub(*size);
        gone.push(*sequence);
    }
    gone
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_go_but_the_first_of_a_loop_stays() {
        let entries: Vec<(u64, u64)> = (1..=6).map(|sequence| (sequence, 100)).collect();
        assert_eq!(to_remove(&entries, None, 6, 600), Vec::<u64>::new());
        assert_eq!(to_remove(&entries, None, 4, 600), [1, 2]);
        assert_eq!(to_remove(&entries, Some(1), 4, 600), [2, 3]);
        assert_eq!(to_remove(&entries, Some(1), 6, 250), [2, 3, 4, 5]);
        assert_eq!(to_remove(&entries, None, 6, 0), [1, 2, 3, 4, 5]);
    }
}
