//! The pure core: from objects and findings to a verdict. *No client, no runtime, no clock.*
//!
//! In goes [`Evidence`] (what was seen, each part with the time it was seen) and a [`Policy`]; out comes a [`Verdict`].
//! Nothing here reads a file, asks a server or looks at the clock, so any incident can be judged again years later and
//! gives the same answer. Nothing here can fail either: whatever could not be seen is a value (`NotRead`, `CouldNotTell`,
//! `Unknown`), never an error and never a default that counts as evidence.
//!
//! Modules in the order of the flow (detect → collect → judge → plan):

mod names;

mod cause;

mod crashloop;

mod evidence;

mod circumstances;

mod policy;

mod veto;

mod missing;

mod judge;

mod verdict;

mod advice;

mod plan;

pub mod recovery;

pub use advice::{Advice, advise};
pub use cause::{Cause, UnknownCause};
pub use circumstances::{
    Circumstances, EvidenceAge, ImageFreshness, Lock, Memory, NodeHealth, OtherVictims, Recurrence, RollOut,
    SigningRisk, Space, StartFailure, UpgradePlan, Victims, Workload,
};
pub use crashloop::{
    BackOff, ContainerFacts, ContainerRole, ContainerState, CrashLoop, ExitStatus, InstanceHistory, LastRun, LoopRule,
    Observation, Owner, Remembered, RestartPolicy, RestartRate, Revision, RevisionScope, detect, detect_by, observe,
};
pub use evidence::{
    AppHashQuestion, CrashLoopReading, DatabaseName, DiskReading, Evidence, InspectionScope, LogAbstention, LogOpinion,
    LogReading, Siblings, StartRole, Symptom, Testimony,
};
pub use judge::judge;
pub use missing::{MissingFact, missing_facts};
pub use names::{ClaimName, ContainerName, Height, InstanceName, NodeName, Probability, Uid};
pub use plan::{
    Course, DiskLook, Ending, Hold, Leavings, Make, Method, Mode, PeersLook, Situation, Stage, Step, Watch, next,
};
pub use policy::Policy;
pub use verdict::{Decision, Row, Verdict, Witness};
pub use veto::{Veto, unseen_circumstances, vetoes};
