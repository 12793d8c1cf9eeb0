//! How policies and incidents stand, for people: a sentence each, and what to do next. *No client, no clock.* Fits 80 columns.

use anstyle::Style;
use api::{AdviceStep, Phase, Recovery, RecoveryPolicy, VerdictReport};
use jiff::Timestamp;
use kube::ResourceExt;

use super::page::{ALARM, BOLD, FAINT, Page};
use crate::{
    status::{Standing, is_open, lasted},
    suspend::mode,
    words::{clean, counted, duration},
};

/// Ended incidents that are shown; JSON lists every one.
const ENDED_SHOWN: usize = 10;

const PLAIN: Style = Style::new();

/// The whole page.
pub(crate) fn render(standing: &Standing, now: Timestamp) -> String {
    let mut page = Page::default();
    if standing.policies.is_empty() {
        page.heading(&match &standing.namespace {
            Some(namespace) => format!("Namespace {}: no RecoveryPolicy", clean(namespace)),
            None => "No RecoveryPolicy in any namespace".to_owned(),
        });
        page.paragraph(
            "Nothing is watched here: apply a RecoveryPolicy that selects the nodes (docs/operator.md has one), or ask \
             about other namespaces with -A.",
        );
    }
    for policy in &standing.policies {
        self::policy(&mut page, policy);
    }
    let (open, ended): (Vec<&Recovery>, Vec<&Recovery>) =
        standing.recoveries.iter().partition(|recovery| is_open(recovery));
    for recovery in open {
        incident(&mut page, recovery, now);
    }
    if !ended.is_empty() {
        page.heading("Ended");
        for recovery in ended.iter().take(ENDED_SHOWN) {
            let said = format!("{}, after {}: {}", named(recovery), duration(lasted(recovery, now)), says(recovery));
            page.styled(FAINT, "  ", "    ", &said);
        }
        if ended.len() > ENDED_SHOWN {
            page.styled(FAINT, "  ", "  ", &format!("and {} more (--output json)", ended.len() - ENDED_SHOWN));
        }
    }
    if !standing.unread.is_empty() {
        page.heading("Could not be read");
        for why in &standing.unread {
            page.styled(PLAIN, "  ", "    ", why);
        }
    }
    page.finish()
}

/// One policy: its mode, whether it is suspended, what it says, and what is wrong with it.
fn policy(page: &mut Page, policy: &RecoveryPolicy) {
    let force = if policy.spec.suspend { ", suspended" } else { "" };
    let name = format!("{}/{}", policy.namespace().unwrap_or_default(), policy.name_any());
    page.heading(&clean(&format!("RecoveryPolicy {name}: {}{force}", mode(policy.spec.mode))));
    let Some(status) = &policy.status else {
        page.paragraph("No operator has looked at it yet: is one running, and does it watch this namespace?");
        return;
    };
    let mut counts = Vec::new();
    counts.extend(status.workloads.map(|count| counted(u64::from(count), "workload")));
    counts.extend(status.open_incidents.map(|count| counted(u64::from(count), "open incident")));
    let counts = if counts.is_empty() { String::new() } else { format!(" ({})", counts.join(", ")) };
    page.paragraph(&format!("{}{counts}", status.summary.as_deref().unwrap_or("It says nothing yet")));
    if status.observed_generation != policy.metadata.generation {
        page.paragraph("It was changed since the operator last looked at it.");
    }
    for condition in &status.conditions {
        let wrong = match condition.type_.as_str() {
            "Storm" => condition.status == "True",
            _ => condition.status != "True",
        };
        if wrong {
            page.styled(ALARM, "  ", "    ", &format!("{}: {}", condition.reason, condition.message));
        }
    }
}

/// One open incident.
fn incident(page: &mut Page, recovery: &Recovery, now: Timestamp) {
    let lasts = duration(lasted(recovery, now));
    page.heading(&clean(&format!("Replica {}, for {lasts}", named(recovery))));
    page.styled(BOLD, "  ", "  ", &says(recovery));
    let status = recovery.status.as_ref();
    let crashes = status.and_then(|status| status.crash_loop.as_ref()).map(|facts| facts.crashes);
    let phase = status.and_then(|status| status.phase).map_or("just opened", words);
    let crashes = crashes.filter(|crashes| *crashes > 0).map(|count| counted_crashes(count) + ", ");
    let record = format!("recovery {}", recovery.name_any());
    page.paragraph(&format!("{}{phase}; {record}", crashes.unwrap_or_default()));
    if let Some(verdict) = status.and_then(|status| status.verdict.as_ref()) {
        next(page, verdict);
    }
}

fn next(page: &mut Page, verdict: &VerdictReport) {
    let Some(AdviceStep { text, command }) = verdict.advice.first().or_else(|| verdict.missing.first()) else { return };
    page.styled(PLAIN, "  Next: ", "  ", text);
    if let Some(command) = command {
        super::text::command(page, &clean(command));
    }
}

fn counted_crashes(count: u32) -> String {
    if count == 1 { "1 crash".to_owned() } else { format!("{count} crashes") }
}

fn named(recovery: &Recovery) -> String {
    format!("{}/{}", recovery.namespace().unwrap_or_default(), recovery.spec.target.pod)
}

fn says(recovery: &Recovery) -> String {
    let said = recovery.status.as_ref().and_then(|status| status.summary.clone());
    said.unwrap_or_else(|| "opened; the operator has not looked at it yet".to_owned())
}

/// A phase as people say it.
fn words(phase: Phase) -> &'static str {
    match phase {
        Phase::Collecting => "evidence is being collected",
        Phase::Judged => "judged",
        Phase::Restoring => "a snapshot is being restored",
        Phase::Proving => "the restored volume is being inspected",
        Phase::AwaitingApproval => "waits for your approval",
        Phase::Detaching => "pod and claim are being taken off the original volume",
        Phase::Swapping => "the claim is being bound to the proven volume",
        Phase::Starting => "the node is starting",
        Phase::Soaking => "the node runs and must show that it advances",
        Phase::Recovered => "recovered",
        Phase::Held => "held",
        Phase::RolledBack => "the original volume is back",
        Phase::Abandoned => "abandoned",
        Phase::NeedsHuman => "needs a human",
        Phase::Blocked => "waits, holding the replica, until a human undoes or releases",
    }
}
