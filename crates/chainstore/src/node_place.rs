//! Which of the found databases are the node's, where its home lies below the directory that was named. *Files, read-only.*
//!
//! A claim's root or the directory above a home is named as easily as the home. A node's heights and trees are then read
//! where they are; of several nodes none is chosen, and it is said that none was read.

use std::collections::BTreeSet;
use std::path::Path;

use crate::crew::Work;
use crate::files::DataDir;
use crate::home::Home;
use crate::{Checks, Reason};

/// The databases that hold a node's heights.
const NAMES: [&str; 3] = ["application.db", "state.db", "blockstore.db"];

/// The home, or data directory, whose records are read; none where that is open, which the checks then say.
pub(crate) fn find(works: &[Work], root: &DataDir, checks: &mut Checks) -> Option<DataDir> {
    let paths = || works.iter().map(|work| work.found.place.dir.path());
    let own = Home::of(root, &mut Checks::default()).data;
    let nodes = nodes(paths());
    if nodes.is_empty() || nodes.contains(own.path()) {
        return Some(root.clone());
    }
    // Where the named home has databases of its own, a copy beside them must not stand in for what it lacks.
    let has_own = paths().any(|path| path.parent() == Some(own.path()));
    if let ([node], false) = (Vec::from_iter(&nodes).as_slice(), has_own)
        && let Some(home) = home_of(node, root, checks)
    {
        return Some(home);
    }
    for node in nodes {
        let here = if node.as_os_str().is_empty() { Path::new(".") } else { node };
        checks.add(Reason::Ambiguous(format!(
            "the heights and trees of the node in {} were not read: inspect that directory by itself",
            here.display()
        )));
    }
    has_own.then(|| root.clone())
}

/// The directories with a node's databases, without the copies that stand beside a node's `data`.
fn nodes<'p>(paths: impl Iterator<Item = &'p Path>) -> BTreeSet<&'p Path> {
    let of_node = |path: &&Path| NAMES.iter().any(|name| path.ends_with(name));
    let all: BTreeSet<&Path> = paths.filter(of_node).filter_map(Path::parent).collect();
    let is_copy = |node: &Path| !node.ends_with("data") && all.contains(node.with_file_name("data").as_path());
    all.iter().copied().filter(|node| !is_copy(node)).collect()
}

/// The home around a node's directory, if reading it leads to that directory.
fn home_of(node: &Path, root: &DataDir, checks: &mut Checks) -> Option<DataDir> {
    let above = if node.ends_with("data") { node.parent()? } else { node };
    let mut home = root.clone();
    for name in above {
        home = match home.directory(name) {
            Ok(below) => below,
            Err(error) => {
                checks.add(Reason::Unreadable(error));
                return None;
            }
        };
    }
    (Home::of(&home, &mut Checks::default()).data.path() == node).then_some(home)
}
