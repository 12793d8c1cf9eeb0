//! A copy of a sound database whose files are damaged and repaired again and again, and what is looked at each time.

use std::collections::HashSet;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use chainstore::{Attribution, Checks, Depth, Outcome, Scratch, Store};
use serde_json::Value;

use crate::kit;

/// Who reads a file. The ways are those of an inspection, which takes them all.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Way {
    /// A live table, by its index.
    Table(u32),
    /// WALs and what else comes last.
    Rest,
    /// All of it, from the entry point on, but for the tables' blocks.
    Whole,
}

/// What was done to a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Damage {
    /// One bit of one byte.
    Flip(usize, u8),
    /// Cut to this length.
    Cut(usize),
}

pub(crate) struct Bench {
    _home: tempfile::TempDir,
    pub(crate) dir: PathBuf,
    store: Box<dyn Store>,
    /// The WALs that the engine read when it opened a copy, oldest first, and where it stopped reading each.
    pub(crate) replayed: Vec<(String, usize)>,
    /// The MANIFEST that the pointer names.
    pub(crate) manifest: String,
}

/// Files that were taken already, by name and content.
#[derive(Default)]
pub(crate) struct Seen(HashSet<(String, Vec<u8>)>);

impl Seen {
    pub(crate) fn is_new(&mut self, name: &str, content: &[u8]) -> bool {
        self.0.insert((name.to_owned(), content.to_vec()))
    }
}

impl Bench {
    pub(crate) fn new(case: &str) -> Self {
        let (home, dir) = kit::copy(&kit::fixture(case));
        assert_eq!(kit::report(&dir, Depth::Default).outcome, Outcome::Intact, "{case}");
        let names = names(&dir);
        let marker = names.iter().filter_map(|name| name.strip_prefix("marker.manifest.")).max();
        let manifest = match marker {
            Some(marker) => marker.split_once('.').unwrap().1.to_owned(),
            None => std::fs::read_to_string(dir.join("CURRENT")).unwrap().trim().to_owned(),
        };
        let store = kit::store(&dir);
        Self { _home: home, dir, store, replayed: replayed(case), manifest }
    }

    /// Every file that holds bytes.
    pub(crate) fn files(&self) -> Vec<String> {
        let held = |name: &String| std::fs::metadata(self.dir.join(name)).unwrap().len() > 0;
        names(&self.dir).into_iter().filter(held).collect()
    }

    /// Whether there is a file whose name begins so.
    pub(crate) fn files_named(&self, beginning: &str) -> bool {
        names(&self.dir).iter().any(|name| name.starts_with(beginning))
    }

    /// The index of a live table.
    pub(crate) fn table(&self, name: &str) -> Option<u32> {
        self.store.tables().find(|table| table.file == name).map(|table| table.index)
    }

    pub(crate) fn look(&self, way: Way, scratch: &mut Scratch) -> Checks {
        match way {
            Way::Table(index) => self.store.check_table(index, scratch),
            Way::Rest => self.store.check_rest(scratch),
            Way::Whole => kit::report(&self.dir, Depth::Quick).checks,
        }
    }

    /// Flips every bit of every `step`th byte, and cuts the file at every `step`th length. `wanted` says what must come of
    /// it; none means that it is damaged or intact. A flip that is found must be named where `is_named` says so.
    pub(crate) fn exhaust(
        &self,
        name: &str,
        way: Way,
        step: usize,
        is_named: impl Fn(Damage) -> bool,
        wanted: impl Fn(Damage) -> Option<Outcome>,
    ) {
        let path = self.dir.join(name);
        let content = std::fs::read(&path).unwrap();
        let file = std::fs::OpenOptions::new().write(true).open(&path).unwrap();
        let mut scratch = Scratch::default();
        for (at, byte) in content.iter().enumerate().step_by(step) {
            for bit in 0..8 {
                file.write_all_at(&[byte ^ (1 << bit)], at as u64).unwrap();
                let checks = self.look(way, &mut scratch);
                let damage = Damage::Flip(at, bit);
                self.compare(name, damage, wanted(damage), &checks);
                let flip = Attribution::SingleBitFlip { offset: at as u64, bit };
                let named = checks.findings.iter().any(|finding| finding.attribution == flip);
                let damaged = checks.outcome() == Outcome::Damaged;
                assert_eq!(named, damaged && is_named(damage), "{}: {damage:?}: {checks:#?}", path.display());
            }
            file.write_all_at(&[*byte], at as u64).unwrap();
        }
        for length in (0..content.len()).rev().filter(|length| length % step == 0) {
            file.set_len(length as u64).unwrap();
            let damage = Damage::Cut(length);
            self.compare(name, damage, wanted(damage), &self.look(way, &mut scratch));
        }
        std::fs::write(&path, &content).unwrap();
        assert_eq!(self.look(way, &mut scratch).outcome(), Outcome::Intact, "{name}");
    }

    fn compare(&self, name: &str, damage: Damage, wanted: Option<Outcome>, checks: &Checks) {
        let place = self.dir.join(name);
        match wanted {
            Some(wanted) => assert_eq!(checks.outcome(), wanted, "{}: {damage:?}: {checks:#?}", place.display()),
            None => {
                assert_ne!(checks.outcome(), Outcome::CouldNotTell, "{}: {damage:?}: {checks:#?}", place.display());
            }
        }
    }
}

fn names(dir: &Path) -> Vec<String> {
    let mut names: Vec<String> =
        std::fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

/// From the engine's own words about a copy: `WAL file DB/000016.log … stopped reading at offset: 1041; …` by Pebble v1,
/// `WAL 000015: … stopped reading at offset: (DB/000015.log: 1041); …` by Pebble v2.
fn replayed(case: &str) -> Vec<(String, usize)> {
    let (engine, case) = case.split_once('/').unwrap();
    let text = std::fs::read_to_string(kit::fixture(engine).join("manifest.json")).unwrap();
    let cases: Vec<Value> = serde_json::from_str(&text).unwrap();
    let of_case = cases.iter().find(|entry| entry["case"] == case).unwrap();
    let lines = of_case["oracle"]["log"].as_array().unwrap().iter().filter_map(Value::as_str);
    let stopped = lines.filter_map(|line| {
        let (_, end) = line.split_once("stopped reading at offset: ")?;
        let (_, name) = line.split_once("DB/")?;
        let end = end.rsplit_once(": ").map_or(end, |(_, end)| end);
        let end = end.split([';', ')']).next()?;
        Some((name.split_once(".log")?.0.to_owned() + ".log", end.parse().unwrap()))
    });
    let mut stopped: Vec<_> = stopped.collect();
    stopped.sort();
    stopped
}
