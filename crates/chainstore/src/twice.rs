//! Damage in a table is proven by checking the table twice, the second time past the page cache. *Files, read-only.*
//!
//! A block that does not fit its checksum is read again on the spot. What no checksum covers, such as a footer that names
//! blocks, can lead a whole check astray; so whatever is found has to be found again (design 4).

use crate::store::{Place, Scratch, Store};
use crate::{Checks, Finding, FindingKind, Severity};

/// Checks one table; what the second check does not find again is the machine's fault.
pub(crate) fn check_table(store: &dyn Store, place: &Place, index: u32, scratch: &mut Scratch) -> Checks {
    let first = store.check_table(index, scratch);
    let Some(suspect) = first.findings.iter().find(|finding| is_to_be_proven(finding)) else { return first };
    let file = suspect.file.clone();
    if let Some(Ok(open)) = file.file_name().map(|name| place.dir.file(name)) {
        open.drop_all_cached();
    }
    let mut second = store.check_table(index, scratch);
    let not_again = |one: &Checks, other: &Checks| {
        one.findings.iter().any(|finding| is_to_be_proven(finding) && !other.findings.contains(finding))
    };
    if not_again(&first, &second) || not_again(&second, &first) {
        second.findings.retain(|finding| !is_to_be_proven(finding) || first.findings.contains(finding));
        let detail =
            "checked a second time, other things were wrong with it: the machine is sick, the file may be right";
        second.add(Finding::new(FindingKind::ReadsDiffer, &place.database, &file, detail));
    }
    second
}

/// A device that fails has been asked twice already.
fn is_to_be_proven(finding: &Finding) -> bool {
    finding.severity() == Severity::Damage && finding.kind != FindingKind::ReadError
}
