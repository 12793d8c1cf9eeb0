//! `peers.json` out of a bundle. *No client.*

use std::path::Path;

use scene::Sample;
use serde_json::Value;

use super::{Note, note::Place};

/// Reads the samples; a broken one costs only itself.
pub(crate) fn read_samples(file: &Path, bytes: &[u8], notes: &mut Vec<Note>) -> Vec<Sample> {
    let mut broken = |item, why: &str| notes.push(Note::broken(file.to_owned(), Place { document: 1, item }, why));
    let items = match serde_json::from_slice::<Value>(bytes) {
        Ok(Value::Array(items)) => items,
        Ok(_) => {
            broken(0, "expected a JSON array of samples");
            return Vec::new();
        }
        Err(error) => {
            broken(0, &error.to_string());
            return Vec::new();
        }
    };
    let mut samples = Vec::new();
    for (index, item) in items.into_iter().enumerate() {
        match serde_json::from_value::<Sample>(item) {
            Ok(sample) if sample.pod.is_empty() => broken(index + 1, "the sample names no pod"),
            Ok(sample) => samples.push(sample),
            Err(error) => broken(index + 1, &error.to_string()),
        }
    }
    samples
}
