//! Whether the objects clear a node of signing. *No client.* Keeps P10.

use diagnosis::{Observation, SigningRisk};

use crate::{Scene, circumstances::full_node};

/// P10: only a remote signer can be told from objects; everything else stays unknown, which refuses.
pub(crate) fn signing(scene: &Scene, pod: &Observation) -> SigningRisk {
    let node_type = match full_node(scene, pod) {
        // The owner's own word; the pod may still carry the label of an older one.
        Some(owner) => owner.spec.r#type.as_deref(),
        None => pod.node_type.as_deref().filter(|_| is_of_cosmos_operator(pod)),
    };
    let listens = pod.node_container().is_some_and(|node| listens_for_a_signer(&node.command_line));
    if node_type == Some("Sentry") || listens { SigningRisk::NeverSigns } else { SigningRisk::Unknown }
}

fn is_of_cosmos_operator(pod: &Observation) -> bool {
    pod.owner.as_ref().is_some_and(|owner| owner.kind == "CosmosFullNode")
}

/// Programs that read their arguments as a script, or put others in their place: what the node gets is not written here.
const INTERPRETERS: [&str; 12] =
    ["sh", "bash", "ash", "dash", "zsh", "ksh", "fish", "busybox", "env", "xargs", "python3", "perl"];

/// Flags of a node that take no value; after any other the next word is its value, whatever it looks like.
const SWITCHES: [&str; 2] = ["--trace", "--x-crisis-skip-assert-invariants"];

/// `start … --priv_validator_laddr tcp://…`, with `=` or with dashes, word for word as the node gets it: no shell, no
/// variable, and an address each time the flag is given, for the last one counts.
fn listens_for_a_signer(command_line: &[String]) -> bool {
    let program = |word: &str| word.rsplit('/').next().unwrap_or_default().to_owned();
    let interpreted = |word: &String| word == "-c" || INTERPRETERS.contains(&program(word).as_str());
    if command_line.iter().any(|word| word.contains('$') || interpreted(word)) {
        return false;
    }
    let Some(start) = command_line.iter().position(|word| word == "start") else { return false };
    // Behind a bare `--` nothing is a flag any more.
    let words: Vec<&str> =
        command_line.iter().skip(start).map(String::as_str).take_while(|word| *word != "--").collect();
    let addresses: Vec<&str> = words
        .iter()
        .enumerate()
        .filter_map(|(index, word)| {
            let (flag, value) = word.split_once('=').map_or((*word, None), |(flag, value)| (flag, Some(value)));
            let is_ours = flag.replace('-', "_") == "__priv_validator_laddr";
            is_ours.then(|| {
                let before = index.checked_sub(1).and_then(|before| words.get(before)).copied().unwrap_or_default();
                let free = !before.starts_with('-') || before.contains('=') || SWITCHES.contains(&before);
                let value = value.or_else(|| words.get(index + 1).copied()).unwrap_or_default();
                if free { value } else { "" }
            })
        })
        .collect();
    !addresses.is_empty() && addresses.iter().all(|address| is_address(address))
}

/// An address in full: a scheme that CometBFT listens on, and something behind it.
fn is_address(value: &str) -> bool {
    let place = value.strip_prefix("tcp://").or_else(|| value.strip_prefix("unix://")).unwrap_or_default();
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | ':' | '/' | '-' | '_' | '[' | ']');
    !place.is_empty() && place.chars().all(plain)
}
