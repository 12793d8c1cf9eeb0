//! A signal during the checks ends the guard as it would end the node. *No client.*

use std::sync::{Arc, atomic::AtomicBool};

use signal_hook::{
    consts::{SIGINT, SIGTERM},
    flag,
};

/// The first process of a container is not ended by a signal that it has no handler for, so the handler exits with a
/// shell's status of that signal. The handlers are gone once this process is the node: `exec` resets them, so no signal
/// falls in between.
pub(super) fn end_as_the_node_would() {
    let is_first = std::process::id() == 1;
    for signal in [SIGTERM, SIGINT] {
        let always = Arc::new(AtomicBool::new(true));
        // Without a handler the signal does what it did before: never a reason not to start.
        let _ = if is_first {
            flag::register_conditional_shutdown(signal, 128 + signal, always)
        } else {
            flag::register_conditional_default(signal, always)
        };
    }
}
