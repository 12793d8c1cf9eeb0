//! Logs that lie in a bundle and were not read, so that none is dropped in silence. *No client.*

use std::collections::BTreeSet;

use diagnosis::InstanceHistory;

use crate::{
    bundle::{Bundle, LogFile, Subject},
    words::clean,
};

/// Logs that are in the bundle and say nothing here: of pods without an object, and of containers the pod does not have.
pub(crate) fn unread(bundle: &Bundle, subject: &Subject<'_>) -> Vec<String> {
    let of_other_pods: BTreeSet<&str> = bundle
        .logs
        .iter()
        .map(|log| log.pod.as_str())
        .filter(|pod| *pod != subject.instance.name)
        .filter(|pod| bundle.scene.instances.iter().all(|history| history.instance().name != *pod))
        .collect();
    let pods = of_other_pods
        .into_iter()
        .filter(|_| subject.history.is_some())
        .map(|pod| clean(&format!("logs/{pod}: no object of this pod in the bundle; --subject {pod} reads it")));
    let latest = subject.history.map(InstanceHistory::latest);
    let has = |log: &LogFile| latest.is_none_or(|pod| pod.container(&log.container).is_some());
    let containers = subject.logs.iter().filter(|log| !has(log)).map(|log| {
        format!("{}: not read, pod {} has no container of this name", bundle.label(&log.path), subject.instance)
    });
    pods.chain(containers.map(|text| clean(&text))).collect()
}
