//! What README.md shows is what the program prints. `UPDATE_DOCS=1 cargo test -p loopbreaker readme` writes it again.

use std::fs;

use super::{root, run};

const BEGIN: &str = "<!-- output of the first command: begin -->\n```text\n";
const END: &str = "```\n<!-- output of the first command: end -->";

#[test]
fn readme_shows_what_its_first_command_prints() {
    let path = root().join("README.md");
    let readme = fs::read_to_string(&path).expect("README.md");
    let (head, rest) = readme.split_once(BEGIN).expect("the mark before the output");
    let (shown, tail) = rest.split_once(END).expect("the mark after the output");
    let printed = run(&["rehearse", "examples/cosmosfullnode-state-db"]).stdout;
    if std::env::var_os("UPDATE_DOCS").is_some() {
        fs::write(&path, format!("{head}{BEGIN}{printed}{END}{tail}")).expect("README.md can be written");
        return;
    }
    assert_eq!(shown, printed, "README.md is stale; write it again: UPDATE_DOCS=1 cargo test -p loopbreaker readme");
}
