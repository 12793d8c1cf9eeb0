//! What every scenario with nodes needs: the chain, its homes, both images in the cluster, our kinds.

use std::{
    path::{Path, PathBuf},
    time::Instant,
};

use anyhow::Result;
use kube::Client;

use super::{
    node::{self, Program, Seed},
    operator,
};
use crate::{cluster, image, place};

/// Builds what is missing and brings it into the cluster; `program` is a static `loopbreaker`, built if none is given.
pub(super) async fn prepare(client: &Client, folder: &Path, program: Option<&Path>) -> Result<()> {
    let begun = Instant::now();
    tokio::task::spawn_blocking({
        let (folder, program) = (folder.to_owned(), program.map(Path::to_owned));
        move || images(&folder, program)
    })
    .await??;
    operator::install_kinds(client).await?;
    eprintln!("prepared in {:.1} s", begun.elapsed().as_secs_f64());
    Ok(())
}

fn images(folder: &Path, program: Option<PathBuf>) -> Result<()> {
    let chain = Program::get()?;
    let seed = Seed::get(&chain)?;
    let program = match program {
        Some(given) => given,
        None => image::static_binary("release")?,
    };
    let operator = place::cache().join("loopbreaker.tar");
    image::write_operator_tar(&program, &operator)?;
    for tar in [node::write_image(&chain, &seed)?, operator] {
        cluster::load(folder, &tar)?;
    }
    node::prepared(chain, seed);
    Ok(())
}
