//! The operator's rights, as data: `config/rbac/` and the table of docs/operator.md are written from it, the scenarios run
//! the operator with them, and `rights-used` compares them with the API server's audit log.

mod files;
mod install;
mod table;

#[cfg(test)]
mod tests;

pub(crate) use install::{Installed, install, uninstall};
pub(crate) use table::{Reach, Right, rights};
