//! What happens in a story: damage, crashes, halts, upgrades, people at their keyboards. *No client.*

use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};

use super::{Refused, World};
use crate::{
    models::volume_binder::{CLAIMS, VOLUMES},
    object::Fields,
    outside::{Course, Damage, End, Upgrade, VolumeContent},
    program::{Ailment, Inspection, Program, Report, upgrade_end},
    server::{Call, Key, Refusal, Reply},
    service::lock,
};

/// Somebody with a `kubectl`.
pub const HUMAN: &str = "human";
const KUBELET: &str = "kubelet";

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

    /// Lets a running container end now; whether it ran.
    pub fn crash(&self, namespace: &str, pod: &str, container: &str, code: i32, reason: &str, log: &[String]) -> bool {
        self.with_process(namespace, pod, container, |now, running| {
            running.run.ends =
                Some(End { after: now.duration_since(running.started), code, reason: reason.to_owned() });
            log.iter().map(|line| (now, line.clone())).collect()
        })
    }

    /// Lets a running node stand still from now on while its process stays up; whether it ran.
    pub fn get_stuck(&self, namespace: &str, pod: &str, container: &str, log: &[String]) -> bool {
        self.with_process(namespace, pod, container, |now, running| {
            running.run.course = Course::Still;
            running.run.ready_after = None;
            log.iter().map(|line| (now, line.clone())).collect()
        })
    }

    fn with_process(
        &self,
        namespace: &str,
        pod: &str,
        container: &str,
        change: impl FnOnce(Timestamp, &mut crate::outside::Running) -> Vec<(Timestamp, String)>,
    ) -> bool {
        let key = Key::new("pods", namespace, pod);
        let found = self.change(|now, state| {
            let uid = state.server.store.get(&key).map(|pod| pod.uid().to_owned())?;
            state.outside.settle(now);
            let running = state.outside.running.get_mut(&(uid.clone(), container.to_owned()))?;
            let lines = change(now, running);
            state.server.logs.append(&uid, container, lines);
            Some(())
        });
        self.look_again(KUBELET, &key);
        found.is_some()
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

    /// The height of a chain now.
    #[must_use]
    pub fn chain_height(&self, id: &str) -> u64 {
        let now = self.now();
        lock(&self.inner.cluster).state.outside.chains.get(id).map_or(0, |chain| chain.height_at(now))
    }

    /// The chain makes no more blocks, or goes on.
    pub fn halt_chain(&self, id: &str, halted: bool) {
        self.change(|now, state| {
            state.outside.settle(now);
            if let Some(chain) = state.outside.chains.get_mut(id) {
                chain.set_halted(halted, now);
            }
        });
    }

    /// Plans an upgrade: at this height the nodes with an older image stop.
    pub fn plan_upgrade(&self, id: &str, name: &str, height: u64, image: &str) {
        let pods = self.change(|now, state| {
            state.outside.settle(now);
            let Some(chain) = state.outside.chains.get_mut(id) else { return Vec::new() };
            chain.upgrades.push(Upgrade { name: name.to_owned(), height, image: image.to_owned() });
            let chain = chain.clone();
            let mut stops = Vec::new();
            for ((pod, container), running) in &mut state.outside.running {
                let follows = running.run.chain.as_deref() == Some(id) && running.run.course != Course::Still;
                if let (true, Some((mut end, line))) = (follows, upgrade_end(&chain, running.from, &running.image, now))
                {
                    let at = now.checked_add(end.after).unwrap_or(now);
                    end.after = at.duration_since(running.started);
                    running.run.ends = Some(end);
                    stops.push((pod.clone(), container.clone(), at, line));
                }
            }
            for (pod, container, at, line) in &stops {
                state.server.logs.append(pod, container, [(*at, line.clone())]);
            }
            let pods = state.server.store.list("pods", None);
            pods.filter(|(_, pod)| stops.iter().any(|stop| stop.0 == pod.uid())).map(|(key, _)| key.clone()).collect()
        });
        for key in pods {
            self.look_again(KUBELET, &key);
        }
    }

    /// No registry has this image any more, or again.
    pub fn image_missing(&self, image: &str, missing: bool) {
        self.change(|_, state| {
            if missing {
                state.outside.missing_images.insert(image.to_owned());
            } else {
                state.outside.missing_images.remove(image);
            }
        });
    }

    /// A pod's RPC answers nobody, or everybody again.
    pub fn cut_off(&self, namespace: &str, pod: &str, refused: Option<Refused>) {
        let key = (namespace.to_owned(), pod.to_owned());
        self.change(|_, state| match refused {
            Some(refused) => drop(state.outside.unreachable.insert(key, refused)),
            None => drop(state.outside.unreachable.remove(&key)),
        });
    }

    /// A node is gone from the network (its kubelet does nothing, its condition is `Unknown`), or back.
    pub fn lose_node(&self, name: &str, lost: bool) {
        self.change(|_, state| {
            if lost {
                state.outside.silent_nodes.insert(name.to_owned());
            } else {
                state.outside.silent_nodes.remove(name);
            }
        });
        let (status, reason) = if lost { ("Unknown", "NodeStatusUnknown") } else { ("True", "KubeletReady") };
        let conditions = json!([{"type": "Ready", "status": status, "reason": reason}]);
        let node = self.get("nodes", "", name).unwrap_or_default();
        self.set_status("nodes", &node, json!({"conditions": conditions}));
    }

    /// A node is restarted: every container on it ends with 255 and is started again.
    pub fn reboot_node(&self, name: &str) {
        let pods = self.list("pods", "");
        for pod in pods.iter().filter(|pod| pod.text("/spec/nodeName") == name) {
            for container in pod.items("/spec/containers") {
                self.crash(pod.namespace(), pod.name(), container.text("/name"), 255, "Unknown", &[]);
            }
        }
    }
}

impl Ailment {
    /// A crash of a process that prints and exits, one second after its start.
    #[must_use]
    pub fn crash(log: &str, code: i32) -> Self {
        Self::Crash {
            after: SignedDuration::from_secs(1),
            log: log.lines().map(str::to_owned).collect(),
            code,
            reason: if code == 0 { "Completed" } else { "Error" }.to_owned(),
        }
    }

    /// Killed for want of memory, so long after the start.
    #[must_use]
    pub fn out_of_memory(after: SignedDuration) -> Self {
        Self::Crash { after, log: Vec::new(), code: 137, reason: "OOMKilled".to_owned() }
    }
}
