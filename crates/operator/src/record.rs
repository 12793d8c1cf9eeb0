//! What is written into a Recovery, as a function of what was seen and said. *No client, no clock.* (P14)

mod conditions;
mod sentence;
mod verdict;

pub(crate) use conditions::{Said as Condition, Truth, set_condition};
pub(crate) use sentence::{held_because, opened, summary};
pub(crate) use verdict::report;
