//! Features: what the linear model weighs. Phrases count by their own name and by what they stand for; words and pairs of
//! words count where no phrase knows the message. *No IO.*

use std::collections::{BTreeMap, BTreeSet};

use crate::{
    Emitter, Record,
    mask::{Word, fnv, words},
    names::is_name,
    phrases::{Phrase, PhraseIndex, Polarity, Proof, Strength},
};

/// A feature's key: 32 bits of a hash over its kind and content. A vocabulary of a few thousand keys makes a collision with
/// a word never seen about one in a million.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FeatureKey(pub u32);

/// Where a record stands in the story of the failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Standing {
    /// The record that decides: the first failure that is not noise.
    Decisive,
    /// Any other failure.
    Other,
}

/// Features of one log, with integer values in units of 1/256.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Features {
    /// Value of each feature.
    pub values: BTreeMap<FeatureKey, i32>,
}

/// One unit of a feature's value.
pub const UNIT: i32 = 256;

/// What a feature stands for, for explanations.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum FeatureName {
    /// A phrase by its id.
    Phrase(&'static str),
    /// A kind of phrase: cause, strength, standing.
    PhraseKind(String),
    /// One or two masked words.
    Words(String),
    /// A function of the stack.
    Frame(String),
    /// A circumstance of the log.
    Shape(&'static str),
}

/// Collects features; `names` is filled only when an explanation is wanted.
#[derive(Debug, Default)]
pub struct Collector {
    features: Features,
    ngrams: BTreeMap<FeatureKey, i32>,
    /// N-grams with a chain's or a program's name: they count among the n-grams, but no model may know them.
    of_names: BTreeSet<FeatureKey>,
    names: Option<BTreeMap<FeatureKey, FeatureName>>,
}

impl Collector {
    /// Collects values only.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Collects names as well.
    #[must_use]
    pub fn with_names() -> Self {
        Self { names: Some(BTreeMap::new()), ..Self::default() }
    }

    /// A phrase, once per log and standing.
    pub fn phrase(&mut self, index: PhraseIndex, standing: Standing) {
        let phrase = index.phrase();
        self.set(phrase_key(phrase), UNIT, || FeatureName::Phrase(phrase.id));
        let polarity = match phrase.polarity {
            Polarity::Damage(Proof::IntegrityCheck) => "integrity",
            Polarity::Damage(Proof::Words) => "damage",
            Polarity::Against => "against",
            Polarity::Benign => "benign",
        };
        let strength = match phrase.strength {
            Strength::Hint => "hint",
            Strength::Strong => "strong",
            Strength::Decisive => "decisive",
        };
        let place = match standing {
            Standing::Decisive => "decisive record",
            Standing::Other => "other record",
        };
        self.kind(format!("{} {strength} {place}", phrase.cause), UNIT);
        self.kind(format!("{} any strength {place}", phrase.cause), UNIT);
        self.kind(format!("{polarity} {strength} {place}"), UNIT);
        for (rank, also) in phrase.also.iter().enumerate() {
            let value = if rank == 0 { UNIT / 2 } else { UNIT / 4 };
            self.kind(format!("also {also} {place}"), value);
        }
    }

    fn kind(&mut self, name: String, value: i32) {
        self.set(key("k", name.as_bytes()), value, || FeatureName::PhraseKind(name));
    }

    /// Words, pairs of words and frames of a failing record.
    pub fn record(&mut self, record: &Record, standing: Standing) {
        let weight = match standing {
            Standing::Decisive => 2,
            Standing::Other => 1,
        };
        for part in [&record.message, &record.errors] {
            self.text(part, weight);
        }
        for (depth, frame) in record.frames.iter().take(24).enumerate() {
            let value = if depth < 4 { 2 * weight } else { weight };
            let key = key("f", frame.as_bytes());
            self.ngram(key, value, || FeatureName::Frame(frame.clone()));
            if depth == 0 {
                let top = key_of_top(frame);
                self.set(top, UNIT, || FeatureName::Frame(format!("top frame {frame}")));
            }
        }
    }

    fn text(&mut self, text: &str, weight: i32) {
        let mut before: Option<(Word<'_>, bool)> = None;
        words(text, &mut |word| {
            let named = matches!(word, Word::Kept(word) if is_name(word));
            let hash = word.hash();
            self.words(fold("w", hash, 0), weight, named, || FeatureName::Words(word.shown()));
            if let Some((previous, previous_named)) = before {
                self.words(fold("b", previous.hash(), hash), weight, named || previous_named, || {
                    FeatureName::Words(format!("{} {}", previous.shown(), word.shown()))
                });
            }
            before = Some((word, named));
        });
    }

    fn words(&mut self, key: FeatureKey, value: i32, named: bool, name: impl FnOnce() -> FeatureName) {
        if named {
            self.of_names.insert(key);
        } else {
            self.ngram(key, value, name);
        }
    }

    /// A circumstance of the log as a whole.
    pub fn shape(&mut self, shape: &'static str) {
        self.set(key("s", shape.as_bytes()), UNIT, || FeatureName::Shape(shape));
    }

    /// How the process ended, as the emitter of the decisive record tells.
    pub fn ending(&mut self, emitter: Option<Emitter>) {
        self.shape(match emitter {
            Some(Emitter::Panic) => "ends in a panic",
            Some(Emitter::Error) => "ends in an error line",
            Some(Emitter::Log) => "ends in a log record",
            Some(Emitter::Os) => "ends in a system message",
            Some(Emitter::Peer | Emitter::Usage) | None => "no failure of its own",
        });
    }

    fn set(&mut self, key: FeatureKey, value: i32, name: impl FnOnce() -> FeatureName) {
        let slot = self.features.values.entry(key).or_insert(0);
        *slot = (*slot).max(value);
        if let Some(names) = &mut self.names {
            names.entry(key).or_insert_with(name);
        }
    }

    fn ngram(&mut self, key: FeatureKey, value: i32, name: impl FnOnce() -> FeatureName) {
        let slot = self.ngrams.entry(key).or_insert(0);
        *slot = (*slot).max(value);
        if let Some(names) = &mut self.names {
            names.entry(key).or_insert_with(name);
        }
    }

    /// The features, and their names where they were asked for.
    #[must_use]
    pub fn finish(mut self) -> (Features, BTreeMap<FeatureKey, FeatureName>) {
        // A long log must not outweigh a short one: n-grams share a fixed budget, each value divided by √count.
        let count = u64::try_from(self.ngrams.len() + self.of_names.len()).unwrap_or(u64::MAX).max(1);
        let root = i64::try_from((count * 65_536).isqrt()).unwrap_or(i64::MAX);
        for (key, value) in self.ngrams {
            let scaled = i64::from(value) * i64::from(UNIT) * 256 * NGRAM_BUDGET / root;
            self.features.values.insert(key, i32::try_from(scaled).unwrap_or(i32::MAX));
        }
        (self.features, self.names.unwrap_or_default())
    }
}

/// The n-grams of one log together weigh about as much as this many phrases.
const NGRAM_BUDGET: i64 = 1;

fn key(kind: &str, content: &[u8]) -> FeatureKey {
    let hash = kind.bytes().chain([b':']).chain(content.iter().copied()).fold(0xcbf2_9ce4_8422_2325, fnv);
    narrow(hash)
}

/// The key of a phrase's own feature.
#[must_use]
pub fn phrase_key(phrase: &Phrase) -> FeatureKey {
    key("p", phrase.id.as_bytes())
}

fn key_of_top(frame: &str) -> FeatureKey {
    key("t", frame.as_bytes())
}

fn fold(kind: &str, first: u64, second: u64) -> FeatureKey {
    let hash = kind.bytes().fold(0xcbf2_9ce4_8422_2325, fnv);
    narrow(
        (hash ^ first.rotate_left(17)).wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ second.wrapping_mul(0xff51_afd7_ed55_8ccd),
    )
}

fn narrow(hash: u64) -> FeatureKey {
    #[expect(clippy::cast_possible_truncation, reason = "the upper half is mixed in, the rest is dropped on purpose")]
    FeatureKey((hash ^ (hash >> 32)) as u32)
}
