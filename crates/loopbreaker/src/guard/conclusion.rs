//! What a look adds up to, in one line. *No client.*

use chainstore::{Inspection, Outcome, Reason, ring::Checked};

use crate::disk_part::why_untold;

/// How much was read: for people, and the one word of it for programs (`docs/guard.md`). Nothing that could not be read
/// counts as checked.
fn extent(inspection: &Inspection, checked: Checked) -> (&'static str, &'static str) {
    let is_read = |reason: &Reason| !matches!(reason, Reason::Unreadable(_));
    let reasons = inspection.databases.iter().flat_map(|database| &database.checks.untold);
    let all_read = reasons.chain(&inspection.checks.untold).all(is_read);
    match checked {
        _ if inspection.databases.iter().all(|database| database.engine.is_none()) => ("nothing", "nothing"),
        Checked::Nothing => ("hardly anything", "nothing"),
        Checked::Quick => ("entry points, manifests, journals and heights", "quick"),
        Checked::Partly => ("a part of all checksums", "part"),
        Checked::Everything if all_read => ("every checksum", "all"),
        Checked::Everything => ("every checksum that could be read", "readable"),
    }
}

/// The word for how much was read.
pub(super) fn scope(inspection: &Inspection, checked: Checked) -> &'static str {
    extent(inspection, checked).1
}

/// What was found, and how much was read for it.
pub(super) fn words(inspection: &Inspection, checked: Checked) -> String {
    let (checked, _) = extent(inspection, checked);
    let outcome = inspection.outcome.name().replace('_', " ");
    match inspection.outcome {
        Outcome::CouldNotTell => format!("{outcome} ({}); checked {checked}", why_untold(inspection)),
        _ => format!("{outcome}; checked {checked}"),
    }
}
