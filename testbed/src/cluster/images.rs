//! Images that every cluster has: one that holds a pod's namespaces, and a busybox.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
    thread::sleep,
    time::{Duration, Instant},
};

use anyhow::{Context, Result, bail};

use super::{Plan, Programs, text::PAUSE};
use crate::image::{Archive, Root};

/// How long containerd may take to answer after its start.
const PATIENCE: Duration = Duration::from_secs(30);
/// For pods that need a shell.
pub(crate) const BUSYBOX: &str = "localhost/busybox:1";
/// The commands that pods of the scenarios use.
const COMMANDS: &[&str] = &[
    "sh", "ash", "cat", "cp", "cut", "date", "dd", "df", "du", "echo", "env", "false", "find", "grep", "head",
    "hexdump", "hostname", "id", "ip", "kill", "ln", "ls", "mkdir", "mv", "nc", "od", "printf", "ps", "rm", "sed",
    "seq", "sleep", "sort", "stat", "sync", "tail", "tar", "tee", "test", "timeout", "touch", "tr", "true", "truncate",
    "wc", "xargs",
];

/// Makes the images and gives them to containerd.
pub(crate) fn load_own(plan: &Plan, programs: &Programs) -> Result<()> {
    let folder = plan.path("images");
    fs::create_dir_all(&folder)?;
    let pause = Root::default().program(Path::new(&programs.path("pause")), "/pause");
    load(plan, &written(&folder, "pause", &Archive::new(PAUSE, pause).entrypoint(&["/pause"]))?)?;
    let mut root = Root::default()
        .program(Path::new("/usr/bin/busybox"), "/bin/busybox")
        .bytes("/etc/passwd", "root:x:0:0:root:/:/bin/sh\nnobody:x:65534:65534:nobody:/:/bin/sh\n", 0o644)
        .bytes("/etc/group", "root:x:0:\nnobody:x:65534:\n", 0o644)
        .directory("/tmp", 0o1777);
    for command in COMMANDS {
        root = root.link(&format!("/bin/{command}"), "busybox");
    }
    load(plan, &written(&folder, "busybox", &Archive::new(BUSYBOX, root))?)
}

fn written(folder: &Path, name: &str, image: &Archive) -> Result<PathBuf> {
    let file = folder.join(format!("{name}.tar"));
    image.write_tar(&file)?;
    Ok(file)
}

/// Gives an image's tar to the cluster.
pub(crate) fn load(plan: &Plan, tar: &Path) -> Result<()> {
    let end = Instant::now() + PATIENCE;
    loop {
        // On a socket that nobody serves it would wait for ever without the limit.
        let output = Command::new("ctr")
            .args(["--address", &plan.containerd_socket(), "--namespace", "k8s.io", "--connect-timeout", "2s"])
            .args(["image", "import"])
            .arg(tar)
            .output()
            .context("start ctr")?;
        if output.status.success() {
            return Ok(());
        }
        if Instant::now() >= end {
            let text = String::from_utf8_lossy(&output.stderr).trim().to_owned();
            bail!("containerd does not take {}: {text}", tar.display());
        }
        sleep(Duration::from_millis(100));
    }
}
