use std::{collections::BTreeSet, fmt::Write as _, fs, path::Path};

use super::{
    Reach, files,
    files::MACHINE_EVENTS,
    install::{Part, parts},
    rights,
};

fn root() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/.."))
}

fn writes() -> bool {
    std::env::var_os("UPDATE_DOCS").is_some()
}

const AGAIN: &str = "is stale; write it again: UPDATE_DOCS=1 cargo test -p testbed rights";

/// `UPDATE_DOCS=1` writes them again.
#[test]
fn the_committed_files_are_the_table() {
    let directory = root().join("config/rbac");
    for file in files::files() {
        let path = directory.join(file.name);
        if writes() {
            fs::write(&path, &file.text).expect("config/rbac/ can be written to");
        }
        assert!(fs::read_to_string(&path).unwrap_or_default() == file.text, "config/rbac/{} {AGAIN}", file.name);
    }
    let there: BTreeSet<String> = fs::read_dir(&directory)
        .expect("config/rbac")
        .map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned())
        .collect();
    let written: BTreeSet<String> = files::files().into_iter().map(|file| file.name.to_owned()).collect();
    assert_eq!(there, written, "a file that nobody writes");
}

#[test]
fn the_page_has_the_table() {
    let path = root().join("docs/operator.md");
    let page = fs::read_to_string(&path).expect("docs/operator.md");
    let begin = page.find("| API group |").expect("the table of rights");
    let (before, rest) = page.split_at(begin);
    let end = rest.find("\n\n").expect("its end") + 1;
    let (written, after) = rest.split_at(end);
    if writes() {
        fs::write(&path, format!("{before}{}{after}", table())).expect("docs/operator.md can be written to");
        return;
    }
    assert!(written == table(), "docs/operator.md {AGAIN}");
}

/// What an operator must never be able to do, whoever extends the table.
#[test]
fn no_right_reaches_further_than_our_own_objects() {
    for right in rights() {
        let all = right.verbs.contains(&"*") || right.group == "*" || right.resource == "*";
        assert!(!all, "{right:?}");
        assert!(!["secrets", "configmaps", "pods/exec"].contains(&right.resource), "{right:?}");
        let writes = right.verbs.iter().any(|verb| !["get", "list", "watch"].contains(verb));
        let may = matches!(
            (right.group, right.resource),
            ("loopbreaker.dev" | "batch" | "events.k8s.io" | "coordination.k8s.io", _)
        );
        assert!(!writes || may || right.reach == Reach::Copies, "{right:?}");
    }
}

#[test]
fn each_file_is_read_as_what_an_api_server_takes() {
    let of = |name: &str| {
        let file = files::files().into_iter().find(|file| file.name == name).expect("a file");
        parts(&file.text).expect("objects").iter().map(Part::kind).collect::<Vec<_>>().join(" ")
    };
    assert_eq!(of("account.yaml"), "ServiceAccount Role RoleBinding");
    assert_eq!(of("cluster-wide.yaml"), "ClusterRole ClusterRoleBinding");
    assert_eq!(of("copies-cluster-wide.yaml"), "ClusterRole ClusterRoleBinding");
    assert_eq!(of("one-namespace.yaml"), "Role RoleBinding");
    assert_eq!(of("copies-one-namespace.yaml"), "Role RoleBinding");
    assert_eq!(of("machines.yaml"), "ClusterRole ClusterRoleBinding Role RoleBinding");
    assert_eq!(of("inspector.yaml"), "ServiceAccount");
}

/// The rows of docs/operator.md.
fn table() -> String {
    let mut text = String::from("| API group | resource | verbs | where | for |\n|---|---|---|---|---|\n");
    for right in rights() {
        let group = if right.group.is_empty() { "core".to_owned() } else { format!("`{}`", right.group) };
        let place = match right.reach {
            Reach::Watched => "watched namespaces".to_owned(),
            Reach::Copies => "the same, for copies".to_owned(),
            Reach::Machines => "cluster".to_owned(),
            Reach::MachineEvents => format!("namespace `{MACHINE_EVENTS}`"),
            Reach::Own => "own namespace".to_owned(),
        };
        let named = right.name.map(|name| format!(" named `{name}`")).unwrap_or_default();
        let verbs = right.verbs.join(", ");
        let _ = writeln!(text, "| {group} | `{}`{named} | {verbs} | {place} | {} |", right.resource, right.purpose);
    }
    text
}
