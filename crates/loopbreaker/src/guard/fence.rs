//! Whether what was seen forbids the start. *No client.* (P8, P13)
//!
//! Only what the user asked for, only what is proven, and never over the user's word: "could not tell" and every failure
//! of the guard start the node.

use std::ffi::OsStr;

use chainstore::{Evidence, Finding, FindingKind, Inspection, Reason, Severity, ring::RingEntry};
use diagnosis::StartRole;

use super::watch::Seen;

/// The one variable that overrides both.
pub(super) const OVERRIDE: &str = "LOOPBREAKER_START_ANYWAY";

/// Why the node is not to be started, if so.
pub(super) fn forbids(fence: bool, refuse_empty: bool, seen: &Seen) -> Option<String> {
    let damage = seen.damage.as_ref().filter(|_| fence).map(|why| format!("fenced: {why}"));
    damage.or_else(|| seen.lost.as_ref().filter(|_| refuse_empty).map(|why| format!("refused: {why}")))
}

/// Any value but an empty one or a no: in doubt the node starts.
pub(super) fn is_overridden(value: Option<&OsStr>) -> bool {
    let no = |value: &OsStr| ["", "0", "false", "no", "off"].iter().any(|no| value.eq_ignore_ascii_case(no));
    value.is_some_and(|value| !no(value))
}

/// Damage that is on disk now, in a database without which the node does not start. Where reads differ the machine is
/// sick and nothing is proven; what the engine dropped at an earlier start it has lived with since.
pub(super) fn damage_that_stops(inspection: &Inspection) -> Option<String> {
    if inspection.findings().any(|finding| finding.severity() == Severity::HostSick) {
        return None;
    }
    let stops = |finding: &&Finding| {
        finding.severity() == Severity::Damage
            && finding.evidence == Evidence::Disk
            && finding.kind != FindingKind::EngineDroppedData
            && finding.database.start_role() == StartRole::ReadAtStart
    };
    let first = inspection.findings().find(stops)?;
    let offset = first.offset.map(|offset| format!(" at {offset}")).unwrap_or_default();
    Some(format!("proven damage in {}{offset}: {}", first.file.display(), first.detail))
}

/// The databases without which no node starts.
const NEEDED: [&str; 3] = ["application", "state", "blockstore"];

/// A database that this node had and that is not there. A node that never had one is new: that is no loss. What remembers
/// is the ring (`had` holds what this node's earlier entries knew), and files that only a node writes that had data.
pub(super) fn lost_database(inspection: &Inspection, had: &[String], entry: &RingEntry) -> Option<String> {
    let has = |name: &str| {
        let here = inspection.databases.iter().find(|database| database.name.as_str() == name);
        // What could not be looked into may be there.
        here.is_some_and(|database| database.engine.is_some() || !is_empty(&database.checks))
            || inspection.checks.untold.iter().any(hides_a_database)
    };
    let known = |name: &str| had.iter().any(|path| path.rsplit('/').next() == Some(&format!("{name}.db")));
    if let Some(name) = NEEDED.into_iter().find(|name| known(name) && !has(name)) {
        return Some(format!("{name}.db is not there, and was at an earlier start of this node"));
    }
    if NEEDED.into_iter().any(has) {
        return None;
    }
    let signed = entry.signing.filter(|signed| signed.height > 0);
    if let Some(signed) = signed {
        return Some(format!("there is no database, and this node has signed at height {}", signed.height));
    }
    let upgraded = entry.upgrade.as_ref()?;
    Some(format!("there is no database, and upgrade-info.json says that this node reached {}", upgraded.height))
}

/// Whether a database may stand where nobody could look.
fn hides_a_database(reason: &Reason) -> bool {
    matches!(reason, Reason::Unreadable(_) | Reason::AboveLimit(_) | Reason::Interrupted | Reason::Changed(_))
}

/// Whether a directory provably holds no database.
fn is_empty(checks: &chainstore::Checks) -> bool {
    checks.findings.iter().any(|finding| finding.kind == FindingKind::NoDatabase)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seen(damage: Option<&str>, lost: Option<&str>) -> Seen {
        Seen { damage: damage.map(str::to_owned), lost: lost.map(str::to_owned) }
    }

    #[test]
    fn only_what_was_asked_for_forbids() {
        let both = seen(Some("d"), Some("l"));
        assert_eq!(forbids(false, false, &both), None);
        assert_eq!(forbids(true, false, &both).as_deref(), Some("fenced: d"));
        assert_eq!(forbids(false, true, &both).as_deref(), Some("refused: l"));
        assert_eq!(forbids(true, true, &seen(None, None)), None);
        assert_eq!(forbids(true, false, &seen(None, Some("l"))), None);
    }

    #[test]
    fn every_word_but_a_no_overrides() {
        for no in ["", "0", "false", "No", "OFF"] {
            assert!(!is_overridden(Some(OsStr::new(no))), "{no}");
        }
        for yes in ["1", "true", "yes", "please"] {
            assert!(is_overridden(Some(OsStr::new(yes))), "{yes}");
        }
        assert!(!is_overridden(None));
    }
}
