//! A hold by admission: rules in the API server whose parameters are objects, one for each hold.

use std::time::Duration;

use anyhow::{Result, bail, ensure};
use k8s_openapi::api::core::v1::{ConfigMap, Pod};
use kube::{
    Api,
    api::{DeleteParams, DynamicObject, PostParams},
    core::{ApiResource, GroupVersionKind},
};
use serde_json::{Value, json};

use super::{
    ground::{Ground, SOON},
    pods::shell,
};

/// Where a hold's parameters are kept.
#[derive(Clone, Copy)]
pub(super) enum Parameters {
    /// In objects of a kind that a definition adds.
    Custom,
    /// In config maps.
    Maps,
}

impl Parameters {
    /// The kind that the rule reads.
    fn kind(self, ground: &Ground) -> Value {
        match self {
            Self::Custom => json!({"apiVersion": format!("{}/v1", group(ground)), "kind": "Hold"}),
            Self::Maps => json!({"apiVersion": "v1", "kind": "ConfigMap"}),
        }
    }
}

/// A group of kinds of this check's own.
fn group(ground: &Ground) -> String {
    format!("{}.example", ground.name())
}

fn hold_kind(ground: &Ground) -> ApiResource {
    ApiResource::from_gvk_with_plural(&GroupVersionKind::gvk(&group(ground), "v1", "Hold"), "holds")
}

/// A rule and its binding; both are removed at the end.
pub(super) struct Rule {
    pub(super) policy: DynamicObject,
    pub(super) binding: DynamicObject,
}

impl Ground {
    fn hold_objects(&self) -> Api<DynamicObject> {
        Api::namespaced_with(self.bed.client.clone(), self.name(), &hold_kind(self))
    }

    /// Adds the kind of holds and waits until it is served.
    pub(super) async fn define_holds(&self) -> Result<()> {
        let fields = json!({
            "pod": {"type": "string"}, "claim": {"type": "string"}, "volumes": {"type": "array", "items": {"type": "string"}},
        });
        let spec = json!({"type": "object", "properties": {"spec": {"type": "object", "properties": fields}}});
        let definition = json!({
            "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
            "metadata": {"name": format!("holds.{}", group(self))},
            "spec": {
                "group": group(self), "scope": "Namespaced",
                "names": {"kind": "Hold", "plural": "holds", "singular": "hold"},
                "versions": [{"name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema": spec}}],
            },
        });
        self.make(definition).await?;
        self.bed
            .until("holds are served", SOON, async || {
                Ok(self.hold_objects().list(&kube::api::ListParams::default()).await.ok().map(drop))
            })
            .await
    }

    async fn rule(&self, suffix: &str, kind: Parameters, on: Value, check: Value) -> Result<Rule> {
        let name = format!("{}-{suffix}", self.name());
        let here = json!({"matchLabels": {"kubernetes.io/metadata.name": self.name()}});
        let policy = json!({
            "apiVersion": "admissionregistration.k8s.io/v1", "kind": "ValidatingAdmissionPolicy", "metadata": {"name": name},
            "spec": {
                "failurePolicy": "Fail", "paramKind": kind.kind(self),
                "matchConstraints": {"namespaceSelector": here, "resourceRules": [on]}, "validations": [check],
            },
        });
        let binding = json!({
            "apiVersion": "admissionregistration.k8s.io/v1", "kind": "ValidatingAdmissionPolicyBinding",
            "metadata": {"name": name},
            "spec": {
                "policyName": name, "validationActions": ["Deny"],
                "paramRef": {"selector": {}, "parameterNotFoundAction": "Allow"},
            },
        });
        Ok(Rule { policy: self.make(policy).await?, binding: self.make(binding).await? })
    }

    /// The rule that keeps a pod from being made.
    pub(super) async fn pod_rule(&self, kind: Parameters) -> Result<Rule> {
        let pods = json!({"apiGroups": [""], "apiVersions": ["v1"], "resources": ["pods"], "operations": ["CREATE"]});
        let expression = match kind {
            Parameters::Custom => "object.metadata.name != params.spec.pod",
            Parameters::Maps => {
                "!has(params.data) || !('pod' in params.data) || object.metadata.name != params.data.pod"
            }
        };
        let words = "'held by ' + params.metadata.name";
        let check = json!({"expression": expression, "messageExpression": words, "reason": "Forbidden"});
        self.rule("pods", kind, pods, check).await
    }

    /// The rule that keeps a claim from any volume that is not listed.
    pub(super) async fn claim_rule(&self) -> Result<Rule> {
        let operations = json!(["CREATE", "UPDATE"]);
        let claims = json!({
            "apiGroups": [""], "apiVersions": ["v1"], "resources": ["persistentvolumeclaims"], "operations": operations,
        });
        let expression = "object.metadata.name != params.spec.claim || !has(object.spec.volumeName) \
            || object.spec.volumeName in params.spec.volumes";
        let words = "'held by ' + params.metadata.name + ': only ' + params.spec.volumes.join(' or ')";
        let check = json!({"expression": expression, "messageExpression": words, "reason": "Forbidden"});
        self.rule("claims", Parameters::Custom, claims, check).await
    }

    /// Holds a pod and its claim.
    pub(super) async fn hold(&self, pod: &str, volumes: &[&str]) -> Result<()> {
        let hold = json!({
            "apiVersion": format!("{}/v1", group(self)), "kind": "Hold", "metadata": {"name": pod},
            "spec": {"pod": pod, "claim": format!("data-{pod}"), "volumes": volumes},
        });
        self.hold_objects().create(&PostParams::default(), &serde_json::from_value(hold)?).await?;
        Ok(())
    }

    pub(super) async fn release(&self, pod: &str) -> Result<()> {
        self.hold_objects().delete(pod, &DeleteParams::default()).await?;
        Ok(())
    }

    /// Holds a pod by a config map.
    pub(super) async fn hold_by_map(&self, pod: &str) -> Result<()> {
        let map: ConfigMap = serde_json::from_value(json!({"metadata": {"name": pod}, "data": {"pod": pod}}))?;
        self.bed.api().create(&PostParams::default(), &map).await?;
        Ok(())
    }

    /// A rehearsal of making a pod: what a hold says to it, if anything.
    pub(super) async fn probe(&self, pod: &str) -> Result<Option<String>> {
        let pod: Pod = serde_json::from_value(shell(pod, None, "true"))?;
        let rehearsal = PostParams { dry_run: true, ..PostParams::default() };
        match self.bed.api::<Pod>().create(&rehearsal, &pod).await {
            Err(kube::Error::Api(status)) if status.code == 403 && status.message.contains("held by") => {
                Ok(Some(status.message.clone()))
            }
            Err(kube::Error::Api(status)) if status.code == 409 => Ok(None),
            // The rule's kind is not known to admission yet: everything is refused, which is no hold.
            Err(kube::Error::Api(status)) if status.message.contains("failed to configure policy") => Ok(None),
            Err(other) => Err(other.into()),
            Ok(_) => Ok(None),
        }
    }

    /// Waits until a pod is held; how long it took.
    pub(super) async fn held(&self, pod: &str) -> Result<Duration> {
        let begun = tokio::time::Instant::now();
        while self.probe(pod).await?.is_none() {
            if begun.elapsed() > SOON {
                bail!("pod {pod} is not held after {} s", SOON.as_secs());
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        Ok(begun.elapsed())
    }

    /// Looks for a while whether a pod stays held.
    pub(super) async fn stays_held(&self, pod: &str, long: Duration) -> Result<()> {
        let begun = tokio::time::Instant::now();
        while begun.elapsed() < long {
            ensure!(self.probe(pod).await?.is_some(), "the hold of pod {pod} leaks after {:?}", begun.elapsed());
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        Ok(())
    }
}
