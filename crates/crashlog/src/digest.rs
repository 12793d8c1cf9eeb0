//! What is kept of a log while it streams by: its failures, each once, in bounded memory. *No IO.*

use std::{
    collections::{HashMap, VecDeque},
    hash::{BuildHasherDefault, Hasher},
};

use crate::{
    Emitter, Record,
    features::{Collector, FeatureKey, FeatureName, Features, Standing},
    mask::{Word, words},
    phrases::{Matcher, Phrase, PhraseIndex, Polarity, Strength},
    surroundings::Surroundings,
};

/// Distinct failures kept from the beginning of a log: the first failure decides.
const FIRST_FAILURES_MAX: usize = 96;
/// Distinct failures kept from its end.
const LAST_FAILURES_MAX: usize = 64;
/// Distinct bare lines without any phrase kept from the end of a log: what a shell or the program itself printed last.
const TAIL_MAX: usize = 12;
/// Bare lines among which they are looked for.
const BARE_MAX: usize = 64;

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
    /// The entries of its phrases.
    pub fn entries(&self) -> impl Iterator<Item = &'static Phrase> + use<'_> {
        self.phrases.iter().map(|index| index.phrase())
    }

    /// The strongest phrase of it that is evidence of anything.
    #[must_use]
    pub fn strength(&self) -> Option<Strength> {
        self.entries().filter(|phrase| phrase.polarity != Polarity::Benign).map(|phrase| phrase.strength).max()
    }

    fn of(record: &Record, phrases: &[PhraseIndex], shape: u64) -> Self {
        Self { record: record.clone(), phrases: phrases.to_vec(), repeats: 1, shape }
    }

    /// Becomes another failure, in the memory that it already has.
    fn become_copy(&mut self, record: &Record, phrases: &[PhraseIndex], shape: u64) {
        self.record.copy_of(record);
        phrases.clone_into(&mut self.phrases);
        (self.repeats, self.shape) = (1, shape);
    }

    fn is_benign(&self) -> bool {
        !self.phrases.is_empty() && self.phrases.iter().all(|index| index.phrase().polarity == Polarity::Benign)
    }
}

/// The failures of one log.
#[derive(Debug, Default)]
pub struct Digest {
    first: Vec<Failure>,
    /// Boxed, since in a log full of failures one of them leaves with every record.
    last: VecDeque<Box<Failure>>,
    /// The last bare lines, repeats among them, until the log is over.
    bare: Vec<Failure>,
    /// Place in `bare` of the next one.
    oldest_bare: usize,
    tail: VecDeque<Failure>,
    /// Of each kept failure; for one in `last`, whose place moves, no index in `first`.
    index_of_shape: HashMap<u64, usize, BuildHasherDefault<Shape>>,
    matcher: Matcher,
    phrases: Vec<PhraseIndex>,
    /// What stands around the failures.
    pub surroundings: Surroundings,
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
        self.surroundings.observe(record, &phrases);
        match weigh(record, &phrases) {
            Weight::Failure => self.keep(record, &phrases),
            Weight::Bare => self.keep_bare(record, &phrases),
            Weight::Nothing => {}
        }
        self.phrases = phrases;
    }

    /// Keeps a bare line for [`Self::settle`]: a log may hold nothing but such lines, so no more is done here than to copy.
    fn keep_bare(&mut self, record: &Record, phrases: &[PhraseIndex]) {
        if let Some(oldest) = self.bare.get_mut(self.oldest_bare) {
            oldest.become_copy(record, phrases, 0);
        } else {
            self.bare.push(Failure::of(record, phrases, 0));
        }
        self.oldest_bare = (self.oldest_bare + 1) % BARE_MAX;
    }

    /// The log is over: of the last bare lines those stay that differ.
    pub(crate) fn settle(&mut self) {
        let mut bare = std::mem::take(&mut self.bare);
        bare.sort_by_key(|failure| failure.record.line);
        for mut failure in bare {
            failure.shape = shape(&failure.record);
            if let Some(known) = self.tail.iter_mut().find(|known| known.shape == failure.shape) {
                known.repeats = known.repeats.saturating_add(1);
                continue;
            }
            if self.tail.len() == TAIL_MAX {
                self.tail.pop_front();
            }
            self.tail.push_back(failure);
        }
    }

    fn keep(&mut self, record: &Record, phrases: &[PhraseIndex]) {
        let shape = shape(record);
        if let Some(at) = self.index_of_shape.get(&shape) {
            let known = if *at < FIRST_FAILURES_MAX {
                self.first.get_mut(*at)
            } else {
                self.last.iter_mut().map(Box::as_mut).find(|failure| failure.shape == shape)
            };
            if let Some(failure) = known {
                failure.repeats = failure.repeats.saturating_add(1);
                return;
            }
        }
        self.index_of_shape.insert(shape, self.first.len());
        if self.first.len() < FIRST_FAILURES_MAX {
            self.first.push(Failure::of(record, phrases, shape));
            return;
        }
        if self.last.len() < LAST_FAILURES_MAX {
            self.last.push_back(Box::new(Failure::of(record, phrases, shape)));
            return;
        }
        // Evidence outlives noise: of the later failures, one without a phrase goes first.
        let goes = self.last.iter().position(|failure| failure.strength().is_none()).unwrap_or(0);
        if let Some(mut failure) = self.last.remove(goes) {
            self.index_of_shape.remove(&failure.shape);
            failure.become_copy(record, phrases, shape);
            self.last.push_back(failure);
        }
    }

    /// Every kept failure in the log's order; bare lines come last.
    pub fn failures(&self) -> impl Iterator<Item = &Failure> {
        self.first.iter().chain(self.last.iter().map(Box::as_ref)).chain(&self.tail)
    }

    /// The failures that are not a remote party's word.
    pub fn local_failures(&self) -> impl Iterator<Item = &Failure> {
        self.failures().filter(|failure| failure.record.emitter != Emitter::Peer)
    }

    /// The failure that decides: the first of those with the strongest phrase; without any phrase the first panic, then the
    /// last plain error line (what cobra prints when the process ends), then the first record that reports an error, then
    /// the last bare line.
    #[must_use]
    pub fn decisive(&self) -> Option<&Failure> {
        let own = || self.local_failures().filter(|failure| !failure.is_benign());
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
        Emitter::Panic => Weight::Failure,
        Emitter::Error | Emitter::Log if says_something || record.level.reports_failure() => Weight::Failure,
        Emitter::Error if !record.message.trim().is_empty() => Weight::Bare,
        Emitter::Peer | Emitter::Os if says_something => Weight::Failure,
        Emitter::Error | Emitter::Log | Emitter::Peer | Emitter::Os | Emitter::Usage => Weight::Nothing,
    }
}

fn is_error_line(record: &Record) -> bool {
    record.emitter == Emitter::Error && record.level.reports_failure()
}

/// Masked words, hashed. Not by the hash of a feature, which goes byte by byte: this is asked for every failing record.
fn shape(record: &Record) -> u64 {
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    let mut mix = |part: u64| hash = (hash ^ part).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29);
    for part in [&record.message, &record.errors] {
        words(part, &mut |word| match word {
            Word::Kept(text) => kept(text.as_bytes(), &mut mix),
            other => mix(other.hash()),
        });
    }
    hash
}

/// Hands the bytes of a word to `mix`, eight at a time without regard to case, and its length. What else falls together here
/// (`-` and CR) does not matter for a shape.
fn kept(word: &[u8], mix: &mut impl FnMut(u64)) {
    const LOWER: u64 = 0x2020_2020_2020_2020;
    let length = (word.len() as u64) << 56;
    for eight in word.as_chunks::<8>().0 {
        mix(u64::from_le_bytes(*eight) | LOWER);
    }
    let rest = match (word.last_chunk::<8>(), word.first_chunk::<4>(), word.last_chunk::<4>()) {
        (Some(last), ..) => u64::from_le_bytes(*last),
        (None, Some(first), Some(last)) => {
            u64::from(u32::from_le_bytes(*first)) << 32 | u64::from(u32::from_le_bytes(*last))
        }
        _ => word.iter().fold(0, |all, byte| all << 8 | u64::from(*byte)),
    };
    mix((rest | LOWER) ^ length);
}

/// A shape is a hash already.
#[derive(Debug, Default)]
struct Shape(u64);

impl Hasher for Shape {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        self.0 = bytes.iter().fold(self.0, |hash, byte| hash.rotate_left(8) ^ u64::from(*byte));
    }

    fn write_u64(&mut self, shape: u64) {
        self.0 = shape;
    }
}
