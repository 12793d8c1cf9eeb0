//! What to do about each row of the judge's table. *No client.*

use super::{Advice, inspect, keep};
use crate::{Cause, DatabaseName, Decision, DiskReading, Evidence, Row, Verdict};

pub(super) fn advice(verdict: &Verdict, evidence: &Evidence) -> Vec<Advice> {
    let mut advice = look(verdict, evidence);
    match verdict.decision {
        Decision::Restore => advice.extend([restore(), replace_by_hand()]),
        Decision::Propose => {
            advice.extend(look_at_the_unseen(verdict).into_iter().chain([approve(), replace_by_hand()]));
        }
        Decision::Hold => {}
    }
    advice
}

/// What the row asks to look at or to repair, whatever the vetoes say.
fn look(verdict: &Verdict, evidence: &Evidence) -> Vec<Advice> {
    match verdict.row {
        Row::LogAndDisk | Row::DiskAlone | Row::AppHashSameImagePasses => Vec::new(),
        Row::SiblingsUnknown => vec![Advice::to_run(
            "See whether the others advance with the same image, twice some seconds apart: only then is the fault here.",
            super::by_cause::SIBLING_STATUS,
        )],
        Row::DiskCouldNotTell => vec![Advice::to_run(
            "Restore the snapshot into a claim of its own and read that: the disk could not be judged where it is.",
            "loopbreaker inspect HOME/data",
        )],
        Row::LogPointsElsewhere => {
            let other = verdict.other_cause.map_or("the other cause", Cause::in_words);
            vec![Advice::to_know(format!(
                "Settle {other} before any restore: it may have made the damage, or be the real cause, and would meet \
                 the new volume too."
            ))]
        }
        Row::DiskIntact => vec![Advice::to_run(
            "Do not restore yet: every check of the disk passes, so the evidence may be gone or the machine may be \
             sick. Put `loopbreaker guard` before the node's command to catch the next start, and look at the machine.",
            super::by_cause::MACHINE,
        )],
        Row::OnlyRebuildable => smaller_repairs(evidence),
        Row::AppHash => vec![Advice::to_run(
            "Compare image digests before touching data: an app hash mismatch is mostly the wrong binary.",
            super::by_cause::IMAGES,
        )],
        Row::AnythingElse => inspect(evidence).filter(|_| super::may_concern_data(verdict.cause)).into_iter().collect(),
    }
}

fn restore() -> Advice {
    Advice::to_know(
        "Restore this replica: under a RecoveryPolicy in mode Auto Loopbreaker does it, and one command undoes it.",
    )
}

fn look_at_the_unseen(verdict: &Verdict) -> Option<Advice> {
    let unseen = verdict.unseen.join("; ");
    (!unseen.is_empty()).then(|| Advice::to_know(format!("Before a restore, look at what nobody has: {unseen}.")))
}

fn approve() -> Advice {
    Advice::to_know(
        "Under a RecoveryPolicy the restore waits for your word: read the Recovery, then `loopbreaker approve` it by \
         name, or leave it.",
    )
}

/// No command here deletes: the owner of the claim may re-create it empty.
fn replace_by_hand() -> Advice {
    Advice::to_run(
        "By hand: let the volume outlive its claim, and only then let the owner re-create the claim from a snapshot that \
         is older than the first crash. Check its dataSource before the node starts: without one the volume is empty. \
         Take the newest priv_validator_state.json along.",
        "kubectl patch pv $(kubectl get pvc CLAIM -n NAMESPACE -o jsonpath={.spec.volumeName}) \
         -p '{\"spec\":{\"persistentVolumeReclaimPolicy\":\"Retain\"}}'",
    )
}

/// One repair for each damaged database that a node can rebuild, after the keeping step.
fn smaller_repairs(evidence: &Evidence) -> Vec<Advice> {
    let (DiskReading::Damaged(databases) | DiskReading::Inconsistent(databases)) = &evidence.disk else {
        return Vec::new();
    };
    [keep()].into_iter().chain(databases.iter().map(smaller_repair)).collect()
}

fn smaller_repair(database: &DatabaseName) -> Advice {
    match database.as_str() {
        "cs.wal" => consensus_wal_aside(),
        "tx_index" => Advice::to_run(
            "With the node stopped, move tx_index.db aside: the node builds a new one. Older transactions are not found \
             until they are indexed again (`cometbft reindex-event`); consensus needs none of it.",
            "mv HOME/data/tx_index.db HOME/data/tx_index.db.aside",
        ),
        "evidence" => Advice::to_run(
            "With the node stopped, move evidence.db aside: the node starts with an empty one.",
            "mv HOME/data/evidence.db HOME/data/evidence.db.aside",
        ),
        "addrbook" => Advice::to_run(
            "With the node stopped, move addrbook.json aside: the node finds its peers again from seeds and persistent \
             peers.",
            "mv HOME/config/addrbook.json HOME/config/addrbook.json.aside",
        ),
        "snapshots" | "metadata" => Advice::to_run(
            "With the node stopped, move the state-sync snapshots aside: they only serve others, and new ones are made.",
            "mv HOME/data/snapshots HOME/data/snapshots.aside",
        ),
        other => Advice::to_know(format!(
            "With the node stopped, move the database `{other}` aside: the node rebuilds it or lives without it."
        )),
    }
}

pub(super) fn consensus_wal_aside() -> Advice {
    Advice::to_run(
        "If it is the consensus log: with the node stopped, move cs.wal aside; the node writes a new one. Leave \
         priv_validator_state.json as it is: it alone then keeps a validator from signing twice.",
        "mv HOME/data/cs.wal HOME/data/cs.wal.aside",
    )
}
