//! What is kept of a scenario that failed: every object of its namespace that tells something, and the logs.

use std::{fs, path::PathBuf};

use anyhow::Result;
use api::{Recovery, RecoveryPolicy};
use k8s_openapi::api::{
    apps::v1::StatefulSet,
    batch::v1::Job,
    core::v1::{PersistentVolumeClaim, Pod},
    events::v1::Event,
};
use kube::{
    Resource, ResourceExt,
    api::{ListParams, LogParams},
    core::NamespaceResourceScope,
};
use serde::{Serialize, de::DeserializeOwned};

use super::Bed;
use crate::place;

/// Writes it under `target/testbed/failed/<scenario>/` and says where; what cannot be had is left out.
pub(super) async fn keep(bed: &Bed, scenario: &str) -> Result<PathBuf> {
    let folder = place::repository().join("target/testbed/failed").join(scenario);
    if folder.exists() {
        fs::remove_dir_all(&folder)?;
    }
    fs::create_dir_all(&folder)?;
    objects::<Recovery>(bed, &folder, "recoveries").await?;
    objects::<RecoveryPolicy>(bed, &folder, "policies").await?;
    objects::<Job>(bed, &folder, "jobs").await?;
    objects::<StatefulSet>(bed, &folder, "statefulsets").await?;
    objects::<PersistentVolumeClaim>(bed, &folder, "claims").await?;
    objects::<Event>(bed, &folder, "events").await?;
    objects::<Pod>(bed, &folder, "pods").await?;
    for pod in bed.api::<Pod>().list(&ListParams::default()).await?.items {
        for container in pod.spec.iter().flat_map(|spec| &spec.containers) {
            for previous in [false, true] {
                let asked = LogParams { container: Some(container.name.clone()), previous, ..LogParams::default() };
                let Ok(log) = bed.api::<Pod>().logs(&pod.name_any(), &asked).await else { continue };
                let which = if previous { ".previous" } else { "" };
                fs::write(folder.join(format!("{}.{}{which}.log", pod.name_any(), container.name)), log)?;
            }
        }
    }
    Ok(folder)
}

async fn objects<K>(bed: &Bed, folder: &std::path::Path, name: &str) -> Result<()>
where
    K: Resource<Scope = NamespaceResourceScope, DynamicType = ()>
        + Clone
        + std::fmt::Debug
        + Serialize
        + DeserializeOwned,
{
    let Ok(mut list) = bed.api::<K>().list(&ListParams::default()).await else { return Ok(()) };
    list.items.iter_mut().for_each(|object| object.meta_mut().managed_fields = None);
    if !list.items.is_empty() {
        fs::write(folder.join(format!("{name}.yaml")), serde_saphyr::to_string(&list.items)?)?;
    }
    Ok(())
}
