//! Whether application, state and block store belong together beyond their heights: chain, last block, application hash.
//! *No files of its own.*
//!
//! Source: CometBFT `consensus/replay.go` (`assertAppHashEqualsOneFromState`), `types/block.go` (a header carries the
//! application's hash after the block before it); formats 9. That a commit differs from what the *chain* says is no proof of
//! damage: a wrong binary and the IAVL race of 1.2 leave the same (formats 8.4). It is noted, not judged.

use crate::cometbft::block_store::read_meta;
use crate::cometbft::{BlockMeta, BlockStore, StateStore};
use crate::digest::{Hash32, Hex};
use crate::records::{Records, Source};
use crate::sdk::{self, Root};
use crate::{Checks, FindingKind};

/// The application's hash, as each database says it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct AppHashes {
    /// After the state's height, as the state says.
    pub state: Option<Vec<u8>>,
    /// After the application's height, computed from its commit.
    pub application: Option<Hash32>,
    /// After the state's height, computed from the commit of that height, if it is still there.
    pub application_at_state: Option<Hash32>,
    /// After the application's height, as the header of the next block says, if that block is there.
    pub chain: Option<Vec<u8>>,
}

/// What was read of the three databases.
pub(crate) struct Read<'r, 'v> {
    pub(crate) application: Source<'v>,
    pub(crate) blockstore: Source<'v>,
    pub(crate) state_records: Source<'v>,
    pub(crate) root: &'r Root,
    pub(crate) state: &'r StateStore,
    pub(crate) blocks: &'r BlockStore,
}

impl Read<'_, '_> {
    /// Compares them; the hashes are given back.
    pub(crate) fn compare(&self, checks: &mut Checks) -> AppHashes {
        let hashes = self.hashes(checks);
        if let Some(records) = self.state_records.records() {
            self.compare_hashes(&records, &hashes, checks);
            self.compare_chains(&records, checks);
            self.compare_last_block(&records, checks);
        }
        hashes
    }

    fn hashes(&self, checks: &mut Checks) -> AppHashes {
        let mut hashes = AppHashes {
            state: self.state.state.as_ref().filter(|state| state.height > 0).map(|state| state.app_hash.clone()),
            application: self.root.commit.as_ref().map(sdk::CommitInfo::app_hash),
            ..AppHashes::default()
        };
        let application = self.root.commit.as_ref().map(|commit| commit.version);
        let state = self.state.height.height().filter(|height| *height > 0);
        hashes.application_at_state = match (application, state, self.application.records()) {
            (Some(application), Some(state), _) if application == state => hashes.application,
            (Some(application), Some(state), Some(records)) if application > state => {
                sdk::read_commit(&records, state, checks).ok().flatten().map(|commit| commit.app_hash())
            }
            _ => None,
        };
        let next = application.map(|height| height.saturating_add(1));
        hashes.chain = next.and_then(|next| self.block(next, checks)).map(|meta| meta.app_hash);
        hashes
    }

    /// The header of a block, if it is stored.
    fn block(&self, height: u64, checks: &mut Checks) -> Option<BlockMeta> {
        let (base, last) = (self.blocks.base.height()?, self.blocks.height.height()?);
        if height < base || height > last {
            return None;
        }
        if let Some(meta) = self.blocks.last.as_ref().filter(|meta| meta.height == height) {
            return Some(meta.clone());
        }
        read_meta(&self.blockstore.records()?, self.blocks.layout, height, checks).ok()?
    }

    fn compare_hashes(&self, records: &Records<'_>, hashes: &AppHashes, checks: &mut Checks) {
        if let (Some(state), Some(application)) = (&hashes.state, &hashes.application_at_state)
            && **state != application.0
        {
            let height = self.state.height.height().unwrap_or_default();
            let detail = format!(
                "state and application have different hashes after block {height}: they are not of one history, and the node \
                 ends with \"state.AppHash does not match AppHash after replay\""
            );
            let wrong = records.finding(FindingKind::Mismatch, detail);
            checks.add(wrong.values(Hex(state).to_string(), application.to_string()));
        }
        if let (Some(chain), Some(application)) = (&hashes.chain, &hashes.application)
            && **chain != application.0
        {
            let detail = "the application's hash is not the one that the next block names: a wrong binary leaves this as \
                          well as damage; only the hashes of the trees tell them apart";
            let noted = records.finding(FindingKind::Remark, detail);
            checks.add(noted.values(Hex(chain).to_string(), application.to_string()));
        }
    }

    fn compare_chains(&self, records: &Records<'_>, checks: &mut Checks) {
        let (Some(state), Some(last)) = (&self.state.state, &self.blocks.last) else { return };
        if state.chain_id != last.chain_id {
            let detail = format!("state is of chain {}, the block store of {}", state.chain_id, last.chain_id);
            checks.add(records.finding(FindingKind::Mismatch, detail));
        }
    }

    /// The block that the state applied last is the one that is stored at its height.
    fn compare_last_block(&self, records: &Records<'_>, checks: &mut Checks) {
        let Some(state) = self.state.state.as_ref().filter(|state| state.height > 0) else { return };
        let Some(meta) = self.block(state.height, checks) else { return };
        if let (Some(applied), Some(stored)) = (state.last_block, meta.hash)
            && applied != stored
        {
            let detail = format!("the block that the state applied at {} is not the stored one", state.height);
            let wrong = records.finding(FindingKind::Mismatch, detail);
            checks.add(wrong.values(applied.to_string(), stored.to_string()));
        }
    }
}
