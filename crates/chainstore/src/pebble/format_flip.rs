//! One flipped bit in the format version of a footer, which has no checksum. *No files of its own.*
//!
//! Formats differ in what stands before a value, so that with a wrong one the rows do not fit. If they all do with a version
//! that is one bit away, that bit is the damage.

use crate::pebble::footer::{FOOTER_BYTES, Footer};
use crate::{Attribution, Checks, FindingKind, Severity};

/// Where the version stands in a footer: before the eight bytes of magic.
const VERSION_AT: u64 = FOOTER_BYTES - 12;

/// Reads a table that does not fit again with each format one bit away; gives what is then the whole damage.
pub(crate) fn explain(checks: Checks, footer: Footer, newest: u32, mut read: impl FnMut(Footer) -> Checks) -> Checks {
    let by_rows = [FindingKind::BlockStructure, FindingKind::KeyOrder, FindingKind::TableFooter];
    let misread = |found: &crate::Finding| by_rows.contains(&found.kind) && found.attribution == Attribution::Unknown;
    let damage = checks.findings.iter().filter(|found| found.severity() == Severity::Damage);
    let is_misread = damage.clone().count() > 0 && damage.clone().all(misread);
    // 0 is the format of RocksDB's magic, which has one version.
    let Some(first) = checks.findings.first().filter(|_| is_misread && footer.format > 0) else { return checks };
    let mut formats: Vec<(u32, u8)> = (0..8_u8).map(|bit| (footer.format ^ (1 << bit), bit)).collect();
    formats.retain(|(format, _)| (1..=newest).contains(format));
    // Rows of formats 1 and 2 are alike. Nodes have had the newer one since version 1.1.
    formats.sort_unstable_by(|a, b| b.cmp(a));
    for (format, bit) in formats {
        let other = read(Footer { format, ..footer });
        if other.findings.is_empty() && other.untold.is_empty() {
            let mut finding = first.clone();
            finding.kind = FindingKind::TableFooter;
            finding.detail =
                format!("format version {} does not fit the table's rows; {format} does, one bit away", footer.format);
            let offset = footer.start.saturating_add(VERSION_AT);
            let finding = finding.at(offset).by(Attribution::SingleBitFlip { offset, bit });
            let mut explained = other;
            explained.add(finding.values(format.to_string(), footer.format.to_string()));
            return explained;
        }
    }
    checks
}
