//! What was seen of one incident: the input of the judge. *No client.*
//!
//! Every part has its own word for "not seen", so that an absent fact can never count as a good or a bad one (P13).

use crate::{Cause, CrashLoop, Height, Probability};

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

/// What stands around the replica. Each circumstance has a value for "nobody looked"; `limits` are our own and always known.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Circumstances {
    /// Is an upgrade due?
    pub upgrade: UpgradePlan,
    /// Did image, arguments or configuration change since the node was last healthy?
    pub image: ImageFreshness,
    /// Is a rollout of the workload going on?
    pub roll_out: RollOut,
    /// Do other replicas fail the same way at the same time?
    pub victims: Victims,
    /// Free bytes and inodes *now*.
    pub space: Space,
    /// Was the process killed for memory?
    pub memory: Memory,
    /// Does a live process hold the database lock?
    pub lock: Lock,
    /// The machine under the pod.
    pub node: NodeHealth,
    /// Could this node sign blocks (P10)?
    pub signing: SigningRisk,
    /// Was it restored before, and did the same damage come back?
    pub recurrence: Recurrence,
    /// Could a restart since then have changed what the evidence shows?
    pub evidence_age: EvidenceAge,
    /// Budgets, cool-downs, windows and suspensions in force, in words.
    pub limits: Vec<String>,
    /// What a container's waiting reason says about why it cannot even start.
    pub start_failure: Option<StartFailure>,
}

/// Why the container runtime could not start the container at all.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StartFailure {
    /// `state.waiting.reason`, as Kubernetes spells it.
    pub reason: String,
    /// What such a reason means.
    pub cause: Cause,
}

macro_rules! circumstance {
    ($(#[$doc:meta])* $type:ident { $($(#[$variant_doc:meta])* $variant:ident $(($data:ty))?),+ $(,)? }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Eq, Default)]
        pub enum $type {
            /// Nobody looked.
            #[default]
            Unknown,
            $($(#[$variant_doc])* $variant $(($data))?,)+
        }
    };
}

circumstance!(
    /// Chain upgrades.
    UpgradePlan {
        /// No plan, or one far ahead.
        NotDue,
        /// Due or just passed; in words.
        Due(String),
    }
);
circumstance!(
    /// Changes of image, arguments or configuration since the node was last healthy.
    ImageFreshness {
        /// Nothing changed.
        Unchanged,
        /// Something did; in words.
        Changed(String),
    }
);
circumstance!(
    /// The workload's rollout.
    RollOut {
        /// All replicas are of one revision.
        Settled,
        /// Replicas of several revisions; in words.
        InProgress(String),
    }
);
circumstance!(
    /// Other replicas with the same failure at the same time.
    Victims {
        /// This one only.
        Alone,
        /// These too, by name.
        Others(Vec<String>),
    }
);
circumstance!(
    /// Free space and inodes at the time of collection.
    Space {
        /// Enough of both.
        Free,
        /// None left of one; in words.
        Exhausted(String),
    }
);
circumstance!(
    /// Memory kills.
    Memory {
        /// The last termination was no memory kill.
        NotKilled,
        /// It was.
        OomKilled,
    }
);
circumstance!(
    /// The database lock.
    Lock {
        /// Free.
        Free,
        /// Held; by whom, in words.
        HeldByLiveProcess(String),
    }
);
circumstance!(
    /// The machine.
    NodeHealth {
        /// Ready, and no storage events.
        Healthy,
        /// `NotReady`, or storage events; in words.
        Sick(String),
    }
);
circumstance!(
    /// Whether the node may sign (P10).
    SigningRisk {
        /// Proven never to sign: a remote signer, or a key in no validator set and a signing state at height 0.
        NeverSigns,
        /// It may; why, in words.
        MaySign(String),
    }
);
circumstance!(
    /// Earlier restores.
    Recurrence {
        /// None, or other damage.
        First,
        /// The same damage came back after a restore: a sick host or a bad source.
        CameBack,
    }
);
circumstance!(
    /// How fresh the evidence is.
    EvidenceAge {
        /// Nothing has run since that could have changed the data.
        Current,
        /// A restart since then may have.
        OlderThanARestart,
    }
);
