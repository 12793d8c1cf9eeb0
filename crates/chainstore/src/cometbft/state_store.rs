//! The state store: the state, and the records that the next block needs. *No files of its own.*
//!
//! Source: CometBFT `state/store.go` v0.34.29, v0.38.15, v1.0.1; formats 8.3. `Save` writes the validators of the height
//! after next, the parameters of the next height, and the state, in one synced batch.

use crate::cometbft::keys::{self, KeyLayout};
use crate::cometbft::state::State;
use crate::heights::Level;
use crate::proto::Message;
use crate::records::{Records, Source, Untold};
use crate::{Checks, CutError, FindingKind, Part};

/// Every so many heights the whole validator set is written (`valSetCheckpointInterval`).
const CHECKPOINT: u64 = 100_000;

/// What the state store says.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct StateStore {
    /// The last block that was applied.
    pub height: Level,
    /// The state, if it could be read.
    pub state: Option<State>,
    /// Where an offline state sync left the state.
    pub offline_state_sync: Option<u64>,
    /// Whether the responses to the block above the height are there.
    pub responses_to_next: Option<bool>,
}

impl StateStore {
    /// Reads the state store.
    #[must_use]
    pub fn read(source: Source<'_>, checks: &mut Checks) -> Self {
        let mut store = Self::default();
        match source {
            Source::Here(records) => {
                // What could not be read is in the checks; what was read before it stays.
                let _ = store.fill(&records, checks);
            }
            Source::Absent => store.height = Level::Empty,
            Source::Unread => {}
        }
        store
    }

    fn fill(&mut self, records: &Records<'_>, checks: &mut Checks) -> Result<(), Untold> {
        let record = records.get(keys::STATE, checks)?;
        let layout = match KeyLayout::parse(records.get(keys::LAYOUT, checks)?.as_deref()) {
            Ok(layout) => layout,
            Err(reason) => {
                checks.add(reason);
                return Err(Untold);
            }
        };
        let Some(record) = record.filter(|record| !record.is_empty()) else {
            return self.without_record(records, layout, checks);
        };
        let state = match State::parse(&record) {
            Ok(state) if !state.chain_id.is_empty() => state,
            Ok(_) => return malformed(records, "stateKey names no chain", checks),
            Err(error) => {
                let detail = format!(
                    "stateKey cannot be read ({error}): the node ends with \"LoadState: Data has been corrupted or its \
                     spec has changed\""
                );
                return malformed(records, &detail, checks);
            }
        };
        self.height = Level::At(state.height);
        let next = if state.height == 0 { state.initial_height } else { state.height.saturating_add(1) };
        self.state = Some(state);
        self.offline_state_sync = offline_state_sync(records, checks)?;
        self.responses_to_next = Some(has_responses(records, layout, next, checks)?);
        check_validators(records, layout, next, checks)?;
        check_validators(records, layout, next.saturating_add(1), checks)?;
        if records.get(&layout.consensus_params(next), checks)?.is_none() {
            checks.add(missing(records, &format!("the consensus parameters of height {next}")));
        }
        Ok(())
    }

    /// No state: an empty store, or one that lost it.
    fn without_record(&mut self, records: &Records<'_>, layout: KeyLayout, checks: &mut Checks) -> Result<(), Untold> {
        let first = match layout {
            KeyLayout::DecimalText => b"validatorsKey:".to_vec(),
            KeyLayout::OrderedCode => layout.validators(0).iter().take(1).copied().collect(),
        };
        if crate::records::note(records.view.first_with_prefix(&first), checks)?.is_some() {
            let detail = "validators are stored, but the state itself (stateKey) is missing: the node would begin at \
                          genesis";
            checks.add(records.finding(FindingKind::RecordsMissing, detail));
        }
        self.height = Level::Empty;
        Ok(())
    }
}

fn malformed(records: &Records<'_>, detail: &str, checks: &mut Checks) -> Result<(), Untold> {
    checks.add(records.finding(FindingKind::RecordMalformed, detail));
    Err(Untold)
}

fn missing(records: &Records<'_>, what: &str) -> crate::Finding {
    let detail = format!("{what} are missing, which the node stored together with its state");
    records.finding(FindingKind::RecordsMissing, detail)
}

/// A zig-zag varint (`int64ToBytes`).
fn offline_state_sync(records: &Records<'_>, checks: &mut Checks) -> Result<Option<u64>, Untold> {
    let Some(record) = records.get(keys::OFFLINE_STATE_SYNC, checks)? else { return Ok(None) };
    let height = crate::Cut::new(&record, 0).varint(Part::new("offlineStateSyncHeightKey"));
    Ok(height.ok().and_then(|height| u64::try_from(height).ok()))
}

/// Up to 0.40 one record holds the last responses and their height; before 0.34.25, and from 1.0 on, there is one a height.
fn has_responses(records: &Records<'_>, layout: KeyLayout, height: u64, checks: &mut Checks) -> Result<bool, Untold> {
    let last = records.get(keys::LAST_RESPONSES, checks)?;
    match last.as_deref().map(responses_height) {
        Some(Ok(found)) if found == height => return Ok(true),
        Some(Err(error)) => {
            let detail = format!("lastABCIResponseKey cannot be read: {error}");
            checks.add(records.finding(FindingKind::RecordMalformed, detail));
        }
        Some(Ok(_)) | None => {}
    }
    Ok(records.get(&layout.responses(height), checks)?.is_some())
}

/// The height of an `ABCIResponsesInfo`.
pub(crate) fn responses_height(bytes: &[u8]) -> Result<u64, CutError> {
    let mut height = 0;
    let mut message = Message::new(bytes);
    while let Some(field) = message.next_field()? {
        if field.number == 2 {
            height = field.height(Part::new("height"))?;
        }
    }
    Ok(height)
}

/// Whether a `ValidatorsInfo` has the set itself, and when the set last changed.
pub(crate) fn validators_info(bytes: &[u8]) -> Result<(bool, u64), CutError> {
    let (mut has_set, mut changed) = (false, 0);
    let mut message = Message::new(bytes);
    while let Some(field) = message.next_field()? {
        match field.number {
            1 => has_set = !field.bytes(Part::new("validator_set"))?.is_empty(),
            2 => changed = field.height(Part::new("last_height_changed"))?,
            _ => {}
        }
    }
    Ok((has_set, changed))
}

/// The validators of a height: either the set itself, or the height where it stands.
fn check_validators(records: &Records<'_>, layout: KeyLayout, height: u64, checks: &mut Checks) -> Result<(), Untold> {
    let Some(record) = records.get(&layout.validators(height), checks)? else {
        checks.add(missing(records, &format!("the validators of height {height}")));
        return Ok(());
    };
    let changed = match validators_info(&record) {
        Ok((true, _)) => return Ok(()),
        Ok((false, changed)) => changed,
        Err(error) => {
            let detail = format!("the validators of height {height} cannot be read: {error}");
            checks.add(records.finding(FindingKind::RecordMalformed, detail));
            return Ok(());
        }
    };
    let checkpoint = height.saturating_sub(height.checked_rem(CHECKPOINT).unwrap_or_default());
    let stored_at = changed.max(checkpoint);
    let Some(record) = records.get(&layout.validators(stored_at), checks)? else {
        checks
            .add(missing(records, &format!("the validators of height {stored_at}, which height {height} refers to,")));
        return Ok(());
    };
    if !matches!(validators_info(&record), Ok((true, _))) {
        let detail = format!("height {height} refers to the validators of height {stored_at}, where no set is stored");
        checks.add(records.finding(FindingKind::Remark, detail));
    }
    Ok(())
}
