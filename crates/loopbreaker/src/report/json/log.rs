//! What the log says, for scripts. *No client.* The fields are told in [`super`].

use crashlog::{
    explain::{DecisiveLine, Reason, Reasons, reasons},
    features::FeatureName,
    model::Model,
    nearest::nearest,
};
use diagnosis::{Cause, LogOpinion, Probability, Symptom, Testimony};
use serde::Serialize;

use crate::{
    incident::{Incident, damage_score},
    words::clean,
};
use crashlog::{Chosen, FileOpinion, lines, read};

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
            decisive: all_lines(chosen, &log.files),
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
fn all_lines<'a>(chosen: Option<&'a Chosen>, files: &'a [FileOpinion]) -> Vec<LineJson<'a>> {
    let Some(chosen) = chosen else { return Vec::new() };
    let own = lines(&chosen.finding, LINES_MAX).into_iter().map(|line| line_json(line, &chosen.label));
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
        abstained: file.abstained(),
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
