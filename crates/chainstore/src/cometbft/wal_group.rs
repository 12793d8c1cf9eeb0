//! The consensus log's files: the head, and older ones beside it. *Files, read-only.*
//!
//! Source: CometBFT `libs/autofile/group.go` (`wal`, `wal.000`, …; the file without a number is the newest) and
//! `consensus/state.go` (`OnStart`: a broken log is copied to `wal.CORRUPTED` and repaired once). A validator heals a
//! damaged log by itself, a full node does without it: nothing here ever asks for a restore.

use diagnosis::DatabaseName;

use crate::cometbft::wal::{WalEnd, WalRecords, read_wal};
use crate::files::{DataDir, EntryKind};
use crate::read_error::ReadProblem;
use crate::{Checks, Finding, FindingKind, Reason};

/// Files rotate at 10 MiB, checked every five seconds; what is larger than this is no consensus log.
const FILE_BYTES_MAX: u64 = 256 << 20;

/// `totalSizeLimit` is 1 GiB; only the newest files matter at a start.
const FILES_MAX: usize = 4;

/// What the consensus log says.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ConsensusWal {
    /// Files of it.
    pub files: usize,
    /// The last height that was ended, as far as the newest files tell.
    pub end_height: Option<u64>,
    /// Right records in the files that were read.
    pub records: u64,
    /// Whether a node has repaired it before (`wal.CORRUPTED` is there).
    pub repaired_before: bool,
}

impl ConsensusWal {
    /// Reads `cs.wal` in a data directory; none if there is none.
    #[must_use]
    pub fn read(data: &DataDir, checks: &mut Checks) -> Option<Self> {
        let dir = match data.directory("cs.wal") {
            Ok(dir) => dir,
            Err(error) if error.problem == ReadProblem::Missing => return None,
            Err(error) => {
                checks.add(Reason::Unreadable(error));
                return None;
            }
        };
        let entries = match dir.list() {
            Ok(entries) => entries,
            Err(error) => {
                checks.add(Reason::Unreadable(error));
                return None;
            }
        };
        let mut wal = Self::default();
        let mut names: Vec<(u64, &str)> = Vec::new();
        for entry in &entries {
            match entry.name.to_str() {
                Some(name) if entry.kind == EntryKind::File => {
                    wal.repaired_before |= name == "wal.CORRUPTED";
                    names.extend(index(name).map(|index| (index, name)));
                }
                _ => {}
            }
        }
        names.sort_unstable_by(|a, b| b.cmp(a));
        wal.files = names.len();
        for (position, (_, name)) in names.iter().take(FILES_MAX).enumerate() {
            wal.read_file(&dir, name, position == 0, checks);
        }
        Some(wal)
    }

    fn read_file(&mut self, dir: &DataDir, name: &str, newest: bool, checks: &mut Checks) {
        let read = dir.file(name).and_then(|file| file.read_all(FILE_BYTES_MAX));
        let bytes = match read {
            Ok(bytes) => bytes,
            Err(error) => {
                checks.add(Reason::Unreadable(error));
                return;
            }
        };
        let found = read_wal(&bytes);
        self.records = self.records.saturating_add(found.records);
        self.end_height = self.end_height.max(found.end_height);
        if let Some(finding) = judge(&found, dir, name, newest) {
            checks.add(finding);
        }
    }
}

/// The newest file has the highest index.
fn index(name: &str) -> Option<u64> {
    if name == "wal" {
        return Some(u64::MAX);
    }
    let digits = name.strip_prefix("wal.").filter(|d| d.len() >= 3 && d.bytes().all(|b| b.is_ascii_digit()))?;
    digits.parse().ok().filter(|index| *index < u64::MAX)
}

/// Only a changed byte among right records is damage; every other end is one that a node makes and heals by itself.
fn judge(found: &WalRecords, dir: &DataDir, name: &str, newest: bool) -> Option<Finding> {
    let database = DatabaseName::new("cs.wal");
    let path = dir.path().join(name);
    let healing = |detail: &str| {
        let detail = format!("{detail}; the node repairs its consensus log by itself");
        Some(Finding::new(FindingKind::SelfHealing, &database, &path, detail).at(found.bytes))
    };
    match &found.end {
        WalEnd::Clean => None,
        WalEnd::Torn if newest => healing("the last record is torn"),
        WalEnd::Torn => healing("a file ends inside a record"),
        WalEnd::Zeros => healing("the log ends in zeros"),
        WalEnd::Broken => healing("the log cannot be read to its end"),
        WalEnd::NotAMessage(error) => healing(&format!("a record is no message of the log ({error})")),
        WalEnd::Changed { expected, computed } => {
            let detail = "a record does not fit its checksum while the next one does: bytes were changed on disk. The \
                          node repairs its consensus log by itself";
            let finding = Finding::new(FindingKind::JournalCorrupt, &database, &path, detail);
            Some(finding.at(found.bytes).values(format!("{expected:#010x}"), format!("{computed:#010x}")))
        }
    }
}
