//! A StatefulSet of chain nodes. *No client.*

use serde_json::{Value, json};

use super::{STANDARD, World, chain_label, claim};
use crate::{
    object::{Fields, put},
    outside::{Signing, VolumeContent},
};

/// What a StatefulSet is to be like.
#[derive(Debug, Clone)]
#[must_use = "nothing is made before `create`"]
pub struct StatefulSetBuilder {
    world: World,
    namespace: String,
    name: String,
    replicas: u32,
    image: String,
    chain: String,
    size: String,
    class: String,
    parallel: bool,
    height: Option<u64>,
    validator: bool,
    labels: Value,
    grace: u32,
    blank: bool,
    arguments: Vec<String>,
}

impl StatefulSetBuilder {
    pub(super) fn new(world: &World, namespace: &str, name: &str) -> Self {
        Self {
            world: world.clone(),
            namespace: namespace.to_owned(),
            name: name.to_owned(),
            replicas: 3,
            image: "chain:1".to_owned(),
            chain: String::new(),
            size: "10Gi".to_owned(),
            class: STANDARD.to_owned(),
            parallel: false,
            height: None,
            validator: false,
            labels: json!({"app": name}),
            grace: 30,
            blank: false,
            arguments: vec!["start".to_owned(), "--home".to_owned(), "/data".to_owned()],
        }
    }

    /// How many replicas; three unless said.
    pub fn replicas(mut self, replicas: u32) -> Self {
        self.replicas = replicas;
        self
    }

    /// The nodes' image; `chain:1` unless said.
    pub fn image(mut self, image: &str) -> Self {
        image.clone_into(&mut self.image);
        self
    }

    /// The chain that they follow.
    pub fn chain(mut self, chain: &str) -> Self {
        chain.clone_into(&mut self.chain);
        self
    }

    /// The size of each claim; `10Gi` unless said.
    pub fn size(mut self, size: &str) -> Self {
        size.clone_into(&mut self.size);
        self
    }

    /// The claims' storage class.
    pub fn class(mut self, class: &str) -> Self {
        class.clone_into(&mut self.class);
        self
    }

    /// All pods at once instead of one after the other.
    pub fn parallel(mut self) -> Self {
        self.parallel = true;
        self
    }

    /// At which height the nodes' data is; at the chain's unless said.
    pub fn at_height(mut self, height: u64) -> Self {
        self.height = Some(height);
        self
    }

    /// The nodes sign blocks.
    pub fn validator(mut self) -> Self {
        self.validator = true;
        self
    }

    /// One more label on set, pods and claims.
    pub fn label(mut self, name: &str, value: &str) -> Self {
        put(&mut self.labels, name, value.into());
        self
    }

    /// The grace period in seconds; 30 unless said.
    pub fn grace(mut self, seconds: u32) -> Self {
        self.grace = seconds;
        self
    }

    /// One more argument of the node, such as `--priv_validator_laddr=tcp://signer:26659`.
    pub fn argument(mut self, argument: &str) -> Self {
        self.arguments.push(argument.to_owned());
        self
    }

    /// The claims are not there yet: the controller makes them, and they are empty.
    pub fn with_blank_volumes(mut self) -> Self {
        self.blank = true;
        self
    }

    /// Makes it, with volumes that nodes have run on before.
    pub fn create(self) {
        self.world.namespace(&self.namespace);
        if !self.blank {
            for ordinal in 0..self.replicas {
                self.make_volume(ordinal);
            }
        }
        let mut labels = self.labels.clone();
        chain_label(&mut labels, &self.chain);
        let mounts = json!([{"name": "data", "mountPath": "/data"}]);
        let template_spec = claim("", "", &self.class, &self.size, &json!({})).part("/spec").clone();
        self.world.set_up(
            "statefulsets.apps",
            json!({
                "metadata": {"namespace": self.namespace, "name": self.name, "labels": self.labels},
                "spec": {
                    "replicas": self.replicas, "serviceName": self.name,
                    "podManagementPolicy": if self.parallel { "Parallel" } else { "OrderedReady" },
                    "selector": {"matchLabels": self.labels},
                    "template": {
                        "metadata": {"labels": labels},
                        "spec": {
                            "terminationGracePeriodSeconds": self.grace,
                            "containers": [{
                                "name": "node", "image": self.image, "args": self.arguments,
                                "ports": [{"name": "rpc", "containerPort": 26657, "protocol": "TCP"}],
                                "readinessProbe": {"httpGet": {"path": "/health", "port": 26657}},
                                "volumeMounts": mounts,
                            }],
                        },
                    },
                    "volumeClaimTemplates": [{"metadata": {"name": "data"}, "spec": template_spec}],
                },
            }),
        );
    }

    fn make_volume(&self, ordinal: u32) {
        let pod = format!("{}-{ordinal}", self.name);
        let height = self.height.unwrap_or_else(|| self.world.chain_height(&self.chain));
        let mut content = VolumeContent::node(&pod, &self.chain, height);
        if self.validator {
            content.signing = Some(Signing { height, round: 0, step: 3 });
        }
        let claim = claim(&self.namespace, &format!("data-{pod}"), &self.class, &self.size, &self.labels);
        drop(self.world.volume(claim, content));
    }
}
