//! Copies of a writing engine, taken after kill -9 at random moments: none may be called damaged or inconsistent.

use std::{collections::BTreeMap, fs};

use anyhow::{Context, Result};
use chainstore::{Depth, Outcome};

use super::{
    Options, Workshop, compare,
    engines::{EngineUnderTest, Peer},
    explain,
};
use crate::peers::{once, succeed};

/// What came of the copies of one engine.
pub(super) struct Walk {
    pub(super) engine: EngineUnderTest,
    pub(super) copies: u64,
    pub(super) intact: u64,
    /// Why we could not tell.
    pub(super) untold: BTreeMap<String, u64>,
    /// Copies that are called damaged or inconsistent.
    pub(super) broken: Vec<String>,
}

/// Makes the copies once and inspects each, at the default depth and with every key.
pub(super) fn compare(engine: EngineUnderTest, peer: &Peer, options: &Options, workshop: &Workshop) -> Result<Walk> {
    let dir = workshop.kept.join(format!("walk-{}-{}", engine.folder(), options.copies));
    if options.fresh && dir.exists() {
        fs::remove_dir_all(&dir)?;
    }
    once(&dir, |dir| {
        eprintln!("── {}: {} copies after kill -9", engine.name(), options.copies);
        let mut command = peer.command("walk");
        let copies = options.copies.to_string();
        command.arg(dir).env("TMPDIR", &workshop.scratch);
        match engine {
            EngineUnderTest::LevelDb | EngineUnderTest::RocksDb => succeed(command.arg(copies)),
            _ => succeed(command.arg("-n").arg(copies).arg("-seed").arg(options.seed.to_string())),
        }
    })?;
    let mut walk = Walk { engine, copies: 0, intact: 0, untold: BTreeMap::new(), broken: Vec::new() };
    let mut copies: Vec<_> = fs::read_dir(&dir).context("the copies")?.collect::<Result<_, _>>()?;
    copies.sort_by_key(fs::DirEntry::file_name);
    for copy in copies.iter().filter(|copy| copy.path().is_dir()) {
        walk.copies += 1;
        let mut intact = true;
        for depth in [Depth::Default, Depth::Deep] {
            let ours = compare::inspect(&copy.path(), depth)?;
            intact &= ours.outcome == Outcome::Intact;
            if ours.is_bad() {
                let finding = ours.heaviest().map(|finding| format!("{}: {}", finding.kind, finding.detail));
                let name = copy.path().strip_prefix(&workshop.kept)?.display().to_string();
                let what = finding.unwrap_or_default();
                walk.broken.push(format!(
                    "{}: a healthy copy is called {}: {what}; kept as {name}",
                    engine.name(),
                    ours.outcome
                ));
            } else if ours.outcome == Outcome::CouldNotTell && depth == Depth::Default {
                *walk.untold.entry(explain::untold(&ours.untold())).or_default() += 1;
            }
        }
        walk.intact += u64::from(intact);
    }
    Ok(walk)
}
