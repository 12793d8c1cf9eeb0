//! Foreign objects as a real cluster prints them are read, and what another version adds or leaves out stops nothing.

use std::path::PathBuf;

use api::{CosmosFullNode, VolumeSnapshot, VolumeSnapshotClass, VolumeSnapshotContent};

fn bundle(file: &str) -> std::io::Result<String> {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../examples").join(file);
    std::fs::read_to_string(path)
}

#[test]
fn a_real_full_node() {
    let node: CosmosFullNode =
        serde_saphyr::from_str(&bundle("cosmosfullnode-state-db/objects/cr-crashloop-node.yaml").expect("a bundle"))
            .expect("read");
    assert_eq!(node.spec.replicas, Some(3));
    assert_eq!(node.spec.chain.chain_id.as_deref(), Some("lab-peer"));
    let status = node.status.expect("a status");
    assert_eq!(status.height.get("lab-1"), Some(&137));
    assert_eq!(status.sync.get("lab-0").and_then(|sync| sync.in_sync), Some(true));
    assert!(status.sync.get("lab-1").is_some_and(|sync| sync.error.is_some()));
}

#[test]
fn a_real_snapshot() {
    let snapshot: VolumeSnapshot =
        serde_saphyr::from_str(&bundle("cosmosfullnode-state-db/objects/vs-s1-lab-1.yaml").expect("a bundle"))
            .expect("read");
    assert_eq!(snapshot.spec.source.persistent_volume_claim_name.as_deref(), Some("pvc-lab-1"));
    let status = snapshot.status.expect("a status");
    assert_eq!(status.ready_to_use, Some(true));
    assert_eq!(status.restore_size.map(|size| size.0).as_deref(), Some("1Gi"));
}

#[test]
fn what_another_version_adds_or_leaves_out_stops_nothing() {
    let node: CosmosFullNode = serde_saphyr::from_str(
        "{apiVersion: cosmos.strange.love/v1, kind: CosmosFullNode, metadata: {name: a}, spec: {novelty: {x: [1]}}, status: {sync: {a: {novelty: 2}}}}",
    )
    .expect("read");
    assert_eq!(node.spec.replicas, None);
    let snapshot: VolumeSnapshot =
        serde_saphyr::from_str("{apiVersion: snapshot.storage.k8s.io/v1, kind: VolumeSnapshot, metadata: {name: a}, spec: {}, status: {readyToUse: false}}")
            .expect("read");
    assert_eq!(snapshot.status.and_then(|status| status.restore_size), None, "absent is not zero");
    let content: VolumeSnapshotContent = serde_saphyr::from_str(
        "{apiVersion: snapshot.storage.k8s.io/v1, kind: VolumeSnapshotContent, metadata: {name: a}, spec: {volumeSnapshotRef: {uid: u}}}",
    )
    .expect("read");
    assert_eq!(content.spec.volume_snapshot_ref.uid.as_deref(), Some("u"));
    let class: VolumeSnapshotClass = serde_saphyr::from_str(
        "{apiVersion: snapshot.storage.k8s.io/v1, kind: VolumeSnapshotClass, metadata: {name: a}, driver: d, deletionPolicy: Delete, parameters: {speed: fast}}",
    )
    .expect("read");
    assert_eq!(
        (class.spec.driver.as_deref(), class.spec.parameters.get("speed").map(String::as_str)),
        (Some("d"), Some("fast"))
    );
}
