//! `cargo xtask e2e`: runs scenarios on the cluster and says of each whether it held.

mod audit;
mod bed;
mod damage;
mod golden;
mod kept;
mod node;
mod operator;
mod prepare;
mod report;
mod runner;
mod scenario;
mod scenarios;
mod stage;

pub(crate) use bed::Bed;
pub(crate) use runner::{Options, run};
pub(crate) use scenario::{Family, Running, Scenario};
