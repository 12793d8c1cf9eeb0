//! Who is started: the pod by its UID, or the host between two boots. *No client.*

use std::fs;

use chainstore::ring::Mark;

use super::Arguments;

/// Names are not longer; what is longer is cut.
const CHARACTERS_MAX: usize = 253;

/// The mark of this start.
pub(super) fn mark(arguments: &Arguments) -> Mark {
    let short =
        |text: &str| Some(text.trim().chars().take(CHARACTERS_MAX).collect::<String>()).filter(|it| !it.is_empty());
    let kernel = |name: &str| fs::read_to_string(format!("/proc/sys/kernel/{name}")).ok().and_then(|text| short(&text));
    Mark {
        pod_uid: arguments.pod_uid.as_ref().and_then(|uid| short(&uid.to_string_lossy())),
        host: kernel("hostname"),
        boot_id: kernel("random/boot_id"),
    }
}
