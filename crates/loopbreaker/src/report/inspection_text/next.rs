//! What to do after an inspection. *No client.*

use chainstore::{Depth, Finding, FindingKind, Inspection, Outcome, ReadProblem, Reason, Severity, SigningState};
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
        ]
        .into_iter()
        .chain(keep_signing_state(inspection))
        .collect(),
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
    if names.iter().any(|name| name.as_str() == "priv_validator_state") {
        return broken_signing_state(&names);
    }
    let partly = all_checks(inspection).any(|checks| !checks.untold.is_empty());
    if !partly && names.iter().all(|name| name.start_role() == StartRole::CanBeRebuilt) {
        return vec![step(
            "No restore is needed: a node lives without this data or builds it again. With the node stopped, move the \
             damaged directory aside (do not delete it) and start.",
        )];
    }
    let mut steps = vec![
        step(
            "Do not start the node on this volume: engines destroy the evidence at the next open. Take a snapshot of it \
             first, even though it is damaged.",
        ),
        step(
            "Restore a snapshot from before the damage into a volume of its own, inspect that one, and use it only if it \
             is intact.",
        ),
    ];
    steps.extend(keep_signing_state(inspection));
    steps.push(command(
        "Ask the machine's kernel whether its disk or memory is sick.",
        "dmesg --level=err,warn".to_owned(),
    ));
    steps
}

/// P10: a snapshot brings an older signing state back, with which the key can sign a height twice.
fn broken_signing_state(damaged: &[&diagnosis::DatabaseName]) -> Vec<Step> {
    let mut steps = vec![
        step(
            "Neither start the node nor restore a snapshot over priv_validator_state.json: an older signing state lets the \
             key sign a height twice, for which a validator is slashed.",
        ),
        step(
            "Find the last height, round and step that this key signed: in the chain's blocks, in a remote signer, in a \
             copy that is surely newer. Write the file with at least that height by hand, with the node stopped.",
        ),
    ];
    if damaged.iter().any(|name| name.as_str() != "priv_validator_state") {
        steps.push(step("Only then see to the other damage; a restored volume needs that same signing state."));
    }
    steps
}

/// What must come along to any restored volume.
fn keep_signing_state(inspection: &Inspection) -> Option<Step> {
    match inspection.node.as_ref()?.signing {
        SigningState::Signed { height, .. } if height > 0 => Some(step(&format!(
            "This node's key signed last at height {height}: take priv_validator_state.json along to the restored volume. \
             With an older one the key can sign a height twice."
        ))),
        _ => None,
    }
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
    let wrong_setup = |what| {
        all_findings(inspection)
            .iter()
            .any(|finding| finding.kind == FindingKind::WrongSetup && setup(finding, inspection) == what)
    };
    if has(FindingKind::TwoEngines) || wrong_setup(Setup::Engine) {
        steps.push(step(
            "Compare `db_backend` in config.toml and `app-db-backend` in app.toml with the engine that wrote the data.",
        ));
    }
    if wrong_setup(Setup::UpgradeInfo) {
        steps.push(step(
            "Put a whole upgrade-info.json in its place (a sibling that passed the same upgrade has one), or move it aside \
             where no upgrade was ever made.",
        ));
    }
    if wrong_setup(Setup::Genesis) {
        steps.push(step("Put the genesis file of the data's own chain into config/, or mount the right volume."));
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

/// What a wrong setup is about.
#[derive(PartialEq, Eq)]
enum Setup {
    Engine,
    UpgradeInfo,
    Genesis,
}

fn setup(finding: &Finding, inspection: &Inspection) -> Setup {
    // A genesis file of another chain is said of the state that it does not fit.
    let of_another_chain = inspection.node.as_ref().is_some_and(
        |node| matches!((&node.genesis_chain_id, &node.chain_id), (Some(genesis), Some(data)) if genesis != data),
    );
    match finding.database.as_str() {
        "upgrade-info" => Setup::UpgradeInfo,
        "config" => Setup::Genesis,
        "state" if of_another_chain => Setup::Genesis,
        _ => Setup::Engine,
    }
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
