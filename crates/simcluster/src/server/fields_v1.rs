//! Paths of fields as clients see them: `fieldsV1` of `metadata.managedFields`, and the words of a conflict. *No client.*

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use super::fields::{Path, Step};

/// A path as conflicts name it: `.spec.template.containers[name="node"].image`.
pub(crate) fn shown(path: &[Step]) -> String {
    let mut text = String::new();
    for step in path {
        match step {
            Step::Field(name) => {
                text.push('.');
                text.push_str(name);
            }
            Step::Item(keys) => {
                let keys: Value = serde_json::from_str(keys).unwrap_or_default();
                let pairs: Vec<String> =
                    keys.as_object().into_iter().flatten().map(|(key, value)| format!("{key}={value}")).collect();
                text.extend(["[", &pairs.join(","), "]"]);
            }
            Step::Member(json) => text.extend(["[=", json, "]"]),
            Step::Itself => {}
        }
    }
    text
}

/// `fieldsV1` of a set of leaves.
pub(crate) fn to_fields_v1(paths: &BTreeSet<Path>) -> Value {
    let mut root = Map::new();
    for path in paths {
        let mut at = &mut root;
        for step in path {
            let name = match step {
                Step::Field(name) => format!("f:{name}"),
                Step::Item(keys) => format!("k:{keys}"),
                Step::Member(json) => format!("v:{json}"),
                Step::Itself => ".".to_owned(),
            };
            let next = at.entry(name).or_insert_with(|| Value::Object(Map::new()));
            let Value::Object(map) = next else { break };
            at = map;
        }
    }
    Value::Object(root)
}

/// The leaves of a `fieldsV1`.
pub(crate) fn of_fields_v1(fields: &Value) -> BTreeSet<Path> {
    let mut found = BTreeSet::new();
    collect(fields, &mut Vec::new(), &mut found);
    found
}

fn collect(fields: &Value, path: &mut Path, found: &mut BTreeSet<Path>) {
    let Some(map) = fields.as_object().filter(|map| !map.is_empty()) else {
        found.insert(path.clone());
        return;
    };
    for (name, inner) in map {
        let step = match name.split_once(':') {
            Some(("f", name)) => Step::Field(name.to_owned()),
            Some(("k", keys)) => Step::Item(keys.to_owned()),
            Some(("v", json)) => Step::Member(json.to_owned()),
            _ => Step::Itself,
        };
        path.push(step);
        collect(inner, path, found);
        path.pop();
    }
}
