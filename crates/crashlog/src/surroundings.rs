//! What surrounds the failures of a log: is it a node's log at all, and did the process live on after its "panic"? *No IO.*
//!
//! P13: a log is a place where others can write, too. A process does not commit blocks after a panic, so text that looks like
//! one and is followed by the node's ordinary progress was put there; and where prose outweighs records, somebody quotes.

use crate::{Emitter, Level, Record, phrases::PhraseIndex};

/// Counts of a log, kept while it streams by.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Surroundings {
    /// Records that a node, its runtime or its machine prints.
    pub of_a_node: u64,
    /// Bare lines without any known phrase.
    pub prose: u64,
    /// After a panic or the words of a failed check the same process went on making blocks.
    pub survived: bool,
    /// Line of the failure that nothing has followed yet; of the last progress; of the last start. Lines, not the order of
    /// arrival: a panic's record comes when its stack has ended, after records that were printed meanwhile.
    failed_line: Option<u64>,
    progress_line: u64,
    start_line: u64,
}

/// Begins of messages that a node prints only while it makes or stores blocks (CometBFT state and consensus).
const PROGRESS: [&str; 6] = [
    "committed state",
    "executed block",
    "finalized block",
    "finalizing commit of block",
    "indexed block",
    "received proposal",
];

/// Begins of messages that a node prints when it starts.
const START: [&str; 6] =
    ["starting node", "starting abci", "starting multiappconn", "service start", "version info", "abci handshake"];

/// Prose lines that are no sign of a quotation: scripts print some before a node starts.
const PROSE_FREE: u64 = 8;

impl Surroundings {
    pub(crate) fn observe(&mut self, record: &Record, phrases: &[PhraseIndex]) {
        match record.emitter {
            Emitter::Error if record.level == Level::None => self.prose += u64::from(phrases.is_empty()),
            Emitter::Usage => {}
            Emitter::Panic | Emitter::Error | Emitter::Log | Emitter::Peer | Emitter::Os => self.of_a_node += 1,
        }
        let line = record.line;
        let failed_check = || phrases.iter().any(|index| index.phrase().is_failed_check());
        if record.emitter == Emitter::Panic || (record.emitter != Emitter::Peer && failed_check()) {
            self.survived |= self.progress_line > line && self.start_line <= line;
            self.failed_line = Some(line).filter(|line| *line > self.start_line);
        } else if record.emitter == Emitter::Log {
            if begins_with_any(&record.message, &START) {
                self.start_line = line;
                self.failed_line = None;
            } else if begins_with_any(&record.message, &PROGRESS) {
                self.progress_line = line;
                self.survived |= self.failed_line.is_some_and(|failed| failed < line);
            }
        }
    }

    /// Whether this is rather a text about logs than a log.
    #[must_use]
    pub fn is_mostly_prose(&self) -> bool {
        self.prose > 2 * self.of_a_node + PROSE_FREE
    }
}

/// Whether a message begins with one of these, without regard to ASCII case.
pub(crate) fn begins_with_any(message: &str, begins: &[&str]) -> bool {
    let has = |begin: &&str| message.get(..begin.len()).is_some_and(|head| head.eq_ignore_ascii_case(begin));
    begins.iter().any(has)
}
