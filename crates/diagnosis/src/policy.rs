//! The judge's settings. *No client.*

use crate::Probability;

/// What a user may set about judging; everything else is fixed by the table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Policy {
    /// From which probability on the log's other cause counts as "points elsewhere" (design 4: 0.7).
    pub elsewhere_from: Probability,
    /// How many other victims with the same failure forbid a restore (design 4: one other makes two).
    pub other_victims_max: u32,
}

impl Default for Policy {
    fn default() -> Self {
        Self { elsewhere_from: Probability::from_thousandths(700), other_victims_max: 0 }
    }
}
