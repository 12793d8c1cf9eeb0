//! The operator: watches chain nodes, collects evidence about those that crash on every start, and records a verdict.
//!
//! Modules in the order of the flow (watch → detect → collect → judge → plan → act → record). *One* file holds a client that
//! writes ([`recover`]'s `act.rs`), and one more keeps the Lease; everything that decides is a function of values.

mod settings;

mod clock;

pub use clock::Clock;
pub use settings::{Inspector, LeaseTimes, Settings};
