//! Puts real names into the commands of an advice. *No client.*
//!
//! Names come out of foreign files and go into commands that a person will paste into a shell, so only plain ones are
//! taken; for every other the word in capitals stays.

use diagnosis::{CrashLoopReading, InstanceHistory, InstanceName, Observation, detect};

use crate::Scene;

/// What the words in capitals stand for, where it is known.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct KnownNames {
    names: Vec<(&'static str, String)>,
    /// The container that runs the node; commands that enter another replica mean this one.
    node_container: Option<String>,
}

/// Shells and supervisors: the first word of a command that is not the chain's own binary.
const WRAPPERS: [&str; 8] = ["sh", "bash", "ash", "cosmovisor", "env", "tini", "dumb-init", "loopbreaker"];

impl KnownNames {
    /// All that the objects tell.
    #[must_use]
    pub fn of(scene: &Scene, instance: &InstanceName, history: Option<&InstanceHistory>) -> Self {
        let pod = history.map(InstanceHistory::latest);
        let node = pod.and_then(Observation::node_container);
        let node_container = node.map(|node| node.name.to_string()).filter(|name| is_plain(name));
        let dying = match history.map_or(CrashLoopReading::NotRead, detect) {
            CrashLoopReading::Looping(crash_loop) => Some(crash_loop.container.to_string()),
            _ => node_container.clone(),
        };
        let words = node.map(|node| node.command_line.as_slice()).unwrap_or_default();
        let binary = words.first().and_then(|word| word.rsplit('/').next()).filter(|word| !WRAPPERS.contains(word));
        let names = [
            ("NAMESPACE", Some(instance.namespace.clone())),
            ("POD", Some(instance.name.clone())),
            ("CONTAINER", dying),
            ("CLAIM", pod.and_then(|pod| pod.data_claim.as_ref()).map(ToString::to_string)),
            ("BINARY", binary.map(str::to_owned)),
            ("HOME", home(words).map(str::to_owned)),
            ("SIBLING", pod.and_then(|pod| scene.healthy_sibling(pod)).map(|sibling| sibling.name.clone())),
        ];
        let names =
            names.into_iter().filter_map(|(word, name)| Some((word, name.filter(|name| is_plain(name))?))).collect();
        Self { names, node_container }
    }

    /// A command with the names put in.
    #[must_use]
    pub fn fill(&self, command: &str) -> String {
        let mut filled = String::with_capacity(command.len());
        let mut word = String::new();
        // One more round than there are characters, so that the last word is taken too.
        for c in command.chars().map(Some).chain([None]) {
            match c {
                Some(c) if c.is_ascii_alphanumeric() || c == '_' => word.push(c),
                _ => {
                    filled.push_str(self.name_for(&word, command).unwrap_or(&word));
                    word.clear();
                    filled.extend(c);
                }
            }
        }
        filled
    }

    fn name_for(&self, word: &str, command: &str) -> Option<&str> {
        if word == "CONTAINER" && command.contains("kubectl exec") {
            return self.node_container.as_deref();
        }
        self.names.iter().find(|(placeholder, _)| *placeholder == word).map(|(_, name)| name.as_str())
    }
}

/// The node's home directory by its arguments.
fn home(words: &[String]) -> Option<&str> {
    words
        .iter()
        .find_map(|word| word.strip_prefix("--home="))
        .or_else(|| words.iter().skip_while(|word| *word != "--home").nth(1).map(String::as_str))
}

/// Safe to paste: nothing that a shell would read as anything but a name or a path.
#[must_use]
pub fn is_plain(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '/')
        && name.len() <= 253
        && name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | '/'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn known() -> KnownNames {
        KnownNames {
            names: vec![
                ("NAMESPACE", "cosmos".to_owned()),
                ("POD", "gaia-0".to_owned()),
                ("CONTAINER", "version-check".to_owned()),
                ("CLAIM", "pvc-gaia-0".to_owned()),
            ],
            node_container: Some("node".to_owned()),
        }
    }

    #[test]
    fn only_whole_words_are_replaced() {
        for (command, filled) in [
            (
                "kubectl logs POD -n NAMESPACE -c CONTAINER --previous",
                "kubectl logs gaia-0 -n cosmos -c version-check --previous",
            ),
            ("name: CLAIM-as-found}", "name: pvc-gaia-0-as-found}"),
            ("PODS NAMESPACES POD_NAME MYPOD", "PODS NAMESPACES POD_NAME MYPOD"),
            ("BINARY query --home HOME", "BINARY query --home HOME"),
            (
                "kubectl exec -n NAMESPACE SIBLING -c CONTAINER -- true",
                "kubectl exec -n cosmos SIBLING -c node -- true",
            ),
        ] {
            assert_eq!(known().fill(command), filled);
        }
    }

    #[test]
    fn a_name_that_a_shell_would_obey_is_not_put_in() {
        for name in ["a;b", "$(b)", "a b", "-n", "`a`", "a'b", "", "a\nb", "ä"] {
            assert!(!is_plain(name), "{name:?}");
        }
        for name in ["gaia-0", "/home/operator/cosmos", "pvc-9f.3a_b"] {
            assert!(is_plain(name), "{name:?}");
        }
    }
}
