//! A node's data directory without the databases that a node starts from. *Files, read-only.*
//!
//! The engines' checks judge what is there, and all of it may be right while what matters is gone. That is never damage:
//! who moved the databases elsewhere knows it. But it is no intact node either.

use std::path::Path;

use diagnosis::DatabaseName;

use crate::cometbft::{self, SigningState};
use crate::files::DataDir;
use crate::home::Home;
use crate::inspect::DatabaseReport;
use crate::read_error::ReadProblem;
use crate::{Checks, Finding, FindingKind, sdk};

/// Without these no node starts.
const NEEDED: [&str; 3] = ["application.db", "state.db", "blockstore.db"];

/// What a node has beside them. One alone may be a copy; two are a node's.
const BESIDE: [&str; 3] = ["evidence.db", "tx_index.db", "snapshots/metadata.db"];

/// Says that the three are gone, where it is a node's directory by its signatures, its upgrade or its other databases.
pub(crate) fn judge(root: &DataDir, databases: &[DatabaseReport]) -> Option<Finding> {
    let home = without_them(root, databases).filter(|_| !databases.is_empty())?;
    if let Some(past) = past(&home.data) {
        return Some(finding(&home.data, &format!("are not there, and were: {past}")));
    }
    let beside = BESIDE.map(|name| home.data.path().join(name));
    let there = databases.iter().filter(|database| database.engine.is_some() && beside.contains(&database.path));
    (there.count() >= 2).then(|| finding(&home.data, "are not there, while others of a node are"))
}

/// The same where the guard knows by itself that they were there: `had` are paths below the home.
pub(crate) fn known_to_guard(root: &DataDir, databases: &[DatabaseReport], had: &[String]) -> Option<Finding> {
    let home = without_them(root, databases)?;
    let known = |path: &String| NEEDED.iter().any(|name| Path::new(path) == Path::new("data").join(name));
    let what = "are not there, and were: the guard saw them at an earlier start";
    had.iter().any(known).then(|| finding(&home.data, what))
}

/// The home of which all three are provably missing; none where a database itself was named.
fn without_them(root: &DataDir, databases: &[DatabaseReport]) -> Option<Home> {
    if databases.iter().any(|database| database.path.as_os_str().is_empty()) {
        return None;
    }
    let mut unread = Checks::default();
    let home = Home::of(root, &mut unread);
    let is_missing = |name: &str| matches!(home.data.entry(name), Err(error) if error.problem == ReadProblem::Missing);
    (unread.untold.is_empty() && NEEDED.into_iter().all(is_missing)).then_some(home)
}

/// What only a node with data has behind it. What these files say of themselves is judged elsewhere.
fn past(data: &DataDir) -> Option<String> {
    let mut apart = Checks::default();
    match cometbft::signing_state(data, &mut apart) {
        SigningState::Signed { height, .. } if height > 0 => return Some(format!("this node has signed at {height}")),
        _ => {}
    }
    let upgrade = sdk::upgrade_info(data, &mut apart)?;
    Some(format!("upgrade-info.json says that this node reached {}", upgrade.height))
}

fn finding(data: &DataDir, what: &str) -> Finding {
    let detail = format!("the databases that a node starts from (application, state, blockstore) {what}");
    let file = data.path().join("application.db");
    Finding::new(FindingKind::NoDatabase, &DatabaseName::new("application"), &file, detail)
}
