//! The operator: watches chain nodes, collects evidence about those that crash on every start, and records a verdict.
//!
//! Modules in the order of the flow (watch → detect → collect → judge → plan → act → record). *One* file holds a client that
//! writes (`recover/act.rs`), and one more keeps the Lease; everything that decides is a function of values.

mod settings;

mod clock;

mod error;

mod run;

mod lease;

mod watch;
mod hearing;
mod bells;

mod records;

mod log_book;

mod recover;

mod record;

pub use clock::Clock;
pub use error::OperatorError;
pub use lease::LEASE;
pub use recover::{ActError, Suspension, set_suspended};
pub use run::{Operator, run};
pub use settings::{Inspector, LeaseTimes, Settings};
