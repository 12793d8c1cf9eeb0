//! The block store: its base and height, and whether the blocks between them are there. *No files of its own.*
//!
//! Source: CometBFT `store/store.go`, `proto/tendermint/store/types.proto`; formats 8.3. Before Tendermint 0.34 the record
//! was JSON. Since 0.38 the record and its block are one batch; before, a block could be there one above the height.

use crate::cometbft::block_meta::BlockMeta;
use crate::cometbft::keys::{self, KeyLayout};
use crate::heights::Level;
use crate::proto::Message;
use crate::records::{Records, Source, Untold, note};
use crate::{Checks, CutError, FindingKind, Part, Reason, density};

/// Heights that are looked up between base and height, for each kind of record.
const SAMPLES: u64 = 64;

/// How a kind of record is found.
type KeyOf = fn(KeyLayout, u64) -> Vec<u8>;

/// Missing heights that are named.
const NAMED: usize = 5;

/// What the block store says.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct BlockStore {
    /// Its last block.
    pub height: Level,
    /// Its first block.
    pub base: Level,
    /// How its keys are written.
    pub layout: KeyLayout,
    /// The header of its last block.
    pub last: Option<BlockMeta>,
}

/// Base and height from the record; base 0 with blocks means 1.
pub(crate) fn parse_record(bytes: &[u8]) -> Result<(u64, u64), CutError> {
    let (mut base, mut height) = (0, 0);
    let mut message = Message::new(bytes);
    while let Some(field) = message.next_field()? {
        match field.number {
            1 => base = field.height(Part::new("base"))?,
            2 => height = field.height(Part::new("height"))?,
            _ => {}
        }
    }
    Ok((if height > 0 { base.max(1) } else { base }, height))
}

impl BlockStore {
    /// Reads the block store, and samples its blocks.
    #[must_use]
    pub fn read(source: Source<'_>, checks: &mut Checks) -> Self {
        let mut store = Self::default();
        match source {
            Source::Here(records) => {
                // What could not be read is in the checks; what was read before it stays.
                let _ = store.fill(&records, checks);
            }
            Source::Absent => (store.height, store.base) = (Level::Empty, Level::Empty),
            Source::Unread => {}
        }
        store
    }

    fn fill(&mut self, records: &Records<'_>, checks: &mut Checks) -> Result<(), Untold> {
        let record = records.get(keys::BLOCK_STORE, checks)?;
        let layout = KeyLayout::parse(records.get(keys::LAYOUT, checks)?.as_deref());
        match layout {
            Ok(layout) => self.layout = layout,
            Err(reason) => {
                checks.add(reason);
                return Err(Untold);
            }
        }
        let Some(record) = record.filter(|record| !record.is_empty()) else {
            return self.without_record(records, checks);
        };
        if record.first() == Some(&b'{') {
            let what = "the block store is written as before Tendermint 0.34 (amino and JSON)";
            checks.add(Reason::Unsupported(what.to_owned()));
            return Err(Untold);
        }
        match parse_record(&record) {
            Ok((base, height)) if base <= height => {
                (self.base, self.height) = (Level::At(base), Level::At(height));
                self.check_blocks(records, base, height, checks)
            }
            Ok((base, height)) => {
                let detail = format!("the block store's record says base {base} above height {height}");
                checks.add(records.finding(FindingKind::RecordMalformed, detail));
                Err(Untold)
            }
            Err(error) => {
                checks.add(records.finding(FindingKind::RecordMalformed, format!("blockStore: {error}")));
                Err(Untold)
            }
        }
    }

    /// No record: an empty store, or one that lost it.
    fn without_record(&mut self, records: &Records<'_>, checks: &mut Checks) -> Result<(), Untold> {
        if note(records.view.first_with_prefix(&self.layout.meta_prefix()), checks)?.is_some() {
            let detail = "blocks are stored, but the record that names base and height is missing: the node would begin \
                          at height 0";
            checks.add(records.finding(FindingKind::RecordsMissing, detail));
        }
        (self.base, self.height) = (Level::Empty, Level::Empty);
        Ok(())
    }

    fn check_blocks(
        &mut self,
        records: &Records<'_>,
        base: u64,
        height: u64,
        checks: &mut Checks,
    ) -> Result<(), Untold> {
        if height == 0 {
            return Ok(());
        }
        let layout = self.layout;
        // The commit of a block is stored with the next one.
        let kinds: [(&str, u64, KeyOf); 3] = [
            ("block headers (H:)", height, KeyLayout::meta),
            ("blocks (P:)", height, KeyLayout::first_part),
            ("commits (C:)", height.saturating_sub(1), KeyLayout::commit),
        ];
        for (what, last, key) in kinds {
            let found = note(density(records.view, base, last, SAMPLES, |h| key(layout, h)), checks)?;
            if !found.missing.is_empty() {
                let named: Vec<String> = found.missing.iter().take(NAMED).map(u64::to_string).collect();
                let detail = format!(
                    "{} of {} sampled {what} between {base} and {last} are missing, first at {}",
                    found.missing.len(),
                    found.asked,
                    named.join(", ")
                );
                checks.add(records.finding(FindingKind::RecordsMissing, detail));
            }
        }
        self.check_last(records, height, checks)
    }

    /// The last block: its header must be readable and its own, its hash must lead back to it, and its commit was seen.
    fn check_last(&mut self, records: &Records<'_>, height: u64, checks: &mut Checks) -> Result<(), Untold> {
        let Some(meta) = read_meta(records, self.layout, height, checks)? else { return Ok(()) };
        if records.get(&self.layout.seen_commit(height), checks)?.is_none() {
            let detail = format!("the commit that was seen for the last block ({height}) is missing");
            checks.add(records.finding(FindingKind::RecordsMissing, detail));
        }
        if let Some(hash) = meta.hash {
            let back = records.get(&self.layout.block_hash(&hash.0), checks)?;
            if back.as_deref() != Some(height.to_string().as_bytes()) {
                let detail = format!("block {height} is not found by its hash {hash}");
                checks.add(records.finding(FindingKind::RecordsMissing, detail));
            }
        }
        self.last = Some(meta);
        Ok(())
    }
}

/// The header of one block; that it is not there is no finding here, the samples tell that.
pub(crate) fn read_meta(
    records: &Records<'_>,
    layout: KeyLayout,
    height: u64,
    checks: &mut Checks,
) -> Result<Option<BlockMeta>, Untold> {
    let Some(record) = records.get(&layout.meta(height), checks)? else { return Ok(None) };
    let problem = match BlockMeta::parse(&record) {
        Ok(meta) if meta.height == height => return Ok(Some(meta)),
        Ok(meta) => format!("the header stored for block {height} is that of block {}", meta.height),
        Err(error) => format!("the header of block {height} cannot be read: {error}"),
    };
    checks.add(records.finding(FindingKind::RecordMalformed, problem));
    Ok(None)
}
