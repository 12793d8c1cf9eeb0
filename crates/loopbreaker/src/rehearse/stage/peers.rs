//! How the chain goes on in a rehearsal, by what the bundle's samples say. *No IO.* (P6, P13)

use std::{
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};

use scene::Sample;

use crate::bundle::Bundle;

/// The chain of a bundle.
#[derive(Debug)]
pub(super) struct Chain {
    /// Its id, or a made-up one where nobody says it.
    pub(super) id: String,
    /// The highest height that anybody was at.
    pub(super) height: u64,
    /// Between two blocks.
    pub(super) block_every: Duration,
    /// Whether nobody's height rose.
    pub(super) halted: bool,
    /// Replicas, as namespace/name, of which two samples say whether they advance.
    pub(super) known: BTreeSet<String>,
    /// Those of them whose height stood while others rose.
    pub(super) standing: BTreeSet<String>,
    /// Heights by replica.
    pub(super) heights: BTreeMap<String, u64>,
}

/// Of most chains.
const USUAL: Duration = Duration::from_secs(6);

/// What the bundle tells of it.
pub(super) fn chain(bundle: &Bundle) -> Chain {
    let scene = &bundle.scene;
    let mut heights = BTreeMap::new();
    let mut chain = Chain {
        id: "chain".to_owned(),
        height: 1,
        block_every: USUAL,
        halted: false,
        known: BTreeSet::new(),
        standing: BTreeSet::new(),
        heights: BTreeMap::new(),
    };
    let mut rising = BTreeSet::new();
    for history in &scene.instances {
        let pod = history.latest();
        if let Some(id) = scene.chain_id(pod) {
            id.clone_into(&mut chain.id);
        }
        let name = pod.instance.to_string();
        let own: Vec<&Sample> =
            scene.peers.iter().filter(|sample| sample.pod == pod.instance.name || sample.pod == name).collect();
        let sampled = own.iter().filter_map(|sample| sample.height).max();
        let owner = scene.owner_height(pod, &pod.instance.name).map(|next| next.0.saturating_sub(1));
        if let Some(height) = sampled.max(owner) {
            heights.insert(name.clone(), height);
        }
        let Some((blocks, seconds)) = pace(&own) else { continue };
        if blocks > 0 {
            let every = (f64::from(seconds) / f64::from(blocks)).clamp(0.2, 600.0);
            chain.block_every = Duration::from_secs_f64(every);
            rising.insert(name.clone());
        } else {
            chain.standing.insert(name.clone());
        }
        chain.known.insert(name);
    }
    chain.height = heights.values().copied().max().unwrap_or(1).max(1);
    chain.halted = !chain.known.is_empty() && rising.is_empty();
    if chain.halted {
        chain.standing.clear();
    }
    chain.heights = heights;
    chain
}

/// Blocks and seconds between the first and the last sample, where there are two with times.
fn pace(samples: &[&Sample]) -> Option<(u32, u32)> {
    let mut timed: Vec<_> = samples.iter().filter_map(|sample| Some((sample.time?, sample.height?))).collect();
    timed.sort_unstable();
    let ((begin, low), (end, high)) = (timed.first()?, timed.last()?);
    let seconds =
        u32::try_from(end.as_second().saturating_sub(begin.as_second())).ok().filter(|seconds| *seconds > 0)?;
    Some((u32::try_from(high.saturating_sub(*low)).ok()?, seconds))
}
