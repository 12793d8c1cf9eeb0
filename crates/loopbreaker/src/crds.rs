//! `loopbreaker crds`. *No client.* What is printed is what `config/crd/` holds.

use std::io::Write;

use anyhow::Context;
use clap::Args;

use crate::exit::{STDOUT_FAILED, Status};

/// Print the definitions of our own kinds, as an API server takes them
///
/// To install them, or to bring them up to date:
/// `loopbreaker crds | kubectl apply --server-side -f -`.
#[derive(Debug, Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct Arguments {}

pub(crate) fn run(_: &Arguments) -> anyhow::Result<Status> {
    let mut text = String::new();
    for crd in api::crds() {
        text.push_str("---\n");
        text.push_str(&yaml(&crd)?);
    }
    std::io::stdout().lock().write_all(text.as_bytes()).context(STDOUT_FAILED)?;
    Ok(Status::Done)
}

/// One definition, ready to be applied.
fn yaml(crd: &api::Crd) -> anyhow::Result<String> {
    serde_saphyr::to_string(&crd.definition).with_context(|| format!("{} cannot be written as YAML", crd.file))
}

#[cfg(test)]
mod tests {
    use std::{collections::BTreeSet, fs, path::Path};

    /// `config/crd/` is what this program prints, file by file. `UPDATE_DOCS=1` writes it again.
    #[test]
    fn the_committed_definitions_are_the_printed_ones() {
        let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../config/crd");
        let crds = api::crds();
        for crd in &crds {
            let path = directory.join(crd.file);
            let printed = super::yaml(crd).expect("yaml");
            if std::env::var_os("UPDATE_DOCS").is_some() {
                fs::write(&path, &printed).expect("config/crd/ can be written to");
            }
            assert!(
                fs::read_to_string(&path).unwrap_or_default() == printed,
                "config/crd/{} is stale; write it again: UPDATE_DOCS=1 cargo test -p loopbreaker definitions",
                crd.file
            );
        }
        let there: BTreeSet<String> = fs::read_dir(&directory)
            .expect("config/crd")
            .map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned())
            .collect();
        assert_eq!(there, crds.iter().map(|crd| crd.file.to_owned()).collect(), "a file that nobody prints");
    }

    #[test]
    fn a_definition_is_read_back_as_it_was() {
        for crd in api::crds() {
            let text = super::yaml(&crd).expect("yaml");
            let read: serde_json::Value = serde_saphyr::from_str(&text).expect("yaml");
            assert_eq!(read, serde_json::to_value(&crd.definition).expect("json"), "{}", crd.file);
        }
    }
}
