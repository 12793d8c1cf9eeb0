//! What stands beside the databases, and the application's trees, in JSON. *No client.*

use chainstore::{ConsensusWal, DiskSpace, NodeReport, SigningState, Snapshot, StoreReport, UpgradeInfo, WasmReport};
use serde::Serialize;

use crate::words::clean;

/// Null in each field that is not there or was not read.
#[derive(Serialize, Default)]
pub(super) struct CompanionsJson {
    trees: Option<TreesJson>,
    cometbft: Option<String>,
    genesis_chain_id: Option<String>,
    signing: Option<SigningJson>,
    upgrade: Option<UpgradeJson>,
    consensus_wal: Option<ConsensusWalJson>,
    wasm: Option<WasmJson>,
    snapshots: Option<Vec<SnapshotJson>>,
    space: Option<SpaceJson>,
}

#[derive(Serialize)]
struct TreesJson {
    walk: &'static str,
    stores: Vec<StoreJson>,
}

#[derive(Serialize)]
struct StoreJson {
    name: String,
    version: u64,
    newest: Option<u64>,
    root_fits: Option<bool>,
    leaves: u64,
    walked_leaves: u64,
    walked_nodes: u64,
}

#[derive(Serialize)]
#[serde(tag = "state", rename_all = "snake_case")]
enum SigningJson {
    Missing,
    Unreadable,
    Signed { height: u64, round: i64, step: i64 },
}

#[derive(Serialize)]
struct UpgradeJson {
    name: String,
    height: i64,
    is_due: bool,
}

#[derive(Serialize)]
struct ConsensusWalJson {
    files: usize,
    records: u64,
    end_height: Option<u64>,
    repaired_before: bool,
}

#[derive(Serialize)]
struct WasmJson {
    codes: Option<u64>,
    files: u64,
}

#[derive(Serialize)]
struct SnapshotJson {
    height: u64,
    format: u64,
    chunks: usize,
}

#[derive(Serialize)]
struct SpaceJson {
    free_bytes: u64,
    total_bytes: u64,
    free_inodes: Option<u64>,
    read_only: bool,
}

impl CompanionsJson {
    pub(super) fn of(node: &NodeReport) -> Self {
        let trees = || TreesJson { walk: node.iavl.name(), stores: node.stores.iter().map(store).collect() };
        Self {
            trees: (!node.stores.is_empty()).then(trees),
            cometbft: node.cometbft.as_deref().map(clean),
            genesis_chain_id: node.genesis_chain_id.as_deref().map(clean),
            signing: Some(signing(node.signing)),
            upgrade: node.upgrade.as_ref().map(|it| upgrade(it, node.heights.application.height())),
            consensus_wal: node.wal.as_ref().map(consensus_wal),
            wasm: node.wasm.as_ref().map(|WasmReport { codes, files }| WasmJson { codes: *codes, files: *files }),
            snapshots: Some(node.snapshots.iter().map(snapshot).collect()),
            space: node.space.map(space),
        }
    }
}

fn store(store: &StoreReport) -> StoreJson {
    StoreJson {
        name: clean(&store.name),
        version: store.version,
        newest: store.newest,
        root_fits: store.root_fits,
        leaves: store.walked.size,
        walked_leaves: store.walked.leaves,
        walked_nodes: store.walked.nodes,
    }
}

fn signing(state: SigningState) -> SigningJson {
    match state {
        SigningState::Missing => SigningJson::Missing,
        SigningState::Unreadable => SigningJson::Unreadable,
        SigningState::Signed { height, round, step } => SigningJson::Signed { height, round, step },
    }
}

fn upgrade(info: &UpgradeInfo, application: Option<u64>) -> UpgradeJson {
    UpgradeJson { name: clean(&info.name), height: info.height, is_due: info.is_due(application) }
}

fn consensus_wal(wal: &ConsensusWal) -> ConsensusWalJson {
    let ConsensusWal { files, end_height, records, repaired_before } = *wal;
    ConsensusWalJson { files, records, end_height, repaired_before }
}

fn snapshot(snapshot: &Snapshot) -> SnapshotJson {
    SnapshotJson { height: snapshot.height, format: snapshot.format, chunks: snapshot.chunks.len() }
}

fn space(space: DiskSpace) -> SpaceJson {
    let DiskSpace { free_bytes, total_bytes, free_inodes, read_only } = space;
    SpaceJson { free_bytes, total_bytes, free_inodes, read_only }
}
