//! One incident, from what was read to the verdict and what to do next. *No client.* Reports only print what is here.

use std::path::Path;

use crashlog::model::Model;
use diagnosis::{
    Advice, Circumstances, ContainerFacts, Evidence, InstanceHistory, InstanceName, MissingFact, Observation, Policy,
    Verdict, advise, judge,
};

use crashlog::{LogPart, read};
use scene::KnownNames;

use crate::{
    bundle::{Bundle, BundleError, BundlePart, Subject},
    disk_part::{DiskPart, DiskReader},
    examine::{LogSource, examine},
    progress::Progress,
    replica_logs::{ReadLogs, ReplicaLogs},
    standing::KubernetesWord,
    unread::unread,
    words::clean,
};

/// Everything a report says.
#[derive(Debug)]
pub(crate) struct Incident {
    /// The replica; none where only a log was given.
    pub(crate) instance: Option<InstanceName>,
    /// The newest pod object of it.
    pub(crate) pod: Option<Observation>,
    /// The chain's id, by the owner.
    pub(crate) chain_id: Option<String>,
    /// The logs.
    pub(crate) log: LogPart,
    /// The data directory, where one was given.
    pub(crate) disk: Option<DiskPart>,
    /// Kubernetes' own word, where the cause comes from it.
    pub(crate) word: Option<KubernetesWord>,
    /// Whether the replica's own height is known, so that others can be ahead of it.
    pub(crate) height_known: bool,
    /// What the judge got.
    pub(crate) evidence: Evidence,
    /// What it said.
    pub(crate) verdict: Verdict,
    /// Facts to fetch, with names put in.
    pub(crate) missing: Vec<Step>,
    /// What to do next, with names put in.
    pub(crate) advice: Vec<Step>,
    /// Where everything was read, if not from single logs.
    pub(crate) origin: Origin,
}

/// One thing to do or to find out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Step {
    /// What, in words.
    pub(crate) text: String,
    /// Where the answer is, for a fact.
    pub(crate) place: Option<&'static str>,
    /// The command, where one does it.
    pub(crate) command: Option<String>,
}

/// Where an incident was read.
#[derive(Debug, Clone, Default)]
pub(crate) struct Origin {
    /// Parts that the bundle does not have.
    pub(crate) absent: Vec<BundlePart>,
    /// What was passed over, in words.
    pub(crate) notes: Vec<String>,
    /// Logs that lie in the bundle and were not read, in words.
    pub(crate) unread: Vec<String>,
}

/// Logs and a data directory that were named by hand, alone or beside a bundle.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct ByHand<'a> {
    /// The logs.
    pub(crate) logs: &'a [LogSource],
    /// The node's home or data directory.
    pub(crate) data: Option<&'a Path>,
}

impl ByHand<'_> {
    fn disk(&self, log: &LogPart, reader: &DiskReader, pod_uid: Option<&str>) -> Option<DiskPart> {
        self.data.map(|dir| DiskPart::inspect(dir, clean(&dir.to_string_lossy()), log, reader, pod_uid))
    }
}

/// Judges replicas of a bundle: first the logs of all of them are read, then the data of each.
pub(crate) fn of_subjects(
    bundle: &Bundle,
    subjects: &[Subject<'_>],
    by_hand: ByHand<'_>,
    progress: &Progress,
    reader: &DiskReader,
    tap: &mut dyn FnMut(&[u8]),
) -> Result<Vec<Incident>, BundleError> {
    let mut logs = ReplicaLogs::read(bundle, subjects, by_hand.logs, progress, tap)?;
    let of_each = subjects.iter().map(|subject| {
        let own = logs.take(&subject.instance);
        let circumstances = subject.circumstances(logs.causes());
        of_subject(bundle, subject, own, circumstances, by_hand, reader)
    });
    Ok(of_each.collect())
}

fn of_subject(
    bundle: &Bundle,
    subject: &Subject<'_>,
    logs: ReadLogs,
    mut circumstances: Circumstances,
    by_hand: ByHand<'_>,
    reader: &DiskReader,
) -> Incident {
    let mut origin = Origin {
        absent: bundle.absent.clone(),
        notes: bundle.notes.iter().map(|note| clean(&note.to_string())).collect(),
        unread: unread(bundle, subject),
    };
    origin.notes.extend(origin.unread.iter().cloned());
    origin.notes.extend(logs.notes);
    let log = logs.part;
    let pod_uid = subject.history.and_then(|history| history.latest().uid.as_ref()).map(diagnosis::Uid::as_str);
    let of_bundle = || subject.data.map(|path| DiskPart::inspect(path, bundle.label(path), &log, reader, pod_uid));
    let disk = by_hand.disk(&log, reader, pod_uid).or_else(of_bundle);
    if let Some(disk) = &disk {
        disk.complete(&mut circumstances);
        origin.notes.extend(disk.looked.as_ref().err().cloned());
        origin.absent.retain(|part| *part != BundlePart::Data);
    }
    let evidence = Evidence {
        crash_loop: subject.crash_loop(),
        log: log.reading.clone(),
        disk: disk.as_ref().map(|disk| disk.reading.clone()).unwrap_or_default(),
        siblings: subject.siblings(),
        circumstances,
    };
    let pod = subject.history.map(InstanceHistory::latest).cloned();
    let names = KnownNames::of(&bundle.scene, &subject.instance, subject.history);
    let chain_id = subject.chain_id().map(clean);
    let chain_id = chain_id.or_else(|| disk.as_ref().and_then(DiskPart::chain_id));
    let mut incident =
        judged(Read { instance: Some(subject.instance.clone()), pod, chain_id, log, disk, origin }, evidence, &names);
    incident.height_known = subject.owner_height(&subject.instance.name).is_some()
        || bundle.scene.peers.iter().any(|sample| {
            sample.height.is_some()
                && (sample.pod == subject.instance.name || sample.pod == subject.instance.to_string())
        });
    incident
}

/// Judges logs and data without any object.
pub(crate) fn without_objects(
    by_hand: ByHand<'_>,
    progress: &Progress,
    reader: &DiskReader,
) -> Result<Incident, BundleError> {
    let mut log = LogPart::default();
    for source in by_hand.logs {
        log.add(examine(source, progress, &mut |_| {})?);
    }
    let disk = by_hand.disk(&log, reader, None);
    let mut evidence = Evidence { log: log.reading.clone(), ..Evidence::default() };
    if let Some(disk) = &disk {
        evidence.disk = disk.reading.clone();
        disk.complete(&mut evidence.circumstances);
    }
    let chain_id = disk.as_ref().and_then(DiskPart::chain_id);
    let seen = Read { instance: None, pod: None, chain_id, log, disk, origin: Origin::default() };
    Ok(judged(seen, evidence, &KnownNames::default()))
}

/// What was read and is only shown.
struct Read {
    instance: Option<InstanceName>,
    pod: Option<Observation>,
    chain_id: Option<String>,
    log: LogPart,
    disk: Option<DiskPart>,
    origin: Origin,
}

fn judged(seen: Read, evidence: Evidence, names: &KnownNames) -> Incident {
    let Read { instance, pod, chain_id, log, disk, origin } = seen;
    let mut verdict = judge(&evidence, &Policy::default());
    // The log itself names the one database; nobody needs to look for its name.
    if read(&evidence.log).is_some_and(|opinion| opinion.databases.len() == 1) {
        verdict.missing.retain(|fact| !fact.question.starts_with(WHICH_DATABASE));
    }
    let advice = advise(&evidence, &verdict).iter().map(|advice| to_do(advice, names)).collect();
    let missing = verdict.missing.iter().map(|fact| to_find_out(fact, names)).collect();
    let word = KubernetesWord::of(&evidence, &verdict, pod.as_ref());
    let height_known = false;
    let mut incident =
        Incident { instance, pod, chain_id, log, disk, word, height_known, evidence, verdict, missing, advice, origin };
    if incident.is_well() {
        incident.advice = incident.sick_side_cars().into_iter().map(|side_car| side_car_log(side_car, names)).collect();
    }
    incident
}

/// How the question begins that a database named in the log answers.
const WHICH_DATABASE: &str = "which database is the damaged file in?";

fn side_car_log(side_car: &ContainerFacts, names: &KnownNames) -> Step {
    let name = clean(side_car.name.as_str());
    let command =
        scene::is_plain(&name).then(|| names.fill(&format!("kubectl logs POD -n NAMESPACE -c {name} --previous")));
    Step { text: format!("Look at what the side-car {name} printed; the node runs without it."), place: None, command }
}

fn to_do(advice: &Advice, names: &KnownNames) -> Step {
    let command = advice.command.as_deref().and_then(|command| ready_to_type(command, names));
    let mut text = clean(&advice.text);
    if command.is_none()
        && let Some(verb) = advice.command.as_deref().and_then(own_verb)
    {
        text = format!("{text} (This version has no `loopbreaker {verb}` yet, which does that.)");
    }
    Step { text, place: None, command }
}

fn to_find_out(fact: &MissingFact, names: &KnownNames) -> Step {
    Step { text: fact.question.to_owned(), place: Some(fact.place), command: ready_to_type(fact.command, names) }
}

/// The command with names put in; none where it is one of our own that this version does not have yet.
fn ready_to_type(command: &str, names: &KnownNames) -> Option<String> {
    let is_there = own_verb(command).is_none_or(crate::command_line::has);
    is_there.then(|| names.fill(command))
}

/// Which of our own commands a command line calls.
fn own_verb(command: &str) -> Option<&str> {
    command.strip_prefix("loopbreaker ")?.split(' ').next()
}

/// The damage score of a log in nats; that of an empty log where there is none.
pub(crate) fn damage_score(incident: &Incident) -> f64 {
    incident.log.chosen.as_ref().map_or_else(
        || crashlog::Examiner::new().finish(Model::built_in()).damage_score,
        |chosen| chosen.finding.damage_score,
    )
}
