//! Which claims cosmos-operator wants, and what it makes them of. *Client `cosmos-operator`.* (P8: the blank claim)

use std::{collections::BTreeMap, sync::Arc};

use serde_json::{Value, json};

use super::{Outcome, disabled, labels, ordinals, owned, pod_name, revision};
use crate::{
    desk::Desk,
    models::{
        snapshots::SNAPSHOTS,
        stateful_set::owner_reference,
        volume_binder::{CLAIMS, asked},
    },
    object::{Fields, bytes_of, set},
};

/// One step towards the wanted claims.
pub(super) fn bring_on(node: &Arc<Value>, desk: &mut Desk<'_>) -> Outcome {
    let names: Vec<(i64, String)> = ordinals(node)
        .map(|ordinal| (ordinal, pod_name(node, ordinal)))
        .filter(|(_, pod)| disabled(node, pod) != "All")
        .collect();
    let present = owned(node, CLAIMS, desk);
    // The count gate: claims kept from a scale-down count, and then nobody looks for a source.
    let replicas = usize::try_from(node.number("/spec/replicas").unwrap_or_default()).unwrap_or_default();
    let looks_for_source = present.len() < replicas;
    let mut changed = false;
    for (ordinal, pod) in &names {
        let name = format!("pvc-{pod}");
        if present.iter().any(|claim| claim.name() == name) {
            continue;
        }
        let mut claim = claim(node, *ordinal, pod);
        if looks_for_source {
            match source(node, pod, desk) {
                Source::Snapshot(snapshot, Some(size)) => {
                    set(
                        &mut claim,
                        "/spec/dataSource",
                        json!({"apiGroup": "snapshot.storage.k8s.io", "kind": "VolumeSnapshot", "name": snapshot}),
                    );
                    set(&mut claim, "/spec/resources/requests/storage", size.into());
                }
                Source::Snapshot(_, None) => return Outcome::Panicked,
                Source::NotFound(why) => desk.event(node, "Warning", "AutoDataSourceFindSnapshot", &why),
                Source::Unasked => {}
            }
        }
        match desk.create(CLAIMS, claim) {
            Ok(_) => changed = true,
            // A claim of that name without our owner reference: it tries again every 3 s, for ever.
            Err(refusal) if refusal.reason == "AlreadyExists" => changed = !adopt(node, &name, desk) || changed,
            Err(refusal) => {
                desk.event(node, "Warning", "PVCCreate", &refusal.message);
                return Outcome::Refused;
            }
        }
    }
    if node.text("/spec/volumeRetentionPolicy") != "Retain" {
        for claim in present.iter().filter(|claim| !claim.is_terminating()) {
            if names.iter().all(|(_, pod)| format!("pvc-{pod}") != claim.name()) {
                drop(desk.delete(CLAIMS, claim));
                changed = true;
            }
        }
    }
    resize(node, &present, desk);
    if changed { Outcome::Changed } else { Outcome::Settled }
}

/// Takes over a claim that somebody else made with our reference; whether it is ours now.
fn adopt(node: &Value, name: &str, desk: &Desk<'_>) -> bool {
    let claim = desk.get(CLAIMS, node.namespace(), name);
    claim.is_some_and(|claim| {
        claim.items("/metadata/ownerReferences").iter().any(|owner| owner.text("/uid") == node.uid())
    })
}

enum Source {
    /// Nothing was asked for.
    Unasked,
    /// The newest ready snapshot, and its size.
    Snapshot(String, Option<String>),
    /// None: the claim is made blank.
    NotFound(String),
}

/// The newest ready snapshot that the selector takes. Not looked at: its error, its age, its height, whether it is going.
fn source(node: &Value, pod: &str, desk: &Desk<'_>) -> Source {
    let template = template(node, pod);
    let fixed = template.part("/dataSource");
    if fixed.text("/kind") == "VolumeSnapshot" {
        let Some(snapshot) = desk.get(SNAPSHOTS, node.namespace(), fixed.text("/name")) else {
            return Source::NotFound(format!("snapshot {} not found", fixed.text("/name")));
        };
        return Source::Snapshot(snapshot.name().to_owned(), size_of(&snapshot));
    }
    let auto = template.part("/autoDataSource");
    let mut wanted: BTreeMap<String, String> = auto
        .part("/volumeSnapshotSelector")
        .as_object()
        .into_iter()
        .flatten()
        .map(|(label, value)| (label.clone(), value.as_str().unwrap_or_default().to_owned()))
        .collect();
    if wanted.is_empty() {
        return Source::Unasked;
    }
    if auto.is_true("/matchInstance") {
        wanted.insert("app.kubernetes.io/instance".to_owned(), pod.to_owned());
    }
    let snapshots = desk.list(SNAPSHOTS, Some(node.namespace()));
    let ready = snapshots.iter().filter(|snapshot| {
        snapshot.is_true("/status/readyToUse") && wanted.iter().all(|(label, value)| snapshot.label(label) == value)
    });
    match ready.max_by_key(|snapshot| snapshot.text("/status/creationTime").to_owned()) {
        Some(newest) => Source::Snapshot(newest.name().to_owned(), size_of(newest)),
        None => Source::NotFound("no ready snapshots found".to_owned()),
    }
}

fn size_of(snapshot: &Value) -> Option<String> {
    snapshot.has("/status/restoreSize").then(|| snapshot.text("/status/restoreSize").to_owned())
}

fn template<'n>(node: &'n Value, pod: &str) -> &'n Value {
    let over = node.part("/spec/instanceOverrides").get(pod).and_then(|over| over.get("volumeClaimTemplate"));
    over.unwrap_or_else(|| node.part("/spec/volumeClaimTemplate"))
}

fn claim(node: &Value, ordinal: i64, pod: &str) -> Value {
    let template = template(node, pod);
    let modes = match template.items("/accessModes") {
        [] => json!(["ReadWriteOnce"]),
        modes => json!(modes),
    };
    let mut claim = json!({
        "metadata": {
            "name": format!("pvc-{pod}"), "namespace": node.namespace(),
            "labels": labels(node, pod, node.text("/spec/podTemplate/image")),
            "annotations": {"app.kubernetes.io/ordinal": ordinal.to_string()},
            "ownerReferences": [owner_reference(node)],
        },
        "spec": {
            "accessModes": modes, "resources": template["resources"], "storageClassName": template.text("/storageClassName"),
            "volumeMode": "Filesystem",
        },
    });
    let hash = revision(&claim);
    set(&mut claim, "/metadata/labels/app.kubernetes.io~1revision", hash.into());
    claim
}

/// Asks for more where the template is larger than the claim, once all claims are bound.
fn resize(node: &Arc<Value>, present: &[Arc<Value>], desk: &mut Desk<'_>) {
    if present.iter().any(|claim| claim.text("/status/phase") != "Bound") {
        return;
    }
    for claim in present.iter().filter(|claim| !claim.is_terminating()) {
        let pod = claim.name().strip_prefix("pvc-").unwrap_or_default();
        let wanted = template(node, pod).text("/resources/requests/storage");
        if bytes_of(wanted).is_some_and(|wanted| wanted > asked(claim)) {
            let patch = json!({"spec": {"resources": {"requests": {"storage": wanted}}}});
            if let Err(refusal) = desk.merge(CLAIMS, claim, patch) {
                desk.event(node, "Warning", "PVCPatch", &format!("PVC patch failed: {}", refusal.message));
            }
        }
    }
}
