//! The policy of a scenario: everything observed, with short times.

use serde_json::{Value, json};

use super::super::node::NODES;

/// Watches the scenario's full nodes in mode Observe; `more` is merged over its spec.
pub(crate) fn policy(more: &Value) -> Value {
    let mut spec = json!({
        "targets": [{ "kind": "StatefulSet", "selector": { "matchLabels": { "app": NODES } } }],
        "mode": "Observe",
        // Blocks come every second here.
        "detection": { "crashes": 3, "window": "10m", "stuckFor": "20s" },
        "evidence": { "peers": { "interval": "3s" }, "disk": { "deadline": "2m" } },
    });
    if let (Some(spec), Some(more)) = (spec.as_object_mut(), more.as_object()) {
        spec.extend(more.clone());
    }
    json!({ "apiVersion": "loopbreaker.dev/v1alpha1", "kind": "RecoveryPolicy", "metadata": { "name": "nodes" }, "spec": spec })
}
