//! `upgrade-info.json`: the upgrade that a binary asked for before it stopped. *Files, read-only.*
//!
//! Source: SDK `x/upgrade/keeper/keeper.go` (`DumpUpgradeInfoToDisk`, written before the height is committed) and
//! `x/upgrade/types/storeloader.go`. Some versions write the height as a string.

use diagnosis::DatabaseName;
use serde::Deserialize;

use crate::files::DataDir;
use crate::read_error::ReadProblem;
use crate::{Checks, Finding, FindingKind, Reason};

/// A plan's `info` can hold links and checksums of binaries.
const BYTES_MAX: u64 = 1 << 20;

/// An upgrade that was reached.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct UpgradeInfo {
    /// Its name, which is that of the binary's handler.
    pub name: String,
    /// The height that only the new binary can make.
    #[serde(deserialize_with = "crate::json::number")]
    pub height: i64,
}

impl UpgradeInfo {
    /// Whether the upgrade waits for its binary: its height is the next one.
    #[must_use]
    pub fn is_due(&self, application: Option<u64>) -> bool {
        application.is_some_and(|height| u64::try_from(self.height) == Ok(height.saturating_add(1)))
    }
}

/// Reads the file in a data directory.
pub(crate) fn upgrade_info(data: &DataDir, checks: &mut Checks) -> Option<UpgradeInfo> {
    const NAME: &str = "upgrade-info.json";
    let bytes = match data.file(NAME).and_then(|file| file.read_all(BYTES_MAX)) {
        Ok(bytes) => bytes,
        Err(error) if error.problem == ReadProblem::Missing => return None,
        Err(error) => {
            checks.add(Reason::Unreadable(error));
            return None;
        }
    };
    match serde_json::from_slice(&bytes) {
        Ok(info) => Some(info),
        Err(error) => {
            let detail = format!(
                "the upgrade's name and height cannot be read ({error}); applications panic on this file at their start"
            );
            let path = data.path().join(NAME);
            checks.add(Finding::new(FindingKind::WrongSetup, &DatabaseName::new("upgrade-info"), &path, detail));
            None
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_ways_of_writing_it() {
        for text in [r#"{"name":"v2","height":9}"#, r#"{"name":"v2","height":"9","info":"{}"}"#] {
            let info: UpgradeInfo = serde_json::from_str(text).unwrap();
            assert_eq!((info.name.as_str(), info.height), ("v2", 9));
            assert!(info.is_due(Some(8)) && !info.is_due(Some(9)) && !info.is_due(None));
        }
    }
}
