//! Protobuf messages, cut field by field: enough of the wire format to read a node's own records. *No files.*
//!
//! Source: protobuf.dev, "Encoding". As in the Go readers, a known field of another wire type is an error ("wrong
//! wireType"), unknown fields are skipped, and of a field that comes twice the last counts. Groups are an error: no record
//! of CometBFT or the SDK has one. Nothing is allocated, nothing recurses: a nested message is a [`Message`] of its own.

use crate::{Cut, CutError, CutProblem, Part};

const TAG: Part = Part::new("field tag");
const VARINT: Part = Part::new("varint field");
const FIXED: Part = Part::new("fixed-size field");
const BYTES: Part = Part::new("length-delimited field");

/// Wire type 2.
const LENGTH_DELIMITED: u64 = 2;

/// The fields of one message, in the order of its bytes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Message<'a> {
    cut: Cut<'a>,
}

/// One field.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Field<'a> {
    /// Its number.
    pub(crate) number: u64,
    value: Value<'a>,
    start: Cut<'a>,
}

#[derive(Debug, Clone, Copy)]
enum Value<'a> {
    Varint(u64),
    Fixed,
    Bytes(Cut<'a>),
}

impl<'a> Message<'a> {
    /// A message that is the whole of `bytes`.
    pub(crate) fn new(bytes: &'a [u8]) -> Self {
        Self { cut: Cut::new(bytes, 0) }
    }

    /// The next field, until there is none.
    pub(crate) fn next_field(&mut self) -> Result<Option<Field<'a>>, CutError> {
        if self.cut.is_empty() {
            return Ok(None);
        }
        let start = self.cut;
        let tag = self.cut.uvarint(TAG)?;
        let (number, wire) = (tag >> 3, tag & 7);
        if number == 0 || number > 0x1fff_ffff {
            return Err(start.error(TAG, CutProblem::NoSuchValue { value: tag }));
        }
        let value = match wire {
            0 => Value::Varint(self.cut.uvarint(VARINT)?),
            1 => self.cut.take(FIXED, 8).map(|_| Value::Fixed)?,
            LENGTH_DELIMITED => Value::Bytes(self.cut.length_prefixed(BYTES)?),
            5 => self.cut.take(FIXED, 4).map(|_| Value::Fixed)?,
            _ => return Err(start.error(TAG, CutProblem::NoSuchValue { value: tag })),
        };
        Ok(Some(Field { number, value, start }))
    }
}

impl<'a> Field<'a> {
    /// An unsigned number.
    pub(crate) fn uint(&self, part: Part) -> Result<u64, CutError> {
        match self.value {
            Value::Varint(value) => Ok(value),
            _ => Err(self.wrong(part)),
        }
    }

    /// A height, version or count: an `int64` that is never below zero.
    pub(crate) fn height(&self, part: Part) -> Result<u64, CutError> {
        let value = self.uint(part)?;
        let limit = i64::MAX.cast_unsigned();
        if value > limit { Err(self.start.error(part, CutProblem::AboveLimit { value, limit })) } else { Ok(value) }
    }

    /// Any `int64`.
    pub(crate) fn int(&self, part: Part) -> Result<i64, CutError> {
        self.uint(part).map(u64::cast_signed)
    }

    /// Bytes, or a nested message's.
    pub(crate) fn bytes(&self, part: Part) -> Result<&'a [u8], CutError> {
        match self.value {
            Value::Bytes(cut) => Ok(cut.rest()),
            _ => Err(self.wrong(part)),
        }
    }

    /// A nested message.
    pub(crate) fn message(&self, part: Part) -> Result<Message<'a>, CutError> {
        match self.value {
            Value::Bytes(cut) => Ok(Message { cut }),
            _ => Err(self.wrong(part)),
        }
    }

    /// A string.
    pub(crate) fn text(&self, part: Part) -> Result<&'a str, CutError> {
        std::str::from_utf8(self.bytes(part)?).map_err(|_| self.wrong(part))
    }

    fn wrong(&self, part: Part) -> CutError {
        let value = u64::from(self.start.rest().first().copied().unwrap_or_default());
        self.start.error(part, CutProblem::NoSuchValue { value })
    }
}

/// Seconds since 1970 of a `google.protobuf.Timestamp`.
pub(crate) fn timestamp_seconds(mut message: Message<'_>) -> Result<i64, CutError> {
    let mut seconds = 0;
    while let Some(field) = message.next_field()? {
        if field.number == 1 {
            seconds = field.int(Part::new("seconds"))?;
        }
    }
    Ok(seconds)
}

#[cfg(test)]
mod tests {
    use super::*;

    const PART: Part = Part::new("part");

    #[test]
    fn fields_come_in_order_and_unknown_ones_can_be_skipped() {
        let bytes = [0x08, 0x96, 0x01, 0x39, 1, 2, 3, 4, 5, 6, 7, 8, 0x12, 2, b'h', b'i', 0x1d, 1, 2, 3, 4];
        let mut message = Message::new(&bytes);
        let first = message.next_field().unwrap().unwrap();
        assert_eq!((first.number, first.uint(PART)), (1, Ok(150)));
        assert_eq!(message.next_field().unwrap().unwrap().number, 7);
        let text = message.next_field().unwrap().unwrap();
        assert_eq!((text.number, text.text(PART)), (2, Ok("hi")));
        assert!(text.uint(PART).unwrap_err().to_string().starts_with("part at offset 12: value 0x12"));
        assert_eq!(message.next_field().unwrap().unwrap().number, 3);
        assert!(message.next_field().unwrap().is_none());
    }

    #[test]
    fn what_no_writer_makes_is_an_error() {
        for bytes in [&[0x00, 1][..], &[0x0b], &[0x0a, 5, 1], &[0x08], &[0x09, 1, 2]] {
            assert!(Message::new(bytes).next_field().is_err(), "{bytes:x?}");
        }
        let minus_one = [0x08, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1];
        let field = Message::new(&minus_one).next_field().unwrap().unwrap();
        assert_eq!(field.int(PART), Ok(-1));
        assert!(field.height(PART).is_err());
    }
}
