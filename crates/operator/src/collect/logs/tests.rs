//! Logs through the API of a cluster in memory: the kept one, the moment in which there is none, and what never comes.

use diagnosis::{Cause, LogReading};
use jiff::Timestamp;
use simcluster::{Ailment, Damage, Fault, OPERATOR, Requests, World, simulate};

use super::*;
use crate::Clock;

const PANIC: &str = "INF starting\npanic: leveldb/table: corruption on data-block (pos=0): checksum mismatch, \
    want=0x7ae078c2 got=0xac1efc6 [file=000002.ldb]\n\ngoroutine 1 [running]:\nmain.main()\n";

/// Three nodes, all up; time stands in virtual seconds.
async fn osmosis() -> World {
    let world = World::new(3);
    world.chain("osmosis-1", 1_000, Duration::from_secs(5));
    world.stateful_set("cosmos", "osmo").chain("osmosis-1").create();
    world.run_for(Duration::from_mins(1)).await;
    world
}

fn collector(world: &World) -> Collector {
    Collector::new(world.client(), Clock::starting_at("2026-12-01T00:01:00Z".parse().unwrap_or(Timestamp::UNIX_EPOCH)))
}

fn notice(world: &World) -> CrashNotice {
    CrashNotice {
        instance: InstanceName { namespace: "cosmos".to_owned(), name: "osmo-1".to_owned() },
        pod_uid: Uid::new(world.replica("cosmos", "osmo-1").pod.unwrap_or_default()),
        container: ContainerName::new("node"),
    }
}

async fn until(world: &World, state: &str) {
    for _ in 0..100_000 {
        let pod = world.get("pods", "cosmos", "osmo-1").unwrap_or_default();
        if pod.pointer(&format!("/status/containerStatuses/0/state/{state}")).is_some() {
            return;
        }
        world.run_for(Duration::from_millis(20)).await;
    }
}

fn cause(log: &ReadLog) -> Option<Cause> {
    crashlog::read(&log.examined.finding.reading).map(|opinion| opinion.cause)
}

#[test]
fn the_log_of_the_first_crash_is_had_in_the_very_moment() {
    simulate(async {
        let world = osmosis().await;
        world.damage("cosmos", "data-osmo-1", &Damage::of("state.db", PANIC));
        until(&world, "terminated").await;
        let before = world.now();
        let log = collector(&world).log_of_crash(&notice(&world)).await.expect("a log");
        assert_eq!((cause(&log), &log.examined.gap), (Some(Cause::PhysicalCorruption), &None));
        assert!(world.now().duration_since(before).as_secs() < 2, "nothing was waited for");
    })
    .expect("a runtime");
}

#[test]
fn the_kubelets_own_sentence_is_never_taken_for_the_nodes() {
    simulate(async {
        let world = osmosis().await;
        world.damage("cosmos", "data-osmo-1", &Damage::of("state.db", PANIC));
        for state in ["terminated", "waiting", "running", "terminated"] {
            until(&world, state).await;
        }
        let log = collector(&world).log_of_crash(&notice(&world)).await.expect("a log");
        assert_eq!(cause(&log), Some(Cause::PhysicalCorruption), "{:?}", log.examined.finding.reading);
        assert!(is_the_kubelets_own(b"unable to retrieve container logs for containerd://6f1c\n"));
        assert!(!is_the_kubelets_own(b"INF up\nunable to retrieve container logs for containerd://6f1c\n"));
        assert!(!is_the_kubelets_own(b""));
    })
    .expect("a runtime");
}

#[test]
fn a_log_that_never_comes_is_given_up_after_two_minutes_and_says_so() {
    simulate(async {
        let world = osmosis().await;
        let before = world.now();
        let error = collector(&world).log_of_crash(&notice(&world)).await.expect_err("it never crashed");
        let waited = world.now().duration_since(before).as_secs();
        assert!((120..130).contains(&waited), "{waited} s");
        assert_eq!(error.category(), "log_not_there");
        let words = error.to_string();
        assert!(
            words.starts_with("the kubelet has no log of container node of cosmos/osmo-1 (asked 7 times)"),
            "{words}"
        );
        assert!(words.contains("previous terminated container"), "{words}");
    })
    .expect("a runtime");
}

#[test]
fn a_missing_right_is_named_at_once() {
    simulate(async {
        let world = osmosis().await;
        world.deny(OPERATOR, "get", "pods/log");
        let before = world.now();
        let error = collector(&world).log_of_crash(&notice(&world)).await.expect_err("forbidden");
        assert_eq!(world.now().duration_since(before).as_secs(), 0);
        assert_eq!(
            error.to_string(),
            "may not get pods/log of cosmos/osmo-1, container node (grant get on it to the operator's service account)"
        );
    })
    .expect("a runtime");
}

#[test]
fn an_answer_that_fails_once_is_asked_for_again() {
    simulate(async {
        let world = osmosis().await;
        world.damage("cosmos", "data-osmo-1", &Damage::of("state.db", PANIC));
        until(&world, "waiting").await;
        world.fail(Requests::all().of(OPERATOR).to("pods/log"), Fault::Internal, 1);
        let log = collector(&world).log_of_crash(&notice(&world)).await.expect("at the second try");
        assert_eq!(cause(&log), Some(Cause::PhysicalCorruption));
    })
    .expect("a runtime");
}

#[test]
fn the_log_of_another_pod_of_that_name_is_not_the_crashs() {
    simulate(async {
        let world = osmosis().await;
        world.damage("cosmos", "data-osmo-1", &Damage::of("state.db", PANIC));
        until(&world, "waiting").await;
        let gone = notice(&world);
        world.delete("pods", "cosmos", "osmo-1").expect("deleted");
        world.run_for(Duration::from_secs(30)).await;
        until(&world, "waiting").await;
        let error = collector(&world).log_of_crash(&gone).await.expect_err("another pod");
        assert!(error.to_string().starts_with("pod cosmos/osmo-1 was replaced by another one"), "{error}");
    })
    .expect("a runtime");
}

#[test]
fn of_a_huge_log_both_ends_are_read_and_the_gap_is_said() {
    simulate(async {
        let world = osmosis().await;
        let lines = (0..60_000).map(|line| format!("{line:09} INF executed block, as every few seconds\n"));
        let mut log = lines.collect::<Vec<_>>().concat();
        log.push_str(PANIC);
        world.ail("cosmos", "osmo-1", "node", Ailment::crash(&log, 2), u32::MAX);
        world.delete("pods", "cosmos", "osmo-1").expect("deleted");
        world.run_for(Duration::from_secs(20)).await;
        until(&world, "waiting").await;
        let read = collector(&world).log_of_crash(&notice(&world)).await.expect("a log");
        assert_eq!(cause(&read), Some(Cause::PhysicalCorruption), "{:?}", read.examined.finding.reading);
        let gap = read.examined.gap.as_deref();
        assert_eq!(gap, Some("only its first and its last part were read, a MiB of each at most"));
        assert!(read.examined.finding.summary.bytes < 2_200_000, "{}", read.examined.finding.summary.bytes);
    })
    .expect("a runtime");
}

#[test]
fn bytes_that_are_no_text_and_foreign_programs_abstain() {
    for (bytes, why) in [
        (vec![0; 4096], diagnosis::LogAbstention::NotText),
        ("Das Modell wurde geladen.\nBereit.\n".repeat(40).into_bytes(), diagnosis::LogAbstention::ForeignProgram),
    ] {
        let mut examination = LogExamination::new();
        examination.feed(&bytes);
        let reading = examination.finish("node".to_owned(), None).finding.reading.clone();
        assert_eq!(reading, LogReading::Abstained(why));
    }
}
