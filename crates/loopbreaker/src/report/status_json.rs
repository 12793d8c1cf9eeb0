//! How policies and incidents stand, for scripts. *No client, no clock.*
//!
//! One object, `loopbreaker.dev/status/v1`:
//!
//! ```text
//! namespace  null: all of them
//! policies   by namespace and name; counts are null, and `says` too, until an operator has looked
//! recoveries open ones first, the newest before the others; `seconds` from the onset until now, or until it ended;
//!            `phase` as in the object; verdict null until it was judged
//! unread     objects that cannot be read, and why
//! ```
//!
//! Fields may be added; none is renamed or dropped within v1.

use api::{AdviceStep, Decision, IncidentKind, Phase, Recovery, RecoveryPolicy, VerdictReport};
use jiff::Timestamp;
use kube::ResourceExt;
use serde::Serialize;

use crate::{
    status::{Standing, ended, is_open, lasted},
    suspend::mode,
    words::escaped_json,
};

#[derive(Serialize)]
struct Report<'a> {
    schema: &'static str,
    namespace: Option<&'a str>,
    policies: Vec<PolicyJson<'a>>,
    recoveries: Vec<RecoveryJson<'a>>,
    unread: &'a [String],
}

#[derive(Serialize)]
struct PolicyJson<'a> {
    namespace: String,
    name: String,
    mode: &'static str,
    suspended: bool,
    workloads: Option<u32>,
    open_incidents: Option<u32>,
    says: Option<&'a str>,
    conditions: Vec<ConditionJson<'a>>,
}

#[derive(Serialize)]
struct ConditionJson<'a> {
    r#type: &'a str,
    status: &'a str,
    reason: &'a str,
    message: &'a str,
}

#[derive(Serialize)]
struct RecoveryJson<'a> {
    namespace: String,
    name: String,
    pod: &'a str,
    workload: &'a str,
    kind: IncidentKind,
    container: &'a str,
    policy: &'a str,
    open: bool,
    phase: Option<Phase>,
    onset: Timestamp,
    ended: Option<Timestamp>,
    seconds: u64,
    crashes: Option<u32>,
    says: Option<&'a str>,
    verdict: Option<VerdictJson<'a>>,
}

#[derive(Serialize)]
struct VerdictJson<'a> {
    cause: &'a str,
    probability: f64,
    decision: Decision,
    reason: &'a str,
    witnesses: &'a [String],
    vetoes: Vec<&'a str>,
    missing: Vec<StepJson<'a>>,
    advice: Vec<StepJson<'a>>,
}

#[derive(Serialize)]
struct StepJson<'a> {
    text: &'a str,
    command: Option<&'a str>,
}

/// Laid out over several lines on a terminal, on one line else.
pub(crate) fn render(standing: &Standing, now: Timestamp, on_terminal: bool) -> serde_json::Result<String> {
    let report = Report {
        schema: "loopbreaker.dev/status/v1",
        namespace: standing.namespace.as_deref(),
        policies: standing.policies.iter().map(policy).collect(),
        recoveries: standing.recoveries.iter().map(|recovery| self::recovery(recovery, now)).collect(),
        unread: &standing.unread,
    };
    let json = if on_terminal { serde_json::to_string_pretty(&report)? } else { serde_json::to_string(&report)? };
    Ok(format!("{}\n", escaped_json(&json)))
}

fn policy(policy: &RecoveryPolicy) -> PolicyJson<'_> {
    let status = policy.status.as_ref();
    let conditions = status.iter().flat_map(|status| &status.conditions).map(|condition| ConditionJson {
        r#type: &condition.type_,
        status: &condition.status,
        reason: &condition.reason,
        message: &condition.message,
    });
    PolicyJson {
        namespace: policy.namespace().unwrap_or_default(),
        name: policy.name_any(),
        mode: mode(policy.spec.mode),
        suspended: policy.spec.suspend,
        workloads: status.and_then(|status| status.workloads),
        open_incidents: status.and_then(|status| status.open_incidents),
        says: status.and_then(|status| status.summary.as_deref()),
        conditions: conditions.collect(),
    }
}

fn recovery(recovery: &Recovery, now: Timestamp) -> RecoveryJson<'_> {
    let (spec, status) = (&recovery.spec, recovery.status.as_ref());
    RecoveryJson {
        namespace: recovery.namespace().unwrap_or_default(),
        name: recovery.name_any(),
        pod: &spec.target.pod,
        workload: &spec.target.workload,
        kind: spec.incident.kind,
        container: &spec.incident.container,
        policy: &spec.policy.name,
        open: is_open(recovery),
        phase: status.and_then(|status| status.phase),
        onset: spec.incident.onset.0,
        ended: ended(recovery),
        seconds: lasted(recovery, now),
        crashes: status.and_then(|status| status.crash_loop.as_ref()).map(|facts| facts.crashes),
        says: status.and_then(|status| status.summary.as_deref()),
        verdict: status.and_then(|status| status.verdict.as_ref()).map(verdict),
    }
}

fn verdict(verdict: &VerdictReport) -> VerdictJson<'_> {
    VerdictJson {
        cause: &verdict.cause,
        probability: f64::from(verdict.probability_percent) / 100.0,
        decision: verdict.decision,
        reason: &verdict.reason,
        witnesses: &verdict.witnesses,
        vetoes: verdict.vetoes.iter().map(|veto| veto.name.as_str()).collect(),
        missing: verdict.missing.iter().map(step).collect(),
        advice: verdict.advice.iter().map(step).collect(),
    }
}

fn step(step: &AdviceStep) -> StepJson<'_> {
    StepJson { text: &step.text, command: step.command.as_deref() }
}
