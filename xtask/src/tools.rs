//! The cargo plugins that `cargo xtask test` needs, at pinned versions, and the compiler for fuzzing.

use anyhow::Result;

use crate::session::{Line, Session, output_of};

/// A cargo plugin.
pub(crate) struct Tool {
    /// The crate's name; the plugin is what follows `cargo-`.
    name: &'static str,
    /// The version that the project is checked with.
    version: &'static str,
}

/// Checks licences, sources, bans and advisories of the dependencies.
pub(crate) const CARGO_DENY: Tool = Tool { name: "cargo-deny", version: "0.20.2" };
/// Builds and runs the fuzz targets.
pub(crate) const CARGO_FUZZ: Tool = Tool { name: "cargo-fuzz", version: "0.13.2" };

impl Tool {
    /// Installs the tool into cargo's own folder unless this version or a newer one is there.
    pub(crate) fn ensure(&self, session: &mut Session) -> Result<()> {
        let present = output_of(&Line::new(&format!("{} --version", self.name)));
        if present.as_deref().and_then(numbers).is_some_and(|have| Some(have) >= numbers(self.version)) {
            return Ok(());
        }
        let install = Line::new(&format!("cargo install --locked {}@{}", self.name, self.version));
        session.command(&format!("install {}", self.name), &install)
    }
}

/// The numbers of the first `1.2.3` in a text.
fn numbers(text: &str) -> Option<[u64; 3]> {
    text.split_whitespace().find_map(|word| {
        let mut parts = word.split('-').next()?.split('.').map(|part| part.parse().ok());
        Some([parts.next()??, parts.next()??, parts.next()??])
    })
}

/// How to call cargo where a sanitizer needs unstable compiler flags.
///
/// A nightly compiler takes them as it is; the stable one takes them too once it is told that it is a bootstrap.
pub(crate) fn fuzzing_cargo() -> (&'static str, Option<(&'static str, &'static str)>) {
    if output_of(&Line::new("cargo +nightly --version")).is_some() {
        ("cargo +nightly", None)
    } else {
        ("cargo", Some(("RUSTC_BOOTSTRAP", "1")))
    }
}

#[cfg(test)]
mod tests {
    use super::numbers;

    #[test]
    fn versions_are_compared_as_numbers() {
        assert_eq!(numbers("cargo-deny 0.20.2"), Some([0, 20, 2]));
        assert_eq!(numbers("1.2.3-rc.1"), Some([1, 2, 3]));
        assert_eq!(numbers("no version"), None);
        assert!(numbers("0.9.10") > numbers("0.9.9"));
    }
}
