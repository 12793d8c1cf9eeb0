//! Commands as text: which of ours exist, and how a long one is broken over lines. *No client.*

use clap::CommandFactory;

use crate::{cli::Cli, words::end_of};

/// Whether this version has a command of that name.
pub(crate) fn has(verb: &str) -> bool {
    Cli::command().find_subcommand(verb).is_some()
}

/// How the shell reads the next character.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Quoting {
    Plain,
    Single,
    Double,
}

/// Breaks a shell command over lines of at most `width` columns so that it can still be pasted: at spaces outside quotes
/// with a backslash and `indent`, and where a word is too long within it, without indent.
pub(crate) fn broken(command: &str, width: usize, indent: &str) -> Vec<String> {
    let mut lines = Vec::new();
    let mut rest = command.to_owned();
    let mut quoting = Quoting::Plain;
    let mut prefix = indent.to_owned();
    loop {
        let room = width.saturating_sub(prefix.len());
        if end_of(&rest, room) == rest.len() {
            lines.push(format!("{prefix}{rest}"));
            return lines;
        }
        // Room for the backslash, and for the quote that may have to be closed before it.
        let end = end_of(&rest, room.saturating_sub(3));
        let (cut, joint) = best_cut(&rest, end, quoting);
        let (head, tail) = rest.split_at_checked(cut).unwrap_or((&rest, ""));
        if head.is_empty() || tail.is_empty() {
            lines.push(format!("{prefix}{rest}"));
            return lines;
        }
        let after = quoting_after(head, quoting);
        let (line, next_prefix, next) = match joint {
            Joint::Space => {
                (format!("{prefix}{head} \\"), format!("{indent}  "), tail.trim_start_matches(' ').to_owned())
            }
            Joint::Word if after == Quoting::Single => {
                (format!("{prefix}{head}'\\"), String::new(), format!("'{tail}"))
            }
            Joint::Word => (format!("{prefix}{head}\\"), String::new(), tail.to_owned()),
        };
        // A quote that was closed for the joint is opened again by the next line itself.
        quoting = if joint == Joint::Word && after == Quoting::Single { Quoting::Plain } else { after };
        lines.push(line);
        prefix = next_prefix;
        rest = next;
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Joint {
    Space,
    Word,
}

/// The last space outside quotes before `end`, else a place within a word that no backslash stands before.
fn best_cut(text: &str, end: usize, quoting: Quoting) -> (usize, Joint) {
    let mut now = quoting;
    let (mut space, mut word) = (None, None);
    let mut before = ' ';
    for (at, c) in text.char_indices().take_while(|(at, _)| *at <= end) {
        if now == Quoting::Plain && c == ' ' && at > 0 && before != '\\' {
            space = Some(at);
        }
        if at > 0 && before != '\\' && before != '$' {
            word = Some(at);
        }
        now = step(now, before, c);
        before = c;
    }
    match (space, word) {
        (Some(at), _) => (at, Joint::Space),
        (None, at) => (at.unwrap_or(0), Joint::Word),
    }
}

fn quoting_after(text: &str, quoting: Quoting) -> Quoting {
    let mut before = ' ';
    text.chars().fold(quoting, |now, c| {
        let next = step(now, before, c);
        before = c;
        next
    })
}

fn step(now: Quoting, before: char, c: char) -> Quoting {
    match (now, c) {
        (Quoting::Plain, '\'') if before != '\\' => Quoting::Single,
        (Quoting::Plain, '"') if before != '\\' => Quoting::Double,
        (Quoting::Single, '\'') => Quoting::Plain,
        (Quoting::Double, '"') if before != '\\' => Quoting::Plain,
        _ => now,
    }
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    /// The words that a shell makes of a command.
    fn words(command: &str) -> String {
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
        ] {
            for width in [24, 40, 76] {
                let lines = broken(command, width, "    ");
                assert!(lines.iter().all(|line| line.chars().count() <= width), "{width}: {lines:#?}");
                let joined = lines.join("\n");
                assert_eq!(words(joined.trim_start()), words(command), "{width}:\n{joined}");
            }
        }
    }
}
