//! Records of a journal or MANIFEST as engines put them together, and every break on the way. *Files, read-only.*
//!
//! Source: goleveldb `leveldb/journal/journal.go` (`nextChunk`): at a broken chunk the *rest of its 32 KiB block* is
//! dropped, and so is the record that it interrupts. C++ LevelDB `db/log_reader.cc` drops the same bytes. Pebble
//! `record/record.go` reads no further; here reading goes on, since what still follows tells damage from a torn end.

use crate::Attribution;
use crate::data_file::{DataFile, SecondRead};
use crate::lsm::broken_chunk::{attribute, can_be_torn};
use crate::lsm::framing::{Blocks, Chunk, ChunkState, Dialect, Position, chunk_at, next_good_chunk};
use crate::read_error::ReadError;

/// A record above this is not put together; an honest batch is far smaller.
pub(crate) const RECORD_BYTES_MAX: usize = 512 << 20;

/// Blind searches for further chunks cost time; a file has this many at most.
const SEARCHES_MAX: usize = 64;

/// What comes next in the log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Event {
    /// A whole record; its bytes are in [`Records::record`].
    Record {
        /// Where its first chunk begins.
        offset: u64,
    },
    /// A chunk that cannot be used; the rest of its block is dropped.
    Broken(Box<Break>),
    /// A middle or last chunk whose record did not begin; the engine drops it alone.
    Orphan {
        /// Where it begins.
        offset: u64,
        /// Its bytes.
        bytes: u64,
        /// Whether something was dropped before it, which explains it.
        explained: bool,
    },
    /// A record that begins but does not end.
    Unfinished {
        /// Where it begins.
        offset: u64,
        /// Whether the file simply ends, as after a crash.
        at_end: bool,
    },
    /// The file ends with fewer bytes than a header has, and no record is open.
    Leftover {
        /// Where they begin.
        offset: u64,
    },
    /// The log ends here, and an earlier log's bytes follow.
    Ended {
        /// Where.
        offset: u64,
    },
    /// The device does not give a block.
    Unreadable(ReadError),
}

/// A chunk that cannot be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Break {
    /// What stands there.
    pub(crate) chunk: Chunk,
    /// Bytes that the engine drops from there on; those of the chunk alone, if it stops here.
    pub(crate) dropped: u64,
    /// The record that is cut by it, if one was open.
    pub(crate) cuts_record: Option<u64>,
    /// What likely made it.
    pub(crate) attribution: Attribution,
    /// Whether that is one bit in the mark at the log's end, which holds no data.
    pub(crate) of_end_mark: bool,
    /// Whether the engine takes it for the log's end, by its number alone.
    pub(crate) ends_log: bool,
    /// What stands after it in its block.
    pub(crate) after: After,
    /// Whether a crash can have left this: a file that ends too early, or zeros where nothing was written yet.
    pub(crate) can_be_torn: bool,
    /// What the second read past the page cache gave.
    pub(crate) second_read: SecondRead,
    /// Whole records that can still be read in what is dropped, following the broken chunk's own length.
    pub(crate) salvaged: Vec<Vec<u8>>,
}

impl Break {
    /// Whether only zeros stand from it to the end of its block.
    fn is_blank(&self) -> bool {
        let blank = self.chunk.state == ChunkState::ZeroHeader && self.after == After::Nothing;
        blank && self.second_read == SecondRead::Same
    }

    fn grow(&mut self, zeros: u64, dropped: u64) {
        self.dropped = self.dropped.saturating_add(dropped);
        if let Attribution::ZeroedPage { bytes, .. } = &mut self.attribution {
            *bytes = bytes.saturating_add(zeros);
        }
    }

    /// Takes in the block that follows, if zeros go on there: a run of zeros is one break, however long.
    pub(crate) fn takes_in(&mut self, next: &Self) -> bool {
        let (Attribution::ZeroedPage { offset, bytes }, Attribution::ZeroedPage { bytes: zeros, .. }) =
            (&self.attribution, &next.attribution)
        else {
            return false;
        };
        let follows = offset.saturating_add(*bytes) == next.chunk.offset;
        let one = follows && self.is_blank() && next.is_blank();
        if one {
            self.grow(*zeros, next.dropped);
        }
        one
    }
}

/// What stands after a broken chunk in the same block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum After {
    /// A good chunk exactly where the broken one's length says: the log went on.
    GoodChunk,
    /// Something that looks like a chunk, found by searching. A peer can put such bytes into a record, so it proves
    /// nothing.
    Lookalike,
    /// Bytes other than zero after zeros that stand where a header should.
    BytesAfterZeros,
    /// Nothing.
    Nothing,
}

/// Puts records together.
pub(crate) struct Records<'a> {
    file: &'a DataFile,
    dialect: Dialect,
    blocks: Blocks<'a>,
    at: usize,
    record: Vec<u8>,
    open: Option<u64>,
    dropped_before: bool,
    searches: usize,
    ended: bool,
}

impl<'a> Records<'a> {
    pub(crate) fn new(file: &'a DataFile, dialect: Dialect) -> Self {
        Self {
            file,
            dialect,
            blocks: Blocks::new(file),
            at: 0,
            record: Vec::new(),
            open: None,
            dropped_before: false,
            searches: 0,
            ended: false,
        }
    }

    /// The bytes of the last whole record.
    pub(crate) fn record(&self) -> &[u8] {
        &self.record
    }

    /// What comes next; none at the end.
    pub(crate) fn advance(&mut self) -> Option<Event> {
        while !self.ended {
            if let Some(chunk) = chunk_at(self.blocks.bytes(), self.blocks.start(), self.at, self.dialect) {
                if let Some(event) = self.take(chunk) {
                    return Some(event);
                }
                continue;
            }
            let was_last = !self.blocks.bytes().is_empty() && !self.blocks.is_full();
            let leftover = self.blocks.bytes().len().saturating_sub(self.at);
            let offset = self.blocks.start().saturating_add(self.at as u64);
            self.at = 0;
            if was_last && (1..self.dialect.shortest).contains(&leftover) && self.open.is_none() {
                self.ended = true;
                return Some(Event::Leftover { offset });
            }
            match self.blocks.advance() {
                Ok(true) if !was_last => {}
                Ok(_) => {
                    self.ended = true;
                    return self.open.take().map(|offset| Event::Unfinished { offset, at_end: true });
                }
                Err(error) => {
                    self.open = None;
                    self.dropped_before = true;
                    return Some(Event::Unreadable(error));
                }
            }
        }
        None
    }

    fn take(&mut self, chunk: Chunk) -> Option<Event> {
        if chunk.state == ChunkState::LogEnds && self.open.is_none() {
            self.at = self.blocks.bytes().len();
            return Some(Event::Ended { offset: chunk.offset });
        }
        if !chunk.is_good() || self.record.len().saturating_add(chunk.length) > RECORD_BYTES_MAX {
            return Some(Event::Broken(Box::new(self.broken(chunk))));
        }
        if (self.dialect.note)(chunk.kind) {
            self.at = self.at.saturating_add(chunk.total());
            return None;
        }
        let begins = matches!(chunk.position(), Position::Full | Position::First);
        match (begins, self.open) {
            (true, Some(offset)) => {
                // goleveldb glues such a chunk on as if it were a middle one; the batch then fails to decode.
                self.open = None;
                return Some(Event::Unfinished { offset, at_end: false });
            }
            (false, None) => {
                self.at = self.at.saturating_add(chunk.total());
                let explained = self.dropped_before;
                return Some(Event::Orphan { offset: chunk.offset, bytes: chunk.total() as u64, explained });
            }
            (true, None) => self.record.clear(),
            (false, Some(_)) => {}
        }
        let payload = self.at.saturating_add(chunk.header)..self.at.saturating_add(chunk.total());
        self.record.extend_from_slice(self.blocks.bytes().get(payload).unwrap_or_default());
        self.at = self.at.saturating_add(chunk.total());
        let offset = *self.open.get_or_insert(chunk.offset);
        if matches!(chunk.position(), Position::Full | Position::Last) {
            self.open = None;
            self.dropped_before = false;
            return Some(Event::Record { offset });
        }
        None
    }

    fn broken(&mut self, chunk: Chunk) -> Break {
        let bytes = self.blocks.bytes();
        let start = self.blocks.start();
        let from_header = bytes.get(self.at..).unwrap_or_default();
        let dialect = self.dialect;
        let next = chunk_at(bytes, start, self.at.saturating_add(chunk.total()), dialect);
        let chained = chunk.state != ChunkState::ZeroHeader && next.is_some_and(|next| next.is_good());
        let after = if chained {
            After::GoodChunk
        } else if chunk.state == ChunkState::ZeroHeader {
            let blank = from_header.iter().all(|byte| *byte == 0);
            if blank { After::Nothing } else { After::BytesAfterZeros }
        } else if self.searches < SEARCHES_MAX && next_good_chunk(bytes, start, self.at, dialect).is_some() {
            After::Lookalike
        } else {
            After::Nothing
        };
        let (attribution, of_end_mark) = attribute(from_header, &chunk, dialect);
        let mut result = Break {
            chunk,
            ends_log: self.open.is_none() && dialect.ends_log(&chunk),
            of_end_mark,
            dropped: if dialect.at_break.goes_on(&chunk) {
                from_header.len() as u64
            } else {
                chunk.total().min(from_header.len()) as u64
            },
            cuts_record: self.open,
            can_be_torn: can_be_torn(from_header, &chunk, dialect),
            attribution,
            after,
            second_read: self.file.read_again(from_header, chunk.offset),
            salvaged: if chained {
                salvage(bytes, start, self.at.saturating_add(chunk.total()), dialect)
            } else {
                Vec::new()
            },
        };
        self.searches = self.searches.saturating_add(1);
        self.at = bytes.len();
        if result.is_blank() && self.blocks.is_full() {
            let skipped = self.blocks.skip_hole();
            result.grow(skipped, if dialect.at_break.goes_on(&chunk) { skipped } else { 0 });
        }
        self.open = None;
        self.dropped_before = true;
        result
    }
}

/// Whole records that follow each other from `at` on.
fn salvage(block: &[u8], start: u64, mut at: usize, dialect: Dialect) -> Vec<Vec<u8>> {
    let mut records = Vec::new();
    while let Some(chunk) = chunk_at(block, start, at, dialect).filter(Chunk::is_good) {
        let payload = at.saturating_add(chunk.header)..at.saturating_add(chunk.total());
        if chunk.position() == Position::Full {
            records.extend(block.get(payload).map(<[u8]>::to_vec));
        }
        at = at.saturating_add(chunk.total());
    }
    records
}
