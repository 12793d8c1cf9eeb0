//! A kubelet that finds a pod with a status from before takes up its containers where they stood. *Client `kubelet`.*
//!
//! So a world can begin in the middle of an incident: counts, the last end and the back-off go on; what ran is started
//! again without being counted, for there must be a process.

use jiff::{SignedDuration, Timestamp};
use serde_json::Value;

use super::slot::{Dead, Slot, State};
use crate::{desk::Desk, object::Fields};

/// Takes up a container from the pod's status, if it has one there.
pub(super) fn take_up(slot: &mut Slot, pod: &Value, desk: &mut Desk<'_>) {
    let list = if slot.is_init { "/status/initContainerStatuses" } else { "/status/containerStatuses" };
    let Some(status) = pod.items(list).iter().find(|status| status.text("/name") == slot.name) else { return };
    let now = desk.now;
    slot.restarts = status.number("/restartCount").and_then(|count| u32::try_from(count).ok()).unwrap_or_default();
    slot.id = status.text("/containerID").to_owned();
    slot.last = dead(status.part("/lastState/terminated"));
    let last_end = slot.last.as_ref().map(|dead| dead.finished);
    for _ in 0..slot.restarts.min(6) {
        // Each restart has doubled it; when is not known, so the last end stands for all of them.
        slot.back_off.touch(last_end.unwrap_or(now), last_end.unwrap_or(now));
    }
    if let Some(ended) = dead(status.part("/state/terminated")) {
        slot.state = State::Dead(ended);
    } else if status.text("/state/waiting/reason") == "CrashLoopBackOff"
        && let Some(ended) = slot.last.take()
    {
        let until = slot.back_off.until(ended.finished).max(now);
        slot.next_look = now.checked_add(SignedDuration::from_secs(1)).ok();
        slot.state = State::BackOff(ended, until);
    }
}

fn dead(terminated: &Value) -> Option<Dead> {
    let time = |field: &str| terminated.text(field).parse::<Timestamp>().ok();
    Some(Dead {
        id: terminated.text("/containerID").to_owned(),
        code: i32::try_from(terminated.number("/exitCode")?).ok()?,
        reason: terminated.text("/reason").to_owned(),
        started: time("/startedAt")?,
        finished: time("/finishedAt")?,
    })
}
