//! Watches: order, selectors, bookmarks, the end of time, 410 and the list that follows it.

use futures::{StreamExt, TryStreamExt};
use k8s_openapi::api::core::v1::ConfigMap;
use kube::{
    Api,
    api::{WatchEvent, WatchParams},
    runtime::watcher,
};
use serde_json::json;
use simcluster::{Call, HUMAN, Requests, Verb, WatchFault, World};

use crate::{secs, story};

fn create(world: &World, name: &str, role: &str) {
    let map = json!({"metadata": {"namespace": "default", "name": name, "labels": {"role": role}}});
    world.request(HUMAN, &Call::create("configmaps", map)).expect("made");
}

fn edit(world: &World, name: &str, role: &str) {
    world.edit("configmaps", "default", name, json!({"metadata": {"labels": {"role": role}}})).expect("edited");
}

fn maps(world: &World) -> Api<ConfigMap> {
    Api::namespaced(world.plain_client_of("tester"), "default")
}

fn shown(event: &WatchEvent<ConfigMap>) -> String {
    let name = |map: &ConfigMap| map.metadata.name.clone().unwrap_or_default();
    match event {
        WatchEvent::Added(map) => format!("added {}", name(map)),
        WatchEvent::Modified(map) => format!("modified {}", name(map)),
        WatchEvent::Deleted(map) => format!("deleted {}", name(map)),
        WatchEvent::Bookmark(_) => "bookmark".to_owned(),
        WatchEvent::Error(status) => format!("error {}", status.code),
    }
}

/// What a watch tells within some time.
async fn told(world: &World, parameters: &WatchParams, from: &str, seconds: u64) -> Vec<String> {
    let stream = maps(world).watch(parameters, from).await.expect("a watch");
    let mut told = Vec::new();
    let reading = stream.try_for_each(|event| {
        told.push(shown(&event));
        async { Ok(()) }
    });
    drop(tokio::time::timeout(secs(seconds), reading).await);
    told
}

#[test]
fn changes_come_in_order_and_selectors_turn_them_into_coming_and_going() {
    story(async {
        let world = World::new(1);
        create(&world, "a", "x");
        let from = maps(&world)
            .list(&kube::api::ListParams::default())
            .await
            .expect("a list")
            .metadata
            .resource_version
            .expect("a version");
        world.after(secs(1), |world| create(world, "b", "y"));
        world.after(secs(2), |world| edit(world, "b", "x"));
        world.after(secs(3), |world| edit(world, "a", "y"));
        world.after(secs(4), |world| drop(world.delete("configmaps", "default", "b")));
        let parameters = WatchParams::default().labels("role=x").disable_bookmarks();
        assert_eq!(told(&world, &parameters, &from, 10).await, ["added b", "deleted a", "deleted b"]);
        let everything = told(&world, &WatchParams::default().disable_bookmarks(), &from, 10).await;
        assert_eq!(
            everything,
            ["added b", "modified b", "modified a", "deleted b"],
            "history is told again from a version"
        );
    });
}

#[test]
fn a_watch_from_nowhere_begins_with_what_is_there() {
    story(async {
        let world = World::new(1);
        create(&world, "a", "x");
        assert_eq!(told(&world, &WatchParams::default().disable_bookmarks(), "0", 5).await, ["added a"]);
    });
}

#[test]
fn bookmarks_tell_the_version_each_minute_and_the_watch_ends_in_time() {
    story(async {
        let world = World::new(1);
        let begin = world.now();
        let told = told(&world, &WatchParams::default().timeout(150), "0", 1_000).await;
        assert_eq!(told, ["bookmark", "bookmark"]);
        let lasted = world.now().duration_since(begin).as_secs();
        assert!((150..=151).contains(&lasted), "{lasted} s");
    });
}

#[test]
fn a_forgotten_version_is_410_in_the_stream() {
    story(async {
        let world = World::new(1);
        let from = maps(&world)
            .list(&kube::api::ListParams::default())
            .await
            .expect("a list")
            .metadata
            .resource_version
            .expect("a version");
        create(&world, "a", "x");
        world.compact();
        assert_eq!(told(&world, &WatchParams::default(), &from, 5).await, ["error 410"]);
    });
}

#[test]
fn kubes_watcher_lists_again_after_410() {
    story(async {
        let world = World::new(1);
        create(&world, "a", "x");
        world.fail_watches(Requests::all().of("tester").verb(Verb::Watch), WatchFault::Disconnect(secs(5)), 1);
        world.after(secs(20), |world| create(world, "b", "x"));
        let mut events = watcher(maps(&world), watcher::Config::default()).boxed();
        let mut seen = Vec::new();
        while let Ok(Some(event)) = tokio::time::timeout(secs(60), events.next()).await {
            match event {
                Ok(watcher::Event::Init) => seen.push("list".to_owned()),
                Ok(watcher::Event::InitApply(map)) => {
                    seen.push(format!("has {}", map.metadata.name.unwrap_or_default()));
                }
                Ok(watcher::Event::InitDone) => {}
                Ok(watcher::Event::Apply(map)) => {
                    seen.push(format!("applied {}", map.metadata.name.unwrap_or_default()));
                }
                Ok(watcher::Event::Delete(_)) => seen.push("deleted".to_owned()),
                Err(_) => seen.push("error".to_owned()),
            }
        }
        assert_eq!(seen, ["list", "has a", "error", "list", "has a", "applied b"]);
    });
}

#[test]
fn faults_delay_coalesce_and_double_what_a_watch_tells() {
    let changed = |world: &World| {
        for (after, role) in [(1, "x"), (2, "y"), (3, "z")] {
            world.after(
                secs(after),
                move |world| if after == 1 { create(world, "b", role) } else { edit(world, "b", role) },
            );
        }
    };
    let told_with = |fault: Option<WatchFault>, seconds: u64| {
        story(async {
            let world = World::new(1);
            if let Some(fault) = fault {
                world.fail_watches(Requests::all().verb(Verb::Watch), fault, 1);
            }
            let from = maps(&world)
                .list(&kube::api::ListParams::default())
                .await
                .expect("a list")
                .metadata
                .resource_version
                .expect("a version");
            changed(&world);
            told(&world, &WatchParams::default().disable_bookmarks(), &from, seconds).await
        })
    };
    assert_eq!(told_with(None, 9), ["added b", "modified b", "modified b"]);
    assert_eq!(told_with(Some(WatchFault::Delay(secs(30))), 9), Vec::<String>::new());
    assert_eq!(told_with(Some(WatchFault::Delay(secs(30))), 60), ["added b", "modified b", "modified b"]);
    assert_eq!(told_with(Some(WatchFault::Coalesce(secs(30))), 60), ["added b"], "only the newest state by then");
    let doubled = ["added b", "added b", "modified b", "modified b", "modified b", "modified b"];
    assert_eq!(told_with(Some(WatchFault::Duplicate), 9), doubled);
}
