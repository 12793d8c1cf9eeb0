//! What a node's own records and companions say, for people. *No client.*

use anstyle::Style;
use chainstore::{ConsensusWal, DiskSpace, IavlMode, Level, NodeReport, SigningState, StoreReport};

use super::Page;
use crate::words::{bytes, clean, counted};

/// How far each database has come, and whether a node can start from there.
pub(super) fn heights(page: &mut Page, node: &NodeReport) {
    let heights = node.heights;
    let level = |level: Level| match level {
        Level::At(height) => height.to_string(),
        Level::Empty => "empty".to_owned(),
        Level::Unknown => "not known".to_owned(),
    };
    page.heading("Heights");
    let blocks = match heights.blockstore_base {
        Level::At(base) => format!("{base} to {}", level(heights.blockstore)),
        _ => level(heights.blockstore),
    };
    let chain = node.chain_id.as_deref().map(|chain| format!("Chain {chain}: ")).unwrap_or_default();
    page.paragraph(&format!(
        "{chain}application {}, state {}, blocks {blocks}.",
        level(heights.application),
        level(heights.state)
    ));
    if let Some(start) = &node.start {
        page.paragraph(&match start.starts() {
            Some(true) => format!("A node can start from these heights: {start}."),
            Some(false) => "A node cannot start from these heights; what was found says why.".to_owned(),
            None => format!("Whether a node can start from these heights cannot be told: {start}."),
        });
    }
    if !node.stores.is_empty() {
        page.paragraph(&trees(node));
    }
}

/// How much of the trees was seen. What is wrong with them stands among the findings.
fn trees(node: &NodeReport) -> String {
    let fitting = node.stores.iter().filter(|store| store.root_fits == Some(true)).count();
    let count = counted(node.stores.len() as u64, "store");
    if fitting < node.stores.len() {
        return format!("Trees of {count}: {fitting} of the roots were found to have the hashes of the commit.");
    }
    let sum = |of: fn(&StoreReport) -> u64| node.stores.iter().map(of).fold(0, u64::saturating_add);
    let (leaves, walked) = (sum(|store| store.walked.size), sum(|store| store.walked.leaves));
    let what = match node.iavl {
        IavlMode::Off => "the roots have the hashes of the commit; no leaf was hashed".to_owned(),
        _ if walked >= leaves => format!("every leaf of the latest version ({leaves}) was hashed"),
        IavlMode::Sample => format!("a sample of {walked} of {leaves} leaves was hashed"),
        IavlMode::Latest => format!("{walked} of {leaves} leaves were hashed"),
    };
    format!("Trees of {count}: {what}.")
}

/// What stands beside the databases.
pub(super) fn companions(page: &mut Page, node: &NodeReport) {
    page.heading("Beside the databases");
    let mut lines = vec![signing(node.signing)];
    lines.extend(node.upgrade.as_ref().map(|upgrade| {
        let when =
            if upgrade.is_due(node.heights.application.height()) { "the next block" } else { "not the next one" };
        format!("upgrade-info.json: \"{}\" at block {}, {when}", clean(&upgrade.name), upgrade.height)
    }));
    lines.extend(node.wal.as_ref().map(consensus_wal));
    lines.extend(node.wasm.as_ref().map(|wasm| {
        let codes = wasm.codes.map_or("an unknown number of codes".to_owned(), |codes| counted(codes, "code"));
        format!("Contract code: {codes} stored, {} on disk", counted(wasm.files, "file"))
    }));
    lines.extend(node.snapshots.iter().map(|snapshot| snapshot.height).max().map(|newest| {
        let count = counted(node.snapshots.len() as u64, "state-sync snapshot");
        format!("{count}, the newest of block {newest}")
    }));
    lines.extend(node.space.map(space));
    for line in lines {
        page.styled(Style::new(), "  - ", "    ", &format!("{line}."));
    }
}

fn signing(state: SigningState) -> String {
    match state {
        SigningState::Missing => "priv_validator_state.json: not in the data directory".to_owned(),
        SigningState::Unreadable => "priv_validator_state.json: cannot be read".to_owned(),
        SigningState::Signed { height: 0, .. } => "priv_validator_state.json: nothing was signed yet".to_owned(),
        SigningState::Signed { height, round, step } => {
            format!("priv_validator_state.json: signed last at height {height}, round {round}, step {step}")
        }
    }
}

fn consensus_wal(wal: &ConsensusWal) -> String {
    let files = counted(wal.files as u64, "file");
    let end = wal.end_height.map_or("no block ends in it".to_owned(), |height| format!("block {height} ended"));
    let repaired = if wal.repaired_before { "; a node has repaired it before" } else { "" };
    format!("cs.wal: {files}, {end}{repaired}")
}

fn space(space: DiskSpace) -> String {
    let inodes = space.free_inodes.map_or_else(String::new, |inodes| format!(" and {}", counted(inodes, "inode")));
    let read_only = if space.read_only { "; it is mounted read-only" } else { "" };
    format!("The volume: {} of {}{inodes} free{read_only}", bytes(space.free_bytes), bytes(space.total_bytes))
}
