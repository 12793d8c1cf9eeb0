//! Where volumes lie: an XFS in a file, whose copies share their blocks; a plain folder where that cannot be had.

use std::{
    fs,
    process::Command,
    thread::sleep,
    time::{Duration, Instant},
};

use anyhow::{Context, Result};

use super::Plan;

/// The file is sparse: it takes what is written.
const BYTES: u64 = 20 << 30;

/// How long an unmounted disk may take to be let go.
const PATIENCE: Duration = Duration::from_secs(20);

/// How copies of a volume are made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Disk {
    /// In milliseconds, whatever the size.
    Reflinks,
    /// Byte by byte.
    Copies,
}

/// Makes and mounts the disk, unless it is.
pub(crate) fn make(plan: &Plan) -> Result<Disk> {
    let place = plan.disk();
    fs::create_dir_all(&place).with_context(|| format!("make {}", place.display()))?;
    if mounts(&plan.text("disk")).iter().any(|mount| *mount == plan.text("disk")) {
        return Ok(Disk::Reflinks);
    }
    let (image, marker) = (plan.path("disk.img"), plan.path("disk.plain"));
    if marker.exists() {
        return Ok(Disk::Copies);
    }
    if !image.exists() {
        let half = plan.path("disk.half");
        fs::File::create(&half)?.set_len(BYTES)?;
        if !succeeds(Command::new("mkfs.xfs").args(["-q", "-f", "-m", "reflink=1"]).arg(&half)) {
            fs::remove_file(&half)?;
            fs::write(marker, "")?;
            return Ok(Disk::Copies);
        }
        fs::rename(&half, &image)?;
    }
    if succeeds(Command::new("mount").args(["-t", "xfs", "-o", "loop"]).arg(&image).arg(&place)) {
        return Ok(Disk::Reflinks);
    }
    fs::write(marker, "")?;
    Ok(Disk::Copies)
}

/// Everything that is mounted at a path or below it, the deepest first.
pub(crate) fn mounts(top: &str) -> Vec<String> {
    let text = fs::read_to_string("/proc/self/mounts").unwrap_or_default();
    let below = format!("{top}/");
    let mut found: Vec<String> = text
        .lines()
        .filter_map(|line| line.split_whitespace().nth(1))
        .filter(|place| *place == top || place.starts_with(&below))
        .map(str::to_owned)
        .collect();
    // What was mounted later lies over what was mounted before.
    found.reverse();
    found
}

/// Unmounts everything below the cluster's folder; what is in use goes when it no longer is.
pub(crate) fn unmount_all(plan: &Plan) {
    for place in mounts(&plan.folder.display().to_string()) {
        if !succeeds(Command::new("umount").arg(&place)) {
            succeeds(Command::new("umount").arg("--lazy").arg(&place));
        }
    }
}

/// Loop devices whose file lies in the cluster's folder.
pub(crate) fn loops(plan: &Plan) -> Vec<String> {
    let Ok(entries) = fs::read_dir("/sys/block") else { return Vec::new() };
    let mut found: Vec<String> = entries
        .filter_map(|entry| {
            let entry = entry.ok()?;
            let file = fs::read_to_string(entry.path().join("loop/backing_file")).ok()?;
            file.starts_with(&format!("{}/", plan.folder.display()))
                .then(|| format!("/dev/{}", entry.file_name().to_string_lossy()))
        })
        .collect();
    found.sort();
    found
}

/// Lets go of the loop devices, and waits until they are free: the kernel frees one some time after its unmounting.
pub(crate) fn detach(plan: &Plan) {
    let end = Instant::now() + PATIENCE;
    while !loops(plan).is_empty() && Instant::now() < end {
        for device in loops(plan) {
            succeeds(Command::new("losetup").arg("--detach").arg(device));
        }
        sleep(Duration::from_millis(50));
    }
}

fn succeeds(command: &mut Command) -> bool {
    command.output().is_ok_and(|output| output.status.success())
}
