//! Create, read, replace, patch, delete: names, versions, UIDs, generations, finalizers, owners.

use k8s_openapi::api::core::v1::{ConfigMap, Namespace};
use kube::{
    Api, Error,
    api::{DeleteParams, Patch, PatchParams, PostParams, Preconditions, PropagationPolicy},
    core::DynamicObject,
    discovery::ApiResource,
};
use serde_json::{Value, json};
use simcluster::{Call, HUMAN, World};

use crate::{secs, story};

fn refusal(error: Error) -> (u16, String, String) {
    match error {
        Error::Api(status) => (status.code, status.reason, status.message),
        other => panic!("not a status: {other}"),
    }
}

fn map(name: &str, data: &Value) -> ConfigMap {
    serde_json::from_value(json!({"metadata": {"name": name}, "data": data})).expect("a config map")
}

fn maps(world: &World) -> Api<ConfigMap> {
    Api::namespaced(world.plain_client_of("tester"), "default")
}

#[test]
fn a_new_object_has_identity_and_its_name_is_taken() {
    story(async {
        let maps = maps(&World::new(1));
        let made = maps.create(&PostParams::default(), &map("a", &json!({"k": "v"}))).await.expect("made");
        assert!(made.metadata.uid.is_some() && made.metadata.resource_version.is_some());
        assert_eq!(
            made.metadata.creation_timestamp.map(|time| time.0.to_string()).as_deref(),
            Some("2026-12-01T00:00:00Z")
        );
        let again = maps.create(&PostParams::default(), &map("a", &json!({}))).await.expect_err("taken");
        assert_eq!(refusal(again), (409, "AlreadyExists".to_owned(), "configmaps \"a\" already exists".to_owned()));
        let missing = maps.get("b").await.expect_err("missing");
        assert_eq!(refusal(missing), (404, "NotFound".to_owned(), "configmaps \"b\" not found".to_owned()));
    });
}

#[test]
fn names_are_generated_and_a_rehearsal_keeps_nothing() {
    story(async {
        let maps = maps(&World::new(1));
        let unnamed: ConfigMap = serde_json::from_value(json!({"metadata": {"generateName": "x-"}})).expect("a map");
        let (one, two) = (
            maps.create(&PostParams::default(), &unnamed).await.expect("one").metadata.name.expect("a name"),
            maps.create(&PostParams::default(), &unnamed).await.expect("two").metadata.name.expect("a name"),
        );
        assert!(one.starts_with("x-") && one.len() == 7 && one != two, "{one} {two}");
        let rehearsal = PostParams { dry_run: true, ..PostParams::default() };
        maps.create(&rehearsal, &map("dry", &json!({}))).await.expect("a rehearsal");
        assert!(maps.get_opt("dry").await.expect("an answer").is_none());
    });
}

#[test]
fn a_namespace_must_be_there() {
    story(async {
        let world = World::new(1);
        let maps: Api<ConfigMap> = Api::namespaced(world.plain_client_of("tester"), "nowhere");
        let error = maps.create(&PostParams::default(), &map("a", &json!({}))).await.expect_err("no namespace");
        assert_eq!(refusal(error).2, "namespaces \"nowhere\" not found");
        let namespaces: Api<Namespace> = Api::all(world.plain_client_of("tester"));
        assert!(namespaces.get("default").await.is_ok());
    });
}

#[test]
fn a_stale_version_and_a_foreign_uid_are_conflicts() {
    story(async {
        let maps = maps(&World::new(1));
        let old = maps.create(&PostParams::default(), &map("a", &json!({"k": "1"}))).await.expect("made");
        let mut newer = old.clone();
        newer.data.get_or_insert_default().insert("k".to_owned(), "2".to_owned());
        let newer = maps.replace("a", &PostParams::default(), &newer).await.expect("replaced");
        assert_ne!(newer.metadata.resource_version, old.metadata.resource_version);
        let stale = maps.replace("a", &PostParams::default(), &old).await.expect_err("stale");
        let (code, reason, message) = refusal(stale);
        assert_eq!((code, reason.as_str()), (409, "Conflict"));
        assert!(message.contains("the object has been modified; please apply your changes to the latest version"));
        let mut foreign = newer.clone();
        foreign.metadata.uid = Some("00000000-0000-4000-8000-000000000000".to_owned());
        let error = refusal(maps.replace("a", &PostParams::default(), &foreign).await.expect_err("another object"));
        assert!(error.0 == 409 && error.2.contains("Precondition failed: UID"), "{error:?}");
        let same = maps.replace("a", &PostParams::default(), &newer).await.expect("nothing to change");
        assert_eq!(same.metadata.resource_version, newer.metadata.resource_version, "no write, no version");
    });
}

#[test]
fn patches_merge_test_and_refuse() {
    story(async {
        let world = World::new(1);
        let maps = maps(&world);
        let made = maps.create(&PostParams::default(), &map("a", &json!({"k": "1", "l": "1"}))).await.expect("made");
        let parameters = PatchParams::default();
        let merged =
            maps.patch("a", &parameters, &Patch::Merge(json!({"data": {"k": null, "m": "1"}}))).await.expect("merged");
        assert_eq!(
            merged.data.map(|data| data.into_keys().collect::<Vec<_>>()),
            Some(vec!["l".to_owned(), "m".to_owned()])
        );
        let stale = json!({"metadata": {"resourceVersion": made.metadata.resource_version}, "data": {"k": "3"}});
        assert_eq!(refusal(maps.patch("a", &parameters, &Patch::Merge(stale)).await.expect_err("stale")).0, 409);
        let tested: json_patch::Patch = serde_json::from_value(json!([
            {"op": "test", "path": "/data/l", "value": "9"}, {"op": "replace", "path": "/data/l", "value": "2"},
        ]))
        .expect("a patch");
        let failed = maps.patch("a", &parameters, &Patch::Json::<()>(tested)).await.expect_err("the test fails");
        assert_eq!(refusal(failed).0, 422);
        let strategic = Patch::Strategic(json!({"metadata": {"finalizers": ["x/y"]}}));
        let held = maps.patch("a", &parameters, &strategic).await.expect("a built-in kind takes it");
        assert_eq!(held.metadata.finalizers, Some(vec!["x/y".to_owned()]));
        let custom = ApiResource::erase::<api::RecoveryPolicy>(&());
        let policies: Api<DynamicObject> = Api::namespaced_with(world.plain_client_of("tester"), "default", &custom);
        let policy = json!({"apiVersion": "loopbreaker.dev/v1alpha1", "kind": "RecoveryPolicy", "metadata": {"name": "p"}, "spec": {"targets": [{"kind": "StatefulSet", "name": "x"}]}});
        policies
            .create(&PostParams::default(), &serde_json::from_value(policy).expect("a policy"))
            .await
            .expect("made");
        let strategic = Patch::Strategic(json!({"spec": {"mode": "Auto"}}));
        assert_eq!(
            refusal(policies.patch("p", &parameters, &strategic).await.expect_err("custom kinds do not")).0,
            415
        );
    });
}

#[test]
fn our_own_kinds_have_visible_defaults_a_status_apart_and_generations() {
    story(async {
        let world = World::new(1);
        let policies: Api<api::RecoveryPolicy> = Api::namespaced(world.plain_client_of("tester"), "default");
        let minimal = json!({"apiVersion": "loopbreaker.dev/v1alpha1", "kind": "RecoveryPolicy", "metadata": {"name": "p", "namespace": "default"},
            "spec": {"targets": [{"kind": "StatefulSet", "name": "x"}], "unknown": 1}, "status": {"summary": "made up"}});
        world.request(HUMAN, &Call::create("recoverypolicies.loopbreaker.dev", minimal)).expect("made");
        let kept = world.get("recoverypolicies.loopbreaker.dev", "default", "p").expect("kept");
        assert_eq!(
            (&kept["spec"]["mode"], &kept["spec"]["unknown"], &kept["status"]),
            (&json!("Observe"), &Value::Null, &Value::Null)
        );
        let status = Patch::Merge(json!({"status": {"summary": "watching"}, "spec": {"mode": "Auto"}}));
        let after = policies.patch_status("p", &PatchParams::default(), &status).await.expect("the status");
        assert_eq!(after.status.and_then(|status| status.summary).as_deref(), Some("watching"));
        assert_eq!((after.spec.mode, after.metadata.generation), (api::Mode::Observe, Some(1)));
        let spec = Patch::Merge(json!({"spec": {"mode": "Auto"}, "status": {"summary": "overwritten"}}));
        let after = policies.patch("p", &PatchParams::default(), &spec).await.expect("the spec");
        assert_eq!(after.status.and_then(|status| status.summary).as_deref(), Some("watching"));
        assert_eq!(after.metadata.generation, Some(2));
        let wrong = Patch::Merge(json!({"spec": {"mode": "Sometimes"}}));
        let (code, _, message) =
            refusal(policies.patch("p", &PatchParams::default(), &wrong).await.expect_err("no such mode"));
        assert!(code == 422 && message.contains("spec.mode"), "{message}");
    });
}

#[test]
fn a_kind_is_served_as_long_as_it_is_defined() {
    story(async {
        let world = World::new(1);
        let policies: Api<api::RecoveryPolicy> = Api::namespaced(world.plain_client_of("tester"), "default");
        assert!(policies.list(&kube::api::ListParams::default()).await.is_ok());
        world
            .delete("customresourcedefinitions.apiextensions.k8s.io", "", "recoverypolicies.loopbreaker.dev")
            .expect("deleted");
        let (code, reason, message) = refusal(policies.get("p").await.expect_err("no such kind"));
        // As the real one: plain text, of which the client makes an error of its own.
        assert_eq!((code, reason.as_str()), (404, "Failed to parse error data"));
        assert!(message.contains("404 page not found"), "{message}");
    });
}

#[test]
fn a_delete_keeps_its_preconditions() {
    story(async {
        let maps = maps(&World::new(1));
        let old = maps.create(&PostParams::default(), &map("a", &json!({"k": "1"}))).await.expect("made");
        let only = |uid: Option<String>, version: Option<String>| {
            DeleteParams::default().preconditions(Preconditions { uid, resource_version: version })
        };
        maps.delete("a", &DeleteParams::default()).await.expect("deleted");
        let new = maps.create(&PostParams::default(), &map("a", &json!({"k": "2"}))).await.expect("made again");
        let wrong = maps.delete("a", &only(old.metadata.uid.clone(), None)).await.expect_err("another object");
        let (code, reason, message) = refusal(wrong);
        assert_eq!((code, reason.as_str()), (409, "Conflict"));
        assert!(message.contains("the UID in the precondition"), "{message}");
        let stale = maps.delete("a", &only(None, old.metadata.resource_version)).await.expect_err("stale");
        assert_eq!(refusal(stale).0, 409);
        maps.delete("a", &only(new.metadata.uid, new.metadata.resource_version)).await.expect("this one");
        assert!(maps.get_opt("a").await.expect("an answer").is_none());
    });
}

#[test]
fn a_finalizer_keeps_an_object_until_it_is_taken_off() {
    story(async {
        let maps = maps(&World::new(1));
        let mut held = map("a", &json!({}));
        held.metadata.finalizers = Some(vec!["x/y".to_owned()]);
        maps.create(&PostParams::default(), &held).await.expect("made");
        let going = maps.delete("a", &DeleteParams::default()).await.expect("marked").left().expect("the object");
        assert!(going.metadata.deletion_timestamp.is_some());
        let taken = refusal(maps.create(&PostParams::default(), &held).await.expect_err("still there"));
        assert!(taken.2.contains("object is being deleted"), "{taken:?}");
        let more = Patch::Merge(json!({"metadata": {"finalizers": ["x/y", "new"]}}));
        assert_eq!(refusal(maps.patch("a", &PatchParams::default(), &more).await.expect_err("too late")).0, 422);
        let none = Patch::Merge(json!({"metadata": {"finalizers": null}}));
        maps.patch("a", &PatchParams::default(), &none).await.expect("freed");
        assert!(maps.get_opt("a").await.expect("an answer").is_none());
    });
}

#[test]
fn what_has_lost_its_owner_goes_and_a_namesake_of_the_owner_does_not_keep_it() {
    story(async {
        let world = World::new(1);
        let maps = maps(&world);
        let owner = maps.create(&PostParams::default(), &map("owner", &json!({}))).await.expect("made");
        let reference = json!([{"apiVersion": "v1", "kind": "ConfigMap", "name": "owner", "uid": owner.metadata.uid}]);
        let child = |name: &str| {
            serde_json::from_value::<ConfigMap>(json!({"metadata": {"name": name, "ownerReferences": reference}}))
                .expect("a map")
        };
        maps.create(&PostParams::default(), &child("child")).await.expect("made");
        world.run_for(secs(5)).await;
        assert!(maps.get_opt("child").await.expect("an answer").is_some());
        maps.delete("owner", &DeleteParams::default()).await.expect("deleted");
        maps.create(&PostParams::default(), &map("owner", &json!({}))).await.expect("a namesake");
        world.run_for(secs(5)).await;
        assert!(maps.get_opt("child").await.expect("an answer").is_none());
        let second = maps.get("owner").await.expect("the namesake");
        let reference = json!([{"apiVersion": "v1", "kind": "ConfigMap", "name": "owner", "uid": second.metadata.uid}]);
        let orphan: ConfigMap =
            serde_json::from_value(json!({"metadata": {"name": "orphan", "ownerReferences": reference}}))
                .expect("a map");
        maps.create(&PostParams::default(), &orphan).await.expect("made");
        let stays = DeleteParams { propagation_policy: Some(PropagationPolicy::Orphan), ..DeleteParams::default() };
        maps.delete("owner", &stays).await.expect("deleted");
        world.run_for(secs(5)).await;
        assert!(maps.get("orphan").await.expect("it stays").metadata.owner_references.unwrap_or_default().is_empty());
        assert!(maps.get_opt("owner").await.expect("an answer").is_none());
    });
}

#[test]
fn a_missing_right_is_refused_with_the_real_words_and_can_come_back() {
    story(async {
        let world = World::new(1);
        world.deny("system:serviceaccount:lb:lb", "get", "configmaps");
        let maps: Api<ConfigMap> = Api::namespaced(world.plain_client_of("system:serviceaccount:lb:lb"), "default");
        let (code, reason, message) = refusal(maps.get("a").await.expect_err("denied"));
        assert_eq!((code, reason.as_str()), (403, "Forbidden"));
        assert_eq!(
            message,
            "configmaps \"a\" is forbidden: User \"system:serviceaccount:lb:lb\" cannot get resource \"configmaps\" in API group \"\" in the namespace \"default\""
        );
        world.permit("system:serviceaccount:lb:lb", "get", "configmaps");
        assert_eq!(refusal(maps.get("a").await.expect_err("only missing")).0, 404);
    });
}

#[test]
fn discovery_tells_version_groups_and_kinds() {
    story(async {
        let client = World::new(1).plain_client_of("tester");
        assert_eq!(client.apiserver_version().await.expect("a version").git_version, "v1.34.4");
        let groups = client.list_api_groups().await.expect("groups");
        assert!(groups.groups.iter().any(|group| group.name == "loopbreaker.dev"));
        let kinds = client.list_api_group_resources("loopbreaker.dev/v1alpha1").await.expect("kinds");
        assert!(kinds.resources.iter().any(|kind| kind.name == "recoveries/status"));
        let core = client.list_core_api_resources("v1").await.expect("core kinds");
        assert!(core.resources.iter().any(|kind| kind.name == "pods/log"));
    });
}
