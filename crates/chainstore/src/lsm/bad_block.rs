//! A block that does not fit its checksum: read again, then attributed. *Files, read-only.*

use crate::attribution::{self, BadBlock};
use crate::data_file::{DataFile, SecondRead};
use crate::lsm::block::Handle;
use crate::lsm::trailer::{Checksum, Trailer};
use crate::read_error::{ReadError, ReadProblem};
use crate::store::Place;
use crate::{Attribution, Check, Finding, FindingKind, Reason};

/// A block above this is judged without being held whole.
const HELD_BYTES_MAX: u64 = 8 << 20;

/// Judges a block that did not fit its checksum when it was first read.
pub(crate) fn judge(place: &Place, file: &DataFile, handle: Handle, what: &str, first: Trailer) -> Check {
    let finding = |kind, detail: String| Finding::new(kind, &place.database, file.path(), detail).at(handle.offset);
    let expected = format!("{:#010x}", first.stored);
    let computed = format!("{:#010x}", first.computed);
    let stored_bytes = handle.stored_bytes();
    let held = if stored_bytes <= HELD_BYTES_MAX {
        match file.read_range(handle.offset, stored_bytes, HELD_BYTES_MAX) {
            Ok(held) => held,
            Err(error) => return unreadable(place, file, &error, what, handle.offset),
        }
    } else {
        Vec::new()
    };
    let differs = |at: u64| {
        let detail =
            format!("{what}: read a second time, byte {at} was another: the machine is sick, the file may be right");
        finding(FindingKind::ReadsDiffer, detail).into()
    };
    if !held.is_empty() && Trailer::of(&held, first.checksum).is_none_or(|again| again != first) {
        return differs(handle.offset);
    }
    match file.read_again(&held, handle.offset) {
        SecondRead::Same => {}
        SecondRead::Differs(at) => return differs(at),
        SecondRead::Failed(error) => return unreadable(place, file, &error, what, handle.offset),
    }
    let attribution = if held.is_empty() {
        attribution::of_pages(&place.dir, file, handle.offset, HELD_BYTES_MAX)
    } else {
        let bad = BadBlock { offset: handle.offset, bytes: &held };
        match first.checksum {
            Checksum::Crc32c => attribution::of_crc_block(&place.dir, file, &bad),
            Checksum::XxHash64 => {
                attribution::of_hashed_block(&place.dir, file, &bad, |covered| first.checksum.of(covered))
            }
        }
    };
    finding(FindingKind::BlockChecksum, format!("{what} of {} bytes does not fit its checksum", handle.size))
        .values(expected, computed)
        .by(attribution)
        .into()
}

/// A read that failed: the device's error is evidence, a file that ends early is truncation, all else is untold.
pub(crate) fn unreadable(place: &Place, file: &DataFile, error: &ReadError, what: &str, offset: u64) -> Check {
    let finding = |kind| Finding::new(kind, &place.database, file.path(), format!("{what}: {error}")).at(offset);
    match &error.problem {
        ReadProblem::Io { errno, .. } if error.problem.is_device_error() => {
            finding(FindingKind::ReadError).by(Attribution::IoError { errno: *errno }).into()
        }
        ReadProblem::Short { .. } => {
            finding(FindingKind::TableSize).by(Attribution::Truncation { missing: None }).into()
        }
        _ => Reason::Unreadable(error.clone()).into(),
    }
}
