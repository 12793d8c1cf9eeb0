//! What a PATCH makes of an object. *No client.*
//!
//! Merge patch (RFC 7386), JSON patch (RFC 6902), and strategic merge for built-in kinds with the merge keys of
//! [`list_rule`]. Server-side apply is in `ownership`.

use serde_json::{Map, Value};

use super::{
    call::PatchKind,
    fields::{ListRule, item_key, list_rule},
    refusal::Refusal,
    resource::Resource,
};

/// The object after a patch that is no apply.
pub(crate) fn patched(live: &Value, patch: &Value, kind: PatchKind, resource: &Resource) -> Result<Value, Refusal> {
    let mut result = live.clone();
    match kind {
        PatchKind::Merge => json_patch::merge(&mut result, patch),
        PatchKind::Json => {
            let steps: json_patch::Patch = serde_json::from_value(patch.clone())
                .map_err(|error| Refusal::bad_request(format!("the body is no JSON patch: {error}")))?;
            json_patch::patch(&mut result, &steps).map_err(|_| Refusal::unprocessable())?;
        }
        PatchKind::StrategicMerge if resource.is_custom => {
            return Err(Refusal::unsupported_patch(
                "application/strategic-merge-patch+json",
                "application/json-patch+json, application/merge-patch+json, application/apply-patch+yaml",
            ));
        }
        PatchKind::StrategicMerge => merge_strategically(&mut result, patch)?,
        PatchKind::Apply => return Err(Refusal::bad_request("an apply configuration is no patch")),
    }
    Ok(result)
}

fn merge_strategically(live: &mut Value, patch: &Value) -> Result<(), Refusal> {
    let Value::Object(patch) = patch else {
        *live = patch.clone();
        return Ok(());
    };
    match patch.get("$patch").and_then(Value::as_str) {
        None | Some("merge") => {}
        Some("replace") => {
            *live = Value::Object(without_directives(patch));
            return Ok(());
        }
        Some(other) => return Err(Refusal::bad_request(format!("unknown patch directive {other:?}"))),
    }
    if !live.is_object() {
        *live = Value::Object(Map::new());
    }
    let Value::Object(map) = live else { return Ok(()) };
    for (name, part) in patch {
        if let Some(list) = name.strip_prefix("$deleteFromPrimitiveList/") {
            let gone = part.as_array().map(Vec::as_slice).unwrap_or_default();
            if let Some(items) = map.get_mut(list).and_then(Value::as_array_mut) {
                items.retain(|item| !gone.contains(item));
            }
        } else if name.starts_with("$retainKeys") {
            return Err(Refusal::bad_request("the directive $retainKeys is not served here"));
        } else if name.starts_with('$') {
            // `$patch` was read above; `$setElementOrder` only orders what is merged by key anyway.
        } else {
            match (part, list_rule(name)) {
                (Value::Null, _) => {
                    map.remove(name);
                }
                (Value::Object(_), _) => {
                    merge_strategically(map.entry(name.clone()).or_insert(Value::Null), part)?;
                }
                (Value::Array(items), rule) if rule != ListRule::Atomic => {
                    merge_list(map.entry(name.clone()).or_insert_with(|| Value::Array(Vec::new())), items, rule)?;
                }
                _ => {
                    map.insert(name.clone(), part.clone());
                }
            }
        }
    }
    Ok(())
}

fn merge_list(live: &mut Value, patch: &[Value], rule: ListRule) -> Result<(), Refusal> {
    let mut items = live.as_array().cloned().unwrap_or_default();
    for part in patch {
        let ListRule::Map(keys) = rule else {
            if !items.contains(part) {
                items.push(part.clone());
            }
            continue;
        };
        match part.get("$patch").and_then(Value::as_str) {
            Some("replace") => {
                items = patch.iter().filter(|item| item.get("$patch").is_none()).cloned().collect();
                break;
            }
            Some("delete") => items.retain(|item| item_key(item, keys) != item_key(part, keys)),
            _ => match items.iter_mut().find(|item| item_key(item, keys) == item_key(part, keys)) {
                Some(item) => merge_strategically(item, part)?,
                None => items.push(part.clone()),
            },
        }
    }
    *live = Value::Array(items);
    Ok(())
}

fn without_directives(patch: &Map<String, Value>) -> Map<String, Value> {
    patch.iter().filter(|(name, _)| !name.starts_with('$')).map(|(name, part)| (name.clone(), part.clone())).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn strategic(live: Value, patch: &Value) -> Value {
        let mut live = live;
        merge_strategically(&mut live, patch).expect("merged");
        live
    }

    #[test]
    fn lists_are_merged_by_their_keys() {
        let live = json!({"spec": {"containers": [{"name": "node", "image": "a"}, {"name": "side"}], "args": ["x"]}});
        let patch = json!({"spec": {"containers": [{"name": "node", "image": "b"}, {"name": "side", "$patch": "delete"}], "args": ["y"]}});
        assert_eq!(
            strategic(live, &patch),
            json!({"spec": {"containers": [{"name": "node", "image": "b"}], "args": ["y"]}})
        );
    }

    #[test]
    fn sets_grow_and_shrink_by_directive() {
        let live = json!({"metadata": {"finalizers": ["a", "b"]}});
        let patch = json!({"metadata": {"finalizers": ["c"], "$deleteFromPrimitiveList/finalizers": ["a"]}});
        assert_eq!(strategic(live, &patch)["metadata"]["finalizers"], json!(["b", "c"]));
    }
}
