//! The judge's settings. *No client.*

use crate::Probability;

/// What a user may set about judging; everything else is fixed by the table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Policy {
    /// From which probability on the log's other cause counts as "points elsewhere". A policy can only tighten the
    /// design's word: more than [`Policy::ELSEWHERE_FROM_AT_MOST`] counts as that.
    pub elsewhere_from: Probability,
}

impl Policy {
    /// Design 4: "another cause with p ≥ 0.7".
    pub const ELSEWHERE_FROM_AT_MOST: Probability = Probability::from_thousandths(700);
}

impl Default for Policy {
    fn default() -> Self {
        Self { elsewhere_from: Self::ELSEWHERE_FROM_AT_MOST }
    }
}
