//! What the objects tell: one sick pod, one more object or one change each.

use diagnosis::{
    Cause, Circumstances, ImageFreshness, InstanceName, Memory, NodeHealth, OtherVictims, RollOut, SigningRisk,
    StartFailure, UpgradePlan, Victims, Workload,
};

use super::*;
use scene::LogCauses;

fn around_all(objects: &[Value]) -> Circumstances {
    let mut folder = Folder::new();
    for (index, object) in objects.iter().enumerate() {
        folder = folder.with_object(&format!("{index:02}"), object);
    }
    assert_eq!(folder.notes(), Vec::<String>::new());
    folder.bundle().subjects(Some("gaia-0")).expect("subjects")[0].circumstances(&LogCauses::new())
}

fn around(pod: Value) -> Circumstances {
    around_all(&[pod])
}

const STATE: &str = "/status/containerStatuses/0/state";
const REASON: &str = "/status/containerStatuses/0/lastState/terminated/reason";

#[test]
fn one_pod_tells_only_how_it_ended() {
    assert_eq!(
        around(sick("gaia-0")),
        Circumstances {
            memory: Memory::NotKilled,
            workload: Some(Workload::CosmosFullNode("gaia".to_owned())),
            ..Circumstances::default()
        }
    );
}

#[test]
fn memory() {
    assert_eq!(around(with(sick("gaia-0"), REASON, json!("OOMKilled"))).memory, Memory::OomKilled);
    assert_eq!(around(well("gaia-0")).memory, Memory::Unknown, "it has never ended");
}

#[test]
fn start_failures() {
    for (reason, cause) in [
        ("ErrImagePull", Some(Cause::ImageOrRuntime)),
        ("ImagePullBackOff", Some(Cause::ImageOrRuntime)),
        ("InvalidImageName", Some(Cause::ImageOrRuntime)),
        ("CreateContainerError", Some(Cause::ImageOrRuntime)),
        ("RunContainerError", Some(Cause::ImageOrRuntime)),
        ("CreateContainerConfigError", Some(Cause::ConfigError)),
        ("CrashLoopBackOff", None),
        ("PodInitializing", None),
    ] {
        let found = around(with(sick("gaia-0"), STATE, json!({"waiting": {"reason": reason}}))).start_failure;
        assert_eq!(found, cause.map(|cause| StartFailure { reason: reason.to_owned(), cause }), "{reason}");
    }
    let never_executed = around(with(sick("gaia-0"), REASON, json!("StartError"))).start_failure;
    assert_eq!(never_executed, Some(StartFailure { reason: "StartError".to_owned(), cause: Cause::ImageOrRuntime }));
}

fn of_stateful_set(pod: Value, revision: &str) -> Value {
    let pod = with(pod, "/metadata/labels", json!({"controller-revision-hash": revision}));
    with(pod, "/metadata/ownerReferences/0/kind", json!("StatefulSet"))
}

fn stateful_set(current: &str, update: &str) -> Value {
    json!({"apiVersion": "apps/v1", "kind": "StatefulSet", "metadata": {"name": "gaia", "namespace": "cosmos"},
        "spec": {"replicas": 2}, "status": {"replicas": 2, "currentRevision": current, "updateRevision": update}})
}

#[test]
fn rollouts_of_a_stateful_set() {
    let pods = |a, b| vec![of_stateful_set(sick("gaia-0"), a), of_stateful_set(well("gaia-1"), b)];
    assert_eq!(around_all(&pods("r1", "r1")).roll_out, RollOut::Settled);
    assert_eq!(
        around_all(&pods("r2", "r1")).roll_out,
        RollOut::InProgress("another revision than cosmos/gaia-0: cosmos/gaia-1".to_owned())
    );
    let alone = of_stateful_set(sick("gaia-0"), "r1");
    assert_eq!(around_all(std::slice::from_ref(&alone)).roll_out, RollOut::Unknown);
    assert_eq!(around_all(&[alone.clone(), stateful_set("r1", "r1")]).roll_out, RollOut::Settled);
    assert_eq!(
        around_all(&[alone, stateful_set("r1", "r2")]).roll_out,
        RollOut::InProgress("the StatefulSet goes from r1 to r2".to_owned())
    );
}

/// Cosmos-operator's revision label hashes the replica's own name: siblings differ although nothing is rolled out.
#[test]
fn rollouts_beside_cosmos_operator() {
    let pods = |image: &str| vec![sick("gaia-0"), with(well("gaia-1"), "/spec/containers/0/image", json!(image))];
    assert_eq!(around_all(&pods("gaia:v1")).roll_out, RollOut::Unknown);
    assert_eq!(
        around_all(&pods("gaia:v2")).roll_out,
        RollOut::InProgress("another revision than cosmos/gaia-0: cosmos/gaia-1".to_owned())
    );
}

#[test]
fn victims() {
    let ill = around_all(&[sick("gaia-0"), sick("gaia-1"), well("gaia-2")]).victims;
    let others = OtherVictims { same_exit_code: vec!["cosmos/gaia-1".to_owned()], ..OtherVictims::default() };
    assert_eq!(others.to_string(), "also crash-loop with the same exit code: cosmos/gaia-1");
    assert_eq!(ill, Victims::Others(others));
    assert_eq!(
        around_all(&[sick("gaia-0"), well("gaia-1")]).victims,
        Victims::Unknown,
        "how many there are is not known"
    );
    assert_eq!(around_all(&[sick("gaia-0"), well("gaia-1"), owner()]).victims, Victims::Alone);
    let more = with(owner(), "/spec/replicas", json!(3));
    assert_eq!(around_all(&[sick("gaia-0"), well("gaia-1"), more]).victims, Victims::Unknown, "one was not seen");
    let of_others = with(sick("osmo-0"), "/metadata/ownerReferences/0/uid", json!("o-2"));
    assert_eq!(around_all(&[sick("gaia-0"), well("gaia-1"), of_others, owner()]).victims, Victims::Alone);
    let set = [of_stateful_set(sick("gaia-0"), "r"), of_stateful_set(well("gaia-1"), "r"), stateful_set("r", "r")];
    assert_eq!(around_all(&set).victims, Victims::Alone);
}

/// P7: the same failure is the same kind of container with the same exit code, and where both logs were read, one cause.
#[test]
fn p7_only_the_same_failure_makes_a_second_victim() {
    const EXIT: &str = "/status/containerStatuses/0/lastState/terminated/exitCode";
    const LAST: &str = "/status/containerStatuses/0/lastState";
    let beside = |other: Value, causes: &[(&str, Cause)]| {
        let name = |name: &str| InstanceName { namespace: "cosmos".to_owned(), name: name.to_owned() };
        let logs = causes.iter().map(|(pod, cause)| (name(pod), *cause)).collect();
        let mut folder = Folder::new();
        for (index, object) in [sick("gaia-0"), other, owner()].iter().enumerate() {
            folder = folder.with_object(&format!("{index:02}"), object);
        }
        let around = folder.bundle().subjects(Some("gaia-0")).expect("subjects")[0].circumstances(&logs);
        let victims = match around.victims {
            Victims::Others(others) => others.to_string(),
            other => format!("{other:?}"),
        };
        (victims, around.other_crash_loops.join(", "))
    };
    let no = String::new;
    let same_code = || ("also crash-loop with the same exit code: cosmos/gaia-1".to_owned(), no());
    let alike = || ("these fail the same way: cosmos/gaia-1".to_owned(), no());
    let otherwise = |code: u8| ("Alone".to_owned(), format!("cosmos/gaia-1 (container node, exit {code})"));
    let (damage, port) = (Cause::PhysicalCorruption, Cause::PortInUse);
    let other_code = || with(sick("gaia-1"), EXIT, json!(1));
    assert_eq!(beside(well("gaia-1"), &[]), ("Alone".to_owned(), no()));
    assert_eq!(beside(sick("gaia-1"), &[]), same_code());
    assert_eq!(beside(other_code(), &[]), otherwise(1));
    assert_eq!(beside(sick("gaia-1"), &[("gaia-0", damage)]), same_code(), "one log says nothing of the other");
    assert_eq!(beside(sick("gaia-1"), &[("gaia-0", damage), ("gaia-1", Cause::Unknown)]), same_code());
    assert_eq!(beside(sick("gaia-1"), &[("gaia-0", damage), ("gaia-1", damage)]), alike());
    assert_eq!(beside(other_code(), &[("gaia-0", damage), ("gaia-1", damage)]), alike(), "two logs name one cause");
    assert_eq!(beside(sick("gaia-1"), &[("gaia-0", damage), ("gaia-1", port)]), otherwise(2));
    let lost = with(sick("gaia-1"), LAST, json!({}));
    let unknown = "also crash-loop, with an exit code that is not known: cosmos/gaia-1".to_owned();
    assert_eq!(beside(lost, &[]), (unknown, no()));
}

#[test]
fn the_workload() {
    let owned = |kind: &str, name: &str| {
        let pod = with(sick("gaia-0"), "/metadata/ownerReferences/0/kind", json!(kind));
        around(with(pod, "/metadata/ownerReferences/0/name", json!(name))).workload
    };
    assert_eq!(owned("CosmosFullNode", "gaia"), Some(Workload::CosmosFullNode("gaia".to_owned())));
    assert_eq!(owned("StatefulSet", "gaia"), Some(Workload::StatefulSet("gaia".to_owned())));
    assert_eq!(owned("ReplicaSet", "gaia"), None);
    for hostile in ["$(b)", "a;b", "-n", "a b", "", "a\nb"] {
        assert_eq!(owned("StatefulSet", hostile), None, "{hostile:?}");
    }
}

#[test]
fn upgrades() {
    let plan = |versions: Value| around_all(&[sick("gaia-0"), with(owner(), "/spec/chain/versions", versions)]).upgrade;
    let version = |height: u64, image: &str| json!({"height": height, "image": image});
    assert_eq!(around_all(&[sick("gaia-0"), owner()]).upgrade, UpgradePlan::Unknown, "no versions");
    assert_eq!(plan(json!([version(0, "gaia:v1")])), UpgradePlan::NotDue);
    assert_eq!(plan(json!([version(0, "gaia:v1"), version(9000, "gaia:v2")])), UpgradePlan::NotDue);
    assert_eq!(
        plan(json!([version(101, "gaia:v2"), version(0, "gaia:v1")])),
        UpgradePlan::Due("block 101 is to be made by gaia:v2, the pod runs gaia:v1".to_owned())
    );
    assert_eq!(
        plan(json!([version(0, "gaia:v1"), version(150, "gaia:v2")])),
        UpgradePlan::Due("gaia:v2 from block 150, the pod is at 101".to_owned())
    );
}

#[test]
fn image_and_configuration() {
    let before = |pointer: &str, value: Value| {
        let well = with(
            with(well("gaia-0"), "/metadata/creationTimestamp", json!("2026-01-04T10:00:00Z")),
            "/metadata/uid",
            json!("u-0"),
        );
        let sums = |pod| with(pod, "/metadata/annotations", json!({"cosmos.strange.love/config-checksum": "c1"}));
        around_all(&[with(sums(well), pointer, value), sums(sick("gaia-0"))]).image
    };
    assert_eq!(before("/spec/nodeName", json!("machine-7")), ImageFreshness::Unchanged);
    assert_eq!(
        before("/spec/containers/0/image", json!("gaia:v0")),
        ImageFreshness::Changed("the image since it was last ready".to_owned())
    );
    assert_eq!(
        before("/spec/containers/0/args", json!(["--x"])),
        ImageFreshness::Changed("the arguments since it was last ready".to_owned())
    );
    assert_eq!(
        before("/metadata/annotations/cosmos.strange.love~1config-checksum", json!("c0")),
        ImageFreshness::Changed("the configuration since it was last ready".to_owned())
    );
    assert_eq!(around(sick("gaia-0")).image, ImageFreshness::Unknown, "one look cannot tell");
}

fn event(reason: &str, kind: &str, name: &str, message: &str) -> Value {
    json!({"apiVersion": "v1", "kind": "Event", "reason": reason, "message": message,
        "involvedObject": {"kind": kind, "name": name, "namespace": if kind == "Node" { "" } else { "cosmos" }}})
}

fn machine(name: &str, conditions: &[(&str, &str)]) -> Value {
    let conditions: Vec<Value> =
        conditions.iter().map(|(kind, status)| json!({"type": kind, "status": status})).collect();
    json!({"apiVersion": "v1", "kind": "Node", "metadata": {"name": name}, "status": {"conditions": conditions}})
}

#[test]
fn the_machine() {
    let health = |objects: &[Value]| around_all(&[&[sick("gaia-0")], objects].concat()).node;
    let quiet = event("Pulled", "Pod", "gaia-0", "present");
    let ready = machine("machine-7", &[("DiskPressure", "False"), ("Ready", "True")]);
    assert_eq!(health(&[ready.clone(), quiet.clone()]), NodeHealth::Healthy);
    assert_eq!(health(std::slice::from_ref(&ready)), NodeHealth::Unknown, "no Events were looked at");
    assert_eq!(
        health(&[quiet.clone(), machine("machine-8", &[("Ready", "False")])]),
        NodeHealth::Unknown,
        "another machine"
    );
    let sick = |why: &str| NodeHealth::Sick(why.to_owned());
    assert_eq!(
        health(&[machine("machine-7", &[("Ready", "Unknown")])]),
        sick("machine machine-7 is NotReady (Ready is Unknown)")
    );
    assert_eq!(
        health(&[machine("machine-7", &[("DiskPressure", "True"), ("Ready", "True")])]),
        sick("machine machine-7 is under DiskPressure")
    );
    for (bad, why) in [
        (event("FailedMount", "Pod", "gaia-0", "timed out"), "FailedMount of Pod gaia-0: timed out"),
        (
            event("FailedAttachVolume", "Pod", "gaia-0", "Multi-Attach"),
            "FailedAttachVolume of Pod gaia-0: Multi-Attach",
        ),
        (
            event("VolumeConditionAbnormal", "PersistentVolumeClaim", "pvc-gaia-0", "io"),
            "VolumeConditionAbnormal of PersistentVolumeClaim pvc-gaia-0: io",
        ),
        (
            event("FilesystemIsReadOnly", "Node", "machine-7", "remounted"),
            "FilesystemIsReadOnly of Node machine-7: remounted",
        ),
    ] {
        assert_eq!(health(&[ready.clone(), bad]), sick(why));
    }
    for harmless in [
        event("FailedMount", "Pod", "gaia-1", "timed out"),
        event("FailedMount", "Pod", "gaia-0", "failed to sync configmap cache"),
        event("FilesystemIsReadOnly", "Node", "machine-8", "remounted"),
        event("ProvisioningFailed", "PersistentVolumeClaim", "pvc-gaia-1", "x"),
        event("BackOff", "Pod", "gaia-0", "restarting"),
    ] {
        assert_eq!(health(&[ready.clone(), harmless]), NodeHealth::Healthy);
    }
}

/// No container starts before its volumes are mounted: what failed before that is over, if it was this very pod's.
#[test]
fn a_mount_that_failed_at_first() {
    let failed = |uid: &str, seen: &str| {
        let event = with(event("FailedMount", "Pod", "gaia-0", "timed out"), "/involvedObject/uid", json!(uid));
        with(event, "/lastTimestamp", json!(seen))
    };
    let ready = machine("machine-7", &[("Ready", "True")]);
    let health = |event: Value| around_all(&[sick("gaia-0"), ready.clone(), event]).node;
    // Its last run began at 10:29:56.
    assert_eq!(health(failed("uid-gaia-0", "2026-01-05T10:29:50Z")), NodeHealth::Healthy);
    let still = NodeHealth::Sick("FailedMount of Pod gaia-0: timed out".to_owned());
    assert_eq!(health(failed("uid-gaia-0", "2026-01-05T10:29:58Z")), still);
    assert_eq!(health(failed("uid-of-the-pod-before", "2026-01-05T10:29:50Z")), still);
    let again = json!({"count": 3, "lastObservedTime": "2026-01-05T10:29:58.000000Z"});
    assert_eq!(health(with(failed("uid-gaia-0", "2026-01-05T10:29:50Z"), "/series", again)), still);
}

#[test]
fn evictions() {
    let evicted =
        json!({"phase": "Failed", "reason": "Evicted", "message": "The node was low on resource: ephemeral-storage."});
    let around = around(with(sick("gaia-0"), "/status", evicted));
    assert_eq!(
        around.node,
        NodeHealth::Sick("the pod was evicted: The node was low on resource: ephemeral-storage.".to_owned())
    );
}

fn with_command(command: Value, args: Value) -> SigningRisk {
    let pod = with(sick("gaia-0"), "/spec/containers/0/command", command);
    around(with(pod, "/spec/containers/0/args", args)).signing
}

/// P10: an argument clears a node only where it is, word for word, what the node gets.
#[test]
fn p10_a_signers_address_in_full_clears_the_node() {
    for args in [
        json!(["start", "--priv_validator_laddr", "tcp://0.0.0.0:1234"]),
        json!(["start", "--priv_validator_laddr=tcp://0.0.0.0:1234"]),
        json!(["start", "--priv-validator-laddr=tcp://[::]:1234", "--home", "/x"]),
        json!(["start", "--home", "/x", "--priv_validator_laddr", "unix:///run/signer.sock"]),
        json!(["start", "--trace", "--priv_validator_laddr", "tcp://0.0.0.0:1234"]),
    ] {
        assert_eq!(with_command(json!(["gaiad"]), args.clone()), SigningRisk::NeverSigns, "{args}");
    }
    let guarded = json!(["loopbreaker", "guard", "--", "gaiad"]);
    let args = json!(["start", "--priv_validator_laddr", "tcp://0.0.0.0:1234"]);
    assert_eq!(with_command(guarded, args), SigningRisk::NeverSigns);
}

/// P10: whatever else stands there refuses.
#[test]
fn p10_a_signers_address_that_may_be_none_clears_nothing() {
    let unknown = |command: Value, args: Value| {
        assert_eq!(with_command(command.clone(), args.clone()), SigningRisk::Unknown, "{command} {args}");
    };
    for script in [
        "osmosisd start --priv_validator_laddr $LADDR",
        "osmosisd start --priv_validator_laddr && sleep 1",
        "exec gaiad start --priv-validator-laddr tcp://0.0.0.0:1234 --home /x",
        "# gaiad start --priv_validator_laddr tcp://0.0.0.0:1234\ngaiad start",
    ] {
        unknown(json!(["sh"]), json!(["-c", script]));
        unknown(json!(["/bin/bash", "-c"]), json!([script]));
        unknown(json!(["entrypoint"]), json!(["-c", script]));
        unknown(json!([script]), json!([]));
    }
    let address = "tcp://0.0.0.0:1234";
    unknown(json!(["/bin/sh", "run.sh"]), json!(["start", "--priv_validator_laddr", address]));
    for args in [
        json!([]),
        json!(["--priv_validator_laddr", "", "start"]),
        json!(["--priv_validator_laddr", address]),
        json!(["start", "--priv_validator_laddr="]),
        json!(["start", "--priv_validator_laddr", ""]),
        json!(["start", "--priv_validator_laddr=\"\""]),
        json!(["start", "--priv_validator_laddr", "--home"]),
        json!(["start", "--priv_validator_laddr"]),
        json!(["start", "--priv_validator_laddr", "tcp://"]),
        json!(["start", "--priv_validator_laddr", "0"]),
        json!(["start", "--priv_validator_laddr", "$(LADDR)"]),
        json!(["start", "--priv_validator_laddr", "tcp://$(HOST):1234"]),
        json!(["start", "--priv_validator_laddr", "tcp://a b"]),
        json!(["start", "--priv_validator_laddr", address, "--priv_validator_laddr="]),
        json!(["start", "--moniker", "--priv_validator_laddr", address]),
        json!(["start", "--", "--priv_validator_laddr", address]),
        json!(["start", "--priv_validator_key_file", address]),
    ] {
        unknown(json!(["gaiad"]), args);
    }
}

#[test]
fn p10_a_sentry_never_signs_by_its_owners_word() {
    let under = |node_type: &str, pod: Value| around_all(&[pod, with(owner(), "/spec/type", json!(node_type))]).signing;
    let labelled = || with(sick("gaia-0"), "/metadata/labels/cosmos.strange.love~1type", json!("Sentry"));
    assert_eq!(under("Sentry", sick("gaia-0")), SigningRisk::NeverSigns);
    assert_eq!(under("FullNode", labelled()), SigningRisk::Unknown, "the owner has changed its mind");
    assert_eq!(around_all(&[sick("gaia-0"), owner()]).signing, SigningRisk::Unknown);
    let by_hand = with(labelled(), "/metadata/ownerReferences/0/kind", json!("StatefulSet"));
    assert_eq!(around(by_hand).signing, SigningRisk::Unknown, "anybody can write a label");
}
