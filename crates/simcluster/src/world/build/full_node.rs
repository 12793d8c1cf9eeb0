//! A CosmosFullNode. *No client.*

use serde_json::{Value, json};

use super::{STANDARD, World, claim};
use crate::{
    models::cosmos::FULL_NODES,
    object::{Fields, set},
    outside::VolumeContent,
};

/// What a CosmosFullNode is to be like.
#[derive(Debug, Clone)]
#[must_use = "nothing is made before `create`"]
pub struct FullNodeBuilder {
    world: World,
    namespace: String,
    name: String,
    replicas: u32,
    image: String,
    chain: String,
    size: String,
    class: String,
    height: Option<u64>,
    spec: Value,
}

impl FullNodeBuilder {
    pub(super) fn new(world: &World, namespace: &str, name: &str) -> Self {
        Self {
            world: world.clone(),
            namespace: namespace.to_owned(),
            name: name.to_owned(),
            replicas: 3,
            image: "chain:1".to_owned(),
            chain: String::new(),
            size: "1Gi".to_owned(),
            class: STANDARD.to_owned(),
            height: None,
            spec: json!({}),
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

    /// The size in the template; `1Gi` unless said.
    pub fn size(mut self, size: &str) -> Self {
        size.clone_into(&mut self.size);
        self
    }

    /// The claims' storage class.
    pub fn class(mut self, class: &str) -> Self {
        class.clone_into(&mut self.class);
        self
    }

    /// At which height the nodes' data is; at the chain's unless said.
    pub fn at_height(mut self, height: u64) -> Self {
        self.height = Some(height);
        self
    }

    /// From which height on which image.
    pub fn version(mut self, height: u64, image: &str) -> Self {
        let mut versions = self.spec.items("/chain/versions").to_vec();
        versions.push(json!({"height": height, "image": image}));
        set(&mut self.spec, "/chain/versions", versions.into());
        self
    }

    /// New claims are made of the newest ready snapshot with this label.
    pub fn auto_data_source(mut self, label: &str, value: &str) -> Self {
        let auto = json!({"volumeSnapshotSelector": {label: value}});
        set(&mut self.spec, "/volumeClaimTemplate/autoDataSource", auto);
        self
    }

    /// More of the spec, merged in.
    pub fn with(mut self, spec: &Value) -> Self {
        json_patch::merge(&mut self.spec, spec);
        self
    }

    /// Makes it, with volumes that nodes have run on before.
    pub fn create(self) {
        self.world.namespace(&self.namespace);
        let mut spec = json!({
            "replicas": self.replicas,
            "chain": {"chainID": self.chain, "network": "testnet", "binary": "chaind"},
            "podTemplate": {"image": self.image, "terminationGracePeriodSeconds": 10},
            "volumeClaimTemplate": {"storageClassName": self.class, "resources": {"requests": {"storage": self.size}}},
        });
        json_patch::merge(&mut spec, &self.spec);
        let node = json!({"metadata": {"namespace": self.namespace, "name": self.name}, "spec": spec});
        let made = self.world.set_up(FULL_NODES, node);
        for ordinal in 0..self.replicas {
            let pod = format!("{}-{ordinal}", self.name);
            let height = self.height.unwrap_or_else(|| self.world.chain_height(&self.chain));
            let labels = json!({
                "app.kubernetes.io/created-by": "cosmos-operator", "app.kubernetes.io/name": self.name,
                "app.kubernetes.io/instance": pod, "app.kubernetes.io/component": "CosmosFullNode",
            });
            let mut claim = claim(&self.namespace, &format!("pvc-{pod}"), &self.class, &self.size, &labels);
            set(&mut claim, "/metadata/ownerReferences", json!([crate::models::owner_reference(&made)]));
            drop(self.world.volume(claim, VolumeContent::node(&pod, &self.chain, height)));
        }
    }
}
