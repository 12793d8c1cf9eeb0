//! Homes below the directory that was named: their heights and trees are read as well, or it is said that they were not.

use std::path::Path;

use chainstore::{Inspection, Options, Outcome, inspect};

use crate::companions::copy;
use crate::fixture::directory;

/// Inspects a directory in which fixtures stand at these paths; each fixture is a home.
fn inspected(homes: &[(&str, &str)]) -> Inspection {
    let above = tempfile::tempdir().unwrap();
    for (case, at) in homes {
        copy(&directory("node", case), &above.path().join(at));
    }
    inspect(above.path(), &Options::default()).unwrap()
}

#[test]
fn a_home_below_is_read_as_if_it_had_been_named() {
    for case in ["goleveldb-healthy", "goleveldb-app-ahead", "goleveldb-iavl-altered", "goleveldb-state-altered"] {
        let named = inspected(&[(case, "")]);
        for at in ["cosmos", ".gaia", "claim/cosmos"] {
            let below = inspected(&[(case, at)]);
            assert_eq!(below.outcome, named.outcome, "{case} at {at}: {:#?}", below.checks);
            let heights = |inspection: &Inspection| inspection.node.as_ref().map(|node| node.heights);
            assert_eq!(heights(&below), heights(&named), "{case} at {at}");
            let places = |inspection: &Inspection, prefix: &Path| -> Vec<_> {
                inspection.findings().map(|found| (found.kind, prefix.join(&found.file))).collect()
            };
            assert_eq!(places(&below, Path::new("")), places(&named, Path::new(at)), "{case} at {at}");
        }
    }
}

#[test]
fn of_several_nodes_none_counts_as_looked_at() {
    let both = inspected(&[("goleveldb-healthy", "one"), ("goleveldb-app-ahead", "two")]);
    assert_eq!(both.outcome, Outcome::CouldNotTell, "{:#?}", both.checks);
    let words: Vec<String> = both.checks.untold.iter().map(ToString::to_string).collect();
    for node in ["one/data", "two/data"] {
        assert!(words.iter().any(|words| words.contains(&format!("{node} were not read"))), "{words:?}");
    }
}

#[test]
fn a_copy_beside_the_data_is_no_second_node() {
    for at in ["", "cosmos"] {
        let above = tempfile::tempdir().unwrap();
        let home = above.path().join(at);
        copy(&directory("node", "goleveldb-healthy"), &home);
        copy(&directory("node", "goleveldb-app-ahead").join("data"), &home.join("data.bak"));
        let inspection = inspect(above.path(), &Options::default()).unwrap();
        assert_eq!(inspection.outcome, Outcome::Intact, "{:#?}", inspection.checks);
        assert!(inspection.node.is_some());
    }
}

#[test]
fn a_single_database_is_no_node() {
    let database = directory("node", "goleveldb-healthy").join("data/application.db");
    let inspection = inspect(&database, &Options::default()).unwrap();
    assert_eq!((inspection.outcome, inspection.node.is_some()), (Outcome::Intact, false), "{:#?}", inspection.checks);
}
