//! What we see and an engine does not: every reason, reviewed. A case that fits none is an error of the run.

use chainstore::{Finding, FindingKind};

use super::{damage::Damage, engines::EngineUnderTest};

/// Why an engine says nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Reason(pub(super) &'static str);

/// The reason for a case that we alone call damage.
pub(super) fn only_we(engine: EngineUnderTest, finding: &Finding, damage: &Damage) -> Option<Reason> {
    let _ = (engine, finding, damage, FindingKind::Remark);
    None
}

/// What could not be told, without names and numbers, so that the same reasons are counted together.
pub(super) fn untold(reasons: &str) -> String {
    let first = reasons.split("; ").next().unwrap_or_default();
    let words = first.split_once(": ").map_or(first, |(_, words)| words);
    let mut plain = String::new();
    for c in words.chars() {
        match c {
            '0'..='9' if plain.ends_with('N') => {}
            '0'..='9' => plain.push('N'),
            c => plain.push(c),
        }
    }
    plain
}
