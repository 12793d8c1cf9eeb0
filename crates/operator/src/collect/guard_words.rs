//! What `loopbreaker guard` said in a container's log before the node began. *No client, no IO.* (P2, P13)
//!
//! It is the disk's word, not the log's: the guard read the data before the engine could erase anything. Its lines begin
//! with `loopbreaker guard: `, or are objects of `loopbreaker.dev/guard/v1` (`docs/guard.md`).

use std::collections::BTreeSet;

use diagnosis::{DatabaseName, DiskReading, InspectionScope};
use serde::Deserialize;

const PREFIX: &str = "loopbreaker guard: ";
/// Lines looked at; the guard says few, and the node's own may be many.
const LINES_MAX: usize = 20_000;

/// What a guard said.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct GuardWords {
    damaged: BTreeSet<DatabaseName>,
    inconsistent: BTreeSet<DatabaseName>,
    differing: BTreeSet<DatabaseName>,
    conclusion: Option<String>,
    /// The findings in its own words, the first few.
    pub(crate) findings: Vec<String>,
}

#[derive(Deserialize)]
struct Line {
    event: String,
    #[serde(default)]
    severity: String,
    #[serde(default)]
    database: String,
    #[serde(default)]
    detail: String,
    #[serde(default)]
    text: String,
}

impl GuardWords {
    /// None where no guard speaks in this log.
    pub(crate) fn of(log: &[u8]) -> Option<Self> {
        let text = String::from_utf8_lossy(log);
        let mut words = Self::default();
        let mut spoke = false;
        for line in text.lines().take(LINES_MAX) {
            // The kubelet's own time stamps may stand before it.
            if let Some((_, said)) = line.split_once(PREFIX) {
                spoke = true;
                words.hear(said);
            } else if let Some(at) = line.find(r#"{"loopbreaker":"guard""#) {
                let object = line.get(at..).unwrap_or_default();
                let Ok(said) = serde_json::from_str::<Line>(object) else { continue };
                spoke = true;
                match said.event.as_str() {
                    "finding" => words.finding(&said.severity, &said.database, &said.detail),
                    _ => words.conclude(&said.text),
                }
            }
        }
        spoke.then_some(words)
    }

    fn hear(&mut self, said: &str) {
        let Some(finding) = said.strip_prefix("finding ") else { return self.conclude(said) };
        let field = |name: &str| finding.split(' ').find_map(|word| word.strip_prefix(name)).unwrap_or_default();
        let severity = field("severity=").to_owned();
        let database = field("file=").split('/').find(|part| part.strip_suffix(".db").is_some() || *part == "cs.wal");
        let detail = finding.split_once(": ").map_or(finding, |(_, detail)| detail);
        self.finding(&severity, database.unwrap_or("unknown"), detail);
    }

    fn finding(&mut self, severity: &str, database: &str, detail: &str) {
        /// Findings quoted.
        const QUOTED_MAX: usize = 16;
        let database = DatabaseName::new(database);
        let quoted = format!("{}: {detail}", database.as_str());
        let set = match severity {
            "damage" => &mut self.damaged,
            "inconsistency" => &mut self.inconsistent,
            "host_sick" => &mut self.differing,
            // Notes, and what is no finding about the data.
            _ => return,
        };
        set.insert(database);
        if self.findings.len() < QUOTED_MAX {
            self.findings.push(quoted);
        }
    }

    fn conclude(&mut self, said: &str) {
        if ["intact; ", "could not tell ", "damaged; ", "inconsistent; ", "nothing was checked"]
            .iter()
            .any(|begin| said.starts_with(begin))
        {
            self.conclusion = Some(said.to_owned());
        }
    }

    /// As the judge takes it: the gravest first; what was not concluded is not told.
    pub(crate) fn reading(&self) -> DiskReading {
        let list = |set: &BTreeSet<DatabaseName>| set.iter().cloned().collect::<Vec<_>>();
        if !self.differing.is_empty() {
            return DiskReading::ReadsDiffer(list(&self.differing));
        }
        if !self.damaged.is_empty() {
            return DiskReading::Damaged(list(&self.damaged));
        }
        if !self.inconsistent.is_empty() {
            return DiskReading::Inconsistent(list(&self.inconsistent));
        }
        match self.conclusion.as_deref() {
            Some(said) if said.starts_with("intact; checked every checksum in") => {
                DiskReading::Intact { scope: InspectionScope::AllChecks }
            }
            Some(said) if said.starts_with("intact; checked ") => DiskReading::Intact { scope: InspectionScope::Quick },
            Some(said) => DiskReading::CouldNotTell(format!("the guard: {said}")),
            None => DiskReading::CouldNotTell("the guard's checks were not concluded".to_owned()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reading(log: &str) -> Option<DiskReading> {
        GuardWords::of(log.as_bytes()).map(|words| words.reading())
    }

    fn names(names: &[&str]) -> Vec<DatabaseName> {
        names.iter().map(|name| DatabaseName::new(name)).collect()
    }

    const FINDING: &str = "loopbreaker guard: finding severity=damage kind=journal_corrupt \
        file=data/state.db/000014.log offset=1021: a record does not fit its checksum\n";

    #[test]
    fn what_it_found_and_what_it_concluded() {
        let all = DiskReading::Intact { scope: InspectionScope::AllChecks };
        let quick = DiskReading::Intact { scope: InspectionScope::Quick };
        for (log, expected) in [
            (FINDING.to_owned(), Some(DiskReading::Damaged(names(&["state"])))),
            ("loopbreaker guard: intact; checked every checksum in 2 s; entry 4 kept\n".to_owned(), Some(all)),
            (
                "loopbreaker guard: intact; checked entry points, manifests, journals and heights in 1 s\n".to_owned(),
                Some(quick.clone()),
            ),
            ("loopbreaker guard: intact; checked every checksum that could be read in 1 s\n".to_owned(), Some(quick)),
            ("INF starting node\n".to_owned(), None),
            (
                FINDING.replace("severity=damage", "severity=host_sick"),
                Some(DiskReading::ReadsDiffer(names(&["state"]))),
            ),
        ] {
            assert_eq!(reading(&log), expected, "{log}");
        }
        assert!(matches!(reading("loopbreaker guard: nothing was checked: x\n"), Some(DiskReading::CouldNotTell(_))));
        assert!(matches!(reading("loopbreaker guard: starting\n"), Some(DiskReading::CouldNotTell(_))));
    }

    #[test]
    fn its_json_says_the_same() {
        let line = r#"{"loopbreaker":"guard","schema":"loopbreaker.dev/guard/v1","event":"finding","severity":"inconsistency","database":"application","detail":"d"}"#;
        assert_eq!(reading(line), Some(DiskReading::Inconsistent(names(&["application"]))));
    }
}
