//! How good is it? Labelled cases, baselines beside them, figures with exact bounds. *No IO, no clock.* (design 8)
//!
//! A case is cut in two before anything is judged: [`CaseInput`] has no field for a label, so a verdict cannot have seen
//! one; [`Labels`] are read afterwards. Positive is "restoring this replica's data fixes it"; "unknown" counts as negative,
//! for hands off is then right.
//!
//! Modules in the order of use:

mod case;

mod outcome;

mod baselines;

mod statistics;

mod summary;

pub use baselines::{Baselines, PhrasesOnly, TextRules};
pub use case::{CaseError, CaseInput, DecisiveLabel, Labels, Material, RestoreFixes};
pub use outcome::{Outcome, ShownLine};
pub use statistics::{area_under_curve, lower_bound, macro_f1, recall_at, upper_bound};
pub use summary::{
    BaselineFigures, CauseFigures, Detection, Evaluation, GroupFigures, LineHits, RecallAt, Share, Summary,
};
