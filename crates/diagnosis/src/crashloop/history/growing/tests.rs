//! A history that is fed state by state says what one says that is given everything at once, also when its watcher is started
//! anew in between.

use jiff::{SignedDuration, Timestamp};
use proptest::prelude::*;

use super::*;
use crate::{
    ContainerFacts, ContainerName, ContainerRole, CrashLoopReading, ExitStatus, InstanceName, LastRun, LoopRule,
    RestartPolicy, detect_by,
};

fn at(seconds: i64) -> Timestamp {
    let begin: Timestamp = "2026-01-05T10:00:00Z".parse().expect("a time");
    begin.checked_add(SignedDuration::from_secs(seconds)).expect("in range")
}

/// A pod whose node runs since `seconds`, for the first time.
fn running(pod: &str, seconds: i64) -> Observation {
    let node = ContainerFacts {
        name: ContainerName::new("node"),
        role: ContainerRole::Node,
        image: "chain:1".to_owned(),
        image_id: None,
        command_line: Vec::new(),
        restarts: 0,
        ready: false,
        state: ContainerState::Running { since: Some(at(seconds)) },
        last_run: None,
    };
    Observation {
        instance: InstanceName { namespace: "cosmos".to_owned(), name: "osmo-1".to_owned() },
        uid: Some(Uid::new(pod)),
        node: None,
        owner: None,
        revision: None,
        config_checksum: None,
        node_type: None,
        restart_policy: RestartPolicy::Always,
        containers: vec![node],
        data_claim: None,
        has_status: true,
        phase: "Running".to_owned(),
        reason: None,
        message: None,
        created: Some(at(seconds - 1)),
        started: Some(at(seconds - 1)),
        deletion_asked: None,
        seen: Some(at(seconds)),
    }
}

/// The same pod, whose node has died for the `count`th time after a run from `began` to `ended`.
fn died(mut pod: Observation, count: u32, began: i64, ended: i64) -> Observation {
    for node in &mut pod.containers {
        node.restarts = count;
        node.ready = false;
        node.state = ContainerState::Waiting { reason: "CrashLoopBackOff".to_owned(), message: None, back_off: None };
        node.last_run = Some(LastRun {
            exit: ExitStatus { code: 2, signal: None },
            reason: "Error".to_owned(),
            message: None,
            started: Some(at(began)),
            finished: Some(at(ended)),
        });
    }
    pod.seen = Some(at(ended));
    pod
}

fn ready(mut pod: Observation, count: u32, since: i64, seen: i64) -> Observation {
    for node in &mut pod.containers {
        node.restarts = count;
        node.ready = true;
        node.state = ContainerState::Running { since: Some(at(since)) };
    }
    pod.seen = Some(at(seen));
    pod
}

fn fed(states: &[Observation]) -> InstanceHistory {
    let (first, rest) = states.split_first().expect("a state");
    let mut history = InstanceHistory::new(first.clone());
    for state in rest {
        history.push(state.clone());
    }
    history
}

fn crashes(history: &InstanceHistory) -> u32 {
    history.streak().crashes()
}

fn loops(history: &InstanceHistory) -> bool {
    matches!(detect_by(history, &LoopRule::default()), CrashLoopReading::Looping(_))
}

#[test]
fn the_third_crash_makes_a_loop_and_the_second_does_not() {
    let pod = running("u-1", 0);
    let two = [pod.clone(), died(pod.clone(), 1, 0, 5), died(pod.clone(), 2, 15, 20)];
    assert!(!loops(&fed(&two)));
    let three = [two.as_slice(), &[died(pod, 3, 40, 45)]].concat();
    assert!(loops(&fed(&three)));
    assert_eq!(fed(&three).streak().onset(), Some(at(5)), "the first crash, though its state was replaced");
}

#[test]
fn a_long_ready_run_forgives_what_was_before_it() {
    let pod = running("u-1", 0);
    let before = [pod.clone(), died(pod.clone(), 2, 0, 5), ready(pod.clone(), 2, 15, 16)];
    let after_a_day = [before.as_slice(), &[died(pod.clone(), 3, 15, 86_400)]].concat();
    assert_eq!(crashes(&fed(&after_a_day)), 1, "it had been ready for a day, though nobody wrote that down");
    let after_a_minute = [before.as_slice(), &[died(pod, 3, 15, 75)]].concat();
    assert_eq!(crashes(&fed(&after_a_minute)), 3);
}

#[test]
fn old_restarts_are_forgiven_also_after_our_own_restart() {
    let pod = running("u-1", 0);
    let well = ready(pod.clone(), 12, 1_000, 90_000);
    let memory = fed(std::slice::from_ref(&well)).memory().expect("something to remember");
    assert_eq!((memory.offset, memory.crashes), (-12, 0));
    let mut restarted = InstanceHistory::new(died(pod.clone(), 13, 90_000, 90_005));
    assert!(loops(&restarted), "without the memory the count itself looks like a loop");
    restarted.recall(memory);
    assert_eq!(crashes(&restarted), 1);
    assert!(!loops(&restarted));
    restarted.push(died(pod.clone(), 15, 90_020, 90_025));
    assert_eq!(crashes(&restarted), 3);
    assert!(loops(&restarted));
}

#[test]
fn crashes_of_pods_that_are_gone_outlive_our_restart() {
    let gone = died(running("u-1", 0), 2, 0, 5);
    let next = died(running("u-2", 30), 1, 30, 35);
    let history = fed(&[gone, next.clone()]);
    let memory = history.memory().expect("something to remember");
    let mut restarted = InstanceHistory::new(next);
    restarted.recall(memory);
    assert_eq!(crashes(&restarted), crashes(&history));
    assert_eq!(restarted.streak().onset(), Some(at(5)));
    assert_eq!(restarted.pods(), [Uid::new("u-1"), Uid::new("u-2")]);
}

#[test]
fn a_healthy_pod_leaves_nothing_to_remember() {
    assert_eq!(fed(&[running("u-1", 0), ready(running("u-1", 0), 0, 0, 5)]).memory(), None);
    let rolled = [ready(running("u-1", 0), 0, 0, 5), ready(running("u-2", 60), 0, 60, 65)];
    assert_eq!(fed(&rolled).memory(), None, "a rollout");
}

#[test]
fn forgiving_leaves_only_what_comes_later() {
    let pod = running("u-1", 0);
    let mut history = fed(&[pod.clone(), died(pod.clone(), 3, 40, 45)]);
    history.forgive();
    assert_eq!(crashes(&history), 0);
    assert!(!loops(&history));
    history.push(died(pod, 4, 60, 65));
    assert_eq!(crashes(&history), 1);
}

/// One thing that befalls a replica.
#[derive(Debug, Clone, Copy)]
enum Event {
    /// It crashes, so many seconds after its start.
    Crash(i64),
    /// It becomes ready.
    Ready,
    /// Its pod is made anew.
    NewPod,
}

/// The states that a watch shows of such a life.
fn life(events: &[Event]) -> Vec<Observation> {
    let (mut now, mut pods, mut restarts) = (0, 1, 0);
    let mut pod = running("u-1", now);
    let mut states = vec![pod.clone()];
    for event in events {
        let began = match pod.containers.first().map(|node| &node.state) {
            Some(ContainerState::Running { since: Some(since) }) => since.duration_since(at(0)).as_secs(),
            _ => now + 10,
        };
        match event {
            Event::Crash(after) => {
                now = began.max(now) + after;
                restarts += 1;
                pod = died(pod.clone(), restarts, began, now);
            }
            Event::Ready => {
                now = began.max(now) + 5;
                pod = ready(pod.clone(), restarts, began, now);
            }
            Event::NewPod => {
                now += 20;
                pods += 1;
                restarts = 0;
                pod = running(&format!("u-{pods}"), now);
            }
        }
        states.push(pod.clone());
    }
    states
}

fn any_life() -> impl Strategy<Value = Vec<Event>> {
    let event = prop_oneof![(1..2_000_i64).prop_map(Event::Crash), Just(Event::Ready), Just(Event::NewPod)];
    proptest::collection::vec(event, 1..40)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    /// What a watch tells twice, or late, changes nothing.
    #[test]
    fn old_news_is_no_news(events in any_life(), twice in any::<prop::sample::Index>()) {
        let states = life(&events);
        let mut again = InstanceHistory::new(states[0].clone());
        for (number, state) in states.iter().enumerate().skip(1) {
            again.push(state.clone());
            if number == twice.index(states.len()) {
                again.push(states[number - 1].clone());
                again.push(state.clone());
            }
        }
        prop_assert_eq!(crashes(&again), crashes(&fed(&states)));
    }

    /// A watcher that is started anew at any point counts as the one that was not: never more, and fewer only by what befell
    /// the replica's earlier pod unseen.
    #[test]
    fn our_restart_forgets_nothing(events in any_life(), point in any::<prop::sample::Index>()) {
        let states = life(&events);
        let point = point.index(states.len());
        let until = fed(&states[..=point]);
        let mut restarted = InstanceHistory::new(states[point].clone());
        if let Some(memory) = until.memory() {
            restarted.recall(memory);
        }
        if until.memory().is_none_or(|memory| memory.crashes < 20) {
            prop_assert_eq!(crashes(&restarted), crashes(&until), "at {}", point);
        }
    }

    /// However long it lives, little is kept, and the count stays right for what is no progress.
    #[test]
    fn a_long_trouble_is_folded(times in 70..300_u32) {
        let events: Vec<Event> = (0..times).flat_map(|_| [Event::Crash(5), Event::NewPod]).collect();
        let history = fed(&life(&events));
        prop_assert!(history.observations().count() <= EARLIER_MAX + 1);
        prop_assert!(crashes(&history) >= 20);
    }
}
