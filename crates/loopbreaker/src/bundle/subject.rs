//! Who a report is about. *No client.* (design 7: one report for each sick replica)

use std::path::Path;

use diagnosis::{
    Circumstances, ContainerState, CrashLoopReading, Height, InstanceHistory, InstanceName, Siblings, detect,
};

use super::{
    Bundle, BundleError, LogFile,
    circumstances::{circumstances, full_node, siblings as siblings_of},
    peers::{Victim, siblings},
    victims::LogCauses,
};
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
        let picks: [fn(&Subject<'_>) -> bool; 2] =
            [|subject| subject.is_sick(), |subject| !subject.logs.is_empty() || subject.data.is_some()];
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
            pod.is_some_and(|pod| siblings_of(self, pod).any(|sibling| *sibling.instance() == other.instance))
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
        let mut names: Vec<InstanceName> = self.instances.iter().map(|history| history.instance().clone()).collect();
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
                history: self.instances.iter().find(|history| *history.instance() == instance),
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
        self.history.map_or_else(Circumstances::default, |history| circumstances(self.bundle, history, logs))
    }

    /// What the other replicas do.
    pub(crate) fn siblings(&self) -> Siblings {
        let latest = self.history.map(InstanceHistory::latest);
        let image_id = self.history.and_then(|history| {
            history.observations().rev().find_map(|seen| seen.node_container()?.image_id.as_deref())
        });
        // The owner notes the block that a pod is to make *next*.
        let height = self.owner_height(&self.instance.name).map(|next| next.0.saturating_sub(1));
        let victim = Victim { instance: &self.instance, image_id, height };
        let image_of = |pod: &str| {
            let of_pod = |history: &&InstanceHistory| {
                let same_place = latest.is_none_or(|latest| latest.instance.namespace == history.instance().namespace);
                (history.instance().name == pod && same_place) || history.instance().to_string() == pod
            };
            self.bundle.instances.iter().find(of_pod)?.latest().node_container()?.image_id.clone()
        };
        siblings(&self.bundle.peers, &victim, image_of)
    }

    /// The height that the owner noted for a replica: the block it was to make next, when that was last looked at. One
    /// number cannot show that anybody advances.
    pub(crate) fn owner_height(&self, pod: &str) -> Option<Height> {
        let owner = full_node(self.bundle, self.history?.latest())?;
        owner.status.height.get(pod).copied().map(Height)
    }

    /// The chain's id, by the owner.
    pub(crate) fn chain_id(&self) -> Option<&str> {
        full_node(self.bundle, self.history?.latest())?.spec.chain.chain_id.as_deref()
    }

    /// Another replica of the same owner, a ready one, to compare with.
    pub(crate) fn healthy_sibling(&self) -> Option<&InstanceName> {
        let mut others = siblings_of(self.bundle, self.history?.latest());
        others
            .find(|other| other.latest().node_container().is_some_and(|node| node.ready))
            .map(InstanceHistory::instance)
    }

    /// Crash-looping, or a container of its own that cannot start or has just failed, or a failed pod.
    fn is_sick(&self) -> bool {
        let Some(history) = self.history else { return false };
        let pod = history.latest();
        let failing =
            pod.containers.iter().filter(|container| container.role != diagnosis::ContainerRole::SideCar).any(
                |container| match &container.state {
                    ContainerState::Waiting { reason, .. } => {
                        !matches!(reason.as_str(), "" | "PodInitializing" | "ContainerCreating")
                    }
                    ContainerState::Terminated => {
                        pod.deletion_asked.is_none()
                            && container.last_run.as_ref().is_some_and(|run| {
                                run.exit.code != 0 || container.role == diagnosis::ContainerRole::Node
                            })
                    }
                    ContainerState::Running { .. } | ContainerState::Unknown => false,
                },
            );
        failing || pod.phase == "Failed" || matches!(detect(history), CrashLoopReading::Looping(_))
    }
}
