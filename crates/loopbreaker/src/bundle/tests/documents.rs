//! Objects however `kubectl` prints them.

use super::*;

fn pods(folder: &Folder) -> Vec<String> {
    folder.bundle().scene.instances.iter().map(|history| history.instance().to_string()).collect()
}

const TWO: &str = "apiVersion: v1\nkind: Pod\nmetadata: {name: a, namespace: n}\n---\n# another\nkind: Pod\napiVersion: v1\nmetadata:\n  name: b\n  namespace: n\n";

#[test]
fn one_file_several_documents() {
    assert_eq!(pods(&Folder::new().with("objects/all.yaml", TWO)), ["n/a", "n/b"]);
    assert_eq!(pods(&Folder::new().with("objects/all.yml", format!("---\n{TWO}...\n---\n"))), ["n/a", "n/b"]);
    assert_eq!(pods(&Folder::new().with("objects/all.yaml", TWO.replace('\n', "\r\n"))), ["n/a", "n/b"]);
    assert_eq!(pods(&Folder::new().with("objects/all.yaml", format!("\u{feff}{TWO}"))), ["n/a", "n/b"]);
}

#[test]
fn lists_of_any_kind() {
    let list = json!({"apiVersion": "v1", "kind": "List", "items": [sick("gaia-0"), well("gaia-1"), owner()]});
    let folder = Folder::new().with_object("list", &list);
    assert_eq!(pods(&folder), ["cosmos/gaia-0", "cosmos/gaia-1"]);
    assert_eq!(folder.bundle().scene.objects.full_nodes.len(), 1);
    let mut bare = sick("gaia-0");
    bare.as_object_mut().expect("an object").retain(|key, _| key != "kind" && key != "apiVersion");
    let pod_list = json!({"apiVersion": "v1", "kind": "PodList", "items": [bare]});
    assert_eq!(pods(&Folder::new().with_object("list", &pod_list)), ["cosmos/gaia-0"], "as the API server answers");
    let empty = Folder::new().with_object("list", &json!({"apiVersion": "v1", "kind": "List", "items": []}));
    assert_eq!((pods(&empty), empty.notes()), (Vec::new(), Vec::new()));
}

#[test]
fn json_documents_one_after_another() {
    let text = format!("{}\n{}", sick("gaia-0"), well("gaia-1"));
    assert_eq!(pods(&Folder::new().with("objects/two.json", text)), ["cosmos/gaia-0", "cosmos/gaia-1"]);
}

#[test]
fn yaml_that_begins_like_json() {
    let folder =
        Folder::new().with("objects/pod.yaml", "{apiVersion: v1, kind: Pod, metadata: {name: a, namespace: n}}\n");
    assert_eq!(pods(&folder), ["n/a"]);
}

#[test]
fn a_broken_document_costs_only_itself() {
    let text = format!(
        "{TWO}---\nkind: Pod\n  apiVersion: [v1\n---\nkind: Pod\napiVersion: v1\nmetadata: {{name: c, namespace: n}}\n"
    );
    let folder = Folder::new().with("objects/all.yaml", text);
    assert_eq!(pods(&folder), ["n/a", "n/b", "n/c"]);
    let notes = folder.notes();
    assert_eq!(notes.len(), 1, "{notes:?}");
    assert!(notes[0].starts_with("objects/all.yaml, document 3: skipped, cannot be read: "), "{}", notes[0]);
    assert!(notes[0].contains("line 13"), "the line in the file: {}", notes[0]);
}

#[test]
fn a_pod_of_another_shape_is_named() {
    let crooked = with(sick("gaia-0"), "/status/containerStatuses/0/restartCount", json!("nine"));
    let list = json!({"apiVersion": "v1", "kind": "List", "items": [well("gaia-1"), crooked]});
    let folder = Folder::new().with_object("list", &list);
    assert_eq!(pods(&folder), ["cosmos/gaia-1"]);
    assert_eq!(
        folder.notes(),
        [
            "objects/list.json, document 1, item 2: skipped, cannot be read: Pod gaia-0: invalid type: string \"nine\", expected i32"
        ]
    );
}

#[test]
fn kinds_that_say_nothing_are_counted() {
    let folder = Folder::new()
        .with("objects/all.yaml", "kind: ConfigMap\n---\nkind: Service\n---\nkind: ConfigMap\n")
        .with("objects/README", "");
    assert_eq!(
        folder.notes(),
        [
            "objects/README: ignored: expected objects/*.yaml, *.yml or *.json",
            "objects/all.yaml: skipped: kind ConfigMap (2 objects)",
            "objects/all.yaml, document 2: skipped: kind Service",
        ]
    );
    let foreign = Folder::new().with("objects/x.yaml", "apiVersion: example.org/v1\nkind: Pod\n---\njust words\n");
    assert_eq!(
        foreign.notes(),
        [
            "objects/x.yaml, document 2: skipped, cannot be read: no Kubernetes object: it has no `kind`",
            "objects/x.yaml, document 1: skipped: kind Pod",
        ]
    );
}

#[test]
fn nulls_are_missing_fields() {
    let pod = with(sick("gaia-0"), "/status/containerStatuses/0/restartCount", Value::Null);
    assert_eq!(pods(&Folder::new().with_object("pod", &pod)), ["cosmos/gaia-0"]);
}

#[test]
fn other_kinds() {
    let folder = Folder::new().with(
        "objects/all.yaml",
        "apiVersion: v1\nkind: PersistentVolumeClaim\nmetadata: {name: pvc-a}\n---\napiVersion: v1\nkind: Node\n---\n\
         apiVersion: apps/v1\nkind: StatefulSet\n---\napiVersion: events.k8s.io/v1\nkind: Event\nnote: broken\nregarding: {kind: Pod, name: a}\n---\n\
         apiVersion: snapshot.storage.k8s.io/v1\nkind: VolumeSnapshot\nmetadata: {name: s1, namespace: n}\n\
         spec: {source: {persistentVolumeClaimName: pvc-a}}\n\
         status: {readyToUse: true, creationTime: \"2026-01-05T10:00:00Z\", restoreSize: 1Gi, later: field}\n",
    );
    let objects = folder.bundle().scene.objects;
    assert_eq!((objects.claims.len(), objects.nodes.len(), objects.stateful_sets.len()), (1, 1, 1));
    assert_eq!(objects.events[0].message, "broken");
    let snapshot = &objects.snapshots[0];
    assert_eq!(snapshot.metadata.name.as_deref(), Some("s1"));
    let status = snapshot.status.as_ref().expect("a status");
    assert_eq!(snapshot.spec.source.persistent_volume_claim_name.as_deref(), Some("pvc-a"));
    assert_eq!(
        (status.ready_to_use, status.restore_size.as_ref().map(|size| size.0.as_str())),
        (Some(true), Some("1Gi"))
    );
    assert_eq!(status.creation_time.as_ref().map(|time| time.0.to_string()).as_deref(), Some("2026-01-05T10:00:00Z"));
}
