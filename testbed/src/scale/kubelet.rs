//! A container that crashes at every start, as the kubelet tells of it: ended, waiting in its back-off, running again.

use std::{
    net::IpAddr,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use anyhow::{Context, Result};
use jiff::Timestamp;
use k8s_openapi::api::core::v1::{ContainerStatus, Pod};
use kube::{
    Api, Client,
    api::{Patch, PatchParams},
};
use serde_json::{Value, json};
use tokio::time::{Instant, sleep, sleep_until};

use super::chain::Chain;

/// The crash with which it is a loop.
const DECIDES: u32 = 3;
/// The kubelet's first pause and its last.
const PAUSE_FIRST: Duration = Duration::from_secs(10);
const PAUSE_LAST: Duration = Duration::from_mins(5);
/// A damaged node lives so long.
const LIVES: Duration = Duration::from_secs(3);
/// From the end of a container until it is said to wait.
const ENDED: Duration = Duration::from_millis(900);

/// A replica that crash-loops.
#[derive(Debug, Clone)]
pub(super) struct Victim {
    pub(super) namespace: String,
    pub(super) pod: String,
    /// When the API server was told of the crash that makes it a loop.
    decided: Arc<Mutex<Option<Instant>>>,
    crashes: Arc<Mutex<u32>>,
}

impl Victim {
    pub(super) fn new(namespace: String, pod: String) -> Self {
        Self { namespace, pod, decided: Arc::default(), crashes: Arc::default() }
    }

    pub(super) fn decided(&self) -> Option<Instant> {
        *self.decided.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn crashes(&self) -> u32 {
        *self.crashes.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Crashes from then on, at the kubelet's pace, until the bench ends.
    pub(super) async fn crash_for_ever(self, client: Client, chain: Chain, begins: Instant) -> Result<()> {
        sleep_until(begins).await;
        let mut pause = PAUSE_FIRST;
        loop {
            self.crash(&client, &chain).await?;
            sleep(ENDED).await;
            self.waits(&client, pause).await?;
            sleep(pause).await;
            pause = pause.saturating_mul(2).min(PAUSE_LAST);
            self.runs(&client).await?;
            sleep(LIVES).await;
        }
    }

    /// Many crashes without any pause.
    pub(super) async fn crash_fast(&self, client: &Client, chain: &Chain, crashes: u32) -> Result<()> {
        for _ in 0..crashes {
            self.runs(client).await?;
            self.crash(client, chain).await?;
            self.waits(client, PAUSE_LAST).await?;
        }
        Ok(())
    }

    async fn crash(&self, client: &Client, chain: &Chain) -> Result<()> {
        let now = Timestamp::now();
        let ended = json!({"terminated": {
            "exitCode": 2, "reason": "Error", "containerID": self.container(),
            "startedAt": second(now - LIVES), "finishedAt": second(now),
        }});
        let restarts = self.crashes();
        let last = if restarts == 0 { json!({}) } else { self.last_run(now) };
        let crashes = restarts + 1;
        if crashes == DECIDES {
            *self.decided.lock().unwrap_or_else(PoisonError::into_inner) = Some(Instant::now());
        }
        let pod = self.tell(client, restarts, &ended, &last, "False").await?;
        *self.crashes.lock().unwrap_or_else(PoisonError::into_inner) = crashes;
        let address = pod.status.and_then(|status| status.pod_ip).and_then(|ip| ip.parse::<IpAddr>().ok());
        if let Some(address) = address {
            chain.goes_down(address);
        }
        Ok(())
    }

    async fn waits(&self, client: &Client, pause: Duration) -> Result<()> {
        let words = format!(
            "back-off {}s restarting failed container=node pod={}_{}",
            pause.as_secs(),
            self.pod,
            self.namespace
        );
        let waiting = json!({"waiting": {"reason": "CrashLoopBackOff", "message": words}});
        self.tell(client, self.crashes() - 1, &waiting, &self.last_run(Timestamp::now()), "False").await.map(drop)
    }

    async fn runs(&self, client: &Client) -> Result<()> {
        let running = json!({"running": {"startedAt": second(Timestamp::now())}});
        self.tell(client, self.crashes(), &running, &self.last_run(Timestamp::now()), "False").await.map(drop)
    }

    fn last_run(&self, now: Timestamp) -> Value {
        json!({"terminated": {
            "exitCode": 2, "reason": "Error", "containerID": self.container(),
            "startedAt": second(now - LIVES - ENDED), "finishedAt": second(now - ENDED),
        }})
    }

    fn container(&self) -> String {
        format!("containerd://{:064x}", self.crashes())
    }

    async fn tell(&self, client: &Client, restarts: u32, state: &Value, last: &Value, ready: &str) -> Result<Pod> {
        let pods: Api<Pod> = Api::namespaced(client.clone(), &self.namespace);
        // A merge replaces the whole list: the side cars are told of as well.
        let others = ["healthcheck", "version-check-interval"].map(|name| {
            json!({"name": name, "image": "registry.example/operator:1", "imageID": "", "ready": true, "restartCount": 0,
                "state": {"running": {"startedAt": second(Timestamp::now())}}})
        });
        let node: ContainerStatus = serde_json::from_value(json!({
            "name": "node", "image": "registry.example/gaia:v25.1.0", "imageID": "sha256:33844499951cf514", "ready": false,
            "restartCount": restarts, "state": state, "lastState": last, "started": false,
        }))?;
        let mut statuses = vec![serde_json::to_value(node)?];
        statuses.extend(others);
        let now = second(Timestamp::now());
        let condition = |of: &str, status: &str| json!({"type": of, "status": status, "lastTransitionTime": now});
        let status = json!({"status": {
            "containerStatuses": statuses,
            "conditions": [condition("Initialized", "True"), condition("Ready", ready), condition("ContainersReady", ready), condition("PodScheduled", "True")],
        }});
        let told = pods.patch_status(&self.pod, &PatchParams::default(), &Patch::Merge(&status)).await;
        told.with_context(|| format!("tell of {}/{}", self.namespace, self.pod))
    }
}

fn second(time: Timestamp) -> String {
    time.strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
}
