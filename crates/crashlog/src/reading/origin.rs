//! Who says a line: a local module, a remote party, the machine, or the process in plain words. *No IO.*

use memchr::memmem;

use crate::{Emitter, Level};

/// Modules whose records always carry what a remote party sent.
fn is_of_peers(module: &str) -> bool {
    matches!(
        module,
        "p2p"
            | "pex"
            | "mempool"
            | "rpc-server"
            | "rpc"
            | "json-rpc"
            | "jsonrpc"
            | "json-rpc-server"
            | "api-server"
            | "api"
            | "grpc"
            | "grpc-server"
            | "grpc-web"
            | "tx-query"
            | "websocket"
    )
}

/// Messages that speak of a peer without a field that names it.
const PEER_MESSAGES: [&str; 8] = [
    "Stopping peer for error",
    "Error dialing peer",
    "Dialing peer",
    "Failed to reconnect to peer",
    "Error reconnecting to peer",
    "Reconnecting to peer",
    "Peer sent us",
    "Ignoring inbound connection",
];

/// Emitter of a record in a log format. P13: what names a peer is the peer's word.
pub(super) fn of(module: &str, message: &str, names_peer: bool) -> Emitter {
    if names_peer
        || is_of_peers(module)
        || message.starts_with(['S', 'E', 'D', 'F', 'R', 'P', 'I'])
            && PEER_MESSAGES.iter().any(|start| message.starts_with(start))
    {
        Emitter::Peer
    } else {
        Emitter::Log
    }
}

/// Units of systemd and tags of syslog that belong to the machine.
pub(super) fn is_machine(unit: &[u8]) -> bool {
    let known: [&[u8]; 20] = [
        b"systemd",
        b"kernel",
        b"kubelet",
        b"containerd",
        b"dockerd",
        b"docker",
        b"crio",
        b"runc",
        b"sshd",
        b"cron",
        b"CRON",
        b"crond",
        b"sudo",
        b"su",
        b"rsyslogd",
        b"dbus-daemon",
        b"snapd",
        b"audit",
        b"auditd",
        b"oomd",
    ];
    known.contains(&unit) || unit.starts_with(b"systemd-") || unit.starts_with(b"(") || unit.starts_with(b"k3s")
}

/// Emitter and level of bare text.
pub(super) fn of_bare(line: &[u8]) -> (Emitter, Level) {
    if is_error(line) {
        return (Emitter::Error, Level::Error);
    }
    if is_shell(line) { (Emitter::Os, Level::None) } else { (Emitter::Error, Level::None) }
}

/// `Error: …`, `ERROR: …`, as cobra and Tendermint's commands print it.
pub(super) fn is_error(line: &[u8]) -> bool {
    [&b"Error:"[..], b"ERROR:", b"error:", b"Error{", b"ERROR ", b"FATAL:", b"Fatal:"]
        .iter()
        .any(|start| line.starts_with(start))
}

/// What shells, the dynamic loader and the container runtime print in the process' place.
fn is_shell(line: &[u8]) -> bool {
    if matches!(
        line,
        b"Killed" | b"Terminated" | b"Aborted" | b"Hangup" | b"Illegal instruction" | b"Segmentation fault"
    ) {
        return true;
    }
    let starts = [
        &b"exec "[..],
        b"standard_init_linux.go",
        b"container_linux.go",
        b"OCI runtime",
        b"Illegal instruction (",
        b"Segmentation fault (",
        b"Aborted (",
        b"Bus error (",
        b"bash: ",
        b"sh: ",
        b"/bin/sh: ",
        b"/bin/bash: ",
        b"make: ",
    ];
    let inside = [
        &b": error while loading shared libraries: "[..],
        b": version `GLIBC_",
        b": cannot execute binary file",
        b": command not found",
        b".sh: line ",
        b": exec format error",
    ];
    starts.iter().any(|start| line.starts_with(start)) || inside.iter().any(|part| memmem::find(line, part).is_some())
}
