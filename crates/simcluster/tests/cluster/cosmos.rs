//! cosmos-operator: what it shows of a sick replica, its hold, and its traps.

use serde_json::{Value, json};
use simcluster::{Damage, Fields, HUMAN, World};

use crate::{at, secs, story};

const FULL_NODES: &str = "cosmosfullnodes.cosmos.strange.love";
const LEVELDB: &str = "panic: leveldb/table: corruption on data-block (pos=52609): checksum mismatch, want=0x7ae078c2 got=0xac1efc6 [file=000002.ldb]";

async fn lab(seed: u64, change: impl FnOnce(simcluster::FullNodeBuilder) -> simcluster::FullNodeBuilder) -> World {
    let world = World::new(seed);
    world.chain("lab-peer", 1_000, secs(5));
    change(world.cosmos_full_node("peer", "lab").chain("lab-peer").version(0, "chain:1")).create();
    world.run_for(secs(70)).await;
    for pod in ["lab-0", "lab-1", "lab-2"] {
        assert!(world.replica("peer", pod).ready, "{pod}: {:?}", world.replica("peer", pod));
    }
    world
}

fn node(world: &World) -> Value {
    world.get(FULL_NODES, "peer", "lab").expect("the full node")
}

fn hold(world: &World, candidate: &Value) -> Result<Value, simcluster::Refusal> {
    let status = json!({"status": {"scheduledSnapshotStatus": {"lb.lab-1": candidate}}});
    world.request(HUMAN, &simcluster::Call::merge(FULL_NODES, "peer", "lab", status).of_status())
}

fn claim_of(world: &World, pod: &str) -> Value {
    world.get("persistentvolumeclaims", "peer", &format!("pvc-{pod}")).expect("a claim")
}

#[test]
fn a_sick_replica_shows_in_sync_and_height_and_nowhere_else() {
    story(async {
        let world = lab(1, |lab| lab).await;
        world.damage("peer", "pvc-lab-1", &Damage::of("state.db", LEVELDB));
        world.run_for(secs(300)).await;
        let node = node(&world);
        assert_eq!(at(&node, "/status/phase"), "Complete");
        assert!(at(&node, "/status/sync/lab-1/error").contains(":26657: connect: connection refused"));
        assert!(node.is_true("/status/sync/lab-0/inSync"));
        assert!(node.number("/status/height/lab-1") < node.number("/status/height/lab-0"), "it keeps its last value");
        let pod = world.get("pods", "peer", "lab-1").expect("a pod");
        let ready = pod.items("/status/containerStatuses").iter().filter(|one| one.is_true("/ready")).count();
        assert_eq!((at(&pod, "/status/phase"), ready), ("Running", 1));
        let restarts = pod.items("/status/containerStatuses").iter().find(|one| one.text("/name") == "healthcheck");
        assert_eq!(restarts.and_then(|one| one.number("/restartCount")), Some(0));
        let events: Vec<String> = world
            .list("events", "peer")
            .iter()
            .filter(|event| at(event, "/involvedObject/name") == "lab-1")
            .map(|event| at(event, "/reason").to_owned())
            .collect();
        assert!(events.contains(&"BackOff".to_owned()) && events.contains(&"Unhealthy".to_owned()), "{events:?}");
    });
}

#[test]
fn the_container_that_fails_changes_when_somebody_deletes_the_pod() {
    story(async {
        let world = lab(2, |lab| lab).await;
        world.damage("peer", "pvc-lab-1", &Damage::of("application.db", LEVELDB).and_in("version-check"));
        world.run_for(secs(60)).await;
        let waiting = |list: &str| {
            let pod = world.get("pods", "peer", "lab-1").expect("a pod");
            let found = pod
                .items(list)
                .iter()
                .find(|one| one.has("/state/waiting") && one.text("/state/waiting/reason") == "CrashLoopBackOff");
            found.map(|one| one.text("/name").to_owned())
        };
        assert_eq!(waiting("/status/containerStatuses").as_deref(), Some("node"));
        world.delete("pods", "peer", "lab-1").expect("marked");
        world.run_for(secs(120)).await;
        assert_eq!(waiting("/status/initContainerStatuses").as_deref(), Some("version-check"));
        assert_eq!(waiting("/status/containerStatuses"), None);
    });
}

#[test]
fn a_key_in_the_snapshot_status_takes_the_pod_away_until_it_is_cleared() {
    story(async {
        let world = lab(3, |lab| lab).await;
        let claim = claim_of(&world, "lab-1");
        assert_eq!(hold(&world, &json!({})).expect_err("no pod named").code, 422);
        hold(&world, &json!({"podCandidate": "lab-1", "more": "pruned"})).expect("held");
        assert_eq!(node(&world).part("/status/scheduledSnapshotStatus/lb.lab-1"), &json!({"podCandidate": "lab-1"}));
        world.run_for(secs(20)).await;
        assert!(world.get("pods", "peer", "lab-1").is_none());
        world.run_for(secs(600)).await;
        assert!(world.get("pods", "peer", "lab-1").is_none());
        assert_eq!(
            (claim_of(&world, "lab-1").uid(), at(&claim_of(&world, "lab-1"), "/status/phase")),
            (claim.uid(), "Bound")
        );
        hold(&world, &Value::Null).expect("cleared");
        world.run_for(secs(30)).await;
        assert!(world.replica("peer", "lab-1").ready);
    });
}

/// Deletes the claim of `lab-1` and then its pod, and waits.
async fn renew(world: &World) {
    world.delete("persistentvolumeclaims", "peer", "pvc-lab-1").expect("marked");
    world.delete("pods", "peer", "lab-1").expect("marked");
    world.run_for(secs(90)).await;
}

#[test]
fn without_a_ready_snapshot_the_new_claim_is_blank_and_the_node_is_ready_from_genesis() {
    story(async {
        let world = lab(4, |lab| lab.auto_data_source("app.kubernetes.io/name", "lab")).await;
        renew(&world).await;
        assert!(!claim_of(&world, "lab-1").has("/spec/dataSource"));
        assert!(world.list("events", "peer").iter().any(|event| at(event, "/reason") == "AutoDataSourceFindSnapshot"));
        assert!(world.replica("peer", "lab-1").ready, "Ready is no proof of a restore");
        assert_eq!(world.content("peer", "pvc-lab-1").expect("a volume").base, 1);
    });
}

#[test]
fn the_newest_ready_snapshot_is_taken_whoevers_it_is_and_its_size_is_asked_for() {
    story(async {
        let world = lab(5, |lab| lab.auto_data_source("app.kubernetes.io/name", "lab")).await;
        world.snapshot("peer", "of-lab-1").of("pvc-lab-1").label("app.kubernetes.io/name", "lab").create();
        world.run_for(secs(60)).await;
        world.snapshot("peer", "of-lab-0").of("pvc-lab-0").label("app.kubernetes.io/name", "lab").create();
        world.run_for(secs(60)).await;
        renew(&world).await;
        let claim = claim_of(&world, "lab-1");
        assert_eq!(
            (at(&claim, "/spec/dataSource/name"), at(&claim, "/spec/resources/requests/storage")),
            ("of-lab-0", "1Gi")
        );
        assert_eq!(
            world.content("peer", "pvc-lab-1").expect("a volume").identity.as_deref(),
            Some("lab-0"),
            "a sibling's keys"
        );
    });
}

#[test]
fn a_reserved_volume_wins_over_the_data_source_unless_more_is_asked_for() {
    for (size, wins) in [("1Gi", true), ("512Mi", false)] {
        story(async {
            let world = lab(6, |lab| lab.auto_data_source("app.kubernetes.io/name", "lab")).await;
            world.snapshot("peer", "s1").of("pvc-lab-0").label("app.kubernetes.io/name", "lab").create();
            let mut temporary = crate::claim("temporary", size);
            temporary["metadata"]["namespace"] = "peer".into();
            let uid = world.volume(temporary, simcluster::VolumeContent::node("lab-1", "lab-peer", 900));
            let proven = format!("pvc-{uid}");
            world
                .edit("persistentvolumes", "", &proven, json!({"spec": {"persistentVolumeReclaimPolicy": "Retain"}}))
                .expect("kept");
            world.delete("persistentvolumeclaims", "peer", "temporary").expect("gone");
            world.run_for(secs(2)).await;
            let reference = json!({"namespace": "peer", "name": "pvc-lab-1", "uid": null, "resourceVersion": null});
            world.edit("persistentvolumes", "", &proven, json!({"spec": {"claimRef": reference}})).expect("reserved");
            world.run_for(secs(2)).await;
            hold(&world, &json!({"podCandidate": "lab-1"})).expect("held");
            world.run_for(secs(20)).await;
            world.delete("persistentvolumeclaims", "peer", "pvc-lab-1").expect("marked");
            world.run_for(secs(20)).await;
            let claim = claim_of(&world, "lab-1");
            assert_eq!(at(&claim, "/spec/dataSource/name"), "s1", "it names the snapshot either way");
            assert_eq!(at(&claim, "/spec/volumeName") == proven, wins, "{size}");
        });
    }
}

#[test]
fn a_snapshot_without_size_crashes_the_whole_operator() {
    story(async {
        let world = lab(7, |lab| lab.auto_data_source("app.kubernetes.io/name", "lab")).await;
        world.snapshot_class("no-size", "no-size");
        world.snapshot("peer", "s1").of("pvc-lab-0").class("no-size").label("app.kubernetes.io/name", "lab").create();
        world.run_for(secs(60)).await;
        renew(&world).await;
        world.run_for(secs(600)).await;
        assert!(world.get("persistentvolumeclaims", "peer", "pvc-lab-1").is_none());
        world.delete("volumesnapshots.snapshot.storage.k8s.io", "peer", "s1").expect("marked");
        world.run_for(secs(600)).await;
        assert!(world.get("persistentvolumeclaims", "peer", "pvc-lab-1").is_some(), "cured with its cause");
    });
}

#[test]
fn claims_kept_from_a_scale_down_are_counted_and_a_deleted_one_comes_back_blank_without_a_word() {
    story(async {
        let world = lab(8, |lab| {
            lab.auto_data_source("app.kubernetes.io/name", "lab").with(&json!({"volumeRetentionPolicy": "Retain"}))
        })
        .await;
        world.snapshot("peer", "s1").of("pvc-lab-0").label("app.kubernetes.io/name", "lab").create();
        world.edit(FULL_NODES, "peer", "lab", json!({"spec": {"replicas": 2}})).expect("scaled");
        world.run_for(secs(60)).await;
        renew(&world).await;
        assert!(!claim_of(&world, "lab-1").has("/spec/dataSource"));
        assert!(world.list("events", "peer").iter().all(|event| at(event, "/reason") != "AutoDataSourceFindSnapshot"));
        assert!(world.replica("peer", "lab-1").ready);
    });
}

#[test]
fn one_broken_replica_blocks_a_rollout() {
    story(async {
        let world = lab(9, |lab| lab).await;
        world.damage("peer", "pvc-lab-1", &Damage::of("state.db", LEVELDB));
        world.run_for(secs(60)).await;
        let before = world.replica("peer", "lab-0").pod;
        world
            .edit(FULL_NODES, "peer", "lab", json!({"spec": {"podTemplate": {"terminationGracePeriodSeconds": 20}}}))
            .expect("a change");
        world.run_for(secs(600)).await;
        assert_eq!(world.replica("peer", "lab-0").pod, before);
    });
}

fn schedule(world: &World, class: &str) {
    let plan = json!({"metadata": {"namespace": "peer", "name": "nightly"}, "spec": {
        "fullNodeRef": {"name": "lab"}, "schedule": "*/30 * * * *", "deletePod": true, "volumeSnapshotClassName": class}});
    let call = simcluster::Call::create("scheduledvolumesnapshots.cosmos.strange.love", plan);
    world.request(HUMAN, &call).expect("made");
}

#[test]
fn a_scheduled_snapshot_takes_a_pod_away_and_brings_it_back() {
    story(async {
        let world = lab(10, |lab| lab).await;
        schedule(&world, "standard");
        let away = world.run_until(secs(3_600), |world| world.get("pods", "peer", "lab-0").is_none()).await;
        assert!(away, "the lowest replica in sync");
        let held = node(&world).part("/status/scheduledSnapshotStatus").to_string();
        assert_eq!(held, "{\"peer.nightly.v1alpha1.cosmos.strange.love\":{\"podCandidate\":\"lab-0\"}}");
        world.run_for(secs(120)).await;
        assert!(world.replica("peer", "lab-0").ready);
        let taken = world.list("volumesnapshots.snapshot.storage.k8s.io", "peer");
        assert_eq!(taken.len(), 1);
        assert!(taken[0].is_true("/status/readyToUse") && taken[0].label("cosmos.strange.love/source") == "nightly");
    });
}

#[test]
fn a_scheduled_snapshot_that_never_gets_ready_keeps_its_pod_away() {
    story(async {
        let world = lab(11, |lab| lab).await;
        world.snapshot_class("never", "never");
        schedule(&world, "never");
        world.run_for(secs(6 * 3_600)).await;
        assert!(world.get("pods", "peer", "lab-0").is_none());
        assert!(world.replica("peer", "lab-1").ready && world.replica("peer", "lab-2").ready);
    });
}
