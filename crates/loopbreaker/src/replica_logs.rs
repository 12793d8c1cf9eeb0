//! The logs of a bundle's replicas, each read once, whoever asks for them. *No client.* (design 4, P7)
//!
//! Who gets a report has its logs read to be shown; the other replicas that crash-loop have theirs read for one question
//! alone: whether they fail the same way.

use std::collections::BTreeMap;

use diagnosis::{CrashLoopReading, InstanceHistory, InstanceName, LogReading, Observation};

use scene::LogCauses;

use crate::{
    bundle::{Bundle, BundleError, LogFile, LogRun, Subject},
    examine::{LogSource, examine},
    progress::Progress,
    words::clean,
};
use crashlog::LogPart;

/// Replicas beside those of the reports whose logs are read. Who lies beyond is compared by exit codes alone.
const OTHERS_MAX: usize = 32;

/// One replica's logs.
#[derive(Debug, Default)]
pub(crate) struct ReadLogs {
    /// What they say together.
    pub(crate) part: LogPart,
    /// Those that could not be read, in words.
    pub(crate) notes: Vec<String>,
}

/// The logs of many.
#[derive(Debug, Default)]
pub(crate) struct ReplicaLogs {
    by_instance: BTreeMap<InstanceName, ReadLogs>,
    causes: LogCauses,
}

impl ReplicaLogs {
    /// Reads the logs of those who get a report (with what was named by hand, which can only be of a single one), then
    /// those of their owners' other replicas that crash-loop. `tap` sees every byte of the first.
    pub(crate) fn read(
        bundle: &Bundle,
        subjects: &[Subject<'_>],
        by_hand: &[LogSource],
        progress: &Progress,
        tap: &mut dyn FnMut(&[u8]),
    ) -> Result<Self, BundleError> {
        let mut all = Self::default();
        for subject in subjects {
            let mut logs = ReadLogs::default();
            for source in by_hand {
                logs.part.add(examine(source, progress, tap)?);
            }
            logs.read(bundle, subject, progress, tap);
            all.note_cause(&subject.instance, &logs.part);
            all.by_instance.insert(subject.instance.clone(), logs);
        }
        for other in bundle.others_in_a_loop(subjects).iter().take(OTHERS_MAX) {
            let mut logs = ReadLogs::default();
            logs.read(bundle, other, progress, &mut |_| {});
            all.note_cause(&other.instance, &logs.part);
        }
        Ok(all)
    }

    fn note_cause(&mut self, instance: &InstanceName, logs: &LogPart) {
        if let Some(cause) = logs.sure_cause() {
            self.causes.insert(instance.clone(), cause);
        }
    }

    /// What the logs name as the causes, where they are sure.
    pub(crate) fn causes(&self) -> &LogCauses {
        &self.causes
    }

    /// Gives one replica's logs away; nothing where they were not read.
    pub(crate) fn take(&mut self, instance: &InstanceName) -> ReadLogs {
        self.by_instance.remove(instance).unwrap_or_default()
    }
}

impl ReadLogs {
    fn read(&mut self, bundle: &Bundle, subject: &Subject<'_>, progress: &Progress, tap: &mut dyn FnMut(&[u8])) {
        for source in logs_of(bundle, subject) {
            if source.is_spare && matches!(self.part.reading, LogReading::Read(_)) {
                continue;
            }
            match examine(&source.log, progress, tap) {
                Ok(examined) => self.part.add(examined),
                // One unreadable log costs only itself.
                Err(error) => self.notes.push(clean(&error.to_string())),
            }
        }
    }
}

/// A log of a bundle that may be read.
struct Choice {
    log: LogSource,
    /// Read only where no other log says anything: the run it is of has not ended yet.
    is_spare: bool,
}

/// The logs of the container that dies and of the one that runs the node, all crashes, the oldest first.
fn logs_of(bundle: &Bundle, subject: &Subject<'_>) -> Vec<Choice> {
    let mut wanted: Vec<&str> = Vec::new();
    let crash_loop = subject.crash_loop();
    if let CrashLoopReading::Looping(crash_loop) = &crash_loop {
        wanted.push(crash_loop.container.as_str());
    }
    let pod = subject.history.map(InstanceHistory::latest);
    match pod.and_then(Observation::node_container) {
        Some(node) => wanted.push(node.name.as_str()),
        // Cosmos-operator's names; where neither is there, every log may be the node's.
        None => wanted.extend(["node", "version-check"]),
    }
    let of_interest = |log: &&&LogFile| wanted.contains(&log.container.as_str());
    let known = subject.logs.iter().any(|log| of_interest(&log));
    let mut logs: Vec<&LogFile> =
        subject.logs.iter().filter(|log| !known && pod.is_none() || of_interest(log)).copied().collect();
    logs.sort_by_key(|log| (log.run == LogRun::Current, log.run));
    let (ended, current): (Vec<&LogFile>, Vec<&LogFile>) = logs.into_iter().partition(|log| log.run != LogRun::Current);
    let choice = |log: &LogFile, is_spare| Choice {
        log: LogSource { path: log.path.clone(), label: bundle.label(&log.path), by_hand: false },
        is_spare,
    };
    let spare = |log: &&LogFile| ended.iter().any(|other| other.container == log.container);
    let ended_choices = ended.iter().map(|log| choice(log, false));
    let current_choices = current.iter().map(|log| choice(log, spare(log)));
    // What is surely of a crash comes first, so that the spare ones can still be left out.
    ended_choices.chain(current_choices).collect()
}

/// Bytes of all logs that will be read, where they are known.
pub(crate) fn log_bytes(bundle: &Bundle, subjects: &[Subject<'_>], by_hand: &[LogSource]) -> Option<u64> {
    let others = bundle.others_in_a_loop(subjects);
    let subjects = subjects.iter().chain(others.iter().take(OTHERS_MAX));
    let in_bundle = subjects.flat_map(|subject| &subject.logs).map(|log| Some(log.path.metadata().ok()?.len()));
    by_hand.iter().map(LogSource::bytes).chain(in_bundle).sum()
}
