//! What every scenario with nodes needs: the chain, its homes, both images in the cluster, our kinds.

use std::{
    path::{Path, PathBuf},
    process::Command,
    time::Instant,
};

use anyhow::{Context, Result, bail};
use kube::Client;

use super::{
    node::{self, Program, Seed},
    operator,
};
use crate::{image, place};

/// Builds what is missing and brings it into the cluster; `program` is a static `loopbreaker`, built if none is given.
pub(super) async fn prepare(client: &Client, cluster: &Path, program: Option<&Path>) -> Result<()> {
    let begun = Instant::now();
    tokio::task::spawn_blocking({
        let (cluster, program) = (cluster.to_owned(), program.map(Path::to_owned));
        move || images(&cluster, program)
    })
    .await??;
    operator::install_kinds(client).await?;
    eprintln!("prepared in {:.1} s", begun.elapsed().as_secs_f64());
    Ok(())
}

fn images(cluster: &Path, program: Option<PathBuf>) -> Result<()> {
    let chain = Program::get()?;
    let seed = Seed::get(&chain)?;
    let program = match program {
        Some(given) => given,
        None => image::static_binary("release")?,
    };
    let operator = place::cache().join("loopbreaker.tar");
    image::write_operator_tar(&program, &operator)?;
    for tar in [node::write_image(&chain, &seed)?, operator] {
        import(cluster, &tar)?;
    }
    node::prepared(chain, seed);
    Ok(())
}

fn import(cluster: &Path, tar: &Path) -> Result<()> {
    let socket = cluster.join("containerd/containerd.sock");
    let output = Command::new("ctr")
        .arg("--address")
        .arg(&socket)
        .args(["--namespace", "k8s.io", "--connect-timeout", "5s", "image", "import"])
        .arg(tar)
        .output()
        .context("start ctr")?;
    if !output.status.success() {
        bail!("import {}: {}", tar.display(), String::from_utf8_lossy(&output.stderr).trim());
    }
    Ok(())
}
