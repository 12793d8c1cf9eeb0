//! The policy of a rehearsal, out of a file. *Files.*

use std::path::Path;

use anyhow::{Context, bail};
use api::RecoveryPolicy;
use serde_json::Value;

use super::stage::Plan;

/// A policy is a page of text.
const BYTES_MAX: u64 = 1024 * 1024;

/// Reads it; whatever is wrong with it is one line with the file and the field.
pub(super) fn read(file: &Path, plan: &Plan) -> anyhow::Result<RecoveryPolicy> {
    let name = file.display();
    let size = std::fs::metadata(file).with_context(|| format!("{name}: cannot be read"))?.len();
    if size > BYTES_MAX {
        bail!("{name}: {size} bytes are no policy (give a file with one RecoveryPolicy)");
    }
    let text = std::fs::read_to_string(file).with_context(|| format!("{name}: cannot be read as text"))?;
    let documents: Vec<Value> = serde_saphyr::from_multiple(&text).with_context(|| format!("{name}: is no YAML"))?;
    let documents: Vec<Value> = documents.into_iter().filter(|document| !document.is_null()).collect();
    let [document] = documents.as_slice() else {
        bail!("{name}: holds {} documents (a rehearsal takes one RecoveryPolicy)", documents.len());
    };
    let kind = document.get("kind").and_then(Value::as_str).unwrap_or("nothing");
    if kind != "RecoveryPolicy" {
        bail!("{name}: is a {kind}, not a RecoveryPolicy (see `loopbreaker crds` for its fields)");
    }
    let mut policy: RecoveryPolicy = serde_json::from_value(document.clone())
        .with_context(|| format!("{name}: is no RecoveryPolicy of loopbreaker.dev/v1alpha1"))?;
    let namespace = policy.metadata.namespace.get_or_insert_with(|| plan.namespace().to_owned()).clone();
    if !plan.namespaces().contains(&namespace) {
        bail!(
            "{name}: metadata.namespace is {namespace}, but the bundle's pods are in {} (a policy watches its own namespace)",
            plan.namespaces().into_iter().collect::<Vec<_>>().join(", ")
        );
    }
    policy.metadata.name.get_or_insert_with(|| "policy".to_owned());
    Ok(policy)
}
