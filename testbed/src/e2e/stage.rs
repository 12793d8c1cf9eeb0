//! A chain that runs, watched by an operator that observes: where every scenario about the operator begins.

use std::time::Duration;

use anyhow::{Context, Result, bail};
use api::{Decision, Phase, Recovery};
use jiff::Timestamp;
use k8s_openapi::api::events::v1::Event;
use kube::{ResourceExt, api::ListParams};
use serde_json::{Value, json};

use super::{
    Bed, audit, golden,
    node::{Shape, Workload},
    operator::Deployed,
};

/// Three crashes, a look at disk and siblings, and a verdict; on a busy machine.
const VERDICT: Duration = Duration::from_mins(5);

/// Workload and operator of one scenario.
pub(crate) struct Stage {
    pub(crate) bed: Bed,
    pub(crate) nodes: Workload,
    pub(crate) operator: Deployed,
}

impl Stage {
    /// Starts both; `policy` is merged over the spec of the policy.
    pub(crate) async fn open(bed: Bed, shape: &Shape, policy: &Value) -> Result<Self> {
        Self::with_operators(bed, shape, policy, 1).await
    }

    pub(crate) async fn with_operators(bed: Bed, shape: &Shape, policy: &Value, operators: u32) -> Result<Self> {
        let (nodes, operator) =
            futures::try_join!(Workload::open(&bed, shape), Deployed::open(&bed, operators, policy))?;
        Ok(Self { bed, nodes, operator })
    }

    /// Every record of this scenario.
    pub(crate) async fn recoveries(&self) -> Result<Vec<Recovery>> {
        Ok(self.bed.api::<Recovery>().list(&ListParams::default()).await?.items)
    }

    /// Waits for the pod's record, in whatever phase.
    pub(crate) async fn opened(&self, pod: &str) -> Result<Recovery> {
        self.record(pod, "a record is opened", |_| true).await
    }

    /// Waits until the pod's record has been judged and held, and no other incident was opened.
    pub(crate) async fn held(&self, pod: &str) -> Result<Recovery> {
        let held = |recovery: &Recovery| recovery.status.as_ref().and_then(|status| status.phase) == Some(Phase::Held);
        self.record(pod, "it is held", held).await
    }

    async fn record(&self, pod: &str, what: &str, is: impl Fn(&Recovery) -> bool) -> Result<Recovery> {
        self.bed
            .until(&format!("{pod}: {what}"), VERDICT, async || {
                let of_it = |recovery: &Recovery| recovery.spec.target.pod == pod;
                Ok(self.recoveries().await?.into_iter().filter(of_it).find(|recovery| is(recovery)))
            })
            .await
    }

    /// Holds that nobody is accused for so long.
    pub(crate) async fn nobody_accused_for(&self, span: Duration) -> Result<()> {
        let end = tokio::time::Instant::now() + span;
        while tokio::time::Instant::now() < end {
            if let Some(recovery) = self.recoveries().await?.first() {
                bail!("{} was opened, and nothing is wrong", recovery.name_any());
            }
            tokio::time::sleep(Duration::from_millis(500)).await;
        }
        Ok(())
    }

    /// Holds that the record and its Events are as the golden file has them, and that nothing else was written.
    pub(crate) async fn proves(&self, name: &str, recovery: &Recovery) -> Result<()> {
        self.wrote_nothing_else()?;
        let events = self.events(recovery).await?;
        golden::compare(name, &json!({ "spec": recovery.spec, "status": recovery.status, "events": events }))
    }

    /// The same of what was seen and blamed alone: how old the evidence is when it is judged depends on the disturbance.
    pub(crate) fn proves_evidence(&self, name: &str, recovery: &Recovery) -> Result<()> {
        self.wrote_nothing_else()?;
        let verdict = verdict(recovery)?;
        let evidence = recovery.status.as_ref().and_then(|status| status.evidence.as_ref()).context("no evidence")?;
        let (disk, peers) = (&evidence.disk, &evidence.peers);
        let seen = json!({ "disk": disk, "peers": peers, "cause": verdict.cause, "witnesses": verdict.witnesses });
        golden::compare(name, &json!({ "spec": recovery.spec, "seen": seen }))
    }

    /// Holds that the operator's account wrote its own objects only (P1).
    pub(crate) fn wrote_nothing_else(&self) -> Result<()> {
        audit::nothing_but_our_own(&self.bed.folder.join("audit.log"), &self.operator.account(), &self.bed.namespace)
    }

    /// The Events about a record until it was held, the oldest first.
    async fn events(&self, recovery: &Recovery) -> Result<Vec<Value>> {
        let name = recovery.name_any();
        let about = |event: &Event| event.regarding.as_ref().is_some_and(|object| object.name.as_ref() == Some(&name));
        let mut events: Vec<Event> = self.bed.api().list(&ListParams::default()).await?.items;
        events.retain(about);
        if events.is_empty() {
            bail!("{name} has no Event");
        }
        let time = |event: &Event| event.event_time.as_ref().map_or(Timestamp::MIN, |time| time.0);
        events.sort_by_key(time);
        Ok(events
            .iter()
            .map(|event| json!({ "type": event.type_, "reason": event.reason, "note": event.note }))
            .collect())
    }
}

/// Holds that a look-alike is not taken for damage: nothing may be restored, not even after a human's word.
///
/// Every node may sign as far as this version knows, which alone forbids a restore: it does not count here.
pub(crate) fn must_hold(recovery: &Recovery) -> Result<()> {
    let verdict = verdict(recovery)?;
    let accused = verdict.witnesses.iter().any(|witness| witness != "peers");
    let forbidden = verdict.vetoes.iter().any(|veto| veto.name != "may_sign");
    if verdict.decision != Decision::Hold || (accused && !forbidden) {
        bail!("{:?}, witnesses {:?}: {}", verdict.decision, verdict.witnesses, verdict.reason);
    }
    Ok(())
}

/// Holds that the verdict names this cause.
pub(crate) fn must_blame(recovery: &Recovery, cause: &str) -> Result<()> {
    let verdict = verdict(recovery)?;
    if verdict.cause != cause {
        bail!("the cause is {:?} and not {cause:?}: {}", verdict.cause, verdict.reason);
    }
    Ok(())
}

/// Holds that the disk testifies to damage and that nothing forbids a restore but this: whether the node signs is not known.
///
/// This version of the operator never learns that a node signs nothing (P10), so it holds every one.
pub(crate) fn must_testify(recovery: &Recovery, witnesses: &[&str]) -> Result<()> {
    let verdict = verdict(recovery)?;
    let vetoes: Vec<&str> = verdict.vetoes.iter().map(|veto| veto.name.as_str()).collect();
    if verdict.witnesses != witnesses || vetoes != ["may_sign"] {
        bail!("witnesses {:?}, vetoes {vetoes:?}: {}", verdict.witnesses, verdict.reason);
    }
    Ok(())
}

/// Holds that this forbids a restore, whatever else does.
pub(crate) fn must_forbid(recovery: &Recovery, veto: &str) -> Result<()> {
    let verdict = verdict(recovery)?;
    if !verdict.vetoes.iter().any(|each| each.name == veto) {
        bail!("no veto {veto:?} among {:?}: {}", verdict.vetoes, verdict.reason);
    }
    Ok(())
}

fn verdict(recovery: &Recovery) -> Result<&api::VerdictReport> {
    recovery.status.as_ref().and_then(|status| status.verdict.as_ref()).context("a held record without a verdict")
}
