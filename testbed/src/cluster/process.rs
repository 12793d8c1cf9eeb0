//! A server of the cluster as a process of its own session, found again by its number *and* the time of its start: a number that
//! was given to another process meanwhile is never signalled.

use std::{
    fs::{self, File, OpenOptions},
    path::{Path, PathBuf},
    process::{Command, Stdio},
    thread::sleep,
    time::{Duration, Instant},
};

use anyhow::{Context, Result, bail};
use rustix::process::{Pid, Signal, kill_process};
use serde::{Deserialize, Serialize};

use super::{Plan, cgroup};

/// How long a server may take to end by itself.
const PATIENCE: Duration = Duration::from_secs(8);

/// A server that was started, as its file in `pids/` tells.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Process {
    pub(crate) name: String,
    pub(crate) pid: u32,
    /// In clock ticks since the machine's boot: field 22 of `/proc/PID/stat`.
    started: u64,
    words: Vec<String>,
}

impl Process {
    /// Starts a server unless it runs; says whether it had to.
    pub(crate) fn ensure(plan: &Plan, name: &str, words: Vec<String>) -> Result<bool> {
        if Self::read(&file(plan, name)).is_some_and(|there| there.alive()) {
            return Ok(false);
        }
        Self::start(plan, name, words)?;
        Ok(true)
    }

    fn start(plan: &Plan, name: &str, words: Vec<String>) -> Result<Self> {
        let log = OpenOptions::new().create(true).append(true).open(log(plan, name))?;
        let program = words.first().context("a server without a program")?;
        let child = Command::new("setsid")
            .args(&words)
            .current_dir(&plan.folder)
            .stdin(Stdio::null())
            .stdout(log.try_clone()?)
            .stderr(log)
            .spawn()
            .with_context(|| format!("start {program}"))?;
        let pid = child.id();
        cgroup::enter(plan, pid)?;
        let started =
            stat(pid).with_context(|| format!("{name} ended at once; read {}", log_text(plan, name)))?.started;
        let process = Self { name: name.to_owned(), pid, started, words };
        fs::write(file(plan, name), serde_json::to_vec(&process)?)?;
        Ok(process)
    }

    /// Every server that was started and not stopped, in order of their names.
    pub(crate) fn all(plan: &Plan) -> Vec<Self> {
        let Ok(entries) = fs::read_dir(plan.path("pids")) else { return Vec::new() };
        let mut all: Vec<Self> = entries.filter_map(|entry| Self::read(&entry.ok()?.path())).collect();
        all.sort_by(|a, b| a.name.cmp(&b.name));
        all
    }

    pub(crate) fn find(plan: &Plan, name: &str) -> Result<Self> {
        Self::read(&file(plan, name)).with_context(|| {
            let names: Vec<String> = Self::all(plan).into_iter().map(|each| each.name).collect();
            format!("there is no {name:?}; there are: {}", names.join(", "))
        })
    }

    fn read(file: &Path) -> Option<Self> {
        serde_json::from_slice(&fs::read(file).ok()?).ok()
    }

    pub(crate) fn alive(&self) -> bool {
        stat(self.pid).is_some_and(|now| now.started == self.started && !now.ended)
    }

    /// Memory in use, in MiB.
    pub(crate) fn memory_mib(&self) -> u64 {
        let text = fs::read_to_string(format!("/proc/{}/status", self.pid)).unwrap_or_default();
        let line = text.lines().find_map(|line| line.strip_prefix("VmRSS:"));
        line.and_then(|rest| rest.split_whitespace().next()?.parse::<u64>().ok()).unwrap_or(0) / 1024
    }

    /// Ends the server, at last by force, and forgets it.
    pub(crate) fn stop(&self, plan: &Plan) -> Result<()> {
        self.signal(Signal::TERM);
        if !self.ended_within(PATIENCE) {
            self.signal(Signal::KILL);
            if !self.ended_within(PATIENCE) {
                bail!("{} (process {}) cannot be ended", self.name, self.pid);
            }
        }
        let file = file(plan, &self.name);
        if file.exists() {
            fs::remove_file(file)?;
        }
        Ok(())
    }

    /// Ends the server and starts it again by the same command line.
    pub(crate) fn restart(&self, plan: &Plan) -> Result<()> {
        self.stop(plan)?;
        Self::start(plan, &self.name, self.words.clone())?;
        Ok(())
    }

    fn signal(&self, signal: Signal) {
        if let Some(pid) = i32::try_from(self.pid).ok().and_then(Pid::from_raw)
            && self.alive()
        {
            // It may have ended since the line above: then there is nothing to signal.
            let _ = kill_process(pid, signal);
        }
    }

    fn ended_within(&self, limit: Duration) -> bool {
        let end = Instant::now() + limit;
        while self.alive() {
            if Instant::now() >= end {
                return false;
            }
            sleep(Duration::from_millis(20));
        }
        true
    }
}

/// The last line that a server wrote, for an error.
pub(crate) fn last_words(plan: &Plan, name: &str) -> String {
    let text = File::open(log(plan, name)).and_then(std::io::read_to_string).unwrap_or_default();
    let last = text.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or("nothing");
    format!("{name} said last: {last} (all of it: {})", log_text(plan, name))
}

fn file(plan: &Plan, name: &str) -> PathBuf {
    plan.path("pids").join(format!("{name}.json"))
}

fn log(plan: &Plan, name: &str) -> PathBuf {
    plan.path("logs").join(format!("{name}.log"))
}

fn log_text(plan: &Plan, name: &str) -> String {
    log(plan, name).display().to_string()
}

/// What `/proc/PID/stat` says.
#[derive(Debug, PartialEq, Eq)]
struct Stat {
    started: u64,
    /// A zombie: it has ended and nobody has asked how.
    ended: bool,
}

fn stat(pid: u32) -> Option<Stat> {
    parse(&fs::read_to_string(format!("/proc/{pid}/stat")).ok()?)
}

/// The program's name, in brackets, may hold spaces and brackets itself: fields are counted after the last one.
fn parse(text: &str) -> Option<Stat> {
    let (_, fields) = text.rsplit_once(") ")?;
    let fields: Vec<&str> = fields.split_whitespace().collect();
    Some(Stat { ended: matches!(*fields.first()?, "Z" | "X"), started: fields.get(19)?.parse().ok()? })
}

#[cfg(test)]
mod tests {
    use super::{Process, Stat, parse, stat};

    const LINE: &str = "812 (a (b) c) S 1 812 812 0 -1 4194304 5 0 0 0 0 0 0 0 20 0 1 0 77123 1 2 3";

    #[test]
    fn a_name_with_brackets_moves_no_field() {
        assert_eq!(parse(LINE), Some(Stat { started: 77123, ended: false }));
        assert_eq!(parse(&LINE.replace(" S ", " Z ")), Some(Stat { started: 77123, ended: true }));
        assert_eq!(parse("812 (a"), None);
    }

    #[test]
    fn the_same_number_with_another_start_is_another_process() {
        let pid = std::process::id();
        let started = stat(pid).unwrap().started;
        let this = Process { name: "this".to_owned(), pid, started, words: Vec::new() };
        assert!(this.alive());
        assert!(!Process { started: started + 1, ..this }.alive());
    }
}
