//! Phrases: literal parts of messages that software really prints, each with cause, polarity, allowed emitter and source.
//!
//! The table is `data/phrases.toml`; `build.rs` turns it into [`PHRASES`]. All literals of all phrases are searched for in
//! one pass of an Aho–Corasick automaton, without regard to ASCII case.

use std::sync::OnceLock;

use aho_corasick::{AhoCorasick, AhoCorasickKind, MatchKind};
use diagnosis::{Cause, Symptom};

use crate::{Emitter, Record};

/// One entry of the data file.
#[derive(Debug)]
pub struct Phrase {
    /// `<software>-<what>`, unique.
    pub id: &'static str,
    /// The literal that must occur in the record.
    pub text: &'static str,
    /// Literals that must occur in the same record as well.
    pub with: &'static [&'static str],
    /// Literals that must not.
    pub without: &'static [&'static str],
    /// The most probable cause when this is what killed the node.
    pub cause: Cause,
    /// Other causes that print it as well, the likeliest first.
    pub also: &'static [Cause],
    /// What it says about the replica's own data.
    pub polarity: Polarity,
    /// How far it decides.
    pub strength: Strength,
    /// Who may say it so that it counts.
    pub places: &'static [Place],
    /// How much of the message the literal is.
    pub extent: Extent,
    /// The symptom it shows, where one more fact decides.
    pub symptom: Option<Symptom>,
    /// Project and file that print it.
    pub source: &'static str,
}

use Cause::{
    BadSnapshot, ChainWideBug, ConfigError, DiskFull, ImageOrRuntime, IoError, KeyOrDoubleSign, LogicalInconsistency,
    NetworkOrPeer, Oom, OtherBug, PermissionOrLock, PhysicalCorruption, PortInUse, RemoteSigner, UpgradeNeeded,
    WalCorruption, WrongBinary,
};

/// What a phrase says about the replica's own data.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Polarity {
    /// It is damaged, inconsistent or half restored.
    Damage(Proof),
    /// The cause lies elsewhere.
    Against,
    /// Healthy nodes print it too.
    Benign,
}

/// How a damage phrase comes to be printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Proof {
    /// Only through a failed integrity check of local storage.
    IntegrityCheck,
    /// In other ways too.
    Words,
}

/// How far a phrase decides the cause.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Strength {
    /// Ambiguous.
    Hint,
    /// Strong.
    Strong,
    /// Nearly decides alone.
    Decisive,
}

/// Where a phrase may stand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// Header and cause chain of a panic.
    Panic,
    /// A plain line of the process.
    Error,
    /// A structured record of a local module.
    Log,
    /// A function of the stack.
    Frame,
    /// Kernel, systemd, runtime, kubelet, shell, loader.
    Os,
    /// A record that carries a remote party's data.
    Peer,
}

/// How much of a message a phrase is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Extent {
    /// A part of it.
    Part,
    /// All of it: short words that a shell prints alone and that other messages hold, too.
    Whole,
}

/// Index of a phrase in [`PHRASES`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PhraseIndex(u16);

impl PhraseIndex {
    /// The entry.
    #[must_use]
    pub fn phrase(self) -> &'static Phrase {
        // An index is only made by this module while it walks the table; the fallback keeps this total.
        PHRASES.get(usize::from(self.0)).unwrap_or(&NO_PHRASE)
    }
}

static NO_PHRASE: Phrase = Phrase {
    id: "none",
    text: "",
    with: &[],
    without: &[],
    cause: Cause::Unknown,
    also: &[],
    polarity: Polarity::Benign,
    strength: Strength::Hint,
    places: &[],
    extent: Extent::Part,
    symptom: None,
    source: "",
};

/// The whole table, in the data file's order.
pub static PHRASES: &[Phrase] = include!(concat!(env!("OUT_DIR"), "/phrases.rs"));

/// Finds phrases in records; one per log, reused for each record.
#[derive(Debug)]
pub struct Matcher {
    found: Vec<Found>,
    generation: u32,
    touched: Vec<u32>,
}

/// Where a literal was last seen: the generation number tells whether that was in the present record.
#[derive(Debug, Clone, Copy, Default)]
struct Found {
    in_text: u32,
    in_frames: u32,
}

/// The automaton and which literal belongs to which phrase.
struct Index {
    automaton: AhoCorasick,
    /// Phrases whose `text` is this literal.
    phrases_of_literal: Vec<Vec<u16>>,
    /// Each phrase's own literal, and those of its `with` and `without`.
    text: Vec<u32>,
    with: Vec<Vec<u32>>,
    without: Vec<Vec<u32>>,
}

fn index() -> Option<&'static Index> {
    static INDEX: OnceLock<Option<Index>> = OnceLock::new();
    INDEX.get_or_init(build_index).as_ref()
}

fn build_index() -> Option<Index> {
    let mut literals: Vec<String> = Vec::new();
    let mut number_of = std::collections::HashMap::new();
    let mut literal = |text: &str| -> u32 {
        let text = text.to_ascii_lowercase();
        *number_of.entry(text.clone()).or_insert_with(|| {
            literals.push(text);
            u32::try_from(literals.len() - 1).unwrap_or(u32::MAX)
        })
    };
    let mut texts = Vec::new();
    let (mut with, mut without) = (Vec::new(), Vec::new());
    for phrase in PHRASES {
        texts.push(literal(phrase.text));
        with.push(phrase.with.iter().map(|text| literal(text)).collect());
        without.push(phrase.without.iter().map(|text| literal(text)).collect());
    }
    let mut phrases_of_literal = vec![Vec::new(); literals.len()];
    for (phrase, text) in (0_u16..).zip(&texts) {
        if let Some(phrases) = usize::try_from(*text).ok().and_then(|text| phrases_of_literal.get_mut(text)) {
            phrases.push(phrase);
        }
    }
    // The DFA scans about 1.6 times as fast as the contiguous NFA and still fits in a few MB.
    let automaton = AhoCorasick::builder()
        .kind(Some(AhoCorasickKind::DFA))
        .match_kind(MatchKind::Standard)
        .ascii_case_insensitive(true)
        .build(&literals)
        .ok()?;
    Some(Index { automaton, phrases_of_literal, text: texts, with, without })
}

impl Default for Matcher {
    fn default() -> Self {
        Self::new()
    }
}

impl Matcher {
    /// A matcher over the whole table.
    #[must_use]
    pub fn new() -> Self {
        let literals = index().map_or(0, |index| index.phrases_of_literal.len());
        Self { found: vec![Found::default(); literals], generation: 0, touched: Vec::new() }
    }

    /// All phrases in one record that its emitter may say, in the table's order, each once.
    pub fn phrases(&mut self, record: &Record, out: &mut Vec<PhraseIndex>) {
        out.clear();
        let Some(index) = index() else { return };
        self.generation = self.generation.wrapping_add(1);
        self.touched.clear();
        for part in [&record.message, &record.errors, &record.fields] {
            self.scan(index, part, Part::Text);
        }
        for frame in &record.frames {
            self.scan(index, frame, Part::Frames);
        }
        if self.touched.is_empty() {
            return;
        }
        for literal in &self.touched {
            let Some(phrases) = usize::try_from(*literal).ok().and_then(|at| index.phrases_of_literal.get(at)) else {
                continue;
            };
            out.extend(
                phrases.iter().filter(|phrase| self.holds(index, **phrase, record)).map(|phrase| PhraseIndex(*phrase)),
            );
        }
        out.sort_unstable();
        out.dedup();
    }

    fn scan(&mut self, index: &Index, text: &str, part: Part) {
        if text.is_empty() {
            return;
        }
        for found in index.automaton.find_overlapping_iter(text) {
            let literal = found.pattern().as_u32();
            if let Some(seen) = self.found.get_mut(found.pattern().as_usize()) {
                if seen.in_text != self.generation && seen.in_frames != self.generation {
                    self.touched.push(literal);
                }
                match part {
                    Part::Text => seen.in_text = self.generation,
                    Part::Frames => seen.in_frames = self.generation,
                }
            }
        }
    }

    fn holds(&self, index: &Index, phrase: u16, record: &Record) -> bool {
        let Some(entry) = PHRASES.get(usize::from(phrase)) else { return false };
        let seen = |literal: &u32| {
            usize::try_from(*literal).ok().and_then(|at| self.found.get(at)).copied().unwrap_or_default()
        };
        let anywhere = |literal: &u32| {
            let seen = seen(literal);
            seen.in_text == self.generation || seen.in_frames == self.generation
        };
        let at = usize::from(phrase);
        let own = index.text.get(at).map(seen).unwrap_or_default();
        let in_place = (own.in_text == self.generation && may_say(record.emitter, entry.places))
            || (own.in_frames == self.generation && entry.places.contains(&Place::Frame));
        in_place
            && (entry.extent == Extent::Part || record.message.trim().eq_ignore_ascii_case(entry.text))
            && index.with.get(at).is_some_and(|literals| literals.iter().all(anywhere))
            && !index.without.get(at).is_some_and(|literals| literals.iter().any(anywhere))
    }
}

#[derive(Clone, Copy)]
enum Part {
    Text,
    Frames,
}

/// Whether a record's emitter is among the places where a phrase counts.
///
/// A bare line may come from the container's entry-point shell, so what the system says counts there too; help text and
/// a peer's words count nowhere but where the table says so.
fn may_say(emitter: Emitter, places: &[Place]) -> bool {
    places.iter().any(|place| match place {
        Place::Panic => emitter == Emitter::Panic,
        Place::Error => emitter == Emitter::Error,
        Place::Log => emitter == Emitter::Log,
        Place::Os => matches!(emitter, Emitter::Os | Emitter::Error),
        Place::Peer => emitter == Emitter::Peer,
        Place::Frame => false,
    })
}
