//! kwok plays the machines: it lets pods run, and answers for their logs.

use std::{
    fs,
    path::{Path, PathBuf},
};

use anyhow::{Context, Result, bail};
use tokio::process::Command;

use super::process::{Process, command};

/// The port on which it answers as the kubelet of every machine.
const PORT: u16 = 17_250;

/// Builds it, or finds it built.
pub(super) async fn build(root: &Path, into: &Path) -> Result<PathBuf> {
    let module = root.join("testbed/kwok");
    let program = into.join("kwok");
    let built = Command::new("go")
        .args(["build", "-trimpath", "-o"])
        .arg(&program)
        .arg("sigs.k8s.io/kwok/cmd/kwok")
        .current_dir(&module)
        .status()
        .await
        .context("run `go`: kwok is built from its Go module")?;
    if !built.success() {
        bail!("kwok could not be built in {}", module.display());
    }
    Ok(program)
}

/// Starts it on all machines.
pub(super) fn start(program: &Path, kubeconfig: &Path, folder: &Path, identity: &Identity) -> Result<Process> {
    let config = folder.join("kwok.yaml");
    fs::write(&config, format!("{FASTER}---\n{}", logs(folder)))?;
    let port = PORT.to_string();
    let address = format!("127.0.0.1:{port}");
    let mut line = command(
        program,
        [
            "--manage-all-nodes",
            "--node-ip",
            "127.0.0.1",
            "--node-port",
            &port,
            "--server-address",
            &address,
            "--v",
            "WARN",
        ],
    );
    line.arg("--kubeconfig").arg(kubeconfig).arg("--config").arg(&config);
    line.args(["--node-lease-duration-seconds", "120"]);
    line.arg("--tls-cert-file").arg(&identity.certificate).arg("--tls-private-key-file").arg(&identity.key);
    Process::start("kwok", &folder.join("kwok.log"), &mut line)
}

/// As whom it serves.
pub(super) struct Identity {
    pub(super) certificate: PathBuf,
    pub(super) key: PathBuf,
}

/// How machines and pods get on is as kwok has it; only more of them at a time.
const FASTER: &str =
    "kind: KwokConfiguration\napiVersion: config.kwok.x-k8s.io/v1alpha1\noptions:\n  podPlayStageParallelism: 32\n";

fn logs(folder: &Path) -> String {
    let file = |name: &str| folder.join(name).display().to_string();
    let of = |container: &str, file: &str| {
        format!("  - containers: [{container}]\n    logsFile: {file}\n    previousLogsFile: {file}\n")
    };
    format!(
        "kind: ClusterLogs\napiVersion: kwok.x-k8s.io/v1alpha1\nmetadata: {{name: logs}}\nspec:\n  logs:\n{}{}",
        of("inspector", &file("inspector.cri.log")),
        of("node", &file("node.cri.log"))
    )
}

/// What every damaged node says, and what every inspector finds: the words of a real crash, and a real report.
pub(super) async fn write_logs(root: &Path, loopbreaker: &Path, folder: &Path) -> Result<()> {
    let said = root.join("examples/cosmosfullnode-state-db/logs/lab-1/node.previous.log");
    let said = fs::read_to_string(&said).with_context(|| format!("read {}", said.display()))?;
    fs::write(folder.join("node.cri.log"), as_the_runtime_keeps_it(&said))?;
    let home = folder.join("home/data");
    fs::create_dir_all(&home)?;
    for store in ["state.db", "blockstore.db", "application.db"] {
        let damaged = if store == "state.db" { "table-data-flip" } else { "healthy" };
        copy(&root.join("crates/chainstore/tests/fixtures/goleveldb").join(damaged), &home.join(store))?;
    }
    let report = Command::new(loopbreaker).arg("inspect").arg(&home).args(["--output", "json"]).output().await?;
    let report = String::from_utf8(report.stdout)?;
    if !report.contains("loopbreaker.dev/inspection/v1") {
        bail!("`loopbreaker inspect` printed no report");
    }
    fs::write(folder.join("inspector.cri.log"), as_the_runtime_keeps_it(&report))?;
    Ok(())
}

/// Each line with its time and stream.
fn as_the_runtime_keeps_it(text: &str) -> String {
    text.lines().fold(String::new(), |kept, line| kept + "2026-12-01T12:00:00.000000000Z stdout F " + line + "\n")
}

fn copy(from: &Path, to: &Path) -> Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from).with_context(|| format!("read {}", from.display()))? {
        let entry = entry?;
        fs::copy(entry.path(), to.join(entry.file_name()))?;
    }
    Ok(())
}
