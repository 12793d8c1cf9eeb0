//! A node's own records, read through the views of its databases: heights, chain, hashes, trees, companions. *Files,
//! read-only.*
//!
//! The engines' checks say whether bytes are right; this says whether what they mean can be a node's data. It opens no
//! database: whoever has opened them hands in the views.

use std::num::NonZeroUsize;

use crate::agreement::{AppHashes, Read};
use crate::cometbft::{self, BlockStore, ConsensusWal, SigningState, StateStore};
use crate::disk_space::DiskSpace;
use crate::files::DataDir;
use crate::heights::Heights;
use crate::home::Home;
use crate::iavl::{IavlMode, StoreReport, check_stores};
use crate::invariants::{self, Situation, Start};
use crate::records::{Source, note};
use crate::sdk::{self, Root, Snapshot, UpgradeInfo, WasmReport};
use crate::store::Depth;
use crate::{Checks, Finding, FindingKind, Reason};

/// The databases of one node.
#[derive(Clone, Copy)]
pub struct NodeSources<'v> {
    /// `application.db`.
    pub application: Source<'v>,
    /// `state.db`.
    pub state: Source<'v>,
    /// `blockstore.db`.
    pub blockstore: Source<'v>,
    /// `snapshots/metadata.db`.
    pub snapshots: Source<'v>,
}

/// How much is looked at.
#[derive(Debug, Clone, Copy)]
pub struct NodeOptions {
    /// Below [`Depth::Default`], the content of contract code and snapshots is not read.
    pub depth: Depth,
    /// How much of the trees is walked.
    pub iavl: IavlMode,
    /// Threads for the trees.
    pub threads: NonZeroUsize,
}

/// What a node's records say.
#[derive(Debug, Clone, Default)]
pub struct NodeReport {
    /// How far each database has come.
    pub heights: Heights,
    /// What the node does with these heights when it starts.
    pub start: Option<Start>,
    /// The chain.
    pub chain_id: Option<String>,
    /// The chain that the genesis file names.
    pub genesis_chain_id: Option<String>,
    /// The version of CometBFT that wrote the state last.
    pub cometbft: Option<String>,
    /// When the last applied block was made, in seconds since 1970.
    pub last_block_seconds: Option<i64>,
    /// The addresses of the validators around the state's height.
    pub validators: Vec<Vec<u8>>,
    /// The application's hash, as each database says it.
    pub app_hashes: AppHashes,
    /// How much of their trees was walked.
    pub iavl: IavlMode,
    /// The application's stores.
    pub stores: Vec<StoreReport>,
    /// What this node signed last.
    pub signing: SigningState,
    /// Whether the key file is there (never opened); none if the configuration was not seen.
    pub has_validator_key: Option<bool>,
    /// Whether the node's identity is there (never opened); none if the configuration was not seen.
    pub has_node_key: Option<bool>,
    /// Peers in the address book.
    pub peers: Option<u64>,
    /// The upgrade that was reached last.
    pub upgrade: Option<UpgradeInfo>,
    /// The consensus log.
    pub wal: Option<ConsensusWal>,
    /// Contract code.
    pub wasm: Option<WasmReport>,
    /// State-sync snapshots.
    pub snapshots: Vec<Snapshot>,
    /// What is left on the volume.
    pub space: Option<DiskSpace>,
    /// Findings, notes, and what nobody could tell.
    pub checks: Checks,
}

/// Reads a node's records. `named` is the directory that the user named: a home, or its data directory.
#[must_use]
pub fn read_node(sources: &NodeSources<'_>, named: &DataDir, options: &NodeOptions) -> NodeReport {
    let mut report = NodeReport::default();
    let mut checks = Checks::default();
    let home = Home::of(named, &mut checks);
    if let Some(commit) = report.read_databases(sources, &home, &mut checks) {
        report.read_stores(sources, &commit, named, options, &mut checks);
    }
    report.read_companions(sources, &home, options, &mut checks);
    report.checks = checks;
    report
}

impl NodeReport {
    /// The three databases and what they say of each other; the application's commit is given back.
    fn read_databases(
        &mut self,
        sources: &NodeSources<'_>,
        home: &Home,
        checks: &mut Checks,
    ) -> Option<sdk::CommitInfo> {
        let root = Root::read(sources.application, checks);
        let state = StateStore::read(sources.state, checks);
        let blocks = BlockStore::read(sources.blockstore, checks);
        self.heights = Heights {
            application: root.latest,
            state: state.height,
            blockstore: blocks.height,
            blockstore_base: blocks.base,
        };
        let read = Read {
            application: sources.application,
            blockstore: sources.blockstore,
            state_records: sources.state,
            root: &root,
            state: &state,
            blocks: &blocks,
        };
        self.app_hashes = read.compare(checks);
        let situation = Situation {
            heights: self.heights,
            initial_height: state.state.as_ref().map(|state| state.initial_height),
            offline_state_sync: state.offline_state_sync,
            responses_to_next: state.responses_to_next,
        };
        self.start = Some(invariants::start(&situation));
        for refusal in invariants::refusals(&situation) {
            let database = diagnosis::DatabaseName::new(refusal.database());
            let path = home.data.path().join(format!("{}.db", refusal.database()));
            checks.add(Finding::new(FindingKind::HeightsDisagree, &database, &path, refusal.to_string()));
        }
        if let Some(state) = state.state {
            self.chain_id = Some(state.chain_id);
            self.cometbft = Some(state.software).filter(|software| !software.is_empty());
            self.last_block_seconds = Some(state.last_block_seconds).filter(|_| state.height > 0);
            self.validators = state.validators;
        }
        root.commit
    }

    fn read_stores(
        &mut self,
        sources: &NodeSources<'_>,
        commit: &sdk::CommitInfo,
        named: &DataDir,
        options: &NodeOptions,
        checks: &mut Checks,
    ) {
        self.iavl = options.iavl;
        self.stores = commit.stores.iter().map(StoreReport::unread).collect();
        let Some(records) = sources.application.records() else { return };
        match note(records.view.first_with_prefix(b"s/k:"), checks) {
            Ok(Some(_)) => {}
            Ok(None) => {
                let what = "the application keeps its trees outside of application.db (memiavl or another store)";
                checks.add(Reason::Unsupported(what.to_owned()));
                return;
            }
            Err(_) => return,
        }
        let (stores, found) = check_stores(&records, commit, options.iavl, options.threads, named.meter());
        self.stores = stores;
        checks.extend(found);
    }

    fn read_companions(&mut self, sources: &NodeSources<'_>, home: &Home, options: &NodeOptions, checks: &mut Checks) {
        let hash_files = options.depth > Depth::Quick;
        let height = self.heights.application.height();
        self.signing = cometbft::signing_state(&home.data, checks);
        self.has_validator_key = home.has_config_file("priv_validator_key.json");
        self.has_node_key = home.has_config_file("node_key.json");
        self.peers = cometbft::address_book(home, checks);
        self.genesis_chain_id = cometbft::genesis_chain_id(home, checks);
        self.upgrade = sdk::upgrade_info(&home.data, checks);
        self.wal = ConsensusWal::read(&home.data, checks);
        self.wasm = sdk::check_wasm(home, sources.application.records(), height, hash_files, checks);
        self.snapshots = sdk::check_snapshots(sources.snapshots, &home.data, hash_files, checks);
        match home.data.space() {
            Ok(space) => self.space = Some(space),
            Err(error) => checks.add(Reason::Unreadable(error)),
        }
        self.compare_companions(home, checks);
    }

    /// Companions against the databases. Only the genesis file can be wrong; the others say what to mind.
    fn compare_companions(&self, home: &Home, checks: &mut Checks) {
        let finding = |kind, database: &str, file: &str, detail: String| {
            Finding::new(kind, &diagnosis::DatabaseName::new(database), &home.data.path().join(file), detail)
        };
        if let (Some(genesis), Some(chain)) = (&self.genesis_chain_id, &self.chain_id)
            && genesis != chain
        {
            let detail = format!("the genesis file is of chain {genesis}, the data of {chain}");
            checks.add(finding(FindingKind::WrongSetup, "state", "state.db", detail));
        }
        let stored = self.heights.blockstore.at_start();
        if let (SigningState::Signed { height, .. }, Some(stored)) = (self.signing, stored)
            && height > stored.saturating_add(1)
        {
            let detail = format!(
                "this node has signed at height {height}, while its block store ends at {stored}: the data is older than the \
                 signing state, which must not be taken back"
            );
            checks.add(finding(FindingKind::Remark, "priv_validator_state", "priv_validator_state.json", detail));
        }
        if let Some(upgrade) = self.upgrade.as_ref().filter(|up| up.is_due(self.heights.application.height())) {
            let detail =
                format!("the next block ({}) needs the binary of upgrade \"{}\"", upgrade.height, upgrade.name);
            checks.add(finding(FindingKind::Remark, "upgrade-info", "upgrade-info.json", detail));
        }
    }
}
