//! The controller of incidents: reads what is so, asks the plan, does one step. *Client, reads; writes go through the
//! writer.* (P1, P11, P12, P14)
//!
//! 1. Read the record live (client).
//! 2. What was seen of the replica and its policy (no client), and how the inspection stands (client).
//! 3. `next` (no client, cannot fail).
//! 4. That one step (client), written down with the resourceVersion of 1.

use std::{sync::Arc, time::Duration};

use api::{Recovery, RecoveryPolicy};
use diagnosis::{Course, DiskLook, InstanceName, Situation, Step, next};
use futures::{Stream, StreamExt};
use k8s_openapi::api::batch::v1::Job;
use kube::{
    Api, Resource, ResourceExt,
    core::DeserializeGuard,
    runtime::{
        Controller,
        controller::{self, Action},
        reflector::ObjectRef,
        watcher,
    },
};

use super::{
    act::OWNED,
    desk::{Desk, Leading},
    inspection::Inspection,
    situation, steps,
};
use crate::{detect, error::OperatorError, watch::Doubling};

/// How often an incident is looked at when nothing changes.
const LOOK_EVERY: Duration = Duration::from_mins(1);
/// After a step the next one follows at once; the watch tells of it, this makes sure.
const STEP_FOLLOWS: Duration = Duration::from_secs(1);

pub(super) type Guarded = DeserializeGuard<Recovery>;

/// Looks after all incidents for ever; `triggers` name those of whose replica something was heard.
pub(crate) async fn incidents(
    leading: Arc<Leading>,
    triggers: impl Stream<Item = ObjectRef<Guarded>> + Send + 'static,
) {
    let desk = &leading.desk;
    let ours = watcher::Config::default().labels(&format!("{}={}", OWNED.0, OWNED.1));
    let config = controller::Config::default().concurrency(4);
    Controller::new(desk.api_of_watched::<Guarded>(), watcher::Config::default())
        .owns(desk.api_of_watched::<DeserializeGuard<Job>>(), ours)
        .with_config(config)
        .trigger_backoff(Doubling::default())
        .reconcile_on(triggers)
        .run(reconcile, failed, Arc::clone(&leading))
        .for_each(|_| std::future::ready(()))
        .await;
}

async fn reconcile(recovery: Arc<Guarded>, leading: Arc<Leading>) -> Result<Action, OperatorError> {
    let desk = &leading.desk;
    let Ok(cached) = &recovery.0 else {
        tracing::warn!(incident = %recovery.name_any(), "a Recovery that cannot be read is passed over");
        return Ok(Action::await_change());
    };
    if !desk.is_settled(cached) {
        return Ok(Action::requeue(STEP_FOLLOWS));
    }
    // By what the watch told: where there is nothing to do, nothing is asked.
    let (_, _, step) = plan(desk, cached).await;
    if let Some(action) = idle(desk, &step) {
        return Ok(action);
    }
    let Some(recovery) = read_live(desk, cached).await? else { return Ok(Action::await_change()) };
    let (policy, inspection, step) = plan(desk, &recovery).await;
    if let Some(action) = idle(desk, &step) {
        return Ok(action);
    }
    tracing::debug!(incident = %recovery.name_any(), ?step, "next");
    steps::take(&leading, &recovery, policy.as_deref(), inspection, step).await?;
    Ok(Action::requeue(STEP_FOLLOWS))
}

/// What is to be done by this record.
async fn plan(desk: &Desk, recovery: &Recovery) -> (Option<Arc<RecoveryPolicy>>, Inspection, Step) {
    let policy = desk.policy_of(recovery);
    let inspection = Inspection::read(desk, recovery, policy.as_deref()).await;
    let step = next(&situation(desk, recovery, policy.as_deref(), &inspection.look));
    (policy, inspection, step)
}

/// When to look again, where nothing is to be done.
fn idle(desk: &Desk, step: &Step) -> Option<Action> {
    match step {
        Step::Rest => Some(Action::await_change()),
        Step::Wait(until) => {
            let rest = Duration::try_from(until.duration_since(desk.clock.now())).unwrap_or_default();
            Some(Action::requeue(rest.clamp(STEP_FOLLOWS, LOOK_EVERY)))
        }
        _ => None,
    }
}

/// The record as it is now; none where it is gone or another one of its name.
async fn read_live(desk: &Desk, cached: &Recovery) -> Result<Option<Recovery>, OperatorError> {
    let recoveries: Api<Recovery> = Api::namespaced(desk.client.clone(), &cached.namespace().unwrap_or_default());
    let live = recoveries.get_opt(&cached.name_any()).await.map_err(|source| OperatorError::Unread {
        what: format!("Recovery {}/{}", cached.namespace().unwrap_or_default(), cached.name_any()),
        source: Box::new(source),
    })?;
    Ok(live.filter(|live| live.uid() == cached.uid() && live.meta().deletion_timestamp.is_none()))
}

fn situation(desk: &Desk, recovery: &Recovery, policy: Option<&RecoveryPolicy>, look: &DiskLook) -> Situation {
    let now = desk.clock.now();
    let seen = desk.seen();
    let course = policy.map_or(Course::StillSick, |policy| detect::course(&seen.index, recovery, policy, now));
    Situation {
        now,
        stage: situation::stage(recovery),
        course,
        watch: situation::watch(recovery, policy, &seen.storms),
        mode: situation::mode(policy),
        disk: look.clone(),
        peers: seen.index.peers_look(&instance_of(recovery)),
        leavings: situation::leavings(recovery),
    }
}

#[expect(clippy::needless_pass_by_value, reason = "kube calls it so")]
fn failed(recovery: Arc<Guarded>, error: &OperatorError, leading: Arc<Leading>) -> Action {
    tracing::warn!(incident = %recovery.name_any(), %error, "an incident could not be looked after");
    leading.desk.metrics.error(error.category());
    Action::requeue(Duration::from_secs(5))
}

/// The replica that an incident is about.
pub(super) fn instance_of(recovery: &Recovery) -> InstanceName {
    InstanceName { namespace: recovery.namespace().unwrap_or_default(), name: recovery.spec.target.pod.clone() }
}
