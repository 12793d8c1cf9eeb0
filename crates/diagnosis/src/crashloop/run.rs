//! One finished run of a container: how it ended, how long it took. *No client.*

use jiff::Timestamp;
use k8s_openapi::api::core::v1::ContainerStateTerminated;

/// One finished run of a container.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LastRun {
    /// How it ended.
    pub exit: ExitStatus,
    /// Kubernetes' word for it (`Error`, `Completed`, `OOMKilled`, `ContainerCannotRun` …).
    pub reason: String,
    /// What the process left in its termination message, where it left anything.
    pub message: Option<String>,
    /// When it began.
    pub started: Option<Timestamp>,
    /// When it ended.
    pub finished: Option<Timestamp>,
}

/// How a process ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ExitStatus {
    /// The exit code as Kubernetes gives it (128 + signal for a kill).
    pub code: i32,
    /// The signal, where the status or the code tells it.
    pub signal: Option<i32>,
}

impl LastRun {
    pub(super) fn read(terminated: &ContainerStateTerminated) -> Self {
        Self {
            exit: ExitStatus::read(terminated.exit_code, terminated.signal),
            reason: terminated.reason.clone().unwrap_or_default(),
            message: terminated.message.clone().filter(|message| !message.trim().is_empty()),
            // The kubelet writes year 1 or 1970 where the runtime lost the times.
            started: terminated.started_at.as_ref().map(|time| time.0).filter(is_real),
            finished: terminated.finished_at.as_ref().map(|time| time.0).filter(is_real),
        }
    }

    /// How long it ran, in whole seconds.
    #[must_use]
    pub fn seconds(&self) -> Option<u64> {
        seconds_between(self.started?, self.finished?)
    }

    /// Whether the kernel killed it for memory, by Kubernetes' own word: exit code 137 alone can be any SIGKILL.
    #[must_use]
    pub fn is_oom_killed(&self) -> bool {
        self.reason == "OOMKilled"
    }
}

impl ExitStatus {
    /// From the status fields; the runtime folds a signal into the code as 128 + n.
    pub(super) fn read(code: i32, signal: Option<i32>) -> Self {
        // 64 is the highest signal of Linux; 255 is `exit(-1)`, no signal 127.
        const HIGHEST_SIGNAL: i32 = 64;
        let named = signal.filter(|signal| *signal > 0);
        let folded = Some(code.saturating_sub(128)).filter(|signal| (1..=HIGHEST_SIGNAL).contains(signal));
        Self { code, signal: named.or(folded) }
    }
}

/// Times before 2009 stand for "not known" in Kubernetes objects.
pub(super) fn is_real(time: &Timestamp) -> bool {
    const YEAR_2009: i64 = 1_230_768_000;
    time.as_second() >= YEAR_2009
}

/// Whole seconds from one time to a later one; none where they stand the other way round.
pub(super) fn seconds_between(from: Timestamp, to: Timestamp) -> Option<u64> {
    u64::try_from(to.as_second().saturating_sub(from.as_second())).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_signal_comes_from_its_field_or_from_the_code() {
        for (code, field, signal) in [
            (2, None, None),
            (0, None, None),
            (137, None, Some(9)),
            (139, None, Some(11)),
            (143, Some(15), Some(15)),
            (0, Some(9), Some(9)),
            (137, Some(0), Some(9)),
            (255, None, None),
            (128, None, None),
            (-1, None, None),
            (i32::MIN, None, None),
        ] {
            assert_eq!(ExitStatus::read(code, field).signal, signal, "code {code}, field {field:?}");
        }
    }

    #[test]
    fn a_lost_time_is_no_time() {
        let terminated = ContainerStateTerminated {
            exit_code: 255,
            started_at: Some(k8s_openapi::apimachinery::pkg::apis::meta::v1::Time(Timestamp::UNIX_EPOCH)),
            ..Default::default()
        };
        assert_eq!(LastRun::read(&terminated).started, None);
    }
}
