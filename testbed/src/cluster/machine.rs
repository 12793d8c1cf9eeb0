//! What the machine must be and have; what Debian can give is installed.

use std::{
    fs,
    path::Path,
    process::{Command, Stdio},
};

use anyhow::{Context, Result, bail};

use super::{Plan, Process, Progress, network};

const GIB: u64 = 1 << 30;
/// For images, volumes and logs; building from nothing needs [`DISK_TO_BUILD`].
const DISK: u64 = 3 * GIB;
/// Go's module cache, build cache and the programs.
const DISK_TO_BUILD: u64 = 16 * GIB;
/// The servers take 0.8 GiB, pods come on top.
const MEMORY: u64 = 2 * GIB;

/// A file that has to be there, and Debian's package with it.
const FILES: [(&str, &str); 11] = [
    ("/usr/bin/containerd", "containerd"),
    ("/usr/bin/ctr", "containerd"),
    ("/usr/sbin/runc", "runc"),
    ("/usr/lib/cni/bridge", "containernetworking-plugins"),
    ("/usr/sbin/iptables", "iptables"),
    ("/usr/sbin/ip", "iproute2"),
    ("/usr/bin/busybox", "busybox-static"),
    ("/usr/sbin/mkfs.xfs", "xfsprogs"),
    ("/usr/bin/mount", "mount"),
    ("/usr/bin/setsid", "util-linux"),
    ("/usr/sbin/losetup", "mount"),
];

/// Why a cluster cannot run here, if that can be said before anything is tried.
pub(crate) fn obstacle() -> Option<String> {
    if !cfg!(target_os = "linux") {
        return Some("a cluster of real processes needs Linux".to_owned());
    }
    if !rustix::process::geteuid().is_root() {
        return Some("a cluster mounts and makes interfaces: run it as root (`sudo -E cargo xtask …`)".to_owned());
    }
    if !Path::new("/sys/fs/cgroup").is_dir() {
        return Some("no cgroups at /sys/fs/cgroup: the kubelet needs them".to_owned());
    }
    let filesystems = fs::read_to_string("/proc/filesystems").unwrap_or_default();
    if !filesystems.contains("overlay") && !Path::new("/lib/modules").is_dir() {
        return Some("this kernel has no overlayfs, on which containers stand".to_owned());
    }
    if !FILES.iter().all(|(file, _)| Path::new(file).exists()) && !Path::new("/usr/bin/apt-get").exists() {
        return Some(format!("containerd and others are missing ({}), and this is no Debian", missing().join(", ")));
    }
    if !Command::new("go").arg("version").stdout(Stdio::null()).status().is_ok_and(|status| status.success()) {
        return Some("Go is missing: install 1.21 or newer (https://go.dev/dl)".to_owned());
    }
    None
}

/// Refuses where the cluster could not run, in one line that says what to do.
pub(crate) fn check(plan: &Plan) -> Result<()> {
    if let Some(obstacle) = obstacle() {
        bail!("{obstacle}");
    }
    let built = fs::read_dir(crate::place::cache()).is_ok_and(|mut entries| entries.next().is_some());
    let (free, needed) = (free_disk(&plan.folder)?, if built { DISK } else { DISK_TO_BUILD });
    if free < needed {
        let mib = |bytes: u64| bytes >> 20;
        bail!("{} has {} MiB left, {} are needed: free some", plan.folder.display(), mib(free), mib(needed));
    }
    let memory = available_memory();
    if memory < MEMORY && Process::all(plan).is_empty() {
        bail!("{} MiB of memory are available, {} are needed: end something else", memory >> 20, MEMORY >> 20);
    }
    network::check(plan)
}

/// Debian's packages that are missing.
fn missing() -> Vec<&'static str> {
    let mut names: Vec<&str> =
        FILES.iter().filter(|(file, _)| !Path::new(file).exists()).map(|(_, name)| *name).collect();
    names.sort_unstable();
    names.dedup();
    names
}

/// Installs what is missing.
pub(crate) fn install(progress: &Progress) -> Result<()> {
    let names = missing();
    if names.is_empty() {
        return Ok(());
    }
    progress.say(&format!("installing {}", names.join(" ")));
    let apt = |arguments: &[&str]| -> Result<()> {
        let output = Command::new("apt-get")
            .args(arguments)
            .env("DEBIAN_FRONTEND", "noninteractive")
            .stdin(Stdio::null())
            .output()
            .context("start apt-get")?;
        if !output.status.success() {
            let text = String::from_utf8_lossy(&output.stderr).trim().to_owned();
            bail!("apt-get {}: {text}; install by hand: {}", arguments.join(" "), names.join(" "));
        }
        Ok(())
    };
    // A policy that denies starting services, as containers have one, would do; a started containerd does no harm either.
    apt(&["update", "-q"])?;
    let mut install = vec!["install", "-q", "-y", "--no-install-recommends"];
    install.extend(&names);
    apt(&install)
}

fn free_disk(folder: &Path) -> Result<u64> {
    let stat = rustix::fs::statvfs(folder).with_context(|| format!("look at {}", folder.display()))?;
    Ok(stat.f_bavail * stat.f_frsize)
}

fn available_memory() -> u64 {
    let text = fs::read_to_string("/proc/meminfo").unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix("MemAvailable:"));
    line.and_then(|rest| rest.split_whitespace().next()?.parse::<u64>().ok()).map_or(u64::MAX, |kib| kib * 1024)
}
