//! One incident, from what was read to the verdict and what to do next. *No client.* Reports only print what is here.

use std::collections::BTreeSet;

use crashlog::model::Model;
use diagnosis::{
    Advice, ContainerFacts, CrashLoopReading, DiskReading, Evidence, InstanceHistory, InstanceName, LogReading,
    MissingFact, Observation, Policy, Row, Verdict, advise, judge,
};

use crate::{
    bundle::{Bundle, BundleError, BundlePart, LogFile, LogRun, Subject},
    examine::{LogSource, examine},
    log_part::{LogPart, read},
    names_known::KnownNames,
    progress::Progress,
    standing::KubernetesWord,
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
    /// A data directory that this version does not read.
    pub(crate) data: Option<String>,
}

/// Reads the logs of one replica of a bundle and judges it. `by_hand` are logs named beside the bundle.
pub(crate) fn of_subject(
    bundle: &Bundle,
    subject: &Subject<'_>,
    by_hand: &[LogSource],
    progress: &Progress,
    tap: &mut dyn FnMut(&[u8]),
) -> Result<Incident, BundleError> {
    let mut origin = Origin {
        absent: bundle.absent.clone(),
        notes: bundle.notes.iter().map(|note| clean(&note.to_string())).collect(),
        unread: unread(bundle, subject),
        data: subject.data.map(|path| label(bundle, path)),
    };
    origin.notes.extend(origin.unread.iter().cloned());
    let mut log = LogPart::default();
    for source in by_hand {
        log.add(examine(source, progress, tap)?);
    }
    for source in logs_of(bundle, subject) {
        if source.is_spare && read_something(&log) {
            continue;
        }
        match examine(&source.log, progress, tap) {
            Ok(examined) => log.add(examined),
            // One unreadable log costs only itself.
            Err(error) => origin.notes.push(clean(&error.to_string())),
        }
    }
    let evidence = Evidence {
        crash_loop: subject.crash_loop(),
        log: log.reading.clone(),
        siblings: subject.siblings(),
        circumstances: subject.circumstances(),
        ..Evidence::default()
    };
    let pod = subject.history.map(InstanceHistory::latest).cloned();
    let names = KnownNames::of(subject);
    let chain_id = subject.chain_id().map(clean);
    let mut incident = judged(Some(subject.instance.clone()), pod, log, evidence, &names, origin);
    incident.chain_id = chain_id;
    incident.height_known = subject.owner_height(&subject.instance.name).is_some()
        || bundle.peers.iter().any(|sample| {
            sample.height.is_some()
                && (sample.pod == subject.instance.name || sample.pod == subject.instance.to_string())
        });
    Ok(incident)
}

/// Judges logs without any object.
pub(crate) fn of_logs(
    sources: &[LogSource],
    progress: &Progress,
    tap: &mut dyn FnMut(&[u8]),
) -> Result<Incident, BundleError> {
    let mut log = LogPart::default();
    for source in sources {
        log.add(examine(source, progress, tap)?);
    }
    Ok(of_log_part(log))
}

/// Judges what was read of logs alone.
pub(crate) fn of_log_part(log: LogPart) -> Incident {
    let evidence = Evidence { log: log.reading.clone(), ..Evidence::default() };
    judged(None, None, log, evidence, &KnownNames::default(), Origin::default())
}

fn judged(
    instance: Option<InstanceName>,
    pod: Option<Observation>,
    log: LogPart,
    evidence: Evidence,
    names: &KnownNames,
    origin: Origin,
) -> Incident {
    let mut verdict = judge(&evidence, &Policy::default());
    // The log itself names the one database; nobody needs to look for its name.
    if read(&evidence.log).is_some_and(|opinion| opinion.databases.len() == 1) {
        verdict.missing.retain(|fact| !fact.question.starts_with(WHICH_DATABASE));
    }
    let advice = advise(&evidence, &verdict).iter().map(|advice| to_do(advice, names)).collect();
    let missing = verdict.missing.iter().map(|fact| to_find_out(fact, names)).collect();
    let word = KubernetesWord::of(&evidence, &verdict, pod.as_ref());
    let (chain_id, height_known) = (None, false);
    let mut incident =
        Incident { instance, pod, chain_id, log, word, height_known, evidence, verdict, missing, advice, origin };
    if incident.is_well() {
        incident.advice = incident.sick_side_cars().into_iter().map(|side_car| side_car_log(side_car, names)).collect();
    }
    incident
}

/// How the question begins that a database named in the log answers.
const WHICH_DATABASE: &str = "which database is the damaged file in?";

fn side_car_log(side_car: &ContainerFacts, names: &KnownNames) -> Step {
    let name = clean(side_car.name.as_str());
    let command = crate::names_known::is_plain(&name)
        .then(|| names.fill(&format!("kubectl logs POD -n NAMESPACE -c {name} --previous")));
    Step { text: format!("Look at what the side-car {name} printed; the node runs without it."), place: None, command }
}

impl Incident {
    /// Why this is the decision, in one sentence.
    pub(crate) fn reason(&self) -> &'static str {
        let nobody_looked = matches!(self.evidence.disk, DiskReading::NotRead);
        match self.verdict.row {
            // Log and siblings may both have testified: what is missing is the disk.
            Row::AnythingElse if nobody_looked && self.verdict.witnesses.len() > 1 => {
                "the disk was not read, and without it nothing is restored"
            }
            row => row.reason(),
        }
    }
}

/// Logs that are in the bundle and say nothing here: of pods without an object, and of containers the pod does not have.
fn unread(bundle: &Bundle, subject: &Subject<'_>) -> Vec<String> {
    let of_other_pods: BTreeSet<&str> = bundle
        .logs
        .iter()
        .map(|log| log.pod.as_str())
        .filter(|pod| *pod != subject.instance.name)
        .filter(|pod| bundle.instances.iter().all(|history| history.instance().name != *pod))
        .collect();
    let pods = of_other_pods
        .into_iter()
        .filter(|_| subject.history.is_some())
        .map(|pod| clean(&format!("logs/{pod}: no object of this pod in the bundle; --subject {pod} reads it")));
    let latest = subject.history.map(InstanceHistory::latest);
    let has = |log: &LogFile| latest.is_none_or(|pod| pod.container(&log.container).is_some());
    let containers = subject.logs.iter().filter(|log| !has(log)).map(|log| {
        format!("{}: not read, pod {} has no container of this name", label(bundle, &log.path), subject.instance)
    });
    pods.chain(containers.map(|text| clean(&text))).collect()
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
        log: LogSource { path: log.path.clone(), label: label(bundle, &log.path), by_hand: false },
        is_spare,
    };
    let spare = |log: &&LogFile| ended.iter().any(|other| other.container == log.container);
    let ended_choices = ended.iter().map(|log| choice(log, false));
    let current_choices = current.iter().map(|log| choice(log, spare(log)));
    // What is surely of a crash comes first, so that the spare ones can still be left out.
    ended_choices.chain(current_choices).collect()
}

/// Bytes of all logs that will be read, where they are known.
pub(crate) fn log_bytes(subjects: &[Subject<'_>], by_hand: &[LogSource]) -> Option<u64> {
    let in_bundle = subjects.iter().flat_map(|subject| &subject.logs).map(|log| Some(log.path.metadata().ok()?.len()));
    by_hand.iter().map(LogSource::bytes).chain(in_bundle).sum()
}

fn read_something(log: &LogPart) -> bool {
    matches!(log.reading, LogReading::Read(_))
}

/// A file's name within the bundle.
fn label(bundle: &Bundle, path: &std::path::Path) -> String {
    clean(&path.strip_prefix(&bundle.path).unwrap_or(path).to_string_lossy())
}

/// The damage score of a log in nats; that of an empty log where there is none.
pub(crate) fn damage_score(incident: &Incident) -> f64 {
    incident.log.chosen.as_ref().map_or_else(
        || crashlog::Examiner::new().finish(Model::built_in()).damage_score,
        |chosen| chosen.finding.damage_score,
    )
}
