//! Named cuts of foreign bytes: every field that is read has a name and an offset, and they travel into the finding.
//!
//! Nothing here indexes, panics or allocates. A length or a count from disk is only ever compared with what is there.

use std::fmt;

/// The name of a part of a structure on disk, in the engine's own words.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Part(&'static str);

impl Part {
    /// Names a part.
    #[must_use]
    pub const fn new(name: &'static str) -> Self {
        Self(name)
    }
}

impl fmt::Display for Part {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

/// A cut that could not be made.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{part} at offset {offset}: {problem}")]
pub struct CutError {
    /// What was to be read.
    pub part: Part,
    /// Where it should begin, in the file (or in the unpacked block).
    pub offset: u64,
    /// What is wrong with it.
    pub problem: CutProblem,
}

/// What is wrong with a part.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CutProblem {
    /// The bytes end before the part does.
    #[error("{wanted} bytes wanted, {left} left")]
    TooShort {
        /// How many the part has.
        wanted: u64,
        /// How many there are.
        left: u64,
    },
    /// More than ten bytes, or more bits than the type holds.
    #[error("varint does not end")]
    EndlessVarint,
    /// A count or length above what can be.
    #[error("{value} is above the limit of {limit}")]
    AboveLimit {
        /// What the bytes say.
        value: u64,
        /// The most it can be.
        limit: u64,
    },
    /// Bytes are left over.
    #[error("{bytes} bytes too many")]
    Trailing {
        /// How many.
        bytes: u64,
    },
    /// The value is one that the format does not have.
    #[error("value {value:#x} is not one the format has")]
    NoSuchValue {
        /// What the bytes say.
        value: u64,
    },
}

/// Bytes that are cut from the front, and the offset of the first of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cut<'a> {
    bytes: &'a [u8],
    offset: u64,
}

impl<'a> Cut<'a> {
    /// Bytes whose first one stands at `offset`.
    #[must_use]
    pub fn new(bytes: &'a [u8], offset: u64) -> Self {
        Self { bytes, offset }
    }

    /// Where the next byte stands.
    #[must_use]
    pub fn offset(&self) -> u64 {
        self.offset
    }

    /// What has not been cut yet.
    #[must_use]
    pub fn rest(&self) -> &'a [u8] {
        self.bytes
    }

    /// How much has not been cut yet.
    #[must_use]
    pub fn left(&self) -> u64 {
        self.bytes.len() as u64
    }

    /// Whether everything has been cut.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// An error about the part that begins here.
    #[must_use]
    pub fn error(&self, part: Part, problem: CutProblem) -> CutError {
        CutError { part, offset: self.offset, problem }
    }

    /// The next `length` bytes.
    pub fn take(&mut self, part: Part, length: u64) -> Result<Cut<'a>, CutError> {
        let split = usize::try_from(length).ok().and_then(|n| self.bytes.split_at_checked(n));
        let Some((head, tail)) = split else {
            return Err(self.error(part, CutProblem::TooShort { wanted: length, left: self.left() }));
        };
        let cut = Cut { bytes: head, offset: self.offset };
        self.bytes = tail;
        self.offset = self.offset.saturating_add(length);
        Ok(cut)
    }

    /// The last `length` bytes; what stands before them stays.
    pub fn take_end(&mut self, part: Part, length: u64) -> Result<Cut<'a>, CutError> {
        let Some(front) = self.left().checked_sub(length) else {
            return Err(self.error(part, CutProblem::TooShort { wanted: length, left: self.left() }));
        };
        let mut whole = *self;
        *self = whole.take(part, front)?;
        Ok(whole)
    }

    /// The next `N` bytes as an array.
    pub fn array<const N: usize>(&mut self, part: Part) -> Result<[u8; N], CutError> {
        let Some((head, tail)) = self.bytes.split_first_chunk::<N>() else {
            return Err(self.error(part, CutProblem::TooShort { wanted: N as u64, left: self.left() }));
        };
        self.bytes = tail;
        self.offset = self.offset.saturating_add(N as u64);
        Ok(*head)
    }

    /// One byte.
    pub fn u8(&mut self, part: Part) -> Result<u8, CutError> {
        self.array::<1>(part).map(u8::from_le_bytes)
    }

    /// A little-endian 16-bit number.
    pub fn u16_le(&mut self, part: Part) -> Result<u16, CutError> {
        self.array(part).map(u16::from_le_bytes)
    }

    /// A little-endian 32-bit number.
    pub fn u32_le(&mut self, part: Part) -> Result<u32, CutError> {
        self.array(part).map(u32::from_le_bytes)
    }

    /// A little-endian 64-bit number.
    pub fn u64_le(&mut self, part: Part) -> Result<u64, CutError> {
        self.array(part).map(u64::from_le_bytes)
    }

    /// A big-endian 32-bit number.
    pub fn u32_be(&mut self, part: Part) -> Result<u32, CutError> {
        self.array(part).map(u32::from_be_bytes)
    }

    /// A big-endian 64-bit number.
    pub fn u64_be(&mut self, part: Part) -> Result<u64, CutError> {
        self.array(part).map(u64::from_be_bytes)
    }

    /// An unsigned LEB128 number (`binary.Uvarint`, `GetVarint64`): at most ten bytes, at most 64 bits.
    pub fn uvarint(&mut self, part: Part) -> Result<u64, CutError> {
        let mut value = 0_u64;
        let mut probe = *self;
        for shift in (0..70).step_by(7) {
            let byte = probe.u8(part).map_err(|_| {
                self.error(part, CutProblem::TooShort { wanted: self.left().saturating_add(1), left: self.left() })
            })?;
            if shift == 63 && byte > 1 {
                break;
            }
            value |= u64::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                *self = probe;
                return Ok(value);
            }
        }
        Err(self.error(part, CutProblem::EndlessVarint))
    }

    /// The same, as a number of at most 32 bits.
    pub fn uvarint32(&mut self, part: Part) -> Result<u32, CutError> {
        let start = *self;
        let value = self.uvarint(part)?;
        u32::try_from(value)
            .map_err(|_| start.error(part, CutProblem::AboveLimit { value, limit: u64::from(u32::MAX) }))
    }

    /// A zig-zag LEB128 number (`binary.Varint`).
    pub fn varint(&mut self, part: Part) -> Result<i64, CutError> {
        let value = self.uvarint(part)?;
        Ok((value >> 1).cast_signed() ^ -(value & 1).cast_signed())
    }

    /// A count or length that can be at most `limit`.
    pub fn uvarint_at_most(&mut self, part: Part, limit: u64) -> Result<u64, CutError> {
        let start = *self;
        let value = self.uvarint(part)?;
        if value > limit { Err(start.error(part, CutProblem::AboveLimit { value, limit })) } else { Ok(value) }
    }

    /// Bytes after their length.
    pub fn length_prefixed(&mut self, part: Part) -> Result<Cut<'a>, CutError> {
        let mut probe = *self;
        let length = probe.uvarint(part)?;
        let bytes = probe.take(part, length)?;
        *self = probe;
        Ok(bytes)
    }

    /// Nothing may be left.
    pub fn end(&self, part: Part) -> Result<(), CutError> {
        if self.is_empty() { Ok(()) } else { Err(self.error(part, CutProblem::Trailing { bytes: self.left() })) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PART: Part = Part::new("part");

    #[test]
    fn varints_as_go_writes_them() {
        for (bytes, value) in [(&[0_u8][..], 0), (&[0x7f], 127), (&[0x80, 1], 128), (&[0xff; 9], 0)] {
            let got = Cut::new(bytes, 0).uvarint(PART);
            if bytes.len() == 9 { assert!(got.is_err()) } else { assert_eq!(got, Ok(value)) }
        }
        let most = [0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1];
        assert_eq!(Cut::new(&most, 0).uvarint(PART), Ok(u64::MAX));
        let over = [0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 2];
        assert_eq!(Cut::new(&over, 7).uvarint(PART).map_err(|e| e.problem), Err(CutProblem::EndlessVarint));
        assert_eq!(Cut::new(&[3], 0).varint(PART), Ok(-2));
        assert_eq!(Cut::new(&[4], 0).varint(PART), Ok(2));
    }

    #[test]
    fn a_cut_that_fails_moves_nothing_and_names_its_place() {
        let mut cut = Cut::new(&[9, 1, 2], 100);
        let error = cut.length_prefixed(PART).unwrap_err();
        assert_eq!(error.to_string(), "part at offset 101: 9 bytes wanted, 2 left");
        assert_eq!((cut.offset(), cut.left()), (100, 3));
    }

    #[test]
    fn the_end_is_cut_with_its_own_offset() {
        let mut cut = Cut::new(&[1, 2, 3, 4, 5], 10);
        let tail = cut.take_end(PART, 2).unwrap();
        assert_eq!((tail.rest(), tail.offset()), (&[4, 5][..], 13));
        assert_eq!((cut.rest(), cut.offset()), (&[1, 2, 3][..], 10));
    }
}
