//! Pods with a shell in them: they write into a volume and say what is in it.

use anyhow::{Result, bail};
use k8s_openapi::api::core::v1::Pod;
use kube::api::{DeleteParams, LogParams, PostParams};
use serde_json::{Value, json};

use super::ground::{Ground, SOON};

/// An image with a shell that the cluster has.
pub(super) const SHELL: &str = "localhost/busybox:1";

/// One container that runs a script.
pub(super) fn container(script: &str) -> Value {
    json!({
        "name": "c", "image": SHELL, "imagePullPolicy": "Never", "command": ["sh", "-c", script],
    })
}

/// A pod that runs a script once, with a claim's volume at `/data`.
pub(super) fn shell(name: &str, claim: Option<&str>, script: &str) -> Value {
    let mut container = container(script);
    let mut volumes = Vec::new();
    if let (Some(claim), Some(container)) = (claim, container.as_object_mut()) {
        container.insert("volumeMounts".to_owned(), json!([{"name": "data", "mountPath": "/data"}]));
        volumes.push(json!({"name": "data", "persistentVolumeClaim": {"claimName": claim}}));
    }
    json!({
        "apiVersion": "v1", "kind": "Pod", "metadata": {"name": name},
        "spec": {
            "restartPolicy": "Never", "terminationGracePeriodSeconds": 1, "dnsPolicy": "Default",
            "containers": [container], "volumes": volumes,
        },
    })
}

pub(super) fn pod_phase(pod: &Pod) -> &str {
    pod.status.as_ref().and_then(|status| status.phase.as_deref()).unwrap_or_default()
}

pub(super) fn is_ready(pod: &Pod) -> bool {
    let conditions = pod.status.as_ref().and_then(|status| status.conditions.as_deref()).unwrap_or_default();
    conditions.iter().any(|condition| condition.type_ == "Ready" && condition.status == "True")
}

impl Ground {
    pub(super) async fn start(&self, pod: Value) -> Result<Pod> {
        Ok(self.bed.api::<Pod>().create(&PostParams::default(), &serde_json::from_value(pod)?).await?)
    }

    pub(super) async fn log(&self, pod: &str) -> Result<String> {
        Ok(self.bed.api::<Pod>().logs(pod, &LogParams::default()).await?)
    }

    /// Waits until a pod is ready that is not the one of this UID.
    pub(super) async fn ready(&self, name: &str, other_than: &str) -> Result<Pod> {
        let pods = self.bed.api::<Pod>();
        self.bed
            .until(&format!("pod {name} is ready"), SOON, async || {
                let pod = pods.get_opt(name).await?;
                Ok(pod.filter(|pod| is_ready(pod) && pod.metadata.uid.as_deref() != Some(other_than)))
            })
            .await
    }

    /// Runs a script on a claim's volume; what it printed.
    pub(super) async fn says(&self, claim: &str, script: &str) -> Result<String> {
        let pods = self.bed.api::<Pod>();
        self.start(shell("speaker", Some(claim), script)).await?;
        self.bed
            .until("the script has ended", SOON, async || match pod_phase(&pods.get("speaker").await?) {
                "Succeeded" => Ok(Some(())),
                "Failed" => bail!("the script failed: {}", self.log("speaker").await?),
                _ => Ok(None),
            })
            .await?;
        let said = self.log("speaker").await?;
        pods.delete("speaker", &DeleteParams::default().grace_period(0)).await?;
        self.bed
            .until("the script's pod is gone", SOON, async || {
                Ok(pods.get_opt("speaker").await?.is_none().then_some(()))
            })
            .await?;
        Ok(said.trim().to_owned())
    }

    /// Writes a mark onto a claim's volume.
    pub(super) async fn mark(&self, claim: &str, mark: &str) -> Result<()> {
        self.says(claim, &format!("echo {mark} >/data/mark; sync")).await.map(drop)
    }

    /// The mark on a claim's volume; nothing on a blank one.
    pub(super) async fn mark_of(&self, claim: &str) -> Result<String> {
        self.says(claim, "cat /data/mark 2>/dev/null || true").await
    }
}
