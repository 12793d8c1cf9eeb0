//! Every scenario there is.

use super::Scenario;

/// All scenarios, in the order in which they are listed.
pub(crate) fn all() -> Vec<Scenario> {
    Vec::new()
}
