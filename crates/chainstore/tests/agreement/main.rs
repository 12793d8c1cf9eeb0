//! Our verdict beside a second reader's, on what kill -9 left and on random damage: the part of `cargo xtask agreement` that
//! needs no engine.
#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "the helpers of tests are outside of test functions")]

#[path = "../leveldb/kit.rs"]
mod kit;

mod simple;

use std::path::{Path, PathBuf};

use chainstore::{Depth, FindingKind, Outcome};

/// Random damages in all.
const CASES: u64 = 600;

/// Directories that nothing is wrong with: what a killed engine left, and what one that was closed left.
fn healthy(engines: &[&str], names: &[&str]) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for engine in engines {
        for entry in std::fs::read_dir(kit::fixture(engine)).unwrap() {
            let entry = entry.unwrap();
            let name = entry.file_name().into_string().unwrap();
            if entry.path().is_dir() && names.iter().any(|wanted| name.starts_with(wanted)) {
                found.push(entry.path());
            }
        }
    }
    found.sort();
    found
}

/// The highest numbers of `SplitMix64` are as good as its lowest.
struct Dice(u64);

impl Dice {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        usize::try_from((mixed ^ (mixed >> 31)) >> 1).unwrap() % limit
    }
}

/// What was done to a copy.
struct Struck {
    what: String,
    file: String,
    /// Nothing behind the change is as it was.
    reaches_the_end: bool,
}

/// One random change to one file.
fn strike(dir: &Path, dice: &mut Dice) -> Struck {
    let names = std::fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<String> = names.filter(|name| !name.starts_with("LO")).collect();
    names.sort();
    let file = names.swap_remove(dice.below(names.len()));
    let path = dir.join(&file);
    let before = std::fs::read(&path).unwrap();
    if before.is_empty() {
        return strike(dir, dice);
    }
    let mut content = before.clone();
    let at = dice.below(content.len());
    let length = (1 + dice.below(600)).min(content.len() - at);
    let (what, reaches_the_end) = match dice.below(8) {
        0 => {
            content.truncate(at);
            (format!("cut to {at}"), true)
        }
        1 => {
            content[at..at + length].fill(0);
            (format!("{length} zeros at {at}"), at + length == before.len())
        }
        2 => {
            content[at..at + length].fill_with(|| u8::try_from(dice.below(256)).unwrap());
            (format!("{length} bytes of noise at {at}"), at + length == before.len())
        }
        3 => {
            std::fs::remove_file(&path).unwrap();
            return Struck { what: format!("{file} deleted"), file, reaches_the_end: false };
        }
        _ => {
            let bit = dice.below(8);
            content[at] ^= 1 << bit;
            (format!("bit {bit} of byte {at} flipped"), false)
        }
    };
    if content == before {
        return strike(dir, dice);
    }
    std::fs::write(&path, content).unwrap();
    Struck { what: format!("{file}: {what}"), file, reaches_the_end }
}

#[test]
fn what_kill_9_leaves_is_never_damage() {
    let killed = healthy(
        &["goleveldb", "goleveldb-newer", "leveldb", "pebble", "pebble-1.1.5", "pebble-2", "rocksdb"],
        &["walk-", "killed", "fmv13-killed", "fmv20-killed", "fv5-killed", "fv6-killed"],
    );
    assert!(killed.len() >= 30, "only {} copies", killed.len());
    for copy in killed {
        for depth in [Depth::Quick, Depth::Default, Depth::Deep] {
            let report = kit::report(&copy, depth);
            let harmless = matches!(report.outcome, Outcome::Intact | Outcome::CouldNotTell);
            assert!(harmless, "{} {depth:?}: {:#?}", copy.display(), report.checks);
            if report.outcome == Outcome::Intact {
                let store = kit::store(&copy);
                let readable = store.view().unwrap().range(&[], None).all(|entry| entry.is_ok());
                assert!(readable, "{}", copy.display());
            }
        }
    }
}

#[test]
fn a_second_reader_comes_to_the_same() {
    let bases = healthy(&["goleveldb", "goleveldb-newer", "leveldb"], &["walk-", "killed", "healthy"]);
    let bases: Vec<_> = bases.into_iter().filter(|base| simple::check(base).is_ok()).collect();
    assert!(bases.len() >= 14, "only {} healthy databases", bases.len());
    let mut both = 0;
    for case in 0..CASES {
        let mut dice = Dice(case << 32);
        let base = &bases[dice.below(bases.len())];
        let (_home, dir) = kit::copy(base);
        let struck = strike(&dir, &mut dice);
        let report = kit::report(&dir, Depth::Default);
        let theirs = simple::check(&dir);
        let told =
            || format!("case {case}: {}: {}; they: {theirs:?}; we: {:#?}", base.display(), struck.what, report.checks);
        let damaged = report.outcome == Outcome::Damaged;
        both += u32::from(damaged && theirs.is_err());
        if theirs.is_err() && !damaged {
            // Nothing but an end that may be torn, or that nobody can tell from one; or an entry point with a second copy.
            let file = |finding: &chainstore::Finding| finding.file.ends_with(&struck.file);
            let healing = report.checks.findings.iter().any(|it| it.kind == FindingKind::SelfHealing && file(it));
            let torn = healing && (struck.reaches_the_end || struck.file == "CURRENT");
            let journal = Path::new(&struck.file).extension().is_some_and(|extension| extension == "log");
            let untold = report.outcome == Outcome::CouldNotTell && journal;
            assert!(torn || untold, "{}", told());
        }
        assert!(theirs.is_err() || !damaged, "{}", told());
    }
    assert!(both * 2 > u32::try_from(CASES).unwrap(), "only {both} of {CASES} were damage to both");
}
