//! The databases that are measured, each made once by its real engine, and who reads them.

use std::{
    ffi::OsString,
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::{Context, Result};

use super::report::{Contest, Contestant, Goal};
use crate::peers::{self, Program, succeed};

/// Bytes of the large goleveldb.
const LARGE: u64 = 1_200_000_000;
/// Bytes of the small one, which shows that memory does not follow the size.
const SMALL: u64 = 300_000_000;
/// Tables of a terabyte.
const TERABYTE: u64 = 500_000;
const MIB: u64 = 1 << 20;

/// Everything that is measured, in the order of the page.
pub(super) fn contests(loopbreaker: &Path) -> Result<Vec<Contest>> {
    let goleveldb = Program::GoLevelDb.build()?;
    let strict = |program: &Path, name: &'static str, dir: &Path| {
        Contestant::new(name, [word(program), word("strict"), word(dir)])
    };
    let ours = |dir: &Path| Contestant::new("loopbreaker inspect", [word(loopbreaker), word("inspect"), word(dir)]);
    let mut contests = Vec::new();
    for (name, bytes) in [("goleveldb, 1.2 GB", LARGE), ("goleveldb, 0.3 GB", SMALL)] {
        let dir = big(&goleveldb, "goleveldb", bytes)?;
        let goals = vec![
            Goal::Faster { than: "goleveldb, strict", times: 4.0 },
            Goal::WithinOf { of: "cat", times: 1.3 },
            Goal::Memory { bytes: 64 * MIB },
        ];
        let commands = vec![ours(&dir), strict(&goleveldb, "goleveldb, strict", &dir), cat(&dir)?];
        contests.push(Contest { name, bytes: size(&dir)?, commands, goals });
    }
    let sparse = sparse(&goleveldb)?;
    let quick = [word(loopbreaker), word("inspect"), word("--quick"), word(&sparse)];
    let opened = [word(&goleveldb), word("tables"), word(&sparse)];
    contests.push(Contest {
        name: "terabyte, --quick",
        bytes: TERABYTE * 2 * MIB,
        commands: vec![
            Contestant::new("loopbreaker inspect --quick", quick),
            Contestant::new("goleveldb, opened (reads no table)", opened),
        ],
        goals: vec![Goal::Seconds { at_most: 10.0 }, Goal::Memory { bytes: 256 * MIB }],
    });
    for (name, strictly, folder, program) in [
        ("Pebble 1, 0.3 GB", "Pebble 1, CheckLevels and every checksum", "pebble", Program::Pebble1),
        ("Pebble 2, 0.3 GB", "Pebble 2, CheckLevels and every checksum", "pebble2", Program::Pebble2),
    ] {
        let program = program.build()?;
        let dir = big(&program, folder, SMALL)?;
        let commands = vec![ours(&dir), strict(&program, strictly, &dir), cat(&dir)?];
        contests.push(Contest { name, bytes: size(&dir)?, commands, goals: Vec::new() });
    }
    let dir = rocksdb()?;
    let commands = vec![ours(&dir), cat(&dir)?];
    contests.push(Contest { name: "RocksDB, 0.3 GB", bytes: size(&dir)?, commands, goals: Vec::new() });
    Ok(contests)
}

fn word(text: impl Into<OsString>) -> OsString {
    text.into()
}

/// A database as an application leaves it.
fn big(program: &Path, folder: &str, bytes: u64) -> Result<PathBuf> {
    let dir = peers::target("bench")?.join(format!("{folder}-{}", bytes / 1_000_000));
    peers::once(&dir, |dir| {
        eprintln!("── making {} of {} MB, once", folder, bytes / 1_000_000);
        succeed(Command::new(program).arg("big").arg(dir).arg("-bytes").arg(bytes.to_string()))
    })?;
    Ok(dir)
}

/// Its own program for checks is that of another version, and Python's scan measures Python: nobody stands beside ours here.
fn rocksdb() -> Result<PathBuf> {
    let dir = peers::target("bench")?.join(format!("rocksdb-{}", SMALL / 1_000_000));
    let [python, make] = peers::python("rocksdb")?;
    peers::once(&dir, |dir| {
        eprintln!("── making rocksdb of {} MB, once", SMALL / 1_000_000);
        succeed(Command::new(python).arg(make).arg("big").arg(dir).arg(SMALL.to_string()))
    })?;
    Ok(dir)
}

fn sparse(program: &Path) -> Result<PathBuf> {
    let dir = peers::target("bench")?.join("sparse.db");
    peers::once(&dir, |dir| {
        eprintln!("── making {TERABYTE} sparse tables, once");
        succeed(Command::new(program).arg("sparse").arg(dir).arg("-n").arg(TERABYTE.to_string()))
    })?;
    Ok(dir)
}

fn files(dir: &Path) -> Result<Vec<PathBuf>> {
    let entries = fs::read_dir(dir).with_context(|| dir.display().to_string())?;
    let mut files = entries.map(|entry| Ok(entry?.path())).collect::<Result<Vec<_>>>()?;
    files.sort();
    Ok(files)
}

fn size(dir: &Path) -> Result<u64> {
    files(dir)?.iter().map(|file| Ok(fs::metadata(file)?.len())).sum()
}

fn cat(dir: &Path) -> Result<Contestant> {
    Ok(Contestant::new("cat", std::iter::once(word("cat")).chain(files(dir)?.into_iter().map(OsString::from))))
}
