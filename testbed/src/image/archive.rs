//! An image with one layer in the OCI's layout: a directory that registries' tools read, and the same as a tar for containerd.
//!
//! Source of the format: image-spec 1.1, `image-layout.md`, `manifest.md`, `config.md`.

use std::{fmt::Write as _, fs, io::Write as _, path::Path};

use anyhow::{Context, Result};
use flate2::{Compression, GzBuilder};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use tar::Builder;

use super::{Root, root::add_bytes};

/// How the layer is stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Layer {
    /// For an image that stays on this machine: no time is spent.
    Plain,
    /// For an image that travels.
    Gzip,
}

/// An image about to be written.
#[derive(Debug, Clone)]
pub(crate) struct Archive {
    name: String,
    root: Root,
    layer: Layer,
    entrypoint: Vec<String>,
    environment: Vec<String>,
    user: String,
    labels: Vec<(String, String)>,
}

impl Archive {
    /// An image of this full name, as in `localhost/loopbreaker:dev`.
    pub(crate) fn new(name: &str, root: Root) -> Self {
        Self {
            name: name.to_owned(),
            root,
            layer: Layer::Plain,
            entrypoint: Vec::new(),
            environment: vec!["PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin".to_owned()],
            user: String::new(),
            labels: Vec::new(),
        }
    }

    /// What a container of it runs.
    pub(crate) fn entrypoint(mut self, words: &[&str]) -> Self {
        self.entrypoint = words.iter().map(|word| (*word).to_owned()).collect();
        self
    }

    /// As whom it runs; root if this is not called.
    pub(crate) fn user(mut self, id: u32) -> Self {
        self.user = format!("{id}:{id}");
        self
    }

    pub(crate) fn layer(mut self, layer: Layer) -> Self {
        self.layer = layer;
        self
    }

    pub(crate) fn label(mut self, key: &str, value: &str) -> Self {
        self.labels.push((key.to_owned(), value.to_owned()));
        self
    }

    /// Writes the image as one tar, which `ctr image import` and `skopeo copy oci-archive:` read.
    pub(crate) fn write_tar(&self, file: &Path) -> Result<String> {
        let blobs = self.blobs()?;
        let mut tar = Builder::new(Vec::new());
        for (path, content) in blobs.files() {
            add_bytes(&mut tar, &path, content, 0o644)?;
        }
        fs::write(file, tar.into_inner()?).with_context(|| format!("write {}", file.display()))?;
        Ok(blobs.digest)
    }

    /// Writes the image as a directory, over what is there; says the digest of its manifest.
    pub(crate) fn write_layout(&self, directory: &Path) -> Result<String> {
        let blobs = self.blobs()?;
        if directory.exists() {
            fs::remove_dir_all(directory).with_context(|| format!("clear {}", directory.display()))?;
        }
        fs::create_dir_all(directory.join("blobs/sha256"))?;
        for (path, content) in blobs.files() {
            let file = directory.join(path);
            fs::write(&file, content).with_context(|| format!("write {}", file.display()))?;
        }
        Ok(blobs.digest)
    }

    fn blobs(&self) -> Result<Blobs> {
        let plain = self.root.pack()?;
        let unpacked = digest(&plain);
        let (layer, layer_type) = match self.layer {
            Layer::Plain => (plain, "application/vnd.oci.image.layer.v1.tar"),
            Layer::Gzip => (gzip(&plain)?, "application/vnd.oci.image.layer.v1.tar+gzip"),
        };
        let config = self.config(&unpacked).to_string().into_bytes();
        let manifest = json!({
            "schemaVersion": 2,
            "mediaType": "application/vnd.oci.image.manifest.v1+json",
            "config": descriptor("application/vnd.oci.image.config.v1+json", &config),
            "layers": [descriptor(layer_type, &layer)],
        })
        .to_string()
        .into_bytes();
        let mut entry = descriptor("application/vnd.oci.image.manifest.v1+json", &manifest);
        // containerd takes the full name; others the reference within the layout.
        let tag = self.name.rsplit_once(':').map_or("latest", |(_, tag)| tag);
        if let Some(object) = entry.as_object_mut() {
            object.insert("platform".to_owned(), json!({ "architecture": architecture(), "os": "linux" }));
            let annotations =
                json!({ "io.containerd.image.name": self.name, "org.opencontainers.image.ref.name": tag });
            object.insert("annotations".to_owned(), annotations);
        }
        let index = json!({
            "schemaVersion": 2,
            "mediaType": "application/vnd.oci.image.index.v1+json",
            "manifests": [entry],
        });
        Ok(Blobs {
            digest: digest(&manifest),
            index: index.to_string().into_bytes(),
            parts: vec![config, layer, manifest],
        })
    }

    fn config(&self, layer: &str) -> Value {
        let mut process = json!({ "Env": self.environment, "WorkingDir": "/" });
        if let Some(object) = process.as_object_mut() {
            if !self.entrypoint.is_empty() {
                object.insert("Entrypoint".to_owned(), json!(self.entrypoint));
            }
            if !self.user.is_empty() {
                object.insert("User".to_owned(), json!(self.user));
            }
            if !self.labels.is_empty() {
                object.insert("Labels".to_owned(), self.labels.iter().cloned().collect());
            }
        }
        json!({
            "architecture": architecture(),
            "os": "linux",
            "created": "1970-01-01T00:00:00Z",
            "config": process,
            "rootfs": { "type": "layers", "diff_ids": [layer] },
            "history": [{ "created": "1970-01-01T00:00:00Z", "created_by": "cargo xtask image" }],
        })
    }
}

/// The files of a layout.
struct Blobs {
    digest: String,
    index: Vec<u8>,
    parts: Vec<Vec<u8>>,
}

impl Blobs {
    fn files(&self) -> Vec<(String, &[u8])> {
        let mut files = vec![
            ("oci-layout".to_owned(), br#"{"imageLayoutVersion":"1.0.0"}"#.as_slice()),
            ("index.json".to_owned(), self.index.as_slice()),
        ];
        for part in &self.parts {
            files.push((format!("blobs/{}", digest(part).replace(':', "/")), part));
        }
        files.sort();
        files
    }
}

fn descriptor(kind: &str, content: &[u8]) -> Value {
    json!({ "mediaType": kind, "digest": digest(content), "size": content.len() })
}

fn digest(content: &[u8]) -> String {
    let mut text = "sha256:".to_owned();
    for byte in Sha256::digest(content) {
        // A string takes whatever is written to it.
        let _ = write!(text, "{byte:02x}");
    }
    text
}

/// The stream's own header holds neither a name nor a time.
fn gzip(content: &[u8]) -> Result<Vec<u8>> {
    let mut encoder = GzBuilder::new().mtime(0).write(Vec::new(), Compression::default());
    encoder.write_all(content)?;
    Ok(encoder.finish()?)
}

/// The name that the OCI, after Go, gives to this machine's architecture.
fn architecture() -> &'static str {
    match std::env::consts::ARCH {
        "x86_64" => "amd64",
        "aarch64" => "arm64",
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::{Archive, Layer, digest};
    use crate::image::Root;

    fn sample(layer: Layer) -> Archive {
        let root = Root::default().bytes("/app", "program", 0o755);
        Archive::new("localhost/app:7", root).entrypoint(&["/app"]).user(65532).layer(layer)
    }

    #[test]
    fn the_digest_is_that_of_the_standard() {
        assert_eq!(digest(b"abc"), "sha256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    }

    #[test]
    fn every_blob_that_is_named_is_there_under_its_digest() {
        let directory = tempfile::tempdir().unwrap();
        let manifest = sample(Layer::Gzip).write_layout(directory.path()).unwrap();
        let read = |digest: &str| std::fs::read(directory.path().join("blobs").join(digest.replace(':', "/"))).unwrap();
        let json = |bytes: Vec<u8>| serde_json::from_slice::<serde_json::Value>(&bytes).unwrap();
        let index = json(std::fs::read(directory.path().join("index.json")).unwrap());
        assert_eq!(index["manifests"][0]["digest"], manifest);
        assert_eq!(index["manifests"][0]["annotations"]["io.containerd.image.name"], "localhost/app:7");
        let manifest = json(read(&manifest));
        for part in [&manifest["config"], &manifest["layers"][0]] {
            let named = part["digest"].as_str().unwrap();
            assert_eq!(digest(&read(named)), named);
            assert_eq!(part["size"], read(named).len());
        }
        let config = json(read(manifest["config"]["digest"].as_str().unwrap()));
        assert_eq!(config["config"]["User"], "65532:65532");
        assert_eq!(config["config"]["Entrypoint"][0], "/app");
    }

    #[test]
    fn written_twice_it_is_the_same_bytes() {
        let directory = tempfile::tempdir().unwrap();
        let [one, two] = ["one.tar", "two.tar"].map(|name| {
            let file = directory.path().join(name);
            sample(Layer::Gzip).write_tar(&file).unwrap();
            std::fs::read(file).unwrap()
        });
        assert!(one == two, "two builds of one image differ");
    }
}
