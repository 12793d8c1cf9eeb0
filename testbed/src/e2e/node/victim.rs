//! One node's process, held, damaged and killed from the machine itself.
//!
//! Stopped by a signal first, the process can neither write nor end while its files are changed; it is killed then, so the
//! next start is the first one that sees the change.

use std::{
    fs,
    path::PathBuf,
    process::{Command, Stdio},
};

use anyhow::{Context, Result, bail};
use rustix::process::{Pid, Signal, kill_process};

/// A running process of a pod's container.
#[derive(Debug, Clone)]
pub(crate) struct Victim {
    pid: Pid,
}

impl Victim {
    /// Finds the process of this name in the pod.
    pub(crate) fn find(pod_uid: &str, name: &str) -> Result<Self> {
        for entry in fs::read_dir("/proc")? {
            let folder = entry?.path();
            let Some(pid) = folder.file_name().and_then(|name| name.to_str()?.parse().ok()) else { continue };
            let (comm, groups) = (fs::read_to_string(folder.join("comm")), fs::read_to_string(folder.join("cgroup")));
            // A process that has ended meanwhile is not the one.
            let (Ok(comm), Ok(groups)) = (comm, groups) else { continue };
            if comm.trim() == name && groups.contains(pod_uid) {
                return Ok(Self { pid: Pid::from_raw(pid).context("process 0 is in no pod")? });
            }
        }
        bail!("no process {name} in pod {pod_uid}")
    }

    /// A path inside of its container, as this machine sees it.
    pub(crate) fn path(&self, inside: &str) -> PathBuf {
        PathBuf::from(format!("/proc/{}/root", self.pid.as_raw_nonzero())).join(inside.trim_start_matches('/'))
    }

    /// Stops it where it stands; it stays in memory.
    pub(crate) fn freeze(&self) -> Result<()> {
        kill_process(self.pid, Signal::STOP).context("stop the node's process")
    }

    /// Ends it without a last word.
    pub(crate) fn kill(&self) -> Result<()> {
        kill_process(self.pid, Signal::KILL).context("kill the node's process")
    }

    /// A program of this machine in the network of its pod.
    pub(crate) fn in_its_network(&self, program: &str) -> Command {
        let mut command = Command::new("nsenter");
        command.args(["--target", &self.pid.as_raw_nonzero().to_string(), "--net", program]);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        command
    }

    /// Changes its files between two starts.
    pub(crate) fn between_starts(&self, change: impl FnOnce(&Self) -> Result<()>) -> Result<()> {
        self.freeze()?;
        let changed = change(self);
        self.kill()?;
        changed
    }
}
