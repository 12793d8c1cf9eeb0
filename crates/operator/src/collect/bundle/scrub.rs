//! Takes secrets, and what only the API server needs, out of a Kubernetes object. *No client, no IO.* (P8)
//!
//! Names of Secrets stay, for they are no secrets; what a value of a telling name says goes, and of every other text what
//! looks like a secret.

use serde_json::{Map, Value};

use crate::collect::{redact, redact::names_a_secret};

const GONE: &str = "[redacted]";

/// A copy of the object as somebody applied it, values and all.
const LAST_APPLIED: &str = "kubectl.kubernetes.io/last-applied-configuration";

/// Scrubs an object in place.
pub(super) fn scrub(object: &mut Value) {
    if let Some(Value::Object(metadata)) = object.get_mut("metadata") {
        metadata.remove("managedFields");
        for kept in ["annotations", "labels"] {
            let Some(Value::Object(pairs)) = metadata.get_mut(kept) else { continue };
            pairs.remove(LAST_APPLIED);
            for (key, value) in pairs.iter_mut() {
                if names_a_secret(key.rsplit('/').next().unwrap_or(key)) && value.is_string() {
                    *value = GONE.into();
                }
            }
        }
    }
    walk(object);
}

fn walk(value: &mut Value) {
    match value {
        Value::String(text) => *text = redact(text),
        Value::Array(items) => {
            after_flags(items);
            items.iter_mut().for_each(walk);
        }
        Value::Object(fields) => {
            named_value(fields);
            for (key, field) in fields.iter_mut() {
                match field {
                    Value::String(text) if names_a_secret(key) && !is_reference(key) => GONE.clone_into(text),
                    other => walk(other),
                }
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// `{name: DB_PASSWORD, value: …}`: variables and HTTP headers.
fn named_value(fields: &mut Map<String, Value>) {
    let is_secret = fields.get("name").and_then(Value::as_str).is_some_and(names_a_secret);
    if is_secret && let Some(Value::String(value)) = fields.get_mut("value") {
        GONE.clone_into(value);
    }
}

/// `["--password", "…"]`: the value is an argument of its own.
fn after_flags(items: &mut [Value]) {
    let mut is_next = false;
    for item in items {
        let Value::String(text) = item else {
            is_next = false;
            continue;
        };
        if is_next && !text.starts_with('-') {
            GONE.clone_into(text);
        }
        is_next = text.starts_with('-') && !text.contains(['=', ' ']) && names_a_secret(text);
    }
}

/// Fields that name something else, and hold nothing of it.
fn is_reference(key: &str) -> bool {
    const ENDS: [&str; 6] = ["name", "names", "ref", "path", "policy", "namespace"];
    /// An entry of a Secret or a label's key; of cosmos-operator the name of a Secret.
    const WHOLE: [&str; 4] = ["key", "keys", "topologykey", "privkeysecret"];
    let lower = key.to_ascii_lowercase();
    WHOLE.contains(&lower.as_str()) || ENDS.iter().any(|end| lower.ends_with(end))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn secrets_of_every_place_go_and_what_explains_stays() {
        let mut pod = json!({
            "kind": "Pod",
            "metadata": {
                "name": "hub-0",
                "managedFields": [{"manager": "kubectl"}],
                "annotations": {
                    LAST_APPLIED: "{\"env\": \"hunter2\"}",
                    "example.org/auth-token": "s3cret",
                    "example.org/note": "see https://me:hunter2@example.org",
                },
                "labels": {"app": "hub"},
            },
            "spec": {
                "imagePullSecrets": [{"name": "registry"}],
                "containers": [{
                    "name": "node",
                    "command": ["gaiad", "start", "--keyring-passphrase", "hunter2", "--home", "/home"],
                    "args": ["--api-token=hunter2", "sh -c 'x --password hunter2 y'"],
                    "env": [
                        {"name": "DB_PASSWORD", "value": "hunter2"},
                        {"name": "AWS_ACCESS_KEY_ID", "value": "AKIAIOSFODNN7EXAMPLE"},
                        {"name": "URL", "value": "postgres://me:hunter2@db/x"},
                        {"name": "SEEDS", "value": "abc@seed.example.org:26656"},
                        {"name": "PASS", "valueFrom": {"secretKeyRef": {"name": "db", "key": "password"}}},
                    ],
                    "readinessProbe": {"httpGet": {"httpHeaders": [{"name": "Authorization", "value": "Bearer abcdefghijk"}]}},
                }],
                "volumes": [{"name": "key", "secret": {"secretName": "node-key", "items": [{"key": "priv", "path": "k"}]}}],
            },
        });
        scrub(&mut pod);
        assert_eq!(
            pod,
            json!({
                "kind": "Pod",
                "metadata": {
                    "name": "hub-0",
                    "annotations": {
                        "example.org/auth-token": "[redacted]",
                        "example.org/note": "see https://[redacted]@example.org",
                    },
                    "labels": {"app": "hub"},
                },
                "spec": {
                    "imagePullSecrets": [{"name": "registry"}],
                    "containers": [{
                        "name": "node",
                        "command": ["gaiad", "start", "--keyring-passphrase", "[redacted]", "--home", "/home"],
                        "args": ["--api-token=[redacted]", "sh -c 'x --password [redacted] y'"],
                        "env": [
                            {"name": "DB_PASSWORD", "value": "[redacted]"},
                            {"name": "AWS_ACCESS_KEY_ID", "value": "[redacted]"},
                            {"name": "URL", "value": "postgres://[redacted]@db/x"},
                            {"name": "SEEDS", "value": "abc@seed.example.org:26656"},
                            {"name": "PASS", "valueFrom": {"secretKeyRef": {"name": "db", "key": "password"}}},
                        ],
                        "readinessProbe": {"httpGet": {"httpHeaders": [{"name": "Authorization", "value": "[redacted]"}]}},
                    }],
                    "volumes": [{"name": "key", "secret": {"secretName": "node-key", "items": [{"key": "priv", "path": "k"}]}}],
                },
            })
        );
    }

    #[test]
    fn a_field_of_a_telling_name_goes_wherever_it_is() {
        let mut object = json!({"spec": {
            "chain": {"mnemonic": "one two", "token": "x", "privKeySecret": "name"},
            "cloud": {"apiKey": "x", "clientSecret": "x", "secretName": "kept"},
            "topologyKey": "kept",
        }});
        scrub(&mut object);
        assert_eq!(
            object,
            json!({"spec": {
                "chain": {"mnemonic": "[redacted]", "token": "[redacted]", "privKeySecret": "name"},
                "cloud": {"apiKey": "[redacted]", "clientSecret": "[redacted]", "secretName": "kept"},
                "topologyKey": "kept",
            }})
        );
    }
}
