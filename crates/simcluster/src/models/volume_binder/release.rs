//! What becomes of a volume whose claim is gone, and the protection of volumes in use. *Client `volume-binder`.* (P4)

use jiff::SignedDuration;
use serde_json::{Value, json};

use super::{CLAIMS, VOLUMES};
use crate::{
    desk::Desk,
    object::{Fields, drop_finalizer},
    server::{Key, VOLUME_PROTECTION},
};

/// Brings a volume's phase in line with its claim; removes it, with its data, where the policy says so.
pub(super) fn look_at(key: &Key, desk: &mut Desk<'_>) -> Option<SignedDuration> {
    let volume = desk.object(key)?;
    let reference = volume.part("/spec/claimRef");
    let claim = desk.get(CLAIMS, reference.text("/namespace"), reference.text("/name"));
    let phase = match (reference.is_null(), reference.text("/uid")) {
        (true, _) | (false, "") => "Available",
        (false, uid) => match claim {
            Some(claim) if claim.uid() == uid && claim.text("/spec/volumeName") == volume.name() => "Bound",
            // Reserved with a UID for a claim that was not told yet: its turn comes.
            Some(claim) if claim.uid() == uid && claim.text("/spec/volumeName").is_empty() => return None,
            _ => "Released",
        },
    };
    if volume.is_terminating() {
        if phase != "Bound" {
            let mut freed = Value::clone(&volume);
            if drop_finalizer(&mut freed, VOLUME_PROTECTION) {
                // The object goes; the data stays behind on the backend, known to nobody.
                drop(desk.update(VOLUMES, freed));
            }
        }
        return None;
    }
    if volume.text("/status/phase") != phase {
        drop(desk.merge_status(VOLUMES, &volume, &json!({"phase": phase})));
    }
    if phase == "Released" && volume.text("/spec/persistentVolumeReclaimPolicy") == "Delete" {
        let handle = volume.text("/spec/csi/volumeHandle").to_owned();
        desk.outside().volumes.remove(&handle);
        let mut freed = Value::clone(&volume);
        drop_finalizer(&mut freed, VOLUME_PROTECTION);
        if let Ok(freed) = desk.update(VOLUMES, freed) {
            drop(desk.delete(VOLUMES, &freed));
        }
    }
    None
}
