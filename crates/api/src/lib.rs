//! The objects of Loopbreaker in a cluster, and the parts of other people's objects that it reads. *No client.*
//!
//! Types at the border: what is written here is promised to users and to scripts (design 5), so it stands apart from the
//! inner types of the `diagnosis` crate. Our own kinds have structural schemas with every default visible and with rules
//! that the API server itself enforces; of foreign kinds only the fields that we read are named, all of them optional, so
//! that no other version of them can stop a watch.
//!
//! `loopbreaker crds` prints what [`crds`] gives; `config/crd/` holds the same text, and a test compares the two.

#![expect(unreachable_pub, reason = "kube's schema derive declares its types a second time inside of a function")]
#![expect(clippy::duplicated_attributes, reason = "each printer column states its type")]

mod crds;

mod span;

mod target;

mod policy;

mod recovery;

mod foreign;

pub use crds::{Crd, crds};
pub use foreign::{
    cosmos_full_node::{
        ChainSpec, ChainVersion, CosmosFullNode, CosmosFullNodeSpec, CosmosFullNodeStatus, InstanceOverride,
        SnapshotCandidate, SyncStatus,
    },
    scheduled_volume_snapshot::{
        FullNodeReference, ScheduledVolumeSnapshot, ScheduledVolumeSnapshotSpec, ScheduledVolumeSnapshotStatus,
    },
    volume_snapshot::{
        ContentReference, ContentSource, SnapshotError, VolumeSnapshot, VolumeSnapshotClass, VolumeSnapshotClassFields,
        VolumeSnapshotContent, VolumeSnapshotContentSpec, VolumeSnapshotContentStatus, VolumeSnapshotSource,
        VolumeSnapshotSpec, VolumeSnapshotStatus,
    },
};
pub use policy::{
    Detection, DiskEvidence, DiskMethod, EvidenceSettings, Limits, Mode, PeerEvidence, PolicyStatus, Proof, Quarantine,
    RecoveryPolicy, RecoveryPolicySpec, ReplicaMemory, RestoreSettings, SigningNodes, SnapshotChoice, Window,
};
pub use recovery::{
    AdviceStep, Approval, Claim, CrashFacts, Decision, DecisiveLine, DiskReport, EvidenceReport, Gathered, Incident,
    IncidentKind, InspectionIntent, LogReport, Look, PeersReport, Phase, PolicyReference, Recovery, RecoverySpec,
    RecoveryStatus, TargetInstance, Undo, VerdictReport, VetoReport,
};
pub use span::{Span, SpanError};
pub use target::{Target, WorkloadKind};
