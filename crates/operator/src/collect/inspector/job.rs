//! The inspector's Job, as an object. *No client.* (P1, P10)
//!
//! It reads and nothing else: the volume is mounted read-only at its source, so that no owner of a file is changed either; no
//! token, no capability, no privilege, a root file system that cannot be written. It runs as the node's own user, for whom
//! the files are readable, on the node's own machine, where a volume of one machine can be mounted twice. The scheduler puts
//! it there by affinity: a `nodeName` would pass quotas and taints by.

use std::collections::BTreeMap;

use api::Recovery;
use jiff::SignedDuration;
use k8s_openapi::{
    api::{
        batch::v1::{Job, JobSpec},
        core::v1::{
            Affinity, Capabilities, Container, LocalObjectReference, NodeAffinity, NodeSelector,
            NodeSelectorRequirement, NodeSelectorTerm, PersistentVolumeClaimVolumeSource, Pod, PodSecurityContext,
            PodSpec, PodTemplateSpec, ResourceRequirements, SeccompProfile, SecurityContext, Volume, VolumeMount,
        },
    },
    apimachinery::pkg::{api::resource::Quantity, apis::meta::v1::OwnerReference},
};
use kube::{Resource, ResourceExt, api::ObjectMeta};

use super::place::{CannotInspect, find};
use crate::{Settings, recover::OWNED};

/// What is asked of an inspector.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct InspectRequest<'r> {
    /// For whom.
    pub(crate) recovery: &'r Recovery,
    /// The Job's name.
    pub(crate) name: String,
    /// The claim to be mounted: the replica's, or a copy of it.
    pub(crate) claim: String,
    /// Whether the copy may be read anywhere, or the claim on the replica's own machine only.
    pub(crate) on: Machine,
    /// How deep.
    pub(crate) depth: AskedDepth,
    /// UIDs of the pods whose starts count in the guard's ring.
    pub(crate) pods: Vec<String>,
    /// Bytes a second at most.
    pub(crate) max_read_rate: Option<String>,
    /// When it must have ended.
    pub(crate) deadline: SignedDuration,
}

/// Where it runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Machine {
    /// Where the replica is.
    OfTheReplica,
    /// Wherever the copy can be mounted.
    Any,
}

/// How deep it looks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum AskedDepth {
    /// Every checksum.
    AllChecks,
    /// The hashes of the application's trees too.
    Deep,
}

/// Where the volume is mounted.
const MOUNT: &str = "/volume";
/// An ended Job is taken away by us; this is for the case that nobody is there any more.
const LEFT_FOR_SECONDS: i32 = 86_400;

/// Builds it.
pub(crate) fn inspector_job(
    pod: &Pod,
    request: &InspectRequest<'_>,
    settings: &Settings,
) -> Result<Job, CannotInspect> {
    let place = find(pod)?;
    let metadata = our_metadata(request.recovery, &request.name);
    let labels = metadata.labels.clone();
    let own = pod.spec.clone().unwrap_or_default();
    let node = own.containers.iter().find(|container| container.name == place.container);
    let mut directory = MOUNT.to_owned();
    if !place.directory.is_empty() {
        directory = format!("{MOUNT}/{}", place.directory);
    }
    let affinity = match request.on {
        Machine::OfTheReplica => Some(on_machine(&place.node.ok_or(CannotInspect::NoNode)?)),
        Machine::Any => None,
    };
    let spec = PodSpec {
        affinity,
        tolerations: own.tolerations.clone(),
        restart_policy: Some("Never".to_owned()),
        service_account_name: settings.inspector.service_account.clone(),
        automount_service_account_token: Some(false),
        enable_service_links: Some(false),
        image_pull_secrets: Some(
            settings.inspector.pull_secrets.iter().map(|name| LocalObjectReference { name: name.clone() }).collect(),
        ),
        security_context: Some(as_the_node(own.security_context.as_ref(), node)),
        containers: vec![Container {
            name: "inspector".to_owned(),
            image: Some(settings.inspector.image.clone()),
            command: Some(command(&directory, request)),
            security_context: Some(bound_hand_and_foot()),
            resources: Some(ResourceRequirements {
                requests: Some(BTreeMap::from([
                    ("memory".to_owned(), Quantity(settings.inspector.memory_request.clone())),
                    ("cpu".to_owned(), Quantity("100m".to_owned())),
                ])),
                ..ResourceRequirements::default()
            }),
            termination_message_policy: Some("FallbackToLogsOnError".to_owned()),
            volume_mounts: Some(vec![VolumeMount {
                name: "volume".to_owned(),
                mount_path: MOUNT.to_owned(),
                read_only: Some(true),
                ..VolumeMount::default()
            }]),
            ..Container::default()
        }],
        volumes: Some(vec![Volume {
            name: "volume".to_owned(),
            persistent_volume_claim: Some(PersistentVolumeClaimVolumeSource {
                claim_name: request.claim.clone(),
                read_only: Some(true),
            }),
            ..Volume::default()
        }]),
        ..PodSpec::default()
    };
    Ok(Job {
        metadata,
        spec: Some(JobSpec {
            backoff_limit: Some(0),
            active_deadline_seconds: Some(request.deadline.as_secs().max(1)),
            ttl_seconds_after_finished: Some(LEFT_FOR_SECONDS),
            template: PodTemplateSpec {
                metadata: Some(ObjectMeta { labels, ..ObjectMeta::default() }),
                spec: Some(spec),
            },
            ..JobSpec::default()
        }),
        status: None,
    })
}

/// Ours by label, and the Recovery's by its owner reference.
pub(crate) fn our_metadata(recovery: &Recovery, name: &str) -> ObjectMeta {
    let labels = BTreeMap::from([
        (OWNED.0.to_owned(), OWNED.1.to_owned()),
        ("loopbreaker.dev/recovery".to_owned(), label(&recovery.name_any())),
    ]);
    let owner: Option<OwnerReference> = recovery.controller_owner_ref(&());
    ObjectMeta {
        name: Some(name.to_owned()),
        namespace: recovery.namespace(),
        labels: Some(labels),
        owner_references: Some(owner.into_iter().collect()),
        ..ObjectMeta::default()
    }
}

/// What a label may hold of a name.
fn label(name: &str) -> String {
    const LENGTH_MAX: usize = 63;
    let cut: String = name.chars().take(LENGTH_MAX).collect();
    cut.trim_end_matches(|c: char| !c.is_ascii_alphanumeric()).to_owned()
}

fn command(directory: &str, request: &InspectRequest<'_>) -> Vec<String> {
    let mut words = vec!["loopbreaker", "inspect", directory, "--output", "json"];
    if request.depth == AskedDepth::Deep {
        words.push("--deep");
    }
    if let Some(rate) = &request.max_read_rate {
        words.extend(["--max-read-rate", rate]);
    }
    for uid in &request.pods {
        words.extend(["--pod-uid", uid]);
    }
    words.into_iter().map(str::to_owned).collect()
}

fn on_machine(node: &str) -> Affinity {
    let term = NodeSelectorTerm {
        match_fields: None,
        match_expressions: Some(vec![NodeSelectorRequirement {
            key: "kubernetes.io/hostname".to_owned(),
            operator: "In".to_owned(),
            values: Some(vec![node.to_owned()]),
        }]),
    };
    Affinity {
        node_affinity: Some(NodeAffinity {
            required_during_scheduling_ignored_during_execution: Some(NodeSelector { node_selector_terms: vec![term] }),
            preferred_during_scheduling_ignored_during_execution: None,
        }),
        ..Affinity::default()
    }
}

/// The node's user, group and options of `SELinux`. Its `fsGroup` is taken as a supplemental group: as `fsGroup` the kubelet would
/// walk the volume and give every file to it.
fn as_the_node(pod: Option<&PodSecurityContext>, node: Option<&Container>) -> PodSecurityContext {
    let pod = pod.cloned().unwrap_or_default();
    let own = node.and_then(|node| node.security_context.clone()).unwrap_or_default();
    let mut groups = pod.supplemental_groups.clone().unwrap_or_default();
    groups.extend(pod.fs_group.filter(|group| !groups.contains(group)));
    let user = own.run_as_user.or(pod.run_as_user);
    PodSecurityContext {
        run_as_user: user,
        // A namespace of the `restricted` standard asks that it be said.
        run_as_non_root: user.filter(|user| *user != 0).map(|_| true),
        run_as_group: own.run_as_group.or(pod.run_as_group),
        se_linux_options: own.se_linux_options.or(pod.se_linux_options),
        supplemental_groups: (!groups.is_empty()).then_some(groups),
        seccomp_profile: Some(SeccompProfile { type_: "RuntimeDefault".to_owned(), localhost_profile: None }),
        ..PodSecurityContext::default()
    }
}

fn bound_hand_and_foot() -> SecurityContext {
    SecurityContext {
        allow_privilege_escalation: Some(false),
        privileged: Some(false),
        read_only_root_filesystem: Some(true),
        capabilities: Some(Capabilities { add: None, drop: Some(vec!["ALL".to_owned()]) }),
        ..SecurityContext::default()
    }
}

#[cfg(test)]
mod tests;
