//! The page of figures.

use std::{collections::BTreeMap, fmt::Write as _};

use super::{compare::Class, random::Damages, walk::Walk};

/// Everything that was compared.
#[derive(Default)]
pub(super) struct Page {
    pub(super) walks: Vec<Walk>,
    pub(super) damages: Vec<Damages>,
    /// Engines that could not be asked, and why.
    pub(super) skipped: Vec<String>,
}

impl Page {
    /// Cases that must not be.
    pub(super) fn broken(&self) -> Vec<String> {
        let walks = self.walks.iter().flat_map(|walk| &walk.broken);
        walks.chain(self.damages.iter().flat_map(|damages| &damages.broken)).cloned().collect()
    }

    pub(super) fn text(&self, seed: u64) -> String {
        let mut text = format!(
            "# Agreement with the engines\n\n\
             Written by `cargo xtask agreement --seed {seed}`, which asks the real engines, at the versions of\n\
             [the fixtures](../testbed/fixtures/README.md). It ends with an error where a healthy copy is called damaged, where\n\
             an engine sees damage that we call intact, or where we see damage for a reason that nobody reviewed.\n\n\
             ## Killed at random moments\n\n\
             A writing engine is killed with kill -9, again and again on one directory; what lies there is inspected, once at\n\
             the default depth and once with `--deep`.\n\n\
             | engine | copies | intact | could not tell | damaged or inconsistent |\n|---|---|---|---|---|\n"
        );
        for walk in &self.walks {
            let untold: u64 = walk.untold.values().sum();
            let (name, broken) = (walk.engine.name(), walk.broken.len());
            let _ = writeln!(text, "| {name} | {} | {} | {untold} | {broken} |", walk.copies, walk.intact);
        }
        text.push_str(&list(
            "Why it could not be told",
            self.walks.iter().map(|walk| (walk.engine.name(), &walk.untold)),
        ));
        text.push_str(
            "\n## One random change\n\n\
             Each case is a copy of a healthy database with one change: a flipped bit (half of them), noise, zeros, a file cut or\n\
             deleted, bytes in a wrong place. We look at the default depth; the engine, with every check that it has, in a\n\
             process of its own. A *torn end* is what a write that was not finished leaves: strict engines refuse it, nodes\n\
             and we do not.\n\n\
             | engine | cases | both see | torn end | `--deep` alone | we cannot tell, they see | **only they** | only we | we cannot tell, they do not see | neither |\n\
             |---|---|---|---|---|---|---|---|---|---|\n",
        );
        for damages in &self.damages {
            let cases: u64 = damages.counts.values().sum();
            let _ = write!(text, "| {} | {cases} ", damages.engine.name());
            for class in Class::ALL {
                let _ = write!(text, "| {} ", damages.counts.get(&class).unwrap_or(&0));
            }
            text.push_str("|\n");
        }
        text.push_str("\nHow each was asked:\n\n");
        for damages in &self.damages {
            let (name, strictest) = (damages.engine.name(), damages.engine.strictest());
            let _ = writeln!(text, "- {name}: {strictest}; {} healthy databases to begin with", damages.bases);
        }
        let only_we = self.damages.iter().map(|damages| {
            let counted = damages.only_we.iter().map(|(reason, count)| ((*reason).to_owned(), *count)).collect();
            (damages.engine.name(), counted)
        });
        let only_we: Vec<(&str, BTreeMap<String, u64>)> = only_we.collect();
        text.push_str(&list("What only we see", only_we.iter().map(|(name, counted)| (*name, counted))));
        let untold = self.damages.iter().map(|damages| (damages.engine.name(), &damages.untold));
        text.push_str(&list("Why we cannot tell what they see", untold));
        let neither = self.damages.iter().map(|damages| (damages.engine.name(), &damages.neither));
        text.push_str(&list("What was changed where nobody sees anything", neither));
        if !self.skipped.is_empty() {
            text.push_str("\n## Not asked\n\n");
            for line in &self.skipped {
                let _ = writeln!(text, "- {line}");
            }
        }
        text
    }
}

/// Counted reasons of all engines; nothing where there are none.
fn list<'a>(title: &str, all: impl Iterator<Item = (&'a str, &'a BTreeMap<String, u64>)>) -> String {
    let mut rows = String::new();
    for (name, counted) in all {
        for (reason, count) in counted {
            let _ = writeln!(rows, "| {name} | {count} | {reason} |");
        }
    }
    if rows.is_empty() { rows } else { format!("\n### {title}\n\n| engine | cases | reason |\n|---|---|---|\n{rows}") }
}
