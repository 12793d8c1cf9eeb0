//! A real chain: its program, homes with some hundred heights behind them, and the pods that run from them.

mod image;
mod program;
mod rpc;
mod seed;
mod transaction;
mod victim;
mod workload;

pub(crate) use image::{CHAIN, write as write_image};
pub(crate) use program::Program;
pub(crate) use seed::{Engine, Seed};
pub(crate) use transaction::{Chain, prepared};
pub(crate) use victim::Victim;
pub(crate) use workload::{NODES, Shape, Workload, create};
