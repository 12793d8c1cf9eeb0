//! Who a report is about. *No client.* (design 7: one report for each sick replica)

use std::path::Path;

use diagnosis::{
    Circumstances, CrashLoopReading, Height, InstanceHistory, InstanceName, Observation, Siblings, detect,
};
use scene::{LogCauses, is_sick};

use super::{Bundle, BundleError, LogFile};
use crate::words::clean;

/// One replica of a bundle, with all that the bundle holds about it.
#[derive(Debug)]
pub(crate) struct Subject<'b> {
    bundle: &'b Bundle,
    /// The replica.
    pub(crate) instance: InstanceName,
    /// What its pod objects say; none where only logs or data are at hand.
    pub(crate) history: Option<&'b InstanceHistory>,
    /// Its logs, by container, oldest run first.
    pub(crate) logs: Vec<&'b LogFile>,
    /// Its home or data directory.
    pub(crate) data: Option<&'b Path>,
}

impl Bundle {
    /// Whom to report on: every sick replica; with none, every one that has a log or data; with none, every one there is.
    /// `only` picks one by name, alone or behind its namespace and a slash, healthy or not.
    pub(crate) fn subjects(&self, only: Option<&str>) -> Result<Vec<Subject<'_>>, BundleError> {
        let all: Vec<Subject<'_>> = self.everybody();
        if let Some(wanted) = only {
            return self.pick(all, wanted);
        }
        if all.is_empty() {
            return Err(BundleError::NoSubject { path: self.path.clone() });
        }
        let picks: [fn(&Subject<'_>) -> bool; 2] = [
            |subject| subject.history.is_some_and(is_sick),
            |subject| !subject.logs.is_empty() || subject.data.is_some(),
        ];
        for pick in picks {
            if all.iter().any(pick) {
                return Ok(all.into_iter().filter(pick).collect());
            }
        }
        Ok(all)
    }

    /// The other replicas of the same owners that crash-loop.
    pub(crate) fn others_in_a_loop(&self, subjects: &[Subject<'_>]) -> Vec<Subject<'_>> {
        let beside = |subject: &Subject<'_>, other: &Subject<'_>| {
            let pod = subject.history.map(InstanceHistory::latest);
            pod.is_some_and(|pod| self.scene.replicas_beside(pod).any(|sibling| *sibling.instance() == other.instance))
        };
        let is_other = |other: &Subject<'_>| {
            subjects.iter().all(|subject| subject.instance != other.instance)
                && subjects.iter().any(|subject| beside(subject, other))
                && matches!(other.crash_loop(), CrashLoopReading::Looping(_))
        };
        self.everybody().into_iter().filter(is_other).collect()
    }

    /// A file's name within the bundle.
    pub(crate) fn label(&self, path: &Path) -> String {
        clean(&path.strip_prefix(&self.path).unwrap_or(path).to_string_lossy())
    }

    fn pick<'b>(&self, all: Vec<Subject<'b>>, wanted: &str) -> Result<Vec<Subject<'b>>, BundleError> {
        let names = |subjects: &[Subject<'_>]| subjects.iter().map(|subject| subject.instance.to_string()).collect();
        let (path, wanted) = (self.path.clone(), wanted.to_owned());
        let everybody = names(&all);
        let picked: Vec<Subject<'b>> = all.into_iter().filter(|subject| subject.is_called(&wanted)).collect();
        match picked.len() {
            0 => Err(BundleError::NoSuchSubject { path, wanted, names: everybody }),
            1 => Ok(picked),
            _ => Err(BundleError::AmbiguousSubject { path, wanted, names: names(&picked) }),
        }
    }

    /// Every replica that has an object, a log or data.
    fn everybody(&self) -> Vec<Subject<'_>> {
        let mut names: Vec<InstanceName> =
            self.scene.instances.iter().map(|history| history.instance().clone()).collect();
        let pods = self.logs.iter().map(|log| &log.pod).chain(self.data.iter().map(|data| &data.pod));
        for pod in pods {
            if !names.iter().any(|instance| instance.name == *pod) {
                names.push(InstanceName { namespace: String::new(), name: pod.clone() });
            }
        }
        names
            .into_iter()
            .map(|instance| Subject {
                bundle: self,
                history: self.scene.history(&instance),
                logs: self.logs.iter().filter(|log| log.pod == instance.name).collect(),
                data: self.data.iter().find(|data| data.pod == instance.name).map(|data| data.path.as_path()),
                instance,
            })
            .collect()
    }
}

impl Subject<'_> {
    fn is_called(&self, name: &str) -> bool {
        self.instance.name == name || self.instance.to_string() == name
    }

    /// Whether it crash-loops.
    pub(crate) fn crash_loop(&self) -> CrashLoopReading {
        self.history.map_or(CrashLoopReading::NotRead, detect)
    }

    /// What the objects say about everything around it, and the logs about who fails the same way: with what this replica's
    /// log and those of its siblings name as the cause, two that end alike for different reasons are not one failure.
    pub(crate) fn circumstances(&self, logs: &LogCauses) -> Circumstances {
        self.history.map_or_else(Circumstances::default, |history| self.bundle.scene.circumstances(history, logs))
    }

    /// What the other replicas do.
    pub(crate) fn siblings(&self) -> Siblings {
        self.bundle.scene.siblings(&self.instance)
    }

    /// The height that the owner noted for a replica: the block it was to make next, when that was last looked at.
    pub(crate) fn owner_height(&self, pod: &str) -> Option<Height> {
        self.bundle.scene.owner_height(self.latest()?, pod)
    }

    /// The chain's id, by the owner.
    pub(crate) fn chain_id(&self) -> Option<&str> {
        self.bundle.scene.chain_id(self.latest()?)
    }

    fn latest(&self) -> Option<&Observation> {
        self.history.map(InstanceHistory::latest)
    }
}
