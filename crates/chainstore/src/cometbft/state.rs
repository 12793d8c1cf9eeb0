//! The state's own record: which chain, how far, by which version. *No files.*
//!
//! Source: CometBFT `proto/tendermint/state/types.proto`, `State`; unchanged since 0.34. All known fields are held to their
//! wire types, since that is how a node notices damage (`LoadState: Data has been corrupted or its spec has changed`).

use crate::cometbft::block_meta::block_id;
use crate::digest::Hash32;
use crate::proto::{Field, Message, timestamp_seconds};
use crate::{CutError, Part};

/// Validators beyond this many are not kept: the largest sets have some hundred.
const VALIDATORS_MAX: usize = 10_000;

/// What `stateKey` says.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct State {
    /// The version of CometBFT (or Tendermint) that wrote it, as it names itself.
    pub software: String,
    /// The application's own version number.
    pub app_version: u64,
    /// The chain.
    pub chain_id: String,
    /// The chain's first height.
    pub initial_height: u64,
    /// The last block that was applied.
    pub height: u64,
    /// Its hash.
    pub last_block: Option<Hash32>,
    /// When it was made, in seconds since 1970.
    pub last_block_seconds: i64,
    /// The application's hash after it.
    pub app_hash: Vec<u8>,
    /// The addresses of all validators of the last, this and the next height, sorted.
    pub validators: Vec<Vec<u8>>,
}

impl State {
    /// Reads the record.
    pub fn parse(bytes: &[u8]) -> Result<Self, CutError> {
        let mut state = Self::default();
        let mut message = Message::new(bytes);
        while let Some(field) = message.next_field()? {
            state.read_field(&field)?;
        }
        state.validators.sort_unstable();
        state.validators.dedup();
        // A chain that does not say where it begins, begins at 1 (`FromProto` of versions before 0.34 had no such field).
        state.initial_height = state.initial_height.max(1);
        Ok(state)
    }

    fn read_field(&mut self, field: &Field<'_>) -> Result<(), CutError> {
        match field.number {
            1 => self.read_version(field.message(Part::new("version"))?)?,
            2 => field.text(Part::new("chain_id"))?.clone_into(&mut self.chain_id),
            3 => self.height = field.height(Part::new("last_block_height"))?,
            4 => (self.last_block, _) = block_id(field.message(Part::new("last_block_id"))?)?,
            5 => self.last_block_seconds = timestamp_seconds(field.message(Part::new("last_block_time"))?)?,
            6 => self.read_validators(field.message(Part::new("next_validators"))?)?,
            7 => self.read_validators(field.message(Part::new("validators"))?)?,
            8 => self.read_validators(field.message(Part::new("last_validators"))?)?,
            9 => _ = field.height(Part::new("last_height_validators_changed"))?,
            10 => _ = field.bytes(Part::new("consensus_params"))?,
            11 => _ = field.height(Part::new("last_height_consensus_params_changed"))?,
            12 => _ = field.bytes(Part::new("last_results_hash"))?,
            13 => self.app_hash = field.bytes(Part::new("app_hash"))?.to_vec(),
            14 => self.initial_height = field.height(Part::new("initial_height"))?,
            _ => {}
        }
        Ok(())
    }

    fn read_version(&mut self, mut version: Message<'_>) -> Result<(), CutError> {
        while let Some(field) = version.next_field()? {
            match field.number {
                1 => {
                    let mut consensus = field.message(Part::new("version.consensus"))?;
                    while let Some(field) = consensus.next_field()? {
                        if field.number == 2 {
                            self.app_version = field.uint(Part::new("version.consensus.app"))?;
                        }
                    }
                }
                2 => field.text(Part::new("version.software"))?.clone_into(&mut self.software),
                _ => {}
            }
        }
        Ok(())
    }

    fn read_validators(&mut self, mut set: Message<'_>) -> Result<(), CutError> {
        while let Some(field) = set.next_field()? {
            if field.number != 1 {
                continue;
            }
            let mut validator = field.message(Part::new("validator"))?;
            while let Some(field) = validator.next_field()? {
                if field.number == 1 && self.validators.len() < VALIDATORS_MAX {
                    self.validators.push(field.bytes(Part::new("validator.address"))?.to_vec());
                }
            }
        }
        Ok(())
    }
}
