//! The exit status (design 8), decided here and nowhere else. *No client.*

use std::{io, process::ExitCode};

use chainstore::Outcome;
use diagnosis::{Cause, CrashLoopReading, DiskReading, LogAbstention, LogReading, Testimony};

use crate::{disk_part::DiskPart, guard::CannotStart, incident::Incident, words::clean};

/// How a command ended. With several incidents the worst counts; the order is that of the variants.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Status {
    /// Done; with `--exit-code`: clean, or a cause other than local damage.
    Done,
    /// `--exit-code`: could not tell.
    CouldNotTell,
    /// `--exit-code`: local damage suspected from the log only.
    Suspected,
    /// `--exit-code`: damage or inconsistency proven on disk, vetoed or not.
    Proven,
    /// `guard`: the node is not to be started (`--fence`, `--refuse-empty`).
    Fenced,
    /// Could not do all of it; the reason has been printed.
    Failed,
}

/// Typed so that it cannot mean anything; found only after parsing.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(crate) struct WrongUsage(pub(crate) &'static str);

/// What failed where our own output could not be written: a full disk is not the log's.
pub(crate) const STDOUT_FAILED: &str = "standard output: cannot be written";

impl Status {
    /// What `--exit-code` says about one incident.
    pub(crate) fn of(incident: &Incident) -> Self {
        let evidence = &incident.evidence;
        let testifies = matches!(&evidence.log, LogReading::Read(opinion) if opinion.testimony == Testimony::Witness);
        let disk_shows_it = incident.disk.as_ref().is_some_and(DiskPart::is_proven_bad);
        let disk_is_mute = matches!(evidence.disk, DiskReading::CouldNotTell(_) | DiskReading::ReadsDiffer(_));
        let nothing_wrong = incident.is_well()
            || evidence.crash_loop == CrashLoopReading::NotLooping
                && !disk_is_mute
                && matches!(evidence.log, LogReading::NotRead | LogReading::Abstained(LogAbstention::NoFailure));
        if disk_shows_it {
            Self::Proven
        } else if testifies || incident.verdict.cause.is_local_damage() {
            Self::Suspected
        } else if incident.verdict.cause == Cause::Unknown && !nothing_wrong {
            Self::CouldNotTell
        } else {
            Self::Done
        }
    }

    /// What `--exit-code` says about a data directory.
    pub(crate) fn of_disk(outcome: Outcome) -> Self {
        match outcome {
            Outcome::Damaged | Outcome::Inconsistent => Self::Proven,
            Outcome::CouldNotTell => Self::CouldNotTell,
            Outcome::Intact => Self::Done,
        }
    }

    fn number(self) -> u8 {
        match self {
            Self::Done => 0,
            Self::Failed => 1,
            Self::Proven => 10,
            Self::Suspected => 11,
            Self::CouldNotTell => 12,
            Self::Fenced => 13,
        }
    }
}

/// What became of printing a report. Whoever reads it may have seen enough (`| head`): the status is the verdict's all the
/// same.
pub(crate) fn printed(result: anyhow::Result<()>) -> anyhow::Result<()> {
    result.or_else(|error| if is_broken_pipe(&error) { Ok(()) } else { Err(error) })
}

/// Prints the one line that says why it could not be done, and gives the number.
pub(crate) fn code(result: anyhow::Result<Status>) -> ExitCode {
    match result {
        Ok(status) => ExitCode::from(status.number()),
        // Whoever reads our output has seen enough (`| head`).
        Err(error) if is_broken_pipe(&error) => ExitCode::SUCCESS,
        Err(error) => {
            anstream::eprintln!("error: {}", one_line(&error));
            ExitCode::from(match error.downcast_ref::<CannotStart>() {
                Some(error) => error.status(),
                None if error.is::<WrongUsage>() => 2,
                None => Status::Failed.number(),
            })
        }
    }
}

/// An error with its causes, each said once: some messages quote their cause in the middle.
pub(crate) fn one_line(error: &anyhow::Error) -> String {
    let mut line = String::new();
    for cause in error.chain().map(ToString::to_string).filter(|cause| !cause.is_empty()) {
        if line.contains(&cause) {
            continue;
        }
        line = if line.is_empty() { cause } else { format!("{line}: {cause}") };
    }
    clean(&line)
}

fn is_broken_pipe(error: &anyhow::Error) -> bool {
    error.chain().any(|cause| {
        cause.downcast_ref::<io::Error>().is_some_and(|error| error.kind() == io::ErrorKind::BrokenPipe)
            || cause
                .downcast_ref::<serde_json::Error>()
                .is_some_and(|error| error.io_error_kind() == Some(io::ErrorKind::BrokenPipe))
    })
}

#[cfg(test)]
mod tests {
    use super::Status;

    #[test]
    fn the_worst_of_several_counts() {
        let order = [Status::Proven, Status::Suspected, Status::CouldNotTell, Status::Done];
        assert!(order.is_sorted_by(|a, b| a > b));
        assert_eq!(order.map(Status::number), [10, 11, 12, 0]);
    }
}
