//! A snapshot of our own, and a claim from it, so that a volume can be read while its owner has it. *No client.* (design 5)
//!
//! They carry none of the workload's labels, so that nobody takes them for a source of its own, and they belong to the
//! Recovery, so that they go with it.

use std::collections::BTreeMap;

use api::{Recovery, VolumeSnapshot, VolumeSnapshotSource, VolumeSnapshotSpec};
use k8s_openapi::{
    api::core::v1::{
        PersistentVolumeClaim, PersistentVolumeClaimSpec, TypedLocalObjectReference, VolumeResourceRequirements,
    },
    apimachinery::pkg::api::resource::Quantity,
};
use kube::{ResourceExt, api::ObjectMeta};

use super::inspector::our_metadata;

/// The snapshot of a replica's claim.
pub(crate) fn forensic_snapshot(
    recovery: &Recovery,
    name: &str,
    claim: &PersistentVolumeClaim,
    class: &str,
) -> VolumeSnapshot {
    VolumeSnapshot {
        metadata: our_metadata(recovery, name),
        spec: VolumeSnapshotSpec {
            source: VolumeSnapshotSource {
                persistent_volume_claim_name: Some(claim.name_any()),
                volume_snapshot_content_name: None,
            },
            volume_snapshot_class_name: Some(class.to_owned()),
        },
        status: None,
    }
}

/// A claim from it, at least as large as the original: a smaller one stays Pending.
pub(crate) fn forensic_claim(
    recovery: &Recovery,
    name: &str,
    original: &PersistentVolumeClaim,
    snapshot: &VolumeSnapshot,
) -> PersistentVolumeClaim {
    let spec = original.spec.clone().unwrap_or_default();
    let capacity = original.status.as_ref().and_then(|status| status.capacity.as_ref()?.get("storage").cloned());
    let asked = spec.resources.as_ref().and_then(|resources| resources.requests.as_ref()?.get("storage").cloned());
    // The driver's own word, where it says one: for some it is more than the claim.
    let restore = snapshot.status.as_ref().and_then(|status| status.restore_size.clone());
    let size = restore.or(capacity).or(asked).unwrap_or_else(|| Quantity("1Gi".to_owned()));
    PersistentVolumeClaim {
        metadata: ObjectMeta { annotations: None, ..our_metadata(recovery, name) },
        spec: Some(PersistentVolumeClaimSpec {
            access_modes: Some(vec!["ReadWriteOnce".to_owned()]),
            storage_class_name: spec.storage_class_name,
            volume_mode: spec.volume_mode,
            resources: Some(VolumeResourceRequirements {
                requests: Some(BTreeMap::from([("storage".to_owned(), size)])),
                limits: None,
            }),
            data_source: Some(TypedLocalObjectReference {
                api_group: Some("snapshot.storage.k8s.io".to_owned()),
                kind: "VolumeSnapshot".to_owned(),
                name: snapshot.name_any(),
            }),
            ..PersistentVolumeClaimSpec::default()
        }),
        status: None,
    }
}

/// Ready by its own word, and bound: `readyToUse` alone may be of another time.
pub(crate) fn snapshot_is_ready(snapshot: &VolumeSnapshot) -> bool {
    snapshot
        .status
        .as_ref()
        .is_some_and(|status| status.ready_to_use == Some(true) && status.bound_volume_snapshot_content_name.is_some())
        && snapshot_error(snapshot).is_none()
}

/// What the snapshot controller says went wrong.
pub(crate) fn snapshot_error(snapshot: &VolumeSnapshot) -> Option<String> {
    let error = snapshot.status.as_ref()?.error.as_ref()?;
    Some(format!("the snapshot to be inspected failed: {}", error.message.as_deref().unwrap_or("no reason given")))
}
