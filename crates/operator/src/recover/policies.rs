//! The controller of policies: opens an incident for each replica that is sick, and says how the policy stands. *Client,
//! reads; writes go through the writer.* (P1, P14)

use std::{sync::Arc, time::Duration};

use api::{RecoveryPolicy, RecoverySpec};
use futures::{Stream, StreamExt};
use kube::{
    ResourceExt,
    core::DeserializeGuard,
    runtime::{
        Controller,
        controller::{self, Action},
        reflector::ObjectRef,
        watcher,
    },
};

use super::{Said, desk::Leading};
use crate::{
    detect::{Look, NewIncident, look},
    error::OperatorError,
    index::Kind,
    record,
    watch::Doubling,
};

/// How often a policy is looked at when nothing changes: what takes time, such as standing still, shows by itself.
const LOOK_EVERY: Duration = Duration::from_secs(30);
/// Until the watches have seen everything once.
const NOT_SYNCED: Duration = Duration::from_secs(1);
/// Incidents opened in one look; the rest follows in the next.
const OPENED_AT_ONCE: usize = 20;

type Guarded = DeserializeGuard<RecoveryPolicy>;

/// Looks after all policies for ever; `triggers` name those of which something was heard.
pub(crate) async fn policies(leading: Arc<Leading>, triggers: impl Stream<Item = ObjectRef<Guarded>> + Send + 'static) {
    let desk = &leading.desk;
    let config = controller::Config::default().debounce(Duration::from_millis(500)).concurrency(1);
    Controller::new(desk.api_of_watched::<Guarded>(), watcher::Config::default())
        .with_config(config)
        .trigger_backoff(Doubling::default())
        .reconcile_on(triggers)
        .run(reconcile, failed, Arc::clone(&leading))
        .for_each(|_| std::future::ready(()))
        .await;
}

async fn reconcile(policy: Arc<Guarded>, leading: Arc<Leading>) -> Result<Action, OperatorError> {
    let desk = &leading.desk;
    let Ok(policy) = &policy.0 else {
        tracing::warn!(policy = %policy.name_any(), "a RecoveryPolicy that cannot be read is passed over");
        return Ok(Action::await_change());
    };
    if !needed(policy).iter().all(|kind| desk.seen().watches.is_settled(kind)) {
        // Before everything was seen nothing is opened: what is missing may only not have come yet.
        say_what_is_forbidden(policy, &leading).await?;
        return Ok(Action::requeue(NOT_SYNCED));
    }
    let namespace = policy.namespace().unwrap_or_default();
    let now = desk.clock.now();
    let seen = {
        let mut seen = desk.seen();
        let memory = policy.status.as_ref().map(|status| status.replicas.clone()).unwrap_or_default();
        seen.index.recall(&namespace, &memory, now);
        seen.index.settle(now);
        let (policies, recoveries) =
            (seen.ledger.policies.in_namespace(&namespace), seen.ledger.recoveries.in_namespace(&namespace));
        let found = look(&seen.index, policy, &policies, &recoveries, now);
        let uid = policy.uid().unwrap_or_default();
        if found.storm.is_some() {
            seen.storms.insert(uid);
        } else {
            seen.storms.remove(&uid);
        }
        found
    };
    // First whether it is a storm, then the incidents, of which each would speak else.
    record_policy(policy, &seen, &leading).await?;
    desk.seen().index.told(&namespace, &seen.replicas);
    let mut opened = 0;
    for incident in seen.new.iter().take(OPENED_AT_ONCE) {
        open(policy, incident, &leading).await?;
        opened += 1;
    }
    Ok(Action::requeue(if opened < seen.new.len() { NOT_SYNCED } else { LOOK_EVERY }))
}

/// The kinds without which nothing can be told about a policy's workloads.
fn needed(policy: &RecoveryPolicy) -> Vec<&'static str> {
    let workloads = policy.spec.targets.iter().map(|target| Kind::of(target.kind).plural());
    ["pods", "recoveries", "recoverypolicies"].into_iter().chain(workloads).collect()
}

async fn open(policy: &RecoveryPolicy, incident: &NewIncident, leading: &Leading) -> Result<(), OperatorError> {
    let mut target = incident.target.clone();
    if let Some(claim) = &incident.claim_name {
        // It cannot be written in later: read again before it is left out.
        target.claim = match leading.desk.claim(policy, claim).await {
            Ok(Some(claim)) => Some(claim),
            Ok(None) => leading.desk.claim(policy, claim).await?,
            Err(error) if error.category() == "forbidden" => {
                tracing::warn!(%error, "the claim is recorded without its UID");
                None
            }
            Err(error) => return Err(error),
        };
    }
    let spec = RecoverySpec {
        target,
        policy: api::PolicyReference { name: policy.name_any(), uid: policy.uid().unwrap_or_default() },
        incident: incident.incident.clone(),
        approval: None,
        undo: None,
    };
    let recovery = leading.writer.open(policy, &incident.name, spec).await?;
    leading.desk.metrics.incident(recovery.spec.incident.kind);
    Ok(())
}

/// Writes the status where it is not what is there already.
async fn record_policy(policy: &RecoveryPolicy, look: &Look, leading: &Leading) -> Result<(), OperatorError> {
    let desk = &leading.desk;
    let mut status = policy.status.clone().unwrap_or_default();
    let before = status.clone();
    status.observed_generation = policy.metadata.generation;
    status.workloads = Some(look.workloads);
    status.open_incidents = Some(look.open);
    status.summary = Some(look.summary.clone());
    status.replicas.clone_from(&look.replicas);
    let now = desk.clock.now();
    let conditions = super::policy_conditions::conditions(look, &desk.seen().watches);
    for condition in conditions {
        record::set_condition(&mut status.conditions, &condition, policy.metadata.generation, now);
    }
    if status == before {
        return Ok(());
    }
    let stormy = |status: &api::PolicyStatus| {
        status.conditions.iter().any(|condition| condition.type_ == "Storm" && condition.status == "True")
    };
    let (was_stormy, is_stormy) = (stormy(&before), stormy(&status));
    let mut written = policy.clone();
    written.status = Some(status);
    leading.writer.record_policy(&written).await?;
    if let (false, true, Some(storm)) = (was_stormy, is_stormy, &look.storm) {
        let note = format!("{} replicas are sick at once; nothing is inspected and all are held", storm.sick);
        tracing::warn!(policy = %policy.name_any(), "{note}");
        let key = format!("storm-{:x}", now.as_second());
        let said = Said { key, reason: "Storm", action: "Hold", kind: "Warning", note };
        leading.writer.say(policy, said).await?;
    }
    Ok(())
}

/// While a watch may not even begin, the policy says which right is missing.
async fn say_what_is_forbidden(policy: &RecoveryPolicy, leading: &Leading) -> Result<(), OperatorError> {
    let desk = &leading.desk;
    let Some(condition) = super::policy_conditions::watching(&desk.seen().watches) else { return Ok(()) };
    let mut written = policy.clone();
    let status = written.status.get_or_insert_default();
    record::set_condition(&mut status.conditions, &condition, policy.metadata.generation, desk.clock.now());
    if policy.status != written.status {
        leading.writer.record_policy(&written).await?;
    }
    Ok(())
}

#[expect(clippy::needless_pass_by_value, reason = "kube's controller hands these over")]
fn failed(policy: Arc<Guarded>, error: &OperatorError, leading: Arc<Leading>) -> Action {
    tracing::warn!(policy = %policy.name_any(), %error, "a policy could not be looked after");
    leading.desk.metrics.error(error.category());
    Action::requeue(Duration::from_secs(5))
}
