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

impl Phrase {
    /// Where its literal begins in a text, without regard to ASCII case.
    #[must_use]
    pub fn position_in(&self, text: &str) -> Option<usize> {
        // ASCII lower-casing keeps byte positions.
        text.to_ascii_lowercase().find(&self.text.to_ascii_lowercase())
    }

    /// Whether it nearly decides alone that an integrity check of local storage failed.
    #[must_use]
    pub fn is_failed_check(&self) -> bool {
        self.polarity == Polarity::Damage(Proof::IntegrityCheck) && self.strength == Strength::Decisive
    }
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
#[derive(Debug, Default)]
pub struct Matcher {
    /// Literals seen in the present record, and where.
    seen: Vec<(u32, Part)>,
    /// The present record in lower case, made only once a literal was seen.
    lowered: String,
}

/// The automaton, and which phrases each literal belongs to.
struct Index {
    automaton: AhoCorasick,
    phrases_of_literal: Vec<Vec<u16>>,
}

fn index() -> Option<&'static Index> {
    static INDEX: OnceLock<Option<Index>> = OnceLock::new();
    INDEX.get_or_init(build_index).as_ref()
}

fn build_index() -> Option<Index> {
    let mut literals: Vec<String> = Vec::new();
    let mut number_of = std::collections::HashMap::new();
    let mut phrases_of_literal: Vec<Vec<u16>> = Vec::new();
    for (phrase, entry) in (0_u16..).zip(PHRASES) {
        let text = entry.text.to_ascii_lowercase();
        let number = *number_of.entry(text.clone()).or_insert_with(|| {
            literals.push(text);
            phrases_of_literal.push(Vec::new());
            literals.len() - 1
        });
        phrases_of_literal.get_mut(number)?.push(phrase);
    }
    // One megabyte; the DFA scans about 1.3 times as fast and takes 24, which the operator keeps for good. `with` and `without` are
    // looked for only after a hit.
    let automaton = AhoCorasick::builder()
        .kind(Some(AhoCorasickKind::ContiguousNFA))
        .match_kind(MatchKind::Standard)
        .ascii_case_insensitive(true)
        .build(&literals)
        .ok()?;
    Some(Index { automaton, phrases_of_literal })
}

impl Matcher {
    /// A matcher over the whole table.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// All phrases in one record that its emitter may say, in the table's order, each once.
    pub fn phrases(&mut self, record: &Record, out: &mut Vec<PhraseIndex>) {
        out.clear();
        self.seen.clear();
        let Some(index) = index() else { return };
        for part in [&record.message, &record.errors] {
            self.scan(index, part, Part::Text);
        }
        self.scan(index, &record.fields, Part::Fields);
        for frame in &record.frames {
            self.scan(index, frame, Part::Frames);
        }
        if self.seen.is_empty() {
            return;
        }
        self.lower(record);
        for (literal, part) in &self.seen {
            let phrases = usize::try_from(*literal).ok().and_then(|at| index.phrases_of_literal.get(at));
            let held = phrases.into_iter().flatten().filter(|phrase| self.holds(**phrase, *part, record));
            out.extend(held.map(|phrase| PhraseIndex(*phrase)));
        }
        out.sort_unstable();
        out.dedup();
    }

    fn scan(&mut self, index: &Index, text: &str, part: Part) {
        if !text.is_empty() {
            let found = index.automaton.find_overlapping_iter(text);
            self.seen.extend(found.map(|found| (found.pattern().as_u32(), part)));
        }
    }

    fn lower(&mut self, record: &Record) {
        self.lowered.clear();
        let parts = [&record.message, &record.errors, &record.fields];
        for part in parts.into_iter().chain(&record.frames) {
            self.lowered.push_str(part);
            self.lowered.push('\n');
        }
        self.lowered.make_ascii_lowercase();
    }

    fn holds(&self, phrase: u16, part: Part, record: &Record) -> bool {
        let Some(entry) = PHRASES.get(usize::from(phrase)) else { return false };
        let in_place = match part {
            Part::Text => may_say(record.emitter, entry.places),
            // P13: a field may hold what a user sent (a memo, a transaction's log); the node's own damage stands in an error.
            Part::Fields => !matches!(entry.polarity, Polarity::Damage(_)) && may_say(record.emitter, entry.places),
            Part::Frames => entry.places.contains(&Place::Frame),
        };
        let in_record = |literal: &str| self.lowered.contains(&literal.to_ascii_lowercase());
        in_place
            && (entry.extent == Extent::Part || record.message.trim().eq_ignore_ascii_case(entry.text))
            && entry.with.iter().all(|literal| in_record(literal))
            && !entry.without.iter().any(|literal| in_record(literal))
    }
}

#[derive(Debug, Clone, Copy)]
enum Part {
    Text,
    Fields,
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
