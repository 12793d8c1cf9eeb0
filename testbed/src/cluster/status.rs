//! `cluster status`: what runs, as the machine itself says.

use std::path::Path;

use anyhow::{Result, bail};

use super::{Plan, Process, down::leftovers};

/// Prints each server; an error if one that was started no longer runs.
pub(crate) fn status(folder: &Path) -> Result<()> {
    let Some(plan) = Plan::of(folder)? else {
        println!("there is no cluster in {}: 0 leftovers", folder.display());
        return Ok(());
    };
    let all = Process::all(&plan);
    if all.is_empty() {
        let left = leftovers(&plan);
        for each in &left {
            println!("left over: {each}");
        }
        println!("the cluster in {} is down, {} leftovers", folder.display(), left.len());
        return Ok(());
    }
    let mut ended = Vec::new();
    let mut sum = 0;
    for process in &all {
        if process.alive() {
            sum += process.memory_mib();
            println!("{:<24} process {:>7}, {:>4} MiB", process.name, process.pid, process.memory_mib());
        } else {
            println!("{:<24} has ended", process.name);
            ended.push(process.name.as_str());
        }
    }
    println!(
        "{} of {} servers run, {sum} MiB; kubeconfig: {}",
        all.len() - ended.len(),
        all.len(),
        plan.text("admin.kubeconfig")
    );
    if ended.is_empty() {
        Ok(())
    } else {
        bail!("ended: {}; `cargo xtask cluster up` with the same options starts them again", ended.join(", "))
    }
}
