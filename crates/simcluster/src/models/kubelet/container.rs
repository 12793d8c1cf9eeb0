//! One container's next step: started, ended, waiting out its back-off, started again. *Client `kubelet`.*

use jiff::{SignedDuration, Timestamp};
use serde_json::Value;

use super::{
    Pod,
    slot::{Dead, Slot, State},
    start,
};
use crate::{desk::Desk, object::Fields};

impl Pod {
    /// One container's next step; when to look again.
    pub(super) fn step(&mut self, place: usize, object: &Value, desk: &mut Desk<'_>) -> Option<Timestamp> {
        let now = desk.now;
        let uid = self.uid.clone();
        let slot = self.slots.get_mut(place)?;
        match slot.state.clone() {
            State::Waiting(..) => {
                if slot.next_look.is_some_and(|look| look > now) {
                    return slot.next_look;
                }
                start::start(slot, object, desk)
            }
            State::Running { since } => {
                let running = desk.outside().process(&uid, &slot.name)?;
                let Some(end) = running.ends_at() else { return ready_at(running, now) };
                // The kubelet's own watch over its containers notices within a second.
                let jitter = SignedDuration::from_millis(200 + i64::from(end.subsec_millisecond()) % 700);
                let look = end.checked_add(jitter).unwrap_or(end);
                if look > now {
                    return Some(ready_at(running, now).map_or(look, |ready| ready.min(look)));
                }
                let running = desk.outside().stop(&uid, &slot.name, now)?;
                let (code, reason) = running.exit();
                desk.server().logs.end(&uid, &slot.name);
                let dead = Dead { id: slot.id.clone(), code, reason, started: since, finished: end };
                slot.ready = false;
                slot.state = State::Dead(dead);
                // The moment in which the status says `terminated`.
                let moment = SignedDuration::from_millis(desk.random().i64(800..=2500));
                slot.next_look = now.checked_add(moment).ok();
                slot.next_look
            }
            State::Dead(dead) => {
                if !restarts(object, slot, &dead) {
                    return None;
                }
                if slot.next_look.is_some_and(|look| look > now) {
                    return slot.next_look;
                }
                let until = slot.back_off.until(dead.finished);
                if until <= now {
                    return restart(slot, dead, object, desk);
                }
                slot.state = State::BackOff(dead, until);
                back_off_event(slot, object, desk);
                slot.next_look = look_in_back_off(desk);
                slot.next_look
            }
            State::BackOff(dead, until) => {
                if slot.next_look.is_some_and(|look| look > now) {
                    return slot.next_look;
                }
                if until <= now {
                    return restart(slot, dead, object, desk);
                }
                back_off_event(slot, object, desk);
                slot.next_look = look_in_back_off(desk);
                slot.next_look
            }
        }
    }
}

fn restart(slot: &mut Slot, dead: Dead, object: &Value, desk: &mut Desk<'_>) -> Option<Timestamp> {
    slot.back_off.touch(dead.finished, desk.now);
    slot.last = Some(dead);
    slot.restarts += 1;
    slot.next_look = None;
    start::start(slot, object, desk)
}

fn restarts(object: &Value, slot: &Slot, dead: &Dead) -> bool {
    match object.text("/spec/restartPolicy") {
        "Never" => false,
        "OnFailure" => dead.code != 0,
        _ => !slot.is_init || dead.code != 0,
    }
}

/// While a container waits, the stock kubelet looks at it every 10 to 15 s only.
fn look_in_back_off(desk: &mut Desk<'_>) -> Option<Timestamp> {
    let period = SignedDuration::from_millis(desk.random().i64(10_000..=15_000));
    desk.now.checked_add(period).ok()
}

fn back_off_event(slot: &Slot, object: &Value, desk: &mut Desk<'_>) {
    let message = format!(
        "Back-off restarting failed container {} in pod {}_{}({})",
        slot.name,
        object.name(),
        object.namespace(),
        object.uid()
    );
    desk.event(object, "Warning", "BackOff", &message);
}

/// When its readiness or its RPC is to come, so that somebody looks then.
fn ready_at(running: &crate::outside::Running, now: Timestamp) -> Option<Timestamp> {
    let times = [running.run.ready_after, running.run.rpc_after];
    let times = times.into_iter().flatten().filter_map(|after| running.started.checked_add(after).ok());
    times.filter(|at| *at > now).min()
}
