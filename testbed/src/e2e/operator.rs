//! Our operator in a scenario's namespace, with the shipped rights and a policy that observes.

mod deploy;
mod policy;

pub(crate) use deploy::{Deployed, install_kinds, uninstall};
