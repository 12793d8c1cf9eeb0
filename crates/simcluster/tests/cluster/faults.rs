//! Faults: what the client sees, what was done, and what the trace says of it.

use futures::{StreamExt, TryStreamExt};
use k8s_openapi::api::core::v1::ConfigMap;
use kube::{
    Api, Error,
    api::{ListParams, PostParams},
};
use serde_json::json;
use simcluster::{Fault, Requests, Seen, Verb, World};
use std::sync::{Arc, Mutex};

use crate::{secs, story};

const TESTER: &str = "tester";

fn maps(world: &World) -> Api<ConfigMap> {
    Api::namespaced(world.plain_client_of(TESTER), "default")
}

fn map(name: &str) -> ConfigMap {
    serde_json::from_value(json!({"metadata": {"name": name}})).expect("a map")
}

fn code(error: &Error) -> u16 {
    match error {
        Error::Api(status) => status.code,
        other => panic!("no status: {other}"),
    }
}

#[test]
fn an_answer_of_a_fault_says_nothing_about_the_effect() {
    for (fault, answer, made) in [
        (Fault::Conflict, 409, false),
        (Fault::NotFound, 404, false),
        (Fault::TooManyRequests(1), 429, false),
        (Fault::Internal, 500, false),
        (Fault::TimeoutBefore, 504, false),
        (Fault::TimeoutAfter, 504, true),
    ] {
        story(async {
            let world = World::new(1);
            world.fail(Requests::all().of(TESTER).nth(0), fault, 1);
            let error = maps(&world).create(&PostParams::default(), &map("a")).await.expect_err("a fault");
            assert_eq!((code(&error), world.get("configmaps", "default", "a").is_some()), (answer, made), "{fault:?}");
            let trace = world.trace();
            let entry = trace.iter().find(|entry| entry.user == TESTER).expect("traced");
            assert_eq!((entry.fault, entry.code, entry.has_written()), (Some(fault.name()), answer, made));
        });
    }
}

#[test]
fn the_retries_of_production_get_over_a_short_fault_and_meet_their_own_effect() {
    story(async {
        let world = World::new(1);
        let maps: Api<ConfigMap> = Api::namespaced(world.client_of(TESTER), "default");
        world.fail(Requests::all().of(TESTER).verb(Verb::Create), Fault::TooManyRequests(1), 2);
        maps.create(&PostParams::default(), &map("a")).await.expect("at the third try");
        world.fail(Requests::all().of(TESTER).verb(Verb::Create), Fault::TimeoutAfter, 1);
        let error = maps.create(&PostParams::default(), &map("b")).await.expect_err("it is there already");
        assert_eq!(code(&error), 409);
    });
}

#[test]
fn a_crash_comes_before_or_after_the_effect() {
    for (fault, made) in [(Fault::CrashBefore, false), (Fault::CrashAfter, true)] {
        story(async {
            let world = World::new(1);
            world.fail(Requests::all().of(TESTER).to("configmaps"), fault, 1);
            let maps = maps(&world);
            let ended = world.run_as(TESTER, secs(60), maps.create(&PostParams::default(), &map("a"))).await;
            assert!(matches!(ended, simcluster::Ended::Crashed), "{ended:?}");
            assert_eq!(world.get("configmaps", "default", "a").is_some(), made);
            assert!(maps.create(&PostParams::default(), &map("b")).await.is_ok(), "the next life");
        });
    }
}

#[test]
fn a_doubled_request_is_done_twice_and_answered_once() {
    story(async {
        let world = World::new(1);
        world.fail(Requests::all().of(TESTER).verb(Verb::Create), Fault::Doubled, 1);
        let unnamed: ConfigMap = serde_json::from_value(json!({"metadata": {"generateName": "x-"}})).expect("a map");
        maps(&world).create(&PostParams::default(), &unnamed).await.expect("the first");
        assert_eq!(world.list("configmaps", "default").len(), 2);
    });
}

#[test]
fn a_late_write_arrives_after_its_sender_is_gone() {
    story(async {
        let world = World::new(1);
        world.fail(Requests::all().of(TESTER).verb(Verb::Create), Fault::Late(secs(40)), 1);
        let maps = maps(&world);
        let ended = world.run_as(TESTER, secs(10), maps.create(&PostParams::default(), &map("a"))).await;
        assert!(matches!(ended, simcluster::Ended::OutOfTime));
        assert!(world.get("configmaps", "default", "a").is_none());
        world.run_for(secs(60)).await;
        assert!(world.get("configmaps", "default", "a").is_some());
    });
}

#[test]
fn a_stale_list_shows_the_past_and_a_get_does_not() {
    story(async {
        let world = World::new(1);
        let maps = maps(&world);
        maps.create(&PostParams::default(), &map("a")).await.expect("made");
        world.run_for(secs(60)).await;
        maps.create(&PostParams::default(), &map("b")).await.expect("made");
        world.run_for(secs(5)).await;
        world.fail(Requests::all().of(TESTER).verb(Verb::List), Fault::Stale(secs(30)), 1);
        let stale = maps.list(&ListParams::default()).await.expect("a list");
        assert_eq!(stale.items.len(), 1);
        assert!(maps.get("b").await.is_ok());
        assert_eq!(maps.list(&ListParams::default()).await.expect("a list").items.len(), 2);
    });
}

#[test]
fn observers_see_every_request_and_every_event_with_the_store_behind_them() {
    story(async {
        let world = World::new(1);
        let seen = Arc::new(Mutex::new(Vec::new()));
        let notes = Arc::clone(&seen);
        world.observe(Box::new(move |what, view| {
            let there = view.get("configmaps", "default", "a").is_some();
            let note = match what {
                Seen::Request(entry, ..) if entry.user == TESTER => format!("{} {} {there}", entry.verb, entry.code),
                Seen::Event(event) if &*event.key.resource == "configmaps" => format!("{:?} {there}", event.change),
                _ => return,
            };
            notes.lock().expect("no panic").push(note);
        }));
        let maps = maps(&world);
        maps.create(&PostParams::default(), &map("a")).await.expect("made");
        maps.get("a").await.expect("there");
        assert!(maps.create(&PostParams::default(), &map("a")).await.is_err());
        assert_eq!(
            *seen.lock().expect("no panic"),
            ["create 201 true", "Added true", "get 200 true", "create 409 true"]
        );
        assert_eq!(world.writes_of(TESTER).len(), 2);
    });
}

#[test]
fn an_api_server_that_is_away_refuses_connections_and_breaks_watches_while_the_cluster_goes_on() {
    story(async {
        let world = World::new(1);
        let maps = maps(&world);
        maps.create(&PostParams::default(), &map("a")).await.expect("made");
        let mut watch = maps.watch(&kube::api::WatchParams::default(), "0").await.expect("a watch").boxed();
        assert!(watch.try_next().await.expect("an event").is_some());
        world.cut_off_api_server(secs(3_600));
        assert!(watch.try_next().await.expect("no error").is_none(), "the connection has ended");
        let refused = maps.get("a").await.expect_err("nobody answers");
        assert!(matches!(refused, Error::Service(_)), "{refused:?}");
        world.run_for(secs(3_600)).await;
        assert!(maps.get("a").await.is_ok());
    });
}
