//! Does one step of the plan. *Client, reads; writes go through the writer.* (P1, P11, P14)
//!
//! What is said comes before what is written: an Event has one name at every try, so dying between the two says nothing twice
//! and leaves nothing unsaid.

use api::{InspectionIntent, Look, Phase, Recovery, RecoveryPolicy, RecoveryStatus};
use diagnosis::{Ending, Hold, Make, Method, Step};
use jiff::Timestamp;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use kube::ResourceExt;

use super::{
    Said,
    act::ActError,
    desk::Leading,
    evidence,
    incidents::instance_of,
    inspection::Inspection,
    make,
    situation::{inspection_name, method_of, reason_of},
};
use crate::{
    error::OperatorError,
    record::{self, Condition, Truth},
};

/// Does it.
pub(super) async fn take(
    leading: &Leading,
    recovery: &Recovery,
    policy: Option<&RecoveryPolicy>,
    inspection: Inspection,
    step: Step,
) -> Result<(), OperatorError> {
    let now = leading.desk.clock.now();
    match (step, policy) {
        (Step::Begin { round }, _) => begin(leading, recovery, round, now).await,
        (Step::Intend(method), _) => intend(leading, recovery, method, now).await,
        (Step::TidyUp, _) => tidy_up(leading, recovery).await,
        (Step::Hold(why), _) => hold(leading, recovery, why, now).await,
        (Step::End(ending), _) => end(leading, recovery, &ending, now).await,
        (Step::Make(object), Some(policy)) => match make::make(leading, recovery, policy, object).await {
            Ok(()) => Ok(()),
            // The right is missing, or the object is refused for good: judged without it, and the record says so.
            Err(why) if why.is_final() => {
                judge(leading, recovery, policy, Inspection { end: Err(why.to_string()), ..inspection }).await
            }
            Err(why) => Err(why.into()),
        },
        (Step::Judge, Some(policy)) => judge(leading, recovery, policy, inspection).await,
        // The plan ends an incident without a policy before it makes or judges anything.
        (Step::Rest | Step::Wait(_), _)
        | (Step::Make(Make::Snapshot | Make::Claim | Make::Job) | Step::Judge, None) => Ok(()),
    }
}

async fn begin(leading: &Leading, recovery: &Recovery, round: u32, now: Timestamp) -> Result<(), OperatorError> {
    let mut status = recovery.status.clone().unwrap_or_default();
    status.phase = Some(Phase::Collecting);
    status.look = Some(Look { round, begun: Time(now), ended: None });
    let crashes = leading.desk.crash_facts(recovery);
    if round <= 1 {
        status.summary = Some(format!("collecting evidence: {}", record::opened(&recovery.spec, crashes.crashes)));
    }
    if recovery.status.as_ref().is_none_or(|status| status.phase.is_none()) {
        let note = format!("{}: {}", recovery.spec.target.pod, record::opened(&recovery.spec, crashes.crashes));
        tracing::info!(incident = %recovery.name_any(), replica = %instance_of(recovery), "{note}");
        let key = "opened".to_owned();
        let said = Said { key, reason: "IncidentOpened", action: "Detect", kind: "Warning", note };
        leading.writer.say(recovery, said).await?;
    }
    status.crash_loop = Some(crashes);
    leading.writer.record(recovery, status).await?;
    Ok(())
}

/// P11: written down before anything is made.
async fn intend(leading: &Leading, recovery: &Recovery, method: Method, now: Timestamp) -> Result<(), OperatorError> {
    let mut status = recovery.status.clone().unwrap_or_default();
    let round = status.look.as_ref().map_or(0, |look| look.round);
    let job = inspection_name(recovery, round);
    status.inspection = Some(InspectionIntent { method: method_of(method), job, asked: Time(now) });
    leading.writer.record(recovery, status).await?;
    Ok(())
}

async fn judge(
    leading: &Leading,
    recovery: &Recovery,
    policy: &RecoveryPolicy,
    inspection: Inspection,
) -> Result<(), OperatorError> {
    let judged = evidence::judge(&leading.desk, recovery, policy, inspection).await;
    let now = leading.desk.clock.now();
    let mut status = recovery.status.clone().unwrap_or_default();
    let before = status.verdict.clone();
    status.phase = Some(Phase::Judged);
    status.crash_loop = Some(leading.desk.crash_facts(recovery));
    status.evidence = Some(judged.report.clone());
    status.verdict = Some(judged.verdict.clone());
    let begun = status.look.as_ref().map_or(now, |look| look.begun.0);
    let seconds = now.duration_since(begun).as_secs_f64();
    if let Some(look) = &mut status.look {
        look.ended = Some(Time(now));
    }
    let verdict = &judged.verdict;
    let words = format!("{}: {}", verdict.cause, verdict.reason);
    status.summary = Some(format!("judged, {words}"));
    let condition = Condition { about: "Judged", is: Truth::True, reason: "Verdict", message: words.clone() };
    record::set_condition(&mut status.conditions, condition, recovery.metadata.generation, now);
    let would = judged.would_restore();
    record::set_condition(&mut status.conditions, would, recovery.metadata.generation, now);
    let round = status.look.as_ref().map_or(0, |look| look.round);
    let news = before.is_none_or(|before| before.cause != verdict.cause || before.decision != verdict.decision);
    if news {
        tracing::info!(incident = %recovery.name_any(), replica = %instance_of(recovery), "verdict: {words}");
        let said =
            Said { key: format!("judged-{round}"), reason: "Judged", action: "Judge", kind: "Normal", note: words };
        leading.writer.say(recovery, said).await?;
    }
    leading.writer.record(recovery, status).await?;
    leading.desk.metrics.verdict(&judged.verdict, seconds);
    Ok(())
}

async fn tidy_up(leading: &Leading, recovery: &Recovery) -> Result<(), OperatorError> {
    let mut status = recovery.status.clone().unwrap_or_default();
    let Some(intent) = status.inspection.take() else { return Ok(()) };
    leading.writer.remove_inspection(recovery, &intent.job).await?;
    leading.writer.record(recovery, status).await?;
    Ok(())
}

async fn hold(leading: &Leading, recovery: &Recovery, why: Hold, now: Timestamp) -> Result<(), OperatorError> {
    let mut status = recovery.status.clone().unwrap_or_default();
    let sentence = record::held_because(why, status.verdict.as_ref());
    let before = status.summary.clone();
    status.phase = Some(Phase::Held);
    status.summary = Some(sentence.clone());
    status.look.get_or_insert(Look { round: 0, begun: Time(now), ended: Some(Time(now)) });
    if status.crash_loop.is_none() {
        status.crash_loop = Some(leading.desk.crash_facts(recovery));
    }
    let condition = Condition { about: "Acting", is: Truth::False, reason: reason_of(why), message: sentence.clone() };
    record::set_condition(&mut status.conditions, condition, recovery.metadata.generation, now);
    let round = status.look.as_ref().map_or(0, |look| look.round);
    let already_said = was_held_alike(recovery, &sentence);
    // Of a storm the policy speaks, once (P7); and nobody is told the same twice.
    if why != Hold::Storm && !already_said && before.as_ref() != Some(&sentence) {
        let said = Said {
            key: format!("held-{round}-{}", reason_of(why).to_ascii_lowercase()),
            reason: "Held",
            action: "Hold",
            kind: "Warning",
            note: sentence,
        };
        leading.writer.say(recovery, said).await?;
    }
    leading.writer.record(recovery, status).await?;
    leading.desk.metrics.held(reason_of(why));
    Ok(())
}

fn was_held_alike(recovery: &Recovery, sentence: &str) -> bool {
    let conditions = recovery.status.iter().flat_map(|status: &RecoveryStatus| &status.conditions);
    conditions.filter(|condition| condition.type_ == "Acting").any(|acting| acting.message == sentence)
}

async fn end(leading: &Leading, recovery: &Recovery, ending: &Ending, now: Timestamp) -> Result<(), OperatorError> {
    let mut status = recovery.status.clone().unwrap_or_default();
    let sentence = record::summary(ending);
    let reason = match ending {
        Ending::RecoveredByItself(_) => "RecoveredByItself",
        Ending::ReplicaGone(_) => "ReplicaGone",
        Ending::NobodyWatches(_) => "NobodyWatches",
    };
    status.phase = Some(Phase::Abandoned);
    status.summary = Some(sentence.clone());
    status.ended = Some(Time(now));
    let condition = Condition { about: "Ended", is: Truth::True, reason, message: sentence.clone() };
    record::set_condition(&mut status.conditions, condition, recovery.metadata.generation, now);
    tracing::info!(incident = %recovery.name_any(), replica = %instance_of(recovery), "{sentence}");
    let said = Said { key: "ended".to_owned(), reason, action: "Observe", kind: "Normal", note: sentence };
    leading.writer.say(recovery, said).await?;
    leading.writer.record(recovery, status).await?;
    leading.desk.seen().log_book.forget(&instance_of(recovery));
    Ok(())
}

impl From<make::CannotMake> for OperatorError {
    fn from(error: make::CannotMake) -> Self {
        match error {
            make::CannotMake::Act(error) => Self::Act(error),
            make::CannotMake::Unread { what, source } => Self::Unread { what, source },
            make::CannotMake::Refused(why) => Self::Act(ActError::NotOurs { what: why }),
        }
    }
}
