//! One container of a pod, as its kubelet remembers it over all its starts. *No client.*

use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};

use super::back_off::BackOff;
use crate::object::seconds;

/// A container that has ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Dead {
    pub(super) id: String,
    pub(super) code: i32,
    pub(super) reason: String,
    pub(super) started: Timestamp,
    pub(super) finished: Timestamp,
}

/// What a container does now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum State {
    /// Not started: why, in one word, and in a sentence.
    Waiting(String, String),
    /// It runs.
    Running {
        /// Since when.
        since: Timestamp,
    },
    /// It has ended, and nothing was decided yet. For a moment its log cannot be had as the previous one.
    Dead(Dead),
    /// It has ended and is to be started again at the first look after this.
    BackOff(Dead, Timestamp),
}

/// A container over all its starts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Slot {
    pub(super) name: String,
    pub(super) image: String,
    pub(super) is_init: bool,
    pub(super) id: String,
    pub(super) restarts: u32,
    pub(super) state: State,
    /// The one before the present one.
    pub(super) last: Option<Dead>,
    pub(super) back_off: BackOff,
    /// When the kubelet looks at it again while it waits.
    pub(super) next_look: Option<Timestamp>,
    pub(super) ready: bool,
}

impl Slot {
    pub(super) fn new(name: &str, image: &str, is_init: bool) -> Self {
        let reason = if is_init { "PodInitializing" } else { "ContainerCreating" };
        Self {
            name: name.to_owned(),
            image: image.to_owned(),
            is_init,
            id: String::new(),
            restarts: 0,
            state: State::Waiting(reason.to_owned(), String::new()),
            last: None,
            back_off: BackOff::default(),
            next_look: None,
            ready: false,
        }
    }

    /// Whether it ended well and is not to be started again.
    pub(super) fn is_done(&self) -> bool {
        matches!(&self.state, State::Dead(dead) if dead.code == 0)
    }

    pub(super) fn is_running(&self) -> bool {
        matches!(self.state, State::Running { .. })
    }

    /// The `ContainerStatus`.
    pub(super) fn status(&self) -> Value {
        let (state, last) = match &self.state {
            State::Waiting(reason, message) => (waiting(reason, message), self.last.as_ref()),
            State::Running { since } => (json!({"running": {"startedAt": seconds(*since)}}), self.last.as_ref()),
            State::Dead(dead) => (terminated(dead), self.last.as_ref()),
            State::BackOff(dead, _) => {
                let delay = shown(self.back_off.delay(dead.finished));
                let message = format!("back-off {delay} restarting failed container={}", self.name);
                (waiting("CrashLoopBackOff", &message), Some(dead))
            }
        };
        json!({
            "name": self.name, "image": self.image, "imageID": if self.id.is_empty() { String::new() } else { format!("{}@sha256:{}", self.image, digest(&self.image)) },
            "containerID": self.id, "ready": self.ready, "started": self.is_running(), "restartCount": self.restarts,
            "state": state, "lastState": last.map_or_else(|| json!({}), terminated),
        })
    }
}

fn waiting(reason: &str, message: &str) -> Value {
    if message.is_empty() {
        json!({"waiting": {"reason": reason}})
    } else {
        json!({"waiting": {"reason": reason, "message": message}})
    }
}

fn terminated(dead: &Dead) -> Value {
    json!({"terminated": {
        "exitCode": dead.code, "reason": dead.reason, "containerID": dead.id,
        "startedAt": seconds(dead.started), "finishedAt": seconds(dead.finished),
    }})
}

/// As Go writes it: `10s`, `1m20s`, `5m0s`.
fn shown(delay: SignedDuration) -> String {
    match (delay.as_secs() / 60, delay.as_secs() % 60) {
        (0, seconds) => format!("{seconds}s"),
        (minutes, seconds) => format!("{minutes}m{seconds}s"),
    }
}

/// Sixty-four digits that are the same for the same image.
fn digest(image: &str) -> String {
    let fold = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
    let hash = image.bytes().fold(0xcbf2_9ce4_8422_2325, fold);
    format!("{hash:016x}").repeat(4)
}
