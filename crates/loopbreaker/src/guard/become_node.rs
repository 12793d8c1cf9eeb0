//! Becoming the node. *No client.*

use std::{ffi::OsString, io, os::unix::process::CommandExt, process::Command};

use crate::words::clean;

/// Why the node's command could not be started. The status is a shell's: 127 where there is no such command, 126 where it
/// cannot be run.
#[derive(Debug, thiserror::Error)]
#[error("{command}: cannot be started: {source} (check the command after `--`, and that it is in this image)")]
pub(crate) struct CannotStart {
    command: String,
    source: io::Error,
}

impl CannotStart {
    /// What a shell's exit status would be.
    pub(crate) fn status(&self) -> u8 {
        if self.source.kind() == io::ErrorKind::NotFound { 127 } else { 126 }
    }
}

/// Replaces this process. Comes back only if that fails. The standard library gives the node the signal handling that a
/// program expects at its start.
pub(super) fn become_node(command: &[OsString]) -> CannotStart {
    let Some((program, arguments)) = command.split_first() else {
        return CannotStart { command: "no command".to_owned(), source: io::ErrorKind::NotFound.into() };
    };
    let source = Command::new(program).args(arguments).exec();
    CannotStart { command: clean(&program.to_string_lossy()), source }
}
