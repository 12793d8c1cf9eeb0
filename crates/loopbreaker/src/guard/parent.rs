//! The guard that the worker works for: it ends with it, and tells it what it sees. *No client.*

use std::io::Write;

use super::message::Message;

/// Sees to it that this process ends with the guard; false if that one is gone already.
#[cfg(target_os = "linux")]
pub(super) fn ends_with(guard: u32) -> bool {
    let _ = rustix::process::set_parent_process_death_signal(Some(rustix::process::Signal::KILL));
    std::os::unix::process::parent_id() == guard
}

/// Elsewhere its next word to the guard ends it.
#[cfg(not(target_os = "linux"))]
pub(super) fn ends_with(guard: u32) -> bool {
    std::os::unix::process::parent_id() == guard
}

/// A message to the parent. If it is gone, the node has started or was ended: nothing is left to do.
pub(super) fn tell(message: &Message) {
    let mut out = std::io::stdout().lock();
    let said = serde_json::to_writer(&mut out, message).map_err(std::io::Error::from);
    if said.and_then(|()| out.write_all(b"\n")).and_then(|()| out.flush()).is_err() {
        std::process::exit(0);
    }
}
