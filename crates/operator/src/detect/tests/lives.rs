//! Lives of a replica, watched well, badly, and with interruptions: the same incidents each time.

use proptest::prelude::*;

use super::*;

/// What befalls a replica.
#[derive(Debug, Clone, Copy)]
enum Event {
    /// It runs for so many seconds and dies.
    Crash(i64),
    /// It is ready for twenty minutes.
    Ready,
    /// Its pod is made anew.
    NewPod,
}

/// What is heard of it.
#[derive(Debug, Clone)]
enum Beat {
    Is(Value),
    Gone(Value),
    Nothing,
}

/// What is heard, second by second.
fn life(events: &[Event]) -> Vec<(i64, Beat)> {
    let (mut now, mut pods, mut restarts) = (0, 1, 0);
    let mut state = pod("osmo-1", "u-1", 0);
    let mut beats = vec![(0, Beat::Is(state.clone()))];
    let mut since = 0;
    for event in events {
        match event {
            Event::Crash(run) => {
                now += run;
                restarts += 1;
                state = crashed(&state, restarts, since.max(now - run), now);
                beats.push((now, Beat::Is(state.clone())));
                now += 60;
                since = now;
                state = running(&state, now, &json!(false));
                beats.push((now, Beat::Is(state.clone())));
            }
            Event::Ready => {
                now += 5;
                state = running(&state, since, &json!(true));
                beats.push((now, Beat::Is(state.clone())));
                beats.extend([(now + 660, Beat::Nothing), (now + 1_200, Beat::Nothing)]);
                now += 1_200;
            }
            Event::NewPod => {
                now += 5;
                state["metadata"]["deletionTimestamp"] = json!(text(now));
                state["metadata"]["deletionGracePeriodSeconds"] = json!(0);
                beats.push((now, Beat::Gone(state.clone())));
                (now, pods, restarts) = (now + 10, pods + 1, 0);
                since = now;
                state = pod("osmo-1", &format!("u-{pods}"), now);
                beats.push((now, Beat::Is(state.clone())));
            }
        }
    }
    beats
}

/// An operator's memory: what it holds, and what it has written.
struct Watcher {
    index: Index,
    policy: RecoveryPolicy,
    recoveries: Vec<Recovery>,
}

impl Watcher {
    fn new() -> Self {
        Self { index: fed(&[]), policy: policy("p", &json!({})), recoveries: Vec::new() }
    }

    fn hear(&mut self, seconds: i64, beat: &Beat) {
        match beat {
            Beat::Is(pod) => drop(self.index.apply_pod(&object(pod), at(seconds))),
            Beat::Gone(pod) => self.index.delete_pod(&object(pod), at(seconds)),
            Beat::Nothing => {}
        }
    }

    /// As the controller of policies does it.
    fn look(&mut self, seconds: i64) {
        let now = at(seconds);
        let memory = self.policy.status.clone().unwrap_or_default().replicas;
        self.index.recall("cosmos", &memory, now);
        self.index.settle(now);
        let records: Vec<Arc<Recovery>> = self.recoveries.iter().cloned().map(Arc::new).collect();
        let seen = look(&self.index, &self.policy, &[], &records, now);
        self.index.told("cosmos", &seen.replicas);
        self.policy.status.get_or_insert_default().replicas = seen.replicas;
        self.recoveries.extend(seen.new.iter().map(|incident| record(incident, &self.policy)));
        for recovery in self.recoveries.iter_mut().filter(|recovery| is_open(recovery)) {
            if matches!(course(&self.index, recovery, &self.policy, now), Course::Recovered(_)) {
                let ended = k8s_openapi::apimachinery::pkg::apis::meta::v1::Time(now);
                recovery.status.get_or_insert_default().ended = Some(ended);
            }
        }
    }

    /// Another process lists what is there.
    fn restart(&mut self, seconds: i64, there: Option<&Value>) {
        self.index = fed(&there.map(|pod| (seconds, pod.clone())).into_iter().collect::<Vec<_>>());
    }

    fn names(&self) -> Vec<String> {
        self.recoveries.iter().map(ResourceExt::name_any).collect()
    }
}

fn watched(beats: &[(i64, Beat)]) -> Vec<String> {
    let mut watcher = Watcher::new();
    for (seconds, beat) in beats {
        watcher.hear(*seconds, beat);
        watcher.look(*seconds);
    }
    watcher.names()
}

fn any_life() -> impl Strategy<Value = Vec<Event>> {
    let event =
        prop_oneof![4 => (1..500_i64).prop_map(Event::Crash), 1 => Just(Event::Ready), 1 => Just(Event::NewPod)];
    proptest::collection::vec(event, 1..14)
}

#[test]
fn lives_by_hand() {
    let crash = Event::Crash(5);
    let cases: [(&[Event], &[&str]); 6] = [
        (&[crash, crash], &[]),
        (&[crash, crash, crash], &["osmo-1-1"]),
        (&[crash, Event::NewPod, crash, Event::NewPod, crash], &["osmo-1-1"]),
        (&[crash, crash, Event::Ready, crash, crash], &[]),
        (&[crash, crash, crash, Event::Ready, crash, crash], &["osmo-1-1"]),
        (&[crash, crash, crash, Event::Ready, crash, crash, crash], &["osmo-1-1", "osmo-1-2"]),
    ];
    for (events, names) in cases {
        assert_eq!(watched(&life(events)), names, "{events:?}");
    }
}

/// Between an old pod and the next one nothing is there to be listed; what was counted is kept through two restarts.
#[test]
fn two_restarts_while_there_is_no_pod() {
    let beats = life(&[Event::Crash(5), Event::Crash(5), Event::NewPod, Event::Crash(5)]);
    let mut watcher = Watcher::new();
    for (seconds, beat) in &beats {
        watcher.hear(*seconds, beat);
        watcher.look(*seconds);
        if matches!(beat, Beat::Gone(_)) {
            for later in 1..3 {
                watcher.restart(seconds + later, None);
                watcher.look(seconds + later);
            }
        }
    }
    assert_eq!(watcher.names(), ["osmo-1-1"]);
    assert_eq!(watcher.recoveries[0].spec.incident.onset.0, at(5), "the first crash of all");
}

/// Of one pod only the last crash is shown; the first one is remembered.
#[test]
fn the_onset_outlives_our_restart() {
    let beats = life(&[Event::Crash(5), Event::Crash(5), Event::Crash(5)]);
    let mut watcher = Watcher::new();
    for (seconds, beat) in &beats {
        watcher.hear(*seconds, beat);
        watcher.look(*seconds);
        if let Beat::Is(pod) = beat {
            watcher.restart(*seconds, Some(pod));
        }
    }
    assert_eq!(watcher.names(), ["osmo-1-1"]);
    assert_eq!(watcher.recoveries[0].spec.incident.onset.0, at(5));
}

/// Two crashes, and a deletion while it was starting again: no third crash.
#[test]
fn a_pod_that_is_deleted_while_it_starts() {
    let crash = Event::Crash(5);
    assert_eq!(watched(&life(&[crash, Event::NewPod, crash])), Vec::<String>::new());
    assert_eq!(watched(&life(&[crash, crash, Event::NewPod])), Vec::<String>::new());
}

/// Another policy's look takes nothing away from what this one's replicas remember.
#[test]
fn memories_of_two_policies() {
    let beats = life(&[Event::Crash(5), Event::Crash(5), Event::NewPod, Event::Crash(5)]);
    let mut watcher = Watcher::new();
    for (seconds, beat) in &beats {
        watcher.hear(*seconds, beat);
        if matches!(beat, Beat::Is(pod) if pod["metadata"]["uid"] == "u-2") {
            let Beat::Is(pod) = beat else { return };
            watcher.restart(*seconds, Some(pod));
            watcher.index.settle(at(*seconds));
        }
        watcher.look(*seconds);
    }
    assert_eq!(watcher.names(), ["osmo-1-1"]);
}

/// A follower has seen the same crashes that the leader's memory counts.
#[test]
fn a_follower_that_takes_over_counts_nothing_twice() {
    let beats = life(&[Event::Crash(5), Event::NewPod, Event::Crash(5)]);
    let (before, after) = beats.split_at(5);
    let (mut leader, mut follower) = (Watcher::new(), Watcher::new());
    for (seconds, beat) in before {
        leader.hear(*seconds, beat);
        leader.look(*seconds);
        follower.hear(*seconds, beat);
    }
    follower.policy = leader.policy;
    for (seconds, beat) in after {
        follower.hear(*seconds, beat);
        follower.look(*seconds);
    }
    assert_eq!(after.len(), 2, "one crash before, one after");
    assert_eq!(follower.names(), Vec::<String>::new(), "two crashes are two");
}

/// A list that is behind does not mention it; the next one does, unchanged.
#[test]
fn a_list_that_was_behind() {
    let mut index = fed(&crashing("osmo-1", 3, 0));
    index.begin_list(crate::index::Kind::Pods);
    index.end_list(crate::index::Kind::Pods, at(200));
    let policy = policy("p", &json!({}));
    assert!(new(&index, &policy, &[], 201).is_empty(), "away");
    index.apply_pod(&object(&crashing("osmo-1", 3, 0)[3].1), at(210));
    assert_eq!(names(&new(&index, &policy, &[], 211)), ["osmo-1-1"]);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn told_twice_and_late(events in any_life()) {
        let beats = life(&events);
        let mut noisy = Watcher::new();
        for (number, (seconds, beat)) in beats.iter().enumerate() {
            noisy.hear(*seconds, beat);
            noisy.hear(*seconds, beat);
            let late = if matches!(beat, Beat::Nothing) { 0 } else { number };
            for (_, old) in beats.iter().take(late).filter(|(_, old)| matches!(old, Beat::Is(_))) {
                noisy.hear(*seconds, old);
            }
            noisy.hear(*seconds, beat);
            noisy.look(*seconds);
        }
        prop_assert_eq!(noisy.names(), watched(&beats));
    }

    #[test]
    fn started_anew_at_any_event(events in any_life(), point in any::<proptest::sample::Index>()) {
        let beats = life(&events);
        let point = point.index(beats.len());
        let mut watcher = Watcher::new();
        for (number, (seconds, beat)) in beats.iter().enumerate() {
            watcher.hear(*seconds, beat);
            watcher.look(*seconds);
            if number == point {
                let there = match beats.iter().take(number + 1).rfind(|(_, beat)| !matches!(beat, Beat::Nothing)) {
                    Some((_, Beat::Is(pod))) => Some(pod),
                    _ => None,
                };
                watcher.restart(*seconds, there);
                watcher.look(*seconds);
            }
        }
        prop_assert_eq!(watcher.names(), watched(&beats));
    }

    #[test]
    fn progress_between_crashes_is_no_loop(runs in proptest::collection::vec(1..500_i64, 1..10)) {
        let events: Vec<Event> = runs.iter().flat_map(|run| [Event::Crash(*run), Event::Ready]).collect();
        prop_assert_eq!(watched(&life(&events)), Vec::<String>::new());
    }
}
