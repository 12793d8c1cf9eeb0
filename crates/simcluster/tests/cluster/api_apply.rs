//! Server-side apply: ownership, conflicts, force, and what is left out.

use k8s_openapi::api::core::v1::ConfigMap;
use kube::{
    Api, Error,
    api::{Patch, PatchParams},
};
use serde_json::{Value, json};
use simcluster::World;

use crate::story;

fn config(data: &Value) -> Patch<Value> {
    Patch::Apply(json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}, "data": data}))
}

#[test]
fn two_managers_share_conflict_and_force() {
    story(async {
        let world = World::new(1);
        let maps: Api<ConfigMap> = Api::namespaced(world.plain_client_of("tester"), "default");
        let (one, two) = (PatchParams::apply("one"), PatchParams::apply("two"));
        let made = maps.patch("a", &one, &config(&json!({"k": "1", "l": "1"}))).await.expect("an apply makes it");
        assert_eq!(made.metadata.managed_fields.map(|fields| fields.len()), Some(1));
        maps.patch("a", &two, &config(&json!({"k": "1"}))).await.expect("the same value is shared");
        let error = maps.patch("a", &two, &config(&json!({"k": "2"}))).await.expect_err("a conflict");
        let Error::Api(status) = error else { panic!("{error}") };
        assert_eq!((status.code, status.reason.as_str()), (409, "Conflict"));
        assert!(status.message.contains("conflict with \"one\": .data.k"), "{}", status.message);
        let forced = maps.patch("a", &two.clone().force(), &config(&json!({"k": "2"}))).await.expect("forced");
        assert_eq!(forced.data.and_then(|data| data.get("k").cloned()).as_deref(), Some("2"));
        let left =
            maps.patch("a", &one, &config(&json!({"m": "1"}))).await.expect("one lets l go, k is no longer its own");
        assert_eq!(
            left.data.map(|data| data.into_iter().collect::<Vec<_>>()),
            Some(vec![("k".to_owned(), "2".to_owned()), ("m".to_owned(), "1".to_owned())])
        );
    });
}

#[test]
fn the_same_configuration_again_writes_nothing() {
    story(async {
        let maps: Api<ConfigMap> = Api::namespaced(World::new(1).plain_client_of("tester"), "default");
        let parameters = PatchParams::apply("one");
        let first = maps.patch("a", &parameters, &config(&json!({"k": "1"}))).await.expect("made");
        let again = maps.patch("a", &parameters, &config(&json!({"k": "1"}))).await.expect("the same");
        assert_eq!(first.metadata.resource_version, again.metadata.resource_version);
    });
}

#[test]
fn an_apply_of_the_status_leaves_the_spec_and_needs_the_object() {
    story(async {
        let world = World::new(1);
        let policies: Api<api::RecoveryPolicy> = Api::namespaced(world.plain_client_of("tester"), "default");
        let spec = json!({"apiVersion": "loopbreaker.dev/v1alpha1", "kind": "RecoveryPolicy", "metadata": {"name": "p"}, "spec": {"targets": [{"kind": "StatefulSet", "name": "x"}]}});
        let status = json!({"apiVersion": "loopbreaker.dev/v1alpha1", "kind": "RecoveryPolicy", "metadata": {"name": "p"}, "status": {"summary": "watching",
            "conditions": [{"type": "Accepted", "status": "True", "reason": "Fits", "message": "", "lastTransitionTime": "2026-12-01T00:00:00Z"}]}});
        let parameters = PatchParams::apply("loopbreaker").force();
        let missing = policies.patch_status("p", &parameters, &Patch::Apply(&status)).await.expect_err("no object yet");
        assert!(matches!(missing, Error::Api(status) if status.code == 404));
        policies.patch("p", &parameters, &Patch::Apply(&spec)).await.expect("made");
        let after = policies.patch_status("p", &parameters, &Patch::Apply(&status)).await.expect("the status");
        assert_eq!(after.spec.targets.len(), 1);
        assert_eq!(after.status.map(|status| status.conditions.len()), Some(1));
        let again = policies.patch_status("p", &parameters, &Patch::Apply(&status)).await.expect("the same");
        assert_eq!(again.metadata.resource_version, after.metadata.resource_version);
    });
}
