//! The cluster: its programs, its processes, and how it is taken down without a trace.

mod certificates;
mod cgroup;
mod disk;
mod down;
mod images;
mod machine;
mod network;
mod parts;
mod plan;
mod process;
mod programs;
mod progress;
mod status;
mod text;
mod up;

use std::{
    fs,
    fs::File,
    path::{Path, PathBuf},
};

use anyhow::{Context, Result, bail};
use clap::{Args, Subcommand};

use self::{
    disk::Disk,
    down::Files,
    plan::{BackOff, DRIVER, Minor, Plan},
    process::Process,
    programs::Programs,
    progress::Progress,
};
pub(crate) use self::{machine::obstacle, plan::NODE};

/// The servers of a control plane, built if they are not there: by name, where each lies.
pub(crate) fn servers() -> Result<impl Fn(&str) -> PathBuf> {
    let programs = Programs::ensure(Minor::V34, BackOff::Stock, &Progress::begin())?;
    Ok(move |name: &str| PathBuf::from(programs.path(name)))
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Build what is missing and start the cluster, or mend it
    Up(Up),
    /// Stop every process of the cluster and remove what it left
    Down {
        /// Leave the folder with its logs
        #[arg(long)]
        keep_files: bool,
        #[command(flatten)]
        place: Place,
    },
    /// Say what runs, and what is left of a cluster that is down
    Status(Place),
    /// Say `yes`, or `no: ` and why a cluster cannot run on this machine
    Able,
    /// Stop one server and start it again
    Restart {
        /// As `status` names it
        server: String,
        #[command(flatten)]
        place: Place,
    },
    /// Give an image to the cluster
    Load {
        /// The image's tar, as `cargo xtask image` writes it
        tar: PathBuf,
        #[command(flatten)]
        place: Place,
    },
}

#[derive(Debug, Args)]
pub(crate) struct Place {
    /// The cluster's folder
    #[arg(long, value_name = "DIR", default_value = "target/testbed/cluster")]
    cluster: PathBuf,
}

#[derive(Debug, Args)]
pub(crate) struct Up {
    /// The minor version of Kubernetes
    #[arg(long, value_name = "VERSION", default_value = "1.34")]
    kubernetes: Minor,
    /// Start crashed containers again after 2 s at most; the released kubelet waits for up to 5 min
    #[arg(long)]
    quick_back_off: bool,
    /// Which of 16 sets of addresses it uses, so that clusters can run side by side
    #[arg(long, value_name = "N", default_value_t = 0)]
    index: u8,
    #[command(flatten)]
    place: Place,
}

pub(crate) fn run(command: &Command) -> Result<()> {
    match command {
        Command::Up(wanted) => {
            if let Some(obstacle) = obstacle() {
                bail!("{obstacle}");
            }
            let plan = Plan {
                folder: folder(&wanted.place.cluster)?,
                index: wanted.index,
                minor: wanted.kubernetes,
                back_off: if wanted.quick_back_off { BackOff::Quick } else { BackOff::Stock },
            };
            plan.check()?;
            let _lock = lock(&plan.folder)?;
            if let Some(there) = Plan::of(&plan.folder)?
                && there != plan
            {
                bail!(
                    "{} holds a cluster of other options; run `cargo xtask cluster down` first",
                    plan.folder.display()
                );
            }
            up::up(&plan)
        }
        Command::Down { keep_files, place } => {
            let Some(plan) = Plan::of(&absolute(&place.cluster)?)? else {
                println!("there is no cluster in {}: 0 leftovers", place.cluster.display());
                return Ok(());
            };
            let _lock = lock(&plan.folder)?;
            down::down(&plan, if *keep_files { Files::Keep } else { Files::Remove })?;
            Ok(fs::remove_file(lock_file(&plan.folder))?)
        }
        Command::Able => {
            println!("{}", obstacle().map_or_else(|| "yes".to_owned(), |reason| format!("no: {reason}")));
            Ok(())
        }
        Command::Status(place) => status::status(&absolute(&place.cluster)?),
        Command::Restart { server, place } => restart(&place.cluster, server),
        Command::Load { tar, place } => load(&place.cluster, tar),
    }
}

/// Stops one server and starts it again by the same command line.
pub(crate) fn restart(folder: &Path, server: &str) -> Result<()> {
    let plan = plan(folder)?;
    Process::find(&plan, server)?.restart(&plan)
}

/// Gives an image's tar to the cluster.
pub(crate) fn load(folder: &Path, tar: &Path) -> Result<()> {
    images::load(&plan(folder)?, tar)
}

/// The plan of a cluster that was started.
fn plan(folder: &Path) -> Result<Plan> {
    Plan::of(&absolute(folder)?)?
        .with_context(|| format!("there is no cluster in {}; `cargo xtask cluster up` makes one", folder.display()))
}

fn absolute(folder: &Path) -> Result<PathBuf> {
    std::path::absolute(folder).with_context(|| format!("find {}", folder.display()))
}

/// The folder, made and without links in its path: the kernel names mounts so.
fn folder(wanted: &Path) -> Result<PathBuf> {
    fs::create_dir_all(wanted).with_context(|| format!("make {}", wanted.display()))?;
    fs::canonicalize(wanted).with_context(|| format!("find {}", wanted.display()))
}

/// Beside the folder, which `down` removes.
fn lock_file(folder: &Path) -> PathBuf {
    let mut name = folder.file_name().unwrap_or_default().to_owned();
    name.push(".lock");
    folder.with_file_name(name)
}

/// Two commands at once on one cluster would undo each other's work.
fn lock(folder: &Path) -> Result<File> {
    let file = lock_file(folder);
    let lock = File::create(&file).with_context(|| format!("make {}", file.display()))?;
    if lock.try_lock().is_err() {
        bail!("another `cluster` command works on {}; wait for its end", folder.display());
    }
    Ok(lock)
}
