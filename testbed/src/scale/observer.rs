//! When each record, each verdict and each end of an inspection was seen by a watch of our own.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use api::{Phase, Recovery};
use futures::{StreamExt, pin_mut};
use k8s_openapi::api::batch::v1::Job;
use kube::{
    Api, Client, ResourceExt,
    runtime::watcher::{self, Event},
};
use tokio::time::Instant;

/// What was seen of one incident.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Seen {
    pub(super) opened: Option<Instant>,
    pub(super) inspected: Option<Instant>,
    pub(super) judged: Option<Instant>,
    pub(super) held: Option<Instant>,
}

/// By namespace and replica.
#[derive(Debug, Clone, Default)]
pub(super) struct Observer {
    seen: Arc<Mutex<BTreeMap<(String, String), Seen>>>,
}

impl Observer {
    pub(super) fn start(client: &Client) -> Self {
        let observer = Self::default();
        let (recoveries, jobs) = (observer.clone(), observer.clone());
        let of = client.clone();
        tokio::spawn(async move {
            let stream = watcher::watcher(Api::<Recovery>::all(of), watcher::Config::default());
            pin_mut!(stream);
            while let Some(event) = stream.next().await {
                if let Ok(Event::Apply(recovery) | Event::InitApply(recovery)) = event {
                    recoveries.note(&recovery);
                }
            }
        });
        let of = client.clone();
        tokio::spawn(async move {
            let ours = watcher::Config::default().labels("app.kubernetes.io/managed-by=loopbreaker");
            let stream = watcher::watcher(Api::<Job>::all(of), ours);
            pin_mut!(stream);
            while let Some(event) = stream.next().await {
                if let Ok(Event::Apply(job) | Event::InitApply(job)) = event {
                    jobs.note_job(&job);
                }
            }
        });
        observer
    }

    pub(super) fn of(&self, namespace: &str, pod: &str) -> Seen {
        self.lock().get(&(namespace.to_owned(), pod.to_owned())).copied().unwrap_or_default()
    }

    pub(super) fn len(&self) -> usize {
        self.lock().values().filter(|seen| seen.opened.is_some()).count()
    }

    /// Incidents that rest with a verdict.
    pub(super) fn at_rest(&self) -> usize {
        self.lock().values().filter(|seen| seen.judged.is_some() && seen.held.is_some()).count()
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<(String, String), Seen>> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn note(&self, recovery: &Recovery) {
        let now = Instant::now();
        let key = (recovery.namespace().unwrap_or_default(), recovery.spec.target.pod.clone());
        let mut seen = self.lock();
        let seen = seen.entry(key).or_default();
        seen.opened.get_or_insert(now);
        let Some(status) = &recovery.status else { return };
        if status.verdict.is_some() {
            seen.judged.get_or_insert(now);
        }
        if status.phase == Some(Phase::Held) && status.inspection.is_none() {
            seen.held.get_or_insert(now);
        }
    }

    fn note_job(&self, job: &Job) {
        let conditions = job.status.iter().flat_map(|status| status.conditions.iter().flatten());
        let mut ends = conditions.filter(|condition| matches!(condition.type_.as_str(), "Complete" | "Failed"));
        if ends.all(|condition| condition.status != "True") {
            return;
        }
        // A Job is its Recovery's, which is named after the replica and a number.
        let owner = job.owner_references().first().map(|owner| owner.name.clone()).unwrap_or_default();
        let Some((pod, _)) = owner.rsplit_once('-') else { return };
        let key = (job.namespace().unwrap_or_default(), pod.to_owned());
        self.lock().entry(key).or_default().inspected.get_or_insert(Instant::now());
    }
}
