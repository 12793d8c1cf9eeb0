//! Files whose hash somebody recorded: contract code, chunks of snapshots. *Files, read-only.*

use crate::data_file::{DataFile, SecondRead};
use crate::digest::{Hash32, Hasher};
use crate::files::DataDir;
use crate::read_error::ReadProblem;
use crate::{Reason, store::WINDOW_BYTES};

/// What a file is, compared with its hash.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Blob {
    /// It is there (and has the hash, if that was asked for).
    Right,
    /// It is not there.
    Missing,
    /// Both reads gave other content than the hash is of.
    Wrong(Hash32),
    /// Two reads gave different bytes: the machine is sick, the file may be right.
    ReadsDiffer,
    /// Could not look.
    Untold(Reason),
}

/// Looks at a file, and with `hash` reads all of it, a wrong one twice.
pub(crate) fn look(dir: &DataDir, name: &str, expected: Hash32, hash: bool) -> Blob {
    let file = match dir.file(name) {
        Ok(file) => file,
        Err(error) if error.problem == ReadProblem::Missing => return Blob::Missing,
        Err(error) => return Blob::Untold(Reason::Unreadable(error)),
    };
    if !hash {
        return Blob::Right;
    }
    match hash_of(&file, false) {
        Ok(Read { hash, .. }) if hash == expected => Blob::Right,
        // Proven means twice, past the page cache.
        Ok(first) => match hash_of(&file, true) {
            Ok(second) if second.differs || second.hash != first.hash => Blob::ReadsDiffer,
            Ok(_) => Blob::Wrong(first.hash),
            Err(reason) => Blob::Untold(reason),
        },
        Err(reason) => Blob::Untold(reason),
    }
}

struct Read {
    hash: Hash32,
    differs: bool,
}

/// The hash of a file, read window by window; with `again`, each window a second time past the page cache.
fn hash_of(file: &DataFile, again: bool) -> Result<Read, Reason> {
    file.will_read_all();
    let (mut hasher, mut at, mut differs) = (Hasher::default(), 0_u64, false);
    let mut window = vec![0; WINDOW_BYTES];
    loop {
        if file.meter().interrupted() {
            return Err(Reason::Interrupted);
        }
        let count = file.read_up_to_at(&mut window, at)?;
        let Some(bytes) = window.get(..count).filter(|bytes| !bytes.is_empty()) else {
            return Ok(Read { hash: hasher.finish(), differs });
        };
        hasher.add(bytes);
        if again {
            match file.read_again(bytes, at) {
                SecondRead::Same => {}
                SecondRead::Differs(_) => differs = true,
                SecondRead::Failed(error) => return Err(Reason::Unreadable(error)),
            }
        }
        at = at.saturating_add(count as u64);
    }
}
