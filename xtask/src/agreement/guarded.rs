//! `cargo xtask guard`: the real engines start behind `loopbreaker guard`, on random damage and on none, and `inspect` says
//! what is still known after each start.
//!
//! Two promises are measured. Damage that was proven before the first start is proven after every later one, whatever the
//! engine erased; and the guard's ring accuses nothing that was not damaged. A case that breaks one is printed and ends
//! the run with an error.

use std::{
    fs,
    path::Path,
    process::{Command, ExitCode, Stdio},
};

use anyhow::{Context, Result, bail};
use clap::Args;
use serde::Deserialize;

use super::{
    damage::{self, Dice},
    engines::{EngineUnderTest, Peer},
    random,
};
use crate::{exit_status, peers};

/// Starts of a case: the engine erases some traces at its first start, others at a later one.
const STARTS: u64 = 3;

/// One case in so many is left as it is.
const CONTROL: u64 = 5;

#[derive(Debug, Args)]
pub(crate) struct Options {
    /// Cases for each engine; one in five is not damaged
    #[arg(long, value_name = "N", default_value_t = 200)]
    cases: u64,
    /// Only this case, which is kept
    #[arg(long, value_name = "N", requires = "engine")]
    case: Option<u64>,
    /// Where the random numbers begin
    #[arg(long, value_name = "S", default_value_t = 1)]
    seed: u64,
    /// Only these engines [default: goleveldb, pebble1, pebble2]
    #[arg(long, value_enum, value_name = "NAME")]
    engine: Vec<EngineUnderTest>,
}

/// What came of an engine's cases.
#[derive(Default)]
struct Counts {
    /// Not damaged, or not provably.
    sound: u64,
    /// Proven before the first start.
    damaged: u64,
    /// Of these, still on disk after the last start.
    on_disk: u64,
    /// Of these, known from the ring alone.
    by_guard: u64,
    /// Of these, put right by the engine itself without a loss: it still read the pointer, and wrote it anew.
    healed: u64,
    /// What must not be.
    broken: Vec<String>,
}

/// What an inspection, or an entry of the ring, says.
#[derive(Deserialize, Default)]
struct Report {
    outcome: Option<String>,
    databases: Vec<Database>,
}

#[derive(Deserialize)]
struct Database {
    findings: Vec<Finding>,
}

#[derive(Deserialize)]
struct Finding {
    kind: String,
    #[serde(default)]
    severity: String,
    #[serde(default)]
    evidence: String,
}

impl Report {
    fn read(json: &[u8]) -> Result<Self> {
        Ok(serde_json::from_slice(json)?)
    }

    fn outcome(&self) -> &str {
        self.outcome.as_deref().unwrap_or("nothing")
    }

    fn findings(&self) -> impl Iterator<Item = &Finding> {
        self.databases.iter().flat_map(|database| &database.findings)
    }
}

pub(crate) fn run(options: &Options) -> ExitCode {
    exit_status(&measure(options))
}

fn measure(options: &Options) -> Result<()> {
    let all = [EngineUnderTest::GoLevelDb, EngineUnderTest::Pebble1, EngineUnderTest::Pebble2];
    let engines = if options.engine.is_empty() { &all[..] } else { &options.engine[..] };
    let loopbreaker = peers::tested_loopbreaker()?;
    let mut broken = Vec::new();
    println!(
        "| engine | cases | sound | damaged | on disk after {STARTS} starts | by the guard alone | put right | broken |"
    );
    println!("|---|---|---|---|---|---|---|---|");
    for engine in engines {
        let counts = of_engine(*engine, &loopbreaker, options)?;
        let Counts { sound, damaged, on_disk, by_guard, healed, .. } = counts;
        let (name, cases, bad) = (engine.name(), options.cases, counts.broken.len());
        println!("| {name} | {cases} | {sound} | {damaged} | {on_disk} | {by_guard} | {healed} | {bad} |");
        broken.extend(counts.broken);
    }
    if !broken.is_empty() {
        bail!("promises broken:\n{}", broken.join("\n"));
    }
    Ok(())
}

fn of_engine(engine: EngineUnderTest, loopbreaker: &Path, options: &Options) -> Result<Counts> {
    let (peer, bases) = (engine.prepare()?, random::bases(engine)?);
    // On a disk: there the file system knows when a file was made, which memory often does not.
    let scratch = peers::target("guarded")?.join(format!("{}-{}", engine.folder(), std::process::id()));
    let mut counts = Counts::default();
    let cases = options.case.map_or(0..options.cases, |case| case..case + 1);
    for case in cases {
        let home = scratch.join(format!("case-{case}"));
        let database = home.join("data/evidence.db");
        let mut dice = Dice::new(options.seed, case);
        damage::copy(dice.pick(&bases)?, &database)?;
        let told = if case % CONTROL == 0 {
            "nothing changed".to_owned()
        } else {
            damage::strike(&database, &mut dice)?.to_string()
        };
        let name = format!("{} --seed {} case {case} ({told})", engine.name(), options.seed);
        counts.add(&name, &home, &database, loopbreaker, &peer, engine)?;
        if options.case.is_some() {
            println!("{name}: kept as {}", home.display());
            return Ok(counts);
        }
        fs::remove_dir_all(&home)?;
    }
    fs::remove_dir_all(&scratch)?;
    Ok(counts)
}

impl Counts {
    /// Runs a case and counts it.
    fn add(
        &mut self,
        name: &str,
        home: &Path,
        database: &Path,
        loopbreaker: &Path,
        peer: &Peer,
        engine: EngineUnderTest,
    ) -> Result<()> {
        let mut last = Report::default();
        for start in 1..=STARTS {
            let compacts = engine != EngineUnderTest::GoLevelDb && start == 2;
            guard(home, loopbreaker, &peer.command(if compacts { "compact" } else { "open" }), database)?;
            last = inspect(home, loopbreaker)?;
            let first = first_entry(home)?;
            let was_damaged = first.outcome() == "damaged";
            if was_damaged && last.outcome() == "intact" && is_only_of_pointer(&first) {
                self.damaged += 1;
                self.healed += 1;
                return Ok(());
            }
            if was_damaged && last.outcome() != "damaged" {
                let now = last.outcome();
                self.broken.push(format!("{name}: proven before the first start, {now} after start {start}"));
                break;
            }
            let accused = last.findings().any(|finding| finding.evidence == "guard");
            if !was_damaged && accused && start == 1 {
                self.broken.push(format!("{name}: nothing was proven before the first start, and the ring accuses it"));
                break;
            }
        }
        let is_on_disk = |finding: &Finding| finding.evidence == "disk" && finding.severity == "damage";
        match (first_entry(home)?.outcome(), last.findings().any(is_on_disk)) {
            ("damaged", true) => (self.damaged, self.on_disk) = (self.damaged + 1, self.on_disk + 1),
            ("damaged", false) => (self.damaged, self.by_guard) = (self.damaged + 1, self.by_guard + 1),
            _ => self.sound += 1,
        }
        Ok(())
    }
}

/// One start: the guard becomes the engine. That an engine fails on damage is no failure here.
fn guard(home: &Path, loopbreaker: &Path, engine: &Command, database: &Path) -> Result<()> {
    let mut start = Command::new(loopbreaker);
    start.args(["guard", "--deadline", "60s", "--home"]).arg(home).arg("--");
    start.arg(engine.get_program()).args(engine.get_args()).arg(database);
    let status = start.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).status();
    status.map(|_| ()).with_context(|| loopbreaker.display().to_string())
}

fn inspect(home: &Path, loopbreaker: &Path) -> Result<Report> {
    let output = Command::new(loopbreaker).args(["inspect", "--output", "json"]).arg(home).output()?;
    Report::read(&output.stdout).with_context(|| String::from_utf8_lossy(&output.stderr).into_owned())
}

/// What the guard saw before the first start.
fn first_entry(home: &Path) -> Result<Report> {
    let path = home.join(".loopbreaker/ring/000000000001/entry.json");
    let json = fs::read(&path).with_context(|| path.display().to_string())?;
    Report::read(&json).with_context(|| path.display().to_string())
}

/// Whether that was nothing but a pointer with wrong bytes in it.
fn is_only_of_pointer(entry: &Report) -> bool {
    entry.findings().all(|finding| finding.kind == "entry_point_corrupt")
}
