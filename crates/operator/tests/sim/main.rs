//! The whole operator in the simulated cluster: real kube `Controller`s, virtual time, seeded; every request is watched.

#![expect(clippy::expect_used, clippy::indexing_slicing, reason = "what is shared by tests is test code too")]

mod faults;
mod healthy;
mod stage;
mod stories;
