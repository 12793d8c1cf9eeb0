//! A control plane of its own: etcd, the API server, the controllers and the scheduler, on this machine's own address only, and
//! gone with the bench. No kubelet: machines are kwok's.

use std::{
    fs,
    path::{Path, PathBuf},
    time::Duration,
};

use anyhow::{Context, Result, bail};
use kube::Client;
use serde_json::json;
use tokio::process::Command;

use super::process::{Process, command};

const API_PORT: u16 = 17_443;
const ETCD: &str = "http://127.0.0.1:14379";
const ETCD_PEER: &str = "http://127.0.0.1:14380";

/// The processes, in the order in which they end.
pub(super) struct Plane {
    _scheduler: Process,
    _controllers: Process,
    _api_server: Process,
    _etcd: Process,
}

/// What stands in its folder.
pub(super) struct Folder(pub(super) PathBuf);

impl Folder {
    pub(super) fn admin(&self) -> PathBuf {
        self.0.join("admin.kubeconfig")
    }

    pub(super) fn audit(&self) -> PathBuf {
        self.0.join("audit.log")
    }

    pub(super) fn pki(&self, file: &str) -> PathBuf {
        self.0.join("pki").join(file)
    }

    fn log(&self, name: &str) -> PathBuf {
        self.0.join(format!("{name}.log"))
    }
}

/// Starts it anew, on empty data.
pub(super) async fn start(programs: &Path, folder: &Folder) -> Result<Plane> {
    if folder.0.exists() {
        fs::remove_dir_all(&folder.0).with_context(|| format!("empty {}", folder.0.display()))?;
    }
    fs::create_dir_all(folder.pki(""))?;
    identities(folder).await?;
    fs::write(folder.0.join("audit.yaml"), AUDIT)?;
    let program = |name: &str| {
        let file = programs.join(name);
        if file.exists() {
            Ok(file)
        } else {
            bail!("{} is not there: `cargo xtask cluster up` builds it", file.display())
        }
    };
    let text = |path: PathBuf| path.display().to_string();
    let etcd = Process::start(
        "etcd",
        &folder.log("etcd"),
        command(
            &program("etcd")?,
            [
                format!("--data-dir={}", text(folder.0.join("etcd"))),
                format!("--listen-client-urls={ETCD}"),
                format!("--advertise-client-urls={ETCD}"),
                format!("--listen-peer-urls={ETCD_PEER}"),
                format!("--initial-advertise-peer-urls={ETCD_PEER}"),
                format!("--initial-cluster=default={ETCD_PEER}"),
                "--unsafe-no-fsync".to_owned(),
                "--log-level=warn".to_owned(),
                "--quota-backend-bytes=8000000000".to_owned(),
            ],
        )
        .env_remove("KUBECONFIG"),
    )?;
    let api_server = Process::start(
        "kube-apiserver",
        &folder.log("apiserver"),
        command(
            &program("kube-apiserver")?,
            [
                format!("--etcd-servers={ETCD}"),
                "--bind-address=127.0.0.1".to_owned(),
                "--advertise-address=127.0.0.1".to_owned(),
                format!("--secure-port={API_PORT}"),
                "--service-cluster-ip-range=10.98.0.0/16".to_owned(),
                "--authorization-mode=Node,RBAC".to_owned(),
                "--endpoint-reconciler-type=none".to_owned(),
                format!("--client-ca-file={}", text(folder.pki("ca.crt"))),
                format!("--tls-cert-file={}", text(folder.pki("apiserver.crt"))),
                format!("--tls-private-key-file={}", text(folder.pki("apiserver.key"))),
                format!("--kubelet-client-certificate={}", text(folder.pki("admin.crt"))),
                format!("--kubelet-client-key={}", text(folder.pki("admin.key"))),
                "--kubelet-preferred-address-types=InternalIP".to_owned(),
                "--service-account-issuer=https://kubernetes.default.svc".to_owned(),
                format!("--service-account-key-file={}", text(folder.pki("sa.pub"))),
                format!("--service-account-signing-key-file={}", text(folder.pki("sa.key"))),
                format!("--audit-policy-file={}", text(folder.0.join("audit.yaml"))),
                format!("--audit-log-path={}", text(folder.audit())),
                "--max-requests-inflight=1000".to_owned(),
                "--max-mutating-requests-inflight=500".to_owned(),
            ],
        )
        .env_remove("KUBECONFIG"),
    )?;
    until_ready(folder).await?;
    // Ten thousand pods are made by these two at their own pace else, in a quarter of an hour.
    let hurry =
        ["--kube-api-qps=1000".to_owned(), "--kube-api-burst=2000".to_owned(), "--leader-elect=false".to_owned()];
    let own = |name: &str, port: u16| {
        [
            "--bind-address=127.0.0.1".to_owned(),
            format!("--kubeconfig={}", text(folder.0.join(format!("{name}.kubeconfig")))),
            format!("--secure-port={port}"),
        ]
    };
    let controllers = Process::start(
        "kube-controller-manager",
        &folder.log("kcm"),
        command(&program("kube-controller-manager")?, hurry.iter().chain(&own("kcm", 17_257)))
            // The bench binds claims itself: there is nobody here who makes volumes.
            .args([
                "--controllers=*,-persistentvolume-binder-controller",
                "--concurrent-statefulset-syncs=10",
                "--use-service-account-credentials=true",
            ])
            .arg(format!("--root-ca-file={}", text(folder.pki("ca.crt"))))
            .arg(format!("--service-account-private-key-file={}", text(folder.pki("sa.key")))),
    )?;
    let scheduler = Process::start(
        "kube-scheduler",
        &folder.log("scheduler"),
        &mut command(&program("kube-scheduler")?, hurry.iter().chain(&own("scheduler", 17_259))),
    )?;
    Ok(Plane { _scheduler: scheduler, _controllers: controllers, _api_server: api_server, _etcd: etcd })
}

async fn until_ready(folder: &Folder) -> Result<()> {
    let client: Client = super::client(&folder.admin()).await?;
    for _ in 0..300 {
        let asked = http::Request::get("/readyz").body(Vec::new())?;
        if client.request_text(asked).await.is_ok_and(|answer| answer == "ok") {
            return Ok(());
        }
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
    bail!("the API server is not ready after a minute: {} tells why", folder.log("apiserver").display())
}

const AUDIT: &str = "apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived]
rules:
- {level: Metadata, userGroups: ['system:serviceaccounts:loopbreaker']}
- {level: None}
";

/// Certificates and kubeconfigs, by openssl.
async fn identities(folder: &Folder) -> Result<()> {
    let script = r#"set -eu
key() { openssl ecparam -name prime256v1 -genkey -noout -out "$1.key"; }
key ca
openssl req -x509 -new -key ca.key -subj /CN=bench-ca -days 30 -out ca.crt
signed() {
  key "$1"
  openssl req -new -key "$1.key" -subj "$2" -out "$1.csr"
  printf 'keyUsage=digitalSignature\nextendedKeyUsage=clientAuth,serverAuth\n%s\n' "${3:-}" >"$1.ext"
  openssl x509 -req -in "$1.csr" -CA ca.crt -CAkey ca.key -CAcreateserial -days 30 -out "$1.crt" -extfile "$1.ext"
}
signed apiserver /CN=kube-apiserver subjectAltName=IP:127.0.0.1,DNS:localhost,DNS:kubernetes.default.svc
signed admin /O=system:masters/CN=admin
signed kcm /CN=system:kube-controller-manager
signed scheduler /CN=system:kube-scheduler
openssl genrsa -out sa.key 2048
openssl rsa -in sa.key -pubout -out sa.pub
"#;
    let made = Command::new("sh").args(["-c", script]).current_dir(folder.pki("")).output().await?;
    if !made.status.success() {
        bail!("openssl made no certificates: {}", String::from_utf8_lossy(&made.stderr));
    }
    for name in ["admin", "kcm", "scheduler"] {
        let config = json!({
            "apiVersion": "v1", "kind": "Config", "current-context": "bench",
            "clusters": [{"name": "bench", "cluster": {"server": format!("https://127.0.0.1:{API_PORT}"), "certificate-authority": folder.pki("ca.crt")}}],
            "users": [{"name": name, "user": {
                "client-certificate": folder.pki(&format!("{name}.crt")), "client-key": folder.pki(&format!("{name}.key")),
            }}],
            "contexts": [{"name": "bench", "context": {"cluster": "bench", "user": name}}],
        });
        fs::write(folder.0.join(format!("{name}.kubeconfig")), serde_json::to_vec_pretty(&config)?)?;
    }
    Ok(())
}
