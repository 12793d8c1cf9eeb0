//! `loopbreaker guard`. *No client.* Looks at the data before every start, keeps what the start would erase, becomes the
//! node. The only command that writes, and only into its ring.
//!
//! The process that becomes the node does as little as can be: it never touches the node's disk. Copying and checking is
//! the work of a child, which a stuck disk, a panic or a lack of memory may end; the node starts all the same.
//!
//! 1. [`signals`] set so that SIGTERM ends this process as it would end the node.
//! 2. [`watch`] starts the [`worker`], prints what it says, and lets go at the deadline.
//! 3. [`fence`] says whether what was seen forbids the start; nearly always it does not.
//! 4. [`become_node`] replaces this process.

mod become_node;
mod checks;
mod conclusion;
mod copies;
mod fence;
mod install;
mod kept;
mod log_names;
mod mark;
mod message;
mod parent;
mod room;
mod signals;
mod spots;
mod until;
mod watch;
mod worker;
mod writer;

use std::{
    ffi::OsString,
    path::{Path, PathBuf},
    time::Duration,
};

use clap::Args;

pub(crate) use become_node::CannotStart;

use crate::{diagnose::Format, exit::Status};

/// What makes no sense where only the program is copied: everything that nobody can have put into the environment.
const BESIDE_INSTALL: [&str; 11] =
    ["home", "ring", "deadline", "log", "fence", "refuse_empty", "keep", "max_bytes", "output", "worker", "command"];

/// Look at a node's data before every start, keep what the start would erase,
/// then become the node
///
/// Put it before the node's own command:
///
///   loopbreaker guard --home /home/gaia -- gaiad start --home /home/gaia
///
/// Engines destroy the traces of damage at the first start after it. Before
/// every start the guard copies the small files that tell (MANIFEST, CURRENT,
/// LOG, ends of journals, heights) into a ring of the last starts beside the
/// data directory, checks as much of the databases as the deadline allows, and
/// says on standard error what it found. `inspect` and `diagnose` read the ring.
/// Then the process becomes CMD: process id, signals and exit status are the
/// node's own. No key is ever copied; of the signing state only height, round
/// and step are.
///
/// Whatever fails here, the node starts: a full or stuck disk, a directory that
/// is missing or may not be written to, the guard's own checks. Only what
/// --fence and --refuse-empty ask for keeps it from starting, with status 13,
/// and `LOOPBREAKER_START_ANYWAY=1` in the environment overrides both. If CMD
/// cannot be started the status is 127 (not found) or 126. A SIGTERM during the
/// checks ends the guard (143), and the node is not started.
///
/// The pod's UID belongs into `LOOPBREAKER_POD_UID` (Kubernetes' downward API):
/// a snapshot copies the ring to other nodes, whose starts are not this one's.
#[derive(Debug, Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct Arguments {
    /// The node's home: the directory that has `data` in it
    #[arg(long, value_name = "DIR", required_unless_present = "install")]
    home: Option<PathBuf>,

    /// Copy this program to FILE and end: for an init container, whose image need not have anything else
    // Not `exclusive`: the pod's UID may stand in the environment of an init container too.
    #[arg(long, value_name = "FILE", conflicts_with_all = BESIDE_INSTALL)]
    install: Option<PathBuf>,

    /// Where the ring is kept: not in the data directory, and on a volume that outlives the container [default:
    /// .loopbreaker/ring in the home]
    #[arg(long, value_name = "DIR")]
    ring: Option<PathBuf>,

    /// How long the node waits at most (`10s`, `500ms`, `2m`)
    #[arg(long, default_value = "10s", value_name = "TIME", value_parser = until::duration)]
    deadline: Duration,

    /// A log of the node's last run: the files that it names are read first; may be repeated
    #[arg(long, value_name = "FILE")]
    log: Vec<PathBuf>,

    /// Do not start on damage that is proven on disk, in a database that the node needs to start
    #[arg(long)]
    fence: bool,

    /// Do not start where a database is missing that this node had before
    #[arg(long)]
    refuse_empty: bool,

    /// Starts that are kept; the first one of a crash loop stays besides
    #[arg(long, default_value_t = 8, value_name = "N", value_parser = clap::value_parser!(u16).range(2..=64))]
    keep: u16,

    /// Size of the ring at most
    #[arg(long, default_value = "8MiB", value_name = "BYTES", value_parser = crate::inspect::byte_count)]
    max_bytes: u64,

    /// How findings are said on standard error, a line each: text after the words `loopbreaker guard:`, or JSON
    #[arg(long, value_enum, default_value_t, value_name = "FORMAT")]
    output: Format,

    /// The pod that is started
    #[arg(long, env = "LOOPBREAKER_POD_UID", value_name = "UID")]
    pod_uid: Option<OsString>,

    /// The child that looks, for the guard of this process id.
    #[arg(long, hide = true, value_name = "PID")]
    worker: Option<u32>,

    /// The node's own command
    #[arg(last = true, required_unless_present = "install", value_name = "CMD")]
    command: Vec<OsString>,
}

impl Arguments {
    fn home(&self) -> &Path {
        self.home.as_deref().unwrap_or(Path::new(""))
    }

    fn ring(&self) -> PathBuf {
        self.ring.clone().unwrap_or_else(|| ring_of(self.home()))
    }
}

/// Where the ring of a home is kept, unless it was said otherwise: beside `data`, so that it is on the same volume where
/// the volume is mounted at the home, and so that resetting or replacing the data directory leaves it alone.
pub(crate) fn ring_of(home: &Path) -> PathBuf {
    home.join(".loopbreaker").join("ring")
}

pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<Status> {
    if let Some(guard) = arguments.worker {
        worker::run(arguments, guard);
        return Ok(Status::Done);
    }
    if let Some(target) = &arguments.install {
        install::install(target)?;
        return Ok(Status::Done);
    }
    signals::end_as_the_node_would();
    let seen = watch::watch(arguments);
    if let Some(why) = fence::forbids(arguments.fence, arguments.refuse_empty, &seen) {
        if fence::is_overridden(std::env::var_os(fence::OVERRIDE).as_deref()) {
            message::say(arguments.output, &format!("{why}; started anyway, as {} says", fence::OVERRIDE));
        } else {
            let next = "the node is not started: inspect the volume, restore a snapshot, or";
            message::say(arguments.output, &format!("{why}; {next} set {}=1", fence::OVERRIDE));
            return Ok(Status::Fenced);
        }
    }
    Err(become_node::become_node(&arguments.command).into())
}
