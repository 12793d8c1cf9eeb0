//! A process: what it prints, how far it comes, and how it ends. *No client.*

use std::collections::BTreeMap;

use jiff::{SignedDuration, Timestamp};

use super::Chain;

/// How a process ends by itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct End {
    /// How long after its start.
    pub after: SignedDuration,
    /// Its exit status.
    pub code: i32,
    /// `Error`, `Completed`, `OOMKilled`.
    pub reason: String,
}

/// What a process does when it is asked to stop (SIGTERM).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stop {
    /// How long it takes; longer than the grace period means that it is killed (137).
    pub after: SignedDuration,
    /// Its exit status. CometBFT nodes of some versions panic here: exit 2 on a normal stop.
    pub code: i32,
    /// What it prints.
    pub lines: Vec<String>,
}

/// How the node's height moves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Course {
    /// Not at all.
    Still,
    /// With the chain, catching up by so many blocks a second.
    Following {
        /// Blocks a second while it is behind.
        catch_up: u64,
    },
}

/// One start of a process: all that follows from it, decided at once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Run {
    /// What it prints, and how long after its start.
    pub lines: Vec<(SignedDuration, String)>,
    /// How it ends by itself; nothing for one that stays up.
    pub ends: Option<End>,
    /// When it is ready; nothing for never.
    pub ready_after: Option<SignedDuration>,
    /// How its height moves.
    pub course: Course,
    /// What it does on SIGTERM.
    pub stop: Stop,
    /// When its RPC begins to answer; nothing for never.
    pub rpc_after: Option<SignedDuration>,
    /// The version that it says on RPC.
    pub version: String,
    /// The chain that it follows.
    pub chain: Option<String>,
}

impl Run {
    /// A process that stays up and is ready at once.
    #[must_use]
    pub fn forever() -> Self {
        Self {
            lines: Vec::new(),
            ends: None,
            ready_after: Some(SignedDuration::ZERO),
            course: Course::Still,
            stop: Stop { after: SignedDuration::from_millis(500), code: 0, lines: Vec::new() },
            rpc_after: None,
            version: String::new(),
            chain: None,
        }
    }

    /// A process that does its work and exits with 0.
    #[must_use]
    pub fn done_after(after: SignedDuration) -> Self {
        Self::ending(after, 0, &[])
    }

    /// A process that prints and exits.
    #[must_use]
    pub fn ending(after: SignedDuration, code: i32, lines: &[String]) -> Self {
        let reason = if code == 0 { "Completed" } else { "Error" };
        Self {
            lines: lines.iter().map(|line| (after, line.clone())).collect(),
            ends: Some(End { after, code, reason: reason.to_owned() }),
            ready_after: None,
            ..Self::forever()
        }
    }
}

/// A run under way.
#[derive(Debug, Clone)]
pub(crate) struct Running {
    pub(crate) run: Run,
    pub(crate) started: Timestamp,
    /// The height at its start.
    pub(crate) from: u64,
    /// The driver's name of the node's volume.
    pub(crate) volume: Option<String>,
    pub(crate) image: String,
    /// When it was asked to stop, and when it must be gone.
    pub(crate) stopping: Option<(Timestamp, Timestamp)>,
}

impl Running {
    /// The node's height at a time.
    pub(crate) fn height(&self, chains: &BTreeMap<String, Chain>, now: Timestamp) -> Option<u64> {
        let Course::Following { catch_up } = self.run.course else { return None };
        let chain = chains.get(self.run.chain.as_ref()?)?;
        let last = self.ends_at().map_or(now, |end| now.min(end));
        let passed = u64::try_from(last.duration_since(self.started).as_secs()).unwrap_or_default();
        let reached = self.from.saturating_add(passed.saturating_mul(catch_up));
        let stop = chain.stops_at(&self.image).map_or(u64::MAX, |upgrade| upgrade.height.saturating_sub(1));
        Some(reached.min(chain.height_at(last)).min(stop).max(self.from))
    }

    /// When it ends: by itself, or because it was told to.
    pub(crate) fn ends_at(&self) -> Option<Timestamp> {
        let by_itself = self.run.ends.as_ref().and_then(|end| self.started.checked_add(end.after).ok());
        let told = self
            .stopping
            .map(|(since, latest)| since.checked_add(self.run.stop.after).map_or(latest, |end| end.min(latest)));
        match (by_itself, told) {
            (Some(one), Some(other)) => Some(one.min(other)),
            (one, other) => one.or(other),
        }
    }

    /// How it ended, at the time of its end.
    pub(crate) fn exit(&self) -> (i32, String) {
        let by_itself = self.run.ends.as_ref().and_then(|end| Some((self.started.checked_add(end.after).ok()?, end)));
        match (by_itself, self.stopping) {
            (Some((at, end)), stopping) if stopping.is_none() || self.ends_at() == Some(at) => {
                (end.code, end.reason.clone())
            }
            (_, Some((since, latest))) => {
                let in_time = since.checked_add(self.run.stop.after).is_ok_and(|end| end <= latest);
                let code = if in_time { self.run.stop.code } else { 137 };
                (code, if code == 0 { "Completed" } else { "Error" }.to_owned())
            }
            _ => (0, "Completed".to_owned()),
        }
    }

    /// Whether its readiness probe has passed.
    pub(crate) fn is_ready(&self, now: Timestamp) -> bool {
        self.stopping.is_none() && self.begun(self.run.ready_after, now)
    }

    /// Whether its RPC answers.
    pub(crate) fn answers(&self, now: Timestamp) -> bool {
        self.begun(self.run.rpc_after, now) && self.ends_at().is_none_or(|end| now < end)
    }

    fn begun(&self, after: Option<SignedDuration>, now: Timestamp) -> bool {
        after.and_then(|after| self.started.checked_add(after).ok()).is_some_and(|at| at <= now)
    }
}
