//! A control plane of its own: etcd, the API server, the controllers and the scheduler, on this machine's own address only, and
//! gone with the bench. No kubelet: machines are kwok's.

use std::{fs, path::PathBuf, time::Duration};

use anyhow::{Context, Result, bail};
use kube::Client;
use serde_json::json;
use tokio::process::Command;

use super::process::{Process, command};
use crate::cluster;

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
pub(super) async fn start(folder: &Folder) -> Result<Plane> {
    let programs = &cluster::servers()?;
    if folder.0.exists() {
        fs::remove_dir_all(&folder.0).with_context(|| format!("empty {}", folder.0.display()))?;
    }
    fs::create_dir_all(folder.pki(""))?;
    identities(folder).await?;
    fs::write(folder.0.join("audit.yaml"), AUDIT)?;
    let etcd = etcd(programs, folder)?;
    let api_server = api_server(programs, folder)?;
    until_ready(folder).await?;
    Ok(Plane {
        _scheduler: client_of_it("kube-scheduler", 17_259, programs, folder, &[])?,
        _controllers: controllers(programs, folder)?,
        _api_server: api_server,
        _etcd: etcd,
    })
}

fn run(name: &str, programs: &impl Fn(&str) -> PathBuf, folder: &Folder, flags: &[String]) -> Result<Process> {
    Process::start(name, &folder.log(name), &mut command(&programs(name), flags))
}

fn etcd(programs: &impl Fn(&str) -> PathBuf, folder: &Folder) -> Result<Process> {
    let data = folder.0.join("etcd").display().to_string();
    let flags = [
        format!("--data-dir={data}"),
        format!("--listen-client-urls={ETCD}"),
        format!("--advertise-client-urls={ETCD}"),
        format!("--listen-peer-urls={ETCD_PEER}"),
        format!("--initial-advertise-peer-urls={ETCD_PEER}"),
        format!("--initial-cluster=default={ETCD_PEER}"),
        "--unsafe-no-fsync".to_owned(),
        "--log-level=warn".to_owned(),
        "--quota-backend-bytes=8000000000".to_owned(),
    ];
    run("etcd", programs, folder, &flags)
}

fn api_server(programs: &impl Fn(&str) -> PathBuf, folder: &Folder) -> Result<Process> {
    let pki = |flag: &str, file: &str| format!("--{flag}={}", folder.pki(file).display());
    let flags = [
        format!("--etcd-servers={ETCD}"),
        "--bind-address=127.0.0.1".to_owned(),
        "--advertise-address=127.0.0.1".to_owned(),
        format!("--secure-port={API_PORT}"),
        "--service-cluster-ip-range=10.98.0.0/16".to_owned(),
        "--authorization-mode=Node,RBAC".to_owned(),
        "--endpoint-reconciler-type=none".to_owned(),
        pki("client-ca-file", "ca.crt"),
        pki("tls-cert-file", "apiserver.crt"),
        pki("tls-private-key-file", "apiserver.key"),
        pki("kubelet-client-certificate", "admin.crt"),
        pki("kubelet-client-key", "admin.key"),
        "--kubelet-preferred-address-types=InternalIP".to_owned(),
        "--service-account-issuer=https://kubernetes.default.svc".to_owned(),
        pki("service-account-key-file", "sa.pub"),
        pki("service-account-signing-key-file", "sa.key"),
        format!("--audit-policy-file={}", folder.0.join("audit.yaml").display()),
        format!("--audit-log-path={}", folder.audit().display()),
        "--max-requests-inflight=1000".to_owned(),
        "--max-mutating-requests-inflight=500".to_owned(),
    ];
    run("kube-apiserver", programs, folder, &flags)
}

fn controllers(programs: &impl Fn(&str) -> PathBuf, folder: &Folder) -> Result<Process> {
    let flags = [
        // The bench binds claims itself, for there is nobody here who makes volumes; and no machine of kwok's is to be given up
        // because this one is busy.
        "--controllers=*,-persistentvolume-binder-controller,-node-lifecycle-controller,-taint-eviction-controller"
            .to_owned(),
        "--concurrent-statefulset-syncs=10".to_owned(),
        "--use-service-account-credentials=true".to_owned(),
        format!("--root-ca-file={}", folder.pki("ca.crt").display()),
        format!("--service-account-private-key-file={}", folder.pki("sa.key").display()),
    ];
    client_of_it("kube-controller-manager", 17_257, programs, folder, &flags)
}

/// One of the two that make ten thousand pods: at their own pace they take a quarter of an hour.
fn client_of_it(
    name: &str,
    port: u16,
    programs: &impl Fn(&str) -> PathBuf,
    folder: &Folder,
    more: &[String],
) -> Result<Process> {
    let mut flags = vec![
        format!("--kubeconfig={}", folder.0.join(format!("{name}.kubeconfig")).display()),
        "--bind-address=127.0.0.1".to_owned(),
        format!("--secure-port={port}"),
        "--leader-elect=false".to_owned(),
        "--kube-api-qps=1000".to_owned(),
        "--kube-api-burst=2000".to_owned(),
    ];
    flags.extend_from_slice(more);
    run(name, programs, folder, &flags)
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
    bail!("the API server is not ready after a minute: {} tells why", folder.log("kube-apiserver").display())
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
signed kube-controller-manager /CN=system:kube-controller-manager
signed kube-scheduler /CN=system:kube-scheduler
openssl genrsa -out sa.key 2048
openssl rsa -in sa.key -pubout -out sa.pub
"#;
    let made = Command::new("sh").args(["-c", script]).current_dir(folder.pki("")).output().await?;
    if !made.status.success() {
        bail!("openssl made no certificates: {}", String::from_utf8_lossy(&made.stderr));
    }
    for name in ["admin", "kube-controller-manager", "kube-scheduler"] {
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
