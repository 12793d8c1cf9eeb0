//! What the API server's audit log says that somebody wrote.

use std::{collections::BTreeSet, fs, path::Path};

use anyhow::{Context, Result, bail};
use serde::Deserialize;

/// Verbs that change something.
const WRITES: [&str; 5] = ["create", "update", "patch", "delete", "deletecollection"];

/// All that the operator may write while it observes: group, resource with subresource, verb.
const OWN: [(&str, &str, &str); 14] = [
    ("loopbreaker.dev", "recoveries", "create"),
    ("loopbreaker.dev", "recoveries/status", "update"),
    ("loopbreaker.dev", "recoverypolicies/status", "update"),
    ("events.k8s.io", "events", "create"),
    ("coordination.k8s.io", "leases", "create"),
    ("coordination.k8s.io", "leases", "update"),
    ("batch", "jobs", "create"),
    ("batch", "jobs", "delete"),
    ("snapshot.storage.k8s.io", "volumesnapshots", "create"),
    ("snapshot.storage.k8s.io", "volumesnapshots", "delete"),
    ("", "persistentvolumeclaims", "create"),
    ("", "persistentvolumeclaims", "delete"),
    // A question about rights, which the API server calls a creation.
    ("authorization.k8s.io", "selfsubjectaccessreviews", "create"),
    ("authorization.k8s.io", "selfsubjectrulesreviews", "create"),
];

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Line {
    verb: String,
    user: User,
    object_ref: Option<Object>,
    #[serde(rename = "requestURI")]
    uri: String,
}

#[derive(Debug, Deserialize)]
struct User {
    username: String,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Object {
    #[serde(default)]
    api_group: String,
    #[serde(default)]
    resource: String,
    #[serde(default)]
    subresource: String,
    #[serde(default)]
    namespace: String,
    #[serde(default)]
    name: String,
}

/// A write, in words.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Write {
    pub(crate) group: String,
    /// With its subresource.
    pub(crate) resource: String,
    pub(crate) verb: String,
    pub(crate) namespace: String,
    pub(crate) name: String,
}

/// Everything that an account tried to write, whether it was let or not.
pub(crate) fn writes(log: &Path, account: &str) -> Result<Vec<Write>> {
    let text = fs::read_to_string(log).with_context(|| format!("read {}", log.display()))?;
    let mut found = Vec::new();
    for line in text.lines().filter(|line| line.contains(account)) {
        // The last line may be half written.
        let Ok(line) = serde_json::from_str::<Line>(line) else { continue };
        if line.user.username != account || !WRITES.contains(&line.verb.as_str()) {
            continue;
        }
        let object = line.object_ref.with_context(|| format!("a write without an object: {}", line.uri))?;
        let resource = match object.subresource.as_str() {
            "" => object.resource,
            sub => format!("{}/{sub}", object.resource),
        };
        let Object { api_group: group, namespace, name, .. } = object;
        found.push(Write { group, resource, verb: line.verb, namespace, name });
    }
    Ok(found)
}

/// Holds that an observing operator wrote its own objects in its own namespace, and nothing else (P1).
pub(crate) fn nothing_but_our_own(log: &Path, account: &str, namespace: &str) -> Result<()> {
    let writes = writes(log, account)?;
    if !writes.iter().any(|write| write.resource == "recoveries/status") {
        bail!("{} shows no record that {account} wrote: it proves nothing", log.display());
    }
    let foreign: BTreeSet<&Write> = writes.iter().filter(|write| !is_own(write, namespace)).collect();
    if !foreign.is_empty() {
        bail!("{account} wrote what is not its own: {foreign:?}");
    }
    Ok(())
}

fn is_own(write: &Write, namespace: &str) -> bool {
    let known = (write.group.as_str(), write.resource.as_str(), write.verb.as_str());
    let for_inspection = ["jobs", "volumesnapshots", "persistentvolumeclaims"].contains(&write.resource.as_str());
    let ours = !for_inspection || write.name.is_empty() || write.name.starts_with("lb-inspect-");
    let review = write.group == "authorization.k8s.io";
    OWN.contains(&known) && ours && (review || write.namespace == namespace)
}

#[cfg(test)]
mod tests {
    use super::{nothing_but_our_own, writes};

    fn log(lines: &[(&str, &str, &str, &str)]) -> tempfile::NamedTempFile {
        let file = tempfile::NamedTempFile::new().unwrap();
        let text: String = lines
            .iter()
            .map(|(verb, user, group, resource)| {
                format!(
                    r#"{{"verb":"{verb}","user":{{"username":"{user}"}},"requestURI":"/x","objectRef":{{"apiGroup":"{group}","resource":"{resource}","namespace":"n","name":"lb-inspect-0"}}}}"#
                ) + "\n"
            })
            .collect();
        std::fs::write(file.path(), text.replace("recoveries/status", r#"recoveries","subresource":"status"#)).unwrap();
        file
    }

    #[test]
    fn our_own_objects_are_no_breach_and_a_foreign_one_is() {
        let record = ("update", "op", "loopbreaker.dev", "recoveries/status");
        nothing_but_our_own(log(&[record, ("create", "op", "batch", "jobs")]).path(), "op", "n").unwrap();
        let broken = nothing_but_our_own(log(&[record, ("delete", "op", "", "pods")]).path(), "op", "n");
        assert!(format!("{:#}", broken.unwrap_err()).contains("pods"));
        assert!(nothing_but_our_own(log(&[record]).path(), "op", "elsewhere").is_err(), "another namespace");
        assert!(nothing_but_our_own(log(&[("create", "op", "batch", "jobs")]).path(), "op", "n").is_err(), "no proof");
    }

    #[test]
    fn reads_and_others_are_passed_over() {
        let file = log(&[("get", "op", "", "pods"), ("delete", "other", "", "pods")]);
        assert_eq!(writes(file.path(), "op").unwrap(), []);
    }
}
