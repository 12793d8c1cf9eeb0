//! What to do next, for a human at three in the morning. *No client, cannot fail.*
//!
//! Each command can be typed as it stands once its words in capitals are replaced: `NAMESPACE`, `POD`, `CONTAINER`,
//! `CLAIM`, `BINARY`, `HOME`, and `SIBLING`, another replica's pod. A command that changes data never comes before the
//! step that keeps a copy, the smaller repair comes before the larger one, and none touches `priv_validator_state.json`
//! (P10). A text may say what to look at; it never says that something was seen which was not (P13).

mod by_cause;
mod by_row;
mod by_veto;
mod facts;

use crate::{Cause, DiskReading, Evidence, MissingFact, Row, Verdict, Veto};

/// One thing to do next.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Advice {
    /// What to do, and why.
    pub text: String,
    /// How, where one command does it; words in capitals are to be replaced.
    pub command: Option<String>,
}

impl Advice {
    fn to_run(text: impl Into<String>, command: impl Into<String>) -> Self {
        Self { text: text.into(), command: Some(command.into()) }
    }

    fn to_know(text: impl Into<String>) -> Self {
        Self { text: text.into(), command: None }
    }
}

/// CometBFT gives at most a hundred validators a page, and an error behind the last page: only then was each one seen.
pub(crate) const EVERY_VALIDATOR: &str = "rpc=/api/v1/namespaces/NAMESPACE/pods/SIBLING:26657/proxy; \
     for page in 1 2 3 4 5 6 7 8 9; do \
     kubectl get --raw \"$rpc/validators?per_page=100&page=$page\" || break; done";

/// More than this nobody reads at night.
const AT_MOST: usize = 5;

/// What to do next, the most useful first, five items at most.
#[must_use]
pub fn advise(evidence: &Evidence, verdict: &Verdict) -> Vec<Advice> {
    let by_cause = by_cause::advice(verdict.cause, evidence);
    let by_row = by_row::advice(verdict, evidence);
    let facts = facts::told(evidence);
    let (signing, others): (Vec<_>, Vec<_>) = verdict.vetoes.iter().partition(|veto| matches!(veto, Veto::MaySign(_)));
    let mut advice: Vec<Advice> = if about_data(verdict) {
        // P10: whoever goes on by hand past a veto must at least have read this one.
        let vetoes = signing.into_iter().chain(others).map(by_veto::advice).take(2);
        [keep()].into_iter().chain(vetoes).chain(facts).chain(by_row).chain(by_cause).collect()
    } else {
        // Whether the node may sign is of no concern where nobody thinks of its data.
        facts.into_iter().chain(by_cause).chain(others.into_iter().map(by_veto::advice).take(2)).chain(by_row).collect()
    };
    let concerned =
        |fact: &&MissingFact| may_concern_data(verdict.cause) || !fact.command.starts_with("loopbreaker inspect");
    let ask_first = verdict.missing.iter().find(concerned).map(to_fetch);
    if verdict.cause == Cause::Unknown {
        advice.splice(0..0, ask_first);
    } else {
        advice.extend(ask_first);
    }
    let mut said = Vec::new();
    advice.retain(|item| {
        let new = !said.contains(&item.text);
        said.push(item.text.clone());
        new
    });
    advice.truncate(AT_MOST);
    advice
}

/// Whether somebody may soon lay hands on the data.
fn about_data(verdict: &Verdict) -> bool {
    verdict.cause.is_local_damage()
        || matches!(
            verdict.row,
            Row::LogAndDisk
                | Row::DiskAlone
                | Row::SiblingsUnknown
                | Row::DiskCouldNotTell
                | Row::LogPointsElsewhere
                | Row::AppHashSameImagePasses
        )
}

/// Whether the data may have anything to do with a cause: if not, nobody is sent to read it.
fn may_concern_data(cause: Cause) -> bool {
    match cause {
        Cause::PortInUse
        | Cause::ConfigError
        | Cause::ImageOrRuntime
        | Cause::NetworkOrPeer
        | Cause::RemoteSigner
        | Cause::KeyOrDoubleSign => false,
        Cause::PhysicalCorruption
        | Cause::WalCorruption
        | Cause::LogicalInconsistency
        | Cause::BadSnapshot
        | Cause::WrongBinary
        | Cause::UpgradeNeeded
        | Cause::ChainWideBug
        | Cause::DiskFull
        | Cause::Oom
        | Cause::IoError
        | Cause::PermissionOrLock
        | Cause::OtherBug
        | Cause::Unknown => true,
    }
}

/// The keeping step. A snapshot of ours carries no label of the workload, so that no automatic data source finds it.
fn keep() -> Advice {
    Advice::to_run(
        "Keep what is there before anything else: take a snapshot of the claim and wait until it is ready to use.",
        "printf '%s\\n' 'apiVersion: snapshot.storage.k8s.io/v1' 'kind: VolumeSnapshot' \
         'metadata: {name: CLAIM-as-found}' 'spec: {source: {persistentVolumeClaimName: CLAIM}}' | \
         kubectl create -n NAMESPACE -f -",
    )
}

/// A read-only look at the disk, worth it only where nobody has finished one.
fn inspect(evidence: &Evidence) -> Option<Advice> {
    match evidence.disk {
        DiskReading::Damaged(_) | DiskReading::Inconsistent(_) => None,
        DiskReading::NotRead
        | DiskReading::CouldNotTell(_)
        | DiskReading::Intact { .. }
        | DiskReading::ReadsDiffer(_) => Some(Advice::to_run(
            "Read the databases offline, on the stopped node's volume or on one restored from the snapshot; nothing is \
             written.",
            "loopbreaker inspect HOME/data",
        )),
    }
}

fn to_fetch(fact: &MissingFact) -> Advice {
    Advice::to_run(format!("Find out: {} Look at {}.", fact.question, fact.place), fact.command)
}

#[cfg(test)]
mod tests;
