//! What happens around the nodes: chains that halt and upgrade, images and nodes that go missing. *No client.*

use serde_json::json;

use super::{Refused, World, story::KUBELET};
use crate::{
    object::Fields,
    outside::{Course, Upgrade},
    program::upgrade_end,
    service::lock,
};

impl World {
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
        self.set_status("nodes", &node, &json!({"conditions": conditions}));
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
