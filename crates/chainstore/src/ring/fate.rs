//! What became of a finding since the start before which it was seen. *No client.*
//!
//! Which damage an engine's next open erases: formats 7.1, fault lab. A journal is replayed as far as it can be read and
//! removed; a MANIFEST is written anew; Pebble without its pointer begins an empty database; Pebble 1 drops the bad block
//! in a compaction and deletes the table. Everything else stays on disk until somebody puts it right, and what was put
//! right is damage no more.

use crate::FindingKind;
use crate::lsm::block_checker::DATA_BLOCK;
use crate::ring::entry::RingFinding;
use crate::ring::facts::{self, DatabaseFacts};
use crate::ring::link::{Link, Today, manifest_number};
use crate::ring::open_log::Since;

/// What became of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fate {
    /// It still shows on disk.
    OnDisk,
    /// The engine opened the database with it and erased its trace.
    Erased,
    /// It is damage no more, or the data is other data; says why.
    Gone(&'static str),
    /// The file is there and was not read this time.
    Unread,
    /// Nobody can tell; says why.
    Doubtful(&'static str),
}

/// How much of today's files was read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Looked {
    /// Nothing was checked.
    NotAtAll,
    /// Entry points, manifests, journals.
    Quickly,
    /// Every checksum.
    AtAll,
}

/// Whether damage of this kind, in a file of this name, is one that an engine's start can erase, of any engine.
pub(crate) fn can_be_erased(kind: FindingKind, name: &str) -> bool {
    is_of_journal(kind) && facts::is_journal(name)
        || is_of_manifest(kind) && facts::is_manifest(name)
        || is_of_table(kind) && facts::is_table(name)
        || is_of_pointer(kind)
        || kind == FindingKind::EngineDroppedData
}

/// Whether a damaged MANIFEST makes such findings too: it names journals that are long gone.
pub(crate) fn can_follow_from_the_manifest(kind: FindingKind) -> bool {
    matches!(kind, FindingKind::JournalMissing | FindingKind::RecordsMissing)
}

fn is_of_journal(kind: FindingKind) -> bool {
    matches!(kind, FindingKind::JournalCorrupt | FindingKind::JournalMissing | FindingKind::RecordsMissing)
}

pub(crate) fn is_of_manifest(kind: FindingKind) -> bool {
    use FindingKind as Kind;
    matches!(kind, Kind::ManifestCorrupt | Kind::VersionEditMalformed | Kind::ManifestIncomplete)
}

pub(crate) fn is_of_pointer(kind: FindingKind) -> bool {
    matches!(kind, FindingKind::EntryPointMissing | FindingKind::EntryPointCorrupt | FindingKind::ManifestMissing)
}

fn is_of_table(kind: FindingKind) -> bool {
    use FindingKind as Kind;
    matches!(kind, Kind::TableSize | Kind::TableFooter | Kind::BlockChecksum | Kind::BlockStructure | Kind::KeyOrder)
}

/// Judges one finding of a kind that [`can_be_erased`], which today's checks do not show.
pub(crate) fn fate(
    kind: FindingKind,
    finding: &RingFinding,
    before: &DatabaseFacts,
    today: &Today<'_>,
    link: &Link,
    looked: Looked,
) -> Fate {
    match link {
        Link::Replaced(why) => return Fate::Gone(why),
        Link::Unclear(why) => return Fate::Doubtful(why),
        Link::Log(_) | Link::Files => {}
    }
    let name = finding.file_name();
    if is_of_pointer(kind) {
        return pointer(before, today, link);
    }
    if kind == FindingKind::EngineDroppedData {
        // The loss was made before it was seen; only its trace goes, with a log or a MANIFEST.
        return Fate::Erased;
    }
    if today.has(name) {
        return match (is_of_table(kind), looked) {
            (true, Looked::Quickly) => Fate::Unread,
            _ if is_of_manifest(kind) && today.facts.pointer.as_deref() != Some(name) => {
                manifest(name, before, today, link)
            }
            _ => Fate::Gone("the file is there and reads right"),
        };
    }
    if is_of_table(kind) {
        return table(kind, finding, today);
    }
    if is_of_manifest(kind) {
        return manifest(name, before, today, link);
    }
    journal(kind, name, before, today, link)
}

/// An engine's open writes a MANIFEST of a higher number.
pub(crate) fn was_opened(before: &DatabaseFacts, today: &Today<'_>) -> bool {
    manifest_number(today.facts) > manifest_number(before)
}

/// Nothing is erased where no engine came: what does not show any more was put right.
const NOT_OPENED: Fate = Fate::Gone("no engine opened the database since, and it does not show any more");

fn journal(kind: FindingKind, name: &str, before: &DatabaseFacts, today: &Today<'_>, link: &Link) -> Fate {
    let Some(number) = facts::number_of(name).filter(|_| facts::is_journal(name)) else {
        return Fate::Doubtful("what it was seen in is no journal");
    };
    let Link::Log(since) = link else {
        return if was_opened(before, today) { Fate::Erased } else { NOT_OPENED };
    };
    let Since::Opened(open) = since else { return NOT_OPENED };
    let erased = match kind {
        FindingKind::JournalMissing => !open.replayed.contains(&number),
        FindingKind::JournalCorrupt => open.journals_dropped.contains(&number),
        _ => return Fate::Doubtful("the engine says nothing of writes that were missing before"),
    };
    if erased { Fate::Erased } else { Fate::Gone("the engine replayed the journal without a loss") }
}

/// goleveldb and Pebble open with a part of a damaged MANIFEST and write a new one; the others stay down.
fn manifest(name: &str, before: &DatabaseFacts, today: &Today<'_>, link: &Link) -> Fate {
    let engine = today.facts.engine.as_deref();
    if [crate::Engine::GoLevelDb, crate::Engine::Pebble].iter().all(|opens| engine != Some(opens.name())) {
        return Fate::Doubtful("this engine does not open with such a MANIFEST, so somebody repaired it");
    }
    let Link::Log(since) = link else {
        return if was_opened(before, today) { Fate::Erased } else { NOT_OPENED };
    };
    let Since::Opened(open) = since else { return NOT_OPENED };
    match facts::number_of(name) {
        Some(number) if open.manifests_dropped.contains(&number) => Fate::Erased,
        _ => Fate::Gone("the engine read the MANIFEST without a loss"),
    }
}

/// Only Pebble opens without a pointer: it begins anew, and deletes what it does not know. What goleveldb still reads in a
/// damaged one (it skips blanks before a number, say), it writes anew.
fn pointer(before: &DatabaseFacts, today: &Today<'_>, link: &Link) -> Fate {
    if matches!(link, Link::Log(Since::Opened(open)) if open.manifests_dropped.is_empty()) {
        return Fate::Gone("the engine found its MANIFEST and read it without a loss");
    }
    let Some(named) = &today.facts.pointer else { return Fate::Doubtful("the pointer is missing in another way now") };
    if today.facts.engine.as_deref() != Some(crate::Engine::Pebble.name()) {
        return Fate::Doubtful("the pointer is back, and this engine does not make one by itself");
    }
    if before.tables == 0 {
        return Fate::Gone("there were no tables to lose");
    }
    let then = before.manifests.iter().find(|head| head.file == *named);
    let is_put_back = then.is_some_and(|then| {
        facts::head(today.dir, named, then.bytes)
            .is_some_and(|now| now.bytes == then.bytes && now.sha256 == then.sha256)
    });
    if is_put_back { Fate::Gone("the pointer names its MANIFEST of then again") } else { Fate::Erased }
}

/// What a table's index is called in findings.
const INDEX_BLOCK: &str = "index block";

/// Pebble 1 loses what it cannot read of data and index in a compaction, without a word (run with the engine, `cargo xtask
/// guard`). It does not read filters then, and stops at every other bad block, as other engines do at all.
fn table(kind: FindingKind, finding: &RingFinding, today: &Today<'_>) -> Fate {
    let is_read = [DATA_BLOCK, INDEX_BLOCK].iter().any(|block| finding.detail.starts_with(block));
    let is_of_data = kind == FindingKind::BlockChecksum && is_read;
    if is_of_data && today.facts.engine.as_deref() == Some(crate::Engine::Pebble.name()) {
        Fate::Erased
    } else {
        Fate::Doubtful("the table is gone, and this engine does not compact a table with such damage")
    }
}

#[cfg(test)]
mod tests;
