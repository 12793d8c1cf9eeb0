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
    let read = serde_json::to_value(&policy.spec).unwrap_or_default();
    if let Some(field) = document.get("spec").and_then(|spec| dropped(spec, &read, "spec")) {
        bail!("{name}: there is no field `{field}` (`kubectl explain recoverypolicy.spec` lists them)");
    }
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

/// A field that was written and is not there any more once read: an API server would drop it without a word, and the policy
/// would mean something else than its author does.
fn dropped(written: &Value, read: &Value, place: &str) -> Option<String> {
    match (written, read) {
        (Value::Object(written), Value::Object(read)) => written.iter().find_map(|(name, value)| {
            let place = format!("{place}.{name}");
            match read.get(name) {
                Some(read) => dropped(value, read, &place),
                // What is empty reads as if it were not there.
                None if value.is_null() || value.as_array().is_some_and(Vec::is_empty) => None,
                None => Some(place),
            }
        }),
        (Value::Array(written), Value::Array(read)) => {
            let pairs = written.iter().zip(read).enumerate();
            pairs.into_iter().find_map(|(at, (written, read))| dropped(written, read, &format!("{place}[{at}]")))
        }
        _ => None,
    }
}
