//! The pure crates stay pure (no client, no runtime, no clock, no files), and the cluster is written to in one place.

use anyhow::{Context, Result};

use super::{
    Finding, Tree,
    rust::{closing, line_of, words},
};
use crate::session::{Line, output_of};

/// The crates that take values and return values.
pub(crate) const PURE: [&str; 5] = ["diagnosis", "crashlog", "evaluation", "scene", "api"];

/// Pure crates that name Kubernetes' types through kube's own.
const TYPED: [&str; 2] = ["scene", "api"];
/// The crates of kube that hold types and their derives, and neither client nor runtime.
const TYPES_OF_KUBE: [&str; 3] = ["kube", "kube-core", "kube-derive"];

/// Crates that a pure one never depends on, nor on those whose name goes on after a `-`.
const IMPURE_CRATES: [&str; 8] = ["kube", "tokio", "hyper", "reqwest", "chrono", "async-std", "mio", "rustix"];
/// Modules of `std` that reach outside.
const IMPURE_MODULES: [&str; 5] = ["fs", "net", "process", "env", "thread"];
/// Clocks: time comes in with the evidence.
const CLOCKS: [&str; 2] = ["SystemTime", "Instant"];

/// Where the Kubernetes API may be written to: the one writer, and the Lease.
const WRITERS: [&str; 2] = ["crates/operator/src/recover/act.rs", "crates/operator/src/lease.rs"];
/// The verbs, recognised by the `.await` that follows the call.
const WRITE_VERBS: [&str; 10] = [
    "create",
    "replace",
    "patch",
    "delete",
    "create_subresource",
    "replace_subresource",
    "replace_status",
    "patch_status",
    "patch_subresource",
    "delete_collection",
];
/// What every write takes, so that one that is not awaited on the spot is seen too.
const WRITE_PARAMETERS: [&str; 4] = ["PostParams", "PatchParams", "DeleteParams", "EvictParams"];

/// The packages that a package's own code is built with, however far away.
pub(crate) fn dependencies_of(package: &str) -> Result<Vec<String>> {
    let line =
        Line::new(&format!("cargo tree --locked --package {package} --edges normal --prefix none --format {{p}}"));
    let listing = output_of(&line).with_context(|| format!("`{}` failed", line.typed()))?;
    Ok(listing.lines().filter_map(|line| line.split_whitespace().next()).map(str::to_owned).collect())
}

/// A pure crate's dependency list proves that it is pure.
pub(crate) fn dependencies(package: &str, names: &[String]) -> Vec<Finding> {
    let manifest = format!("crates/{package}/Cargo.toml");
    let is_impure = |name: &&String| {
        let only_types = TYPED.contains(&package) && TYPES_OF_KUBE.contains(&name.as_str());
        !only_types
            && IMPURE_CRATES
                .iter()
                .any(|impure| name.strip_prefix(impure).is_some_and(|rest| rest.is_empty() || rest.starts_with('-')))
    };
    let mut impure: Vec<&String> = names.iter().filter(is_impure).collect();
    impure.dedup();
    impure
        .iter()
        .map(|name| Finding::new(&manifest, 0, format!("`{package}` is pure, but depends on `{name}`")))
        .collect()
}

/// A pure crate's sources name no file, no socket, no process and no clock.
pub(crate) fn sources(tree: &Tree) -> Vec<Finding> {
    let mut found = Vec::new();
    for (file, rust) in tree.product() {
        let Some(package) = PURE.iter().find(|name| file.path.starts_with(&format!("crates/{name}/src/"))) else {
            continue;
        };
        let code = rust.product.as_str();
        let modules = std_modules(code).into_iter().filter(|(_, name)| IMPURE_MODULES.contains(name));
        let clocks = CLOCKS.iter().flat_map(|name| words(code, name).map(move |at| (at, *name)));
        let now = words(code, "now")
            .filter(|at| code.get(..*at).is_some_and(|before| before.ends_with("::")))
            .map(|at| (at, "now"));
        for (at, name) in modules.chain(clocks).chain(now) {
            found.push(Finding::new(&file.path, line_of(code, at), format!("`{package}` is pure, but names `{name}`")));
        }
    }
    found
}

/// Every module that is named after `std::`, alone or in a group.
fn std_modules(code: &str) -> Vec<(usize, &str)> {
    let mut modules = Vec::new();
    for begin in words(code, "std") {
        let Some(rest) = code.get(begin + "std".len()..).and_then(|rest| rest.strip_prefix("::")) else { continue };
        let first = begin + "std::".len();
        let names = if rest.starts_with('{') {
            closing(code, first).and_then(|end| code.get(first..end))
        } else {
            code.get(first..)
        };
        let names = names.unwrap_or_default();
        if rest.starts_with('{') {
            modules
                .extend(IMPURE_MODULES.iter().flat_map(|name| words(names, name).map(move |at| (first + at, *name))));
        } else {
            let length = names.find(|letter: char| !letter.is_alphanumeric() && letter != '_').unwrap_or(names.len());
            modules.extend(names.get(..length).map(|name| (first, name)));
        }
    }
    modules
}

/// The crate that takes the place of the system's entropy: a product that was built with it would make guessable TLS keys.
const ENTROPY_HOOK: &str = "simentropy";

/// No crate depends on the entropy hook but for its tests, and nothing else asks for unsafe code.
pub(crate) fn entropy_hook(tree: &Tree) -> Vec<Finding> {
    let mut found = Vec::new();
    for file in tree.files.iter().filter(|file| file.path.ends_with("/Cargo.toml")) {
        let mut section = "";
        for (line, text) in (1..).zip(file.text.lines().map(str::trim)) {
            section = text.strip_prefix('[').and_then(|text| text.strip_suffix(']')).unwrap_or(section);
            let key = text.split(['.', '=', ' ']).next().unwrap_or_default().trim_matches('"');
            // `[dependencies]`, `[build-dependencies]`, `[target.….dependencies]`, and a table of its own below one of them.
            let (place, table) = section.split_once("dependencies.").unwrap_or((section, ""));
            let in_tests = section.contains("dev-dependencies");
            let depends = (section.ends_with("dependencies") && key == ENTROPY_HOOK)
                || (table.trim_matches('"') == ENTROPY_HOOK
                    && text.starts_with('[')
                    && !place.starts_with("workspace"));
            let renamed = section.contains("dependencies") && text.contains(&format!("package = \"{ENTROPY_HOOK}\""));
            if (depends || renamed) && !in_tests {
                let what = format!("`{ENTROPY_HOOK}` is for tests only: put it under [dev-dependencies]");
                found.push(Finding::new(&file.path, line, what));
            }
        }
    }
    let home = format!("crates/{ENTROPY_HOOK}/src/lib.rs");
    for (file, rust) in tree.rust().filter(|(file, _)| file.path != home) {
        for at in words(&rust.code, "unsafe_code").chain(words(&rust.code, "unsafe")) {
            let what = format!("unsafe code is in {home} only");
            found.push(Finding::new(&file.path, line_of(&rust.code, at), what));
        }
    }
    found
}

/// Only the one writer writes to the cluster, and the Lease is kept by its own file.
pub(crate) fn cluster_writes(tree: &Tree) -> Vec<Finding> {
    let mut found = Vec::new();
    for (file, rust) in tree.product() {
        if WRITERS.contains(&file.path.as_str()) || file.path.starts_with("xtask/") {
            continue;
        }
        let code = rust.product.as_str();
        let verbs = WRITE_VERBS.iter().flat_map(|verb| words(code, verb).map(move |at| (at, *verb)));
        let awaited = verbs.filter(|(at, verb)| is_awaited_call(code, *at, verb));
        let parameters = WRITE_PARAMETERS.iter().flat_map(|name| words(code, name).map(move |at| (at, *name)));
        for (at, name) in awaited.chain(parameters) {
            let what = format!("`{name}` writes to the cluster: only {} may", WRITERS.join(" and "));
            found.push(Finding::new(&file.path, line_of(code, at), what));
        }
    }
    found
}

fn is_awaited_call(code: &str, at: usize, verb: &str) -> bool {
    let called = code.get(..at).is_some_and(|before| before.trim_end().ends_with('.') || before.ends_with("::"));
    let open = at + verb.len();
    let after = code.get(open..).filter(|rest| rest.starts_with('(')).and_then(|_| closing(code, open));
    let rest = after.and_then(|end| code.get(end + 1..)).unwrap_or_default();
    called && rest.trim_start().starts_with(".await")
}
