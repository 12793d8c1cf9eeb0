//! A policy's sentence: the column "Says". *No client, no clock.*

use api::RecoveryPolicy;

use super::{Standing, Storm};

/// In one sentence.
pub(super) fn summary(
    standing: &Standing,
    workloads: u32,
    sick: u32,
    storm: Option<Storm>,
    policy: &RecoveryPolicy,
) -> String {
    match (standing, storm) {
        (Standing::Refused { why, .. } | Standing::SelectsNothing(why), _) => why.clone(),
        _ if policy.spec.suspend => "suspended: nothing is begun (`loopbreaker resume` ends that)".to_owned(),
        (_, Some(Storm { sick })) => format!("{sick} replicas are sick at once; all are held"),
        (Standing::Accepted | Standing::SelectsEverything(_), None) => match sick {
            0 => format!("watches {workloads}, all well"),
            1 => format!("watches {workloads}, 1 replica is sick"),
            _ => format!("watches {workloads}, {sick} replicas are sick"),
        },
    }
}
