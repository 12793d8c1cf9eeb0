//! What the bundle's replicas answer when they are asked for their status. *No network.* (P13)
//!
//! A replica of which the bundle has two samples goes on as they say; of every other one nobody knows whether it advances,
//! and that is what the operator is told.

use std::{collections::BTreeSet, time::Duration};

use futures::future::BoxFuture;
use operator::{Rpc, RpcAddress, RpcFailure, status_of};
use scene::Sample;
use simcluster::World;

use super::stage::Plan;

/// Answers for the replicas of a bundle.
pub(super) struct BundleRpc {
    world: World,
    known: BTreeSet<String>,
}

impl BundleRpc {
    pub(super) fn new(world: &World, plan: &Plan) -> Self {
        Self { world: world.clone(), known: plan.replicas_whose_course_is_known() }
    }
}

impl Rpc for BundleRpc {
    fn status<'a>(&'a self, to: &'a RpcAddress) -> BoxFuture<'a, Result<Sample, RpcFailure>> {
        Box::pin(async move {
            tokio::time::sleep(Duration::from_millis(5)).await;
            if !self.known.contains(&to.instance.to_string()) {
                return Err(RpcFailure::NotKnown(
                    "the bundle has no two samples of its /status (peers.json)".to_owned(),
                ));
            }
            match self.world.rpc_status(&to.instance.namespace, &to.instance.name) {
                Ok(answer) => status_of(&answer, to),
                Err(_) => Err(RpcFailure::Refused { port: to.port }),
            }
        })
    }
}
