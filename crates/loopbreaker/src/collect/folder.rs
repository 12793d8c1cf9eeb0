//! Writes a bundle: whole, or not under its name. *No client.*

use std::{
    ffi::OsString,
    fs,
    io::Write,
    os::unix::fs::{DirBuilderExt, OpenOptionsExt},
    path::{Path, PathBuf},
};

use ::operator::{BundleLog, CollectedBundle};
use anyhow::{Context, bail};
use serde_json::{Value, json};

use crate::cli::VERSION;

/// A directory under way, with its later name.
#[derive(Debug)]
pub(super) struct Folder {
    partial: PathBuf,
    whole: PathBuf,
}

impl Folder {
    /// Whether there can be such a bundle; nothing is made yet.
    pub(super) fn begin(whole: &Path) -> anyhow::Result<Self> {
        let name = whole.file_name().with_context(|| format!("{}: names no directory", whole.display()))?;
        let mut partial: OsString = name.to_owned();
        partial.push(".partial");
        let partial = whole.with_file_name(partial);
        if whole.symlink_metadata().is_ok() {
            bail!("{}: exists already (name a directory that does not)", whole.display());
        }
        if partial.symlink_metadata().is_ok() {
            bail!("{}: is left from a collecting that broke off (remove it)", partial.display());
        }
        let parent = whole.parent().filter(|parent| !parent.as_os_str().is_empty());
        if let Some(parent) = parent.filter(|parent| !parent.is_dir()) {
            bail!("{}: there is no such directory to write into", parent.display());
        }
        Ok(Self { partial, whole: whole.to_owned() })
    }

    /// Writes it all, then gives it its name. What cannot be written under a name of its own becomes a note.
    pub(super) fn write(&self, bundle: &mut CollectedBundle) -> anyhow::Result<()> {
        directory(&self.partial)?;
        let objects = self.partial.join("objects");
        directory(&objects)?;
        for (name, documents) in &bundle.objects {
            file(&objects.join(name), &yaml(documents)?)?;
        }
        let logs = self.partial.join("logs");
        directory(&logs)?;
        for BundleLog { pod, container, previous, text } in &bundle.logs {
            if !is_plain(pod) || !is_plain(container) || container.contains('.') {
                bundle.notes.push(format!("a log of pod {pod}, container {container}: no name for a file"));
                continue;
            }
            let of_pod = logs.join(pod);
            if !of_pod.is_dir() {
                directory(&of_pod)?;
            }
            let run = if *previous { ".previous" } else { "" };
            file(&of_pod.join(format!("{container}{run}.log")), text)?;
        }
        if !bundle.samples.is_empty() {
            file(&self.partial.join("peers.json"), &pretty(&json!(bundle.samples))?)?;
        }
        let about = json!({
            "collected_at": bundle.collected_at,
            "versions": {"loopbreaker": VERSION, "kubernetes": bundle.kubernetes},
            "notes": bundle.notes,
        });
        file(&self.partial.join("bundle.json"), &pretty(&about)?)?;
        // A directory that came into being meanwhile is left alone: only an empty one is ever taken over.
        Ok(fs::rename(&self.partial, &self.whole)?)
    }
}

fn yaml(documents: &[Value]) -> anyhow::Result<String> {
    let mut text = String::new();
    for document in documents {
        text.push_str("---\n");
        text.push_str(&serde_saphyr::to_string(document)?);
    }
    Ok(text)
}

fn pretty(value: &Value) -> anyhow::Result<String> {
    Ok(serde_json::to_string_pretty(value)? + "\n")
}

/// For its owner alone: a bundle tells much about a cluster.
fn directory(path: &Path) -> anyhow::Result<()> {
    fs::DirBuilder::new().mode(0o700).create(path).with_context(|| path.display().to_string())
}

fn file(path: &Path, text: &str) -> anyhow::Result<()> {
    let mut options = fs::OpenOptions::new();
    let mut file = options.write(true).create_new(true).mode(0o600).open(path);
    file.as_mut().map_or(Ok(()), |file| file.write_all(text.as_bytes())).with_context(|| path.display().to_string())?;
    file.map(drop).with_context(|| path.display().to_string())
}

/// A name that Kubernetes gives, and that stays within its directory.
fn is_plain(name: &str) -> bool {
    !name.is_empty()
        && !name.starts_with('.')
        && name.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || matches!(byte, b'-' | b'.'))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::bundle::Bundle;

    fn collected(pod: &str) -> CollectedBundle {
        let odd = json!({"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n", "annotations": {
            "a": "on", "b": "1e3", "c": "0x10", "d": "- x: y\n---\n# no", "e": "", "f": "~",
        }}});
        let pods = [pod, "hub-1"].map(|name| {
            json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "namespace": "cosmos", "uid": name},
                "spec": {"containers": [{"name": "node", "image": "hub:1"}]}})
        });
        CollectedBundle {
            collected_at: "2026-01-01T00:00:00Z".parse().expect("a time"),
            kubernetes: Some("v1.34.0".to_owned()),
            objects: BTreeMap::from([("pods.yaml", pods.to_vec()), ("nodes.yaml", vec![odd])]),
            logs: [true, false]
                .map(|previous| BundleLog {
                    pod: pod.to_owned(),
                    container: "node".to_owned(),
                    previous,
                    text: format!("panic {previous}\n"),
                })
                .to_vec(),
            samples: vec![json!({"pod": "cosmos/hub-1", "time": "2026-01-01T00:00:00Z", "height": 7})],
            notes: vec!["one".to_owned()],
        }
    }

    #[test]
    fn what_is_written_is_read_back() {
        let folder = tempfile::tempdir().expect("a directory");
        let whole = folder.path().join("bundle");
        let mut collected = collected("hub-0");
        Folder::begin(&whole).expect("free").write(&mut collected).expect("written");
        let read = Bundle::open(&whole).expect("a bundle");
        assert!(read.notes.is_empty(), "{:?}", read.notes);
        assert_eq!((read.scene.objects.pods.len(), read.scene.objects.nodes.len()), (2, 1));
        assert_eq!(read.scene.objects.nodes[0].metadata.annotations.as_ref().expect("kept")["d"], "- x: y\n---\n# no");
        assert_eq!((read.logs.len(), read.scene.peers[0].height), (2, Some(7)));
        assert_eq!(read.about.collected_at, Some(collected.collected_at));
        assert_eq!(read.about.notes, json!(["one"]));
        let previous = fs::read_to_string(whole.join("logs/hub-0/node.previous.log")).expect("a log");
        assert_eq!(previous, "panic true\n");
        assert!(!folder.path().join("bundle.partial").exists());
    }

    #[test]
    fn nothing_is_ever_written_over() {
        let folder = tempfile::tempdir().expect("a directory");
        let whole = folder.path().join("bundle");
        fs::create_dir(folder.path().join("bundle.partial")).expect("a directory");
        assert!(Folder::begin(&whole).expect_err("left over").to_string().contains("remove it"));
        fs::write(&whole, "mine").expect("a file");
        assert!(Folder::begin(&whole).expect_err("there").to_string().contains("exists already"));
        assert_eq!(fs::read_to_string(&whole).expect("still there"), "mine");
        let lost = Folder::begin(&folder.path().join("nowhere/bundle")).expect_err("no parent").to_string();
        assert!(lost.contains("no such directory"), "{lost}");
    }

    #[test]
    fn a_name_that_leads_out_of_the_bundle_is_no_name() {
        let folder = tempfile::tempdir().expect("a directory");
        let whole = folder.path().join("bundle");
        let mut collected = collected("../../hub-0");
        Folder::begin(&whole).expect("free").write(&mut collected).expect("written");
        assert_eq!(fs::read_dir(folder.path()).expect("a directory").count(), 1);
        assert!(collected.notes.iter().any(|note| note.contains("no name for a file")), "{:?}", collected.notes);
    }
}
