//! What a scenario is given: a client, and a namespace of its own.

use std::{path::PathBuf, time::Duration};

use anyhow::{Context, Result, bail};
use k8s_openapi::api::core::v1::{Namespace, ServiceAccount};
use kube::{
    Api, Client,
    api::{DeleteParams, PostParams},
};

/// A running cluster, as one scenario sees it.
#[derive(Clone)]
pub(crate) struct Bed {
    /// Speaks as the cluster's administrator.
    pub(crate) client: Client,
    /// The namespace of this scenario; nobody else uses it.
    pub(crate) namespace: String,
    /// The folder of the cluster: kubeconfigs, logs of its processes, the audit log.
    pub(crate) folder: PathBuf,
}

impl Bed {
    /// Makes the namespace and waits until pods can be made in it.
    pub(crate) async fn open(client: Client, folder: PathBuf, namespace: String) -> Result<Self> {
        let mut wanted = Namespace::default();
        wanted.metadata.name = Some(namespace.clone());
        Api::<Namespace>::all(client.clone())
            .create(&PostParams::default(), &wanted)
            .await
            .with_context(|| format!("make namespace {namespace}"))?;
        let bed = Self { client, namespace, folder };
        let accounts = bed.api::<ServiceAccount>();
        bed.until("the namespace has its service account", Duration::from_secs(20), async || {
            Ok(accounts.get_opt("default").await?)
        })
        .await?;
        Ok(bed)
    }

    /// Deletes the namespace and everything in it; does not wait for the end.
    pub(crate) async fn close(&self) -> Result<()> {
        Api::<Namespace>::all(self.client.clone()).delete(&self.namespace, &DeleteParams::default()).await?;
        Ok(())
    }

    /// The objects of a kind in this scenario's namespace.
    pub(crate) fn api<K>(&self) -> Api<K>
    where
        K: kube::Resource<Scope = kube::core::NamespaceResourceScope, DynamicType: Default>,
    {
        Api::namespaced(self.client.clone(), &self.namespace)
    }

    /// Asks ten times a second until there is an answer.
    ///
    /// # Errors
    /// What was waited for, when `limit` is over; the question's own error at once.
    pub(crate) async fn until<T>(
        &self,
        what: &str,
        limit: Duration,
        question: impl AsyncFn() -> Result<Option<T>>,
    ) -> Result<T> {
        let end = tokio::time::Instant::now() + limit;
        loop {
            if let Some(answer) = question().await.with_context(|| what.to_owned())? {
                return Ok(answer);
            }
            if tokio::time::Instant::now() >= end {
                bail!("not within {} s: {what}", limit.as_secs());
            }
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    }
}
