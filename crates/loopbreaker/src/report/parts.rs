//! The parts of the JSON report. *No client.* Their meaning is told in [`super::json`].

use crashlog::{
    explain::{DecisiveLine, Reason, Reasons, decisive_lines, reasons},
    features::FeatureName,
    model::Model,
    nearest::nearest,
};
use diagnosis::{
    AppHashQuestion, Cause, InstanceName, LogOpinion, LogReading, Observation, Probability, Row, Siblings, Symptom,
    Testimony, Veto, Witness,
};
use serde::Serialize;

use crate::{
    incident::{Incident, damage_score},
    log_part::{Chosen, FileOpinion, read},
    words::clean,
};

#[derive(Serialize)]
pub(super) struct SubjectJson {
    namespace: Option<String>,
    name: Option<String>,
    pod_uid: Option<String>,
    container: Option<String>,
    owner: Option<OwnerJson>,
    claim: Option<String>,
    node: Option<String>,
    chain_id: Option<String>,
    image: Option<String>,
    image_id: Option<String>,
}

#[derive(Serialize)]
struct OwnerJson {
    kind: String,
    name: String,
    uid: String,
}

impl SubjectJson {
    pub(super) fn of(incident: &Incident) -> Self {
        let pod = incident.pod.as_ref();
        let node = pod.and_then(Observation::node_container);
        let part = |part: fn(&InstanceName) -> &str| {
            incident.instance.as_ref().map(part).filter(|name| !name.is_empty()).map(clean)
        };
        Self {
            namespace: part(|instance| &instance.namespace),
            name: part(|instance| &instance.name),
            pod_uid: pod.and_then(|pod| pod.uid.as_ref()).map(|uid| clean(uid.as_str())),
            container: node.map(|node| clean(node.name.as_str())),
            owner: pod.and_then(|pod| pod.owner.as_ref()).map(|owner| OwnerJson {
                kind: clean(&owner.kind),
                name: clean(&owner.name),
                uid: clean(owner.uid.as_str()),
            }),
            claim: pod.and_then(|pod| pod.data_claim.as_ref()).map(|claim| clean(claim.as_str())),
            node: pod.and_then(|pod| pod.node.as_ref()).map(|node| clean(node.as_str())),
            chain_id: incident.chain_id.clone(),
            image: node.map(|node| clean(&node.image)),
            image_id: node.and_then(|node| node.image_id.as_deref()).map(clean),
        }
    }
}

#[derive(Serialize)]
pub(super) struct VerdictJson<'a> {
    cause: Cause,
    probability: f64,
    decision: &'static str,
    /// The row of the judge's table that gave the decision, before vetoes.
    row: &'static str,
    reason: &'static str,
    other_cause: Option<Cause>,
    witnesses: Vec<&'static str>,
    vetoes: Vec<String>,
    /// Circumstances nobody looked at.
    unseen: &'a [&'static str],
    missing: Vec<MissingJson<'a>>,
}

#[derive(Serialize)]
struct MissingJson<'a> {
    question: &'a str,
    place: Option<&'static str>,
    command: Option<&'a str>,
}

impl<'a> VerdictJson<'a> {
    pub(super) fn of(incident: &'a Incident) -> Self {
        let verdict = &incident.verdict;
        Self {
            cause: verdict.cause,
            probability: verdict.probability.as_f64(),
            decision: verdict.decision.as_str(),
            row: row(verdict.row),
            reason: verdict.row.reason(),
            other_cause: verdict.other_cause,
            witnesses: verdict.witnesses.iter().copied().map(Witness::as_str).collect(),
            vetoes: verdict.vetoes.iter().map(|veto| format!("{}: {}", word(veto), clean(&veto.to_string()))).collect(),
            unseen: &verdict.unseen,
            missing: incident
                .missing
                .iter()
                .map(|step| MissingJson { question: &step.text, place: step.place, command: step.command.as_deref() })
                .collect(),
        }
    }
}

fn row(row: Row) -> &'static str {
    match row {
        Row::LogAndDisk => "log_and_disk",
        Row::DiskAlone => "disk_alone",
        Row::SiblingsUnknown => "siblings_unknown",
        Row::DiskCouldNotTell => "disk_could_not_tell",
        Row::LogPointsElsewhere => "log_points_elsewhere",
        Row::DiskIntact => "disk_intact",
        Row::OnlyRebuildable => "only_rebuildable",
        Row::AppHashSameImagePasses => "app_hash_same_image_passes",
        Row::AppHash => "app_hash",
        Row::AnythingElse => "anything_else",
    }
}

/// The stable word before a veto's sentence.
fn word(veto: &Veto) -> &'static str {
    match veto {
        Veto::NobodyAdvancing => "nobody_advancing",
        Veto::UpgradeDue(_) => "upgrade_due",
        Veto::ImageChanged(_) => "image_changed",
        Veto::RollOutInProgress(_) => "rollout_in_progress",
        Veto::OtherVictims(_) => "other_victims",
        Veto::DiskFull(_) => "disk_full",
        Veto::Oom => "oom",
        Veto::LockHeld(_) => "lock_held",
        Veto::NodeSick(_) => "node_sick",
        Veto::ReadsDiffer => "reads_differ",
        Veto::MaySign(_) => "may_sign",
        Veto::CameBack => "came_back",
        Veto::Limit(_) => "limit",
        Veto::StaleEvidence => "stale_evidence",
    }
}

#[derive(Serialize)]
pub(super) struct LogJson<'a> {
    witness: bool,
    cause: Cause,
    probability: f64,
    decisive: Vec<LineJson<'a>>,
    abstained: Option<&'static str>,
    /// Why it is no witness although it reports damage.
    no_testimony: Option<String>,
    damage_score: f64,
    symptoms: Vec<&'static str>,
    databases: Vec<String>,
    reasons: ReasonsJson,
    nearest: Option<NearestJson>,
    files: Vec<FileJson<'a>>,
}

#[derive(Serialize)]
struct LineJson<'a> {
    line: u64,
    text: String,
    file: &'a str,
    /// Byte range of `text` that mattered; null where the whole line did.
    mark: Option<[usize; 2]>,
    phrase: Option<&'static str>,
    repeats: u32,
}

#[derive(Serialize, Default)]
struct ReasonsJson {
    r#for: Vec<ReasonJson>,
    against: Vec<ReasonJson>,
}

#[derive(Serialize)]
struct ReasonJson {
    kind: &'static str,
    name: String,
    share: f64,
}

#[derive(Serialize)]
struct NearestJson {
    id: &'static str,
    cause: Cause,
    about: &'static str,
    similarity: f64,
}

#[derive(Serialize)]
struct FileJson<'a> {
    file: &'a str,
    witness: bool,
    cause: Cause,
    probability: f64,
    abstained: Option<&'static str>,
    no_testimony: Option<&'a str>,
    incomplete: Option<&'a str>,
    bytes: u64,
    lines: u64,
}

/// Decisive lines printed for scripts.
const LINES_MAX: usize = 16;

impl<'a> LogJson<'a> {
    pub(super) fn of(incident: &'a Incident) -> Self {
        let log = &incident.log;
        let opinion = read(&log.reading);
        let chosen = log.chosen.as_ref();
        let explained = chosen.filter(|_| opinion.is_some());
        Self {
            witness: opinion.is_some_and(testifies),
            cause: opinion.map_or(Cause::Unknown, |opinion| opinion.cause),
            probability: opinion.map_or(Probability::ZERO, |opinion| opinion.probability).as_f64(),
            decisive: lines(chosen, &log.files),
            abstained: log.abstained(),
            no_testimony: log.no_testimony(),
            damage_score: rounded(damage_score(incident)),
            symptoms: opinion.iter().flat_map(|opinion| &opinion.symptoms).copied().map(symptom).collect(),
            databases: opinion
                .iter()
                .flat_map(|opinion| &opinion.databases)
                .map(|database| clean(database.as_str()))
                .collect(),
            reasons: explained.zip(opinion).map(|(chosen, opinion)| why(chosen, opinion.cause)).unwrap_or_default(),
            nearest: explained.and_then(|chosen| nearest(&chosen.finding.digest)).map(|nearest| NearestJson {
                id: &nearest.case.id,
                cause: nearest.case.cause,
                about: &nearest.case.about,
                similarity: f64::from(nearest.similarity_thousandths) / 1000.0,
            }),
            files: log.files.iter().map(file).collect(),
        }
    }
}

fn testifies(opinion: &LogOpinion) -> bool {
    opinion.testimony == Testimony::Witness && opinion.cause.is_local_damage()
}

/// The chosen log's lines, then the decisive line of each other log.
fn lines<'a>(chosen: Option<&'a Chosen>, files: &'a [FileOpinion]) -> Vec<LineJson<'a>> {
    let Some(chosen) = chosen else { return Vec::new() };
    let own = decisive_lines(&chosen.finding, LINES_MAX).into_iter().map(|line| line_json(line, &chosen.label));
    let others = files
        .iter()
        .filter(|file| file.label != chosen.label)
        .filter_map(|file| Some(line_json(file.decisive.clone()?, &file.label)));
    own.chain(others).collect()
}

fn line_json(line: DecisiveLine, file: &str) -> LineJson<'_> {
    let mark = (!line.mark.is_empty()).then_some([line.mark.start, line.mark.end]);
    LineJson {
        line: line.line,
        mark,
        phrase: line.phrase.map(|phrase| phrase.id),
        repeats: line.repeats,
        text: line.text,
        file,
    }
}

fn why(chosen: &Chosen, cause: Cause) -> ReasonsJson {
    let Reasons { for_it, against_it } = reasons(&chosen.finding, Model::built_in(), cause);
    ReasonsJson { r#for: for_it.iter().map(reason).collect(), against: against_it.iter().map(reason).collect() }
}

fn reason(reason: &Reason) -> ReasonJson {
    let (kind, name) = match &reason.name {
        FeatureName::Phrase(id) => ("phrase", (*id).to_owned()),
        FeatureName::PhraseKind(kind) => ("phrase_kind", kind.clone()),
        FeatureName::Words(words) => ("words", clean(words)),
        FeatureName::Frame(frame) => ("frame", clean(frame)),
        FeatureName::Shape(shape) => ("shape", (*shape).to_owned()),
    };
    ReasonJson { kind, name, share: rounded(reason.share) }
}

/// To thousandths: the sums behind are integers of far finer grain, but nobody reads more.
fn rounded(value: f64) -> f64 {
    (value * 1000.0).round() / 1000.0
}

fn file(file: &FileOpinion) -> FileJson<'_> {
    let opinion = read(&file.reading);
    FileJson {
        file: &file.label,
        witness: opinion.is_some_and(testifies),
        cause: opinion.map_or(Cause::Unknown, |opinion| opinion.cause),
        probability: opinion.map_or(Probability::ZERO, |opinion| opinion.probability).as_f64(),
        abstained: match &file.reading {
            LogReading::Abstained(reason) => Some(reason.in_words()),
            LogReading::NotRead | LogReading::Read(_) => None,
        },
        no_testimony: file.no_testimony.as_deref(),
        incomplete: file.gap.as_deref(),
        bytes: file.bytes,
        lines: file.lines,
    }
}

fn symptom(symptom: Symptom) -> &'static str {
    match symptom {
        Symptom::AppHashMismatch => "app_hash_mismatch",
        Symptom::StoreVersionGotZero => "store_version_got_zero",
        Symptom::StoreVersionClose => "store_version_close",
        Symptom::IavlMissing => "iavl_missing",
        Symptom::ValidatorsMissing => "validators_missing",
        Symptom::ChecksumMismatch => "checksum_mismatch",
        Symptom::ConsensusWal => "consensus_wal",
        Symptom::WasmFile => "wasm_file",
        Symptom::DatabaseFileGone => "database_file_gone",
        Symptom::NilPointerOrEof => "nil_pointer_or_eof",
        Symptom::NoSpace => "no_space",
        Symptom::HeightsDisagree => "heights_disagree",
        Symptom::AfterRestore => "after_restore",
    }
}

#[derive(Serialize)]
pub(super) struct PeersJson {
    state: &'static str,
    count: Option<u32>,
    height: u64,
    same_image: Option<&'static str>,
}

impl PeersJson {
    pub(super) fn of(siblings: &Siblings) -> Option<Self> {
        match siblings {
            Siblings::Unknown => None,
            Siblings::Advancing { count, height, app_hash } => Some(Self {
                state: "advancing",
                count: Some(*count),
                height: height.0,
                same_image: Some(match app_hash {
                    AppHashQuestion::SameImagePasses => "passes",
                    AppHashQuestion::SameImageDoesNot => "does_not_pass",
                    AppHashQuestion::Unknown => "unknown",
                }),
            }),
            Siblings::Halted { height } => {
                Some(Self { state: "halted", count: None, height: height.0, same_image: None })
            }
        }
    }
}

#[derive(Serialize)]
pub(super) struct BundleJson<'a> {
    absent: Vec<&'static str>,
    notes: &'a [String],
    /// A data directory that was not read.
    data_not_read: Option<&'a str>,
}

impl<'a> BundleJson<'a> {
    pub(super) fn of(incident: &'a Incident) -> Self {
        let origin = &incident.origin;
        Self {
            absent: origin.absent.iter().map(|part| part.as_str()).collect(),
            notes: &origin.notes,
            data_not_read: origin.data.as_deref(),
        }
    }
}
