//! Programs that the bench starts, and what one of them costs.

use std::{
    ffi::OsStr,
    path::Path,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use anyhow::{Context, Result};
use rustix::process::{Pid, Signal, kill_process};
use tokio::process::{Child, Command};

/// A program; ended with its handle.
pub(super) struct Process {
    name: String,
    child: Child,
}

impl Process {
    pub(super) fn start(name: &str, log: &Path, command: &mut Command) -> Result<Self> {
        let file = std::fs::File::options().create(true).append(true).open(log)?;
        let child = command
            .stdin(std::process::Stdio::null())
            .stdout(file.try_clone()?)
            .stderr(file)
            .kill_on_drop(true)
            .spawn()
            .with_context(|| format!("start {name}"))?;
        Ok(Self { name: name.to_owned(), child })
    }

    pub(super) fn id(&self) -> Result<u32> {
        self.child.id().with_context(|| format!("{} has ended; its log tells why", self.name))
    }

    /// Asks it to end and waits for that.
    pub(super) async fn end(&mut self) -> Result<()> {
        let id = i32::try_from(self.id()?)?;
        kill_process(Pid::from_raw(id).context("no such process")?, Signal::TERM)?;
        self.child.wait().await?;
        Ok(())
    }

    /// Ends it without a word.
    pub(super) async fn kill(&mut self) -> Result<()> {
        self.child.kill().await?;
        Ok(())
    }
}

/// What a process has used.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(super) struct Usage {
    /// Resident now, and at most until now.
    pub(super) rss_bytes: u64,
    pub(super) rss_max_bytes: u64,
    pub(super) cpu_seconds: f64,
    pub(super) files: usize,
}

const TICKS_A_SECOND: f64 = 100.0;

pub(super) fn usage(id: u32) -> Result<Usage> {
    let status = std::fs::read_to_string(format!("/proc/{id}/status")).context("the process has ended")?;
    let bytes = |field: &str| {
        let line = status.lines().find_map(|line| line.strip_prefix(field)).unwrap_or_default();
        line.split_whitespace().next().and_then(|number| number.parse::<u64>().ok()).unwrap_or_default() * 1_024
    };
    let stat = std::fs::read_to_string(format!("/proc/{id}/stat"))?;
    let after_name = stat.rsplit_once(')').map(|(_, rest)| rest).unwrap_or_default();
    let ticks =
        |at: usize| after_name.split_whitespace().nth(at).and_then(|it| it.parse::<f64>().ok()).unwrap_or_default();
    let files = std::fs::read_dir(format!("/proc/{id}/fd")).map(Iterator::count).unwrap_or_default();
    Ok(Usage {
        rss_bytes: bytes("VmRSS:"),
        rss_max_bytes: bytes("VmHWM:"),
        cpu_seconds: (ticks(11) + ticks(12)) / TICKS_A_SECOND,
        files,
    })
}

/// The largest resident size seen while something goes on.
pub(super) struct Meter {
    max: Arc<Mutex<u64>>,
    task: tokio::task::JoinHandle<()>,
}

impl Meter {
    pub(super) fn start(id: u32) -> Self {
        let max = Arc::new(Mutex::new(0));
        let seen = Arc::clone(&max);
        let task = tokio::spawn(async move {
            while let Ok(usage) = usage(id) {
                note(&seen, usage.rss_bytes);
                tokio::time::sleep(Duration::from_millis(250)).await;
            }
        });
        Self { max, task }
    }

    pub(super) fn max(&self) -> u64 {
        *self.max.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn note(max: &Mutex<u64>, seen: u64) {
    let mut max = max.lock().unwrap_or_else(PoisonError::into_inner);
    *max = seen.max(*max);
}

impl Drop for Meter {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// A command line.
pub(super) fn command<I, S>(program: &Path, arguments: I) -> Command
where
    I: IntoIterator<Item = S>,
    S: AsRef<OsStr>,
{
    let mut command = Command::new(program);
    command.args(arguments);
    command
}
