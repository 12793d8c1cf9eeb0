//! `loopbreaker inspect`. *No client.* Reads a data directory, says what is damaged, prints. Nothing in it is written to.

use std::{
    io::{IsTerminal, Write},
    num::NonZeroU64,
    path::{Path, PathBuf},
    sync::Arc,
};

use chainstore::{Depth, IavlMode, Inspection, Options, ReadError, ReadProblem, ring::Whose};
use clap::{Args, ValueEnum};

use crate::{
    colour::Colour,
    diagnose::Format,
    exit::{Status, printed},
    progress::{Inspecting, Stop},
    report, ring_part,
    words::clean,
};

/// Tell whether a node's databases are damaged, where, and likely by what
///
/// DIR is the node's home, its data directory or one database directory: of a
/// stopped node, or of a volume restored from a snapshot. No engine is opened
/// and not a byte is written. A node that runs meanwhile makes for answers of
/// "could not tell", not for wrong ones.
///
/// What `loopbreaker guard` kept beside the data is read too: damage that it saw
/// before a start, and whose trace the engine erased at that start, counts, and
/// is said to be known from the guard.
///
/// goleveldb (CometBFT's and the SDK's default), LevelDB, Pebble and RocksDB
/// are read: Pebble v1 and v2 at the formats that nodes have, up to format major
/// version 13, RocksDB's tables of format versions 2 to 7. Newer formats and
/// other engines are named, no more.
///
/// With --exit-code the status is 10 where damage or inconsistency is proven,
/// 12 where neither could be told (no database there, or one that cannot be
/// read), 0 where everything is intact. Ctrl-C prints what is known so far, and
/// the status is 1.
#[derive(Debug, Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct Arguments {
    /// The node's home, its data directory or one database
    #[arg(value_name = "DIR")]
    dir: PathBuf,

    /// Text for people, or JSON (loopbreaker.dev/inspection/v1)
    #[arg(long, value_enum, default_value_t, value_name = "FORMAT")]
    output: Format,

    /// Entry points, manifests, sizes, footers and heights only: seconds, even on a terabyte
    #[arg(long, conflicts_with = "deep")]
    quick: bool,

    /// Every checksum, and the order of every key and the hash of every tree node too
    #[arg(long)]
    deep: bool,

    /// How much of the application's trees is hashed again: every leaf of the latest version, some of each store, or the
    /// roots alone (with --quick off, with --deep latest, else sample)
    #[arg(long, value_enum, value_name = "WALK")]
    iavl: Option<Iavl>,

    /// Begin with this file, such as one that the log names (`000012.ldb`, `state.db/000012.ldb`)
    #[arg(long, value_name = "FILE")]
    first: Option<PathBuf>,

    /// Read at most so many bytes a second (`50MiB`, `200MB`), to leave the disk to others
    #[arg(long, value_name = "RATE", value_parser = rate)]
    max_read_rate: Option<NonZeroU64>,

    /// What `loopbreaker guard` kept of the node's starts [default: .loopbreaker/ring in the home]
    #[arg(long, value_name = "DIR")]
    ring: Option<PathBuf>,

    /// Count what was kept of this pod's starts; may be repeated [default: the pod that started last]
    #[arg(long, value_name = "UID")]
    pod_uid: Vec<String>,

    /// Tell the outcome by the exit status too
    #[arg(long)]
    exit_code: bool,

    /// Colour the text
    #[arg(long, value_enum, default_value_t, value_name = "WHEN")]
    color: Colour,
}

/// How much of the application's trees is walked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Iavl {
    /// Every leaf of the latest version
    Latest,
    /// The paths to some leaves of each store
    Sample,
    /// Roots against the commit, no more
    Off,
}

impl From<Iavl> for IavlMode {
    fn from(walk: Iavl) -> Self {
        match walk {
            Iavl::Latest => Self::Latest,
            Iavl::Sample => Self::Sample,
            Iavl::Off => Self::Off,
        }
    }
}

/// Stopped by a signal; what was known has been printed.
#[derive(Debug, thiserror::Error)]
#[error("stopped by a signal before everything was read; nothing was written (run it again, or take `--quick`)")]
pub(crate) struct Stopped;

pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<Status> {
    let depth = match (arguments.quick, arguments.deep) {
        (true, _) => Depth::Quick,
        (_, true) => Depth::Deep,
        _ => Depth::Default,
    };
    let stop = Stop::default();
    stop.listen()?;
    let watch = Arc::new(Inspecting::new(stop.clone()));
    let options = Options {
        depth,
        iavl: arguments.iavl.map(IavlMode::from),
        first: arguments.first.clone(),
        max_read_rate: arguments.max_read_rate,
        progress: Arc::clone(&watch) as Arc<dyn chainstore::Progress>,
        ..Options::default()
    };
    let mut inspection =
        chainstore::inspect(&arguments.dir, &options).map_err(|error| CannotLook(error).into_error())?;
    watch.clear();
    let whose = match arguments.pod_uid.as_slice() {
        [] => Whose::LastStarted,
        uids => Whose::Pods(uids.to_vec()),
    };
    let ring = arguments.ring.as_deref();
    if let Some(why) = ring_part::add(&mut inspection, &arguments.dir, depth, ring, &whose) {
        anstream::eprintln!("warning: {}", clean(&why));
    }
    if !arguments.dir.is_dir() {
        let vanished = format!("{}: vanished while it was read (was the volume unmounted?)", arguments.dir.display());
        return Err(anyhow::Error::msg(vanished));
    }
    printed(print(arguments, depth, &inspection))?;
    if stop.is_asked() {
        return Err(Stopped.into());
    }
    Ok(if arguments.exit_code { Status::of_disk(inspection.outcome) } else { Status::Done })
}

/// Why nobody could look at a directory, with the next step.
pub(crate) struct CannotLook(pub(crate) ReadError);

impl CannotLook {
    pub(crate) fn into_error(self) -> anyhow::Error {
        anyhow::Error::msg(self.in_words())
    }

    /// One line: what, where, what to do.
    pub(crate) fn in_words(&self) -> String {
        let next = match &self.0.problem {
            ReadProblem::Missing => "check the path, and that the volume is mounted".to_owned(),
            ReadProblem::NotADirectory => {
                "give the node's home, its data directory or one database directory".to_owned()
            }
            ReadProblem::Denied { owner } => needed_user(*owner),
            _ => "nothing was read; look at the machine's kernel log: `dmesg`".to_owned(),
        };
        format!("{} ({next})", self.0)
    }
}

/// Who may read what belongs to somebody else.
pub(crate) fn needed_user(owner: Option<u32>) -> String {
    match owner {
        Some(0) => "run it as root".to_owned(),
        Some(uid) => format!("run it as user id {uid} or as root"),
        None => "run it as the user of the node or as root".to_owned(),
    }
}

fn print(arguments: &Arguments, depth: Depth, inspection: &Inspection) -> anyhow::Result<()> {
    let stdout = std::io::stdout();
    if arguments.output == Format::Json {
        let report = report::inspection_json::InspectionJson::of(inspection, depth);
        let mut out = std::io::BufWriter::new(stdout.lock());
        if stdout.is_terminal() {
            serde_json::to_writer_pretty(&mut out, &report)?;
        } else {
            serde_json::to_writer(&mut out, &report)?;
        }
        out.write_all(b"\n")?;
        return Ok(out.flush()?);
    }
    let mut out = anstream::AutoStream::new(stdout.lock(), arguments.color.choice(&stdout));
    out.write_all(report::inspection_text::render(&label(&arguments.dir), depth, inspection).as_bytes())?;
    Ok(out.flush()?)
}

/// A directory's name as it was typed.
pub(crate) fn label(dir: &Path) -> String {
    clean(&dir.to_string_lossy())
}

/// `50MiB`, `200 MB`, `1000000`: bytes a second.
pub(crate) fn rate(text: &str) -> Result<NonZeroU64, String> {
    let bytes = byte_count(text.trim().trim_end_matches("/s")).ok().and_then(NonZeroU64::new);
    bytes.ok_or_else(|| "expected bytes a second, as in 50MiB, 200MB or 1000000".to_owned())
}

/// `8MiB`, `200 MB`, `1000000`: bytes.
pub(crate) fn byte_count(text: &str) -> Result<u64, String> {
    let wrong = || "expected bytes, as in 8MiB, 200MB or 1000000".to_owned();
    let text = text.trim();
    let digits = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (number, unit) = text.split_at_checked(digits).ok_or_else(wrong)?;
    let factor: u64 = match unit.trim().to_ascii_lowercase().as_str() {
        "" | "b" => 1,
        "k" | "kb" => 1_000,
        "m" | "mb" => 1_000_000,
        "g" | "gb" => 1_000_000_000,
        "ki" | "kib" => 1 << 10,
        "mi" | "mib" => 1 << 20,
        "gi" | "gib" => 1 << 30,
        _ => return Err(wrong()),
    };
    number.parse::<u64>().ok().and_then(|number| number.checked_mul(factor)).ok_or_else(wrong)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates() {
        for (text, bytes) in
            [("50MiB", 52_428_800), ("200 MB", 200_000_000), ("7", 7), ("1k", 1000), ("2GiB/s", 2 << 30)]
        {
            assert_eq!(rate(text).map(NonZeroU64::get), Ok(bytes), "{text}");
        }
        for text in ["", "0", "-1", "MiB", "1.5MiB", "10 apples", "99999999999999999999", "99999999999GiB"] {
            assert!(rate(text).is_err(), "{text}");
        }
    }
}
