//! One random change to one file of a directory, told by a seed alone.

use std::{
    fmt, fs,
    path::{Path, PathBuf},
};

use anyhow::{Context, Result, bail};

/// `SplitMix64` (Steele, Lea, Flood 2014): the same numbers on every machine and in every version of this program.
pub(super) struct Dice(u64);

impl Dice {
    /// Neighbouring seeds and cases give unrelated numbers.
    pub(super) fn new(seed: u64, case: u64) -> Self {
        let mut dice = Self(seed);
        dice.0 = dice.next().wrapping_add(case);
        dice.0 = dice.next();
        dice
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number below `limit`, which is not 0.
    pub(super) fn below(&mut self, limit: usize) -> usize {
        usize::try_from(self.next() % (limit.max(1) as u64)).unwrap_or_default()
    }

    /// One of several.
    pub(super) fn pick<'t, T>(&mut self, several: &'t [T]) -> Result<&'t T> {
        let at = self.below(several.len());
        several.get(at).context("nothing to choose from")
    }
}

/// What was done to a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Change {
    /// One bit.
    Flip { offset: usize, bit: u8 },
    /// Some bytes became others.
    Noise { offset: usize, length: usize },
    /// A range became zero.
    Zeroed { offset: usize, length: usize },
    /// It ends early.
    Cut { length: usize },
    /// It is gone.
    Deleted,
    /// A range of another file, or of this one, stands here.
    Misplaced { offset: usize, length: usize, from: PathBuf, source: usize },
}

/// A file and its change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Damage {
    pub(super) file: PathBuf,
    pub(super) change: Change,
    /// How long the file was.
    pub(super) length: usize,
}

impl Damage {
    /// Whether nothing behind the change is as it was, as when the end of a file never reached the disk.
    pub(super) fn reaches_the_end(&self) -> bool {
        match &self.change {
            Change::Cut { .. } => true,
            Change::Zeroed { offset, length }
            | Change::Noise { offset, length }
            | Change::Misplaced { offset, length, .. } => offset + length >= self.length,
            Change::Flip { .. } | Change::Deleted => false,
        }
    }
}

impl fmt::Display for Damage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let file = self.file.display();
        match &self.change {
            Change::Flip { offset, bit } => write!(f, "bit {bit} of byte {offset} of {file} flipped"),
            Change::Noise { offset, length } => write!(f, "{length} bytes of noise at {offset} of {file}"),
            Change::Zeroed { offset, length } => write!(f, "{length} zeros at {offset} of {file}"),
            Change::Cut { length } => write!(f, "{file} cut to {length} of {} bytes", self.length),
            Change::Deleted => write!(f, "{file} deleted"),
            Change::Misplaced { offset, length, from, source } => {
                write!(f, "{length} bytes of {} at {source} stand at {offset} of {file}", from.display())
            }
        }
    }
}

/// The files of a directory that hold data, sorted.
fn files(dir: &Path) -> Result<Vec<PathBuf>> {
    let mut names = Vec::new();
    for entry in fs::read_dir(dir).with_context(|| dir.display().to_string())? {
        let entry = entry?;
        let name = PathBuf::from(entry.file_name());
        // What an engine writes for people, what it locks, and RocksDB's name for a database hold no data.
        let told = name.to_string_lossy();
        let no_data = told.starts_with("LOG") || ["LOCK", "IDENTITY", "rocksdict-config.json"].contains(&&*told);
        if entry.metadata()?.len() > 0 && !no_data {
            names.push(name);
        }
    }
    names.sort();
    Ok(names)
}

/// Changes one file of a directory.
pub(super) fn strike(dir: &Path, dice: &mut Dice) -> Result<Damage> {
    let files = files(dir)?;
    let file = dice.pick(&files)?.clone();
    let path = dir.join(&file);
    let mut content = fs::read(&path)?;
    let before = content.clone();
    let length = content.len();
    let offset = dice.below(length);
    let change = match dice.below(20) {
        0..=9 => Change::Flip { offset, bit: u8::try_from(dice.below(8))? },
        10 | 11 => Change::Noise { offset, length: (1 + dice.below(64)).min(length - offset) },
        12..=14 => {
            let size = *dice.pick(&[512, 4096, 77])?;
            let offset = if size < 512 { offset } else { offset / size * size };
            Change::Zeroed { offset, length: size.min(length - offset) }
        }
        15 | 16 => Change::Cut { length: offset },
        17 => Change::Deleted,
        _ => {
            let from = dice.pick(&files)?.clone();
            let other = fs::read(dir.join(&from))?;
            let size = *dice.pick(&[512, 4096])?;
            let (offset, source) = (offset / size * size, dice.below(other.len()) / size * size);
            Change::Misplaced { offset, length: size.min(length - offset).min(other.len() - source), from, source }
        }
    };
    apply(&change, dir, &mut content, dice)?;
    if change == Change::Deleted {
        fs::remove_file(&path)?;
    } else if content == before {
        // Zeros over zeros: another throw of the same dice.
        return strike(dir, dice);
    } else {
        fs::write(&path, &content)?;
    }
    Ok(Damage { file, change, length })
}

/// Changes a file's content.
fn apply(change: &Change, dir: &Path, content: &mut Vec<u8>, dice: &mut Dice) -> Result<()> {
    let outside = "a change outside of the file";
    match change {
        Change::Flip { offset, bit } => *content.get_mut(*offset).context(outside)? ^= 1 << bit,
        Change::Noise { offset, length } => {
            let range = content.get_mut(*offset..offset + length).context(outside)?;
            range.fill_with(|| u8::try_from(dice.below(256)).unwrap_or_default());
        }
        Change::Zeroed { offset, length } => content.get_mut(*offset..offset + length).context(outside)?.fill(0),
        Change::Cut { length } => content.truncate(*length),
        Change::Deleted => {}
        Change::Misplaced { offset, length, from, source } => {
            let other = fs::read(dir.join(from))?;
            let range = content.get_mut(*offset..offset + length).context(outside)?;
            range.copy_from_slice(other.get(*source..source + length).context(outside)?);
        }
    }
    Ok(())
}

/// Copies the files of a directory, which has no others below it.
pub(super) fn copy(from: &Path, to: &Path) -> Result<()> {
    if to.exists() {
        fs::remove_dir_all(to).with_context(|| to.display().to_string())?;
    }
    fs::create_dir_all(to).with_context(|| to.display().to_string())?;
    for entry in fs::read_dir(from).with_context(|| from.display().to_string())? {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            bail!("{}: a directory in a database", entry.path().display());
        }
        fs::copy(entry.path(), to.join(entry.file_name()))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::{Dice, copy, strike};
    use crate::tidy;

    #[test]
    fn a_seed_tells_everything() {
        let base = tidy::root().join("crates/chainstore/tests/fixtures/goleveldb/healthy");
        let dir = tidy::root().join("target").join(format!("strike-{}", std::process::id()));
        let mut seen = HashSet::new();
        for case in 0..40 {
            copy(&base, &dir).unwrap();
            let first = strike(&dir, &mut Dice::new(7, case)).unwrap();
            copy(&base, &dir).unwrap();
            assert_eq!(first, strike(&dir, &mut Dice::new(7, case)).unwrap());
            seen.insert(std::mem::discriminant(&first.change));
        }
        std::fs::remove_dir_all(&dir).unwrap();
        assert_eq!(seen.len(), 6, "every kind of change comes up");
    }
}
