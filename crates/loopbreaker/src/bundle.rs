//! Reads an incident bundle: a directory with any mix of objects, logs, data and peers (design 7). *No client.*
//!
//! Small files are read here, with their size, depth and aliases bounded; logs and data stay where they are and only their
//! paths are kept. What cannot be read is a [`Note`] that names file, document and reason, and the rest goes on; an error
//! means that nobody could look. Nothing is ever written.

mod documents;
mod error;
mod log_stream;
mod logs;
mod note;
mod objects;
mod peers;
mod read;
mod subject;

#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};

use jiff::Timestamp;
use scene::Scene;
use serde::Deserialize;
use serde_json::Value;

use note::Place;
use read::{entries, name_of, read_bounded, read_named};

pub(crate) use error::BundleError;
pub(crate) use log_stream::{LogStream, open_log, open_log_or_pipe};
pub(crate) use logs::{DataDirectory, LogFile, LogRun};
pub(crate) use note::{Note, Passed};
pub(crate) use subject::Subject;

/// What was read of an incident.
#[derive(Debug, Default)]
pub(crate) struct Bundle {
    /// The directory, or the single file.
    pub(crate) path: PathBuf,
    /// Its objects and its samples of the replicas' `/status`.
    pub(crate) scene: Scene,
    /// Its log files.
    pub(crate) logs: Vec<LogFile>,
    /// Its data directories.
    pub(crate) data: Vec<DataDirectory>,
    /// How it was made.
    pub(crate) about: About,
    /// The parts that it does not have.
    pub(crate) absent: Vec<BundlePart>,
    /// What was passed over.
    pub(crate) notes: Vec<Note>,
}

/// `bundle.json`: how the bundle was made.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default)]
pub(crate) struct About {
    /// When.
    pub(crate) collected_at: Option<Timestamp>,
    /// By which versions of what.
    pub(crate) versions: Value,
    /// Free words.
    pub(crate) notes: Value,
}

/// A part that a bundle may have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum BundlePart {
    /// `objects/`
    Objects,
    /// `logs/`
    Logs,
    /// `data/`
    Data,
    /// `peers.json`
    Peers,
    /// `bundle.json`
    About,
}

impl BundlePart {
    /// Its place in the bundle.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Objects => "objects/",
            Self::Logs => "logs/",
            Self::Data => "data/",
            Self::Peers => "peers.json",
            Self::About => "bundle.json",
        }
    }
}

impl Bundle {
    /// Reads a bundle's directory.
    pub(crate) fn open(path: &Path) -> Result<Self, BundleError> {
        check_layout(path)?;
        let mut bundle = Self { path: path.to_owned(), ..Self::default() };
        for file in entries(&path.join("objects"))? {
            if is_object_file(&file) {
                objects::add_file(&mut bundle.scene.objects, &file, &read_bounded(&file)?, &mut bundle.notes);
            } else {
                let what = Passed::Ignored("expected objects/*.yaml, *.yml or *.json");
                bundle.notes.push(Note { file, place: Place::default(), what });
            }
        }
        bundle.logs = logs::list_logs(&path.join("logs"), &mut bundle.notes)?;
        bundle.data = logs::list_data(&path.join("data"), &mut bundle.notes)?;
        if let Some(bytes) = read_if_there(&path.join("peers.json"))? {
            bundle.scene.peers = peers::read_samples(&path.join("peers.json"), &bytes, &mut bundle.notes);
        }
        let about = path.join("bundle.json");
        let about_bytes = read_if_there(&about)?;
        if let Some(bytes) = &about_bytes {
            match serde_json::from_slice(bytes) {
                Ok(read) => bundle.about = read,
                Err(error) => {
                    bundle.notes.push(Note::broken(about, Place { document: 1, item: 0 }, &error.to_string()));
                }
            }
        }
        bundle.absent = [
            (bundle.scene.objects.is_empty(), BundlePart::Objects),
            (bundle.logs.is_empty(), BundlePart::Logs),
            (bundle.data.is_empty(), BundlePart::Data),
            (bundle.scene.peers.is_empty(), BundlePart::Peers),
            (about_bytes.is_none(), BundlePart::About),
        ]
        .into_iter()
        .filter_map(|(absent, part)| absent.then_some(part))
        .collect();
        bundle.scene.line_up(bundle.about.collected_at);
        Ok(bundle)
    }

    /// Its objects as they stand in its files.
    pub(crate) fn raw_objects(&self) -> Result<Vec<Value>, BundleError> {
        let mut all = Vec::new();
        for file in entries(&self.path.join("objects"))?.iter().filter(|file| is_object_file(file)) {
            all.extend(objects::as_they_stand(&read_bounded(file)?));
        }
        Ok(all)
    }

    /// Reads a single file of objects that holds at least one pod, or standard input for `-`.
    pub(crate) fn open_pod_file(path: &Path) -> Result<Self, BundleError> {
        let mut bundle = Self {
            path: path.to_owned(),
            absent: vec![BundlePart::Logs, BundlePart::Data, BundlePart::Peers, BundlePart::About],
            ..Self::default()
        };
        let bytes = read_named(path)?;
        objects::add_file(&mut bundle.scene.objects, path, &bytes, &mut bundle.notes);
        if bundle.scene.objects.pods.is_empty() {
            let found = match bundle.notes.first() {
                Some(Note { place: Place { document, .. }, what: Passed::Broken(why), .. }) => {
                    format!("document {document} cannot be read: {why}")
                }
                Some(Note { what: Passed::Kind { kind, .. }, .. }) => format!("it holds a {kind}"),
                _ if bytes.is_empty() => "it is empty".to_owned(),
                _ => "it holds other objects only".to_owned(),
            };
            return Err(BundleError::NoPod { path: path.to_owned(), found });
        }
        bundle.scene.line_up(bundle.about.collected_at);
        Ok(bundle)
    }
}

fn check_layout(path: &Path) -> Result<(), BundleError> {
    let kind = std::fs::metadata(path).map_err(|source| BundleError::from_io(path.to_owned(), source))?;
    if !kind.is_dir() {
        return Err(BundleError::NotADirectory { path: path.to_owned() });
    }
    let has_part =
        ["objects", "logs", "data"].iter().any(|part| path.join(part).is_dir()) || path.join("peers.json").exists();
    if has_part { Ok(()) } else { Err(BundleError::NotABundle { path: path.to_owned() }) }
}

fn is_object_file(path: &Path) -> bool {
    let name = name_of(path).to_ascii_lowercase();
    path.is_file() && [".yaml", ".yml", ".json"].iter().any(|ending| name.ends_with(ending))
}

fn read_if_there(path: &Path) -> Result<Option<Vec<u8>>, BundleError> {
    if path.exists() { read_bounded(path).map(Some) } else { Ok(None) }
}
