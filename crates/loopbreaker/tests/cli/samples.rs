//! Logs and pods that the tests share.

use serde_json::{Value, json};

/// What goleveldb prints on a bad block: the second line is the one that decides.
pub(crate) const DAMAGED: &str = "\
8:59PM INF starting node with ABCI CometBFT in-process module=server
panic: leveldb/table: corruption on data-block (pos=52609): checksum mismatch, want=0x7ae078c2 got=0xac1efc6 [file=000002.ldb]

goroutine 1 [running]:
cosmossdk.io/store/rootmulti.GetLatestVersion({0x4003020, 0x17f183556050})
\t/go/pkg/mod/cosmossdk.io/store@v1.1.1/rootmulti/store.go:1165 +0xaa
main.main()
\t/go/src/main.go:16 +0x33
";

/// A volume without room.
pub(crate) const DISK_FULL: &str = "\
8:59PM INF starting node with ABCI CometBFT in-process module=server
panic: failed to write batch: write /home/operator/cosmos/data/application.db/000123.log: no space left on device

goroutine 1 [running]:
main.main()
\t/go/src/main.go:16 +0x33
";

/// Another application than its siblings'.
pub(crate) const APP_HASH: &str = "\
8:59PM INF starting node with ABCI CometBFT in-process module=server
8:59PM ERR CONSENSUS FAILURE!!! err=\"wrong Block.Header.AppHash.  Expected 0AB1, got 5C2D\" module=consensus
";

/// A compiled contract that is gone.
pub(crate) const WASM: &str = "\
8:59PM INF starting node with ABCI CometBFT in-process module=server
panic: Error calling the VM: Cache error: Error opening Wasm file for reading: No such file or directory (os error 2)

goroutine 1 [running]:
main.main()
\t/go/src/main.go:16 +0x33
";

/// A pod whose container `node` crash-loops.
pub(crate) fn sick(name: &str) -> Value {
    json!({
        "apiVersion": "v1", "kind": "Pod",
        "metadata": {"name": name, "namespace": "cosmos", "uid": format!("uid-{name}"),
            "creationTimestamp": "2026-01-05T10:00:00Z",
            "ownerReferences": [{"apiVersion": "cosmos.strange.love/v1", "kind": "CosmosFullNode", "name": "gaia",
                "uid": "o-1", "controller": true}]},
        "spec": {"nodeName": "machine-7",
            "containers": [{"name": "node", "image": "gaia:v1", "command": ["gaiad"], "args": ["start", "--home", "/home/gaia"],
                "volumeMounts": [{"name": "data", "mountPath": "/home/gaia"}]}],
            "volumes": [{"name": "data", "persistentVolumeClaim": {"claimName": format!("pvc-{name}")}}]},
        "status": {"phase": "Running", "startTime": "2026-01-05T10:00:00Z",
            "containerStatuses": [{"name": "node", "image": "gaia:v1", "imageID": "gaia@sha256:11", "ready": false,
                "restartCount": 9,
                "state": {"waiting": {"reason": "CrashLoopBackOff", "message": "back-off 5m0s restarting failed container=node"}},
                "lastState": {"terminated": {"exitCode": 2, "reason": "Error",
                    "startedAt": "2026-01-05T10:29:56Z", "finishedAt": "2026-01-05T10:30:00Z"}}}]},
    })
}

/// One that is well.
pub(crate) fn well(name: &str) -> Value {
    let mut pod = sick(name);
    pod["status"]["containerStatuses"] = json!([{"name": "node", "image": "gaia:v1", "imageID": "gaia@sha256:11",
        "ready": true, "restartCount": 0, "state": {"running": {"startedAt": "2026-01-05T10:00:05Z"}}}]);
    pod
}
