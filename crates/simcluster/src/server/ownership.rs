//! Server-side apply, and what other writes do to the ownership of fields. *No client.*
//!
//! Conflicts are found leaf by leaf: a field that another manager owns and that would get another value. The same value is
//! shared. What a manager applied before and leaves out now goes, unless somebody else owns it too.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;
use serde_json::{Value, json};

use super::{
    fields::{Path, drop_leaf, leaves, set_leaf},
    fields_v1::{of_fields_v1, shown, to_fields_v1},
    refusal::Refusal,
};
use crate::object::{Fields, put, seconds, set, unset};

/// Who writes, and how.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Manager {
    pub(crate) name: String,
    /// `Apply` or `Update`.
    pub(crate) operation: &'static str,
    pub(crate) subresource: String,
}

impl Manager {
    /// As a conflict names it.
    fn shown(&self, object: &Value) -> String {
        match self.operation {
            "Update" => format!("{:?} using {}", self.name, object.text("/apiVersion")),
            _ => format!("{:?}", self.name),
        }
    }
}

type Owners = BTreeMap<Manager, BTreeSet<Path>>;

/// Applies a configuration to an object; the object that results, with its new owners.
pub(crate) fn apply(
    live: &Value,
    config: &Value,
    manager: &Manager,
    force: bool,
    now: Timestamp,
) -> Result<Value, Refusal> {
    let mut owners = owners_of(live);
    let (wanted, there) = (leaves(config), leaves(live));
    let mut conflicts = Vec::new();
    for (path, value) in &wanted {
        if there.get(path).is_none_or(|found| found == value) {
            continue;
        }
        let others = owners.iter().filter(|(other, paths)| *other != manager && paths.contains(path));
        conflicts.extend(others.map(|(other, _)| (other.shown(live), shown(path))));
    }
    if !conflicts.is_empty() && !force {
        return Err(Refusal::apply_conflict(&conflicts));
    }
    let mut result = live.clone();
    for dropped in owners.get(manager).into_iter().flatten().filter(|path| !wanted.contains_key(*path)) {
        let shared = owners.iter().any(|(other, paths)| other != manager && paths.contains(dropped));
        if !shared {
            drop_leaf(&mut result, dropped);
        }
    }
    for (path, value) in &wanted {
        set_leaf(&mut result, path, value);
        if there.get(path).is_some_and(|found| found != value) {
            for (_, paths) in owners.iter_mut().filter(|(other, _)| *other != manager) {
                paths.remove(path);
            }
        }
    }
    owners.insert(manager.clone(), wanted.into_keys().collect());
    write(&mut result, live, &owners, manager, now);
    Ok(result)
}

/// Gives what a write has changed to the writer.
pub(crate) fn note_change(before: &Value, after: &mut Value, manager: &Manager, now: Timestamp) {
    let mut owners = owners_of(before);
    let (old, new) = (leaves(before), leaves(after));
    let changed: BTreeSet<Path> =
        new.iter().filter(|(path, value)| old.get(*path) != Some(value)).map(|(path, _)| path.clone()).collect();
    for (other, paths) in &mut owners {
        paths.retain(|path| new.contains_key(path) && (other == manager || !changed.contains(path)));
    }
    if !changed.is_empty() {
        owners.entry(manager.clone()).or_default().extend(changed);
    }
    write(after, before, &owners, manager, now);
}

fn owners_of(object: &Value) -> Owners {
    let mut owners = Owners::new();
    for entry in object.items("/metadata/managedFields") {
        let manager = Manager {
            name: entry.text("/manager").to_owned(),
            operation: if entry.text("/operation") == "Apply" { "Apply" } else { "Update" },
            subresource: entry.text("/subresource").to_owned(),
        };
        owners.entry(manager).or_default().extend(of_fields_v1(entry.part("/fieldsV1")));
    }
    owners
}

/// Writes the owners down; an entry keeps its time unless its manager is the one who writes.
fn write(object: &mut Value, before: &Value, owners: &Owners, writer: &Manager, now: Timestamp) {
    let api_version = object.text("/apiVersion").to_owned();
    let mut entries = Vec::new();
    for (manager, paths) in owners.iter().filter(|(_, paths)| !paths.is_empty()) {
        let old = before.items("/metadata/managedFields").iter().find(|entry| {
            entry.text("/manager") == manager.name
                && entry.text("/operation") == manager.operation
                && entry.text("/subresource") == manager.subresource
        });
        let fields = to_fields_v1(paths);
        let unchanged = old.is_some_and(|old| old["fieldsV1"] == fields);
        let time = match old {
            Some(old) if manager != writer || unchanged => old["time"].clone(),
            _ => seconds(now),
        };
        let mut entry = json!({
            "manager": manager.name, "operation": manager.operation, "apiVersion": api_version, "time": time,
            "fieldsType": "FieldsV1", "fieldsV1": fields,
        });
        if !manager.subresource.is_empty() {
            put(&mut entry, "subresource", manager.subresource.clone().into());
        }
        entries.push(entry);
    }
    if entries.is_empty() {
        unset(object, "/metadata/managedFields");
    } else {
        set(object, "/metadata/managedFields", entries.into());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn manager(name: &str) -> Manager {
        Manager { name: name.to_owned(), operation: "Apply", subresource: String::new() }
    }

    fn applied(live: &Value, config: &Value, name: &str, force: bool) -> Result<Value, Refusal> {
        apply(live, config, &manager(name), force, Timestamp::UNIX_EPOCH)
    }

    #[test]
    fn another_value_of_anothers_field_is_a_conflict_until_forced() {
        let live =
            applied(&json!({"apiVersion": "v1"}), &json!({"data": {"a": "1", "b": "1"}}), "x", false).expect("new");
        let refusal = applied(&live, &json!({"data": {"a": "2"}}), "y", false).expect_err("a conflict");
        assert_eq!(refusal.code, 409);
        assert!(refusal.message.contains("conflict with \"x\": .data.a"), "{}", refusal.message);
        let forced = applied(&live, &json!({"data": {"a": "2"}}), "y", true).expect("forced");
        assert_eq!(forced["data"], json!({"a": "2", "b": "1"}));
        let again = applied(&forced, &json!({"data": {"b": "1"}}), "x", false).expect("x no longer owns a");
        assert_eq!(again["data"], json!({"a": "2", "b": "1"}));
    }

    #[test]
    fn the_same_value_is_shared_and_stays_while_anyone_wants_it() {
        let live = applied(&json!({}), &json!({"data": {"a": "1"}}), "x", false).expect("new");
        let shared = applied(&live, &json!({"data": {"a": "1"}}), "y", false).expect("shared");
        let left = applied(&shared, &json!({"data": {}}), "x", false).expect("x lets go");
        assert_eq!(left["data"]["a"], "1");
        let gone = applied(&left, &json!({}), "y", false).expect("y lets go");
        assert_eq!(gone.pointer("/data/a"), None);
    }

    #[test]
    fn a_plain_write_takes_a_field_over() {
        let live = applied(&json!({}), &json!({"data": {"a": "1"}}), "x", false).expect("new");
        let mut changed = live.clone();
        changed["data"]["a"] = "2".into();
        let human = Manager { name: "human".to_owned(), operation: "Update", subresource: String::new() };
        note_change(&live, &mut changed, &human, Timestamp::UNIX_EPOCH);
        assert_eq!(applied(&changed, &json!({"data": {"a": "1"}}), "x", false).expect_err("lost").code, 409);
    }
}
