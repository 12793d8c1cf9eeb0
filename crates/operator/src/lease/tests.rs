//! Two operators and one Lease, in the simulated cluster.

use serde_json::{Value, json};
use simcluster::{Fault, Requests, Verb, World, simulate};

use super::*;

const LEASES: &str = "leases.coordination.k8s.io";

fn world() -> World {
    let world = World::new(1);
    world.namespace("loopbreaker");
    world
}

fn candidate(world: &World, name: &str) -> Lease {
    let settings = Settings {
        identity: name.to_owned(),
        namespace: "loopbreaker".to_owned(),
        watched: None,
        inspector: crate::Inspector::default(),
        lease: crate::LeaseTimes::default(),
    };
    Lease::new(world.client_of(name), Arc::new(settings), Clock::starting_at(world.now()))
}

fn token(lease: &Lease) -> Option<i64> {
    lease.permit().ok().map(|permit| permit.token)
}

fn spec(world: &World) -> Value {
    world.get(LEASES, "loopbreaker", LEASE).expect("the Lease").get("spec").cloned().unwrap_or_default()
}

fn edit(world: &World, spec: &Value) {
    world.edit(LEASES, "loopbreaker", LEASE, json!({"spec": spec})).expect("edited");
}

fn seconds(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

#[test]
fn of_two_one_leads() {
    simulate(async {
        let world = world();
        let (a, b) = (candidate(&world, "a"), candidate(&world, "b"));
        assert!(a.attempt(&mut None).await.expect("answered"));
        assert!(!b.attempt(&mut None).await.expect("answered"));
        assert_eq!((token(&a), token(&b)), (Some(0), None));
    })
    .expect("a runtime");
}

/// Whoever stops renewing may write no more from then on, and is followed a little later, never before.
#[test]
fn a_leader_that_is_silent_is_followed_by_our_own_clock() {
    for renewed in ["2001-01-01T00:00:00.000000Z", "2099-01-01T00:00:00.000000Z"] {
        simulate(async move {
            let world = world();
            let (a, b) = (candidate(&world, "a"), candidate(&world, "b"));
            assert!(a.attempt(&mut None).await.expect("answered"));
            // Its clock is years off; only what we see changing counts.
            edit(&world, &json!({"renewTime": renewed}));
            let mut rival = None;
            assert!(!b.attempt(&mut rival).await.expect("answered"));
            sleep(seconds(14)).await;
            assert!(!b.attempt(&mut rival).await.expect("answered"), "14 seconds");
            sleep(seconds(2)).await;
            assert_eq!(token(&a), None, "before anybody follows it is over");
            assert!(b.attempt(&mut rival).await.expect("answered"), "16 seconds");
            assert_eq!(token(&b), Some(1));
        })
        .expect("a runtime");
    }
}

#[test]
fn a_leader_that_renews_stays() {
    simulate(async {
        let world = world();
        let (a, b) = (candidate(&world, "a"), candidate(&world, "b"));
        assert!(a.attempt(&mut None).await.expect("answered"));
        let mut rival = None;
        for _ in 0..20 {
            sleep(seconds(5)).await;
            assert!(a.attempt(&mut None).await.expect("answered"));
            assert!(!b.attempt(&mut rival).await.expect("answered"));
        }
        assert_eq!(token(&a), Some(0));
    })
    .expect("a runtime");
}

/// One that says of itself that it lasts a minute is believed.
#[test]
fn a_lease_that_lasts_longer() {
    simulate(async {
        let world = world();
        let (a, b) = (candidate(&world, "a"), candidate(&world, "b"));
        assert!(a.attempt(&mut None).await.expect("answered"));
        edit(&world, &json!({"leaseDurationSeconds": 60}));
        let mut rival = None;
        assert!(!b.attempt(&mut rival).await.expect("answered"));
        sleep(seconds(59)).await;
        assert!(!b.attempt(&mut rival).await.expect("answered"));
        sleep(seconds(2)).await;
        assert!(b.attempt(&mut rival).await.expect("answered"));
    })
    .expect("a runtime");
}

#[test]
fn a_stolen_lease_ends_the_leadership() {
    simulate(async {
        let world = world();
        let a = candidate(&world, "a");
        a.acquire().await;
        edit(&world, &json!({"holderIdentity": "thief"}));
        a.keep().await;
        assert_eq!(token(&a), None);
        assert_eq!(spec(&world)["holderIdentity"], "thief", "it is not taken back at once");
    })
    .expect("a runtime");
}

/// The write came through and its answer did not: a new leadership with a number of its own, never two of one number.
#[test]
fn a_lost_answer() {
    simulate(async {
        let world = world();
        let a = candidate(&world, "a");
        world.fail(Requests::all().of("a").verb(Verb::Create).to(LEASES), Fault::TimeoutAfter, 1);
        a.acquire().await;
        assert_eq!(token(&a), Some(1), "number 0 was written by a request of which nobody heard");
        world.fail(Requests::all().of("a").verb(Verb::Update).to(LEASES), Fault::TimeoutAfter, 1);
        assert!(a.attempt(&mut None).await.expect("a 409 after our own write"), "it leads still");
        assert!(a.attempt(&mut None).await.expect("answered"));
        assert_eq!((token(&a), spec(&world)["leaseTransitions"].as_i64()), (Some(1), Some(1)));
    })
    .expect("a runtime");
}

#[test]
fn given_up_it_is_taken_at_once_and_the_number_rises() {
    simulate(async {
        let world = world();
        let (a, b) = (candidate(&world, "a"), candidate(&world, "b"));
        for number in 0..3 {
            let (from, to) = if number % 2 == 0 { (&a, &b) } else { (&b, &a) };
            assert!(from.attempt(&mut None).await.expect("answered"));
            assert_eq!(token(from), Some(number));
            from.release().await;
            assert_eq!(token(from), None);
            assert!(to.attempt(&mut None).await.expect("answered"));
            assert_eq!(token(to), Some(number + 1));
        }
    })
    .expect("a runtime");
}

/// The same name without its memory is another process: what the former one still has under way carries an older number.
#[test]
fn the_same_name_started_anew() {
    simulate(async {
        let world = world();
        assert!(candidate(&world, "a").attempt(&mut None).await.expect("answered"));
        let again = candidate(&world, "a");
        assert!(again.attempt(&mut None).await.expect("answered"));
        assert_eq!(token(&again), Some(1));
    })
    .expect("a runtime");
}
