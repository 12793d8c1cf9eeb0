//! What to do after an inspection. *No client.*

use chainstore::{Depth, FindingKind, Inspection, Outcome, ReadProblem, Reason, Severity};
use diagnosis::StartRole;

use super::{all_checks, all_findings, has_lost_databases, is_empty};
use crate::{incident::Step, inspect::needed_user};

/// The steps, in this order.
pub(super) fn steps(label: &str, depth: Depth, inspection: &Inspection) -> Vec<Step> {
    if is_empty(inspection) {
        return vec![
            step("Check the path, and that the node's volume is mounted there: a node started here begins at genesis."),
            command("Look for databases below it.", format!("find {} -maxdepth 4 -name '*.db'", quoted(label))),
        ];
    }
    let mut steps = match inspection.outcome {
        Outcome::Damaged => damaged(inspection),
        Outcome::Inconsistent => vec![
            step("Do not start the node on this volume yet; keep it as it is, or take a snapshot of it first."),
            step("Restore the newest snapshot whose heights belong together, and inspect it before it is used."),
        ],
        Outcome::CouldNotTell => could_not_tell(inspection),
        Outcome::Intact => intact(label, depth),
    };
    if inspection.outcome != Outcome::Intact && depth == Depth::Quick {
        steps.push(command("Read every checksum too.", format!("loopbreaker inspect {}", quoted(label))));
    }
    steps
}

fn damaged(inspection: &Inspection) -> Vec<Step> {
    let names: Vec<_> = all_findings(inspection)
        .into_iter()
        .filter(|finding| finding.severity() == Severity::Damage)
        .map(|finding| &finding.database)
        .collect();
    let partly = all_checks(inspection).any(|checks| !checks.untold.is_empty());
    if !partly && names.iter().all(|name| name.start_role() == StartRole::CanBeRebuilt) {
        return vec![step(
            "No restore is needed: a node lives without this data or builds it again. With the node stopped, move the \
             damaged directory aside (do not delete it) and start.",
        )];
    }
    vec![
        step(
            "Do not start the node on this volume: engines destroy the evidence at the next open. Take a snapshot of it \
             first, even though it is damaged.",
        ),
        step(
            "Restore a snapshot from before the damage into a volume of its own, inspect that one, and use it only if it \
             is intact.",
        ),
        command("Ask the machine's kernel whether its disk or memory is sick.", "dmesg --level=err,warn".to_owned()),
    ]
}

fn could_not_tell(inspection: &Inspection) -> Vec<Step> {
    let mut steps = Vec::new();
    if has_lost_databases(inspection) {
        steps.push(step(
            "Do not start a node here before it is clear where they went: it would begin empty ones, at genesis. Look for a \
             volume that is not mounted, and for who moved or removed them.",
        ));
        steps.push(step(
            "If they are lost, restore a snapshot that has all three, and keep this priv_validator_state.json: it must not \
             be taken back.",
        ));
    }
    let has = |kind| all_findings(inspection).iter().any(|finding| finding.kind == kind);
    if has(FindingKind::ReadsDiffer) {
        steps.push(step("Do not trust this machine: read the volume on another one before anything is restored."));
    }
    if has(FindingKind::TwoEngines) || has(FindingKind::WrongSetup) {
        steps.push(step(
            "Compare `db_backend` in config.toml and `app-db-backend` in app.toml with the engine that wrote the data.",
        ));
    }
    let reasons: Vec<&Reason> = all_checks(inspection).flat_map(|checks| &checks.untold).collect();
    let denied = reasons.iter().find_map(|reason| match reason {
        Reason::Unreadable(error) => match error.problem {
            ReadProblem::Denied { owner } => Some(owner),
            _ => None,
        },
        _ => None,
    });
    if let Some(owner) = denied {
        steps.push(step(&format!("Some files may not be read: {}.", needed_user(owner))));
    }
    if reasons.iter().any(|reason| matches!(reason, Reason::Changed(_))) {
        steps.push(step("A node writes here. Stop it, or inspect a volume restored from a snapshot of this one."));
    }
    if reasons.contains(&&Reason::Interrupted) {
        steps.push(step("It was stopped before its end: run it again; `--quick` takes seconds."));
    }
    if reasons.iter().any(|reason| matches!(reason, Reason::Unsupported(_))) {
        steps.push(step("What this version does not read, the engine's own tool may check, on a copy of the volume."));
    }
    if steps.is_empty() {
        steps.push(step("Neither damage nor soundness is proven; nothing should be restored because of this report."));
    }
    steps
}

fn intact(label: &str, depth: Depth) -> Vec<Step> {
    if depth == Depth::Quick {
        let text = "Damage inside of tables does not show at a quick look. Read every checksum.";
        return vec![command(text, format!("loopbreaker inspect {}", quoted(label)))];
    }
    let mut steps = vec![
        step(
            "If a node crash-loops on this data, the reason is elsewhere, or the evidence was destroyed by a start since \
             then; nothing should be restored because of this data.",
        ),
        command("Let the log of the crash speak.", "loopbreaker diagnose --log previous.log".to_owned()),
    ];
    if depth == Depth::Default {
        let text = "Where the log shows an app-hash mismatch, hash the application's trees too.";
        steps.push(command(text, format!("loopbreaker inspect --deep {}", quoted(label))));
    }
    steps
}

fn step(text: &str) -> Step {
    Step { text: text.to_owned(), place: None, command: None }
}

fn command(text: &str, command: String) -> Step {
    Step { text: text.to_owned(), place: None, command: Some(command) }
}

/// A path as a shell takes it whole.
fn quoted(path: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | '/' | '+' | ':' | '@');
    if !path.is_empty() && path.chars().all(plain) && !path.starts_with('-') {
        return path.to_owned();
    }
    let dashed = if path.starts_with('-') { "./" } else { "" };
    format!("'{dashed}{}'", path.replace('\'', r"'\''"))
}
