//! Bundles written into a temporary directory, and the three of `examples/`.

mod circumstances;
mod documents;
mod examples;
mod hostile;
mod log_stream;
mod peers;
mod subjects;

use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use tempfile::TempDir;

use super::*;

/// A bundle that is gone when the test ends.
struct Folder(TempDir);

impl Folder {
    fn new() -> Self {
        Self(tempfile::tempdir().expect("a temporary directory"))
    }

    fn with(self, name: &str, content: impl AsRef<[u8]>) -> Self {
        let path = self.0.path().join(name);
        std::fs::create_dir_all(path.parent().expect("a parent")).expect("a directory");
        std::fs::write(path, content).expect("a file");
        self
    }

    fn with_object(self, name: &str, object: &Value) -> Self {
        self.with(&format!("objects/{name}.json"), object.to_string())
    }

    fn path(&self) -> &Path {
        self.0.path()
    }

    fn bundle(&self) -> Bundle {
        Bundle::open(self.path()).expect("a bundle")
    }

    /// The notes without the temporary directory's name.
    fn notes(&self) -> Vec<String> {
        let prefix = format!("{}/", self.path().display());
        self.bundle().notes.iter().map(|note| note.to_string().replace(&prefix, "")).collect()
    }

    fn error(&self) -> String {
        let error = Bundle::open(self.path()).expect_err("no bundle");
        format!("{}: {}", error.category(), error.to_string().replace(&self.path().display().to_string(), "BUNDLE"))
    }
}

/// A pod of the workload `gaia` that crash-loops.
fn sick(name: &str) -> Value {
    json!({
        "apiVersion": "v1", "kind": "Pod",
        "metadata": {"name": name, "namespace": "cosmos", "uid": format!("uid-{name}"),
            "creationTimestamp": "2026-01-05T10:00:00Z", "labels": {"app.kubernetes.io/revision": format!("rev-{name}")},
            "ownerReferences": [{"apiVersion": "cosmos.strange.love/v1", "kind": "CosmosFullNode", "name": "gaia", "uid": "o-1", "controller": true}]},
        "spec": {"nodeName": "machine-7",
            "containers": [{"name": "node", "image": "gaia:v1", "command": ["gaiad", "start"],
                "volumeMounts": [{"name": "data", "mountPath": "/data"}]}],
            "volumes": [{"name": "data", "persistentVolumeClaim": {"claimName": format!("pvc-{name}")}}]},
        "status": {"phase": "Running", "startTime": "2026-01-05T10:00:00Z",
            "containerStatuses": [{"name": "node", "image": "gaia:v1", "imageID": "gaia@sha256:11", "ready": false, "restartCount": 9,
                "state": {"waiting": {"reason": "CrashLoopBackOff", "message": "back-off 5m0s restarting failed container=node"}},
                "lastState": {"terminated": {"exitCode": 2, "reason": "Error",
                    "startedAt": "2026-01-05T10:29:56Z", "finishedAt": "2026-01-05T10:30:00Z"}}}]},
    })
}

/// One that is well.
fn well(name: &str) -> Value {
    with(
        sick(name),
        "/status/containerStatuses/0",
        json!({"name": "node", "image": "gaia:v1", "imageID": "gaia@sha256:11",
        "ready": true, "restartCount": 0, "state": {"running": {"startedAt": "2026-01-05T10:00:05Z"}}}),
    )
}

fn with(mut object: Value, pointer: &str, value: Value) -> Value {
    if let Some(place) = object.pointer_mut(pointer) {
        *place = value;
    } else {
        let (parent, key) = pointer.rsplit_once('/').expect("a slash");
        object.pointer_mut(parent).and_then(Value::as_object_mut).expect("a parent").insert(key.to_owned(), value);
    }
    object
}

/// The owner of `gaia-0`, `gaia-1` …
fn owner() -> Value {
    json!({"apiVersion": "cosmos.strange.love/v1", "kind": "CosmosFullNode", "metadata": {"name": "gaia", "namespace": "cosmos"},
        "spec": {"replicas": 2, "type": "FullNode", "chain": {"chainID": "cosmoshub-4"}},
        "status": {"height": {"gaia-0": 101, "gaia-1": 150}}})
}

fn example(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../examples").join(name)
}
