//! Keys as they stand in tables: user key, then `(sequence << 8) | kind` in eight bytes. *No files.*
//!
//! Source: LevelDB `db/dbformat.h`, goleveldb `leveldb/key.go`. Order: user key ascending, then the trailer
//! *descending*, so that the newest write of a key comes first.

use std::cmp::Ordering;

/// Bytes of the trailer.
pub(crate) const TRAILER_BYTES: usize = 8;

/// Kind of a deletion.
pub(crate) const KIND_DELETE: u8 = 0;

/// Kind of a value. LevelDB knows only these two.
pub(crate) const KIND_SET: u8 = 1;

/// A key of a table, taken apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct InternalKey<'a> {
    /// What the user wrote.
    pub(crate) user: &'a [u8],
    /// Sequence and kind.
    pub(crate) trailer: u64,
}

impl<'a> InternalKey<'a> {
    /// Takes a key apart; none if it is too short.
    pub(crate) fn parse(bytes: &'a [u8]) -> Option<Self> {
        let (user, trailer) = bytes.split_last_chunk::<TRAILER_BYTES>()?;
        Some(Self { user, trailer: u64::from_le_bytes(*trailer) })
    }

    /// What the write was.
    pub(crate) fn kind(self) -> u8 {
        self.trailer.to_le_bytes()[0]
    }
}

impl Ord for InternalKey<'_> {
    fn cmp(&self, other: &Self) -> Ordering {
        self.user.cmp(other.user).then(other.trailer.cmp(&self.trailer))
    }
}

impl PartialOrd for InternalKey<'_> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// Compares two encoded keys; one that is too short to be a key counts as its bytes with the oldest trailer.
pub(crate) fn compare(a: &[u8], b: &[u8]) -> Ordering {
    let parse = |bytes| InternalKey::parse(bytes).unwrap_or(InternalKey { user: bytes, trailer: 0 });
    parse(a).cmp(&parse(b))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_write_comes_first() {
        let key = |user: &[u8], trailer: u64| [user, &trailer.to_le_bytes()].concat();
        assert_eq!(compare(&key(b"a", 1), &key(b"b", 9)), Ordering::Less);
        assert_eq!(compare(&key(b"a", 9), &key(b"a", 1)), Ordering::Less);
        assert_eq!(compare(&key(b"a", 1), &key(b"ab", 9)), Ordering::Less);
        let parsed = key(b"a", (77 << 8) | 1);
        let parsed = InternalKey::parse(&parsed).unwrap();
        assert_eq!((parsed.user, parsed.kind()), (&b"a"[..], KIND_SET));
    }
}
