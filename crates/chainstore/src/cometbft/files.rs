//! The small files beside CometBFT's databases: signing state, genesis, address book. *Files, read-only.*
//!
//! Source: CometBFT `privval/file.go`, `types/genesis.go`, `p2p/pex/file.go`; formats 8.2.

use diagnosis::DatabaseName;
use serde::Deserialize;

use crate::files::DataDir;
use crate::home::Home;
use crate::json::{self, JsonRead};
use crate::read_error::ReadProblem;
use crate::{Checks, Finding, FindingKind, Reason};

/// A signing state has some hundred bytes.
const SIGNING_BYTES_MAX: u64 = 1 << 20;
/// The chain's name mostly stands in the first line of a genesis file, which can have gigabytes.
const GENESIS_BYTES_MAX: u64 = 64 << 20;
/// A thousand peers have half a megabyte.
const BOOK_BYTES_MAX: u64 = 32 << 20;

/// What a node signed last (`priv_validator_state.json`). P10: it never goes back.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum SigningState {
    /// There is no such file in the data directory; it may be mounted from elsewhere.
    #[default]
    Missing,
    /// It is there and says nothing that can be read: only a human can tell what was signed.
    Unreadable,
    /// The last thing that was signed.
    Signed {
        /// The height.
        height: u64,
        /// The round.
        round: i64,
        /// 1 a proposal, 2 a prevote, 3 a precommit.
        step: i64,
    },
}

#[derive(Deserialize)]
struct StateFile {
    #[serde(deserialize_with = "json::number")]
    height: i64,
    #[serde(default, deserialize_with = "json::number")]
    round: i64,
    #[serde(default, deserialize_with = "json::number")]
    step: i64,
}

/// Reads a signing state's text.
#[must_use]
pub fn parse_signing_state(bytes: &[u8]) -> Option<SigningState> {
    let file: StateFile = serde_json::from_slice(bytes).ok()?;
    let height = u64::try_from(file.height).ok()?;
    Some(SigningState::Signed { height, round: file.round, step: file.step })
}

/// Reads the signing state in a data directory.
pub(crate) fn signing_state(data: &DataDir, checks: &mut Checks) -> SigningState {
    const NAME: &str = "priv_validator_state.json";
    let bytes = match data.file(NAME).and_then(|file| file.read_all(SIGNING_BYTES_MAX)) {
        Ok(bytes) => bytes,
        Err(error) if error.problem == ReadProblem::Missing => return SigningState::Missing,
        Err(error) => {
            checks.add(Reason::Unreadable(error));
            return SigningState::Unreadable;
        }
    };
    parse_signing_state(&bytes).unwrap_or_else(|| {
        let what = if bytes.is_empty() { "is empty" } else { "cannot be read" };
        let detail = format!(
            "the signing state {what}: the node ends with \"Error reading PrivValidator state\", and only a human can tell \
             what this key signed last"
        );
        let database = DatabaseName::new("priv_validator_state");
        checks.add(Finding::new(FindingKind::CompanionFile, &database, &data.path().join(NAME), detail));
        SigningState::Unreadable
    })
}

/// The chain that the genesis file names, where one is below the inspected directory.
pub(crate) fn genesis_chain_id(home: &Home, checks: &mut Checks) -> Option<String> {
    let config = home.config.as_ref()?;
    let file = match config.file("genesis.json") {
        Ok(file) => file,
        Err(error) if error.problem == ReadProblem::Missing => return None,
        Err(error) => {
            checks.add(Reason::Unreadable(error));
            return None;
        }
    };
    match json::top_string(&file, "chain_id", GENESIS_BYTES_MAX) {
        JsonRead::Found(chain_id) => return Some(chain_id),
        // A large file in another order of keys is no fault.
        JsonRead::BeyondLimit => {}
        JsonRead::Silent => wrong_genesis(&file, "names no chain", checks),
        JsonRead::Broken(error) => wrong_genesis(&file, &format!("cannot be read ({error})"), checks),
        JsonRead::Unreadable(error) => checks.add(Reason::Unreadable(error)),
    }
    None
}

fn wrong_genesis(file: &crate::DataFile, what: &str, checks: &mut Checks) {
    let detail = format!("the genesis file {what}");
    checks.add(Finding::new(FindingKind::WrongSetup, &DatabaseName::new("config"), file.path(), detail));
}

/// How many peers the address book has. A broken one is noted; the node finds peers anew.
pub(crate) fn address_book(home: &Home, checks: &mut Checks) -> Option<u64> {
    let file = home.config.as_ref()?.file("addrbook.json").ok()?;
    match json::top_array_length(&file, "addrs", BOOK_BYTES_MAX) {
        JsonRead::Found(count) => Some(count),
        JsonRead::Silent | JsonRead::BeyondLimit => None,
        JsonRead::Unreadable(error) => {
            checks.add(Reason::Unreadable(error));
            None
        }
        JsonRead::Broken(error) => {
            let detail =
                format!("the address book cannot be read ({error}); it can be deleted, the node makes a new one");
            checks.add(Finding::new(FindingKind::Remark, &DatabaseName::new("addrbook"), file.path(), detail));
            None
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signing_states_as_they_are_written() {
        let signed = |height, round, step| Some(SigningState::Signed { height, round, step });
        let full = br#"{"height": "12", "round": 0, "step": 3, "signature": "lTH6", "signbytes": "6C08"}"#;
        assert_eq!(parse_signing_state(full), signed(12, 0, 3));
        assert_eq!(parse_signing_state(br#"{"height":"0","round":0,"step":0}"#), signed(0, 0, 0));
        for broken in [&b""[..], b"{}", b"\0\0\0", br#"{"height": "x"}"#, br#"{"height": "-1"}"#, br#"{"height": "12""#]
        {
            assert_eq!(parse_signing_state(broken), None, "{broken:?}");
        }
    }
}
