//! Lists: selectors, pages, versions.

use k8s_openapi::api::core::v1::ConfigMap;
use kube::{
    Api, Error,
    api::{ListParams, VersionMatch},
};
use serde_json::json;
use simcluster::{Call, HUMAN, Verb, World};

use crate::story;

fn fill(world: &World) {
    for (name, role) in [("a", "x"), ("b", "x"), ("c", "y"), ("d", "x"), ("e", "y")] {
        let map = json!({"metadata": {"namespace": "default", "name": name, "labels": {"role": role}}});
        world.request(HUMAN, &Call::create("configmaps", map)).expect("made");
    }
}

fn names(maps: Vec<ConfigMap>) -> Vec<String> {
    maps.into_iter().filter_map(|map| map.metadata.name).collect()
}

#[test]
fn selectors() {
    story(async {
        let world = World::new(1);
        fill(&world);
        let maps: Api<ConfigMap> = Api::namespaced(world.plain_client_of("tester"), "default");
        let by_label = maps.list(&ListParams::default().labels("role in (y)")).await.expect("a list");
        assert_eq!(names(by_label.items), ["c", "e"]);
        let by_field = maps.list(&ListParams::default().fields("metadata.name=d")).await.expect("a list");
        assert_eq!(names(by_field.items), ["d"]);
        let unknown = maps.list(&ListParams::default().fields("data.k=v")).await.expect_err("no such index");
        assert!(matches!(unknown, Error::Api(status) if status.code == 400));
    });
}

#[test]
fn pages_show_one_moment_even_while_the_store_moves_on() {
    story(async {
        let world = World::new(1);
        fill(&world);
        let maps: Api<ConfigMap> = Api::namespaced(world.plain_client_of("tester"), "default");
        let first = maps.list(&ListParams::default().limit(2)).await.expect("a page");
        assert_eq!(first.metadata.remaining_item_count, Some(3));
        let token = first.metadata.continue_.clone().expect("more to come");
        assert_eq!(names(first.items), ["a", "b"]);
        world.delete("configmaps", "default", "c").expect("deleted");
        let second = maps.list(&ListParams::default().limit(2).continue_token(&token)).await.expect("a page");
        assert_eq!(second.metadata.resource_version, first.metadata.resource_version);
        assert_eq!(names(second.items), ["c", "d"], "as it was when the first page was read");
        world.compact();
        let late = maps.list(&ListParams::default().limit(2).continue_token(&token)).await.expect_err("forgotten");
        assert!(matches!(late, Error::Api(status) if status.code == 410 && status.reason == "Expired"));
    });
}

#[test]
fn an_exact_version_is_shown_as_it_was_and_a_future_one_is_refused() {
    story(async {
        let world = World::new(1);
        fill(&world);
        let maps: Api<ConfigMap> = Api::namespaced(world.plain_client_of("tester"), "default");
        let now =
            maps.list(&ListParams::default()).await.expect("a list").metadata.resource_version.expect("a version");
        world.delete("configmaps", "default", "a").expect("deleted");
        let exact = ListParams::default().at(&now).matching(VersionMatch::Exact);
        assert_eq!(maps.list(&exact).await.expect("as it was").items.len(), 5);
        let future = ListParams::default().at("999999").matching(VersionMatch::NotOlderThan);
        assert!(matches!(maps.list(&future).await.expect_err("not yet"), Error::Api(status) if status.code == 504));
    });
}

#[test]
fn a_collection_can_be_deleted() {
    story(async {
        let world = World::new(1);
        fill(&world);
        let mut call = Call::new(Verb::DeleteCollection, "configmaps", "default", "");
        call.query.insert("labelSelector".to_owned(), "role=x".to_owned());
        world.request(HUMAN, &call).expect("deleted");
        assert_eq!(world.list("configmaps", "default").len(), 2);
    });
}
