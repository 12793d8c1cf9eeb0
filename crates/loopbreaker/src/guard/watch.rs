//! Watching the worker: its words go to standard error, and nobody waits for it beyond the deadline. *No client.*
//!
//! A process that waits for a dead disk cannot be ended, not even by `exec` if it is a thread of the same process; a child
//! can be left alone.

use std::{
    ffi::OsString,
    io::{BufRead, BufReader, Read, Write},
    process::{Child, Command, Stdio},
    sync::mpsc::{self, RecvTimeoutError},
    thread,
    time::Duration,
};

use super::{
    Arguments,
    message::{self, Message},
    until::Until,
};

/// A line of the worker is not longer.
const LINE_BYTES_MAX: u64 = 1 << 20;

/// After its last word the worker has nothing left to do.
const FAREWELL: Duration = Duration::from_millis(500);

/// What was seen, as far as it came.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Seen {
    /// The first proven damage that stops the node.
    pub(super) damage: Option<String>,
    /// A database that was there before.
    pub(super) lost: Option<String>,
}

/// Lets the worker look until the deadline.
pub(super) fn watch(arguments: &Arguments) -> Seen {
    let until = Until::after(arguments.deadline);
    let mut seen = Seen::default();
    let mut child = match spawn(arguments) {
        Ok(child) => child,
        Err(error) => {
            message::say(arguments.output, &format!("nothing was checked: {error}; the node starts anyway"));
            return seen;
        }
    };
    match listen(&mut child, until, &mut seen) {
        End::Done => wait_for(&mut child, FAREWELL),
        End::Silent => {
            wait_for(&mut child, FAREWELL);
            let how = child.try_wait().ok().flatten().map_or_else(|| "no status".to_owned(), |how| how.to_string());
            message::say(arguments.output, &format!("the checks ended early ({how}); the node starts anyway"));
        }
        End::Deadline => {
            let time = arguments.deadline.as_millis();
            let what = "what was not read by then is not judged; the node starts";
            message::say(arguments.output, &format!("stopped at its deadline of {time} ms; {what}"));
        }
    }
    let _ = child.kill();
    wait_for(&mut child, FAREWELL);
    seen
}

/// How listening ended.
enum End {
    Done,
    Silent,
    Deadline,
}

fn listen(child: &mut Child, until: Until, seen: &mut Seen) -> End {
    let Some(words) = child.stdout.take() else { return End::Silent };
    let (tell, told) = mpsc::channel();
    // Standard error may be stuck too; the reader waits for it, not the one that becomes the node.
    let read = move || {
        let mut words = BufReader::new(words);
        let mut line = Vec::new();
        while let Ok(count @ 1..) = words.by_ref().take(LINE_BYTES_MAX).read_until(b'\n', &mut line) {
            let message = serde_json::from_slice(line.get(..count).unwrap_or_default());
            line.clear();
            match message {
                Ok(Message::Line(line)) => drop(writeln!(std::io::stderr(), "{line}")),
                Ok(message) => drop(tell.send(message)),
                Err(_) => {}
            }
        }
    };
    if thread::Builder::new().spawn(read).is_err() {
        return End::Silent;
    }
    loop {
        match told.recv_timeout(until.left()) {
            Ok(Message::Damage(why)) => seen.damage = seen.damage.take().or(Some(why)),
            Ok(Message::Lost(why)) => seen.lost = seen.lost.take().or(Some(why)),
            Ok(Message::Done) => return End::Done,
            Ok(Message::Line(_)) => {}
            Err(RecvTimeoutError::Timeout) => return End::Deadline,
            Err(RecvTimeoutError::Disconnected) => return End::Silent,
        }
    }
}

/// Reaps the child if it ends soon; one that hangs on a dead disk stays behind.
fn wait_for(child: &mut Child, time: Duration) {
    const STEP: Duration = Duration::from_millis(2);
    let until = Until::after(time);
    while !until.is_over() && matches!(child.try_wait(), Ok(None)) {
        thread::sleep(STEP);
    }
}

/// The same program with the same arguments.
fn spawn(arguments: &Arguments) -> std::io::Result<Child> {
    let mut command = Command::new(std::env::current_exe()?);
    command
        .arg("guard")
        .arg("--worker")
        .arg(std::process::id().to_string())
        .arg("--home")
        .arg(arguments.home())
        .arg("--ring")
        .arg(arguments.ring());
    command.arg("--deadline").arg(format!("{}ms", arguments.deadline.as_millis()));
    for log in &arguments.log {
        command.arg("--log").arg(log);
    }
    command.arg("--keep").arg(arguments.keep.to_string());
    command.arg("--max-bytes").arg(arguments.max_bytes.to_string());
    command.arg("--output").arg(match arguments.output {
        crate::diagnose::Format::Text => "text",
        crate::diagnose::Format::Json => "json",
    });
    command.env_remove("LOOPBREAKER_POD_UID");
    if let Some(uid) = &arguments.pod_uid {
        let mut argument = OsString::from("--pod-uid=");
        argument.push(uid);
        command.arg(argument);
    }
    command.args(["--", "node"]);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
    command.spawn()
}
