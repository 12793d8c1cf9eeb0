//! What the guard kept of earlier starts, for people. *No client.*

use chainstore::ring::RingReport;

use super::Page;
use crate::words::counted;

/// What the guard kept of earlier starts.
pub(super) fn show(page: &mut Page, ring: &RingReport) {
    let own = ring.starts.iter().filter(|start| start.is_own);
    let (Some(first), last) = (own.clone().next(), own.clone().next_back()) else {
        if !ring.starts.is_empty() || !ring.unreadable.is_empty() {
            page.heading("Kept by guard");
            page.paragraph("Nothing of this pod's starts. --output json lists what is there.");
        }
        return;
    };
    page.heading("Kept by guard");
    let count = counted(own.count() as u64, "start");
    let until = last.filter(|last| *last != first).map(|last| format!(" to {}", last.started_at)).unwrap_or_default();
    let erased = match ring.erased {
        0 => String::new(),
        count => format!(" Erased from disk since: {}.", counted(count, "finding")),
    };
    page.paragraph(&format!("{count}, from {}{until}.{erased}", first.started_at));
    let foreign = ring.starts.iter().filter(|start| !start.is_own).count() as u64;
    if foreign > 0 {
        let verb = if foreign == 1 { "does" } else { "do" };
        let except = match ring.carried {
            0 => "--pod-uid names whose do",
            _ => "only what this pod's guard found again and carried on does",
        };
        page.paragraph(&format!("{} of other pods {verb} not count; {except}.", counted(foreign, "start")));
    }
    if let Some(why) = ring.unreadable.first() {
        page.paragraph(&format!("{} could not be read: {why}.", counted(ring.unreadable.len() as u64, "entry")));
    }
}
