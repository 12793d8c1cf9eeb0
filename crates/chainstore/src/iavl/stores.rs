//! All stores of an application against their commit, on several threads. *No files of its own.*
//!
//! Source: SDK `store/rootmulti/store.go` (`loadVersion`, `commitStores`); formats 8.4 and 9. A store that is one version
//! ahead of the commit is the normal trace of a crash between the two writes.

use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use crate::iavl::tree::{Root, Tree};
use crate::iavl::walk::{IavlMode, Walk, Walked, is_empty_hash};
use crate::meter::Meter;
use crate::records::{Records, Untold};
use crate::sdk::{CommitInfo, StoreInfo};
use crate::{Checks, FindingKind};

/// More threads than this only make the disk seek.
const THREADS_MAX: usize = 16;

/// What was seen of one store.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoreReport {
    /// Its name.
    pub name: String,
    /// The version that the commit names.
    pub version: u64,
    /// The hash that the commit names.
    pub hash: Vec<u8>,
    /// The newest version on disk.
    pub newest: Option<u64>,
    /// Whether the tree's root has the hash that the commit names; none if nobody could tell.
    pub root_fits: Option<bool>,
    /// What was walked.
    pub walked: Walked,
}

impl StoreReport {
    /// A store as the commit names it, before its tree was looked at.
    pub(crate) fn unread(info: &StoreInfo) -> Self {
        Self {
            name: info.name.clone(),
            version: info.version,
            hash: info.hash.clone(),
            newest: None,
            root_fits: None,
            walked: Walked::default(),
        }
    }
}

/// Checks every store of a commit.
#[must_use]
pub fn check_stores(
    records: &Records<'_>,
    commit: &CommitInfo,
    mode: IavlMode,
    threads: NonZeroUsize,
    meter: &Meter,
) -> (Vec<StoreReport>, Checks) {
    let next = AtomicUsize::new(0);
    let done = Mutex::new(Vec::new());
    let work = || {
        while let Some(info) = commit.stores.get(next.fetch_add(1, Ordering::Relaxed)) {
            let mut checks = Checks::default();
            if let Some(report) = check_store(records, commit.version, info, mode, meter, &mut checks) {
                done.lock().unwrap_or_else(PoisonError::into_inner).push((report, checks));
            }
        }
    };
    std::thread::scope(|scope| {
        // This thread works too.
        for _ in 1..threads.get().min(THREADS_MAX).min(commit.stores.len()) {
            scope.spawn(work);
        }
        work();
    });
    let mut done = done.into_inner().unwrap_or_else(PoisonError::into_inner);
    done.sort_by(|a, b| a.0.name.cmp(&b.0.name));
    let mut all = Checks::default();
    let reports = done.into_iter().map(|(report, checks)| {
        all.extend(checks);
        report
    });
    (reports.collect(), all)
}

/// One store; none if it keeps no tree.
fn check_store(
    records: &Records<'_>,
    version: u64,
    info: &StoreInfo,
    mode: IavlMode,
    meter: &Meter,
    checks: &mut Checks,
) -> Option<StoreReport> {
    let tree = Tree::new(*records, &info.name);
    // Up to SDK 0.46, stores in memory are in the commit too, without version and hash.
    if info.version == 0 && info.hash.is_empty() && tree.has_keys(checks) == Ok(false) {
        return None;
    }
    let mut report = StoreReport::unread(info);
    if info.version != version {
        let detail = format!("committed at version {}, the whole at {version}", info.version);
        checks.add(tree.finding(
            FindingKind::Mismatch,
            &format!("{detail}: the node ends with \"version of store {} mismatch root store's version\"", info.name),
        ));
    }
    // What could not be read is in the checks.
    let _ = fill(&tree, info, mode, meter, &mut report, checks);
    Some(report)
}

fn fill(
    tree: &Tree<'_>,
    info: &StoreInfo,
    mode: IavlMode,
    meter: &Meter,
    report: &mut StoreReport,
    checks: &mut Checks,
) -> Result<(), Untold> {
    report.newest = tree.newest(checks)?;
    let version = info.version;
    if let Some(ahead) = report.newest.and_then(|newest| newest.checked_sub(version)).filter(|ahead| *ahead > 1) {
        let detail = format!(
            "holds {ahead} versions more than the commit says ({}): the commits of these versions are lost",
            version.saturating_add(ahead)
        );
        checks.add(tree.finding(FindingKind::Mismatch, &detail));
    }
    let at = match tree.root(version, checks)? {
        Root::At(at) => at,
        Root::Empty if is_empty_hash(&info.hash) => {
            report.root_fits = Some(true);
            return Ok(());
        }
        Root::Empty => {
            report.root_fits = Some(false);
            let detail = format!("version {version} is an empty tree, the commit names another hash");
            checks.add(tree.finding(FindingKind::TreeHash, &detail));
            return Ok(());
        }
        Root::Missing => {
            let newest = report.newest.map_or("none at all".to_owned(), |newest| format!("{newest} is the newest"));
            let detail = format!(
                "version {version} is not there ({newest}): the node ends with \"failed to load store: version does not \
                 exist\""
            );
            checks.add(tree.finding(FindingKind::RecordsMissing, &detail));
            return Ok(());
        }
    };
    let root = tree.node(at, version, checks)?;
    let own = root.own_hash();
    report.root_fits = Some(own.0 == *info.hash);
    if report.root_fits == Some(false) {
        let detail = format!(
            "the root of version {version} (node {at}, key {}) does not have the hash that the commit names",
            tree.key_words(at)
        );
        let expected = crate::digest::Hex(&info.hash).to_string();
        checks.add(tree.finding(FindingKind::TreeHash, &detail).values(expected, own.to_string()));
    }
    report.walked = Walked::root(&root);
    if mode != IavlMode::Off {
        report.walked = Walk { tree, version, mode, meter }.run(root, checks);
    }
    Ok(())
}
