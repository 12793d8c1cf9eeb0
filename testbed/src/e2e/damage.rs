//! Damage to a database's files, as disks and crashes make it.

use std::{
    fs,
    path::{Path, PathBuf},
};

use anyhow::{Context, Result, bail};

/// Flips one bit in every table, at so many bytes from the beginning: whatever is read first meets one.
pub(crate) fn flip_in_every_table(database: &Path, offset: u64) -> Result<()> {
    let tables = with_ending(database, &["ldb", "sst"])?;
    if tables.is_empty() {
        bail!("{} has no table", database.display());
    }
    tables.iter().try_for_each(|table| flip(table, offset))
}

/// Flips one bit in every block of every table.
pub(crate) fn flip_in_every_block(database: &Path) -> Result<()> {
    for table in with_ending(database, &["ldb", "sst"])? {
        let mut bytes = fs::read(&table)?;
        for byte in bytes.iter_mut().skip(600).step_by(1024) {
            *byte ^= 0x10;
        }
        fs::write(&table, bytes)?;
    }
    Ok(())
}

/// Flips one bit.
fn flip(file: &Path, offset: u64) -> Result<()> {
    let mut bytes = fs::read(file).with_context(|| format!("read {}", file.display()))?;
    let byte = bytes.get_mut(usize::try_from(offset)?).with_context(|| format!("{offset} is outside"))?;
    *byte ^= 0x10;
    fs::write(file, bytes).with_context(|| format!("write {}", file.display()))
}

/// Cuts the file that MANIFEST is to half of its length.
pub(crate) fn truncate_manifest(database: &Path) -> Result<()> {
    let name = fs::read_to_string(database.join("CURRENT")).context("read CURRENT")?;
    let manifest = database.join(name.trim());
    let file = fs::File::options().write(true).open(&manifest)?;
    Ok(file.set_len(file.metadata()?.len() / 2)?)
}

/// Deletes the journals: what was written last is gone.
pub(crate) fn lose_journals(database: &Path) -> Result<()> {
    for journal in with_ending(database, &["log"])? {
        fs::remove_file(&journal)?;
    }
    Ok(())
}

fn with_ending(folder: &Path, endings: &[&str]) -> Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).with_context(|| format!("read {}", folder.display()))? {
        let path = entry?.path();
        if path.extension().is_some_and(|ending| endings.iter().any(|each| ending == *each)) {
            found.push(path);
        }
    }
    found.sort();
    Ok(found)
}
