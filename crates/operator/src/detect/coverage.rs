//! Which workloads a policy is about, and whether it is in force. *No client, no clock.*

use std::{collections::BTreeMap, sync::Arc};

use api::{Mode, RecoveryPolicy, Target};
use jiff::Timestamp;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{LabelSelector, LabelSelectorRequirement};
use kube::ResourceExt;

use crate::index::Workload;

/// Whether a policy is in force.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Standing {
    /// It is.
    Accepted,
    /// It is, and selects no workload; in words.
    SelectsNothing(String),
    /// It is, and selects whatever there is, also what comes later; in words.
    SelectsEverything(String),
    /// It is not.
    Refused {
        /// Why, in one word.
        reason: &'static str,
        /// Why, in words.
        why: String,
    },
}

/// Whether a policy's targets pick a workload of its namespace.
pub(crate) fn selects(policy: &RecoveryPolicy, workload: &Workload) -> bool {
    policy.namespace().as_deref().unwrap_or_default() == workload.namespace
        && policy.spec.targets.iter().any(|target| picks(target, workload))
}

fn picks(target: &Target, workload: &Workload) -> bool {
    target.kind == workload.kind
        && match (&target.name, &target.selector) {
            (Some(name), None) => *name == workload.name,
            (None, Some(selector)) => fits(selector, &workload.labels),
            // Both or neither: the API server refuses it, and a cluster without its rules gets nothing.
            (Some(_), Some(_)) | (None, None) => false,
        }
}

fn fits(selector: &LabelSelector, labels: &BTreeMap<String, String>) -> bool {
    let equal = selector.match_labels.iter().flatten().all(|(name, value)| labels.get(name) == Some(value));
    equal && selector.match_expressions.iter().flatten().all(|expression| holds(expression, labels))
}

fn holds(expression: &LabelSelectorRequirement, labels: &BTreeMap<String, String>) -> bool {
    let value = labels.get(&expression.key);
    let listed = value.is_some_and(|value| expression.values.iter().flatten().any(|one| one == value));
    match expression.operator.as_str() {
        "In" => listed,
        "NotIn" => !listed,
        "Exists" => value.is_some(),
        "DoesNotExist" => value.is_none(),
        // An operator of tomorrow picks nothing.
        _ => false,
    }
}

/// Of two policies that pick one workload the older is in force, whole, and the younger is refused, whole: half a policy is
/// what nobody has asked for.
pub(super) fn standing<'w>(
    policy: &RecoveryPolicy,
    policies: &[Arc<RecoveryPolicy>],
    selected: &[&Workload],
    all: impl Iterator<Item = &'w Workload>,
) -> Standing {
    let all: Vec<&Workload> = all.collect();
    let overlap = older_in_force(policy, policies, &all).into_iter().find_map(|other| {
        let both = selected.iter().find(|workload| selects(other, workload))?;
        Some((other.name_any(), format!("{} {}", both.kind.as_str(), both.name)))
    });
    if let Some((other, workload)) = overlap {
        let why = format!(
            "{workload} is watched by the older policy {other} already; this one does nothing (change its targets, or \
             remove one of the two)"
        );
        return Standing::Refused { reason: "Overlaps", why };
    }
    let everything = everything(policy);
    if !everything.is_empty() {
        let kinds = everything.join(" and every ");
        if policy.spec.mode != Mode::Observe {
            let why = format!(
                "an empty selector picks every {kinds} of the namespace, also those that come later: only a policy that \
                 observes may do that (name the workloads or their labels, or set mode to Observe)"
            );
            return Standing::Refused { reason: "SelectsEverything", why };
        }
        return Standing::SelectsEverything(format!(
            "every {kinds} of the namespace is watched, also those that come later"
        ));
    }
    if selected.is_empty() {
        let there: Vec<String> =
            all.iter().take(5).map(|workload| format!("{} {}", workload.kind.as_str(), workload.name)).collect();
        let there = if there.is_empty() { "none".to_owned() } else { there.join(", ") };
        return Standing::SelectsNothing(format!("no workload of the namespace is selected (there: {there})"));
    }
    Standing::Accepted
}

/// A policy that is refused itself stands in nobody's way.
fn older_in_force<'p>(
    policy: &RecoveryPolicy,
    policies: &'p [Arc<RecoveryPolicy>],
    all: &[&Workload],
) -> Vec<&'p RecoveryPolicy> {
    let mut older: Vec<&RecoveryPolicy> =
        policies.iter().map(|other| &**other).filter(|other| is_older(other, policy)).collect();
    older.sort_by_key(|other| age(other));
    let mut in_force: Vec<&RecoveryPolicy> = Vec::new();
    for other in older {
        let picked = || all.iter().filter(|workload| selects(other, workload));
        let is_second = picked().any(|workload| in_force.iter().any(|first| selects(first, workload)));
        let is_too_wide = other.spec.mode != Mode::Observe && !everything(other).is_empty();
        if !is_second && !is_too_wide {
            in_force.push(other);
        }
    }
    in_force
}

/// Kinds of which a policy picks whatever there is.
fn everything(policy: &RecoveryPolicy) -> Vec<&'static str> {
    let targets = policy.spec.targets.iter();
    let whole = targets.filter(|target| target.selector.as_ref().is_some_and(is_empty));
    whole.map(|target| target.kind.as_str()).collect()
}

fn is_empty(selector: &LabelSelector) -> bool {
    selector.match_labels.as_ref().is_none_or(BTreeMap::is_empty)
        && selector.match_expressions.as_ref().is_none_or(Vec::is_empty)
}

fn age(policy: &RecoveryPolicy) -> (Option<Timestamp>, String) {
    (policy.metadata.creation_timestamp.as_ref().map(|time| time.0), policy.uid().unwrap_or_default())
}

fn is_older(other: &RecoveryPolicy, than: &RecoveryPolicy) -> bool {
    other.uid() != than.uid() && age(other) < age(than)
}
