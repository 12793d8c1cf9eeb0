//! Files beside the databases: the sound node's home with one file changed, and a home of contract code.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use chainstore::{
    Checks, DataDir, FindingKind, Hash32, IavlMode, Meter, NodeReport, NodeSources, Outcome, Records, SigningState,
    Silent, Source, read_node,
};
use diagnosis::DatabaseName;

use crate::fixture::{Fixture, directory, options};
use crate::memory::Memory;

pub(crate) fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap().map(Result::unwrap) {
        let target = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy(&entry.path(), &target);
        } else {
            fs::copy(entry.path(), target).unwrap();
        }
    }
}

/// The sound node's home, changed, and read.
fn changed(change: impl FnOnce(&Path)) -> NodeReport {
    let home = tempfile::tempdir().unwrap();
    copy(&directory("node", "goleveldb-healthy"), home.path());
    fs::create_dir(home.path().join("config")).unwrap();
    change(home.path());
    Fixture::open(home.path()).read(IavlMode::Off)
}

#[track_caller]
fn row(path: &str, content: &[u8], kind: FindingKind, words: &str) -> NodeReport {
    let report = changed(|home| fs::write(home.join(path), content).unwrap());
    let [finding] = &report.checks.findings[..] else { panic!("{path}: {:#?}", report.checks) };
    assert_eq!((finding.kind, finding.file.as_path()), (kind, Path::new(path)), "{finding:?}");
    assert!(finding.detail.contains(words), "{finding:?}");
    report
}

#[test]
fn each_file_with_other_content() {
    use FindingKind::{CompanionFile, Remark, WrongSetup};
    let signing = row("data/priv_validator_state.json", b"", CompanionFile, "the signing state is empty");
    assert_eq!(signing.signing, SigningState::Unreadable);
    row("data/priv_validator_state.json", b"\0\0", CompanionFile, "only a human can tell");
    let ahead = br#"{"height": "900", "round": 0, "step": 3}"#;
    row("data/priv_validator_state.json", ahead, Remark, "has signed at height 900, while its block store ends at 12");
    row("data/upgrade-info.json", b"{", WrongSetup, "cannot be read");
    let due = br#"{"name":"v3","height":13}"#;
    row("data/upgrade-info.json", due, Remark, "the next block (13) needs the binary of upgrade \"v3\"");
    row("data/snapshots/8/3/0", b"other", CompanionFile, "does not have the hash that was recorded");
    row("config/genesis.json", b"{}", WrongSetup, "the genesis file names no chain");
    row("config/addrbook.json", b"garbage", Remark, "it can be deleted");
}

#[test]
fn a_genesis_file_of_another_chain() {
    let report = changed(|home| fs::write(home.join("config/genesis.json"), r#"{"chain_id":"other-1"}"#).unwrap());
    assert_eq!(report.genesis_chain_id.as_deref(), Some("other-1"));
    let [finding] = &report.checks.findings[..] else { panic!("{:#?}", report.checks) };
    assert_eq!(finding.kind, FindingKind::WrongSetup);
    assert_eq!(finding.detail, "the genesis file is of chain other-1, the data of loopbreaker-1");
}

#[test]
fn keys_are_only_asked_for_their_presence() {
    let report = changed(|home| fs::write(home.join("config/node_key.json"), "no key at all").unwrap());
    assert_eq!((report.has_node_key, report.has_validator_key), (Some(true), Some(false)));
    assert_eq!(report.checks, Checks::default());
}

#[test]
fn the_consensus_log_heals_unless_bytes_were_changed() {
    let log = fs::read(directory("node", "goleveldb-healthy").join("data/cs.wal/wal")).unwrap();
    let torn = row("data/cs.wal/wal", &log[..log.len() - 5], FindingKind::SelfHealing, "the last record is torn");
    assert_eq!((torn.checks.outcome(), torn.wal.unwrap().end_height), (Outcome::Intact, Some(12)));
    let mut flipped = log.clone();
    flipped[40] ^= 4;
    let flipped = row("data/cs.wal/wal", &flipped, FindingKind::JournalCorrupt, "bytes were changed on disk");
    assert_eq!(flipped.checks.findings[0].database.as_str(), "cs.wal");
    // Older files first: the numbered one ends where the newest goes on.
    let split = changed(|home| {
        fs::write(home.join("data/cs.wal/wal.000"), &log).unwrap();
        fs::write(home.join("data/cs.wal/wal.CORRUPTED"), b"x").unwrap();
        fs::write(home.join("data/cs.wal/wal"), b"").unwrap();
    });
    let wal = split.wal.unwrap();
    assert_eq!((wal.files, wal.end_height, wal.repaired_before), (2, Some(12), true));
    assert_eq!(split.checks, Checks::default());
}

#[test]
fn chunks_that_are_missing() {
    let report = changed(|home| fs::remove_file(home.join("data/snapshots/8/3/0")).unwrap());
    let [finding] = &report.checks.findings[..] else { panic!("{:#?}", report.checks) };
    assert_eq!((finding.kind, finding.database.as_str()), (FindingKind::CompanionFile, "snapshots"));
    let report = changed(|home| fs::remove_dir_all(home.join("data/snapshots/8")).unwrap());
    assert!(report.checks.findings[0].detail.contains("are missing; it can be deleted"), "{:#?}", report.checks);
}

/// A home with two contract codes: their hashes in the store's index, their files in the folder.
struct Contracts {
    home: tempfile::TempDir,
    application: Memory,
    files: [PathBuf; 2],
}

impl Contracts {
    fn new(folder: &str, ending: &str) -> Self {
        let home = tempfile::tempdir().unwrap();
        let place = home.path().join(folder);
        fs::create_dir_all(home.path().join("data")).unwrap();
        fs::create_dir_all(&place).unwrap();
        let mut application = Memory::default();
        application.put(*b"s/latest", *b"\x08\x0c");
        application.put(*b"s/12", *b"\x08\x0c");
        application.put(*b"s/k:wasm/mstorage_version", *b"1.1.0-12");
        let files = [1_u64, 2].map(|code| {
            let content = format!("\0asm code {code}");
            let hash = Hash32::of(content.as_bytes());
            let info = [&[0x0a, 32][..], &hash.0].concat();
            let value = [&[24, u8::try_from(info.len()).unwrap()][..], &info].concat();
            application.put([&b"s/k:wasm/f\x01"[..], &code.to_be_bytes()].concat(), value);
            let file = place.join(format!("{hash}{ending}"));
            fs::write(&file, content).unwrap();
            file
        });
        Self { home, application, files }
    }

    fn read(&self) -> NodeReport {
        let root = DataDir::open(self.home.path(), Arc::new(Meter::new(None, Arc::new(Silent)))).unwrap();
        let name = DatabaseName::new("application");
        let records = Records { view: &self.application, database: &name, path: Path::new("data/application.db") };
        let sources = NodeSources {
            application: Source::Here(records),
            state: Source::Unread,
            blockstore: Source::Unread,
            snapshots: Source::Absent,
        };
        read_node(&sources, &root, &options(IavlMode::Off))
    }
}

#[test]
fn contract_code_is_found_wherever_chains_keep_it() {
    for (folder, ending) in [("wasm/wasm/state/wasm", ".wasm"), ("data/wasm/state/wasm", ""), ("wasm", "")] {
        let contracts = Contracts::new(folder, ending);
        let cache = contracts.home.path().join(folder).join("cache/modules");
        fs::create_dir_all(&cache).unwrap();
        fs::write(cache.join("0".repeat(64)), "compiled").unwrap();
        let report = contracts.read();
        let wasm = report.wasm.unwrap();
        assert_eq!((wasm.codes, wasm.files), (Some(2), 2), "{folder}");
        assert_eq!(report.checks, Checks::default(), "{folder}");
    }
}

#[test]
fn contract_code_that_is_missing_or_wrong() {
    let found = |change: &dyn Fn(&Contracts), kind, words: &str| {
        let contracts = Contracts::new("wasm/wasm/state/wasm", ".wasm");
        change(&contracts);
        let report = contracts.read();
        let [finding] = &report.checks.findings[..] else { panic!("{:#?}", report.checks) };
        assert_eq!((finding.kind, finding.database.as_str()), (kind, "wasm"));
        assert!(finding.detail.contains(words), "{finding:?}");
    };
    let gone = |contracts: &Contracts| fs::remove_file(&contracts.files[0]).unwrap();
    found(&gone, FindingKind::CompanionFile, "1 of 2 stored contract codes have no file");
    let wrong = |contracts: &Contracts| fs::write(&contracts.files[1], "\0asm code 3").unwrap();
    found(&wrong, FindingKind::CompanionFile, "does not have the hash it is named after");
    // No folder at all: it may be on another volume.
    let elsewhere = |contracts: &Contracts| fs::remove_dir_all(contracts.home.path().join("wasm")).unwrap();
    found(&elsewhere, FindingKind::Remark, "no wasm folder is below this directory");
}

#[test]
fn a_data_directory_alone_will_do() {
    let data = directory("node", "goleveldb-healthy").join("data");
    let report = Fixture::open(&data).read(IavlMode::Latest);
    assert_eq!((report.chain_id.as_deref(), report.has_node_key), (Some("loopbreaker-1"), None));
    assert_eq!(report.checks, Checks::default());
}
