//! What became of a finding, kind by kind.

use std::sync::Arc;

use super::*;
use crate::ring::open_log::FirstOpen;
use crate::{DataDir, Meter, Silent};

/// What becomes of a finding in a database that an engine opened since, with these files there now.
struct Case {
    engine: &'static str,
    now: &'static [(&'static str, &'static str)],
    link: Link,
    looked: Looked,
}

fn facts(engine: &str, pointer: Option<&str>) -> DatabaseFacts {
    DatabaseFacts {
        path: "data/state.db".to_owned(),
        engine: Some(engine.to_owned()),
        pointer: pointer.map(str::to_owned),
        largest: 16,
        tables: 2,
        changed_at: 0,
        anchors: Vec::new(),
        manifests: Vec::new(),
        log: None,
    }
}

impl Case {
    fn fate(&self, kind: FindingKind, file: &str, detail: &str, before: &DatabaseFacts) -> Fate {
        let home = tempfile::tempdir().unwrap();
        for (name, content) in self.now {
            std::fs::write(home.path().join(name), content).unwrap();
        }
        let dir = DataDir::open(home.path(), Arc::new(Meter::new(None, Arc::new(Silent)))).unwrap();
        let (entries, facts) = (dir.list().unwrap(), facts(self.engine, Some("MANIFEST-000019")));
        let today = Today { dir: &dir, entries: &entries, facts: &facts };
        let finding = RingFinding {
            kind: kind.name().to_owned(),
            file: format!("data/state.db/{file}"),
            offset: None,
            expected: None,
            computed: None,
            attribution: None,
            detail: detail.to_owned(),
        };
        fate(kind, &finding, before, &today, &self.link, self.looked)
    }

    fn of(&self, kind: FindingKind, file: &str, detail: &str) -> Fate {
        self.fate(kind, file, detail, &facts(self.engine, Some("MANIFEST-000004")))
    }
}

fn case(engine: &'static str, link: Link) -> Case {
    Case { engine, now: &[("000017.ldb", ""), ("000018.log", "")], link, looked: Looked::AtAll }
}

fn opened(replayed: &[u64], journals: &[u64], manifests: &[u64]) -> Link {
    Link::Log(Since::Opened(FirstOpen {
        replayed: replayed.to_vec(),
        journals_dropped: journals.to_vec(),
        manifests_dropped: manifests.to_vec(),
    }))
}

#[test]
fn the_first_open_tells_what_it_lost() {
    let of = |link, kind, file| case("goleveldb", link).of(kind, file, "");
    let is_gone = |fate| matches!(fate, Fate::Gone(_));
    assert_eq!(of(opened(&[14], &[14], &[]), FindingKind::JournalCorrupt, "000014.log"), Fate::Erased);
    assert!(is_gone(of(opened(&[14], &[], &[]), FindingKind::JournalCorrupt, "000014.log")));
    assert_eq!(of(opened(&[], &[], &[]), FindingKind::JournalMissing, "000014.log"), Fate::Erased);
    assert!(is_gone(of(opened(&[14], &[], &[]), FindingKind::JournalMissing, "000014.log")));
    assert_eq!(of(opened(&[], &[], &[4]), FindingKind::ManifestCorrupt, "MANIFEST-000004"), Fate::Erased);
    assert!(is_gone(of(opened(&[], &[], &[]), FindingKind::ManifestCorrupt, "MANIFEST-000004")));
    assert!(is_gone(of(opened(&[14], &[], &[]), FindingKind::EntryPointCorrupt, "CURRENT")));
    assert!(is_gone(of(Link::Log(Since::Nothing), FindingKind::JournalCorrupt, "000014.log")));
}

#[test]
fn other_data_and_doubt_outweigh_everything() {
    let replaced = case("pebble", Link::Replaced("x")).of(FindingKind::JournalCorrupt, "000014.log", "");
    assert_eq!(replaced, Fate::Gone("x"));
    let unclear = case("pebble", Link::Unclear("y")).of(FindingKind::EntryPointMissing, "CURRENT", "");
    assert_eq!(unclear, Fate::Doubtful("y"));
}

/// Pebble 1 drops data blocks alone; a filter is read by no compaction.
#[test]
fn only_pebble_loses_a_table_and_only_its_data() {
    let of = |engine, detail| case(engine, Link::Files).of(FindingKind::BlockChecksum, "000011.sst", detail);
    assert_eq!(of("pebble", "data block of 9 bytes does not fit its checksum"), Fate::Erased);
    assert_eq!(of("pebble", "index block of 9 bytes does not fit its checksum"), Fate::Erased);
    for (engine, detail) in
        [("pebble", "filter block of 9 bytes"), ("goleveldb", "data block"), ("rocksdb", "data block")]
    {
        assert!(matches!(of(engine, detail), Fate::Doubtful(_)), "{engine}: {detail}");
    }
}

#[test]
fn a_table_that_is_there_was_read_or_was_not() {
    let mut there = case("pebble", Link::Files);
    let of = |case: &Case| case.of(FindingKind::BlockChecksum, "000017.ldb", "data block");
    assert!(matches!(of(&there), Fate::Gone(_)));
    there.looked = Looked::Quickly;
    assert_eq!(of(&there), Fate::Unread);
}

#[test]
fn who_does_not_open_with_a_bad_manifest_erases_none() {
    let of = |engine| case(engine, Link::Files).of(FindingKind::ManifestCorrupt, "MANIFEST-000004", "");
    assert_eq!(of("pebble"), Fate::Erased);
    assert!(matches!(of("rocksdb"), Fate::Doubtful(_)) && matches!(of("leveldb"), Fate::Doubtful(_)));
}

/// A pointer that names the MANIFEST of then was put back by hand; one that names another one is Pebble's new database.
#[test]
fn a_pointer_is_put_back_or_made_anew() {
    let manifest = "content of a MANIFEST";
    let anew = Case { now: &[("MANIFEST-000019", "content of a MANIFEST")], ..case("pebble", Link::Files) };
    let mut before = facts("pebble", None);
    let of = |case: &Case, before: &DatabaseFacts| case.fate(FindingKind::EntryPointMissing, "CURRENT", "", before);
    assert_eq!(of(&anew, &before), Fate::Erased);
    let sha256 = crate::digest::Hash32::of(manifest.as_bytes()).to_string();
    let head = |sha256| facts::Head { file: "MANIFEST-000019".to_owned(), bytes: manifest.len() as u64, sha256 };
    before.manifests = vec![head(sha256)];
    assert!(matches!(of(&anew, &before), Fate::Gone(_)), "put back");
    before.manifests = vec![head("0".repeat(64))];
    assert_eq!(of(&anew, &before), Fate::Erased, "the same name, another MANIFEST");
    before.tables = 0;
    assert!(matches!(of(&anew, &before), Fate::Gone(_)), "nothing was there to lose");
    assert!(matches!(of(&case("goleveldb", Link::Files), &facts("goleveldb", None)), Fate::Doubtful(_)));
}
