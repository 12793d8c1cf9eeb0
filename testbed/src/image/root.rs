//! The root directory of an image: its files in order of their paths, packed so that the same content gives the same bytes.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
};

use anyhow::{Context, Result, bail};
use tar::{Builder, EntryType, Header};

/// What a path in an image is.
#[derive(Debug, Clone)]
enum Entry {
    Directory { mode: u32 },
    Bytes { content: Vec<u8>, mode: u32 },
    Copy { source: PathBuf, mode: u32 },
    Link { target: String },
}

/// The files of an image. Everything belongs to root and bears the time 1970-01-01, so nothing of this machine gets in.
#[derive(Debug, Clone, Default)]
pub(crate) struct Root {
    entries: BTreeMap<String, Entry>,
}

impl Root {
    /// An empty directory; those above a file need no mention.
    pub(crate) fn directory(mut self, path: &str, mode: u32) -> Self {
        self.entries.insert(inside(path), Entry::Directory { mode });
        self
    }

    /// A file with this content.
    pub(crate) fn bytes(mut self, path: &str, content: impl Into<Vec<u8>>, mode: u32) -> Self {
        self.entries.insert(inside(path), Entry::Bytes { content: content.into(), mode });
        self
    }

    /// A file of this machine, read when the image is written; everyone may run it.
    pub(crate) fn program(mut self, source: &Path, path: &str) -> Self {
        self.entries.insert(inside(path), Entry::Copy { source: source.to_owned(), mode: 0o755 });
        self
    }

    /// A symbolic link.
    pub(crate) fn link(mut self, path: &str, target: &str) -> Self {
        self.entries.insert(inside(path), Entry::Link { target: target.to_owned() });
        self
    }

    /// The layer: a tar archive, parents before what is in them.
    ///
    /// # Errors
    /// Where a file cannot be read, or a path is no plain one.
    pub(crate) fn pack(&self) -> Result<Vec<u8>> {
        let mut all = self.entries.clone();
        for path in self.entries.keys() {
            if path.is_empty() || path.split('/').any(|part| matches!(part, "" | "." | "..")) {
                bail!("{path:?} is no path inside an image");
            }
            let mut above = path.as_str();
            while let Some((parent, _)) = above.rsplit_once('/') {
                all.entry(parent.to_owned()).or_insert(Entry::Directory { mode: 0o755 });
                above = parent;
            }
        }
        let mut tar = Builder::new(Vec::new());
        for (path, entry) in &all {
            add(&mut tar, path, entry).with_context(|| format!("pack {path}"))?;
        }
        Ok(tar.into_inner()?)
    }
}

/// Appends one file to an archive of layers or blobs.
pub(super) fn add_bytes(tar: &mut Builder<Vec<u8>>, path: &str, content: &[u8], mode: u32) -> Result<()> {
    let mut header = header(EntryType::Regular, mode);
    header.set_size(u64::try_from(content.len())?);
    Ok(tar.append_data(&mut header, path, content)?)
}

fn add(tar: &mut Builder<Vec<u8>>, path: &str, entry: &Entry) -> Result<()> {
    match entry {
        Entry::Directory { mode } => {
            let mut header = header(EntryType::Directory, *mode);
            Ok(tar.append_data(&mut header, format!("{path}/"), std::io::empty())?)
        }
        Entry::Bytes { content, mode } => add_bytes(tar, path, content, *mode),
        Entry::Copy { source, mode } => {
            let content = fs::read(source).with_context(|| format!("read {}", source.display()))?;
            add_bytes(tar, path, &content, *mode)
        }
        Entry::Link { target } => Ok(tar.append_link(&mut header(EntryType::Symlink, 0o777), path, target)?),
    }
}

fn header(kind: EntryType, mode: u32) -> Header {
    let mut header = Header::new_gnu();
    header.set_entry_type(kind);
    header.set_mode(mode);
    header.set_uid(0);
    header.set_gid(0);
    header.set_mtime(0);
    header.set_size(0);
    header
}

/// The path without its leading `/`.
fn inside(path: &str) -> String {
    path.trim_matches('/').to_owned()
}

#[cfg(test)]
mod tests {
    use super::Root;

    fn listing(root: &Root) -> Vec<String> {
        let packed = root.pack().unwrap();
        let mut archive = tar::Archive::new(packed.as_slice());
        let entries = archive.entries().unwrap().map(|entry| {
            let entry = entry.unwrap();
            let header = entry.header();
            let path = entry.path().unwrap().display().to_string();
            format!("{path} {:o} {} {}", header.mode().unwrap(), header.uid().unwrap(), header.mtime().unwrap())
        });
        entries.collect()
    }

    #[test]
    fn parents_come_first_and_nothing_of_this_machine_gets_in() {
        let root = Root::default().bytes("/usr/bin/x", "x", 0o755).directory("tmp", 0o1777).link("/bin", "usr/bin");
        assert_eq!(
            listing(&root),
            ["bin 777 0 0", "tmp/ 1777 0 0", "usr/ 755 0 0", "usr/bin/ 755 0 0", "usr/bin/x 755 0 0"]
        );
    }

    #[test]
    fn the_order_of_the_calls_does_not_matter() {
        let one = Root::default().bytes("a", "1", 0o644).bytes("b", "2", 0o644);
        let two = Root::default().bytes("b", "2", 0o644).bytes("a", "1", 0o644);
        assert_eq!(one.pack().unwrap(), two.pack().unwrap());
    }

    #[test]
    fn a_path_that_leaves_the_image_is_refused() {
        let error = Root::default().bytes("/etc/../../x", "", 0o644).pack().unwrap_err();
        assert_eq!(error.to_string(), "\"etc/../../x\" is no path inside an image");
    }
}
