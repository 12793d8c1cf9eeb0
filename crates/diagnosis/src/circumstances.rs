//! What stands around the replica and can forbid a restore: the evidence behind the vetoes. *No client.*
//!
//! Each circumstance starts as `Unknown`. That is neither good nor bad news: it vetoes nothing and lets nothing act alone
//! (P13); only for signing it refuses (P10).

use std::fmt;

use crate::Cause;

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
    /// Siblings that crash-loop at the same time, but otherwise: who, and how they end, in words. A fact, no veto.
    pub other_crash_loops: Vec<String>,
    /// Who makes the pod, where that is a workload whose ways are known.
    pub workload: Option<Workload>,
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

/// A workload that makes the pods of replicas, by its name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Workload {
    /// Of cosmos-operator.
    CosmosFullNode(String),
    /// Of Kubernetes itself.
    StatefulSet(String),
}

/// Siblings with the same failure, by how well that is known.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct OtherVictims {
    /// The logs of both name the same cause.
    pub same_cause: Vec<String>,
    /// They end with the same exit code in the same kind of container; nobody compared the logs.
    pub same_exit_code: Vec<String>,
    /// They crash-loop; how one of the two ends is not known.
    pub unknown_exit: Vec<String>,
}

impl OtherVictims {
    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.same_cause.is_empty() && self.same_exit_code.is_empty() && self.unknown_exit.is_empty()
    }
}

impl fmt::Display for OtherVictims {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let parts: Vec<String> = [
            ("these fail the same way", &self.same_cause),
            ("also crash-loop with the same exit code", &self.same_exit_code),
            ("also crash-loop, with an exit code that is not known", &self.unknown_exit),
        ]
        .into_iter()
        .filter(|(_, names)| !names.is_empty())
        .map(|(how, names)| format!("{how}: {}", names.join(", ")))
        .collect();
        f.write_str(&parts.join("; "))
    }
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
        /// These too.
        Others(OtherVictims),
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
