//! Starting a container: its volumes, its image, its process. *Client `kubelet`.*

use jiff::{SignedDuration, Timestamp};
use serde_json::Value;

use super::{
    PODS,
    slot::{Slot, State},
};
use crate::{desk::Desk, object::Fields, outside::Running, program::Start, server::Output};

/// How long to wait for volumes that cannot be mounted yet; nothing where all can.
pub(super) fn volumes_missing(object: &Value, desk: &mut Desk<'_>) -> Option<SignedDuration> {
    let retry = SignedDuration::from_secs(2);
    for claim_name in claims(object) {
        let claim = desk.get("persistentvolumeclaims", object.namespace(), claim_name);
        let Some(claim) = claim.filter(|claim| claim.text("/status/phase") == "Bound") else { return Some(retry) };
        let volume = desk.get("persistentvolumes", "", claim.text("/spec/volumeName"));
        if volume.is_none() {
            return Some(retry);
        }
        if let Some(other) = used_elsewhere(object, claim_name, desk) {
            let message = format!(
                "Multi-Attach error for volume {:?} Volume is already used by pod(s) {other}",
                claim.text("/spec/volumeName")
            );
            desk.event(object, "Warning", "FailedAttachVolume", &message);
            return Some(SignedDuration::from_secs(15));
        }
    }
    None
}

/// The claims that a pod mounts.
pub(crate) fn claims(pod: &Value) -> impl Iterator<Item = &str> {
    let names = pod.items("/spec/volumes").iter().map(|volume| volume.text("/persistentVolumeClaim/claimName"));
    names.filter(|name| !name.is_empty())
}

/// A pod on another node that still uses the claim.
fn used_elsewhere(object: &Value, claim: &str, desk: &Desk<'_>) -> Option<String> {
    let others = desk.list(PODS, Some(object.namespace()));
    let user = others.into_iter().find(|other| {
        other.uid() != object.uid()
            && !other.text("/spec/nodeName").is_empty()
            && other.text("/spec/nodeName") != object.text("/spec/nodeName")
            && !matches!(other.text("/status/phase"), "Succeeded" | "Failed")
            && claims(other).any(|name| name == claim)
    })?;
    Some(user.name().to_owned())
}

/// Starts a container, or says why not; when to look at it again.
pub(super) fn start(slot: &mut Slot, object: &Value, desk: &mut Desk<'_>) -> Option<Timestamp> {
    let now = desk.now;
    if desk.outside().missing_images.contains(&slot.image) {
        return no_image(slot, object, desk);
    }
    let list = if slot.is_init { "/spec/initContainers" } else { "/spec/containers" };
    let spec = object.items(list).iter().find(|container| container.text("/name") == slot.name)?;
    let volume = mounted(object, spec, desk);
    let outside = desk.outside();
    outside.settle(now);
    let start = Start {
        pod: object,
        container: &slot.name,
        spec,
        is_init: slot.is_init,
        image: &slot.image,
        restarts: slot.restarts,
        now,
        chains: &outside.chains,
    };
    let content = volume.as_ref().and_then(|handle| outside.volumes.get_mut(handle)).map(|volume| &mut volume.content);
    let run = outside.program.start(&start, content);
    let content = volume.as_ref().and_then(|handle| outside.volumes.get(handle)).map(|volume| &volume.content);
    let from = content.map_or(0, crate::outside::VolumeContent::height);
    let mut lines: Vec<(Timestamp, String)> =
        run.lines.iter().filter_map(|(after, line)| Some((now.checked_add(*after).ok()?, line.clone()))).collect();
    lines.sort_by_key(|(at, _)| *at);
    let running = Running { run, started: now, from, volume, image: slot.image.clone(), stopping: None };
    outside.running.insert((object.uid().to_owned(), slot.name.clone()), running);
    let server = desk.server();
    slot.id = server.names.container();
    server.logs.start(object.uid(), &slot.name, Output { id: slot.id.clone(), lines });
    slot.state = State::Running { since: now };
    slot.next_look = None;
    now.checked_add(SignedDuration::from_millis(1)).ok()
}

fn no_image(slot: &mut Slot, object: &Value, desk: &mut Desk<'_>) -> Option<Timestamp> {
    let again =
        matches!(&slot.state, State::Waiting(reason, _) if reason == "ErrImagePull" || reason == "ImagePullBackOff");
    let reason = if again { "ImagePullBackOff" } else { "ErrImagePull" };
    let message = if again {
        format!("Back-off pulling image {:?}", slot.image)
    } else {
        format!("failed to pull and unpack image {:?}: not found", slot.image)
    };
    desk.event(object, "Warning", if again { "BackOff" } else { "Failed" }, &message);
    slot.state = State::Waiting(reason.to_owned(), message);
    slot.next_look = desk.now.checked_add(SignedDuration::from_secs(15)).ok();
    slot.next_look
}

/// The driver's name of the first claimed volume that a container mounts.
fn mounted(object: &Value, spec: &Value, desk: &Desk<'_>) -> Option<String> {
    let claim = spec.items("/volumeMounts").iter().find_map(|mount| {
        let mut volumes = object.items("/spec/volumes").iter();
        let volume = volumes.find(|volume| volume.text("/name") == mount.text("/name"))?;
        let claim = volume.text("/persistentVolumeClaim/claimName");
        (!claim.is_empty()).then_some(claim)
    })?;
    let claim = desk.get("persistentvolumeclaims", object.namespace(), claim)?;
    let volume = desk.get("persistentvolumes", "", claim.text("/spec/volumeName"))?;
    Some(volume.text("/spec/csi/volumeHandle").to_owned())
}
