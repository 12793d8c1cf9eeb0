//! Each rule bites on a bad sample and lets a good one pass; and this repository breaks none.

use super::{Finding, Tree, documents, length, promises, purity, tree::File, wording};

/// A tree with one file.
fn one(path: &str, text: &str) -> Tree {
    of(&[(path, text)])
}

fn of(files: &[(&str, &str)]) -> Tree {
    Tree { files: files.iter().map(|(path, text)| File::new(path, (*text).to_owned())).collect() }
}

/// The lines on which a rule found something.
fn lines(found: &[Finding]) -> Vec<usize> {
    found.iter().map(|finding| finding.line).collect()
}

#[test]
fn this_repository_is_tidy() {
    let found = super::findings().unwrap();
    let report: Vec<String> = found.iter().map(ToString::to_string).collect();
    assert!(report.is_empty(), "\n{}", report.join("\n"));
}

#[test]
fn a_long_file_needs_a_reason() {
    let body = "//! One.\n".to_owned() + &"// two\n".repeat(298);
    assert!(length::files(&one("crates/a/src/b.rs", &body)).is_empty());
    let long = body.clone() + "// one more\n";
    assert_eq!(lines(&length::files(&one("crates/a/src/b.rs", &long))), [0]);
    assert!(length::files(&one("crates/a/tests/b.rs", &long)).is_empty());
    assert!(length::files(&one("crates/a/src/b/tests.rs", &long)).is_empty());
    let reason = format!("//! One.\n// tidy: long file, because it is one table.\n{long}");
    assert!(length::files(&one("crates/a/src/b.rs", &reason)).is_empty());
    let no_reason = format!("//! One.\n// tidy: long file, because \n{long}");
    assert_eq!(lines(&length::files(&one("crates/a/src/b.rs", &no_reason))), [0]);
}

#[test]
fn a_long_function_needs_a_reason() {
    let body = "{\n".to_owned() + &"    call('}', \"}\");\n".repeat(68) + "}\n";
    let long =
        |before: &str| one("crates/a/src/b.rs", &format!("//! One.\n\n{before}fn f(a: [u8; 2]) -> [u8; 3] {body}"));
    assert_eq!(lines(&length::functions(&long(""))), [3]);
    assert_eq!(lines(&length::functions(&long("const A: fn(u8) = g;\n"))), [4]);
    assert!(
        length::functions(&long("// tidy: long function, because the table has many rows.\n#[must_use]\n")).is_empty()
    );
    assert!(length::functions(&long("#[cfg(test)]\n")).is_empty());
    let short = body.replacen("    call('}', \"}\");\n", "", 1);
    assert!(length::functions(&one("crates/a/src/b.rs", &format!("fn f() {short}"))).is_empty());
}

#[test]
fn a_module_has_a_telling_name() {
    for path in ["crates/a/src/utils.rs", "crates/a/src/helpers/b.rs", "crates/a/tests/common/mod.rs"] {
        assert_eq!(lines(&wording::module_names(&one(path, ""))), [0], "{path}");
    }
    assert_eq!(lines(&wording::module_names(&one("crates/a/src/b.rs", "\nmod manager {}"))), [2]);
    assert!(wording::module_names(&one("crates/a/src/b.rs", "let common = manager(); // mod utils")).is_empty());
}

#[test]
fn a_product_file_begins_with_what_it_is() {
    assert_eq!(lines(&wording::first_lines(&one("crates/a/src/b.rs", "use std::fmt;"))), [1]);
    assert!(wording::first_lines(&one("crates/a/src/b.rs", "//! Says it.")).is_empty());
    assert!(wording::first_lines(&one("crates/a/tests/b.rs", "use std::fmt;")).is_empty());
}

#[test]
fn a_lint_is_expected_not_allowed() {
    for bad in ["#[allow(dead_code)]", "#![allow(dead_code)]", "#[cfg_attr(test, allow (dead_code))]"] {
        assert_eq!(lines(&wording::lint_exceptions(&one("crates/a/tests/b.rs", bad))), [1], "{bad}");
    }
    for good in
        ["#[expect(dead_code, reason = \"allow(x)\")]", "policy.allow(x); // #[allow(dead_code)]", "fn allow(a: u8) {}"]
    {
        assert!(wording::lint_exceptions(&one("crates/a/tests/b.rs", good)).is_empty(), "{good}");
    }
}

#[test]
fn matches_is_asserted() {
    for bad in ["fn f() { matches!(a, B(_)); }", "f();\n  !matches!(a, B);", "} matches!{a, B};"] {
        assert_eq!(wording::idle_matches(&one("crates/a/tests/b.rs", bad)).len(), 1, "{bad}");
    }
    for good in
        ["assert!(matches!(a, B(_)));", "let c = matches!(a, B);", "f(); matches!(a, B) && c;", "{ matches!(a, B) }"]
    {
        assert!(wording::idle_matches(&one("crates/a/tests/b.rs", good)).is_empty(), "{good}");
    }
}

#[test]
fn no_macro_hides_unwrap() {
    let bad = "//! A.\nmacro_rules! take { ($e:expr) => { $e.unwrap() } }";
    assert_eq!(lines(&wording::unwrapping_macros(&one("crates/a/src/b.rs", bad))), [2]);
    let good = "macro_rules! take { ($e:expr) => { $e } }\nfn f() { a.unwrap() }";
    assert!(wording::unwrapping_macros(&one("crates/a/src/b.rs", good)).is_empty());
}

#[test]
fn nothing_unfinished_is_tracked() {
    let word = concat!("TO", "DO");
    for (path, text) in [
        ("crates/a/src/b.rs", format!("// {word}: later")),
        ("docs/a.md", format!("a {word}")),
        ("crates/a/src/b.rs", concat!("fn f() { to", "do!() }").to_owned()),
        ("crates/a/src/b.rs", concat!("unimplemented", "!(\"later\")").to_owned()),
        ("crates/a/tests/b.rs", concat!("#[", "ignore = \"slow\"]").to_owned()),
    ] {
        assert_eq!(lines(&wording::unfinished_work(&one(path, &text))), [1], "{text}");
    }
    let good = format!("let a = \"{word}\"; let {word}S = 1;");
    assert!(wording::unfinished_work(&one("crates/a/src/b.rs", &good)).is_empty());
}

#[test]
fn a_pure_crate_depends_on_no_client_runtime_or_clock() {
    let names = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
    assert_eq!(purity::dependencies("diagnosis", &names(&["jiff", "tokio", "kube-core", "serde"])).len(), 2);
    assert!(purity::dependencies("diagnosis", &names(&["jiff", "kubernetes-names", "serde"])).is_empty());
    assert!(purity::dependencies("api", &names(&["kube", "kube-core", "kube-derive", "serde"])).is_empty());
    assert_eq!(purity::dependencies("scene", &names(&["kube-core", "kube-client", "kube-runtime"])).len(), 2);
}

#[test]
fn a_pure_source_names_no_clock_and_no_file() {
    for bad in [
        "use std::fs;",
        "use std::{fmt, fs::File};",
        "let a = std::net::TcpStream::connect(b);",
        "use std::time::{Duration, Instant};",
        "let now = Timestamp::now();",
    ] {
        assert_eq!(lines(&purity::sources(&one("crates/diagnosis/src/a.rs", bad))), [1], "{bad}");
        assert!(purity::sources(&one("crates/loopbreaker/src/a.rs", bad)).is_empty(), "{bad}");
        assert!(purity::sources(&one("crates/diagnosis/tests/a.rs", bad)).is_empty(), "{bad}");
    }
    for good in
        ["use std::{fmt, str::FromStr};", "let now = world.now; // std::fs", "#[cfg(test)] mod tests { use std::fs; }"]
    {
        assert!(purity::sources(&one("crates/crashlog/src/a.rs", good)).is_empty(), "{good}");
    }
}

#[test]
fn only_the_writer_writes_to_the_cluster() {
    for bad in [
        "claims.delete(&name, &parameters)\n    .await?;",
        "Api::<Pod>::create(&pods, &a, &pod).await",
        "let a = DeleteParams::default();",
    ] {
        assert_eq!(lines(&purity::cluster_writes(&one("crates/operator/src/collect/peers.rs", bad))), [1], "{bad}");
        assert!(purity::cluster_writes(&one("crates/operator/src/recover/act.rs", bad)).is_empty(), "{bad}");
        assert!(purity::cluster_writes(&one("crates/operator/src/lease.rs", bad)).is_empty(), "{bad}");
    }
    for good in [
        "text.replace('a', \"b\");",
        "File::options().create(true).open(path).await",
        "claims.get(&name).await",
        "create(a).await",
    ] {
        assert!(purity::cluster_writes(&one("crates/operator/src/collect/peers.rs", good)).is_empty(), "{good}");
    }
}

#[test]
fn the_entropy_hook_is_for_tests_and_alone_in_its_unsafe_code() {
    for bad in [
        "[dependencies]\nsimentropy = { workspace = true }",
        "[dependencies]\nsimentropy.workspace = true",
        "[build-dependencies]\nsimentropy = \"0.1\"",
        "[target.'cfg(unix)'.dependencies]\nsimentropy = { path = \"../simentropy\" }",
        "[package]\n[dependencies.simentropy]",
        "[dependencies]\nentropy = { package = \"simentropy\", path = \"../simentropy\" }",
    ] {
        assert_eq!(lines(&purity::entropy_hook(&one("crates/a/Cargo.toml", bad))), [2], "{bad}");
    }
    for good in [
        "[dev-dependencies]\nsimentropy = { workspace = true }",
        "[dev-dependencies.simentropy]\nworkspace = true",
        "[package]\nname = \"simentropy\"",
        "[dependencies]\nsimentropy-like = \"1\"",
    ] {
        assert!(purity::entropy_hook(&one("crates/a/Cargo.toml", good)).is_empty(), "{good}");
    }
    for bad in ["#![expect(unsafe_code, reason = \"fast\")]", "fn f() { unsafe { g() } }"] {
        assert_eq!(lines(&purity::entropy_hook(&one("crates/a/tests/b.rs", bad))), [1], "{bad}");
        assert!(purity::entropy_hook(&one("crates/simentropy/src/lib.rs", bad)).is_empty(), "{bad}");
    }
    assert!(purity::entropy_hook(&one("crates/a/src/b.rs", "//! No unsafe code.\nlet a = \"unsafe\";")).is_empty());
}

/// A page that tells every promise rightly, none of them built.
fn promises_page() -> String {
    let sections = include_str!("promises.txt").lines().filter_map(|line| line.split_once(' '));
    let section = |(number, words)| format!("## {number} Title\n\n> {words}\n\n- Status: not built yet\n");
    sections.map(section).collect::<Vec<_>>().join("\n")
}

#[test]
fn the_page_tells_every_promise_in_the_designs_words() {
    let page = promises_page();
    assert_eq!(promises::page(&one("docs/promises.md", &page)), []);
    assert_eq!(promises::page(&one("README.md", &page)).len(), 1);
    for (from, to) in [
        ("## P3 Title", "## P15 Title"),
        ("> **Undo.** The original volume is kept", "> **Undo.** The original volume may be kept"),
        ("- Status: not built yet", "- Status: soon"),
        ("- Status: not built yet", ""),
    ] {
        assert_eq!(promises::page(&one("docs/promises.md", &page.replacen(from, to, 1))).len(), 1, "{from} → {to}");
    }
}

#[test]
fn a_kept_promise_is_named_by_its_tests() {
    let kept = |tests: &str| {
        promises_page().replacen("- Status: not built yet", &format!("- Status: kept in part: more later.\n{tests}"), 1)
    };
    let page = kept("- Tests: `crates/a/src/b/tests.rs`, `crates/a/src/c.rs`");
    let with = |b: &str, c: &str| {
        of(&[("docs/promises.md", page.as_str()), ("crates/a/src/b/tests.rs", b), ("crates/a/src/c.rs", c)])
    };
    let inline = "//! C.\n#[cfg(test)]\nmod tests { /// P1: observes.\n fn a() {} }";
    assert_eq!(promises::tests(&with("fn p1_observes() {}", inline)), []);
    assert_eq!(promises::tests(&with("fn p12_observes() {}", inline)).len(), 1);
    assert_eq!(promises::tests(&with("// P1", "//! Keeps P1.")).len(), 1);
    assert_eq!(promises::tests(&one("docs/promises.md", &kept(""))).len(), 1);
}

#[test]
fn no_promise_is_invented() {
    let bad = concat!("//! Keeps P", "15.");
    assert_eq!(lines(&promises::numbers(&one("crates/a/src/b.rs", bad))), [1]);
    assert_eq!(lines(&promises::numbers(&one("docs/a.md", concat!("P2 and P", "0")))), [1]);
    assert!(promises::numbers(&one("docs/a.md", "P2, P14, P256 and p99")).is_empty());
}

#[test]
fn a_link_leads_somewhere() {
    let page = "[a](b.md) [b](../README.md#words) [c](https://example.org/x) [d](#here) `[e](none.md)`\n```\n[f](none.md)\n```\n[g](../crates/a)\n";
    let others = [("docs/b.md", ""), ("README.md", ""), ("crates/a/src/lib.rs", "")];
    let with = |page: &'static str| of(&[&[("docs/a.md", page)], &others[..]].concat());
    assert_eq!(documents::links(&with(page)), []);
    assert_eq!(lines(&documents::links(&with("\n[a](none.md)"))), [2]);
    assert_eq!(lines(&documents::links(&with("[a](../../outside.md)"))), [1]);
}

#[test]
fn no_path_of_one_machine_is_tracked() {
    let path = concat!("/wo", "rk/here");
    assert_eq!(lines(&documents::machine_paths(&one("docs/a.md", &format!("\nsee {path}")))), [2]);
    assert_eq!(
        lines(&documents::machine_paths(&one("crates/a/src/b.rs", &format!("const A: &str = \"{path}\";")))),
        [1]
    );
    assert!(documents::machine_paths(&one("docs/a.md", &format!("https://example.org{path}"))).is_empty());
    assert!(documents::machine_paths(&one("crates/a/tests/b.rs", path)).is_empty());
    assert!(
        documents::machine_paths(&one("crates/a/src/b.rs", &format!("#[cfg(test)] mod t {{ \"{path}\" }}"))).is_empty()
    );
}

#[test]
fn every_example_is_named_by_a_test() {
    let tree = |test: &str| {
        of(&[("examples/seed/objects/pod.yaml", ""), ("examples/README.md", ""), ("crates/a/tests/b.rs", test)])
    };
    assert_eq!(documents::examples(&tree("fn f() {}")).len(), 1);
    assert!(documents::examples(&tree("run(\"examples/seed\")")).is_empty());
}
