//! What a data directory says, as the judge takes it. *No client.* (design 4; P2, P13)
//!
//! An inspection is read into one [`DiskReading`]: reads that differ outweigh damage (a sick host vetoes whatever it
//! seems to show), damage outweighs disagreement, and whatever is not proven is "could not tell".

use std::{
    num::NonZeroU64,
    path::{Path, PathBuf},
    sync::Arc,
};

use chainstore::{Depth, Finding, Inspection, Options, Outcome, Severity, SigningState};
use crashlog::explain::decisive_lines;
use diagnosis::{
    Circumstances, DatabaseName, DiskReading, InspectionScope, LogReading, SigningRisk, StartRole, Symptom, UpgradePlan,
};

use crate::{
    inspect::CannotLook,
    progress::{Inspecting, Stop},
    ring_part,
    words::clean,
};
use crashlog::{LogPart, read};

/// Lines of a log in which a file's name is looked for.
const LINES: usize = 5;

/// How data directories are read.
#[derive(Debug, Default)]
pub(crate) struct DiskReader {
    /// The most that is looked at; none leaves it to what the log says.
    pub(crate) depth: Option<Depth>,
    /// Bytes a second at most.
    pub(crate) max_read_rate: Option<NonZeroU64>,
    /// Who may end it.
    pub(crate) stop: Stop,
}

/// A data directory and what it says.
#[derive(Debug)]
pub(crate) struct DiskPart {
    /// What it is called.
    pub(crate) label: String,
    /// What was found; or why nobody could look.
    pub(crate) looked: Result<Inspection, String>,
    /// The most that was looked at.
    pub(crate) depth: Depth,
    /// What the judge gets.
    pub(crate) reading: DiskReading,
}

impl DiskPart {
    /// Inspects a directory, beginning with the file that the log names. An app-hash mismatch asks for the hashes of the
    /// application's trees, everything else for every checksum, unless the user wants it otherwise. Of what the guard kept,
    /// the starts of the pod count, if its UID is known.
    pub(crate) fn inspect(
        dir: &Path,
        label: String,
        log: &LogPart,
        reader: &DiskReader,
        pod_uid: Option<&str>,
    ) -> Self {
        let app_hash = read(&log.reading).is_some_and(|it| it.symptoms.contains(&Symptom::AppHashMismatch));
        let depth = reader.depth.unwrap_or(if app_hash { Depth::Deep } else { Depth::Default });
        // Where nobody can listen, a signal ends the process as it always does.
        let _ = reader.stop.listen();
        let watch = Arc::new(Inspecting::new(reader.stop.clone()));
        let progress = Arc::clone(&watch) as Arc<dyn chainstore::Progress>;
        let max_read_rate = reader.max_read_rate;
        let options = Options { depth, first: named_file(log), max_read_rate, progress, ..Options::default() };
        let mut looked = chainstore::inspect(dir, &options).map_err(|error| clean(&CannotLook(error).in_words()));
        watch.clear();
        if let Ok(inspection) = &mut looked {
            // A ring that cannot be read changes nothing; `inspect` says why.
            ring_part::add(inspection, dir, depth, None, &ring_part::of_pod(dir, pod_uid));
        }
        let reading = match &looked {
            Ok(inspection) => reading(inspection, depth),
            Err(why) => DiskReading::CouldNotTell(why.clone()),
        };
        Self { label, looked, depth, reading }
    }

    /// Whether damage or inconsistency is proven, whatever forbids to act on it.
    pub(crate) fn is_proven_bad(&self) -> bool {
        self.looked.as_ref().is_ok_and(|it| matches!(it.outcome, Outcome::Damaged | Outcome::Inconsistent))
    }

    /// The chain's id, by the node's own state.
    pub(crate) fn chain_id(&self) -> Option<String> {
        self.looked.as_ref().ok()?.node.as_ref()?.chain_id.as_deref().map(clean)
    }

    /// Adds what only the disk can tell. It never takes a veto away (P7, P10).
    pub(crate) fn complete(&self, circumstances: &mut Circumstances) {
        let Some(node) = self.looked.as_ref().ok().and_then(|inspection| inspection.node.as_ref()) else { return };
        if let (SigningRisk::Unknown, SigningState::Signed { height, .. }) = (&circumstances.signing, node.signing)
            && height > 0
        {
            let why = format!("its signing state says that it signed at height {height}");
            circumstances.signing = SigningRisk::MaySign(why);
        }
        let due = node.upgrade.as_ref().filter(|upgrade| upgrade.is_due(node.heights.application.height()));
        if let (UpgradePlan::Unknown | UpgradePlan::NotDue, Some(upgrade)) = (&circumstances.upgrade, due) {
            let plan = format!("upgrade-info.json names {:?} at block {}", clean(&upgrade.name), upgrade.height);
            circumstances.upgrade = UpgradePlan::Due(plan);
        }
    }
}

fn reading(inspection: &Inspection, depth: Depth) -> DiskReading {
    let differing = names(inspection, Severity::HostSick);
    if !differing.is_empty() {
        return DiskReading::ReadsDiffer(differing);
    }
    let (damaged, inconsistent) = (names(inspection, Severity::Damage), names(inspection, Severity::Inconsistency));
    let stops_the_node = |names: &[DatabaseName]| names.iter().any(|it| it.start_role() == StartRole::ReadAtStart);
    match inspection.outcome {
        // Damage that a node can live with does not hide a disagreement that it cannot.
        Outcome::Damaged if !stops_the_node(&damaged) && stops_the_node(&inconsistent) => {
            DiskReading::Inconsistent(inconsistent)
        }
        Outcome::Damaged => DiskReading::Damaged(damaged),
        Outcome::Inconsistent => DiskReading::Inconsistent(inconsistent),
        Outcome::CouldNotTell => DiskReading::CouldNotTell(why_untold(inspection)),
        Outcome::Intact => DiskReading::Intact { scope: scope(inspection, depth) },
    }
}

/// The databases that have a finding of this weight, each once.
fn names(inspection: &Inspection, severity: Severity) -> Vec<DatabaseName> {
    let of_weight = |finding: &&Finding| finding.severity() == severity;
    let mut names: Vec<DatabaseName> =
        inspection.findings().filter(of_weight).map(|finding| finding.database.clone()).collect();
    names.sort();
    names.dedup();
    names
}

/// The first reason, the databases that a node reads at its start before others.
pub(crate) fn why_untold(inspection: &Inspection) -> String {
    let mut reasons: Vec<(bool, String)> = Vec::new();
    for database in &inspection.databases {
        let later = database.name.start_role() != StartRole::ReadAtStart;
        let untold = database.checks.untold.iter().map(ToString::to_string);
        let found = database.checks.findings.iter().filter(|it| it.severity() > Severity::Note);
        let name = database.name.as_str();
        reasons.extend(untold.chain(found.map(|it| it.detail.clone())).map(|why| (later, format!("{name}: {why}"))));
    }
    reasons.extend(inspection.checks.untold.iter().map(|reason| (true, reason.to_string())));
    let found = inspection.checks.findings.iter().filter(|it| it.severity() > Severity::Note);
    reasons.extend(found.map(|it| (it.database.start_role() != StartRole::ReadAtStart, it.detail.clone())));
    reasons.sort_by_key(|(later, _)| *later);
    reasons.into_iter().next().map_or_else(String::new, |(_, why)| clean(&why))
}

/// "IAVL hashes right" takes every store's tree, walked to its last leaf, whatever was asked for.
fn scope(inspection: &Inspection, depth: Depth) -> InspectionScope {
    let stores = inspection.node.as_ref().map(|node| node.stores.as_slice()).unwrap_or_default();
    let walked = |store: &chainstore::StoreReport| store.root_fits == Some(true) && store.walked.is_whole();
    match depth {
        Depth::Quick => InspectionScope::Quick,
        _ if !stores.is_empty() && stores.iter().all(walked) => InspectionScope::AllChecksAndIavlHashes,
        Depth::Default | Depth::Deep => InspectionScope::AllChecks,
    }
}

/// The file that a decisive line names, in the database that the log is about, if that is one.
fn named_file(log: &LogPart) -> Option<PathBuf> {
    in_its_database(&log.chosen.as_ref()?.finding, &log.reading)
}

/// The same of one log by itself.
pub(crate) fn file_in_decisive_line(finding: &crashlog::Finding) -> Option<PathBuf> {
    in_its_database(finding, &finding.reading)
}

fn in_its_database(finding: &crashlog::Finding, reading: &LogReading) -> Option<PathBuf> {
    let file = decisive_lines(finding, LINES).iter().find_map(|line| file_in(&line.text).map(str::to_owned))?;
    match read(reading).map(|opinion| opinion.databases.as_slice()) {
        Some([only]) => Some(Path::new(&format!("{}.db", only.as_str())).join(file)),
        _ => Some(PathBuf::from(file)),
    }
}

/// A name such as only an engine's file has: `000012.ldb`, `000003.log`, `MANIFEST-000004`.
fn file_in(text: &str) -> Option<&str> {
    let is_number = |text: &str| text.len() >= 5 && text.bytes().all(|byte| byte.is_ascii_digit());
    text.split(|c: char| !c.is_ascii_alphanumeric() && c != '.' && c != '-').find(|word| {
        word.strip_prefix("MANIFEST-").is_some_and(is_number)
            || word
                .rsplit_once('.')
                .is_some_and(|(stem, kind)| is_number(stem) && ["ldb", "sst", "log"].contains(&kind))
    })
}

#[cfg(test)]
mod agreement;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_file_in_a_line() {
        for (line, file) in [
            ("checksum mismatch, want=0x7ae078c2 got=0xac1efc6 [file=000002.ldb]", Some("000002.ldb")),
            ("open /home/x/data/state.db/MANIFEST-000044: no such file", Some("MANIFEST-000044")),
            ("pebble: background error: data/application.db/787011.sst: corruption", Some("787011.sst")),
            ("write data/application.db/000123.log: no space left", Some("000123.log")),
            ("at 12.345 the version 1.2.log of go1.22.log", None),
            ("", None),
        ] {
            assert_eq!(file_in(line), file, "{line}");
        }
    }
}
