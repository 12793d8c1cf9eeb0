//! The real operator as a process of this machine, with the shipped rights and nothing more.

use std::{
    path::{Path, PathBuf},
    time::Duration,
};

use anyhow::{Context, Result, bail};
use k8s_openapi::api::{authentication::v1::TokenRequest, core::v1::ServiceAccount};
use kube::{Api, Client, api::PostParams, config::Kubeconfig};
use serde_json::json;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
    time::Instant,
};

use super::process::{Process, command};

/// The operator's own namespace.
pub(super) const NAMESPACE: &str = "loopbreaker";
/// As the audit log calls it.
pub(super) const ACCOUNT: &str = "system:serviceaccount:loopbreaker:loopbreaker";

pub(super) struct Operator {
    pub(super) process: Process,
    port: u16,
    pub(super) started: Instant,
}

/// A kubeconfig of the operator's service account.
pub(super) async fn kubeconfig(client: &Client, admin: &Path, into: &Path) -> Result<PathBuf> {
    let accounts: Api<ServiceAccount> = Api::namespaced(client.clone(), NAMESPACE);
    let wanted = json!({"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {"audiences": [], "expirationSeconds": 86_400}});
    let given: TokenRequest =
        accounts.create_subresource("token", "loopbreaker", &PostParams::default(), &wanted).await?;
    let token = given.status.context("the API server gave no token")?.token;
    let mut config = serde_json::to_value(Kubeconfig::read_from(admin)?)?;
    let users = config.pointer_mut("/users").context("the kubeconfig names no user")?;
    for user in users.as_array_mut().into_iter().flatten() {
        if let Some(auth) = user.get_mut("user") {
            *auth = json!({"token": token});
        }
    }
    let file = into.join("operator.kubeconfig");
    std::fs::write(&file, serde_json::to_vec(&config)?)?;
    Ok(file)
}

impl Operator {
    pub(super) fn start(
        loopbreaker: &Path,
        kubeconfig: &Path,
        folder: &Path,
        identity: &str,
        port: u16,
    ) -> Result<Self> {
        let listen = format!("127.0.0.1:{port}");
        let arguments = [
            "operator",
            "--namespace",
            NAMESPACE,
            "--identity",
            identity,
            "--inspector-image",
            "registry.example/loopbreaker:bench",
            "--listen",
            &listen,
            "--log-format",
            "json",
        ];
        let mut line = command(loopbreaker, arguments);
        line.env("KUBECONFIG", kubeconfig).env_remove("POD_NAME").env_remove("POD_NAMESPACE");
        // As config/operator/deployment.yaml has it.
        line.env("MALLOC_ARENA_MAX", "1");
        let process = Process::start(identity, &folder.join(format!("{identity}.log")), &mut line)?;
        Ok(Self { process, port, started: Instant::now() })
    }

    /// How long after its start it says that it is ready, and how long until it leads.
    pub(super) async fn until_ready(&self) -> Result<(Duration, Duration)> {
        let ready = self
            .until("is ready", async || {
                self.ask("/readyz").await.is_some_and(|answer| answer.starts_with("HTTP/1.1 200"))
            })
            .await?;
        let leads = self.until("leads", async || self.leads().await).await?;
        Ok((ready - self.started, leads - self.started))
    }

    pub(super) async fn until_it_leads(&self) -> Result<Instant> {
        self.until("leads", async || self.leads().await).await
    }

    async fn leads(&self) -> bool {
        self.metric("loopbreaker_leading").await == Some(1.0)
    }

    async fn until(&self, what: &str, question: impl AsyncFn() -> bool) -> Result<Instant> {
        let limit = Instant::now() + Duration::from_mins(2);
        while !question().await {
            if Instant::now() > limit {
                bail!("not within two minutes: the operator {what}; its log tells why");
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        Ok(Instant::now())
    }

    /// The sum of a metric over its labels.
    pub(super) async fn metric(&self, name: &str) -> Option<f64> {
        let answer = self.ask("/metrics").await?;
        let values = answer
            .lines()
            .filter(|line| line.strip_prefix(name).is_some_and(|rest| rest.starts_with(' ') || rest.starts_with('{')));
        let values: Vec<f64> = values.filter_map(|line| line.rsplit(' ').next()?.parse().ok()).collect();
        (!values.is_empty()).then(|| values.iter().sum())
    }

    /// The answer as it comes, without the machinery of an HTTP client that would be measured as well.
    async fn ask(&self, path: &str) -> Option<String> {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).await.ok()?;
        let asked = format!("GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
        stream.write_all(asked.as_bytes()).await.ok()?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer).await.ok()?;
        Some(answer)
    }
}
