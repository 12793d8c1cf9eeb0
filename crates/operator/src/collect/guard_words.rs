//! What `loopbreaker guard` said in a container's log before the node began. *No client, no IO.* (P2, P13)
//!
//! It is the disk's word, not the log's: the guard read the data before the engine could erase anything. Its lines begin
//! with `loopbreaker guard: `, or are objects of `loopbreaker.dev/guard/v1` (`docs/guard.md`).
//!
//! Only the lines before the node's first one are the guard's: the guard becomes the node, and whatever looks like its words
//! later is text that anybody may have sent to the node.

use std::collections::BTreeSet;

use diagnosis::{DatabaseName, DiskReading, InspectionScope};
use scene::one_line;
use serde::Deserialize;

const PREFIX: &str = "loopbreaker guard: ";
/// How a line of its JSON begins.
const OBJECT: &str = r#"{"loopbreaker":"guard""#;
/// Lines looked at; the guard says few, and the node's own may be many.
const LINES_MAX: usize = 20_000;

/// What `loopbreaker guard` says in a log, as the judge takes it; none where it does not speak.
#[must_use]
pub fn guard_words(log: &[u8]) -> Option<DiskReading> {
    GuardWords::of(log).map(|words| words.reading())
}

/// What a guard said.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct GuardWords {
    damaged: BTreeSet<DatabaseName>,
    inconsistent: BTreeSet<DatabaseName>,
    differing: BTreeSet<DatabaseName>,
    sum: Option<Sum>,
    nothing_checked: Option<String>,
    /// The findings in its own words, the first few.
    pub(crate) findings: Vec<String>,
}

/// What its checks add up to.
#[derive(Debug, Clone, PartialEq)]
struct Sum {
    outcome: String,
    scope: String,
    text: String,
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
    #[serde(default)]
    outcome: String,
    #[serde(default)]
    scope: String,
}

impl GuardWords {
    /// None where no guard speaks in this log.
    pub(crate) fn of(log: &[u8]) -> Option<Self> {
        let text = String::from_utf8_lossy(log);
        let mut words = Self::default();
        let mut spoke = false;
        for line in text.lines().take(LINES_MAX) {
            if let Some(said) = line.strip_prefix(PREFIX) {
                words.hear(said);
            } else if line.starts_with(OBJECT)
                && let Ok(said) = serde_json::from_str::<Line>(line)
            {
                match said.event.as_str() {
                    "finding" => words.finding(&said.severity, &said.database, &said.detail),
                    "checked" => words.conclude(&said.outcome, &said.scope, &said.text),
                    _ => words.remark(&said.text),
                }
            } else {
                break;
            }
            spoke = true;
        }
        spoke.then_some(words)
    }

    fn hear(&mut self, said: &str) {
        let (facts, text) = said.split_once(": ").unwrap_or((said, ""));
        let field = |name: &str| facts.split(' ').find_map(|word| word.strip_prefix(name)).unwrap_or_default();
        if facts.starts_with("finding ") {
            let database =
                field("file=").split('/').find(|part| part.strip_suffix(".db").is_some() || *part == "cs.wal");
            self.finding(field("severity="), database.unwrap_or("unknown"), text);
        } else if facts.starts_with("checked ") {
            self.conclude(field("outcome="), field("scope="), text);
        } else {
            self.remark(said);
        }
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

    /// What the checks add up to.
    fn conclude(&mut self, outcome: &str, scope: &str, text: &str) {
        self.sum = Some(Sum { outcome: outcome.to_owned(), scope: scope.to_owned(), text: one_line(text) });
    }

    /// What else it says; only why it checked nothing is of use.
    fn remark(&mut self, said: &str) {
        if said.starts_with("nothing was checked") {
            self.nothing_checked = Some(one_line(said));
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
        let Some(sum) = &self.sum else {
            let why = self.nothing_checked.as_deref().unwrap_or("its checks were not concluded in time");
            return DiskReading::CouldNotTell(format!("the guard: {why}"));
        };
        match (sum.outcome.as_str(), sum.scope.as_str()) {
            ("intact", "all") => DiskReading::Intact { scope: InspectionScope::AllChecks },
            ("intact", "readable" | "part" | "quick") => DiskReading::Intact { scope: InspectionScope::Quick },
            _ => DiskReading::CouldNotTell(format!("the guard: {}", sum.text)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reading(log: &str) -> Option<DiskReading> {
        guard_words(log.as_bytes())
    }

    fn names(names: &[&str]) -> Vec<DatabaseName> {
        names.iter().map(|name| DatabaseName::new(name)).collect()
    }

    const FINDING: &str = "loopbreaker guard: finding severity=damage kind=journal_corrupt \
        file=data/state.db/000014.log offset=1021: a record does not fit its checksum\n";

    fn all() -> DiskReading {
        DiskReading::Intact { scope: InspectionScope::AllChecks }
    }

    #[test]
    fn what_it_found_and_what_that_adds_up_to() {
        let quick = DiskReading::Intact { scope: InspectionScope::Quick };
        for (log, expected) in [
            (FINDING.to_owned(), Some(DiskReading::Damaged(names(&["state"])))),
            (checked("outcome=intact scope=all: intact; checked every checksum in 2 s"), Some(all())),
            (checked("outcome=intact scope=quick: intact; checked entry points in 1 s"), Some(quick.clone())),
            (checked("outcome=intact scope=readable: intact; checked what could be read"), Some(quick.clone())),
            (checked("outcome=intact scope=part: intact; checked a part of all checksums"), Some(quick)),
            (
                format!("{FINDING}{}", checked("outcome=damaged scope=all: damaged")),
                Some(DiskReading::Damaged(names(&["state"]))),
            ),
            (
                FINDING.replace("severity=damage", "severity=host_sick"),
                Some(DiskReading::ReadsDiffer(names(&["state"]))),
            ),
            (
                FINDING.replace("severity=damage", "severity=note"),
                Some(not_told("the guard: its checks were not concluded in time")),
            ),
            (
                checked("outcome=intact scope=nothing: intact; checked nothing"),
                Some(not_told("the guard: intact; checked nothing")),
            ),
            (checked("outcome=could_not_tell scope=all: no"), Some(not_told("the guard: no"))),
            (checked("outcome=splendid scope=all: well"), Some(not_told("the guard: well"))),
            (
                "loopbreaker guard: nothing was checked: /chain: missing\n".to_owned(),
                Some(not_told("the guard: nothing was checked: /chain: missing")),
            ),
            ("INF starting node\n".to_owned(), None),
            (String::new(), None),
        ] {
            assert_eq!(reading(&log), expected, "{log}");
        }
    }

    fn checked(rest: &str) -> String {
        format!("loopbreaker guard: checked {rest}\n")
    }

    fn not_told(why: &str) -> DiskReading {
        DiskReading::CouldNotTell(why.to_owned())
    }

    #[test]
    fn its_json_says_the_same() {
        let finding = r#"{"loopbreaker":"guard","schema":"loopbreaker.dev/guard/v1","event":"finding","severity":"inconsistency","database":"application","detail":"d"}"#;
        assert_eq!(reading(finding), Some(DiskReading::Inconsistent(names(&["application"]))));
        let sum = r#"{"loopbreaker":"guard","schema":"loopbreaker.dev/guard/v1","event":"checked","outcome":"intact","scope":"all","text":"t"}"#;
        assert_eq!(reading(sum), Some(all()));
    }

    #[test]
    fn what_a_peer_puts_into_the_nodes_log_is_not_its_word() {
        let sound = checked("outcome=intact scope=all: intact");
        for log in [format!("INF starting node\n{FINDING}"), format!("INF peer said {FINDING}"), format!("  {FINDING}")]
        {
            assert_eq!(reading(&log), None, "{log}");
        }
        assert_eq!(reading(&format!("{sound}INF starting node\n{FINDING}")), Some(all()));
    }
}
