//! The snapshot controller with the driver's side-car. *Client `snapshot-controller`.*
//!
//! A snapshot is bound to a content, the driver copies, then both are ready. What a class says under `simulate` makes the
//! others: `never` (it is never ready), `late:SECONDS`, `no-size` (ready, `restoreSize` absent), `error:TEXT`. While a
//! snapshot is not ready its source claim cannot go; while a Pending claim restores from it, or it never got ready, it
//! cannot go itself before the controllers' resync (real-cluster facts).

use std::sync::Arc;

use jiff::SignedDuration;
use serde_json::{Value, json};

use super::{
    Model, Wake,
    volume_binder::{CLAIMS, VOLUMES},
};
use crate::{
    desk::Desk,
    object::{Fields, add_finalizer, drop_finalizer, put, seconds},
    outside::Copy,
    server::{Change, Event, Key, Store},
};

pub(crate) const SNAPSHOTS: &str = "volumesnapshots.snapshot.storage.k8s.io";
pub(crate) const CONTENTS: &str = "volumesnapshotcontents.snapshot.storage.k8s.io";
pub(crate) const SNAPSHOT_CLASSES: &str = "volumesnapshotclasses.snapshot.storage.k8s.io";

/// Keeps the source claim of a snapshot that is not ready.
const SOURCE_PROTECTION: &str = "snapshot.storage.kubernetes.io/pvc-as-source-protection";
const BOUND_PROTECTION: &str = "snapshot.storage.kubernetes.io/volumesnapshot-bound-protection";
const AS_SOURCE_PROTECTION: &str = "snapshot.storage.kubernetes.io/volumesnapshot-as-source-protection";
/// A snapshot is ready after 1.6 s, as measured.
const COPYING: SignedDuration = SignedDuration::from_millis(1500);
/// How often the controllers look at everything again.
const RESYNC: SignedDuration = SignedDuration::from_secs(15 * 60);

/// The controller.
#[derive(Debug, Default)]
pub(crate) struct Snapshots;

/// What becomes of a snapshot of a class.
enum Outcome {
    Ready { after: SignedDuration, with_size: bool },
    Never,
    Error(String),
}

impl Model for Snapshots {
    fn user(&self) -> &'static str {
        "snapshot-controller"
    }

    fn wakes(&self, event: &Event, store: &Store) -> Vec<Wake> {
        match &*event.key.resource {
            SNAPSHOTS => {
                let mut wakes = vec![Wake::after(20, event.key.clone())];
                let claim = event.object.text("/spec/source/persistentVolumeClaimName");
                let done = event.change == Change::Deleted || event.object.is_terminating();
                if done && !claim.is_empty() {
                    wakes.push(Wake::after(30, Key::new(CLAIMS, &event.key.namespace, claim)));
                }
                wakes
            }
            CLAIMS if event.object.is_terminating() => vec![Wake::after(30, event.key.clone())],
            CLAIMS => waiting_on(event, store),
            _ => Vec::new(),
        }
    }

    fn reconcile(&mut self, key: &Key, desk: &mut Desk<'_>) -> Option<SignedDuration> {
        if &*key.resource == CLAIMS {
            free_source(&key.namespace, &key.name, desk);
            return None;
        }
        let snapshot = desk.object(key)?;
        if snapshot.is_terminating() {
            return remove(&snapshot, desk);
        }
        if snapshot.is_true("/status/readyToUse") {
            free_source(&key.namespace, snapshot.text("/spec/source/persistentVolumeClaimName"), desk);
            return None;
        }
        let snapshot = protect(&snapshot, desk)?;
        let Some(content) = content_of(&snapshot, desk) else { return take(&snapshot, desk) };
        get_ready(&snapshot, &content, desk)
    }
}

/// A snapshot that the claim was made of may go when the claim is bound.
fn waiting_on(event: &Event, store: &Store) -> Vec<Wake> {
    let name = event.object.text("/spec/dataSource/name");
    let key = Key::new(SNAPSHOTS, &event.key.namespace, name);
    let waits = event.object.text("/spec/dataSource/kind") == "VolumeSnapshot"
        && event.object.text("/status/phase") == "Bound"
        && store.get(&key).is_some_and(|snapshot| snapshot.is_terminating());
    // Nobody tells the controller: it finds out at its resync.
    waits.then_some(Wake { key, after: RESYNC }).into_iter().collect()
}

fn outcome_of(snapshot: &Value, desk: &Desk<'_>) -> Outcome {
    let class = desk.get(SNAPSHOT_CLASSES, "", snapshot.text("/spec/volumeSnapshotClassName"));
    let simulate = class.as_ref().map(|class| class.text("/parameters/simulate")).unwrap_or_default();
    match simulate.split_once(':').unwrap_or((simulate, "")) {
        ("never", _) => Outcome::Never,
        ("error", why) => Outcome::Error(why.to_owned()),
        ("late", by) => {
            let after = SignedDuration::from_secs(by.parse().unwrap_or(600));
            Outcome::Ready { after, with_size: true }
        }
        ("no-size", _) => Outcome::Ready { after: COPYING, with_size: false },
        _ => Outcome::Ready { after: COPYING, with_size: true },
    }
}

/// Puts the finalizers on.
fn protect(snapshot: &Arc<Value>, desk: &mut Desk<'_>) -> Option<Arc<Value>> {
    let mut held = Value::clone(snapshot);
    let fresh = add_finalizer(&mut held, BOUND_PROTECTION) | add_finalizer(&mut held, AS_SOURCE_PROTECTION);
    if fresh { desk.update(SNAPSHOTS, held).ok() } else { Some(Arc::clone(snapshot)) }
}

fn content_of(snapshot: &Value, desk: &Desk<'_>) -> Option<Arc<Value>> {
    let name = match snapshot.text("/spec/source/volumeSnapshotContentName") {
        "" => snapshot.text("/status/boundVolumeSnapshotContentName"),
        name => name,
    };
    if name.is_empty() { None } else { desk.get(CONTENTS, "", name) }
}

/// Binds the snapshot to a new content, and lets the driver copy: what is on the volume now is what is restored later.
fn take(snapshot: &Arc<Value>, desk: &mut Desk<'_>) -> Option<SignedDuration> {
    let claim_name = snapshot.text("/spec/source/persistentVolumeClaimName");
    let Some(claim) =
        desk.get(CLAIMS, snapshot.namespace(), claim_name).filter(|claim| claim.text("/status/phase") == "Bound")
    else {
        let message = format!(
            "Failed to create snapshot content with error snapshot controller failed to update {}: cannot get claim from snapshot",
            snapshot.name()
        );
        fail(snapshot, &message, desk);
        return Some(SignedDuration::from_secs(60));
    };
    let class = desk.get(SNAPSHOT_CLASSES, "", snapshot.text("/spec/volumeSnapshotClassName"));
    let Some(class) = class else {
        fail(snapshot, "Failed to get snapshot class: not found", desk);
        return Some(SignedDuration::from_secs(60));
    };
    let volume = desk.get(VOLUMES, "", claim.text("/spec/volumeName"))?;
    let source = volume.text("/spec/csi/volumeHandle").to_owned();
    let mut held = Value::clone(&claim);
    if add_finalizer(&mut held, SOURCE_PROTECTION) && desk.update(CLAIMS, held).is_err() {
        return Some(SignedDuration::from_secs(1));
    }
    let now = desk.now;
    let copied = desk
        .outside()
        .volume(&source, now)
        .map(|volume| Copy { content: volume.content.clone(), bytes: volume.bytes })?;
    desk.outside().copies.insert(format!("snap-{}", snapshot.uid()), copied);
    let name = format!("snapcontent-{}", snapshot.uid());
    let content = json!({
        "metadata": {"name": name, "finalizers": ["snapshot.storage.kubernetes.io/volumesnapshotcontent-bound-protection"]},
        "spec": {
            "deletionPolicy": class.text("/deletionPolicy"), "driver": class.text("/driver"),
            "source": {"volumeHandle": source},
            "volumeSnapshotClassName": class.name(),
            "volumeSnapshotRef": {
                "apiVersion": "snapshot.storage.k8s.io/v1", "kind": "VolumeSnapshot", "namespace": snapshot.namespace(),
                "name": snapshot.name(), "uid": snapshot.uid(),
            },
        },
    });
    drop(desk.create(CONTENTS, content));
    drop(desk.merge_status(SNAPSHOTS, snapshot, &json!({"boundVolumeSnapshotContentName": name, "readyToUse": false})));
    Some(SignedDuration::from_millis(1))
}

fn fail(snapshot: &Arc<Value>, message: &str, desk: &mut Desk<'_>) {
    if snapshot.text("/status/error/message") != message {
        let error = json!({"readyToUse": false, "error": {"message": message, "time": seconds(desk.now)}});
        drop(desk.merge_status(SNAPSHOTS, snapshot, &error));
    }
    desk.event(snapshot, "Warning", "SnapshotContentCreationFailed", message);
}

/// Ready when its time has come, by the class.
fn get_ready(snapshot: &Arc<Value>, content: &Arc<Value>, desk: &mut Desk<'_>) -> Option<SignedDuration> {
    let begun = content.time("/metadata/creationTimestamp").unwrap_or(desk.now);
    let prepared = content.has("/spec/source/snapshotHandle");
    let handle = if prepared {
        content.text("/spec/source/snapshotHandle").to_owned()
    } else {
        format!("snap-{}", snapshot.uid())
    };
    let with_size = match outcome_of(snapshot, desk) {
        _ if prepared => true,
        Outcome::Never => return None,
        Outcome::Error(why) => {
            fail(
                snapshot,
                &format!("Failed to check and update snapshot content: failed to take snapshot of the volume: {why:?}"),
                desk,
            );
            return Some(SignedDuration::from_secs(60));
        }
        Outcome::Ready { after, with_size } => {
            let rest = after.saturating_sub(desk.since(begun));
            if rest.is_positive() {
                return Some(rest);
            }
            with_size
        }
    };
    let bytes = desk.outside().copies.get(&handle).map(|copy| copy.bytes)?;
    let nanoseconds = i64::try_from(begun.as_nanosecond()).unwrap_or_default();
    let mut inner = json!({"snapshotHandle": handle, "creationTime": nanoseconds, "readyToUse": true});
    let mut outer = json!({
        "boundVolumeSnapshotContentName": content.name(), "creationTime": seconds(begun), "readyToUse": true, "error": null,
    });
    if with_size {
        put(&mut inner, "restoreSize", bytes.into());
        put(&mut outer, "restoreSize", quantity(bytes).into());
    }
    drop(desk.merge_status(CONTENTS, content, &inner));
    drop(desk.merge_status(SNAPSHOTS, snapshot, &outer));
    free_source(snapshot.namespace(), snapshot.text("/spec/source/persistentVolumeClaimName"), desk);
    None
}

/// Bytes as Kubernetes writes them.
pub(crate) fn quantity(bytes: u64) -> String {
    let units = [("Ti", 1_u64 << 40), ("Gi", 1 << 30), ("Mi", 1 << 20), ("Ki", 1 << 10)];
    let unit = units.iter().find(|(_, size)| bytes >= *size && bytes.is_multiple_of(*size));
    unit.map_or_else(|| bytes.to_string(), |(name, size)| format!("{}{name}", bytes / size))
}

/// Lets a claim go that no unready snapshot needs any more.
fn free_source(namespace: &str, claim: &str, desk: &mut Desk<'_>) {
    let Some(claim) = desk.get(CLAIMS, namespace, claim).filter(|claim| claim.has_finalizer(SOURCE_PROTECTION)) else {
        return;
    };
    let needed = desk.list(SNAPSHOTS, Some(namespace)).iter().any(|snapshot| {
        snapshot.text("/spec/source/persistentVolumeClaimName") == claim.name()
            && !snapshot.is_true("/status/readyToUse")
            && !snapshot.is_terminating()
    });
    if !needed {
        let mut freed = Value::clone(&claim);
        drop_finalizer(&mut freed, SOURCE_PROTECTION);
        drop(desk.update(CLAIMS, freed));
    }
}

fn remove(snapshot: &Arc<Value>, desk: &mut Desk<'_>) -> Option<SignedDuration> {
    free_source(snapshot.namespace(), snapshot.text("/spec/source/persistentVolumeClaimName"), desk);
    let restoring = desk.list(CLAIMS, Some(snapshot.namespace())).iter().any(|claim| {
        claim.text("/spec/dataSource/kind") == "VolumeSnapshot"
            && claim.text("/spec/dataSource/name") == snapshot.name()
            && claim.text("/status/phase") == "Pending"
    });
    let asked = snapshot.time("/metadata/deletionTimestamp").unwrap_or(desk.now);
    let unready = !snapshot.is_true("/status/readyToUse") && snapshot.has("/status/boundVolumeSnapshotContentName");
    let rest = RESYNC.saturating_sub(desk.since(asked));
    if restoring {
        desk.event(snapshot, "Warning", "SnapshotDeletePending", "Snapshot is being used to restore a PVC");
        return Some(RESYNC);
    }
    if unready && rest.is_positive() {
        return Some(rest);
    }
    let content = content_of(snapshot, desk).filter(|content| content.text("/spec/deletionPolicy") == "Delete");
    if let Some(content) = content {
        let handle = format!("snap-{}", snapshot.uid());
        desk.outside().copies.remove(&handle);
        let mut freed = Value::clone(&content);
        crate::object::unset(&mut freed, "/metadata/finalizers");
        if let Ok(freed) = desk.update(CONTENTS, freed) {
            drop(desk.delete(CONTENTS, &freed));
        }
    }
    let mut freed = Value::clone(snapshot);
    drop_finalizer(&mut freed, BOUND_PROTECTION);
    drop_finalizer(&mut freed, AS_SOURCE_PROTECTION);
    drop(desk.update(SNAPSHOTS, freed));
    None
}
