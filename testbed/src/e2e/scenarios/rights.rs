//! The shipped roles beside what all operators of the run have asked for.

use std::collections::BTreeSet;

use anyhow::{Result, bail};

use crate::{
    audit::{self, Asked, Request},
    e2e::{Bed, Family, Scenario},
    rights::{Reach, rights},
};

/// Runs after all others: what they asked for is what it reads.
pub(crate) const USED: Scenario = Scenario {
    name: "rights-used",
    shows: "the shipped roles give what the operators of this cluster asked for, and nothing that none of them used",
    family: Family::Fact,
    run: |bed| Box::pin(async move { check(&bed) }),
};

/// Rights that a run may well do without, or that its audit log does not show, and when they are needed.
const SELDOM: &[(&str, &str, &str, &str)] = &[
    ("cosmos.strange.love", "cosmosfullnodes", "get", "an incident of a replica that cosmos-operator made"),
    ("cosmos.strange.love", "cosmosfullnodes", "watch", "the kind is installed: before that its list is refused"),
    ("", "events", "list", "at every look at the evidence; this audit log passes reads of Events over"),
    ("coordination.k8s.io", "leases", "get", "every few seconds; this audit log passes reads of Leases over"),
    ("", "persistentvolumeclaims", "create", "a policy lets volumes be inspected on a snapshot"),
    ("", "persistentvolumeclaims", "delete", "a policy lets volumes be inspected on a snapshot"),
    ("snapshot.storage.k8s.io", "volumesnapshots", "create", "a policy lets volumes be inspected on a snapshot"),
    ("snapshot.storage.k8s.io", "volumesnapshots", "delete", "a policy lets volumes be inspected on a snapshot"),
];

fn check(bed: &Bed) -> Result<()> {
    let is_an_operator =
        |account: &str| account.starts_with("system:serviceaccount:") && account.ends_with(":loopbreaker");
    let requests = audit::read(&bed.folder.join("audit.log"), 0, is_an_operator)?;
    if !requests.iter().any(|request| request.what.resource == "recoveries/status" && request.code < 300) {
        bail!("no operator has recorded anything on this cluster: run this after the scenarios of observation");
    }
    let found = compare(&requests);
    for asked in &found.taken_away {
        println!("        a scenario took away the right to {asked}");
    }
    if !found.unused.is_empty() {
        bail!("rights of config/rbac/ that no operator used: {}", found.unused.join("; "));
    }
    if !found.missing.is_empty() {
        bail!("asked for, refused, and in no role of config/rbac/: {}", found.missing.join("; "));
    }
    Ok(())
}

#[derive(Debug, Default, PartialEq, Eq)]
struct Found {
    /// In the roles, and not used, nor excused.
    unused: Vec<String>,
    /// Refused, and in no role.
    missing: Vec<String>,
    /// Refused, though the roles have it.
    taken_away: Vec<String>,
}

fn compare(requests: &[Request]) -> Found {
    // Every account may ask for its own rights and for what there is; that is no right of ours.
    let requests = requests.iter().filter(|request| request.what.group != "authorization.k8s.io");
    let mut used: BTreeSet<Asked> = BTreeSet::new();
    let mut refused: BTreeSet<Asked> = BTreeSet::new();
    for request in requests {
        let place = if request.code == 403 { &mut refused } else { &mut used };
        place.insert(request.what.clone());
    }
    let shipped: BTreeSet<Asked> = rights()
        .iter()
        // The same in another namespace.
        .filter(|right| right.reach != Reach::MachineEvents)
        .flat_map(|right| {
            right.verbs.iter().map(|verb| Asked {
                verb: (*verb).to_owned(),
                group: right.group.to_owned(),
                resource: right.resource.to_owned(),
            })
        })
        .collect();
    let is_seldom = |asked: &Asked| {
        SELDOM.iter().any(|(group, resource, verb, _)| {
            (*group, *resource, *verb) == (asked.group.as_str(), asked.resource.as_str(), asked.verb.as_str())
        })
    };
    let words = |asked: &Asked| asked.to_string();
    Found {
        unused: shipped.difference(&used).filter(|asked| !is_seldom(asked)).map(words).collect(),
        missing: refused.difference(&shipped).map(words).collect(),
        taken_away: refused.intersection(&shipped).map(words).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(verb: &str, group: &str, resource: &str, code: u16) -> Request {
        Request {
            at: jiff::Timestamp::UNIX_EPOCH,
            account: "system:serviceaccount:a:loopbreaker".to_owned(),
            what: Asked { verb: verb.to_owned(), group: group.to_owned(), resource: resource.to_owned() },
            namespace: "a".to_owned(),
            name: String::new(),
            code,
        }
    }

    /// Everything that the roles give, as if it had been asked for.
    fn all() -> Vec<Request> {
        let each = rights().iter().flat_map(|right| right.verbs.iter().map(move |verb| (verb, right)));
        each.map(|(verb, right)| asked(verb, right.group, right.resource, 200)).collect()
    }

    #[test]
    fn a_run_that_uses_everything_finds_nothing() {
        assert_eq!(compare(&all()), Found::default());
    }

    #[test]
    fn a_right_that_nobody_used_is_named_but_for_those_that_are_needed_seldom() {
        let mut requests = all();
        requests.retain(|request| request.what.resource != "nodes" && request.what.resource != "volumesnapshots");
        assert_eq!(
            compare(&requests).unused,
            [
                "get core nodes",
                "get snapshot.storage.k8s.io volumesnapshots",
                "list snapshot.storage.k8s.io volumesnapshots"
            ]
        );
    }

    #[test]
    fn what_was_refused_is_missing_or_was_taken_away() {
        let mut requests = all();
        requests.push(asked("get", "", "secrets", 403));
        requests.push(asked("get", "", "pods/log", 403));
        let found = compare(&requests);
        assert_eq!(
            (found.missing, found.taken_away),
            (vec!["get core secrets".to_owned()], vec!["get core pods/log".to_owned()])
        );
    }
}
