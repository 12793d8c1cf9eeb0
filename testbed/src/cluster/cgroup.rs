//! The cluster's own cgroup: every process that it starts, and every pod, is in it or below. What is found there is ours, also
//! when every other trace is lost.

use std::{
    fs,
    path::{Path, PathBuf},
    thread::sleep,
    time::{Duration, Instant},
};

use anyhow::{Context, Result, bail};
use rustix::process::{Pid, Signal, kill_process};

use super::Plan;

const ROOT: &str = "/sys/fs/cgroup";
/// The servers' part of it; the kubelet makes `kubepods` beside.
const SERVERS: &str = "servers";
/// How long killed processes may take to go.
const PATIENCE: Duration = Duration::from_secs(20);

/// Where cgroups are on this machine.
enum Version {
    /// One tree.
    Second,
    /// A tree for each controller.
    First(Vec<PathBuf>),
}

fn version() -> Result<Version> {
    if Path::new(ROOT).join("cgroup.controllers").exists() {
        return Ok(Version::Second);
    }
    let mounts = fs::read_to_string("/proc/mounts").context("read /proc/mounts")?;
    let trees: Vec<PathBuf> = mounts
        .lines()
        .filter_map(|line| {
            let mut fields = line.split_whitespace().skip(1);
            let place = fields.next()?;
            (fields.next()? == "cgroup").then(|| PathBuf::from(place))
        })
        .collect();
    if trees.is_empty() {
        bail!("no cgroups are mounted at {ROOT}; the kubelet cannot run without them");
    }
    Ok(Version::First(trees))
}

/// The roots of all trees.
fn trees() -> Result<Vec<PathBuf>> {
    Ok(match version()? {
        Version::Second => vec![PathBuf::from(ROOT)],
        Version::First(trees) => trees,
    })
}

/// Makes the cluster's cgroup in every tree.
pub(crate) fn make(plan: &Plan) -> Result<()> {
    for tree in trees()? {
        let ours = tree.join(plan.name());
        fs::create_dir_all(&ours).with_context(|| format!("make cgroup {}", ours.display()))?;
        for file in ["cpuset.cpus", "cpuset.mems"] {
            // In a tree of version 1 a new cpuset has neither processors nor memory, and no process may enter it.
            if let Version::First(_) = version()?
                && let Ok(all) = fs::read_to_string(tree.join(file))
            {
                fs::write(ours.join(file), all.trim())?;
            }
        }
        if matches!(version()?, Version::Second) {
            delegate(&tree)?;
            delegate(&ours)?;
        }
        let servers = ours.join(SERVERS);
        fs::create_dir_all(&servers).with_context(|| format!("make cgroup {}", servers.display()))?;
    }
    Ok(())
}

/// Hands every controller on to the cgroups below.
fn delegate(cgroup: &Path) -> Result<()> {
    let controllers = fs::read_to_string(cgroup.join("cgroup.controllers"))?;
    let wanted: Vec<String> = controllers.split_whitespace().map(|each| format!("+{each}")).collect();
    let file = cgroup.join("cgroup.subtree_control");
    fs::write(&file, wanted.join(" ")).with_context(|| format!("write {}", file.display()))
}

/// Puts a server into the cluster's cgroup. One tree is enough to find it again.
pub(crate) fn enter(plan: &Plan, pid: u32) -> Result<()> {
    let file = tracked(plan)?.join(SERVERS).join("cgroup.procs");
    match fs::write(&file, pid.to_string()) {
        // It has ended already; whoever waits for it says so.
        Err(error) if error.raw_os_error() == Some(rustix::io::Errno::SRCH.raw_os_error()) => Ok(()),
        other => other.with_context(|| format!("put process {pid} into {}", file.display())),
    }
}

/// Where pods can be brought to a standstill.
pub(crate) fn freezer(plan: &Plan) -> Option<PathBuf> {
    let tree = match version().ok()? {
        Version::Second => PathBuf::from(ROOT),
        Version::First(trees) => trees.into_iter().find(|tree| tree.ends_with("freezer"))?,
    };
    Some(tree.join(plan.name()).join("kubepods"))
}

/// The tree in which processes are counted.
fn tracked(plan: &Plan) -> Result<PathBuf> {
    let trees = trees()?;
    let tree = trees.iter().find(|tree| tree.ends_with("pids")).or(trees.first()).context("no cgroups")?;
    Ok(tree.join(plan.name()))
}

/// Every process of the cluster, servers and pods.
pub(crate) fn processes(plan: &Plan) -> Vec<u32> {
    let Ok(top) = tracked(plan) else { return Vec::new() };
    let mut found = Vec::new();
    for cgroup in below(&top) {
        let text = fs::read_to_string(cgroup.join("cgroup.procs")).unwrap_or_default();
        found.extend(text.lines().filter_map(|line| line.parse::<u32>().ok()));
    }
    found
}

/// Kills what is left, until nothing is.
pub(crate) fn kill_all(plan: &Plan) -> Result<()> {
    let end = Instant::now() + PATIENCE;
    loop {
        let left = processes(plan);
        if left.is_empty() {
            return Ok(());
        }
        if Instant::now() >= end {
            bail!("processes {left:?} of the cluster cannot be killed");
        }
        thaw(plan);
        for pid in left.iter().filter_map(|pid| Pid::from_raw(i32::try_from(*pid).ok()?)) {
            // It may have ended meanwhile: the next look tells.
            let _ = kill_process(pid, Signal::KILL);
        }
        sleep(Duration::from_millis(50));
    }
}

/// A pod whose volume was just being copied when the driver was killed stands still, and cannot even be killed.
fn thaw(plan: &Plan) {
    for cgroup in freezer(plan).iter().flat_map(|top| below(top)) {
        // Whichever of the two files there is.
        let _ = fs::write(cgroup.join("freezer.state"), "THAWED");
        if cgroup.join("cgroup.freeze").exists() {
            let _ = fs::write(cgroup.join("cgroup.freeze"), "0");
        }
    }
}

/// The cluster's cgroups that exist, the deepest last.
pub(crate) fn present(plan: &Plan) -> Vec<PathBuf> {
    let mut tops = trees().unwrap_or_default();
    // Beside trees of version 1 there may be one of version 2 without controllers; runc makes its cgroups in it as well.
    tops.push(PathBuf::from(ROOT).join("unified"));
    tops.iter().flat_map(|tree| below(&tree.join(plan.name()))).collect()
}

/// Removes the empty cgroups.
pub(crate) fn remove(plan: &Plan) {
    for cgroup in present(plan).iter().rev() {
        // One that is still in use stays, and is reported as left over.
        let _ = fs::remove_dir(cgroup);
    }
}

/// A cgroup and all below it, parents first.
fn below(top: &Path) -> Vec<PathBuf> {
    let mut all = Vec::new();
    if top.is_dir() {
        all.push(top.to_owned());
        for entry in fs::read_dir(top).into_iter().flatten().flatten() {
            if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                all.extend(below(&entry.path()));
            }
        }
    }
    all
}
