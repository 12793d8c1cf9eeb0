//! A name in a directory, held without an allocation of its own where it is short. *No files.*
//!
//! A terabyte of goleveldb has half a million names of ten bytes: as `OsString`s they would take three times the room.

use std::borrow::Borrow;
use std::cmp::Ordering;
use std::ffi::OsStr;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::ops::Deref;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// Names up to this many bytes stand in the value itself. `marker.manifest.000001.M` is 24 bytes, tables are ten.
const SHORT: usize = 22;

/// A file's name. It is read as an [`OsStr`].
#[derive(Clone)]
pub struct FileName(Held);

#[derive(Clone)]
enum Held {
    Short { length: u8, bytes: [u8; SHORT] },
    Long(Box<[u8]>),
}

impl From<&OsStr> for FileName {
    fn from(name: &OsStr) -> Self {
        let name = name.as_bytes();
        let mut bytes = [0; SHORT];
        match (bytes.get_mut(..name.len()), u8::try_from(name.len())) {
            (Some(front), Ok(length)) => {
                front.copy_from_slice(name);
                Self(Held::Short { length, bytes })
            }
            _ => Self(Held::Long(name.into())),
        }
    }
}

impl From<&str> for FileName {
    fn from(name: &str) -> Self {
        Self::from(OsStr::new(name))
    }
}

impl Deref for FileName {
    type Target = OsStr;

    fn deref(&self) -> &OsStr {
        OsStr::from_bytes(match &self.0 {
            Held::Short { length, bytes } => bytes.get(..usize::from(*length)).unwrap_or_default(),
            Held::Long(bytes) => bytes,
        })
    }
}

impl AsRef<OsStr> for FileName {
    fn as_ref(&self) -> &OsStr {
        self
    }
}

impl AsRef<Path> for FileName {
    fn as_ref(&self) -> &Path {
        Path::new(&**self)
    }
}

impl Borrow<OsStr> for FileName {
    fn borrow(&self) -> &OsStr {
        self
    }
}

impl fmt::Debug for FileName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

impl PartialEq for FileName {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

impl Eq for FileName {}

impl PartialEq<str> for FileName {
    fn eq(&self, other: &str) -> bool {
        **self == *other
    }
}

impl PartialEq<&str> for FileName {
    fn eq(&self, other: &&str) -> bool {
        **self == **other
    }
}

impl PartialOrd for FileName {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for FileName {
    fn cmp(&self, other: &Self) -> Ordering {
        (**self).cmp(&**other)
    }
}

impl Hash for FileName {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (**self).hash(state);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_every_length_come_back() {
        for length in [0, 1, SHORT - 1, SHORT, SHORT + 1, 255, 300] {
            let name = "n".repeat(length);
            assert_eq!(*FileName::from(name.as_str()), *name, "{length}");
        }
        let odd = OsStr::from_bytes(b"\xff\xfe");
        assert_eq!(&*FileName::from(odd), odd);
    }

    #[test]
    fn order_is_that_of_the_names_and_the_value_is_small() {
        let mut names = ["b", "a long name, longer than the value has room for", "000012.ldb", ""].map(FileName::from);
        names.sort();
        assert_eq!(names, ["", "000012.ldb", "a long name, longer than the value has room for", "b"]);
        assert_eq!(size_of::<FileName>(), 24);
    }
}
