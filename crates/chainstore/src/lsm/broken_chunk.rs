//! By what a broken chunk was likely made, and whether a crash can have left it. *No files.*

use crate::attribution::{flip_in_covered, flip_in_masked_checksum};
use crate::data_file::PAGE;
use crate::lsm::framing::{Chunk, ChunkState, Dialect, chunk_at, covered};
use crate::read_error::{ReadError, ReadProblem};
use crate::{Attribution, crc32c, unmask};

/// Other bytes than those written, neither missing nor zero, are not what a crash leaves.
pub(crate) fn can_be_torn(from_header: &[u8], chunk: &Chunk, dialect: Dialect) -> bool {
    match chunk.state {
        ChunkState::ZeroHeader | ChunkState::Overflow | ChunkState::LogEnds => true,
        // Where files are used again, an earlier log's bytes stand behind the last one written.
        _ if dialect.log_number.is_some() => true,
        ChunkState::Good | ChunkState::UnknownKind | ChunkState::BadChecksum(_) => {
            from_header.ends_with(&[0; 16]) || zeroed_page(from_header, chunk.offset).is_some()
        }
    }
}

/// One flipped bit in payload, log number or type, in the stored checksum, or in the length.
pub(crate) fn attribute(from_header: &[u8], chunk: &Chunk, dialect: Dialect) -> Attribution {
    let flip =
        |byte: usize, bit: u8| Attribution::SingleBitFlip { offset: chunk.offset.saturating_add(byte as u64), bit };
    if chunk.state == ChunkState::ZeroHeader {
        let zeros = from_header.iter().take_while(|byte| **byte == 0).count() as u64;
        return Attribution::ZeroedPage { offset: chunk.offset, bytes: zeros };
    }
    // The type byte itself may be the flipped one, so each length of header is tried.
    let mut probe = from_header.to_vec();
    for header in [dialect.shortest, dialect.longest] {
        let guess = Chunk { header, ..*chunk };
        let Some(covered) = covered(from_header, &guess) else { continue };
        let found =
            flip_in_covered(covered, unmask(chunk.stored)).map(|found| (found.byte.saturating_add(6), found.bit));
        let stored = flip_in_masked_checksum(chunk.stored, crc32c(covered))
            .map(|bit| (usize::try_from(bit / 8).unwrap_or_default(), u8::try_from(bit % 8).unwrap_or_default()));
        let candidates = found.into_iter().chain(stored).filter(|(byte, bit)| is_own(&mut probe, *byte, *bit, dialect));
        if let Some((byte, bit)) = { candidates }.next() {
            return flip(byte, bit);
        }
        if dialect.shortest == dialect.longest {
            break;
        }
    }
    if let Some(zeroed) = zeroed_page(from_header, chunk.offset) {
        return zeroed;
    }
    for bit in 0..16_u8 {
        let (byte, in_byte) = (usize::from(4 + bit / 8), bit % 8);
        if is_own(&mut probe, byte, in_byte, dialect) {
            return flip(byte, in_byte);
        }
    }
    Attribution::Unknown
}

/// Whether flipping one bit makes a good chunk of this very log. Behind a log's end there may be an earlier log's bytes,
/// and whatever is wrong with those harms nobody.
fn is_own(probe: &mut [u8], byte: usize, bit: u8, dialect: Dialect) -> bool {
    let toggle = |probe: &mut [u8]| probe.get_mut(byte).into_iter().for_each(|broken| *broken ^= 1 << bit);
    toggle(probe);
    let own = chunk_at(probe, 0, 0, dialect)
        .is_some_and(|chunk| chunk.is_good() && chunk.length > 0 && chunk.log_number == dialect.log_number);
    toggle(probe);
    own
}

/// The first run of whole pages of zeros from a chunk on.
fn zeroed_page(bytes: &[u8], offset: u64) -> Option<Attribution> {
    let front = usize::try_from(offset.next_multiple_of(PAGE).checked_sub(offset)?).ok()?;
    let page_bytes = usize::try_from(PAGE).ok()?;
    let pages = bytes.get(front..)?.chunks_exact(page_bytes);
    let is_zero = |page: &&[u8]| page.iter().all(|byte| *byte == 0);
    let before = pages.clone().take_while(|page| !is_zero(page)).count() as u64;
    let zeros = pages.skip(usize::try_from(before).ok()?).take_while(is_zero).count() as u64;
    let first = offset.next_multiple_of(PAGE).saturating_add(before.saturating_mul(PAGE));
    (zeros > 0).then(|| Attribution::ZeroedPage { offset: first, bytes: zeros.saturating_mul(PAGE) })
}

/// An error number that a device gave, for attribution.
pub(crate) fn io_attribution(error: &ReadError) -> Attribution {
    match error.problem {
        ReadProblem::Io { errno, .. } => Attribution::IoError { errno },
        _ => Attribution::Unknown,
    }
}
