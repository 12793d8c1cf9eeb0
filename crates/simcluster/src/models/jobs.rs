//! The Job controller. *Client `job-controller`.*
//!
//! One pod at a time: made again after a failure until the back-off limit, stopped at the deadline. A pod that is refused
//! (a quota, 403) is tried again with a growing wait, with an Event each time. The tracking finalizer of the real one is
//! left out.

use std::{collections::BTreeMap, sync::Arc};

use jiff::SignedDuration;
use serde_json::{Value, json};

use super::{
    Model, Wake,
    stateful_set::{owner_reference, owners},
};
use crate::{
    desk::Desk,
    object::{Fields, put, seconds, set},
    server::{Event, Key, Store},
};

const JOBS: &str = "jobs.batch";
const FIRST_RETRY: SignedDuration = SignedDuration::from_secs(1);
const LAST_RETRY: SignedDuration = SignedDuration::from_secs(60);

/// The controller.
#[derive(Debug, Default)]
pub(crate) struct Jobs {
    /// By Job: how long it waited after the last refusal.
    waits: BTreeMap<Key, SignedDuration>,
}

impl Model for Jobs {
    fn user(&self) -> &'static str {
        "job-controller"
    }

    fn wakes(&self, event: &Event, _: &Store) -> Vec<Wake> {
        match &*event.key.resource {
            JOBS => vec![Wake::after(20, event.key.clone())],
            "pods" => owners(&event.object, "Job")
                .map(|name| Wake::after(20, Key::new(JOBS, &event.key.namespace, name)))
                .collect(),
            _ => Vec::new(),
        }
    }

    fn reconcile(&mut self, key: &Key, desk: &mut Desk<'_>) -> Option<SignedDuration> {
        let Some(job) = desk.object(key).filter(|job| !job.is_terminating()) else {
            self.waits.remove(key);
            return None;
        };
        if let Some(ended) = ended_at(&job) {
            return remove_when_due(&job, ended, desk);
        }
        if job.is_true("/spec/suspend") {
            return None;
        }
        if !job.has("/status/startTime") {
            drop(desk.merge_status(JOBS, &job, &json!({"startTime": seconds(desk.now)})));
            return Some(SignedDuration::from_millis(1));
        }
        self.bring_on(key, &job, desk)
    }
}

impl Jobs {
    fn bring_on(&mut self, key: &Key, job: &Arc<Value>, desk: &mut Desk<'_>) -> Option<SignedDuration> {
        let pods: Vec<Arc<Value>> = desk
            .list("pods", Some(&key.namespace))
            .into_iter()
            .filter(|pod| pod.items("/metadata/ownerReferences").iter().any(|owner| owner.text("/uid") == job.uid()))
            .collect();
        let with = |phase: &str| pods.iter().filter(|pod| pod.text("/status/phase") == phase).count();
        let (succeeded, failed) = (with("Succeeded"), with("Failed"));
        let active = pods.len() - succeeded - failed;
        let started = job.time("/status/startTime").unwrap_or(desk.now);
        let deadline = job.number("/spec/activeDeadlineSeconds").map(SignedDuration::from_secs);
        let rest = deadline.map(|deadline| deadline.saturating_sub(desk.since(started)));
        let limit = usize::try_from(job.number("/spec/backoffLimit").unwrap_or(6)).unwrap_or_default();
        let counts = json!({"active": active, "succeeded": succeeded, "failed": failed});
        if succeeded > 0 {
            finish(job, "Complete", "CompletionsReached", "Reached expected number of succeeded pods", counts, desk);
            return None;
        }
        let (reason, message) = if failed > limit {
            ("BackoffLimitExceeded", "Job has reached the specified backoff limit")
        } else if rest.is_some_and(|rest| !rest.is_positive()) {
            ("DeadlineExceeded", "Job was active longer than specified deadline")
        } else {
            if ["active", "succeeded", "failed"]
                .iter()
                .any(|field| job.part("/status").get(*field) != counts.get(*field))
            {
                drop(desk.merge_status(JOBS, job, &counts));
            }
            let again = if active == 0 { self.make_pod(key, job, failed, desk) } else { None };
            return [again, rest].into_iter().flatten().min();
        };
        for pod in pods.iter().filter(|pod| !matches!(pod.text("/status/phase"), "Succeeded" | "Failed")) {
            drop(desk.delete("pods", pod));
        }
        desk.event(job, "Warning", reason, message);
        finish(job, "Failed", reason, message, counts, desk);
        None
    }

    fn make_pod(&mut self, key: &Key, job: &Arc<Value>, failed: usize, desk: &mut Desk<'_>) -> Option<SignedDuration> {
        // After a failure the next pod waits 10 s, then twice that, as the kubelet's back-off does.
        let last = job.time("/status/startTime").unwrap_or(desk.now);
        let pause = 10_i64.saturating_mul(1_i64 << failed.min(6)) - 10;
        let rest = SignedDuration::from_secs(pause).saturating_sub(desk.since(last));
        if failed > 0 && rest.is_positive() {
            return Some(rest);
        }
        let mut pod = job.part("/spec/template").clone();
        set(&mut pod, "/metadata/namespace", job.namespace().into());
        set(&mut pod, "/metadata/generateName", format!("{}-", job.name()).into());
        set(&mut pod, "/metadata/ownerReferences", json!([owner_reference(job)]));
        match desk.create("pods", pod) {
            Ok(made) => {
                self.waits.remove(key);
                desk.event(job, "Normal", "SuccessfulCreate", &format!("Created pod: {}", made.name()));
                None
            }
            Err(refusal) => {
                let wait = self.waits.get(key).map_or(FIRST_RETRY, |wait| wait.saturating_mul(2).min(LAST_RETRY));
                self.waits.insert(key.clone(), wait);
                desk.event(job, "Warning", "FailedCreate", &format!("Error creating: {}", refusal.message));
                Some(wait)
            }
        }
    }
}

fn finish(job: &Arc<Value>, condition: &str, reason: &str, message: &str, counts: Value, desk: &mut Desk<'_>) {
    let now = seconds(desk.now);
    let before = if condition == "Complete" { "SuccessCriteriaMet" } else { "FailureTarget" };
    let conditions: Vec<Value> = [before, condition]
        .iter()
        .map(|kind| {
            json!({
                "type": kind, "status": "True", "reason": reason, "message": message, "lastProbeTime": now,
                "lastTransitionTime": now,
            })
        })
        .collect();
    let mut status = counts;
    put(&mut status, "active", 0.into());
    put(&mut status, "conditions", conditions.into());
    if condition == "Complete" {
        put(&mut status, "completionTime", now);
    }
    drop(desk.merge_status(JOBS, job, &status));
}

fn ended_at(job: &Value) -> Option<jiff::Timestamp> {
    let conditions = job.items("/status/conditions").iter();
    let mut ended = conditions.filter(|condition| matches!(condition.text("/type"), "Complete" | "Failed"));
    ended.find_map(|condition| condition.time("/lastTransitionTime"))
}

fn remove_when_due(job: &Arc<Value>, ended: jiff::Timestamp, desk: &mut Desk<'_>) -> Option<SignedDuration> {
    let life = SignedDuration::from_secs(job.number("/spec/ttlSecondsAfterFinished")?);
    let rest = life.saturating_sub(desk.since(ended));
    if rest.is_positive() {
        return Some(rest);
    }
    drop(desk.delete(JOBS, job));
    None
}
