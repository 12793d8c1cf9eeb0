//! Gives an operator of the tests exactly what the shipped files give, in a namespace of its own.

use anyhow::{Context, Result, bail};
use k8s_openapi::api::{
    core::v1::ServiceAccount,
    rbac::v1::{ClusterRole, ClusterRoleBinding, Role, RoleBinding},
};
use kube::{
    Api, Client, ResourceExt,
    api::{ApiResource, DeleteParams, DynamicObject, Patch, PatchParams},
};

use super::files::{MACHINE_EVENTS, NAME, files};

/// For which operator.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Installed<'n> {
    /// The operator's own namespace: its account `loopbreaker` and its Lease.
    pub(crate) own: &'n str,
    /// The only namespace that it watches (`--watch-namespace`); all of them, if none. Its inspectors' account there is
    /// `loopbreaker-inspector`.
    pub(crate) watched: Option<&'n str>,
    /// Ends the names of what lies in no namespace of the operator's, so that several operators do not share it.
    pub(crate) suffix: &'n str,
}

/// Applies the shipped files, but for their namespaces and the ends of shared names.
pub(crate) async fn install(client: &Client, of: Installed<'_>) -> Result<()> {
    for part in chosen(of)? {
        let (api, name) = (part.api(client)?, part.object.name_any());
        let how = PatchParams::apply("testbed").force();
        api.patch(&name, &how, &Patch::Apply(&part.object)).await.with_context(|| format!("apply {name}"))?;
    }
    Ok(())
}

/// Takes away what no namespace takes with it.
pub(crate) async fn uninstall(client: &Client, of: Installed<'_>) -> Result<()> {
    for part in chosen(of)? {
        let inside = part.object.namespace();
        if inside.as_deref() == Some(of.own) || (inside.is_some() && inside.as_deref() == of.watched) {
            continue;
        }
        let (api, name) = (part.api(client)?, part.object.name_any());
        match api.delete(&name, &DeleteParams::default()).await {
            Ok(_) => {}
            Err(kube::Error::Api(status)) if status.code == 404 => {}
            Err(error) => return Err(error).with_context(|| format!("delete {name}")),
        }
    }
    Ok(())
}

fn chosen(of: Installed<'_>) -> Result<Vec<Part>> {
    let names: &[&str] = match of.watched {
        None => &["account.yaml", "cluster-wide.yaml", "copies-cluster-wide.yaml"],
        Some(_) => {
            &["account.yaml", "one-namespace.yaml", "copies-one-namespace.yaml", "machines.yaml", "inspector.yaml"]
        }
    };
    let mut all = Vec::new();
    for file in files().iter().filter(|file| names.contains(&file.name)) {
        for part in parts(&file.text).with_context(|| format!("config/rbac/{}", file.name))? {
            all.push(part.moved(of));
        }
    }
    Ok(all)
}

/// One object of the files.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Part {
    object: DynamicObject,
}

/// The objects of a file.
pub(super) fn parts(text: &str) -> Result<Vec<Part>> {
    let documents = text.split("---\n").filter(|document| document.lines().any(|line| !line.starts_with('#')));
    documents.map(|document| Ok(Part { object: serde_saphyr::from_str(document)? })).collect()
}

impl Part {
    pub(super) fn kind(&self) -> &str {
        self.object.types.as_ref().map(|types| types.kind.as_str()).unwrap_or_default()
    }

    fn api(&self, client: &Client) -> Result<Api<DynamicObject>> {
        let resource = match self.kind() {
            "ServiceAccount" => ApiResource::erase::<ServiceAccount>(&()),
            "Role" => ApiResource::erase::<Role>(&()),
            "RoleBinding" => ApiResource::erase::<RoleBinding>(&()),
            "ClusterRole" => ApiResource::erase::<ClusterRole>(&()),
            "ClusterRoleBinding" => ApiResource::erase::<ClusterRoleBinding>(&()),
            other => bail!("config/rbac/ has a {other}, which nobody applies"),
        };
        Ok(match self.object.namespace() {
            Some(namespace) => Api::namespaced_with(client.clone(), &namespace, &resource),
            None => Api::all_with(client.clone(), &resource),
        })
    }

    /// The same for another operator.
    fn moved(mut self, of: Installed<'_>) -> Self {
        let of_cluster = self.kind().starts_with("Cluster");
        let shared = of_cluster || self.object.metadata.namespace.as_deref() == Some(MACHINE_EVENTS);
        if shared {
            let name = format!("{}{}", self.object.name_any(), of.suffix);
            self.object.metadata.name = Some(name.clone());
            if let Some(role) = self.object.data.pointer_mut("/roleRef/name") {
                *role = name.into();
            }
        } else {
            let own = self.object.metadata.namespace.as_deref() == Some(NAME);
            self.object.metadata.namespace = Some(if own { of.own } else { of.watched.unwrap_or(of.own) }.to_owned());
        }
        if let Some(subject) = self.object.data.pointer_mut("/subjects/0/namespace") {
            *subject = of.own.into();
        }
        self
    }
}
