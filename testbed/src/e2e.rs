//! `cargo xtask e2e`: runs scenarios on the cluster and says of each whether it held.

mod bed;
mod runner;
mod scenario;
mod scenarios;

pub(crate) use bed::Bed;
pub(crate) use runner::{Options, run};
pub(crate) use scenario::{Family, Running, Scenario};
