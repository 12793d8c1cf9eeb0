//! The consensus log's records: checksum, length, message. *No files.*
//!
//! Source: CometBFT `consensus/wal.go`, `proto/tendermint/consensus/wal.proto`; formats 8.3. Both numbers are big-endian, the
//! checksum is CRC-32C, not masked. Reading ends at the first record that is not one, and says what kind of end it is.

use crate::proto::Message;
use crate::{Cut, CutError, Part, crc32c};

/// `maxMsgSizeBytes`: one MiB for a message, and 24 bytes for its time.
const MESSAGE_BYTES_MAX: u64 = (1 << 20) + 24;

/// What is in a log, or in a piece of it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct WalRecords {
    /// How many records are right.
    pub records: u64,
    /// The last height that was ended.
    pub end_height: Option<u64>,
    /// How many bytes the right records have.
    pub bytes: u64,
    /// How reading ended.
    pub end: WalEnd,
}

/// How reading a log ended.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum WalEnd {
    /// After a whole record.
    #[default]
    Clean,
    /// Inside a record: the end of a write that was cut off, or of the piece.
    Torn,
    /// In zeros: space that was reserved and not written.
    Zeros,
    /// A length that no record has, or a record that does not fit its checksum, with nothing to tell where the next begins.
    Broken,
    /// A record that does not fit its checksum, while the one after it does: bytes were changed on disk.
    Changed {
        /// The checksum that the record names.
        expected: u32,
        /// The checksum of its bytes.
        computed: u32,
    },
    /// A record that fits its checksum and is no message of the log.
    NotAMessage(String),
}

/// Reads a log from its first byte.
#[must_use]
pub fn read_wal(bytes: &[u8]) -> WalRecords {
    let mut found = WalRecords::default();
    let mut cut = Cut::new(bytes, 0);
    while !cut.is_empty() {
        if cut.rest().iter().all(|byte| *byte == 0) {
            found.end = WalEnd::Zeros;
            return found;
        }
        let mut record = cut;
        match next_record(&mut record) {
            Ok(Record::Message(data)) => match end_height(data) {
                Ok(height) => found.end_height = height.or(found.end_height),
                Err(error) => {
                    found.end = WalEnd::NotAMessage(error.to_string());
                    return found;
                }
            },
            Ok(Record::Mismatch { expected, computed }) => {
                let next_is_right = matches!(next_record(&mut record), Ok(Record::Message(data)) if !data.is_empty());
                found.end = if next_is_right { WalEnd::Changed { expected, computed } } else { WalEnd::Broken };
                return found;
            }
            Ok(Record::TooLong) => {
                found.end = WalEnd::Broken;
                return found;
            }
            Err(_) => {
                found.end = WalEnd::Torn;
                return found;
            }
        }
        cut = record;
        found.records = found.records.saturating_add(1);
        found.bytes = cut.offset();
    }
    found
}

enum Record<'a> {
    Message(&'a [u8]),
    Mismatch { expected: u32, computed: u32 },
    TooLong,
}

fn next_record<'a>(cut: &mut Cut<'a>) -> Result<Record<'a>, CutError> {
    let expected = cut.u32_be(Part::new("checksum"))?;
    let length = u64::from(cut.u32_be(Part::new("length"))?);
    if length > MESSAGE_BYTES_MAX {
        return Ok(Record::TooLong);
    }
    let data = cut.take(Part::new("message"), length)?.rest();
    let computed = crc32c(data);
    Ok(if computed == expected { Record::Message(data) } else { Record::Mismatch { expected, computed } })
}

/// The height that a `TimedWALMessage` ends, if it ends one.
fn end_height(data: &[u8]) -> Result<Option<u64>, CutError> {
    let mut height = None;
    let mut timed = Message::new(data);
    while let Some(field) = timed.next_field()? {
        if field.number != 2 {
            continue;
        }
        let mut message = field.message(Part::new("msg"))?;
        while let Some(field) = message.next_field()? {
            if field.number == 4 {
                height = Some(inner_height(field.message(Part::new("end_height"))?)?);
            }
        }
    }
    Ok(height)
}

/// A height of 0 is not written at all.
fn inner_height(mut message: Message<'_>) -> Result<u64, CutError> {
    let mut height = 0;
    while let Some(field) = message.next_field()? {
        if field.number == 1 {
            height = field.height(Part::new("height"))?;
        }
    }
    Ok(height)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn record(data: &[u8]) -> Vec<u8> {
        let length = u32::try_from(data.len()).unwrap();
        [&crc32c(data).to_be_bytes()[..], &length.to_be_bytes(), data].concat()
    }

    /// A message that ends a height below 128.
    fn ends(height: u8) -> Vec<u8> {
        record(&[0x0a, 2, 0x08, 1, 0x12, 4, 0x22, 2, 0x08, height])
    }

    fn log() -> Vec<u8> {
        [ends(10), record(&[0x0a, 2, 0x08, 1]), ends(11), ends(12)].concat()
    }

    #[test]
    fn a_whole_log() {
        let found = read_wal(&log());
        assert_eq!((found.records, found.end_height, found.end), (4, Some(12), WalEnd::Clean));
        assert_eq!(read_wal(&[]), WalRecords::default());
    }

    #[test]
    fn each_kind_of_end() {
        let whole = log();
        let torn = read_wal(&whole[..whole.len() - 3]);
        assert_eq!((torn.records, torn.end_height, torn.end), (3, Some(11), WalEnd::Torn));
        let zeros = read_wal(&[whole.clone(), vec![0; 100]].concat());
        assert_eq!((zeros.records, zeros.end), (4, WalEnd::Zeros));
        let mut changed = whole.clone();
        changed[30] ^= 1;
        assert!(matches!(read_wal(&changed).end, WalEnd::Changed { .. }), "{:?}", read_wal(&changed));
        let mut last = whole.clone();
        *last.last_mut().unwrap() ^= 1;
        assert_eq!(read_wal(&last).end, WalEnd::Broken);
        let mut long = whole;
        long[4] = 0xff;
        assert_eq!(read_wal(&long).end, WalEnd::Broken);
        assert!(matches!(read_wal(&record(&[0x0b])).end, WalEnd::NotAMessage(_)));
    }

    proptest! {
        #[test]
        fn no_bytes_make_it_panic(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
            let found = read_wal(&bytes);
            prop_assert!(found.bytes <= bytes.len() as u64);
        }

        #[test]
        fn a_cut_log_is_torn_or_clean(at in 0_usize..70) {
            let whole = log();
            let at = at.min(whole.len());
            prop_assert!(matches!(read_wal(&whole[..at]).end, WalEnd::Torn | WalEnd::Clean | WalEnd::Zeros));
        }
    }
}
