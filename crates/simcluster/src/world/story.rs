//! What happens in a story: damage, crashes, halts, upgrades, people at their keyboards. *No client.*

use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};

use super::World;
use crate::{
    models::volume_binder::{CLAIMS, VOLUMES},
    object::Fields,
    outside::{Course, Damage, End, VolumeContent},
    program::{Ailment, Inspection, Program, Report},
    server::{Call, Key, Refusal, Reply},
    service::lock,
};

/// Somebody with a `kubectl`.
pub const HUMAN: &str = "human";
pub(super) const KUBELET: &str = "kubelet";

impl World {
    /// Sends a request as somebody, past delays and faults, and waits for nothing.
    ///
    /// # Errors
    ///
    /// What the API server refuses.
    pub fn request(&self, user: &str, call: &Call) -> Result<Value, Refusal> {
        self.change(|now, state| {
            let mut entry = state.announce(now, user, call);
            let answer = state.serve(now, call, &mut entry, None);
            state.note(entry);
            match answer? {
                Reply::Object(_, object) => Ok(Value::clone(&object)),
                Reply::Text(text) => Ok(text.into()),
                Reply::Watch(_) => Ok(Value::Null),
            }
        })
    }

    /// A human changes an object by a merge patch.
    ///
    /// # Errors
    ///
    /// What the API server refuses.
    pub fn edit(&self, resource: &str, namespace: &str, name: &str, patch: Value) -> Result<Value, Refusal> {
        self.request(HUMAN, &Call::merge(resource, namespace, name, patch))
    }

    /// A human deletes an object.
    ///
    /// # Errors
    ///
    /// What the API server refuses.
    pub fn delete(&self, resource: &str, namespace: &str, name: &str) -> Result<Value, Refusal> {
        self.request(HUMAN, &Call::delete(resource, namespace, name))
    }

    /// A human deletes a pod by force: its object is gone at once, its processes are not.
    ///
    /// # Errors
    ///
    /// What the API server refuses.
    pub fn delete_by_force(&self, namespace: &str, pod: &str) -> Result<Value, Refusal> {
        let call = Call::delete("pods", namespace, pod).with_body(json!({"gracePeriodSeconds": 0}));
        self.request(HUMAN, &call)
    }

    /// A `Hold` of ours: this pod is not made, this claim gets none but these volumes.
    pub fn hold(&self, namespace: &str, name: &str, pod: &str, claim: &str, volumes: &[&str]) {
        self.set_up(
            "holds.loopbreaker.dev",
            json!({
                "metadata": {"namespace": namespace, "name": name},
                "spec": {"pod": pod, "claim": claim, "volumes": volumes},
            }),
        );
    }

    /// Changes what is on the volume of a claim; whether there was one.
    pub fn edit_volume(&self, namespace: &str, claim: &str, edit: impl FnOnce(&mut VolumeContent)) -> bool {
        self.change(|now, state| {
            let store = &state.server.store;
            let claim = store.get(&Key::new(CLAIMS, namespace, claim));
            let volume = claim.and_then(|claim| store.get(&Key::new(VOLUMES, "", claim.text("/spec/volumeName"))));
            let handle = volume.map(|volume| volume.text("/spec/csi/volumeHandle").to_owned());
            let found = handle.and_then(|handle| state.outside.volume(&handle, now));
            found.map(|volume| edit(&mut volume.content)).is_some()
        })
    }

    /// Damages the data of a claim and lets the process that uses it stop over that now.
    pub fn damage(&self, namespace: &str, claim: &str, damage: &Damage) {
        self.edit_volume(namespace, claim, |content| content.damage = Some(damage.clone()));
        let pods = self.list("pods", namespace);
        let users = pods.iter().filter(|pod| {
            pod.items("/spec/volumes").iter().any(|volume| volume.text("/persistentVolumeClaim/claimName") == claim)
        });
        for pod in users {
            self.crash(namespace, pod.name(), "node", damage.exit_code, "Error", &damage.log);
        }
    }

    /// Lets a container end now, if it runs.
    pub fn crash(&self, namespace: &str, pod: &str, container: &str, code: i32, reason: &str, log: &[String]) {
        self.with_process(namespace, pod, container, |now, running| {
            running.run.ends =
                Some(End { after: now.duration_since(running.started), code, reason: reason.to_owned() });
            log.iter().map(|line| (now, line.clone())).collect()
        });
    }

    /// Lets a running node stand still from now on while its process stays up.
    pub fn get_stuck(&self, namespace: &str, pod: &str, container: &str, log: &[String]) {
        self.with_process(namespace, pod, container, |now, running| {
            running.run.course = Course::Still;
            running.run.ready_after = None;
            log.iter().map(|line| (now, line.clone())).collect()
        });
    }

    /// Lets a running container take that long to stop when it is told to; longer than its grace period means 137.
    pub fn stop_takes(&self, namespace: &str, pod: &str, container: &str, time: Duration) {
        self.with_process(namespace, pod, container, |_, running| {
            running.run.stop.after = SignedDuration::try_from(time).unwrap_or(SignedDuration::MAX);
            Vec::new()
        });
    }

    fn with_process(
        &self,
        namespace: &str,
        pod: &str,
        container: &str,
        change: impl FnOnce(Timestamp, &mut crate::outside::Running) -> Vec<(Timestamp, String)>,
    ) {
        let key = Key::new("pods", namespace, pod);
        self.change(|now, state| {
            let Some(uid) = state.server.store.get(&key).map(|pod| pod.uid().to_owned()) else { return };
            state.outside.settle(now);
            let Some(running) = state.outside.running.get_mut(&(uid.clone(), container.to_owned())) else { return };
            let lines = change(now, running);
            state.server.logs.append(&uid, container, lines);
        });
        self.look_again(KUBELET, &key);
    }

    pub(super) fn look_again(&self, model: &str, key: &Key) {
        let now = self.now();
        lock(&self.inner.cluster).wake(now, model, key);
    }

    /// Lets something ail a container at its next starts, so many times.
    pub fn ail(&self, namespace: &str, pod: &str, container: &str, ailment: Ailment, times: u32) {
        self.change(|_, state| {
            if let Some(program) = state.outside.program.as_chain_node() {
                program.ail(namespace, pod, container, None, ailment, times);
            }
        });
    }

    /// The same, but only while the pod has this image.
    pub fn ail_with_image(
        &self,
        namespace: &str,
        pod: &str,
        container: &str,
        image: &str,
        ailment: Ailment,
        times: u32,
    ) {
        self.change(|_, state| {
            if let Some(program) = state.outside.program.as_chain_node() {
                program.ail(namespace, pod, container, Some(image), ailment, times);
            }
        });
    }

    /// Takes away whatever ails a pod, from its next start on.
    pub fn heal(&self, namespace: &str, pod: &str) {
        self.change(|_, state| {
            if let Some(program) = state.outside.program.as_chain_node() {
                program.heal(namespace, pod);
            }
        });
    }

    /// Says what inspectors' Jobs print about a volume.
    pub fn inspect_by(&self, inspector: impl FnMut(&Inspection<'_>) -> Report + Send + 'static) {
        self.change(|_, state| {
            if let Some(program) = state.outside.program.as_chain_node() {
                program.inspect_by(Box::new(inspector));
            }
        });
    }

    /// Puts another program in place of the standard one.
    pub fn run_program(&self, program: Box<dyn Program>) {
        self.change(|_, state| state.outside.program = program);
    }
}
