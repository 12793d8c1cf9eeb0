//! Whether a node can start from these heights, and what disagrees if it cannot. *No files.*
//!
//! Source: CometBFT `consensus/replay.go` (`ReplayBlocks`: the same cases in the same order in v0.34.29, v0.38.15 and
//! v1.0.1), `blocksync/reactor.go` (`NewReactor`) and `state/store.go` (`LoadLastFinalizeBlockResponse`); formats 9. A, S, T
//! and B below are the heights of application, block store and state, and the block store's base, as in the source.

use std::fmt;

use crate::heights::Heights;

/// What decides whether a node can start.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Situation {
    /// How far each database has come.
    pub heights: Heights,
    /// The chain's first height; 1 if not known.
    pub initial_height: Option<u64>,
    /// The height at which an offline state sync left the state (a record of 0.38 and later).
    pub offline_state_sync: Option<u64>,
    /// Whether state.db has the responses to the block above its height, which stand in for a block that the application
    /// has already committed.
    pub responses_to_next: Option<bool>,
}

/// What a node does with these heights when it starts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Start {
    /// Everything is empty: the node begins at genesis.
    Genesis,
    /// All agree: the node goes on.
    InStep(u64),
    /// The application is given these blocks again; the last may be one that was stored and not yet applied.
    Replays {
        /// The first of them.
        from: u64,
        /// The last of them.
        to: u64,
    },
    /// The last stored block was committed by the application, but not yet by the state: it is applied with the responses
    /// that were saved, and the application is not asked again.
    AppliesSavedResponses(u64),
    /// The block store is empty after an offline state sync: blocks are fetched from the next height on.
    AfterStateSync(u64),
    /// The node ends with an error.
    Refuses(Refusal),
    /// Heights are missing, and the ones that are known do not rule a start out.
    Unknown,
}

impl Start {
    /// Whether the node starts, where that can be told.
    #[must_use]
    pub fn starts(&self) -> Option<bool> {
        match self {
            Self::Unknown => None,
            Self::Refuses(_) => Some(false),
            _ => Some(true),
        }
    }
}

impl fmt::Display for Start {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Genesis => f.write_str("everything is empty: the node begins at genesis"),
            Self::InStep(height) => write!(f, "application, state and block store agree on height {height}"),
            Self::Replays { from, to } if from == to => write!(f, "the node starts and replays block {from}"),
            Self::Replays { from, to } => write!(f, "the node starts and replays blocks {from} to {to}"),
            Self::AppliesSavedResponses(height) => {
                write!(f, "the node starts and applies block {height} with the responses that were saved")
            }
            Self::AfterStateSync(height) => {
                write!(f, "the node starts after a state sync to height {height} and fetches the blocks above it")
            }
            Self::Refuses(refusal) => refusal.fmt(f),
            Self::Unknown => f.write_str("not all heights are known"),
        }
    }
}

/// Why a node does not start from these heights.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Refusal {
    /// A > S.
    ApplicationAhead {
        /// A.
        application: u64,
        /// S.
        blockstore: u64,
    },
    /// 0 < A < B − 1.
    ApplicationBelowBase {
        /// A.
        application: u64,
        /// B.
        base: u64,
    },
    /// A = 0, while the block store no longer has the chain's first block.
    ApplicationEmpty {
        /// B.
        base: u64,
    },
    /// S = T = 0 < A.
    ApplicationAlone {
        /// A.
        application: u64,
    },
    /// T > S.
    StateAhead {
        /// T.
        state: u64,
        /// S.
        blockstore: u64,
    },
    /// S > T + 1.
    StateBehind {
        /// T.
        state: u64,
        /// S.
        blockstore: u64,
    },
    /// S = 0 < T.
    BlockStoreEmpty {
        /// T.
        state: u64,
    },
    /// A = S = T + 1, and state.db does not have the responses to that block.
    ResponsesMissing {
        /// S.
        height: u64,
    },
}

impl Refusal {
    /// The database that does not fit the others (its directory's stem).
    #[must_use]
    pub fn database(self) -> &'static str {
        match self {
            Self::ApplicationAhead { .. }
            | Self::ApplicationBelowBase { .. }
            | Self::ApplicationEmpty { .. }
            | Self::ApplicationAlone { .. } => "application",
            Self::StateAhead { .. } | Self::StateBehind { .. } | Self::ResponsesMissing { .. } => "state",
            Self::BlockStoreEmpty { .. } => "blockstore",
        }
    }
}

/// `3 blocks`, `1 block`.
fn blocks(count: u64) -> String {
    if count == 1 { "1 block".to_owned() } else { format!("{count} blocks") }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::ApplicationAhead { application, blockstore } => write!(
                f,
                "the application is {} ahead of the block store ({application} against {blockstore}): this node cannot \
                 replay, and ends with \"app block height ({application}) is higher than core ({blockstore})\"",
                blocks(application.saturating_sub(blockstore))
            ),
            Self::ApplicationBelowBase { application, base } => write!(
                f,
                "the application stands at {application}, but the block store begins at {base}: the blocks it would have \
                 to replay are gone, and the node ends with \"app block height ({application}) is too far below block \
                 store base ({base})\""
            ),
            Self::ApplicationEmpty { base } => write!(
                f,
                "the application is empty, and the block store begins at {base}: the chain cannot be replayed from its \
                 first block, and the node ends with \"app block height (0) is too far below block store base ({base})\""
            ),
            Self::ApplicationAlone { application } => write!(
                f,
                "the application stands at {application}, but state and block store are empty: the node takes the chain \
                 for a new one, and ends with \"state.AppHash does not match AppHash after replay\""
            ),
            Self::StateAhead { state, blockstore } => write!(
                f,
                "the state is {} ahead of the block store ({state} against {blockstore}): the node panics with \
                 \"StateBlockHeight ({state}) > StoreBlockHeight ({blockstore})\"",
                blocks(state.saturating_sub(blockstore))
            ),
            Self::StateBehind { state, blockstore } => write!(
                f,
                "the state is {} behind the block store ({state} against {blockstore}); one is normal, more is not: the \
                 node panics with \"StoreBlockHeight ({blockstore}) > StateBlockHeight + 1 ({})\"",
                blocks(blockstore.saturating_sub(state)),
                state.saturating_add(1)
            ),
            Self::BlockStoreEmpty { state } => write!(
                f,
                "the block store is empty or missing, while the state stands at {state}: the node panics with \"state \
                 ({state}) and store (0) height mismatch\"; a state sync that was stopped before its first block leaves \
                 the same"
            ),
            Self::ResponsesMissing { height } => write!(
                f,
                "the application has committed block {height} and the state has not, but the responses to this block are \
                 not in state.db: the block can neither be replayed nor skipped"
            ),
        }
    }
}

/// What a node does with these heights, in the order in which its source asks.
#[must_use]
pub fn start(situation: &Situation) -> Start {
    let heights = situation.heights;
    let (a, s, t) = (heights.application.at_start(), heights.blockstore.at_start(), heights.state.at_start());
    let refused = refusals(situation);
    if let Some(first) = refused.first() {
        return Start::Refuses(*first);
    }
    let (Some(a), Some(s), Some(t)) = (a, s, t) else { return Start::Unknown };
    let first = if a == 0 { situation.initial_height.unwrap_or(1) } else { a.saturating_add(1) };
    match (a == s, s == t) {
        _ if s == 0 && t == 0 => Start::Genesis,
        _ if s == 0 => Start::AfterStateSync(t),
        (true, true) => Start::InStep(s),
        (false, _) => Start::Replays { from: first, to: s },
        (true, false) if situation.responses_to_next == Some(true) => Start::AppliesSavedResponses(s),
        (true, false) => Start::Unknown,
    }
}

/// Everything that keeps a node from starting, in the order of its source. Heights that nobody knows rule nothing out.
#[must_use]
pub fn refusals(situation: &Situation) -> Vec<Refusal> {
    let heights = situation.heights;
    let (a, s, t) = (heights.application.at_start(), heights.blockstore.at_start(), heights.state.at_start());
    if s == Some(0) {
        return Vec::from_iter(without_blocks(a, t, situation.offline_state_sync));
    }
    let mut found = Vec::new();
    let Some(s) = s else { return found };
    // Base 0 with blocks means 1 (stores of early versions have no base).
    let base = heights.blockstore_base.at_start().map(|base| base.max(1));
    let initial = situation.initial_height.unwrap_or(1).max(1);
    match (a, base) {
        (Some(0), Some(base)) if initial < base => found.push(Refusal::ApplicationEmpty { base }),
        (Some(a), Some(base)) if a > 0 && a.saturating_add(1) < base => {
            found.push(Refusal::ApplicationBelowBase { application: a, base });
        }
        _ => {}
    }
    if let Some(application) = a.filter(|a| *a > s) {
        found.push(Refusal::ApplicationAhead { application, blockstore: s });
    }
    if let Some(state) = t {
        if state > s {
            found.push(Refusal::StateAhead { state, blockstore: s });
        }
        if s > state.saturating_add(1) {
            found.push(Refusal::StateBehind { state, blockstore: s });
        }
        if a == Some(s) && s == state.saturating_add(1) && situation.responses_to_next == Some(false) {
            found.push(Refusal::ResponsesMissing { height: s });
        }
    }
    found
}

/// The cases of an empty block store.
fn without_blocks(a: Option<u64>, t: Option<u64>, offline_state_sync: Option<u64>) -> Option<Refusal> {
    match (a, t?) {
        (None | Some(0), 0) => None,
        (Some(application), 0) => Some(Refusal::ApplicationAlone { application }),
        // After an offline state sync, application and state stand at the same height and no block is there yet.
        (Some(application), state) if application == state && offline_state_sync == Some(state) => None,
        (None, state) if offline_state_sync == Some(state) => None,
        (_, state) => Some(Refusal::BlockStoreEmpty { state }),
    }
}

#[cfg(test)]
#[path = "invariants/tests.rs"]
mod tests;
