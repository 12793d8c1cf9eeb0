//! The operator as a Deployment.

use std::time::Duration;

use anyhow::{Context, Result};
use api::RecoveryPolicy;
use k8s_openapi::{
    api::{apps::v1::Deployment, core::v1::Pod},
    apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition,
};
use kube::{
    Api, Client, ResourceExt,
    api::{ListParams, Patch, PatchParams},
    config::Kubeconfig,
};
use serde_json::{Value, json};

use super::policy;
use crate::{
    e2e::{Bed, node::create},
    image::OPERATOR,
    rights::{self, Installed},
};

const NAME: &str = "loopbreaker";
/// Until its image is unpacked and its watches stand.
const LIMIT: Duration = Duration::from_secs(90);

/// An operator that runs in the scenario's own namespace.
#[derive(Clone)]
pub(crate) struct Deployed {
    bed: Bed,
}

/// Installs our kinds, and waits until the API server serves them.
pub(crate) async fn install_kinds(client: &Client) -> Result<()> {
    let definitions: Api<CustomResourceDefinition> = Api::all(client.clone());
    for crd in api::crds() {
        let name = crd.definition.name_any();
        let how = PatchParams::apply("testbed").force();
        definitions
            .patch(&name, &how, &Patch::Apply(&crd.definition))
            .await
            .with_context(|| format!("apply {name}"))?;
        let served = |definition: &CustomResourceDefinition| {
            let conditions = definition.status.as_ref().and_then(|status| status.conditions.as_ref());
            conditions.is_some_and(|all| all.iter().any(|each| each.type_ == "Established" && each.status == "True"))
        };
        for _ in 0..100 {
            if served(&definitions.get(&name).await?) {
                break;
            }
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    }
    Ok(())
}

impl Deployed {
    /// Starts so many of them, with a policy, and waits until one leads and the policy is accepted.
    pub(crate) async fn open(bed: &Bed, replicas: u32, more: &Value) -> Result<Self> {
        let suffix = format!("-{}", bed.namespace);
        rights::install(&bed.client, installed(bed, &suffix)).await?;
        create::<RecoveryPolicy>(bed, policy::policy(more)).await?;
        create::<Deployment>(bed, deployment(&bed.namespace, replicas, &server(bed)?)).await?;
        let deployed = Self { bed: bed.clone() };
        deployed.until_watching().await?;
        Ok(deployed)
    }

    /// The name that the API server's audit log gives it.
    pub(crate) fn account(&self) -> String {
        format!("system:serviceaccount:{}:{NAME}", self.bed.namespace)
    }

    async fn until_watching(&self) -> Result<()> {
        let policies = self.bed.api::<RecoveryPolicy>();
        self.bed
            .until("the policy is accepted by an operator", LIMIT, async || {
                let status = policies.get("nodes").await?.status.unwrap_or_default();
                let accepted = status.conditions.iter().any(|each| each.type_ == "Accepted" && each.status == "True");
                Ok((accepted && status.workloads == Some(1)).then_some(()))
            })
            .await
    }

    /// Its pods.
    pub(crate) async fn pods(&self) -> Result<Vec<Pod>> {
        let ours = ListParams::default().labels(&format!("app.kubernetes.io/name={NAME}"));
        Ok(self.bed.api::<Pod>().list(&ours).await?.items)
    }
}

/// Takes away what the namespace does not take with it.
pub(crate) async fn uninstall(bed: &Bed) -> Result<()> {
    rights::uninstall(&bed.client, installed(bed, &format!("-{}", bed.namespace))).await
}

fn installed<'n>(bed: &'n Bed, suffix: &'n str) -> Installed<'n> {
    Installed { own: &bed.namespace, watched: Some(&bed.namespace), suffix }
}

/// Where the API server listens.
fn server(bed: &Bed) -> Result<(String, String)> {
    let kubeconfig = Kubeconfig::read_from(bed.folder.join("admin.kubeconfig"))?;
    let cluster = kubeconfig.clusters.into_iter().find_map(|named| named.cluster?.server);
    let server = cluster.context("admin.kubeconfig names no server")?;
    let address = server.trim_start_matches("https://").trim_end_matches('/');
    let (host, port) = address.rsplit_once(':').unwrap_or((address, "443"));
    Ok((host.to_owned(), port.to_owned()))
}

fn deployment(namespace: &str, replicas: u32, server: &(String, String)) -> Value {
    let labels = json!({ "app.kubernetes.io/name": NAME });
    let field = |path: &str| json!({ "fieldRef": { "fieldPath": path } });
    let args = [
        "operator",
        "--watch-namespace",
        namespace,
        "--inspector-service-account",
        "loopbreaker-inspector",
        "--lease-duration",
        "5s",
        "--log-format",
        "json",
    ];
    json!({
        "metadata": { "name": NAME, "labels": labels },
        "spec": {
            "replicas": replicas,
            "selector": { "matchLabels": labels },
            "template": {
                "metadata": { "labels": labels },
                "spec": {
                    "serviceAccountName": NAME, "enableServiceLinks": false, "terminationGracePeriodSeconds": 5,
                    "securityContext": { "runAsNonRoot": true, "runAsUser": 65532, "runAsGroup": 65532 },
                    "containers": [{
                        "name": "operator", "image": OPERATOR, "args": args,
                        "env": [
                            { "name": "LOOPBREAKER_IMAGE", "value": OPERATOR },
                            { "name": "POD_NAME", "valueFrom": field("metadata.name") },
                            { "name": "POD_NAMESPACE", "valueFrom": field("metadata.namespace") },
                            // The API server's own address: its Service's needs a kube-proxy.
                            { "name": "KUBERNETES_SERVICE_HOST", "value": server.0 },
                            { "name": "KUBERNETES_SERVICE_PORT", "value": server.1 },
                        ],
                        "resources": { "requests": { "cpu": "50m" } },
                        "ports": [{ "name": "http", "containerPort": 8080 }],
                        "readinessProbe": { "httpGet": { "path": "/readyz", "port": "http" }, "periodSeconds": 2 },
                        "livenessProbe": { "httpGet": { "path": "/livez", "port": "http" }, "periodSeconds": 10 },
                        "securityContext": {
                            "allowPrivilegeEscalation": false, "readOnlyRootFilesystem": true,
                            "capabilities": { "drop": ["ALL"] },
                        },
                    }],
                },
            },
        },
    })
}
