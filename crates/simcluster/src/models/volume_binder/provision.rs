//! The provisioner of the driver: new volumes, empty or from a copy. *Client `volume-binder`.* (P8)

use std::sync::Arc;

use serde_json::{Value, json};

use super::{CLAIMS, VOLUMES, asked};
use crate::{
    desk::Desk,
    models::snapshots::{CONTENTS, SNAPSHOTS},
    object::{Fields, set},
    outside::{Volume, VolumeContent},
};

const PROVISIONED_BY: &str = "pv.kubernetes.io/provisioned-by";

/// What a new volume is made of: nothing, a snapshot, or another claim; or why it cannot be made.
pub(super) fn source(claim: &Value, desk: &mut Desk<'_>) -> Result<VolumeContent, String> {
    let source = claim.part("/spec/dataSource");
    let source = if source.is_null() { claim.part("/spec/dataSourceRef") } else { source };
    match source.text("/kind") {
        "" => Ok(VolumeContent::empty()),
        "VolumeSnapshot" => {
            let name = source.text("/name");
            let snapshot = desk.get(SNAPSHOTS, claim.namespace(), name).ok_or_else(|| {
                format!(
                    "error getting handle for DataSource Type VolumeSnapshot by Name {name}: snapshot {name} not found"
                )
            })?;
            let ready = snapshot.is_true("/status/readyToUse") && !snapshot.is_terminating();
            let content = snapshot.text("/status/boundVolumeSnapshotContentName").to_owned();
            let handle = desk
                .get(CONTENTS, "", &content)
                .map(|content| content.text("/status/snapshotHandle").to_owned())
                .filter(|handle| ready && !handle.is_empty())
                .ok_or_else(|| format!("snapshot {name} is not Ready"))?;
            let copy = desk.outside().copies.get(&handle).ok_or("the snapshot does not exist in the backend")?;
            let smallest = copy.bytes;
            if asked(claim) < smallest {
                return Err(format!(
                    "requested volume size {} is less than the size {smallest} for the source snapshot {name}",
                    asked(claim)
                ));
            }
            Ok(copy.content.clone())
        }
        "PersistentVolumeClaim" => {
            let name = source.text("/name");
            let other = desk.get(CLAIMS, claim.namespace(), name).ok_or_else(|| format!("claim {name} not found"))?;
            let volume = desk
                .get(VOLUMES, "", other.text("/spec/volumeName"))
                .ok_or_else(|| format!("claim {name} is not bound"))?;
            let (handle, now) = (volume.text("/spec/csi/volumeHandle").to_owned(), desk.now);
            let volume = desk.outside().volume(&handle, now).ok_or("the source volume is gone")?;
            Ok(volume.content.clone())
        }
        other => Err(format!("a volume of a {other} cannot be made")),
    }
}

pub(super) fn make_volume(claim: &Arc<Value>, class: &Value, content: VolumeContent, desk: &mut Desk<'_>) {
    let name = format!("pvc-{}", claim.uid());
    let handle = format!("vol-{}", claim.uid());
    let bytes = asked(claim);
    let size = claim.text("/spec/resources/requests/storage");
    let driver = class.text("/provisioner");
    let mut volume = json!({
        "metadata": {"name": name, "annotations": {PROVISIONED_BY: driver}},
        "spec": {
            "capacity": {"storage": size}, "accessModes": claim.part("/spec/accessModes"),
            "volumeMode": claim.text("/spec/volumeMode"), "storageClassName": claim.text("/spec/storageClassName"),
            "persistentVolumeReclaimPolicy": class.text("/reclaimPolicy"),
            "csi": {"driver": driver, "volumeHandle": handle},
            "claimRef": {
                "apiVersion": "v1", "kind": "PersistentVolumeClaim", "namespace": claim.namespace(),
                "name": claim.name(), "uid": claim.uid(),
            },
        },
    });
    if claim.has("/spec/volumeAttributesClassName") {
        let class = claim.part("/spec/volumeAttributesClassName").clone();
        set(&mut volume, "/spec/volumeAttributesClassName", class);
    }
    desk.outside().volumes.entry(handle).or_insert(Volume { content, bytes });
    if desk.create(VOLUMES, volume).is_ok() {
        desk.event(claim, "Normal", "ProvisioningSucceeded", &format!("Successfully provisioned volume {name}"));
    }
}
