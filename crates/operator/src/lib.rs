//! The operator: watches chain nodes, collects evidence about those that crash on every start, and records a verdict.
//!
//! Modules in the order of the flow (watch → detect → collect → judge → plan → act → record). *One* file holds a client that
//! writes (`recover/act.rs`), and one more keeps the Lease; everything that decides is a function of values. What is decided
//! lies in `diagnosis` ([`diagnosis::judge`], [`diagnosis::next`]).

mod settings;

mod clock;

mod error;

mod run;

mod lease;

mod watch;

mod hearing;

mod bells;

mod index;

mod records;

mod detect;

mod log_book;

mod collect;

mod recover;

mod record;

mod metrics;

mod http;

pub use clock::Clock;
pub use collect::{
    Asking, BundleLog, BundleOf, CollectedBundle, HttpRpc, InspectionReport, NotAReport, Rpc, RpcAddress, RpcFailure,
    collect_bundle, guard_words, read_inspection, redact, status_of,
};
pub use error::OperatorError;
pub use http::{Readiness, serve};
pub use lease::LEASE;
pub use metrics::Metrics;
pub use recover::{ActError, Suspension, set_suspended};
pub use run::{Operator, run};
pub use settings::{Inspector, LeaseTimes, Settings};
