//! Does the real API server still answer as it did when the recordings were made?

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
};

use anyhow::{Context, Error, Result, bail};
use k8s_openapi::api::storage::v1::StorageClass;
use kube::{
    Api,
    api::{DynamicObject, ListParams},
    core::{ApiResource, GroupVersionKind},
};
use serde_json::Value;

use crate::{
    conformance::{Names, Player},
    e2e::{Bed, Family, Scenario},
};

pub(super) const ALL: [Scenario; 1] = [Scenario {
    name: "recorded-answers",
    shows: "The API server and its controllers answer the recorded requests as they are recorded",
    family: Family::Conformance,
    run: |bed| Box::pin(check(bed)),
}];

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("conformance")
}

/// The recordings, in the order of their names.
fn recordings() -> Result<Vec<(PathBuf, Value)>> {
    let files = fs::read_dir(folder())?.map(|entry| Ok(entry?.path())).collect::<Result<BTreeSet<_>>>()?;
    files
        .into_iter()
        .map(|file| {
            let text = fs::read_to_string(&file).with_context(|| format!("read {}", file.display()))?;
            Ok((file, serde_json::from_str(&text)?))
        })
        .collect()
}

/// Asks everything of the real cluster and keeps the answers.
pub(crate) async fn record(bed: &Bed) -> Result<()> {
    for (file, mut recording) in recordings()? {
        play(bed, &file, &mut recording, |step, answer| {
            if let Some(step) = step.as_object_mut() {
                step.insert("told".to_owned(), answer);
            }
            None
        })
        .await?;
        fs::write(&file, format!("{recording:#}\n"))?;
        println!("{}", file.display());
    }
    Ok(())
}

async fn check(bed: Bed) -> Result<()> {
    let mut differences = Vec::new();
    for (file, mut recording) in recordings()? {
        let found = play(&bed, &file, &mut recording, |step, answer| {
            let recorded = step.get("told").cloned().unwrap_or_default();
            (recorded != answer).then(|| format!("{}: recorded {recorded}, answered {answer}", step["about"]))
        });
        differences.extend(found.await?);
    }
    if differences.is_empty() {
        return Ok(());
    }
    bail!("{} (`cargo xtask e2e --record` keeps the new answers)", differences.join("; "))
}

async fn play(
    bed: &Bed,
    file: &Path,
    recording: &mut Value,
    mut look: impl FnMut(&mut Value, Value) -> Option<String>,
) -> Result<Vec<String>> {
    let part = file.file_stem().and_then(|name| name.to_str()).unwrap_or_default().to_owned();
    let ground = Bed::open(bed.client.clone(), bed.folder.clone(), format!("{}-{part}", bed.namespace)).await?;
    let mut player = Player::new(bed.client.clone(), names(&ground).await?);
    let mut found = Vec::new();
    let mut outcome = Ok(());
    for step in recording.get_mut("steps").and_then(Value::as_array_mut).into_iter().flatten() {
        match player.play(step).await {
            Ok(answer) => found.extend(look(step, answer).map(|difference| format!("{part}: {difference}"))),
            Err(why) => {
                outcome = Err(Error::msg(format!("{part}, {}: {why}", step["about"])));
                break;
            }
        }
    }
    let closed = ground.close().await;
    outcome?;
    closed?;
    Ok(found)
}

/// What this cluster calls the things that recordings speak of.
async fn names(ground: &Bed) -> Result<Names> {
    let classes = Api::<StorageClass>::all(ground.client.clone()).list(&ListParams::default()).await?;
    let class = classes.items.into_iter().find(|class| {
        let notes = class.metadata.annotations.as_ref();
        notes.is_some_and(|notes| notes.contains_key("storageclass.kubernetes.io/is-default-class"))
    });
    let class = class.context("the cluster has a default storage class")?;
    let kind = ApiResource::from_gvk_with_plural(
        &GroupVersionKind::gvk("snapshot.storage.k8s.io", "v1", "VolumeSnapshotClass"),
        "volumesnapshotclasses",
    );
    let snapshots: Api<DynamicObject> = Api::all_with(ground.client.clone(), &kind);
    let plain = snapshots.list(&ListParams::default()).await?.items.into_iter().find(|class| {
        class
            .data
            .get("parameters")
            .is_none_or(|parameters| parameters.as_object().is_none_or(serde_json::Map::is_empty))
    });
    let plain = plain.and_then(|class| class.metadata.name).context("the cluster has a plain class of snapshots")?;
    Ok(Names::from([
        ("namespace".to_owned(), ground.namespace.clone()),
        ("class".to_owned(), class.metadata.name.unwrap_or_default()),
        ("snapshots".to_owned(), plain),
        ("image".to_owned(), "localhost/busybox:1".to_owned()),
    ]))
}
