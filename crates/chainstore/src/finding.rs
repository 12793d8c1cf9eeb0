//! One finding: what is wrong, where, and by what it was likely made. *No files.*
//!
//! A finding holds facts. What to do about it is said at the edge.

use std::fmt;
use std::path::{Path, PathBuf};

use diagnosis::DatabaseName;

use crate::Evidence;

/// Something that was seen in a database directory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// What it is.
    pub kind: FindingKind,
    /// The database it was seen in.
    pub database: DatabaseName,
    /// The file, relative to the inspected directory.
    pub file: PathBuf,
    /// Where in the file.
    pub offset: Option<u64>,
    /// What should be there.
    pub expected: Option<String>,
    /// What is there.
    pub computed: Option<String>,
    /// By what it was likely made.
    pub attribution: Attribution,
    /// One sentence for a human.
    pub detail: String,
    /// Who saw it.
    pub evidence: Evidence,
}

impl Finding {
    /// A finding without a place inside the file.
    #[must_use]
    pub fn new(kind: FindingKind, database: &DatabaseName, file: &Path, detail: impl Into<String>) -> Self {
        Self {
            kind,
            database: database.clone(),
            file: file.to_path_buf(),
            offset: None,
            expected: None,
            computed: None,
            attribution: Attribution::Unknown,
            detail: detail.into(),
            evidence: Evidence::Disk,
        }
    }

    /// Names who saw it.
    #[must_use]
    pub fn witnessed(mut self, by: Evidence) -> Self {
        self.evidence = by;
        self
    }

    /// Names its place.
    #[must_use]
    pub fn at(mut self, offset: u64) -> Self {
        self.offset = Some(offset);
        self
    }

    /// Names what should be there and what is.
    #[must_use]
    pub fn values(mut self, expected: impl Into<String>, computed: impl Into<String>) -> Self {
        self.expected = Some(expected.into());
        self.computed = Some(computed.into());
        self
    }

    /// Names what likely made it.
    #[must_use]
    pub fn by(mut self, attribution: Attribution) -> Self {
        self.attribution = attribution;
        self
    }

    /// How much it weighs.
    #[must_use]
    pub fn severity(&self) -> Severity {
        self.kind.severity()
    }
}

macro_rules! kinds {
    ($($(#[$doc:meta])* $variant:ident = $name:literal, $severity:ident;)+) => {
        /// What can be found. Each kind has one weight and one name, which scripts may rely on.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum FindingKind {
            $($(#[$doc])* $variant,)+
        }

        impl FindingKind {
            /// Every kind.
            pub const ALL: &[Self] = &[$(Self::$variant,)+];

            /// Its name in reports.
            #[must_use]
            pub fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => $name,)+
                }
            }

            /// The kind of that name.
            #[must_use]
            pub fn named(name: &str) -> Option<Self> {
                Self::ALL.iter().copied().find(|kind| kind.name() == name)
            }

            /// How much it weighs.
            #[must_use]
            pub fn severity(self) -> Severity {
                match self {
                    $(Self::$variant => Severity::$severity,)+
                }
            }
        }
    };
}

kinds! {
    /// The file that names the MANIFEST is missing, while other files of the engine are there.
    EntryPointMissing = "entry_point_missing", Damage;
    /// It does not name a MANIFEST.
    EntryPointCorrupt = "entry_point_corrupt", Damage;
    /// The MANIFEST that it names is missing.
    ManifestMissing = "manifest_missing", Damage;
    /// A record of the MANIFEST does not fit its checksum, or its framing is broken.
    ManifestCorrupt = "manifest_corrupt", Damage;
    /// A record of the MANIFEST fits its checksum but is no version edit.
    VersionEditMalformed = "version_edit_malformed", Damage;
    /// The MANIFEST lacks a field that the engine needs, or names things that cannot be.
    ManifestIncomplete = "manifest_incomplete", Damage;
    /// A live table is not there.
    TableMissing = "table_missing", Damage;
    /// A live table is shorter or longer than the MANIFEST says.
    TableSize = "table_size", Damage;
    /// The table's footer is no footer.
    TableFooter = "table_footer", Damage;
    /// A block does not fit its checksum.
    BlockChecksum = "block_checksum", Damage;
    /// A block fits its checksum, but its structure is broken.
    BlockStructure = "block_structure", Damage;
    /// Keys are not in order, or outside the bounds that index or MANIFEST give.
    KeyOrder = "key_order", Damage;
    /// The journal that holds the newest writes is not there.
    JournalMissing = "journal_missing", Damage;
    /// A journal record does not fit its checksum, and it is not merely the torn end of an unfinished write.
    JournalCorrupt = "journal_corrupt", Damage;
    /// A journal record fits its checksum but is no batch of writes.
    BatchMalformed = "batch_malformed", Damage;
    /// A marker or options file of the engine is broken.
    MarkerCorrupt = "marker_corrupt", Damage;
    /// A blob or value file is missing or broken.
    BlobCorrupt = "blob_corrupt", Damage;
    /// The engine's own log says that it dropped or removed data at an earlier start.
    EngineDroppedData = "engine_dropped_data", Damage;
    /// The disk refuses to give the bytes.
    ReadError = "read_error", Damage;
    /// A record's content is wrong although its checksum fits (heights, hashes, keys of the node itself).
    RecordMalformed = "record_malformed", Damage;
    /// Records that must be there are not.
    RecordsMissing = "records_missing", Damage;
    /// A tree node is missing, or its hash is not the one its parent or its commit names.
    TreeHash = "tree_hash", Damage;
    /// A file that a database relies on is missing or does not have the content its name or record promises.
    CompanionFile = "companion_file", Damage;
    /// The databases' heights cannot belong together.
    HeightsDisagree = "heights_disagree", Inconsistency;
    /// Databases or files belong to different chains, versions or times.
    Mismatch = "mismatch", Inconsistency;
    /// Files of more than one engine.
    TwoEngines = "two_engines", Misconfiguration;
    /// The node is set up in a way that its engine or binary cannot read.
    WrongSetup = "wrong_setup", Misconfiguration;
    /// The second read of the same bytes, past the page cache, gave other bytes.
    ReadsDiffer = "reads_differ", HostSick;
    /// A state the engine leaves behind and repairs by itself: a torn last record, a pending rename.
    SelfHealing = "self_healing", Note;
    /// Files that no MANIFEST names.
    Unreferenced = "unreferenced", Note;
    /// Something worth knowing.
    Remark = "remark", Note;
    /// No database is there.
    NoDatabase = "no_database", CouldNotTell;
}

impl fmt::Display for FindingKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// How much a finding weighs. From light to heavy.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    /// Harmless; never a reason to restore.
    Note,
    /// Nobody could look.
    CouldNotTell,
    /// The set-up is wrong, the data may be fine.
    Misconfiguration,
    /// The machine gives other bytes each time.
    HostSick,
    /// The bytes are right, but things do not fit together.
    Inconsistency,
    /// Bytes or records are wrong.
    Damage,
}

/// What likely made a damage.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Attribution {
    /// Exactly one bit differs from a state that fits the checksum.
    SingleBitFlip {
        /// The byte in the file.
        offset: u64,
        /// The bit in it, 0 the lowest.
        bit: u8,
    },
    /// A page of zeros stands where data should be.
    ZeroedPage {
        /// Where the first such page begins.
        offset: u64,
        /// How many bytes of zeros there are, in whole pages.
        bytes: u64,
    },
    /// The file ends too early.
    Truncation {
        /// How many bytes are missing, where known.
        missing: Option<u64>,
    },
    /// Bytes that belong to another place of the same file.
    MisplacedBlock {
        /// Where they (also) stand.
        source: u64,
    },
    /// Bytes that belong to another file.
    OtherFile {
        /// Which, relative to the inspected directory.
        file: PathBuf,
        /// Where in it.
        offset: u64,
    },
    /// The disk reports an error.
    IoError {
        /// The system's error number.
        errno: i32,
    },
    /// Nothing fits.
    #[default]
    Unknown,
}

impl fmt::Display for Attribution {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::SingleBitFlip { offset, bit } => write!(f, "single-bit flip (bit {bit} of byte {offset})"),
            Self::ZeroedPage { offset, bytes } => write!(f, "zeroed page ({bytes} bytes of zeros at {offset})"),
            Self::Truncation { missing: Some(missing) } => write!(f, "truncation ({missing} bytes missing)"),
            Self::Truncation { missing: None } => f.write_str("truncation"),
            Self::MisplacedBlock { source } => write!(f, "misplaced block (the bytes at {source} of the same file)"),
            Self::OtherFile { file, offset } => write!(f, "another file's content ({} at {offset})", file.display()),
            Self::IoError { errno } => write!(f, "I/O error (errno {errno})"),
            Self::Unknown => f.write_str("unknown"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique_and_stable_in_form() {
        let mut names: Vec<_> = FindingKind::ALL.iter().map(|kind| kind.name()).collect();
        assert!(names.iter().all(|name| name.bytes().all(|b| b.is_ascii_lowercase() || b == b'_')));
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), FindingKind::ALL.len());
    }
}
