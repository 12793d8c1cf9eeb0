//! Commands as text: which of ours exist, and how a long one is broken over lines. *No client.*

use clap::CommandFactory;
use unicode_width::UnicodeWidthStr;

use crate::cli::Cli;

/// Whether this version has a command of that name.
pub(crate) fn has(verb: &str) -> bool {
    Cli::command().find_subcommand(verb).is_some()
}

/// What the shell is inside of.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Inside {
    Single,
    Double,
    /// `$(…)`, which is read like a command of its own, also within double quotes.
    Substitution,
}

/// Breaks a shell command over lines of at most `width` columns, so that it can still be pasted: only between words, each
/// line but the last ending with a backslash. A word that is too long stays whole, for a line that is too long can be
/// pasted and a broken word cannot: within quotes the line break would stay in it.
pub(crate) fn broken(command: &str, width: usize, indent: &str) -> Vec<String> {
    let mut lines = Vec::new();
    let mut line = indent.to_owned();
    let mut is_empty = true;
    let words = words(command);
    for (at, word) in words.iter().enumerate() {
        let is_last = at + 1 == words.len();
        // The last word needs no room for a backslash.
        let more = if is_last { 1 } else { 3 };
        if !is_empty && line.width() + word.width() + more > width {
            lines.push(format!("{line} \\"));
            line = format!("{indent}  ");
            is_empty = true;
        }
        if !is_empty {
            line.push(' ');
        }
        line.push_str(word);
        is_empty = false;
    }
    lines.push(line);
    lines
}

/// The pieces between the spaces at which a command may be broken: those outside quotes.
fn words(command: &str) -> Vec<&str> {
    let mut words = Vec::new();
    let mut inside: Vec<Inside> = Vec::new();
    let mut from = 0;
    let mut before = ' ';
    for (at, c) in command.char_indices() {
        let quoted = inside.iter().any(|inside| *inside != Inside::Substitution);
        if c == ' ' && before != '\\' && !quoted {
            words.push(command.get(from..at).unwrap_or_default());
            from = at + 1;
        }
        step(&mut inside, before, c);
        // A backslash that is itself escaped escapes nothing.
        before = if c == '\\' && before == '\\' { ' ' } else { c };
    }
    words.push(command.get(from..).unwrap_or_default());
    words.retain(|word| !word.is_empty());
    words
}

fn step(inside: &mut Vec<Inside>, before: char, c: char) {
    match (inside.last(), c) {
        (Some(Inside::Single), '\'') => drop(inside.pop()),
        (Some(Inside::Single), _) => {}
        (_, _) if before == '\\' => {}
        (_, '(') if before == '$' => inside.push(Inside::Substitution),
        (Some(Inside::Double), '"') | (Some(Inside::Substitution), ')') => drop(inside.pop()),
        (None | Some(Inside::Substitution), '\'') => inside.push(Inside::Single),
        (None | Some(Inside::Substitution), '"') => inside.push(Inside::Double),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    /// The words that a shell makes of a command.
    fn shell_words(command: &str) -> String {
        let output = Command::new("sh").arg("-c").arg(format!("printf '<%s>' {command}")).output().expect("a shell");
        assert!(output.status.success(), "{command}");
        String::from_utf8(output.stdout).expect("text")
    }

    #[test]
    fn a_broken_command_is_still_the_same_command() {
        for command in [
            "kubectl get pods -n a-rather-long-namespace -o wide --show-labels --sort-by=.metadata.creationTimestamp",
            "kubectl patch pv x -p '{\"spec\":{\"persistentVolumeReclaimPolicy\":\"Retain\"}}' 'second quoted word' third",
            "printf 'apiVersion: snapshot.storage.k8s.io/v1\\nkind: VolumeSnapshot\\nmetadata: {name: x}\\nspec: {source: {}}\\n'",
            "kubectl get --raw \"/api/v1/nodes/some-node-name-that-is-long/proxy/stats/summary?only_cpu_and_memory=true\" end",
            "averyveryveryveryverylongwordwithoutanyspacethatdoesnotfitatalland then some more words",
            "kubectl get --raw \"/nodes/$(echo \"two words\" 'and three')/proxy\" | cat - && echo $(echo one two three four)",
            "echo 'it'\\''s one word' \"a \\\"quoted\\\" word\" an\\ escaped\\ space '\\' 'after a backslash'",
        ] {
            for width in [24, 40, 76] {
                let lines = broken(command, width, "    ");
                let joined = lines.join("\n");
                assert_eq!(shell_words(joined.trim_start()), shell_words(command), "{width}:\n{joined}");
            }
        }
    }

    #[test]
    fn a_line_breaks_between_words_and_a_long_word_stays_whole() {
        let command = "kubectl get pod lab-0 -o jsonpath='{.status.containerStatuses[*].lastState}' -n cosmos";
        assert_eq!(
            broken(command, 30, "  "),
            [
                "  kubectl get pod lab-0 -o \\",
                "    jsonpath='{.status.containerStatuses[*].lastState}' \\",
                "    -n cosmos"
            ]
        );
        assert_eq!(broken("one two three", 15, "  "), ["  one two three"]);
        assert_eq!(broken("one two three", 14, "  "), ["  one two \\", "    three"]);
    }
}
