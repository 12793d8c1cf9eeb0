//! The training data: real incidents and the phrase file.

use std::{fs, path::Path};

use anyhow::{Context, Result};
use crashlog::{Examiner, Finding, features::Features, model::Model};
use diagnosis::Cause;
use serde::Deserialize;

use super::synthetic::PhraseEntry;

/// One labelled incident.
#[derive(Debug, Clone)]
pub(super) struct Incident {
    pub(super) id: String,
    pub(super) group: String,
    pub(super) software: String,
    pub(super) cause: Cause,
    /// Whether restoring this replica's data fixed it; "unknown" counts as no, since hands off is then right.
    pub(super) restore_fixes: bool,
    pub(super) why: String,
    pub(super) log: String,
}

#[derive(Deserialize)]
struct Line {
    id: String,
    group: String,
    #[serde(default)]
    software: String,
    cause: Cause,
    restore_fixes: String,
    #[serde(default)]
    why: String,
    log: String,
}

pub(super) fn incidents(path: &Path) -> Result<Vec<Incident>> {
    let text = fs::read_to_string(path).with_context(|| path.display().to_string())?;
    let mut incidents = Vec::new();
    for (number, line) in (1_u32..).zip(text.lines()) {
        let line: Line = serde_json::from_str(line).with_context(|| format!("{} line {number}", path.display()))?;
        let Line { id, group, software, cause, restore_fixes, why, log } = line;
        incidents.push(Incident { id, group, software, cause, restore_fixes: restore_fixes == "yes", why, log });
    }
    Ok(incidents)
}

pub(super) fn phrases(path: &Path) -> Result<Vec<PhraseEntry>> {
    #[derive(Deserialize)]
    struct File {
        phrase: Vec<PhraseEntry>,
    }
    let text = fs::read_to_string(path).with_context(|| path.display().to_string())?;
    let file: File = toml::from_str(&text).with_context(|| path.display().to_string())?;
    Ok(file.phrase)
}

/// What the product's own code makes of a log before any weights.
#[derive(Debug)]
pub(super) struct Examined {
    pub(super) features: Features,
}

pub(super) fn examine(log: &str) -> Examined {
    Examined { features: find(log, &Model::empty()).features }
}

pub(super) fn find(log: &str, model: &Model) -> Finding {
    let mut examiner = Examiner::new();
    examiner.feed(log.as_bytes());
    examiner.finish(model)
}

pub(super) fn float(count: usize) -> f64 {
    u32::try_from(count).map_or(f64::MAX, f64::from)
}
