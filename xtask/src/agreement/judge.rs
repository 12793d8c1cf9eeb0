//! An engine in a process of its own that judges one directory after the other, and may end or hang on any of them.

use std::{
    fs::File,
    io::{BufRead, BufReader, Write},
    path::{Path, PathBuf},
    process::{Child, ChildStdin, Stdio},
    sync::mpsc::{self, Receiver},
    time::Duration,
};

use anyhow::{Context, Result};
use serde::Deserialize;

use super::engines::Peer;

/// How long one small directory may take.
const PATIENCE: Duration = Duration::from_mins(2);

/// What an engine says of a directory: nothing, or what is wrong with it.
pub(super) type Complaint = Option<String>;

#[derive(Deserialize)]
struct Answer {
    error: String,
}

pub(super) struct Judge<'p> {
    peer: &'p Peer,
    /// Where the process complains.
    words: PathBuf,
    running: Option<Running>,
}

struct Running {
    child: Child,
    questions: ChildStdin,
    answers: Receiver<String>,
}

impl<'p> Judge<'p> {
    pub(super) fn new(peer: &'p Peer, scratch: &Path) -> Self {
        Self { peer, words: scratch.join("judge.stderr"), running: None }
    }

    /// Lets the engine judge a directory, which it may alter.
    pub(super) fn ask(&mut self, dir: &Path) -> Result<Complaint> {
        let running = match &mut self.running {
            Some(running) => running,
            none => none.insert(start(self.peer, &self.words)?),
        };
        writeln!(running.questions, "{}", dir.display()).context("the engine's process takes no more questions")?;
        if let Ok(line) = running.answers.recv_timeout(PATIENCE) {
            let answer: Answer = serde_json::from_str(&line).with_context(|| line.clone())?;
            return Ok(Some(answer.error).filter(|error| !error.is_empty()));
        }
        // It ended without an answer, or hangs.
        if let Some(mut running) = self.running.take() {
            let hangs = running.child.try_wait()?.is_none();
            std::thread::sleep(Duration::from_millis(20));
            let hangs = hangs && running.child.try_wait()?.is_none();
            running.child.kill()?;
            running.child.wait()?;
            if hangs {
                return Ok(Some("the engine hangs".to_owned()));
            }
        }
        let said = std::fs::read_to_string(&self.words).unwrap_or_default();
        let reason =
            said.lines().find(|line| line.starts_with("panic:") || line.starts_with("fatal")).or(said.lines().next());
        let reason = reason.unwrap_or("no word").replace(&dir.display().to_string(), "DB");
        Ok(Some(format!("the engine ends the process: {reason}")))
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // A process that has ended already is no concern.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn start(peer: &Peer, words: &Path) -> Result<Running> {
    let mut command = peer.command("serve");
    command.arg("-").stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(File::create(words)?);
    let mut child = command.spawn().with_context(|| format!("{command:?}"))?;
    let questions = child.stdin.take().context("no way to ask")?;
    let output = child.stdout.take().context("no way to hear")?;
    let (sender, answers) = mpsc::channel();
    std::thread::spawn(move || {
        for line in BufReader::new(output).lines().map_while(Result::ok) {
            if sender.send(line).is_err() {
                break;
            }
        }
    });
    Ok(Running { child, questions, answers })
}
