//! The files of `config/rbac/`, written from the table.

use std::fmt::Write as _;

use super::{Reach, Right, rights};

/// The operator's own namespace, its service account and its roles in the files.
pub(super) const NAME: &str = "loopbreaker";
/// Where the API server keeps Events about machines.
pub(super) const MACHINE_EVENTS: &str = "default";

/// A file, as it is shipped.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct File {
    pub(super) name: &'static str,
    pub(super) text: String,
}

/// All of them, in the order in which docs/operator.md names them.
pub(super) fn files() -> Vec<File> {
    vec![
        File { name: "account.yaml", text: account() },
        File { name: "cluster-wide.yaml", text: cluster_wide() },
        File { name: "copies-cluster-wide.yaml", text: copies_cluster_wide() },
        File { name: "one-namespace.yaml", text: one_namespace() },
        File { name: "copies-one-namespace.yaml", text: copies_one_namespace() },
        File { name: "machines.yaml", text: machines() },
        File { name: "inspector.yaml", text: inspector() },
    ]
}

fn account() -> String {
    let mut text = head(
        "Who the operator is, and its Lease, in its own namespace. Always needed, beside cluster-wide.yaml or one-namespace.yaml.",
    );
    text.push_str(&format_account(NAME, Some(NAME), Token::IfAsked));
    text.push_str(&role("Role", "loopbreaker-lease", Some(NAME), &[Reach::Own]));
    text.push_str(&binding("Role", "loopbreaker-lease", Some(NAME)));
    text
}

fn cluster_wide() -> String {
    let mut text =
        head("What the operator may do where it watches all namespaces. It reads no Secret and no ConfigMap.");
    text.push_str(&role("ClusterRole", NAME, None, &[Reach::Watched, Reach::Machines]));
    text.push_str(&binding("ClusterRole", NAME, None));
    text
}

fn copies_cluster_wide() -> String {
    let mut text = head(
        "Only where a policy lets volumes be inspected on a snapshot, beside cluster-wide.yaml: snapshots and claims of our own.",
    );
    text.push_str(&role("ClusterRole", "loopbreaker-copies", None, &[Reach::Copies]));
    text.push_str(&binding("ClusterRole", "loopbreaker-copies", None));
    text
}

fn one_namespace() -> String {
    let mut text = head(
        "What an operator with --watch-namespace NS may do, instead of cluster-wide.yaml: kubectl apply -n NS -f this file.",
    );
    text.push_str(&role("Role", NAME, None, &[Reach::Watched]));
    text.push_str(&binding("Role", NAME, None));
    text
}

fn copies_one_namespace() -> String {
    let mut text = head(
        "Only where a policy lets volumes be inspected on a snapshot, beside one-namespace.yaml: kubectl apply -n NS -f this file.",
    );
    text.push_str(&role("Role", "loopbreaker-copies", None, &[Reach::Copies]));
    text.push_str(&binding("Role", "loopbreaker-copies", None));
    text
}

fn machines() -> String {
    let mut text = head(
        "Beside one-namespace.yaml: machines belong to no namespace. Without it each record says that their health is not known.",
    );
    text.push_str(&role("ClusterRole", "loopbreaker-machines", None, &[Reach::Machines]));
    text.push_str(&binding("ClusterRole", "loopbreaker-machines", None));
    text.push_str(&role("Role", "loopbreaker-machines", Some(MACHINE_EVENTS), &[Reach::MachineEvents]));
    text.push_str(&binding("Role", "loopbreaker-machines", Some(MACHINE_EVENTS)));
    text
}

fn inspector() -> String {
    let mut text = head(
        "The account of inspector Jobs (--inspector-service-account): no right, no token. kubectl apply -n NS -f this file, NS of the nodes.",
    );
    text.push_str(&format_account("loopbreaker-inspector", None, Token::Never));
    text
}

/// Whether pods of an account are given its token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Token {
    IfAsked,
    Never,
}

fn head(what: &str) -> String {
    format!("# {what}\n")
}

fn metadata(name: &str, namespace: Option<&str>) -> String {
    let namespace = namespace.map(|namespace| format!("  namespace: {namespace}\n")).unwrap_or_default();
    format!("metadata:\n  name: {name}\n{namespace}  labels:\n    app.kubernetes.io/name: loopbreaker\n")
}

fn format_account(name: &str, namespace: Option<&str>, token: Token) -> String {
    let token = match token {
        Token::IfAsked => "",
        Token::Never => "automountServiceAccountToken: false\n",
    };
    format!("---\napiVersion: v1\nkind: ServiceAccount\n{}{token}", metadata(name, namespace))
}

fn role(kind: &str, name: &str, namespace: Option<&str>, reaches: &[Reach]) -> String {
    let mut text =
        format!("---\napiVersion: rbac.authorization.k8s.io/v1\nkind: {kind}\n{}rules:\n", metadata(name, namespace));
    for right in rights().iter().filter(|right| reaches.contains(&right.reach)) {
        text.push_str(&rule(right));
    }
    text
}

fn rule(right: &Right) -> String {
    let group = if right.group.is_empty() { "\"\"" } else { right.group };
    let mut text = format!("  # {}\n  - apiGroups: [{group}]\n    resources: [{}]\n", right.purpose, right.resource);
    if let Some(name) = right.name {
        // Writing into memory does not fail.
        let _ = writeln!(text, "    resourceNames: [{name}]");
    }
    let _ = writeln!(text, "    verbs: [{}]", right.verbs.join(", "));
    text
}

/// Gives a role to the operator's account.
fn binding(kind: &str, name: &str, namespace: Option<&str>) -> String {
    format!(
        "---\napiVersion: rbac.authorization.k8s.io/v1\nkind: {kind}Binding\n{}roleRef:\n  apiGroup: rbac.authorization.k8s.io\n  \
         kind: {kind}\n  name: {name}\nsubjects:\n  - kind: ServiceAccount\n    name: {NAME}\n    namespace: {NAME}\n",
        metadata(name, namespace)
    )
}
