//! Who manages which field: the paths of `metadata.managedFields` and the rules for lists. *No client.*
//!
//! Paths in the notation of structured-merge-diff (`f:` field, `k:` list item by its keys, `v:` item of a set), so that what
//! a client reads has the real form. Which lists are maps or sets is known for the lists that are written to here; every
//! other list is atomic: one owner for the whole of it.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

/// One step into an object.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Step {
    /// The item itself, as opposed to its fields. First, so that an item goes as a whole before its keys do.
    Itself,
    /// A field.
    Field(String),
    /// An item of a list, by its keys as JSON.
    Item(String),
    /// An item of a set, as JSON.
    Member(String),
}

/// A leaf's place.
pub(crate) type Path = Vec<Step>;

/// How a list is merged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ListRule {
    /// By these keys.
    Map(&'static [&'static str]),
    /// Each item stands for itself.
    Set,
    /// As a whole.
    Atomic,
}

/// The rule for the list in a field.
pub(crate) fn list_rule(field: &str) -> ListRule {
    match field {
        "containers" | "initContainers" | "ephemeralContainers" | "volumes" | "env" | "imagePullSecrets" => {
            ListRule::Map(&["name"])
        }
        "conditions" => ListRule::Map(&["type"]),
        "volumeMounts" => ListRule::Map(&["mountPath"]),
        "ports" => ListRule::Map(&["containerPort", "protocol"]),
        "ownerReferences" => ListRule::Map(&["uid"]),
        "finalizers" => ListRule::Set,
        _ => ListRule::Atomic,
    }
}

/// Fields that nobody manages.
const UNMANAGED: [&str; 7] =
    ["name", "namespace", "uid", "resourceVersion", "generation", "creationTimestamp", "managedFields"];

/// Every leaf of an object with its value, without what nobody manages.
pub(crate) fn leaves(object: &Value) -> BTreeMap<Path, Value> {
    let mut found = BTreeMap::new();
    for (name, part) in object.as_object().into_iter().flatten() {
        match (name.as_str(), part) {
            ("apiVersion" | "kind", _) => {}
            ("metadata", Value::Object(metadata)) => {
                for (name, part) in metadata.iter().filter(|(name, _)| !UNMANAGED.contains(&name.as_str())) {
                    walk(part, name, &mut vec![field("metadata"), field(name)], &mut found);
                }
            }
            (name, part) => walk(part, name, &mut vec![field(name)], &mut found),
        }
    }
    found
}

fn field(name: &str) -> Step {
    Step::Field(name.to_owned())
}

fn walk(value: &Value, name: &str, path: &mut Path, found: &mut BTreeMap<Path, Value>) {
    match value {
        Value::Object(map) if !map.is_empty() => {
            for (name, part) in map {
                path.push(field(name));
                walk(part, name, path, found);
                path.pop();
            }
        }
        Value::Array(items) => match list_rule(name) {
            ListRule::Map(keys) if items.iter().all(Value::is_object) => {
                for item in items {
                    path.push(Step::Item(item_key(item, keys)));
                    path.push(Step::Itself);
                    found.insert(path.clone(), Value::Null);
                    path.pop();
                    for (name, part) in item.as_object().into_iter().flatten() {
                        path.push(field(name));
                        walk(part, name, path, found);
                        path.pop();
                    }
                    path.pop();
                }
            }
            ListRule::Set => {
                for item in items {
                    path.push(Step::Member(item.to_string()));
                    found.insert(path.clone(), item.clone());
                    path.pop();
                }
            }
            _ => {
                found.insert(path.clone(), value.clone());
            }
        },
        _ => {
            found.insert(path.clone(), value.clone());
        }
    }
}

/// The keys of a list item, as JSON.
pub(crate) fn item_key(item: &Value, keys: &[&str]) -> String {
    let picked: Map<String, Value> =
        keys.iter().filter_map(|key| Some(((*key).to_owned(), item.get(*key)?.clone()))).collect();
    Value::Object(picked).to_string()
}

/// Sets a leaf in an object.
pub(crate) fn set_leaf(object: &mut Value, path: &[Step], leaf: &Value) {
    let Some((step, rest)) = path.split_first() else {
        // An empty object says that there is one, not that it has nothing else.
        let there = object.is_object() && leaf.as_object().is_some_and(Map::is_empty);
        if !there {
            *object = leaf.clone();
        }
        return;
    };
    match step {
        Step::Field(name) => {
            if !object.is_object() {
                *object = Value::Object(Map::new());
            }
            if let Value::Object(map) = object {
                set_leaf(map.entry(name.clone()).or_insert(Value::Null), rest, leaf);
            }
        }
        Step::Item(keys) => {
            if let Some(item) = item_of(object, keys) {
                set_leaf(item, rest, leaf);
            }
        }
        Step::Member(json) => {
            let member: Value = serde_json::from_str(json).unwrap_or_default();
            match object {
                Value::Array(items) if items.contains(&member) => {}
                Value::Array(items) => items.push(member),
                other => *other = Value::Array(vec![member]),
            }
        }
        Step::Itself => {}
    }
}

/// The item of a list with these keys, made if it is missing.
fn item_of<'o>(list: &'o mut Value, keys: &str) -> Option<&'o mut Value> {
    let wanted: Value = serde_json::from_str(keys).ok()?;
    if !list.is_array() {
        *list = Value::Array(Vec::new());
    }
    let items = list.as_array_mut()?;
    let found = items.iter().position(|item| has_keys(item, &wanted));
    let at = found.unwrap_or_else(|| {
        items.push(wanted);
        items.len() - 1
    });
    items.get_mut(at)
}

fn has_keys(item: &Value, keys: &Value) -> bool {
    keys.as_object().into_iter().flatten().all(|(key, value)| item.get(key) == Some(value))
}

/// Takes a leaf out of an object, and what is empty then.
pub(crate) fn drop_leaf(object: &mut Value, path: &[Step]) {
    let Some((step, rest)) = path.split_first() else { return };
    match (step, object) {
        (Step::Field(name), Value::Object(map)) => {
            if let (Some(part), false) = (map.get_mut(name), rest.is_empty()) {
                drop_leaf(part, rest);
            }
            if rest.is_empty() || map.get(name).is_some_and(is_hollow) {
                map.remove(name);
            }
        }
        (Step::Item(keys), Value::Array(items)) => {
            let Ok(wanted) = serde_json::from_str::<Value>(keys) else { return };
            if rest == [Step::Itself] {
                items.retain(|item| !has_keys(item, &wanted));
            } else if let Some(item) = items.iter_mut().find(|item| has_keys(item, &wanted)) {
                drop_leaf(item, rest);
            }
        }
        (Step::Member(json), Value::Array(items)) => {
            let member: Value = serde_json::from_str(json).unwrap_or_default();
            items.retain(|item| *item != member);
        }
        _ => {}
    }
}

fn is_hollow(value: &Value) -> bool {
    match value {
        Value::Object(map) => map.is_empty(),
        Value::Array(items) => items.is_empty(),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use serde_json::json;

    use super::{
        super::fields_v1::{of_fields_v1, shown, to_fields_v1},
        *,
    };

    #[test]
    fn an_object_is_the_sum_of_its_leaves() {
        let object = json!({
            "metadata": {"name": "x", "finalizers": ["a"], "labels": {"k": "v"}},
            "spec": {"containers": [{"name": "node", "image": "i", "args": ["x", "y"]}], "empty": {}},
        });
        let leaves = leaves(&object);
        let mut again = json!({"metadata": {"name": "x"}});
        for (path, leaf) in &leaves {
            set_leaf(&mut again, path, leaf);
        }
        assert_eq!(again, object);
        let paths: BTreeSet<Path> = leaves.keys().cloned().collect();
        assert_eq!(of_fields_v1(&to_fields_v1(&paths)), paths);
        for path in &paths {
            drop_leaf(&mut again, path);
        }
        assert_eq!(again, json!({"metadata": {"name": "x"}}));
    }

    #[test]
    fn paths_are_shown_as_the_api_server_shows_them() {
        let leaves = leaves(&json!({"spec": {"containers": [{"name": "node", "image": "i"}]}}));
        let shown: Vec<String> = leaves.keys().map(|path| shown(path)).collect();
        assert!(shown.contains(&".spec.containers[name=\"node\"].image".to_owned()), "{shown:?}");
    }
}
