//! What was seen of one incident: the input of the judge. *No client.*
//!
//! Every part has its own word for "not seen", so that an absent fact can never count as a good or a bad one (P13).

use crate::{Cause, Circumstances, CrashLoop, Height, Probability};

/// All that is known about one incident at the moment of judging.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Evidence {
    /// What the pod objects say.
    pub crash_loop: CrashLoopReading,
    /// What the log says (first witness).
    pub log: LogReading,
    /// What the databases on disk say (second witness).
    pub disk: DiskReading,
    /// What the other replicas of the same chain do (third witness: it says *where*, never *what*).
    pub siblings: Siblings,
    /// Everything around the replica that can forbid a restore.
    pub circumstances: Circumstances,
}

/// What the pod objects say about crashes.
#[derive(Debug, Clone, PartialEq, Default)]
pub enum CrashLoopReading {
    /// No pod object was given.
    #[default]
    NotRead,
    /// A pod was given, but its status is missing or says too little; the reason in words.
    Unclear(String),
    /// The pod was read and is not crash-looping.
    NotLooping,
    /// It crash-loops.
    Looping(Box<CrashLoop>),
}

/// What the log says.
#[derive(Debug, Clone, PartialEq, Default)]
pub enum LogReading {
    /// No log was given.
    #[default]
    NotRead,
    /// A log was given, but it carries too little, or is not a log of such a node.
    Abstained(LogAbstention),
    /// A log was read and classified.
    Read(LogOpinion),
}

/// Why the log witness says nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LogAbstention {
    /// Not a byte, or only white space.
    Empty,
    /// Bytes that are no text.
    NotText,
    /// No line of it looks like a chain node's, its container's or its machine's.
    ForeignProgram,
    /// It holds a goroutine dump without the line that says why.
    HeadMissing,
    /// Nothing in it reports a failure.
    NoFailure,
    /// A failure that resembles nothing known.
    Unfamiliar,
}

impl LogAbstention {
    /// The reason in words, and what would help.
    #[must_use]
    pub fn in_words(&self) -> &'static str {
        match self {
            Self::Empty => "the log is empty",
            Self::NotText => "the log is not text",
            Self::ForeignProgram => "no line looks like a chain node's log",
            Self::HeadMissing => "the log was cut before the panic's own line; only goroutine frames are left",
            Self::NoFailure => "no line of the log reports a failure",
            Self::Unfamiliar => "the failure resembles no known case",
        }
    }
}

/// The classifier's reading of a log.
#[derive(Debug, Clone, PartialEq)]
pub struct LogOpinion {
    /// The most probable cause.
    pub cause: Cause,
    /// Its calibrated probability.
    pub probability: Probability,
    /// Whether the log alone is strong enough to count as one of the two witnesses of local damage.
    pub testimony: Testimony,
    /// What a second decisive failure in the same log speaks for, where one stands in it: it can explain the same words, so
    /// the log points there too however probable `cause` is.
    pub counter_evidence: Option<Cause>,
    /// Symptoms whose deciding fact lies elsewhere (table in `missing`).
    pub symptoms: Vec<Symptom>,
    /// Databases that a decisive line names or that own the code of its top frame.
    pub databases: Vec<DatabaseName>,
}

/// How far a log may be believed about local damage.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Testimony {
    /// Strong enough to be one of the two witnesses (never enough alone, P2).
    Witness,
    /// An opinion for a human.
    Opinion,
}

/// A symptom that needs one more fact before it can be told apart (the rows of [`crate::missing_facts`]).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Symptom {
    /// `wrong Block.Header.AppHash`, `LastResultsHash` and their kin.
    AppHashMismatch,
    /// `version of store … mismatch root store's version; expected N got 0`.
    StoreVersionGotZero,
    /// The same with a version close to the expected one.
    StoreVersionClose,
    /// IAVL: value missing, version does not exist, already saved to a different hash.
    IavlMissing,
    /// Missing validators, nil proposer, state-sync failure.
    ValidatorsMissing,
    /// A block checksum of an engine does not fit.
    ChecksumMismatch,
    /// The consensus WAL does not decode.
    ConsensusWal,
    /// A compiled contract's file is missing or wrong.
    WasmFile,
    /// A file of an open database is gone.
    DatabaseFileGone,
    /// A nil pointer, or the application's socket ended.
    NilPointerOrEof,
    /// No space left.
    NoSpace,
    /// The databases' heights disagree.
    HeightsDisagree,
    /// A panic soon after a restore or a state sync.
    AfterRestore,
}

/// A database of the node by its directory's stem (`application`, `state`, `blockstore`, `tx_index`, `evidence`, …).
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DatabaseName(String);

impl DatabaseName {
    /// From the directory's name, with or without `.db`.
    #[must_use]
    pub fn new(directory: &str) -> Self {
        Self(directory.strip_suffix(".db").unwrap_or(directory).to_owned())
    }

    /// The stem, without `.db`.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// What a node needs it for when it starts.
    #[must_use]
    pub fn start_role(&self) -> StartRole {
        match self.0.as_str() {
            "application" | "state" | "blockstore" => StartRole::ReadAtStart,
            "tx_index" | "evidence" | "cs.wal" | "snapshots" | "metadata" | "addrbook" | "light" | "peerstore" => {
                StartRole::CanBeRebuilt
            }
            _ => StartRole::Other,
        }
    }
}

/// What a node needs a database for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StartRole {
    /// The node cannot start without it.
    ReadAtStart,
    /// It can be moved aside; the node rebuilds it or lives without it.
    CanBeRebuilt,
    /// Not known.
    Other,
}

/// What the databases on disk say. "Damaged" is proven only when two reads, the second past the page cache, agree.
#[derive(Debug, Clone, PartialEq, Default)]
pub enum DiskReading {
    /// Nobody looked.
    #[default]
    NotRead,
    /// Looked, but could not tell (unsupported format, unreadable, changed while read); the reason in words.
    CouldNotTell(String),
    /// Nothing wrong was found.
    Intact {
        /// How much was looked at.
        scope: InspectionScope,
    },
    /// Bytes or records are wrong in these databases.
    Damaged(Vec<DatabaseName>),
    /// The bytes are right but the databases disagree; these are the ones that do.
    Inconsistent(Vec<DatabaseName>),
    /// A block read differently the second time: the host's memory, cable or disk is sick.
    ReadsDiffer(Vec<DatabaseName>),
}

/// How much an inspection looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InspectionScope {
    /// Entry points, manifests, sizes, footers, heights.
    Quick,
    /// Every checksum.
    AllChecks,
    /// Every checksum and every IAVL hash.
    AllChecksAndIavlHashes,
}

/// What the other replicas of the same chain do.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Siblings {
    /// None known, or none answered.
    #[default]
    Unknown,
    /// At least one other replica is ahead and its height rises.
    Advancing {
        /// How many of them.
        count: u32,
        /// The highest height seen.
        height: Height,
        /// Whether one with the victim's very image passed the height at which the victim dies.
        app_hash: AppHashQuestion,
    },
    /// Others answered, and none advances.
    Halted {
        /// The height at which they stand.
        height: Height,
    },
}

/// "Does the identical image digest pass this height elsewhere?"
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum AppHashQuestion {
    /// Yes: the binary is not at fault.
    SameImagePasses,
    /// No: others with this image stop there too, or those ahead run another image.
    SameImageDoesNot,
    /// Image digests or heights are missing.
    #[default]
    Unknown,
}
