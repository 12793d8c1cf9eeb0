//! Structural schemas of custom kinds: defaults, pruning, and the checks that need no expressions. *No client.*
//!
//! As apiextensions does it on every write: unknown fields are dropped without a word, defaults are filled in, and what does
//! not fit is refused with 422. CEL rules (`x-kubernetes-validations`) are not run here; the `api` crate's tests hold them.

use serde_json::{Map, Value};

use crate::object::Fields;

/// Drops what the schema does not know, and fills in its defaults.
pub(crate) fn complete(value: &mut Value, schema: &Value) {
    if let Value::Array(items) = value {
        for item in items {
            complete(item, schema.part("/items"));
        }
    }
    let Value::Object(map) = value else { return };
    if let Some(properties) = schema.get("properties").and_then(Value::as_object) {
        if !schema.is_true("/x-kubernetes-preserve-unknown-fields") {
            map.retain(|name, _| properties.contains_key(name));
        }
        for (name, property) in properties {
            match map.get_mut(name) {
                Some(Value::Null) if property.get("default").is_some() && !property.is_true("/nullable") => {
                    map.remove(name);
                }
                Some(Value::Null) if !property.is_true("/nullable") => {
                    map.remove(name);
                }
                _ => {}
            }
            if let (false, Some(default)) = (map.contains_key(name), property.get("default")) {
                map.insert(name.clone(), default.clone());
            }
            if let Some(part) = map.get_mut(name) {
                complete(part, property);
            }
        }
    } else if let Some(values) = schema.get("additionalProperties").filter(|values| values.is_object()) {
        map.values_mut().for_each(|part| complete(part, values));
    }
}

/// The first thing that does not fit: field and why.
pub(crate) fn misfit(value: &Value, schema: &Value, field: &str) -> Option<(String, String)> {
    let wrong = |why: String| Some((field.to_owned(), why));
    if value.is_null() && schema.is_true("/nullable") {
        return None;
    }
    if !has_type(value, schema) {
        let (kind, found) = (schema.text("/type"), name_of_type(value));
        return wrong(format!("Invalid value: {found:?}: {field} in body must be of type {kind}: {found:?}"));
    }
    if let Some(options) = schema.get("enum").and_then(Value::as_array)
        && !options.contains(value)
    {
        let options: Vec<String> = options.iter().map(ToString::to_string).collect();
        return wrong(format!("Unsupported value: {value}: supported values: {}", options.join(", ")));
    }
    match value {
        Value::Object(map) => misfit_in_object(map, schema, field),
        Value::Array(items) => {
            if let Some(why) = out_of_bounds(items.len(), schema, "minItems", "maxItems") {
                return wrong(format!("Invalid value: {field} in body should have {why} items"));
            }
            let mut each = items.iter().enumerate();
            each.find_map(|(at, item)| misfit(item, schema.part("/items"), &format!("{field}[{at}]")))
        }
        Value::String(text) => out_of_bounds(text.chars().count(), schema, "minLength", "maxLength")
            .and_then(|why| wrong(format!("Invalid value: {text:?}: {field} in body should be {why} chars long"))),
        Value::Number(number) => {
            let number = number.as_f64().unwrap_or_default();
            let bound = |name: &str| schema.get(name).and_then(Value::as_f64);
            let low = bound("minimum").filter(|low| number < *low).map(|low| format!("greater than or equal to {low}"));
            let high =
                bound("maximum").filter(|high| number > *high).map(|high| format!("less than or equal to {high}"));
            low.or(high).and_then(|why| wrong(format!("Invalid value: {value}: {field} in body should be {why}")))
        }
        Value::Bool(_) | Value::Null => None,
    }
}

fn misfit_in_object(map: &Map<String, Value>, schema: &Value, field: &str) -> Option<(String, String)> {
    let inner = |name: &str| if field.is_empty() { name.to_owned() } else { format!("{field}.{name}") };
    for name in schema.items("/required").iter().filter_map(Value::as_str) {
        if !map.contains_key(name) {
            return Some((inner(name), "Required value".to_owned()));
        }
    }
    map.iter().find_map(|(name, part)| {
        let property = schema.get("properties").and_then(|properties| properties.get(name));
        let property = property.or_else(|| schema.get("additionalProperties").filter(|values| values.is_object()));
        property.and_then(|property| misfit(part, property, &inner(name)))
    })
}

fn out_of_bounds(count: usize, schema: &Value, least: &str, most: &str) -> Option<String> {
    let bound = |name: &str| schema.get(name).and_then(Value::as_u64);
    let count = count as u64;
    let low = bound(least).filter(|low| count < *low).map(|low| format!("at least {low}"));
    low.or_else(|| bound(most).filter(|high| count > *high).map(|high| format!("at most {high}")))
}

fn has_type(value: &Value, schema: &Value) -> bool {
    if schema.is_true("/x-kubernetes-int-or-string") {
        return value.is_string() || value.is_i64() || value.is_u64();
    }
    match schema.text("/type") {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "boolean" => value.is_boolean(),
        "integer" => value.is_i64() || value.is_u64(),
        "number" => value.is_number(),
        _ => true,
    }
}

fn name_of_type(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{complete, misfit};

    fn schema() -> Value {
        json!({"type": "object", "required": ["name"], "properties": {
            "name": {"type": "string", "minLength": 1},
            "mode": {"type": "string", "enum": ["A", "B"], "default": "A"},
            "inner": {"type": "object", "default": {}, "properties": {"count": {"type": "integer", "default": 3, "maximum": 5}}},
            "free": {"type": "object", "x-kubernetes-preserve-unknown-fields": true},
            "list": {"type": "array", "maxItems": 1, "items": {"type": "string"}},
        }})
    }

    #[test]
    fn defaults_reach_inside_and_the_unknown_goes() {
        let mut value = json!({"name": "x", "novelty": 1, "free": {"any": 1}, "mode": null});
        complete(&mut value, &schema());
        assert_eq!(value, json!({"name": "x", "mode": "A", "inner": {"count": 3}, "free": {"any": 1}}));
    }

    #[test]
    fn what_does_not_fit_is_named() {
        for (value, field) in [
            (json!({}), "name"),
            (json!({"name": ""}), "name"),
            (json!({"name": "x", "mode": "C"}), "mode"),
            (json!({"name": "x", "inner": {"count": 6}}), "inner.count"),
            (json!({"name": "x", "inner": {"count": "6"}}), "inner.count"),
            (json!({"name": "x", "list": ["a", "b"]}), "list"),
            (json!({"name": "x", "list": [1]}), "list[0]"),
        ] {
            assert_eq!(misfit(&value, &schema(), "").map(|(field, _)| field).as_deref(), Some(field), "{value}");
        }
        assert_eq!(misfit(&json!({"name": "x", "list": ["a"]}), &schema(), ""), None);
    }
}
