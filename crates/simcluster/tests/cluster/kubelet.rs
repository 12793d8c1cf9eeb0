//! Kubelet: back-off, the kept log and its `Error` moment, stopping, readiness, restart policies, images, nodes.

use serde_json::json;
use simcluster::{Ailment, Call, Damage, Fields, HUMAN, World};

use crate::{at, osmosis, secs, story};

const PANIC: &str = "panic: leveldb/table: corruption on data-block (pos=52609): checksum mismatch, want=0x7ae078c2 got=0xac1efc6 [file=000002.ldb]";

/// When the containers of a pod were started, in seconds since the first crash.
async fn restarts(world: &World, pod: &str, hours: u64) -> Vec<i64> {
    let begin = world.now();
    let (mut seen, mut starts) = (world.replica("cosmos", pod).restarts, Vec::new());
    for _ in 0..hours * 3600 {
        world.run_for(secs(1)).await;
        let now = world.replica("cosmos", pod).restarts;
        if now > seen {
            starts.push(world.now().duration_since(begin).as_secs());
            seen = now;
        }
    }
    starts
}

#[test]
fn a_crash_loop_waits_twice_as_long_each_time_up_to_five_minutes() {
    story(async {
        let world = osmosis(1).await;
        world.damage("cosmos", "data-osmo-1", &Damage::of("state.db", PANIC));
        let starts = restarts(&world, "osmo-1", 1).await;
        let waits: Vec<i64> = starts.windows(2).map(|pair| pair[1] - pair[0]).collect();
        assert!(starts[0] <= 5, "the first one follows at once: {starts:?}");
        for (wait, least) in waits.iter().zip([10, 20, 40, 80, 160, 300, 300]) {
            // A second of running, the kubelet's next look after 10 to 15 s.
            assert!((least..=least + 20).contains(wait), "{waits:?}");
        }
        let replica = world.replica("cosmos", "osmo-1");
        assert_eq!((replica.waits.as_deref(), replica.ready), (Some("CrashLoopBackOff"), false));
        assert!(world.replica("cosmos", "osmo-0").ready && world.replica("cosmos", "osmo-0").restarts == 0);
        let events = world.list("events", "cosmos");
        assert!(events.iter().any(|event| at(event, "/reason") == "BackOff" && event["count"].as_i64() > Some(5)));
    });
}

#[test]
fn ten_good_minutes_end_the_back_off() {
    story(async {
        let world = osmosis(2).await;
        world.ail("cosmos", "osmo-1", "node", Ailment::crash("boom", 1), 4);
        world.crash("cosmos", "osmo-1", "node", 1, "Error", &[]);
        world.run_for(secs(200)).await;
        let replica = world.replica("cosmos", "osmo-1");
        assert!(replica.ready && replica.restarts == 5, "{replica:?}");
        world.run_for(secs(700)).await;
        world.crash("cosmos", "osmo-1", "node", 1, "Error", &[]);
        world.run_for(secs(8)).await;
        assert_eq!(world.replica("cosmos", "osmo-1").restarts, 6, "started again at once");
    });
}

#[test]
fn a_pod_is_ready_two_seconds_after_it_was_placed_and_its_height_rises() {
    story(async {
        let world = osmosis(3).await;
        let pod = world.get("pods", "cosmos", "osmo-0").expect("a pod");
        assert_eq!((at(&pod, "/spec/nodeName"), at(&pod, "/status/phase")), ("node-1", "Running"));
        let height = |world: &World| {
            let status = world.rpc_status("cosmos", "osmo-0").expect("an answer");
            at(&status, "/result/sync_info/latest_block_height").parse::<u64>().expect("a height")
        };
        let before = height(&world);
        world.run_for(secs(600)).await;
        assert_eq!(height(&world), before + 120);
        assert_eq!(world.content("cosmos", "data-osmo-0").expect("a volume").height(), before + 120);
    });
}

#[test]
fn a_pod_is_stopped_within_its_grace_period_and_says_how_it_ended() {
    story(async {
        let world = osmosis(4).await;
        let old = world.replica("cosmos", "osmo-2").pod;
        world.delete("pods", "cosmos", "osmo-2").expect("marked");
        world.run_for(secs(1)).await;
        let going = world.get("pods", "cosmos", "osmo-2").expect("still there");
        assert!(going.is_terminating());
        world.run_for(secs(20)).await;
        let replica = world.replica("cosmos", "osmo-2");
        assert!(replica.ready && replica.pod != old, "made again: {replica:?}");
    });
}

#[test]
fn a_pod_deleted_by_force_writes_on_after_its_object_is_gone() {
    story(async {
        let world = osmosis(5).await;
        world.edit("statefulsets.apps", "cosmos", "osmo", json!({"spec": {"replicas": 2}})).expect("no successor");
        world.stop_takes("cosmos", "osmo-2", "node", secs(300));
        world.delete_by_force("cosmos", "osmo-2").expect("gone");
        assert!(world.get("pods", "cosmos", "osmo-2").is_none());
        let height = |world: &World| world.content("cosmos", "data-osmo-2").expect("a volume").height();
        let before = height(&world);
        world.run_for(secs(60)).await;
        let after = height(&world);
        assert!((before + 5..=before + 7).contains(&after), "for the whole grace period: {before} {after}");
        world.run_for(secs(300)).await;
        assert_eq!(height(&world), after, "and no longer");
    });
}

#[test]
fn a_process_that_does_not_stop_in_time_is_killed() {
    story(async {
        let world = osmosis(11).await;
        world.stop_takes("cosmos", "osmo-2", "node", secs(300));
        let ends = std::sync::Arc::new(std::sync::Mutex::new(Vec::new()));
        let seen = std::sync::Arc::clone(&ends);
        world.observe(Box::new(move |what, _| {
            if let simcluster::Seen::Event(event) = what
                && event.change == simcluster::Change::Deleted
                && event.key.name == "osmo-2"
            {
                let code = event.object.number("/status/containerStatuses/0/state/terminated/exitCode");
                seen.lock().expect("no panic").push((event.object.text("/status/phase").to_owned(), code));
            }
        }));
        let begin = world.now();
        world.delete("pods", "cosmos", "osmo-2").expect("marked");
        let gone = world
            .run_until(secs(120), |world| world.get("pods", "cosmos", "osmo-2").is_none_or(|pod| !pod.is_terminating()))
            .await;
        let lasted = world.now().duration_since(begin).as_secs();
        assert!(gone && (30..=33).contains(&lasted), "{lasted} s");
        assert_eq!(
            *ends.lock().expect("no panic"),
            [("Failed".to_owned(), Some(137))],
            "the last word tells a real end"
        );
    });
}

#[test]
fn out_of_memory_is_told_by_its_reason() {
    story(async {
        let world = osmosis(6).await;
        world.ail("cosmos", "osmo-1", "node", Ailment::out_of_memory(jiff::SignedDuration::from_secs(20)), 9);
        world.crash("cosmos", "osmo-1", "node", 137, "OOMKilled", &[]);
        world.run_for(secs(120)).await;
        let pod = world.get("pods", "cosmos", "osmo-1").expect("a pod");
        assert_eq!(at(&pod, "/status/containerStatuses/0/lastState/terminated/reason"), "OOMKilled");
        assert_eq!(pod.number("/status/containerStatuses/0/lastState/terminated/exitCode"), Some(137));
    });
}

#[test]
fn an_image_that_is_not_there_is_waited_for() {
    story(async {
        let world = osmosis(7).await;
        world.image_missing("chain:2", true);
        let image = json!({"spec": {"template": {"spec": {"containers": [{"name": "node", "image": "chain:2", "volumeMounts": [{"name": "data", "mountPath": "/data"}]}]}}}});
        world.edit("statefulsets.apps", "cosmos", "osmo", image).expect("a rollout");
        world.run_for(secs(120)).await;
        assert_eq!(world.replica("cosmos", "osmo-2").waits.as_deref(), Some("ImagePullBackOff"));
        assert!(world.replica("cosmos", "osmo-1").ready, "the rollout waits");
        world.image_missing("chain:2", false);
        world.run_for(secs(120)).await;
        assert!(world.replica("cosmos", "osmo-2").ready && world.replica("cosmos", "osmo-0").ready);
    });
}

#[test]
fn a_pod_that_never_restarts_ends_failed_or_succeeded() {
    story(async {
        let world = World::new(8);
        for (name, code) in [("good", 0), ("bad", 3)] {
            world.ail("default", name, "c", Ailment::crash("done", code), 1);
            let pod = json!({"metadata": {"namespace": "default", "name": name}, "spec": {"restartPolicy": "Never", "containers": [{"name": "c", "image": "i"}]}});
            world.request(HUMAN, &Call::create("pods", pod)).expect("made");
        }
        world.run_for(secs(30)).await;
        let phase = |name: &str| at(&world.get("pods", "default", name).expect("kept"), "/status/phase").to_owned();
        assert_eq!((phase("good").as_str(), phase("bad").as_str()), ("Succeeded", "Failed"));
    });
}

#[test]
fn a_node_that_reboots_takes_its_containers_down_once() {
    story(async {
        let world = osmosis(9).await;
        world.reboot_node("node-1");
        world.run_for(secs(60)).await;
        for pod in ["osmo-0", "osmo-1", "osmo-2"] {
            let replica = world.replica("cosmos", pod);
            assert_eq!((replica.ready, replica.restarts), (true, 1), "{pod}");
        }
        let pod = world.get("pods", "cosmos", "osmo-0").expect("a pod");
        assert_eq!(pod.number("/status/containerStatuses/0/lastState/terminated/exitCode"), Some(255));
    });
}

#[test]
fn a_chain_that_halts_or_wants_an_upgrade_stops_all_of_its_nodes() {
    story(async {
        let world = osmosis(10).await;
        world.halt_chain("osmosis-1", true);
        let height = world.chain_height("osmosis-1");
        world.run_for(secs(600)).await;
        assert_eq!(world.content("cosmos", "data-osmo-1").expect("a volume").height(), height);
        assert!(world.replica("cosmos", "osmo-1").ready, "a halted node stays up");
        world.halt_chain("osmosis-1", false);
        world.plan_upgrade("osmosis-1", "v2", height + 20, "chain:2");
        world.run_for(secs(600)).await;
        for pod in ["osmo-0", "osmo-1", "osmo-2"] {
            assert_eq!(world.replica("cosmos", pod).waits.as_deref(), Some("CrashLoopBackOff"), "{pod}");
        }
        assert_eq!(world.content("cosmos", "data-osmo-1").expect("a volume").height(), height + 19);
        let image = json!({"spec": {"template": {"spec": {"containers": [{"name": "node", "image": "chain:2", "volumeMounts": [{"name": "data", "mountPath": "/data"}]}]}}}});
        world.edit("statefulsets.apps", "cosmos", "osmo", image).expect("the new image");
        for pod in ["osmo-2", "osmo-1", "osmo-0"] {
            world.delete("pods", "cosmos", pod).expect("a broken pod blocks its own rollout");
        }
        world.run_for(secs(300)).await;
        assert!(world.content("cosmos", "data-osmo-1").expect("a volume").height() > height + 20);
    });
}
