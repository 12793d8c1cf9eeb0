use serde_json::Value;

use super::{Crd, crds};

/// Every schema of a structural definition names its type, and nothing points elsewhere.
fn unstructured(schema: &Value, at: &str, found: &mut Vec<String>) {
    let Some(fields) = schema.as_object() else { return };
    if fields.contains_key("$ref") || fields.contains_key("$defs") {
        found.push(format!("{at}: a reference"));
    }
    let is_free = fields.get("x-kubernetes-preserve-unknown-fields") == Some(&Value::Bool(true))
        || fields.get("x-kubernetes-int-or-string") == Some(&Value::Bool(true));
    if !fields.contains_key("type") && !is_free {
        found.push(format!("{at}: no type"));
    }
    for (name, property) in fields.get("properties").and_then(Value::as_object).into_iter().flatten() {
        unstructured(property, &format!("{at}.{name}"), found);
    }
    for part in ["items", "additionalProperties"] {
        if let Some(below) = fields.get(part).filter(|below| below.is_object()) {
            unstructured(below, &format!("{at}.{part}"), found);
        }
    }
}

fn schema(crd: &Crd) -> Value {
    let definition = serde_json::to_value(&crd.definition).expect("json");
    definition["spec"]["versions"][0]["schema"]["openAPIV3Schema"].clone()
}

#[test]
fn schemas_are_structural() {
    for crd in crds() {
        let mut found = Vec::new();
        unstructured(&schema(&crd)["properties"]["spec"], "spec", &mut found);
        unstructured(&schema(&crd)["properties"]["status"], "status", &mut found);
        assert_eq!(found, Vec::<String>::new(), "{}", crd.file);
    }
}

/// A user sees what is in force, and an API server writes it into every stored policy.
#[test]
fn every_setting_but_the_targets_has_a_visible_default() {
    let policy = crds().into_iter().find(|crd| crd.file == "recoverypolicies.yaml").expect("the policy");
    let spec = &schema(&policy)["properties"]["spec"];
    let without: Vec<&String> = spec["properties"]
        .as_object()
        .expect("settings")
        .iter()
        .filter(|(_, setting)| setting.get("default").is_none())
        .map(|(name, _)| name)
        .collect();
    assert_eq!(without, ["targets"]);
    assert_eq!(spec["properties"]["detection"]["default"]["crashes"], 3);
    assert_eq!(spec["properties"]["detection"]["properties"]["crashes"]["default"], 3);
}
