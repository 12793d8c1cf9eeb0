//! How a policy stands, as conditions. *No client, no clock.*

use crate::{
    detect::{Look, Standing},
    record::{Condition, Truth},
    watch::Watches,
};

/// All that a look tells: `Accepted`, `Watching`, `Storm`.
pub(super) fn conditions(look: &Look, watches: &Watches) -> Vec<Condition> {
    let (is, reason, message) = match &look.standing {
        Standing::Accepted => (Truth::True, "Accepted", format!("{} workloads are watched", look.workloads)),
        Standing::SelectsNothing(why) => (Truth::True, "SelectsNothing", why.clone()),
        Standing::SelectsEverything(why) => (Truth::True, "SelectsEverything", why.clone()),
        Standing::Refused { reason, why } => (Truth::False, *reason, why.clone()),
    };
    let accepted = Condition { about: "Accepted", is, reason, message };
    let storm = match &look.storm {
        Some(storm) => Condition {
            about: "Storm",
            is: Truth::True,
            reason: "ManyReplicasSick",
            message: format!("{} replicas are sick at once; nothing is inspected and all are held", storm.sick),
        },
        None => Condition {
            about: "Storm",
            is: Truth::False,
            reason: "Calm",
            message: "fewer replicas are sick than the policy calls a storm".to_owned(),
        },
    };
    let watching = watching(watches).unwrap_or(Condition {
        about: "Watching",
        is: Truth::True,
        reason: "Watching",
        message: "pods, workloads and records are watched".to_owned(),
    });
    vec![accepted, storm, watching]
}

/// The rights that are missing, each by verb and kind; none where every watch may run.
pub(super) fn watching(watches: &Watches) -> Option<Condition> {
    let missing: Vec<String> =
        watches.forbidden().map(|(kind, words)| format!("may not list and watch {kind}: {words}")).collect();
    (!missing.is_empty()).then(|| Condition {
        about: "Watching",
        is: Truth::False,
        reason: "Forbidden",
        message: format!("{} (grant it to the operator's service account)", missing.join("; ")),
    })
}
