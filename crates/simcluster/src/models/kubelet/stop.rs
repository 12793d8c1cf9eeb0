//! Stopping a pod: SIGTERM, the grace period, the last status, the end of the object. *Client `kubelet`.*

use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};

use super::{
    PODS, Pod,
    slot::{Dead, State},
    status,
};
use crate::{
    desk::Desk,
    object::{Fields, put},
    server::Call,
};

/// What is done after the last process: unmounting, the sandbox, the status. A crash-looping pod is gone after 1.4 s.
const CLEAN_UP: SignedDuration = SignedDuration::from_millis(1100);

impl Pod {
    /// Ends a pod that is to go; when to look again.
    pub(super) fn wind_down(&mut self, object: &Value, desk: &mut Desk<'_>) -> Option<SignedDuration> {
        let now = desk.now;
        let grace = SignedDuration::from_secs(object.number("/metadata/deletionGracePeriodSeconds").unwrap_or(30));
        let mut last_end: Option<Timestamp> = None;
        for slot in &mut self.slots {
            let name = (self.uid.clone(), slot.name.clone());
            let outside = desk.outside();
            let Some(running) = outside.running.get_mut(&name) else { continue };
            let latest = now.checked_add(grace).unwrap_or(now);
            let fresh = running.stopping.is_none();
            let since = running.stopping.map_or(now, |(since, _)| since);
            running.stopping = Some((since, running.stopping.map_or(latest, |(_, before)| before.min(latest))));
            let (end, lines) = (running.ends_at().unwrap_or(latest), running.run.stop.lines.clone());
            if fresh {
                desk.server().logs.append(&self.uid, &slot.name, lines.into_iter().map(|line| (now, line)));
            }
            if end > now {
                last_end = Some(last_end.map_or(end, |last| last.max(end)));
                continue;
            }
            if let Some(running) = desk.outside().stop(&self.uid, &slot.name, end) {
                let (code, reason) = running.exit();
                slot.ready = false;
                slot.state =
                    State::Dead(Dead { id: slot.id.clone(), code, reason, started: running.started, finished: end });
            }
        }
        if let Some(end) = last_end {
            return Some(end.duration_since(now).max(SignedDuration::from_millis(1)));
        }
        let ended = *self.ended.get_or_insert(now);
        let gone = ended.checked_add(CLEAN_UP).unwrap_or(now);
        if gone > now {
            return Some(gone.duration_since(now));
        }
        let mut last = status::status(object, &self.slots, &self.address, self.started, now);
        put(&mut last, "phase", status::ended(object, &self.slots).into());
        drop(desk.merge_status(PODS, object, &last));
        drop(desk.call(&final_delete(object)));
        None
    }
}

/// The kubelet's own last word about a pod.
pub(super) fn final_delete(object: &Value) -> Call {
    let body = json!({"gracePeriodSeconds": 0, "preconditions": {"uid": object.uid()}});
    Call::delete(PODS, object.namespace(), object.name()).with_body(body)
}
