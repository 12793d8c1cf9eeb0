//! `cluster down`: ends and removes everything, also where parts were killed or files lost, and looks afterwards.

use std::{collections::BTreeSet, fs, path::Path};

use anyhow::{Context, Result, bail};

use super::{Plan, Process, Progress, cgroup, disk, network};

/// In the order in which they are ended: first what would start things again.
const ORDER: [&str; 9] = [
    "kubelet",
    "csi-provisioner",
    "csi-snapshotter",
    "snapshot-controller",
    "kube-scheduler",
    "kube-controller-manager",
    "kube-apiserver",
    "csi-driver",
    "etcd",
];

/// Takes the cluster down. `keep` leaves its folder, for the logs.
pub(crate) fn down(plan: &Plan, files: Files) -> Result<()> {
    let progress = Progress::begin();
    for name in ORDER {
        if let Ok(process) = Process::find(plan, name) {
            process.stop(plan)?;
        }
    }
    progress.say("servers ended");
    let sockets = shim_sockets(plan);
    // Pods, their shims, containerd: nothing of them has to be kept, so nobody is asked politely.
    cgroup::kill_all(plan)?;
    for process in Process::all(plan) {
        process.stop(plan)?;
    }
    progress.say("pods ended");
    disk::unmount_all(plan);
    disk::detach(plan);
    network::remove(plan)?;
    cgroup::remove(plan);
    for socket in sockets {
        // Where the shim has removed its own, there is nothing to remove.
        let _ = fs::remove_file(socket);
    }
    remove_log_links(plan);
    let left = leftovers(plan);
    if left.is_empty() && matches!(files, Files::Remove) {
        fs::remove_dir_all(&plan.folder).with_context(|| format!("remove {}", plan.folder.display()))?;
    }
    for each in &left {
        println!("left over: {each}");
    }
    println!("down after {:.1} s, {} leftovers", progress.elapsed().as_secs_f64(), left.len());
    if left.is_empty() { Ok(()) } else { bail!("{} leftovers; run `cargo xtask cluster down` again", left.len()) }
}

/// What happens to the cluster's folder.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Files {
    Remove,
    Keep,
}

/// Looks at the machine itself, not at what was noted: what of the cluster is still there.
pub(crate) fn leftovers(plan: &Plan) -> Vec<String> {
    let mut left: Vec<String> = processes(plan).iter().map(|pid| format!("process {pid} {}", told(*pid))).collect();
    left.extend(disk::mounts(&plan.folder.display().to_string()).into_iter().map(|place| format!("mount {place}")));
    left.extend(disk::loops(plan).into_iter().map(|device| format!("loop device {device}")));
    left.extend(network::left(plan));
    left.extend(cgroup::present(plan).into_iter().map(|path| format!("cgroup {}", path.display())));
    left.extend(log_links(plan).into_iter().map(|path| format!("link {path}")));
    left
}

/// Processes in the cluster's cgroup, and those whose command line or folder names the cluster's folder.
fn processes(plan: &Plan) -> BTreeSet<u32> {
    let mut found: BTreeSet<u32> = cgroup::processes(plan).into_iter().collect();
    let folder = format!("{}/", plan.folder.display());
    for entry in fs::read_dir("/proc").into_iter().flatten().flatten() {
        let Some(pid) = entry.file_name().to_str().and_then(|name| name.parse::<u32>().ok()) else { continue };
        let works_there = fs::read_link(entry.path().join("cwd")).is_ok_and(|cwd| cwd.starts_with(&plan.folder));
        let server = told(pid).split('\0').any(|word| word.contains(&folder)) && works_there;
        if server {
            found.insert(pid);
        }
    }
    found
}

fn told(pid: u32) -> String {
    let bytes = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    String::from_utf8_lossy(&bytes).replace('\0', " ").trim().to_owned()
}

/// Sockets of shims lie outside the cluster's folder; a shim that is killed leaves its own.
fn shim_sockets(plan: &Plan) -> Vec<String> {
    let tasks = plan.path("containerd/state/io.containerd.runtime.v2.task/k8s.io");
    let entries = fs::read_dir(tasks).into_iter().flatten().flatten();
    entries
        .filter_map(|entry| fs::read_to_string(entry.path().join("address")).ok())
        .filter_map(|address| address.trim().strip_prefix("unix://").map(str::to_owned))
        .collect()
}

/// Links that the kubelet makes to its logs, for collectors.
fn log_links(plan: &Plan) -> Vec<String> {
    let entries = fs::read_dir("/var/log/containers").into_iter().flatten().flatten();
    let of_this = |path: &Path| fs::read_link(path).is_ok_and(|target| target.starts_with(&plan.folder));
    entries.map(|entry| entry.path()).filter(|path| of_this(path)).map(|path| path.display().to_string()).collect()
}

fn remove_log_links(plan: &Plan) {
    for link in log_links(plan) {
        // One that is gone already is what is wanted.
        let _ = fs::remove_file(link);
    }
}
