//! One situation and one change each; then whatever can be: no step but those of this version (P1), and every wait ends (P12).

use jiff::{SignedDuration, Timestamp};
use proptest::prelude::*;

use super::*;

fn at(minutes: i64) -> Timestamp {
    let begin: Timestamp = "2026-01-05T10:00:00Z".parse().expect("a time");
    begin.checked_add(SignedDuration::from_mins(minutes)).expect("in range")
}

/// A look that began one minute ago, of a replica that is still sick, with nothing sent yet.
fn collecting() -> Situation {
    Situation {
        now: at(1),
        stage: Stage::Collecting { round: 1, since: at(0) },
        course: Course::StillSick,
        watch: Watch::Active,
        mode: Mode::Observe,
        disk: DiskLook::ToDo(Method::InPlace),
        peers: PeersLook::Known,
        leavings: Leavings::None,
    }
}

fn held(why: Hold, round: u32, now: i64) -> Situation {
    Situation { now: at(now), stage: Stage::Held { why, round, since: at(0) }, disk: DiskLook::Over, ..collecting() }
}

/// Name, change, expected step.
type Row = (&'static str, fn(&mut Situation), Step);

#[test]
fn a_look_at_the_evidence() {
    let rows: Vec<Row> = vec![
        ("new", |s| s.stage = Stage::New, Step::Begin { round: 1 }),
        ("nothing changed", |_| {}, Step::Intend(Method::InPlace)),
        ("on a snapshot", |s| s.disk = DiskLook::ToDo(Method::Snapshot), Step::Intend(Method::Snapshot)),
        ("the disk cannot be read", |s| s.disk = DiskLook::CannotBe("hostPath".into()), Step::Judge),
        (
            "the container runs",
            |s| s.disk = DiskLook::WaitsForTheContainer(Method::InPlace),
            Step::Wait(at(1) + SignedDuration::from_secs(15)),
        ),
        (
            "the container has run for ten minutes",
            |s| {
                s.disk = DiskLook::WaitsForTheContainer(Method::InPlace);
                s.now = at(10);
            },
            Step::Intend(Method::InPlace),
        ),
        ("no turn yet", |s| s.disk = DiskLook::WaitsForATurn, Step::Wait(at(1) + SignedDuration::from_secs(15))),
        (
            "no turn for an hour",
            |s| {
                s.disk = DiskLook::WaitsForATurn;
                s.now = at(60);
            },
            Step::Judge,
        ),
        (
            "a snapshot is next",
            |s| s.disk = DiskLook::UnderWay { next: Some(Make::Snapshot) },
            Step::Make(Make::Snapshot),
        ),
        ("the claim is next", |s| s.disk = DiskLook::UnderWay { next: Some(Make::Claim) }, Step::Make(Make::Claim)),
        ("the Job is next", |s| s.disk = DiskLook::UnderWay { next: Some(Make::Job) }, Step::Make(Make::Job)),
        (
            "the Job runs",
            |s| s.disk = DiskLook::UnderWay { next: None },
            Step::Wait(at(1) + SignedDuration::from_secs(15)),
        ),
        ("the Job has ended", |s| s.disk = DiskLook::Over, Step::Judge),
        (
            "the siblings were asked once only",
            |s| {
                s.disk = DiskLook::Over;
                s.peers = PeersLook::NotYet;
            },
            Step::Wait(at(1) + SignedDuration::from_secs(15)),
        ),
        (
            "the siblings' second answer does not come",
            |s| {
                s.disk = DiskLook::Over;
                s.peers = PeersLook::NotYet;
                s.now = at(3);
            },
            Step::Judge,
        ),
        ("leavings while collecting are in use", |s| s.leavings = Leavings::Possible, Step::Intend(Method::InPlace)),
        ("suspended", |s| s.watch = Watch::Suspended, Step::Hold(Hold::Suspended)),
        ("a storm", |s| s.watch = Watch::Storm { sick: 9 }, Step::Hold(Hold::Storm)),
        (
            "a storm before anything began",
            |s| {
                s.watch = Watch::Storm { sick: 9 };
                s.stage = Stage::New;
            },
            Step::Hold(Hold::Storm),
        ),
        (
            "recovered by itself",
            |s| s.course = Course::Recovered("ready".into()),
            Step::End(Ending::RecoveredByItself("ready".into())),
        ),
        ("gone", |s| s.course = Course::Gone("scaled".into()), Step::End(Ending::ReplicaGone("scaled".into()))),
        (
            "the policy is gone",
            |s| s.watch = Watch::Nobody("deleted".into()),
            Step::End(Ending::NobodyWatches("deleted".into())),
        ),
    ];
    for (name, change, step) in rows {
        let mut situation = collecting();
        change(&mut situation);
        assert_eq!(next(&situation), step, "{name}");
    }
}

#[test]
fn a_verdict_has_its_consequence() {
    for (decision, mode, why) in [
        (Decision::Hold, Mode::Observe, Hold::Verdict),
        (Decision::Hold, Mode::Auto, Hold::Verdict),
        (Decision::Propose, Mode::Observe, Hold::Observing),
        (Decision::Restore, Mode::Observe, Hold::Observing),
        (Decision::Propose, Mode::Approve, Hold::NotBuilt),
        (Decision::Restore, Mode::Auto, Hold::NotBuilt),
    ] {
        let judged = Situation { stage: Stage::Judged(decision), mode, disk: DiskLook::Over, ..collecting() };
        assert_eq!(next(&judged), Step::Hold(why), "{decision} in {mode:?}");
        let with_leavings = Situation { leavings: Leavings::Possible, ..judged };
        assert_eq!(next(&with_leavings), Step::TidyUp, "first what an inspection left");
    }
}

#[test]
fn what_is_held_is_looked_at_again() {
    for (why, round, now, step) in [
        (Hold::Verdict, 1, 9, Step::Wait(at(10))),
        (Hold::Verdict, 1, 10, Step::Begin { round: 2 }),
        (Hold::Observing, 2, 59, Step::Wait(at(60))),
        (Hold::NotBuilt, 2, 60, Step::Begin { round: 3 }),
        (Hold::Verdict, 3, 359, Step::Wait(at(360))),
        (Hold::Verdict, 40, 360, Step::Begin { round: 41 }),
        (Hold::Suspended, 0, 1, Step::Begin { round: 1 }),
        (Hold::Storm, 3, 1, Step::Begin { round: 4 }),
    ] {
        assert_eq!(next(&held(why, round, now)), step, "{why:?} of round {round} after {now} minutes");
    }
    let suspended = Situation { watch: Watch::Suspended, ..held(Hold::Verdict, 1, 10) };
    assert_eq!(next(&suspended), Step::Wait(at(370)), "nothing is begun while the switch is on");
}

#[test]
fn an_end_is_an_end() {
    for (leavings, step) in [(Leavings::None, Step::Rest), (Leavings::Possible, Step::TidyUp)] {
        let ended = Situation { stage: Stage::Ended, course: Course::Gone("x".into()), leavings, ..collecting() };
        assert_eq!(next(&ended), step);
    }
}

fn any_situation() -> impl Strategy<Value = Situation> {
    let hold = prop_oneof![
        Just(Hold::Verdict),
        Just(Hold::Observing),
        Just(Hold::NotBuilt),
        Just(Hold::Suspended),
        Just(Hold::Storm)
    ];
    let decision = prop_oneof![Just(Decision::Hold), Just(Decision::Propose), Just(Decision::Restore)];
    let stage = prop_oneof![
        Just(Stage::New),
        (1..9_u32, 0..500_i64).prop_map(|(round, since)| Stage::Collecting { round, since: at(since) }),
        decision.prop_map(Stage::Judged),
        (hold, 0..9_u32, 0..500_i64).prop_map(|(why, round, since)| Stage::Held { why, round, since: at(since) }),
        Just(Stage::Ended),
    ];
    let course =
        prop_oneof![Just(Course::StillSick), Just(Course::Recovered("r".into())), Just(Course::Gone("g".into()))];
    let watch = prop_oneof![
        Just(Watch::Active),
        Just(Watch::Suspended),
        (2..9_u32).prop_map(|sick| Watch::Storm { sick }),
        Just(Watch::Nobody("n".into()))
    ];
    let mode = prop_oneof![Just(Mode::Observe), Just(Mode::Approve), Just(Mode::Auto)];
    let method = prop_oneof![Just(Method::InPlace), Just(Method::Snapshot), Just(Method::Guard)];
    let make = prop_oneof![Just(Make::Snapshot), Just(Make::Claim), Just(Make::Job)];
    let disk = prop_oneof![
        method.clone().prop_map(DiskLook::ToDo),
        Just(DiskLook::CannotBe("c".into())),
        method.prop_map(DiskLook::WaitsForTheContainer),
        Just(DiskLook::WaitsForATurn),
        proptest::option::of(make).prop_map(|next| DiskLook::UnderWay { next }),
        Just(DiskLook::Over),
    ];
    let peers = prop_oneof![Just(PeersLook::Known), Just(PeersLook::NotYet)];
    let leavings = prop_oneof![Just(Leavings::None), Just(Leavings::Possible)];
    (0..1_000_i64, stage, course, watch, mode, disk, peers, leavings).prop_map(
        |(now, stage, course, watch, mode, disk, peers, leavings)| Situation {
            now: at(now),
            stage,
            course,
            watch,
            mode,
            disk,
            peers,
            leavings,
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4_000))]

    /// The guards, written a second time: something is made only while evidence is collected, the replica is sick, its policy
    /// is in force and neither the switch nor a storm says no.
    #[test]
    fn nothing_is_made_or_begun_past_a_guard(situation in any_situation()) {
        let step = next(&situation);
        let begins = matches!(step, Step::Begin { .. } | Step::Intend(_) | Step::Make(_));
        if begins {
            prop_assert_eq!(&situation.course, &Course::StillSick);
            prop_assert_eq!(&situation.watch, &Watch::Active);
            prop_assert!(situation.stage != Stage::Ended);
        }
        if matches!(step, Step::Make(_) | Step::Intend(_) | Step::Judge) {
            let collects = matches!(situation.stage, Stage::Collecting { .. });
            prop_assert!(collects);
        }
    }

    /// P12: a wait ends later than now, and at the latest in six hours.
    #[test]
    fn every_wait_ends(situation in any_situation()) {
        if let Step::Wait(until) = next(&situation) {
            prop_assert!(until > situation.now);
            // A look may have ended later than now where clocks differ.
            let from = match situation.stage { Stage::Held { since, .. } => since.max(situation.now), _ => situation.now };
            prop_assert!(until <= from + SignedDuration::from_hours(6));
        }
    }

    /// What is over stays over, whatever else is so.
    #[test]
    fn an_ended_incident_only_gets_tidied(mut situation in any_situation()) {
        situation.stage = Stage::Ended;
        let step = next(&situation);
        prop_assert!(step == Step::Rest || (step == Step::TidyUp && situation.leavings == Leavings::Possible), "{step:?}");
    }
}
