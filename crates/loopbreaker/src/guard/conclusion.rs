//! What a look adds up to, in one line. *No client.*

use chainstore::{Inspection, Outcome, Reason, ring::Checked};

use crate::disk_part::why_untold;

/// What was found, and how much was read for it: nothing that could not be read counts as checked.
pub(super) fn words(inspection: &Inspection, checked: Checked) -> String {
    let is_read = |reason: &Reason| !matches!(reason, Reason::Unreadable(_));
    let reasons = inspection.databases.iter().flat_map(|database| &database.checks.untold);
    let all_read = reasons.chain(&inspection.checks.untold).all(is_read);
    let checked = match checked {
        _ if inspection.databases.iter().all(|database| database.engine.is_none()) => "nothing",
        Checked::Nothing => "hardly anything",
        Checked::Quick => "entry points, manifests, journals and heights",
        Checked::Partly => "a part of all checksums",
        Checked::Everything if all_read => "every checksum",
        Checked::Everything => "every checksum that could be read",
    };
    let outcome = inspection.outcome.name().replace('_', " ");
    match inspection.outcome {
        Outcome::CouldNotTell => format!("{outcome} ({}); checked {checked}", why_untold(inspection)),
        _ => format!("{outcome}; checked {checked}"),
    }
}
