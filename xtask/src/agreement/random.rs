//! Random damages: each case is a healthy fixture and one change, both told by the seed and the case's number.

use std::{
    collections::BTreeMap,
    fs::{self, File, OpenOptions},
    io::{BufRead, BufReader, Write},
    path::{Path, PathBuf},
};

use anyhow::{Context, Result, bail};
use chainstore::{Depth, Outcome};
use indicatif::{ProgressBar, ProgressStyle};
use serde::{Deserialize, Serialize};

use super::{
    Options, Workshop,
    compare::{self, Class, Ours},
    damage::{self, Damage, Dice},
    engines::{EngineUnderTest, Peer},
    explain,
    judge::{Complaint, Judge},
};
use crate::tidy;

/// What came of all cases of one engine.
pub(super) struct Damages {
    pub(super) engine: EngineUnderTest,
    pub(super) bases: usize,
    pub(super) counts: BTreeMap<Class, u64>,
    /// What we saw alone, by reviewed reason.
    pub(super) only_we: BTreeMap<explain::Reason, u64>,
    /// What was changed where nobody sees anything.
    pub(super) neither: BTreeMap<String, u64>,
    /// Why we could not tell where they saw something.
    pub(super) untold: BTreeMap<String, u64>,
    /// Cases that must not be.
    pub(super) broken: Vec<String>,
}

/// What the engine said of a case in this or an earlier run.
#[derive(Serialize, Deserialize)]
struct Told {
    case: u64,
    damage: String,
    error: Complaint,
}

#[derive(Deserialize)]
struct Fixture {
    case: String,
    state: String,
}

/// The healthy fixtures of an engine that we read.
pub(super) fn bases(engine: EngineUnderTest) -> Result<Vec<PathBuf>> {
    let folder = tidy::root().join("crates/chainstore/tests/fixtures").join(engine.folder());
    let list = folder.join("manifest.json");
    let fixtures: Vec<Fixture> = serde_json::from_reader(BufReader::new(File::open(&list)?))?;
    let mut bases = Vec::new();
    for fixture in fixtures.iter().filter(|fixture| fixture.state == "healthy" && fixture.case != "empty") {
        let dir = folder.join(&fixture.case);
        if compare::inspect(&dir, Depth::Default)?.outcome == Outcome::Intact {
            bases.push(dir);
        }
    }
    Ok(bases)
}

/// Makes a case.
fn make(bases: &[PathBuf], seed: u64, case: u64, at: &Path) -> Result<(String, Damage)> {
    let mut dice = Dice::new(seed, case);
    let base = dice.pick(bases)?;
    damage::copy(base, at)?;
    let damage = damage::strike(at, &mut dice)?;
    let base = base.file_name().unwrap_or_default().to_string_lossy().into_owned();
    Ok((base, damage))
}

/// Compares all cases of an engine.
pub(super) fn compare(engine: EngineUnderTest, peer: &Peer, options: &Options, workshop: &Workshop) -> Result<Damages> {
    let bases = bases(engine)?;
    let mut damages = Damages {
        engine,
        bases: bases.len(),
        counts: BTreeMap::new(),
        only_we: BTreeMap::new(),
        untold: BTreeMap::new(),
        neither: BTreeMap::new(),
        broken: Vec::new(),
    };
    if bases.is_empty() {
        return Ok(damages);
    }
    let memory = workshop.kept.join(format!("random-{}-{}.jsonl", engine.folder(), options.seed));
    if options.fresh && memory.exists() {
        fs::remove_file(&memory)?;
    }
    let known = remembered(&memory)?;
    let mut remember = OpenOptions::new().append(true).create(true).open(&memory)?;
    let mut judge = Judge::new(peer, &workshop.scratch);
    let bar = bar(options.cases, engine.name());
    for case in 0..options.cases {
        // A name of its own: an engine may hold a directory for good.
        let at = workshop.scratch.join(format!("case-{case}.db"));
        let (base, damage) = make(&bases, options.seed, case, &at)?;
        let told = format!("{base}: {damage}");
        let ours = compare::inspect(&at, Depth::Default)?;
        let theirs = if let Some(earlier) = known.get(&case).filter(|earlier| earlier.damage == told) {
            earlier.error.clone()
        } else {
            let error = judge.ask(&at)?;
            let line = serde_json::to_string(&Told { case, damage: told.clone(), error: error.clone() })?;
            writeln!(remember, "{line}")?;
            error
        };
        let deep = || {
            make(&bases, options.seed, case, &at)?;
            compare::inspect(&at, Depth::Deep)
        };
        let class = Class::of(&ours, &theirs, &damage, deep)?;
        if let Some(problem) = damages.add(class, &ours, &damage) {
            let kept = workshop.kept.join(format!("{}-{}-{case}", engine.folder(), options.seed));
            make(&bases, options.seed, case, &kept)?;
            let theirs = theirs.as_deref().unwrap_or("nothing");
            damages.broken.push(format!(
                "{} --seed {} --case {case} ({told}): {problem}; the engine says: {theirs}; kept as {}",
                engine.name(),
                options.seed,
                kept.file_name().unwrap_or_default().display()
            ));
        }
        fs::remove_dir_all(&at)?;
        bar.inc(1);
    }
    bar.finish_and_clear();
    Ok(damages)
}

impl Damages {
    /// Counts a case; says what is wrong with it if it must not be.
    fn add(&mut self, class: Class, ours: &Ours, damage: &Damage) -> Option<String> {
        *self.counts.entry(class).or_default() += 1;
        match class {
            Class::OnlyThey => Some("we call it intact".to_owned()),
            Class::OnlyWe => {
                match ours.heaviest().map(|finding| (finding, explain::only_we(self.engine, finding, damage))) {
                    Some((_, Some(reason))) => {
                        *self.only_we.entry(reason).or_default() += 1;
                        None
                    }
                    Some((finding, None)) => Some(format!(
                        "we alone call it damage, for no reason that was reviewed: {} {}: {}",
                        finding.kind,
                        finding.file.display(),
                        finding.detail
                    )),
                    None => Some("we alone call it damage, and find nothing".to_owned()),
                }
            }
            Class::UntoldTheySee => {
                *self.untold.entry(explain::untold(&ours.untold())).or_default() += 1;
                None
            }
            Class::Neither => {
                *self.neither.entry(explain::place(damage)).or_default() += 1;
                None
            }
            _ => None,
        }
    }
}

fn remembered(path: &Path) -> Result<BTreeMap<u64, Told>> {
    let Ok(file) = File::open(path) else { return Ok(BTreeMap::new()) };
    let mut known = BTreeMap::new();
    for line in BufReader::new(file).lines() {
        // The last line may be half of one: the run was stopped.
        if let Ok(told) = serde_json::from_str::<Told>(&line?) {
            known.insert(told.case, told);
        }
    }
    Ok(known)
}

pub(super) fn bar(cases: u64, name: &str) -> ProgressBar {
    let bar = ProgressBar::new(cases);
    if let Ok(style) = ProgressStyle::with_template("{msg} {bar:24} {pos}/{len} {elapsed}, {eta} to go") {
        bar.set_style(style);
    }
    bar.set_message(name.to_owned());
    bar
}

/// One case with all that is known of it; its directory is kept.
pub(super) fn show(engine: EngineUnderTest, seed: u64, case: u64, workshop: &Workshop) -> Result<()> {
    let bases = bases(engine)?;
    if bases.is_empty() {
        bail!("{} is not read", engine.name());
    }
    let peer = engine.prepare()?;
    let kept = workshop.kept.join(format!("{}-{seed}-{case}", engine.folder()));
    let (base, damage) = make(&bases, seed, case, &kept)?;
    println!("{base}: {damage}\nkept as {}", kept.display());
    for depth in [Depth::Default, Depth::Deep] {
        let ours = compare::inspect(&kept, depth)?;
        println!("\nwe, {depth:?}: {}", ours.outcome);
        for finding in &ours.checks.findings {
            let offset = finding.offset.map(|offset| format!(" at {offset}")).unwrap_or_default();
            println!(
                "  {} {}{offset}: {} [{}]",
                finding.kind,
                finding.file.display(),
                finding.detail,
                finding.attribution
            );
        }
        println!("  untold: {}", ours.untold());
    }
    let copy = workshop.scratch.join("case.db");
    damage::copy(&kept, &copy).context("a copy for the engine")?;
    let complaint = Judge::new(&peer, &workshop.scratch).ask(&copy)?;
    println!("\nthey: {}", complaint.as_deref().unwrap_or("nothing"));
    Ok(())
}
