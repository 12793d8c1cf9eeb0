//! The checks of a start, and a line for each finding. *No client.*

use std::{path::Path, path::PathBuf, sync::Arc};

use chainstore::{Attribution, Depth, Evidence, Finding, Inspection, Options, Order, ring};
use serde_json::json;

use super::{
    message::{PREFIX, line_of, note},
    until::Until,
};
use crate::{diagnose::Format, report::inspection_json::severity, words::clean};

/// Looks at a home until the deadline: the newest files first, and before them the one that a log names.
pub(super) fn inspect(
    home: &Path,
    depth: Depth,
    first: Option<PathBuf>,
    until: Until,
) -> Result<Inspection, chainstore::ReadError> {
    let progress = Arc::new(until);
    let options = Options { depth, first, order: Order::NewestFirst, progress, ..Options::default() };
    chainstore::inspect(home, &options)
}

/// A finding on one line.
pub(super) fn line(format: Format, finding: &Finding) -> String {
    let file = clean(&finding.file.to_string_lossy());
    let severity = severity(finding.severity());
    let (kind, evidence) = (finding.kind.name(), finding.evidence.name());
    let likely = (finding.attribution != Attribution::Unknown).then(|| clean(&finding.attribution.to_string()));
    match format {
        Format::Text => {
            let offset = finding.offset.map(|offset| format!(" offset={offset}")).unwrap_or_default();
            let evidence = if finding.evidence == Evidence::Disk { "" } else { " evidence=guard" };
            let likely = likely.map(|likely| format!("; likely by: {likely}")).unwrap_or_default();
            let detail = clean(&finding.detail);
            format!("{PREFIX}finding severity={severity} kind={kind} file={file}{offset}{evidence}: {detail}{likely}")
        }
        Format::Json => line_of(&json!({
            "event": "finding",
            "severity": severity,
            "kind": kind,
            "database": clean(finding.database.as_str()),
            "file": file,
            "offset": finding.offset,
            "expected": finding.expected.as_deref().map(clean),
            "computed": finding.computed.as_deref().map(clean),
            "attribution": likely,
            "detail": clean(&finding.detail),
            "evidence": evidence,
        })),
    }
}

/// What an earlier start saw and the engine has erased since, on one line. What another node saw, whose ring came with a
/// snapshot, is no finding of this one.
pub(super) fn line_of_erased(format: Format, kept: &ring::Kept, mark: &ring::Mark) -> Option<String> {
    let kind = kept.finding.kind().filter(|_| kept.state == ring::State::Erased)?;
    if !kept.mark.is_same_node(mark) {
        let (finding, at) = (&kept.finding, &kept.started_at);
        let seen = format!("{}: {} ({})", finding.file, finding.kind, finding.detail);
        let text = format!("could not tell: another node's guard saw {seen} at its start of {at}");
        return Some(note(format, &text));
    }
    let name = Path::new(&kept.database).file_name().unwrap_or_default().to_string_lossy();
    let detail = format!("{}; seen at the start of {}, erased since", kept.finding.detail, kept.started_at);
    let database = diagnosis::DatabaseName::new(&name);
    let mut finding = Finding::new(kind, &database, Path::new(&kept.finding.file), detail).witnessed(Evidence::Guard);
    finding.offset = kept.finding.offset;
    Some(line(format, &finding))
}
