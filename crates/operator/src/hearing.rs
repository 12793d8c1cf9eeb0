//! What is heard of pods, workloads and our own kinds goes into what was seen, and rings the bells. *Client, reads only.*

use api::{CosmosFullNode, Recovery, RecoveryPolicy};
use k8s_openapi::api::{apps::v1::StatefulSet, core::v1::Pod};
use kube::{Resource, ResourceExt, core::DeserializeGuard};

use crate::{
    bells::{self, Bells},
    detect::is_open,
    http::Readiness,
    index::{Kind, Workload},
    recover::{Desk, Seen},
    watch::{Health, Heard, hear},
};

/// Watches everything that every operator watches.
pub(crate) async fn watch(desk: &Desk, bells: &Bells, readiness: &Readiness) {
    let pods = hear(desk.api_of_watched::<DeserializeGuard<Pod>>(), |heard| hear_pod(desk, bells, readiness, heard));
    let sets = hear(desk.api_of_watched::<DeserializeGuard<StatefulSet>>(), |heard| {
        hear_workload(desk, bells, readiness, Kind::StatefulSets, heard);
    });
    let full_nodes = hear(desk.api_of_watched::<DeserializeGuard<CosmosFullNode>>(), |heard| {
        hear_workload(desk, bells, readiness, Kind::CosmosFullNodes, heard);
    });
    let policies = hear(desk.api_of_watched::<DeserializeGuard<RecoveryPolicy>>(), |heard| {
        hear_policy(desk, bells, readiness, heard);
    });
    let recoveries = hear(desk.api_of_watched::<DeserializeGuard<Recovery>>(), |heard| {
        hear_recovery(desk, bells, readiness, heard);
    });
    tokio::join!(biased; pods, sets, full_nodes, policies, recoveries);
}

fn hear_pod(desk: &Desk, bells: &Bells, readiness: &Readiness, heard: Heard<Pod>) {
    let now = desk.clock.now();
    let mut seen = desk.seen();
    match heard {
        Heard::ListBegins => seen.index.begin_list(Kind::Pods),
        Heard::ListEnds => seen.index.end_list(Kind::Pods, now),
        Heard::Is(pod) => {
            let notices = seen.index.apply_pod(&pod, now);
            if !notices.is_empty() {
                bells.look_at_policies(&seen, &pod.namespace().unwrap_or_default());
                bells.look_at_incidents(&seen, &pod.namespace().unwrap_or_default(), Some(&pod.name_any()));
            }
            for notice in notices {
                if bells.crashed(notice) == bells::Heard::Missed {
                    desk.metrics.log_missed();
                }
            }
        }
        Heard::Gone(pod) => {
            seen.index.delete_pod(&pod, now);
            bells.look_at_policies(&seen, &pod.namespace().unwrap_or_default());
        }
        Heard::Broken(why) => broken(desk, &why),
        Heard::Health(health) => fares(desk, &mut seen, readiness, "pods", health),
    }
}

fn hear_workload<K>(desk: &Desk, bells: &Bells, readiness: &Readiness, kind: Kind, heard: Heard<K>)
where
    K: Resource<DynamicType = ()>,
    for<'k> &'k K: Into<Workload>,
{
    let now = desk.clock.now();
    let mut seen = desk.seen();
    match heard {
        Heard::ListBegins => seen.index.begin_list(kind),
        Heard::ListEnds => seen.index.end_list(kind, now),
        Heard::Is(object) => {
            seen.index.apply_workload((&object).into());
            bells.look_at_policies(&seen, &object.namespace().unwrap_or_default());
        }
        Heard::Gone(object) => {
            seen.index.delete_workload(&(&object).into());
            bells.look_at_policies(&seen, &object.namespace().unwrap_or_default());
        }
        Heard::Broken(why) => broken(desk, &why),
        Heard::Health(health) => fares(desk, &mut seen, readiness, kind.plural(), health),
    }
}

fn hear_policy(desk: &Desk, bells: &Bells, readiness: &Readiness, heard: Heard<RecoveryPolicy>) {
    let mut seen = desk.seen();
    match heard {
        Heard::ListBegins => seen.ledger.policies.begin_list(),
        Heard::ListEnds => seen.ledger.policies.end_list(),
        Heard::Is(policy) => {
            let (namespace, name) = (policy.namespace().unwrap_or_default(), policy.name_any());
            let before = seen.ledger.policies.get(&namespace, &name);
            let news = before.is_none_or(|before| what_rules(&before) != what_rules(&policy));
            seen.ledger.policies.apply(policy);
            // Its counts change with every incident; only what rules them concerns the incidents.
            if news {
                bells.look_at_policies(&seen, &namespace);
                bells.look_at_incidents(&seen, &namespace, None);
            }
        }
        Heard::Gone(policy) => {
            let namespace = policy.namespace().unwrap_or_default();
            seen.ledger.policies.delete(&policy);
            bells.look_at_policies(&seen, &namespace);
            bells.look_at_incidents(&seen, &namespace, None);
        }
        Heard::Broken(why) => broken(desk, &why),
        Heard::Health(health) => fares(desk, &mut seen, readiness, "recoverypolicies", health),
    }
}

/// What of a policy decides about its open incidents.
fn what_rules(policy: &RecoveryPolicy) -> (Option<String>, Option<i64>, Vec<(String, String)>) {
    let conditions = policy.status.iter().flat_map(|status| &status.conditions);
    let conditions = conditions.map(|condition| (condition.type_.clone(), condition.status.clone())).collect();
    (policy.uid(), policy.metadata.generation, conditions)
}

fn hear_recovery(desk: &Desk, bells: &Bells, readiness: &Readiness, heard: Heard<Recovery>) {
    let mut seen = desk.seen();
    match heard {
        Heard::ListBegins => seen.ledger.recoveries.begin_list(),
        Heard::ListEnds => seen.ledger.recoveries.end_list(),
        Heard::Is(recovery) => {
            let namespace = recovery.namespace().unwrap_or_default();
            let before = seen.ledger.recoveries.get(&namespace, &recovery.name_any());
            let news = before.is_none_or(|before| is_open(&before) != is_open(&recovery));
            seen.ledger.recoveries.apply(recovery);
            if news {
                bells.look_at_policies(&seen, &namespace);
            }
        }
        Heard::Gone(recovery) => {
            seen.ledger.recoveries.delete(&recovery);
            bells.look_at_policies(&seen, &recovery.namespace().unwrap_or_default());
        }
        Heard::Broken(why) => broken(desk, &why),
        Heard::Health(health) => fares(desk, &mut seen, readiness, "recoveries", health),
    }
}

fn broken(desk: &Desk, why: &str) {
    tracing::warn!("{why}; it is passed over and the others go on");
    desk.metrics.error("broken_object");
}

/// Says once how a watch fares, and whether we are ready.
fn fares(desk: &Desk, seen: &mut Seen, readiness: &Readiness, plural: &'static str, health: Health) {
    let ours = matches!(plural, "recoverypolicies" | "recoveries");
    match &health {
        Health::Synced => readiness.has(plural),
        // A foreign kind may be missing for ever; ours are waited for.
        Health::Absent if !ours => readiness.has(plural),
        Health::Absent | Health::Forbidden(_) => readiness.waits_for(plural),
        Health::Failing(_) => {}
    }
    if ours && health == Health::Absent {
        desk.metrics.kind_is_missing(plural);
    } else {
        desk.metrics.kind_is_there(plural);
    }
    if seen.watches.note(plural, &health) {
        match health {
            Health::Synced => {}
            Health::Absent => tracing::info!("the cluster has no {plural}; they are looked for again and again"),
            Health::Forbidden(why) => tracing::warn!("{plural} may not be watched: {why} (grant list and watch)"),
            Health::Failing(why) => {
                desk.metrics.error("unreachable");
                tracing::warn!("{plural} cannot be watched at the moment: {why}");
            }
        }
    }
}
