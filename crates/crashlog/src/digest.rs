//! What is kept of a log while it streams by: its failures, each once, in bounded memory. *No IO.*

use std::collections::{HashMap, VecDeque};

use crate::{
    Emitter, Record,
    features::{Collector, FeatureKey, FeatureName, Features, Standing},
    mask::words,
    phrases::{Matcher, PhraseIndex, Polarity, Strength},
};

/// Distinct failures kept from the beginning of a log: the first failure decides.
const FIRST_FAILURES_MAX: usize = 96;
/// Distinct failures kept from its end.
const LAST_FAILURES_MAX: usize = 64;
/// Bare lines without any phrase kept from the end of a log: what a shell or the program itself printed last.
const TAIL_MAX: usize = 12;
/// Distinct failures counted; beyond that repeats of new ones are no longer told apart.
const DISTINCT_MAX: usize = 65_536;

/// One distinct failure.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    /// The record where it was first seen.
    pub record: Record,
    /// Phrases in it that its emitter may say.
    pub phrases: Vec<PhraseIndex>,
    /// How many records with the same masked words there were.
    pub repeats: u32,
    /// Masked words, hashed.
    pub shape: u64,
}

impl Failure {
    /// The strongest phrase of it that is evidence of anything.
    #[must_use]
    pub fn strength(&self) -> Option<Strength> {
        self.phrases
            .iter()
            .map(|index| index.phrase())
            .filter(|phrase| phrase.polarity != Polarity::Benign)
            .map(|phrase| phrase.strength)
            .max()
    }

    fn is_benign(&self) -> bool {
        !self.phrases.is_empty() && self.phrases.iter().all(|index| index.phrase().polarity == Polarity::Benign)
    }
}

/// The failures of one log.
#[derive(Debug, Default)]
pub struct Digest {
    first: Vec<Failure>,
    last: VecDeque<Failure>,
    tail: VecDeque<Failure>,
    index_of_shape: HashMap<u64, usize>,
    matcher: Matcher,
    phrases: Vec<PhraseIndex>,
}

impl Digest {
    /// An empty digest.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Looks at one record and keeps it if it is a failure not seen before.
    pub fn observe(&mut self, record: &Record) {
        if record.emitter == Emitter::Usage {
            return;
        }
        let mut phrases = std::mem::take(&mut self.phrases);
        self.matcher.phrases(record, &mut phrases);
        match weigh(record, &phrases) {
            Weight::Failure => self.keep(record, &phrases),
            Weight::Bare => self.keep_tail(record, &phrases),
            Weight::Nothing => {}
        }
        self.phrases = phrases;
    }

    fn keep_tail(&mut self, record: &Record, phrases: &[PhraseIndex]) {
        let shape = shape(record);
        if let Some(known) = self.tail.iter_mut().find(|failure| failure.shape == shape) {
            known.repeats = known.repeats.saturating_add(1);
            return;
        }
        if self.tail.len() == TAIL_MAX {
            self.tail.pop_front();
        }
        self.tail.push_back(Failure { record: record.clone(), phrases: phrases.to_vec(), repeats: 1, shape });
    }

    fn keep(&mut self, record: &Record, phrases: &[PhraseIndex]) {
        let shape = shape(record);
        if let Some(at) = self.index_of_shape.get(&shape) {
            let known = if *at < FIRST_FAILURES_MAX {
                self.first.get_mut(*at)
            } else {
                self.last.iter_mut().find(|failure| failure.shape == shape)
            };
            if let Some(failure) = known {
                failure.repeats = failure.repeats.saturating_add(1);
                return;
            }
        }
        let failure = Failure { record: record.clone(), phrases: phrases.to_vec(), repeats: 1, shape };
        if self.index_of_shape.len() < DISTINCT_MAX {
            self.index_of_shape.insert(shape, self.first.len());
        }
        if self.first.len() < FIRST_FAILURES_MAX {
            self.first.push(failure);
            return;
        }
        if self.last.len() == LAST_FAILURES_MAX {
            // Evidence outlives noise: of the later failures, one without a phrase goes first.
            let goes = self.last.iter().position(|failure| failure.strength().is_none()).unwrap_or(0);
            self.last.remove(goes);
        }
        self.last.push_back(failure);
    }

    /// Every kept failure in the log's order; bare lines come last.
    pub fn failures(&self) -> impl Iterator<Item = &Failure> {
        self.first.iter().chain(&self.last).chain(&self.tail)
    }

    /// The failure that decides: the first of those with the strongest phrase; without any phrase the first panic, then the
    /// last plain error line (what cobra prints when the process ends), then the first record that reports an error, then
    /// the last bare line.
    #[must_use]
    pub fn decisive(&self) -> Option<&Failure> {
        let own = || self.failures().filter(|failure| failure.record.emitter != Emitter::Peer && !failure.is_benign());
        let panic = own().find(|failure| failure.record.emitter == Emitter::Panic);
        let strongest = own().filter_map(Failure::strength).max();
        match strongest {
            // A hint in a log line must not hide the panic that follows it.
            Some(Strength::Hint) if panic.is_some() => panic,
            Some(_) => own().find(|failure| failure.strength() == strongest),
            None => panic
                .or_else(|| own().filter(|failure| is_error_line(&failure.record)).last())
                .or_else(|| own().find(|failure| failure.record.level.reports_failure()))
                .or_else(|| own().last()),
        }
    }

    /// The features of the log.
    #[must_use]
    pub fn features(
        &self,
        mut collector: Collector,
    ) -> (Features, std::collections::BTreeMap<FeatureKey, FeatureName>) {
        let decisive = self.decisive();
        collector.ending(decisive.map(|failure| failure.record.emitter));
        for failure in self.failures() {
            let standing = if decisive.is_some_and(|decisive| std::ptr::eq(decisive, failure)) {
                Standing::Decisive
            } else {
                Standing::Other
            };
            for phrase in &failure.phrases {
                collector.phrase(*phrase, standing);
            }
            if failure.record.emitter != Emitter::Peer && !failure.is_benign() {
                collector.record(&failure.record, standing);
            }
        }
        collector.finish()
    }
}

/// How a record counts.
enum Weight {
    /// Reports a failure: by its level, by being a panic, or by a phrase that is evidence.
    Failure,
    /// A line without level or phrase.
    Bare,
    /// Says nothing about a failure.
    Nothing,
}

fn weigh(record: &Record, phrases: &[PhraseIndex]) -> Weight {
    let says_something = phrases.iter().any(|index| index.phrase().polarity != Polarity::Benign);
    match record.emitter {
        Emitter::Usage => Weight::Nothing,
        Emitter::Panic => Weight::Failure,
        Emitter::Error if says_something || record.level.reports_failure() => Weight::Failure,
        Emitter::Error if !record.message.trim().is_empty() => Weight::Bare,
        Emitter::Log if says_something || record.level.reports_failure() => Weight::Failure,
        Emitter::Peer | Emitter::Os if says_something => Weight::Failure,
        Emitter::Error | Emitter::Log | Emitter::Peer | Emitter::Os => Weight::Nothing,
    }
}

fn is_error_line(record: &Record) -> bool {
    record.emitter == Emitter::Error && record.level.reports_failure()
}

fn shape(record: &Record) -> u64 {
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    for part in [&record.message, &record.errors] {
        words(part, &mut |word| hash = (hash ^ word.hash()).wrapping_mul(0x0100_0000_01b3).rotate_left(5));
    }
    hash
}
