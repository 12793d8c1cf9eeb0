//! What ails the containers of a bundle: they go on to end as they last did. *Files.*

use std::{collections::BTreeMap, io::Read, path::Path};

use diagnosis::{ContainerFacts, ContainerRole, ContainerState, LastRun, Observation};
use jiff::SignedDuration;
use simcluster::Ailment;

use crate::{
    bundle::{Bundle, BundleError, LogFile, LogRun, open_log},
    progress::Progress,
};

/// What ails one container.
#[derive(Debug)]
pub(super) struct Ails {
    /// Which one.
    pub(super) container: String,
    /// What happens at its next starts, each so many times.
    pub(super) what: Vec<(Ailment, u32)>,
}

/// Of a log the end is what is printed again: the kubelet keeps no more in a world in memory either.
const LOG_MAX: usize = 1024 * 1024;
/// A crash after less is not told from one at once.
const SHORTEST: SignedDuration = SignedDuration::from_secs(1);
/// As long as anybody rehearses.
const FOR_EVER: u32 = 1_000_000;

/// What ails a pod's containers.
pub(super) fn of(bundle: &Bundle, pod: &Observation) -> Result<Vec<Ails>, BundleError> {
    let mut all = Vec::new();
    for container in pod.containers.iter().filter(|container| dies(pod, container)) {
        let Some(run) = &container.last_run else { continue };
        let mut what = Vec::new();
        for log in logs_of(bundle, pod, container).filter(|log| log.run != LogRun::Current) {
            what.push((crash(run, &text(&log.path)?), 1));
        }
        match what.last_mut() {
            Some((_, times)) => *times = FOR_EVER,
            None => what.push((crash(run, ""), FOR_EVER)),
        }
        all.push(Ails { container: container.name.to_string(), what });
    }
    Ok(all)
}

/// A container that the node cannot run without and that has ended badly, and is not well again.
fn dies(pod: &Observation, container: &ContainerFacts) -> bool {
    let ended =
        container.last_run.as_ref().is_some_and(|run| run.exit.code != 0 || container.role == ContainerRole::Node);
    let well = container.ready && matches!(container.state, ContainerState::Running { .. });
    let done = container.role != ContainerRole::Node
        && container.state == ContainerState::Terminated
        && container.last_run.as_ref().is_some_and(|run| run.exit.code == 0);
    container.role != ContainerRole::SideCar && ended && !well && !done && pod.deletion_asked.is_none()
}

fn crash(run: &LastRun, log: &str) -> Ailment {
    let seconds = run.seconds().and_then(|seconds| i64::try_from(seconds).ok()).unwrap_or_default();
    Ailment::Crash {
        after: SignedDuration::from_secs(seconds).max(SHORTEST),
        log: log.lines().map(str::to_owned).collect(),
        code: run.exit.code,
        reason: run.reason.clone(),
    }
}

/// The kept logs of a pod's containers: of the run before, and of the present one.
pub(super) fn logs(bundle: &Bundle, pod: &Observation) -> Result<BTreeMap<String, [Option<String>; 2]>, BundleError> {
    let mut kept: BTreeMap<String, [Option<String>; 2]> = BTreeMap::new();
    for container in &pod.containers {
        for log in logs_of(bundle, pod, container) {
            let [previous, current] = kept.entry(container.name.to_string()).or_default();
            let slot = if log.run == LogRun::Current { current } else { previous };
            // The newest of several crashes is the one that a kubelet still has.
            *slot = Some(text(&log.path)?);
        }
    }
    Ok(kept)
}

/// Oldest run first.
fn logs_of<'b>(
    bundle: &'b Bundle,
    pod: &Observation,
    container: &ContainerFacts,
) -> impl Iterator<Item = &'b LogFile> + use<'b> {
    let mut logs: Vec<&LogFile> =
        bundle.logs.iter().filter(|log| log.pod == pod.instance.name && log.container == container.name).collect();
    logs.sort_by_key(|log| log.run);
    logs.into_iter()
}

fn text(path: &Path) -> Result<String, BundleError> {
    let mut stream = open_log(path, Progress::new(None).counter())?;
    let mut kept = Vec::new();
    let mut chunk = vec![0; 64 * 1024];
    loop {
        match stream.read(&mut chunk) {
            Ok(0) => break,
            Ok(bytes) => kept.extend_from_slice(chunk.get(..bytes).unwrap_or_default()),
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => continue,
            Err(source) => return Err(BundleError::Unreadable { path: path.to_owned(), source }),
        }
        if kept.len() > LOG_MAX.saturating_mul(2) {
            kept.drain(..kept.len().saturating_sub(LOG_MAX));
        }
    }
    kept.drain(..kept.len().saturating_sub(LOG_MAX));
    Ok(String::from_utf8_lossy(&kept).into_owned())
}
