//! Subject, verdict, peers and origin, for scripts. *No client.* The fields are told in [`super`].

use diagnosis::{AppHashQuestion, Cause, InstanceName, Observation, Row, Siblings, Witness};
use serde::Serialize;

use crate::{incident::Incident, standing::KubernetesWord, words::clean};

#[derive(Serialize)]
pub(super) struct SubjectJson {
    namespace: Option<String>,
    name: Option<String>,
    pod_uid: Option<String>,
    container: Option<String>,
    owner: Option<OwnerJson>,
    claim: Option<String>,
    node: Option<String>,
    chain_id: Option<String>,
    image: Option<String>,
    image_id: Option<String>,
}

#[derive(Serialize)]
struct OwnerJson {
    kind: String,
    name: String,
    uid: String,
}

impl SubjectJson {
    pub(super) fn of(incident: &Incident) -> Self {
        let pod = incident.pod.as_ref();
        let node = pod.and_then(Observation::node_container);
        let part = |part: fn(&InstanceName) -> &str| {
            incident.instance.as_ref().map(part).filter(|name| !name.is_empty()).map(clean)
        };
        Self {
            namespace: part(|instance| &instance.namespace),
            name: part(|instance| &instance.name),
            pod_uid: pod.and_then(|pod| pod.uid.as_ref()).map(|uid| clean(uid.as_str())),
            container: node.map(|node| clean(node.name.as_str())),
            owner: pod.and_then(|pod| pod.owner.as_ref()).map(|owner| OwnerJson {
                kind: clean(&owner.kind),
                name: clean(&owner.name),
                uid: clean(owner.uid.as_str()),
            }),
            claim: pod.and_then(|pod| pod.data_claim.as_ref()).map(|claim| clean(claim.as_str())),
            node: pod.and_then(|pod| pod.node.as_ref()).map(|node| clean(node.as_str())),
            chain_id: incident.chain_id.clone(),
            image: node.map(|node| clean(&node.image)),
            image_id: node.and_then(|node| node.image_id.as_deref()).map(clean),
        }
    }
}

#[derive(Serialize)]
pub(super) struct VerdictJson<'a> {
    cause: Cause,
    probability: f64,
    decision: &'static str,
    /// The row of the judge's table that gave the decision, before vetoes.
    row: &'static str,
    reason: &'static str,
    /// Kubernetes' own word, where the cause comes from it and not from a log.
    kubernetes: Option<KubernetesJson>,
    other_cause: Option<Cause>,
    witnesses: Vec<&'static str>,
    vetoes: Vec<String>,
    /// Circumstances nobody looked at.
    unseen: &'a [&'static str],
    missing: Vec<MissingJson<'a>>,
}

#[derive(Serialize)]
struct KubernetesJson {
    container: String,
    place: &'static str,
    reason: String,
    message: Option<String>,
    image: String,
}

fn kubernetes(word: &KubernetesWord) -> KubernetesJson {
    KubernetesJson {
        container: clean(&word.container),
        place: word.place,
        reason: clean(&word.reason),
        message: word.message.as_deref().map(clean),
        image: clean(&word.image),
    }
}

#[derive(Serialize)]
struct MissingJson<'a> {
    question: &'a str,
    place: Option<&'static str>,
    command: Option<&'a str>,
}

impl<'a> VerdictJson<'a> {
    pub(super) fn of(incident: &'a Incident) -> Self {
        let verdict = &incident.verdict;
        Self {
            cause: verdict.cause,
            probability: verdict.probability.as_f64(),
            decision: verdict.decision.as_str(),
            row: row(verdict.row),
            reason: incident.reason(),
            kubernetes: incident.word.as_ref().map(kubernetes),
            other_cause: verdict.other_cause,
            witnesses: verdict.witnesses.iter().copied().map(Witness::as_str).collect(),
            vetoes: verdict
                .vetoes
                .iter()
                .map(|veto| format!("{}: {}", veto.word(), clean(&veto.to_string())))
                .collect(),
            unseen: &verdict.unseen,
            missing: incident
                .missing
                .iter()
                .map(|step| MissingJson { question: &step.text, place: step.place, command: step.command.as_deref() })
                .collect(),
        }
    }
}

fn row(row: Row) -> &'static str {
    match row {
        Row::LogAndDisk => "log_and_disk",
        Row::DiskAlone => "disk_alone",
        Row::SiblingsUnknown => "siblings_unknown",
        Row::DiskCouldNotTell => "disk_could_not_tell",
        Row::LogPointsElsewhere => "log_points_elsewhere",
        Row::DiskIntact => "disk_intact",
        Row::OnlyRebuildable => "only_rebuildable",
        Row::AppHashSameImagePasses => "app_hash_same_image_passes",
        Row::AppHash => "app_hash",
        Row::AnythingElse => "anything_else",
    }
}

#[derive(Serialize)]
pub(super) struct PeersJson {
    state: &'static str,
    count: Option<u32>,
    height: u64,
    same_image: Option<&'static str>,
}

impl PeersJson {
    pub(super) fn of(siblings: &Siblings) -> Option<Self> {
        match siblings {
            Siblings::Unknown => None,
            Siblings::Advancing { count, height, app_hash } => Some(Self {
                state: "advancing",
                count: Some(*count),
                height: height.0,
                same_image: Some(match app_hash {
                    AppHashQuestion::SameImagePasses => "passes",
                    AppHashQuestion::SameImageDoesNot => "does_not_pass",
                    AppHashQuestion::Unknown => "unknown",
                }),
            }),
            Siblings::Halted { height } => {
                Some(Self { state: "halted", count: None, height: height.0, same_image: None })
            }
        }
    }
}

#[derive(Serialize)]
pub(super) struct BundleJson<'a> {
    absent: Vec<&'static str>,
    notes: &'a [String],
}

impl<'a> BundleJson<'a> {
    pub(super) fn of(incident: &'a Incident) -> Self {
        let origin = &incident.origin;
        Self { absent: origin.absent.iter().map(|part| part.as_str()).collect(), notes: &origin.notes }
    }
}
