//! Whatever goes wrong between the operator and the API server, each incident has one record in the end, and it is right. (P11)
//!
//! First a clean run learns how many requests there are; then each of them is hit by each fault, one run each; then seeds
//! throw several at once, with a second operator that takes over. A run that fails prints how to repeat it.

use std::{
    sync::{
        Mutex,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use serde_json::{Value, json};
use simcluster::{Damage, Fault, OPERATOR, Requests, Verb, WatchFault};

use crate::{
    stage::{DAMAGED_STATE, Stage, at},
    stories::{gist, mins, vetoes},
};

/// The operator that stands by in the stories with two.
const OTHER: &str = "system:serviceaccount:loopbreaker:loopbreaker-1";

/// A replica is damaged a minute after the operator began; ten minutes later all is said.
async fn incident(seed: u64, arrange: impl FnOnce(&Stage)) -> Stage {
    let stage = Stage::osmosis(seed).await;
    stage.policy(&json!({}));
    arrange(&stage);
    stage.world.after(mins(1), |world| world.damage("cosmos", "data-osmo-1", &Damage::of("state.db", DAMAGED_STATE)));
    stage.operate(mins(11)).await;
    stage
}

/// One incident, one record, the right one; nothing else written and nothing left over.
fn verdict(stage: &Stage) -> Result<(), String> {
    let recoveries = stage.recoveries();
    let [recovery] = recoveries.as_slice() else { return Err(format!("{} records", recoveries.len())) };
    let (phase, cause, decision) = gist(recovery);
    // A look that a restart of the node overtook holds until the next one: that is right, too.
    let overtaken = decision == "hold" && vetoes(recovery) == ["stale_evidence"];
    let right = phase == "Held" && cause == "physical_corruption" && (decision != "hold" || overtaken);
    if !right || at(recovery, "/metadata/name") != "osmo-1-1" {
        return Err(format!("{phase} {cause} {decision}: {}", recovery["status"]));
    }
    if !stage.leavings().is_empty() {
        return Err(format!("left over: {:?}", stage.leavings()));
    }
    let said = stage.said();
    for reason in ["IncidentOpened", "Held"] {
        let times = said.iter().filter(|one| *one == reason).count();
        if times == 0 || (reason == "IncidentOpened" && times > 1) {
            return Err(format!("{reason} was said {times} times: {said:?}"));
        }
    }
    if stage.sins().is_empty() { Ok(()) } else { Err(format!("P1: {:?}", stage.sins())) }
}

/// Runs many cases on all cores; what fails is told with its number.
fn all(cases: u64, case: impl Fn(u64) -> Result<(), String> + Sync) {
    let next = AtomicU64::new(0);
    let failed: Mutex<Vec<String>> = Mutex::default();
    let workers = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    std::thread::scope(|scope| {
        for _ in 0..workers {
            scope.spawn(|| {
                loop {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    if number >= cases {
                        return;
                    }
                    if let Err(why) = case(number) {
                        failed.lock().expect("no panic").push(format!("case {number}: {why}"));
                    }
                }
            });
        }
    });
    let failed = failed.into_inner().expect("no panic");
    let shown: Vec<&String> = failed.iter().take(8).collect();
    assert!(
        failed.is_empty(),
        "{} of {cases} failed; to repeat one set LOOPBREAKER_CASE to its number:\n{shown:#?}",
        failed.len()
    );
}

/// So many, or as many as the environment asks for.
fn cases(usual: u64) -> u64 {
    std::env::var("LOOPBREAKER_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(usual)
}

/// All cases, or the one that is to be repeated.
fn chosen(cases: u64, case: impl Fn(u64) -> Result<(), String> + Sync) {
    match std::env::var("LOOPBREAKER_CASE").ok().and_then(|number| number.parse().ok()) {
        Some(number) => case(number).expect("the case that was to be repeated"),
        None => all(cases, case),
    }
}

/// Requests that are not the Lease's: of those every fifth is hit only, they repeat themselves.
fn requests_of_a_clean_run() -> Vec<u64> {
    simentropy::case(1, || async {
        let stage = incident(1, |_| {}).await;
        verdict(&stage).expect("a clean run");
        let trace = stage.world.trace();
        let ours = trace.iter().filter(|entry| entry.user == OPERATOR);
        ours.filter(|entry| !entry.place.starts_with("leases") || entry.nth % 10 == 0).map(|entry| entry.nth).collect()
    })
}

const FAULTS: [Fault; 11] = [
    Fault::CrashBefore,
    Fault::CrashAfter,
    Fault::Conflict,
    Fault::NotFound,
    Fault::TooManyRequests(2),
    Fault::Internal,
    Fault::TimeoutBefore,
    Fault::TimeoutAfter,
    Fault::Doubled,
    Fault::Late(Duration::from_secs(20)),
    Fault::Stale(Duration::from_mins(2)),
];

#[test]
fn each_fault_at_each_request() {
    let requests = requests_of_a_clean_run();
    let faults = FAULTS.len() as u64;
    println!("{} requests, {} faults", requests.len(), faults);
    chosen(requests.len() as u64 * faults, |number| {
        let nth = requests[usize::try_from(number / faults).expect("small")];
        let fault = FAULTS[usize::try_from(number % faults).expect("small")];
        simentropy::case(1, move || async move {
            let stage = incident(1, |stage| stage.world.fail(Requests::all().of(OPERATOR).nth(nth), fault, 1)).await;
            verdict(&stage).map_err(|why| format!("{} at request {nth}: {why}", fault.name()))
        })
    });
}

/// A pseudo-random sequence of its own, so that a case's number says everything.
struct Dice(u64);

impl Dice {
    fn up_to(&mut self, end: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % end
    }
}

#[test]
fn several_faults_at_once_and_another_leader() {
    chosen(cases(600), |seed| simentropy::case(seed, move || several(seed)));
}

async fn several(seed: u64) -> Result<(), String> {
    let mut dice = Dice(seed);
    let stage = Stage::osmosis(seed).await;
    stage.policy(&json!({}));
    for _ in 0..dice.up_to(4) {
        let fault = FAULTS[usize::try_from(dice.up_to(FAULTS.len() as u64)).expect("small")];
        let user = if dice.up_to(3) == 0 { OTHER } else { OPERATOR };
        stage.world.fail(Requests::all().of(user).nth(dice.up_to(260)), fault, 1);
    }
    let watch = match dice.up_to(5) {
        0 => WatchFault::Delay(Duration::from_secs(20)),
        1 => WatchFault::Coalesce(Duration::from_secs(15)),
        2 => WatchFault::Duplicate,
        3 => WatchFault::Disconnect(Duration::from_secs(40)),
        _ => WatchFault::Delay(Duration::from_secs(1)),
    };
    stage.world.fail_watches(Requests::all(), watch, u32::try_from(dice.up_to(6)).expect("small"));
    if dice.up_to(3) == 0 {
        let old = Fault::Stale(Duration::from_secs(30 + dice.up_to(120)));
        stage.world.fail(Requests::all().of(OPERATOR).verb(Verb::List), old, 2);
    }
    if dice.up_to(4) == 0 {
        stage.world.after(Duration::from_secs(60 + dice.up_to(300)), simcluster::World::compact);
    }
    stage.world.after(mins(1), |world| world.damage("cosmos", "data-osmo-1", &Damage::of("state.db", DAMAGED_STATE)));
    // The first one is cut short at any time; the other stands by all along, or begins then.
    let until = Duration::from_secs(30 + dice.up_to(400));
    let whole = mins(18);
    let first = async {
        stage.operate_as(OPERATOR, "operator-0", until).await;
    };
    let second = async {
        if dice.0 & 1 == 0 {
            stage.world.run_for(until).await;
            stage.operate_as(OTHER, "operator-1", whole.saturating_sub(until)).await;
        } else {
            stage.operate_as(OTHER, "operator-1", whole).await;
        }
    };
    tokio::join!(biased; first, second);
    verdict(&stage).map_err(|why| format!("{why}\nfaults: {:?}", faults_of(&stage)))
}

fn faults_of(stage: &Stage) -> Vec<String> {
    stage.world.trace().iter().filter(|entry| entry.fault.is_some()).map(ToString::to_string).collect()
}

/// The same seed gives the same trace, also of the whole operator.
#[test]
fn a_case_repeats_itself() {
    let lines = |seed: u64| {
        simentropy::case(seed, move || async move {
            let stage = incident(seed, |_| {}).await;
            stage.world.trace().iter().map(ToString::to_string).collect::<Vec<_>>()
        })
    };
    let (one, two) = (lines(3), lines(3));
    assert!(one.len() > 300, "{}", one.len());
    let differs = one.iter().zip(&two).find(|(a, b)| a != b);
    assert_eq!(differs, None);
    assert_eq!(one.len(), two.len());
    assert_ne!(one, lines(4));
}

/// A leader that stalls: its write arrives long after another one has taken over, and changes nothing.
#[test]
fn a_stalled_leaders_late_write() {
    for place in
        ["recoveries.loopbreaker.dev", "recoveries.loopbreaker.dev/status", "jobs.batch", "events.events.k8s.io"]
    {
        simentropy::case(5, move || async move {
            let stage = Stage::osmosis(5).await;
            stage.policy(&json!({}));
            for verb in [Verb::Create, Verb::Update, Verb::Delete] {
                let requests = Requests::all().of(OPERATOR).verb(verb).to(place);
                stage.world.fail(requests, Fault::Late(Duration::from_secs(90)), 1);
            }
            stage.world.after(mins(1), |world| {
                world.damage("cosmos", "data-osmo-1", &Damage::of("state.db", DAMAGED_STATE));
            });
            let first = stage.operate_as(OPERATOR, "operator-0", Duration::from_secs(150));
            let second = stage.operate_as(OTHER, "operator-1", mins(20));
            tokio::join!(biased; first, second);
            verdict(&stage).expect(place);
            let record: Value = stage.recovery();
            assert!(record["status"]["fencingToken"].is_i64(), "{record:#}");
        });
    }
}
