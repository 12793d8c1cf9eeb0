//! What others would have said, beside our own figures. *No IO.*
//!
//! - `corrupt|checksum`: the rule of thumb of operators' runbooks;
//! - `(error|exception|fail)` over the last hundred lines: k8sgpt's log analyser;
//! - our phrases alone, without the model.

use std::collections::VecDeque;

use crashlog::{
    Finding,
    digest::Failure,
    phrases::{Phrase, Polarity, Proof, Strength},
};
use diagnosis::Cause;

/// Lines at the end of a log that k8sgpt asks the API server for.
const K8SGPT_LINES: usize = 100;
/// Bytes of a line that are looked at.
const LINE_MAX: usize = 64 * 1024;

/// What the baselines say about one case.
#[derive(Debug, Clone, PartialEq)]
pub struct Baselines {
    /// A line says `corrupt` or `checksum`.
    pub keywords: bool,
    /// One of the last hundred lines says `error`, `exception` or `fail`.
    pub k8sgpt: bool,
    /// Our phrases alone.
    pub phrases: PhrasesOnly,
}

/// Looks for the words of the two text rules while a log streams by.
#[derive(Debug, Default)]
pub struct TextRules {
    line: Vec<u8>,
    keywords: bool,
    last: VecDeque<bool>,
}

impl TextRules {
    /// Takes the next bytes.
    pub fn feed(&mut self, bytes: &[u8]) {
        let mut rest = bytes;
        while let Some(at) = memchr::memchr(b'\n', rest) {
            let (line, after) = rest.split_at(at);
            self.keep(line);
            self.end_line();
            rest = after.get(1..).unwrap_or_default();
        }
        self.keep(rest);
    }

    fn keep(&mut self, part: &[u8]) {
        let room = LINE_MAX.saturating_sub(self.line.len());
        self.line.extend(part.iter().take(room).map(u8::to_ascii_lowercase));
    }

    fn end_line(&mut self) {
        let says = |word: &str| memchr::memmem::find(&self.line, word.as_bytes()).is_some();
        self.keywords |= says("corrupt") || says("checksum");
        let fails = says("error") || says("exception") || says("fail");
        if self.last.len() == K8SGPT_LINES {
            self.last.pop_front();
        }
        self.last.push_back(fails);
        self.line.clear();
    }

    /// Takes the end; `finding` is what the log witness made of the same bytes.
    #[must_use]
    pub fn finish(mut self, finding: &Finding) -> Baselines {
        if !self.line.is_empty() {
            self.end_line();
        }
        let k8sgpt = self.last.iter().any(|fails| *fails);
        Baselines { keywords: self.keywords, k8sgpt, phrases: PhrasesOnly::of(finding) }
    }
}

/// What our phrases say without the model.
#[derive(Debug, Clone, PartialEq)]
pub struct PhrasesOnly {
    /// A failed integrity check is reported, and nothing else as decisive.
    pub flagged: bool,
    /// Strength of the strongest phrase for damage less that of the strongest against it.
    pub score: f64,
    /// The cause of the strongest phrase in the record that decides.
    pub cause: Cause,
}

impl PhrasesOnly {
    fn of(finding: &Finding) -> Self {
        let own = || finding.digest.local_failures().flat_map(Failure::entries);
        let strongest =
            |wanted: fn(Polarity) -> bool| own().filter(|phrase| wanted(phrase.polarity)).map(rank).fold(0.0, f64::max);
        let damage = strongest(|polarity| matches!(polarity, Polarity::Damage(_)));
        let against = strongest(|polarity| polarity == Polarity::Against);
        let decisive = |polarity| own().any(|it| it.polarity == polarity && it.strength == Strength::Decisive);
        Self {
            flagged: decisive(Polarity::Damage(Proof::IntegrityCheck)) && !decisive(Polarity::Against),
            score: damage - against,
            cause: finding
                .digest
                .decisive()
                .and_then(|failure| {
                    failure
                        .entries()
                        .filter(|phrase| phrase.polarity != Polarity::Benign)
                        .max_by_key(|phrase| (phrase.strength, phrase.text.len()))
                })
                .map_or(Cause::Unknown, |phrase| phrase.cause),
        }
    }
}

fn rank(phrase: &Phrase) -> f64 {
    let strength = match phrase.strength {
        Strength::Hint => 1.0,
        Strength::Strong => 2.0,
        Strength::Decisive => 3.0,
    };
    let proven = phrase.polarity == Polarity::Damage(Proof::IntegrityCheck);
    if proven { strength + 1.0 } else { strength }
}

#[cfg(test)]
mod tests {
    use crashlog::{Examiner, model::Model};

    use super::*;

    fn baselines(log: &str) -> Baselines {
        let (mut examiner, mut rules) = (Examiner::new(), TextRules::default());
        for piece in log.as_bytes().chunks(7) {
            examiner.feed(piece);
            rules.feed(piece);
        }
        rules.finish(&examiner.finish(&Model::empty()))
    }

    #[test]
    fn the_rules_are_those_of_the_others() {
        let corrupt = "panic: leveldb/table: CORRUPTION on data-block (pos=1): checksum mismatch, want=0x1 got=0x2 [file=000002.ldb]";
        let many = "fine\n".repeat(100);
        for (log, keywords, k8sgpt) in [
            (corrupt.to_owned(), true, false),
            ("Failed to start".to_owned(), false, true),
            (format!("an Exception\n{many}"), false, false),
            (format!("an Exception\n{}", "fine\n".repeat(99)), false, true),
            (String::new(), false, false),
        ] {
            let said = baselines(&log);
            assert_eq!((said.keywords, said.k8sgpt), (keywords, k8sgpt), "{log:.40}");
        }
    }

    #[test]
    fn phrases_alone_flag_a_failed_check_and_not_a_peers_words() {
        let damaged = baselines(
            "panic: leveldb/table: corruption on data-block (pos=1): checksum mismatch, want=0x1 got=0x2 [file=000002.ldb]\n",
        );
        assert_eq!((damaged.phrases.flagged, damaged.phrases.cause), (true, Cause::PhysicalCorruption));
        let full = baselines("panic: write /data/cs.wal/wal: no space left on device\n");
        assert!(!full.phrases.flagged && full.phrases.score < damaged.phrases.score);
        assert_eq!(full.phrases.cause, Cause::DiskFull);
    }
}
