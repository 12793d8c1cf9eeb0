//! Nodes that crash on every start though their data is sound: nothing may be restored, whatever a human would say.

use std::{
    fs::{self, File},
    io::Write as _,
    process::{Child, Command},
    time::Duration,
};

use anyhow::{Context, Result, bail};
use k8s_openapi::api::core::v1::{PersistentVolume, PersistentVolumeClaim, Pod};
use kube::{Api, api::DeleteParams};
use serde_json::json;

use super::sound;
use crate::e2e::{
    Bed, Family, Scenario,
    node::create,
    stage::{Stage, must_blame, must_hold},
};

pub(crate) const BAD_CONFIG: Scenario = Scenario {
    name: "bad-config",
    shows: "config.toml cannot be parsed: a configuration error, held",
    family: Family::Observe,
    run: |bed| Box::pin(bad_config(bed)),
};

pub(crate) const DISK_FULL: Scenario = Scenario {
    name: "disk-full",
    shows: "the volume is full: nothing can be written, held",
    family: Family::Observe,
    run: |bed| Box::pin(disk_full(bed)),
};

pub(crate) const PORT_IN_USE: Scenario = Scenario {
    name: "port-in-use",
    shows: "another process of the pod listens on the node's port, held",
    family: Family::Observe,
    run: |bed| Box::pin(port_in_use(bed)),
};

pub(crate) const LOCK_HELD: Scenario = Scenario {
    name: "lock-held",
    shows: "another process holds the lock of application.db, held",
    family: Family::Observe,
    run: |bed| Box::pin(lock_held(bed)),
};

/// Waits for the verdict about `chain-1` and holds that it is no damage.
async fn verdict(stage: &Stage, name: &str, cause: &str) -> Result<()> {
    let recovery = stage.held("chain-1").await?;
    must_hold(&recovery)?;
    must_blame(&recovery, cause)?;
    stage.proves(name, &recovery).await
}

async fn bad_config(bed: Bed) -> Result<()> {
    let stage = sound(bed).await?;
    let file = stage.nodes.process("chain-1").await?.path("/chain/config/config.toml");
    // It is read at the next start only, which is that of a new pod.
    fs::write(file, "db_backend = \"goleveldb\nproxy_app =")?;
    stage.bed.api::<Pod>().delete("chain-1", &DeleteParams::default()).await?;
    verdict(&stage, "bad-config", "config_error").await
}

async fn disk_full(bed: Bed) -> Result<()> {
    let claim = json!({
        "metadata": { "name": "home-chain-1", "labels": { "app": "chain" } },
        "spec": { "accessModes": ["ReadWriteOnce"], "resources": { "requests": { "storage": "1Gi" } } },
    });
    create::<PersistentVolumeClaim>(&bed, claim).await?;
    let claims = bed.api::<PersistentVolumeClaim>();
    let volume = bed
        .until("the claim is bound", Duration::from_mins(1), async || {
            let claim = claims.get("home-chain-1").await?;
            let bound = claim.status.and_then(|status| status.phase).as_deref() == Some("Bound");
            Ok(claim.spec.and_then(|spec| spec.volume_name).filter(|_| bound))
        })
        .await?;
    let volume = Api::<PersistentVolume>::all(bed.client.clone()).get(&volume).await?;
    let handle = volume.spec.and_then(|spec| spec.csi).context("no volume of a CSI driver")?.volume_handle;
    let _small = Small::mount(&bed.folder.join("disk/volumes").join(handle))?;
    let stage = sound(bed).await?;
    stage.nodes.process("chain-1").await?.between_starts(|victim| {
        let mut file = File::create(victim.path("/chain/filler"))?;
        // It ends when there is no room left.
        while file.write_all(&[7; 4096]).is_ok() {}
        while file.write_all(&[7]).is_ok() {}
        Ok(())
    })?;
    verdict(&stage, "disk-full", "disk_full").await
}

/// A small file system in place of a volume's directory, as long as it is held.
struct Small {
    place: std::path::PathBuf,
}

impl Small {
    fn mount(place: &std::path::Path) -> Result<Self> {
        let status = Command::new("mount").args(["-t", "tmpfs", "-o", "size=24m", "testbed"]).arg(place).status()?;
        if !status.success() {
            bail!("mount a tmpfs on {}: {status}", place.display());
        }
        Ok(Self { place: place.to_owned() })
    }
}

impl Drop for Small {
    fn drop(&mut self) {
        // Pods may still have it: it goes with the last of them.
        let _ = Command::new("umount").arg("--lazy").arg(&self.place).status();
    }
}

async fn port_in_use(bed: Bed) -> Result<()> {
    let stage = sound(bed).await?;
    let victim = stage.nodes.process("chain-1").await?;
    // It can listen as soon as the node's own process is gone, and long before the next start.
    let mut squatter = None;
    victim.freeze()?;
    let mut command = victim.in_its_network("busybox");
    command.args(["sh", "-c", "while ! nc -ll -p 26656 -e /bin/true; do sleep 0.05; done"]);
    squatter.replace(Squatter(command.spawn().context("start nsenter")?));
    tokio::time::sleep(Duration::from_millis(500)).await;
    victim.kill()?;
    let outcome = verdict(&stage, "port-in-use", "port_in_use").await;
    drop(squatter);
    outcome
}

/// Ended when it is let go.
struct Squatter(Child);

impl Drop for Squatter {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

async fn lock_held(bed: Bed) -> Result<()> {
    let stage = sound(bed).await?;
    let victim = stage.nodes.process("chain-1").await?;
    victim.freeze()?;
    let lock = File::options().read(true).write(true).open(victim.path("/chain/data/application.db/LOCK"))?;
    victim.kill()?;
    stage
        .bed
        .until("the lock is free", Duration::from_secs(5), async || Ok(lock.try_lock().is_ok().then_some(())))
        .await?;
    verdict(&stage, "lock-held", "permission_or_lock").await
}
