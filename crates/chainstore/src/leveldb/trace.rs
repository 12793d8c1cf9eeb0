//! What the engine wrote about itself: `LOG` and `LOG.old`. *Files, read-only.*
//!
//! Source: goleveldb `leveldb/session_util.go` (`journal@drop`), `leveldb/db_util.go` (`db@janitor`), `storage/file_storage.go`
//! (day lines), LevelDB `db/db_impl.cc`. goleveldb drops what it cannot read *without an error*, replaces its MANIFEST
//! and deletes the tables that it forgot; its LOG is then the only witness (formats 7.1). The engine writes this file
//! itself; nothing that a peer sends gets into these lines but keys inside quotes.

use crate::lsm::file_number::digits;
use crate::store::Place;
use crate::{Checks, Finding, FindingKind, Reason};

/// The end of each file is enough: goleveldb starts a new LOG after 1 MiB.
const TAIL_BYTES: u64 = 4 << 20;

/// A database that was open for so long after a loss has been lived with: the loss explains no crash of today.
const LIVED_WITH_SECONDS: i64 = 3600;

/// One thing the engine wrote.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Trace {
    /// `log@legend`: the first line of each open.
    Open,
    /// `journal@drop manifest-N` or a skipped MANIFEST record, with its words.
    ManifestDrop(String),
    /// `journal@drop journal-N` for anything but a torn end.
    JournalDrop(String),
    /// A piece without its beginning, after something was dropped before it.
    JournalOrphan(String),
    /// `memdb@flush created L0@N`: the table that a start made of the journals.
    Flushed(u64),
    /// `db@janitor removing table-N`.
    TableRemoved,
    /// `table@recovery`: someone had the database rebuilt from its tables.
    Recovery(String),
    /// The engine met damage while it ran.
    Corruption(String),
}

/// A line with the time it was written, in seconds.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Line {
    at: i64,
    trace: Option<Trace>,
}

/// What a table that a start made of the journals says about them: are numbers missing between its writes?
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Gap {
    /// So many writes are missing.
    Missing(u64),
    /// Its writes follow each other; what was dropped may still have been the end of the journal.
    None,
    /// The table is gone, or cannot be read.
    Unknown,
}

/// Reads both files, oldest first. `gap` reads a table by its number.
pub(crate) fn read(place: &Place, gap: impl Fn(u64) -> Gap) -> Checks {
    let mut checks = Checks::default();
    let mut lines = Vec::new();
    for name in ["LOG.old", "LOG"] {
        if place.entry(name).is_none() {
            continue;
        }
        match place.dir.file(name).and_then(|file| file.read_tail(TAIL_BYTES)) {
            Ok((_, bytes)) => lines.extend(parse(&String::from_utf8_lossy(&bytes))),
            Err(error) => checks.add(Reason::Unreadable(error)),
        }
    }
    judge(place, &lines, gap, &mut checks);
    checks
}

fn parse(text: &str) -> Vec<Line> {
    let (mut day, mut lines) = (0, Vec::new());
    for line in text.lines() {
        if let Some(date) = line.strip_prefix("===============") {
            day = day_of(date).unwrap_or(day);
            continue;
        }
        let Some((time, words)) = line.split_once(' ') else { continue };
        let Some(second) = second_of(time) else { continue };
        lines.push(Line { at: day * 86_400 + second, trace: trace(words) });
    }
    lines
}

/// `Nov 30, 2026 (UTC)` as a number of days.
fn day_of(date: &str) -> Option<i64> {
    let mut words = date.split_whitespace();
    let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
    let name = words.next()?;
    let month = i64::try_from(months.iter().position(|month| *month == name)?).ok()? + 1;
    let day = i64::try_from(digits(words.next()?.strip_suffix(',')?)?).ok()?;
    let year = i64::try_from(digits(words.next()?).filter(|year| *year < 10_000)?).ok()?;
    // Days since 1 March of year 0, as in Howard Hinnant's `days_from_civil`.
    let (year, month) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    Some(year * 365 + year / 4 - year / 100 + year / 400 + (153 * month + 2) / 5 + day)
}

/// `15:04:05.000000` in seconds.
fn second_of(time: &str) -> Option<i64> {
    let mut parts = time.split([':', '.']);
    let mut next =
        || parts.next().and_then(digits).filter(|part| *part < 100).and_then(|part| i64::try_from(part).ok());
    Some(next()? * 3600 + next()? * 60 + next()?)
}

fn trace(words: &str) -> Option<Trace> {
    let owned = || words.to_owned();
    // A cut or unwritten end is what every crash leaves.
    let torn = ["chunk length overflows block", "missing chunk part", "zero header"].iter().any(|w| words.contains(w));
    if words.starts_with("log@legend") {
        Some(Trace::Open)
    } else if words.starts_with("journal@drop manifest-") && !torn || words.starts_with("manifest error") {
        Some(Trace::ManifestDrop(owned()))
    } else if words.starts_with("journal@drop journal-") && words.contains("orphan chunk") {
        Some(Trace::JournalOrphan(owned()))
    } else if words.starts_with("journal@drop journal-") && !torn || words.starts_with("journal error") {
        Some(Trace::JournalDrop(owned()))
    } else if let Some(made) = words.strip_prefix("memdb@flush created L") {
        let number = made.split_once('@')?.1.split(' ').next()?;
        Some(Trace::Flushed(digits(number)?))
    } else if words.starts_with("db@janitor removing table-") {
        Some(Trace::TableRemoved)
    } else if words.starts_with("table@recovery F·") {
        Some(Trace::Recovery(owned()))
    } else if words.contains("(corruption detected)") || words.contains("block corruption") {
        Some(Trace::Corruption(owned()))
    } else {
        None
    }
}

/// What the engine did between two opens.
#[derive(Debug, Default)]
struct Session {
    began: i64,
    ended: i64,
    manifest: Vec<String>,
    journal: Vec<String>,
    orphans: usize,
    flushed: Vec<u64>,
    removed: u64,
    other: Vec<String>,
}

fn sessions(lines: &[Line]) -> Vec<Session> {
    let mut sessions: Vec<Session> = Vec::new();
    for line in lines {
        if sessions.is_empty() || line.trace == Some(Trace::Open) {
            sessions.push(Session { began: line.at, ..Session::default() });
        }
        let Some(session) = sessions.last_mut() else { continue };
        session.ended = line.at;
        match line.trace.clone() {
            Some(Trace::ManifestDrop(words)) => session.manifest.push(words),
            Some(Trace::JournalDrop(words)) => session.journal.push(words),
            Some(Trace::JournalOrphan(words)) => {
                session.orphans = session.orphans.saturating_add(1);
                session.journal.push(words);
            }
            Some(Trace::Flushed(number)) => session.flushed.push(number),
            Some(Trace::TableRemoved) => session.removed = session.removed.saturating_add(1),
            Some(Trace::Recovery(words) | Trace::Corruption(words)) => session.other.push(words),
            Some(Trace::Open) | None => {}
        }
    }
    sessions
}

fn judge(place: &Place, lines: &[Line], gap: impl Fn(u64) -> Gap, checks: &mut Checks) {
    let sessions = sessions(lines);
    let path = place.dir.path().join("LOG");
    for (index, session) in sessions.iter().enumerate() {
        let lasted = |session: &Session| session.ended.saturating_sub(session.began);
        let lived_with = sessions.iter().skip(index).any(|later| lasted(later) >= LIVED_WITH_SECONDS);
        let mut add = |detail: String, proven: bool| {
            if lived_with {
                let detail = format!("{detail}; the database was in use for over an hour since");
                checks.add(Finding::new(FindingKind::Remark, &place.database, &path, detail));
            } else if proven {
                checks.add(Finding::new(FindingKind::EngineDroppedData, &place.database, &path, detail));
            } else {
                checks.add(Reason::Ambiguous(format!("{}: {detail}", path.display())));
            }
        };
        if let Some(first) = session.manifest.first() {
            let removed = session.removed;
            add(format!("the engine dropped part of its MANIFEST and removed {removed} tables: {first}"), true);
        }
        if let Some(first) = session.journal.first() {
            // One broken chunk alone can be the half-written end of a power cut; with more after it the log went on. The
            // table that was made of the journal then has a hole in its numbers.
            let gaps: Vec<Gap> = session.flushed.iter().map(|number| gap(*number)).collect();
            let holes: u64 = gaps.iter().map(|gap| if let Gap::Missing(count) = gap { *count } else { 0 }).sum();
            let detail = format!("the engine dropped journal data at a start: {first}");
            if holes > 0 {
                add(format!("{detail}; {holes} writes are missing"), true);
            } else {
                add(detail, session.orphans > 0 || session.journal.len() > 1);
            }
        }
        for words in &session.other {
            checks.add(Finding::new(FindingKind::Remark, &place.database, &path, words.clone()));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{DataDir, Depth, Meter, Severity, Silent};
    use diagnosis::DatabaseName;
    use std::sync::Arc;

    fn severity(log: &str) -> Option<Severity> {
        severity_with(log, Gap::Unknown)
    }

    fn severity_with(log: &str, gap: Gap) -> Option<Severity> {
        let home = tempfile::tempdir().unwrap();
        std::fs::write(home.path().join("LOG"), log).unwrap();
        let dir = DataDir::open(home.path(), Arc::new(Meter::new(None, Arc::new(Silent)))).unwrap();
        let entries = dir.list().unwrap().into();
        read(&Place { dir, database: DatabaseName::new("state.db"), entries, depth: Depth::Default }, |_| gap)
            .severity()
    }

    const DAY: &str = "=============== Nov 30, 2026 (UTC) ===============\n10:00:00.000000 log@legend F\n";

    #[test]
    fn dropped_manifests_and_holes_are_damage() {
        let manifest = "10:00:00.1 journal@drop manifest-0 S·684B \"checksum mismatch\"\n10:00:00.2 db@janitor removing table-19\n";
        assert_eq!(severity(&format!("{DAY}{manifest}")), Some(Severity::Damage));
        let hole = "10:00:00.1 journal@drop journal-22 S·32KiB \"checksum mismatch\"\n10:00:00.1 journal@drop journal-22 S·120B \"orphan chunk\"\n";
        assert_eq!(severity(&format!("{DAY}{hole}")), Some(Severity::Damage));
    }

    #[test]
    fn torn_ends_are_nothing_and_one_broken_chunk_is_open() {
        let torn = "10:00:00.1 journal@drop journal-22 S·120B \"chunk length overflows block\"\n";
        assert_eq!(severity(&format!("{DAY}{torn}")), None);
        let one = "10:00:00.1 journal@drop journal-22 S·120B \"checksum mismatch\"\n";
        assert_eq!(severity(&format!("{DAY}{one}")), Some(Severity::CouldNotTell));
        let flushed = "10:00:00.2 memdb@flush created L0@2 N·289 S·8KiB \"C:0,v3\":\"b,v4\"\n";
        let severity = |gap| severity_with(&format!("{DAY}{one}{flushed}"), gap);
        assert_eq!(severity(Gap::Unknown), Some(Severity::CouldNotTell));
        assert_eq!(severity(Gap::None), Some(Severity::CouldNotTell));
        assert_eq!(severity(Gap::Missing(3)), Some(Severity::Damage));
    }

    #[test]
    fn a_loss_that_was_lived_with_is_a_remark() {
        let log = "10:00:00.1 journal@drop manifest-0 S·684B \"checksum mismatch\"\n10:00:05.0 log@legend F\n11:00:06.0 version@stat\n";
        assert_eq!(severity(&format!("{DAY}{log}")), Some(Severity::Note));
        let overnight = "10:00:00.1 journal@drop manifest-0 S·684B \"checksum mismatch\"\n=============== Dec 1, 2026 (UTC) ===============\n00:00:06.0 version@stat\n";
        assert_eq!(severity(&format!("{DAY}{overnight}")), Some(Severity::Note));
    }
}
