//! What became of an inspector's Job. *Client, reads only.* (P12, P13)

use jiff::{SignedDuration, Timestamp};
use k8s_openapi::api::{
    batch::v1::Job,
    core::v1::{Event, Pod},
};
use kube::{
    Api, ResourceExt,
    api::{ListParams, LogParams},
};

use super::report::{InspectionReport, read_inspection};
use crate::collect::{Collector, in_words, is_the_kubelets_own};

/// A report larger than this is of no inspector of ours.
const REPORT_MAX: i64 = 8 * 1024 * 1024;

/// What became of it.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum JobOutcome {
    /// There is no such Job.
    Absent,
    /// No container of it runs yet.
    Waiting {
        /// Why, where somebody says so.
        refused: Option<String>,
    },
    /// It is at work.
    Running,
    /// It has reported.
    Reported {
        /// What.
        report: Box<InspectionReport>,
        /// When it began to read.
        began: Option<Timestamp>,
        /// When it ended.
        ended: Option<Timestamp>,
    },
    /// It has ended without a report; why, in words.
    Failed(String),
}

impl Collector {
    /// Looks after a Job.
    pub(crate) async fn inspection(&self, namespace: &str, name: &str) -> Result<JobOutcome, String> {
        let jobs: Api<Job> = Api::namespaced(self.client.clone(), namespace);
        let job =
            jobs.get_opt(name).await.map_err(|error| in_words("get", &format!("jobs {namespace}/{name}"), &error))?;
        let Some(job) = job else { return Ok(JobOutcome::Absent) };
        let pods: Api<Pod> = Api::namespaced(self.client.clone(), namespace);
        let of_job = ListParams::default().labels(&format!("batch.kubernetes.io/job-name={name}"));
        let found =
            pods.list(&of_job).await.map_err(|error| in_words("list", &format!("pods of {namespace}"), &error))?;
        let uid = job.uid().unwrap_or_default();
        let pod = found.items.into_iter().find(|pod| pod.owner_references().iter().any(|owner| owner.uid == uid));
        let failure = job_failure(&job);
        let Some(pod) = pod else {
            return Ok(match failure {
                Some(failure) => JobOutcome::Failed(failure),
                // A list that was behind does not have it yet.
                None if is_complete(&job) && self.has_just_ended(&job) => JobOutcome::Running,
                None if is_complete(&job) => {
                    JobOutcome::Failed("the inspector's pod was taken away before its report was read".to_owned())
                }
                None => JobOutcome::Waiting { refused: self.refusal(namespace, name).await },
            });
        };
        match ended(&pod) {
            Some(end) => self.report(&pods, &pod, end).await,
            None if failure.is_some() => {
                let why = [failure, waits_for(&pod)].into_iter().flatten().collect::<Vec<_>>().join("; ");
                Ok(JobOutcome::Failed(why))
            }
            None if is_running(&pod) => Ok(JobOutcome::Running),
            None => {
                let refused = match waits_for(&pod) {
                    Some(why) => Some(why),
                    None => self.cannot_be_attached(namespace, &pod.name_any()).await,
                };
                Ok(JobOutcome::Waiting { refused })
            }
        }
    }

    fn has_just_ended(&self, job: &Job) -> bool {
        let ended = job.status.as_ref().and_then(|status| status.completion_time.as_ref());
        ended.is_some_and(|ended| self.clock.now().duration_since(ended.0) < SignedDuration::from_mins(1))
    }

    /// What the log of an ended inspector holds.
    async fn report(&self, pods: &Api<Pod>, pod: &Pod, end: End) -> Result<JobOutcome, String> {
        let End { code, reason, began, ended } = end;
        let params = LogParams { limit_bytes: Some(REPORT_MAX), ..LogParams::default() };
        let what = format!("pods/log of {}/{}", pod.namespace().unwrap_or_default(), pod.name_any());
        let log = match pods.logs(&pod.name_any(), &params).await {
            Ok(log) if !is_the_kubelets_own(log.as_bytes()) => log,
            Ok(sentence) => return self.no_log(pod, ended, sentence.trim()),
            Err(error) => return self.no_log(pod, ended, &in_words("get", &what, &error)),
        };
        Ok(match read_inspection(&log) {
            Ok(report) => JobOutcome::Reported { report: Box::new(report), began, ended },
            Err(why) => {
                let end = waits_for(pod).unwrap_or_else(|| format!("the inspector ended with {code} ({reason})"));
                JobOutcome::Failed(format!("{end}: {why}"))
            }
        })
    }

    /// A log that cannot be read is asked for again for a while; then it is gone.
    fn no_log(&self, pod: &Pod, ended: Option<Timestamp>, why: &str) -> Result<JobOutcome, String> {
        const FOR: SignedDuration = SignedDuration::from_mins(2);
        let is_over = ended.is_none_or(|ended| self.clock.now().duration_since(ended) > FOR);
        match (is_over, waits_for(pod)) {
            (_, Some(end)) => Ok(JobOutcome::Failed(end)),
            (true, None) => Ok(JobOutcome::Failed(format!("the inspector's report is gone: {why}"))),
            (false, None) => Err(why.to_owned()),
        }
    }

    /// Why no pod is made: a quota, a policy.
    async fn refusal(&self, namespace: &str, job: &str) -> Option<String> {
        let events: Api<Event> = Api::namespaced(self.client.clone(), namespace);
        let about = ListParams::default().fields(&format!("involvedObject.name={job}"));
        let events = events.list(&about).await.ok()?;
        let mut failed = events.items.iter().filter(|event| event.reason.as_deref() == Some("FailedCreate"));
        let message = failed.next_back().and_then(|event| event.message.clone())?;
        Some(format!("no pod could be made for the inspector: {message}"))
    }

    /// Why the volume cannot be had beside the replica: it is held by another machine.
    async fn cannot_be_attached(&self, namespace: &str, pod: &str) -> Option<String> {
        let events: Api<Event> = Api::namespaced(self.client.clone(), namespace);
        let about = ListParams::default().fields(&format!("involvedObject.name={pod}"));
        let events = events.list(&about).await.ok()?;
        let mut messages = events.items.iter().filter_map(|event| event.message.as_deref());
        let message = messages.find(|message| message.contains("Multi-Attach error"))?;
        Some(format!("the inspector cannot mount the volume: {message}"))
    }
}

fn is_complete(job: &Job) -> bool {
    let conditions = job.status.as_ref().and_then(|status| status.conditions.as_ref());
    conditions.into_iter().flatten().any(|condition| condition.type_ == "Complete" && condition.status == "True")
}

fn job_failure(job: &Job) -> Option<String> {
    let conditions = job.status.as_ref()?.conditions.as_ref()?;
    let failed = conditions.iter().find(|condition| condition.type_ == "Failed" && condition.status == "True")?;
    let (reason, message) =
        (failed.reason.as_deref().unwrap_or("Failed"), failed.message.as_deref().unwrap_or_default());
    Some(format!("the inspector's Job failed: {reason} {message}").trim_end().to_owned())
}

struct End {
    code: i32,
    reason: String,
    began: Option<Timestamp>,
    ended: Option<Timestamp>,
}

fn ended(pod: &Pod) -> Option<End> {
    let statuses = pod.status.as_ref()?.container_statuses.as_ref()?;
    let run = statuses.first()?.state.as_ref()?.terminated.as_ref()?;
    Some(End {
        code: run.exit_code,
        reason: run.reason.clone().unwrap_or_default(),
        began: run.started_at.as_ref().map(|time| time.0),
        ended: run.finished_at.as_ref().map(|time| time.0),
    })
}

fn is_running(pod: &Pod) -> bool {
    let statuses = pod.status.as_ref().and_then(|status| status.container_statuses.as_ref());
    statuses.into_iter().flatten().any(|status| status.state.as_ref().is_some_and(|state| state.running.is_some()))
}

/// What a pod waits for that is not going to come by itself: an image, a machine, a volume.
fn waits_for(pod: &Pod) -> Option<String> {
    let status = pod.status.as_ref()?;
    if status.phase.as_deref() == Some("Failed")
        && let Some(reason) = status.reason.as_deref()
    {
        let message = status.message.as_deref().unwrap_or_default();
        return Some(format!("the inspector's pod was ended: {reason} {message}").trim_end().to_owned());
    }
    let waiting = status.container_statuses.iter().flatten().find_map(|status| status.state.as_ref()?.waiting.as_ref());
    if let Some(waiting) = waiting
        && let Some(
            reason @ ("ImagePullBackOff"
            | "ErrImagePull"
            | "InvalidImageName"
            | "CreateContainerConfigError"
            | "CreateContainerError"),
        ) = waiting.reason.as_deref()
    {
        let message = waiting.message.as_deref().unwrap_or_default();
        return Some(format!("the inspector cannot be started: {reason} {message}"));
    }
    let unscheduled = status
        .conditions
        .iter()
        .flatten()
        .find(|condition| condition.type_ == "PodScheduled" && condition.status == "False")?;
    Some(format!("the inspector finds no machine: {}", unscheduled.message.as_deref().unwrap_or("no reason given")))
}

#[cfg(test)]
mod tests;
