//! The recorded requests of `testbed/conformance`, played to the simulated cluster: it answers as the real one did, apart
//! from what [`LEFT_OUT`] lists with a reason.
#![expect(clippy::expect_used, reason = "what is shared by tests is test code too")]

#[path = "../../../testbed/src/conformance.rs"]
mod player;

use std::{collections::BTreeSet, fs, path::Path, time::Duration};

use player::{Names, Player};
use serde_json::{Value, json};
use simcluster::World;

/// File, step and place where the simulator differs, and why that is left so.
const LEFT_OUT: &[(&str, &str, &str, &str)] = &[
    ("deletes", "another version", "/body/message", "the number in the message is a version here and masked there"),
    ("deletes", "", "/body/details/group", "an empty group is written out"),
    ("deletes", "too late for a finalizer", "/body/details/causes", "the real one says the same cause twice"),
    (
        "deletes",
        "",
        "/body/metadata/resourceVersion",
        "taking off the last finalizer stores once more before the object goes",
    ),
    ("deletes", "the dependent has no owner", "", "an empty list of owners stays where the real one drops the field"),
    ("jobs", "a rehearsal", "/body//status", "an empty status is not written out"),
    (
        "jobs",
        "made, to wait",
        "/body//spec/template/metadata/labels/controller-uid",
        "the older of the two labels is not written",
    ),
    ("objects", "a kind that is not served", "/body", "the real one answers in plain text; clients read the code"),
    ("objects", "no name at all", "/body/details/name", "an empty name is written out"),
    (
        "objects",
        "a version at creation",
        "",
        "the real one fails with 500 where it should refuse; no caller of ours sets it",
    ),
    ("objects", "another kind in the body", "/body/message", "the real one describes its decoder"),
    ("objects", "replaced as another object", "/body/message", "the real one names its key in etcd"),
    ("objects", "a verb that the place does not know", "/body/details", "an empty object"),
    ("patches", "merged with another UID", "/body/details/causes", "the real one says the same cause twice"),
    (
        "patches",
        "a JSON patch that replaces what is not there",
        "",
        "refused as the standard says; the real one adds the field. Ours never does so",
    ),
    (
        "patches",
        "a JSON patch that removes what is not there",
        "",
        "refused as the standard says; the real one accepts. Ours never does so",
    ),
    ("patches", "a JSON patch that is none", "/body/message", "the real one describes its decoder"),
    ("patches", "", "/body/metadata/resourceVersion", "follows from the two patches before"),
    ("patches", "", "/body/metadata/finalizers", "a merged list keeps its order and stays when it is empty"),
    ("patches", "a type that is no patch", "/body", "code and reason are the same, the words are not"),
    ("patches", "a new name by patch", "", "the name is kept instead of refused"),
    ("snapshots", "ready", "/body//metadata/finalizers", "the order of two finalizers"),
    ("snapshots", "a claim of it", "/body//spec/dataSourceRef", "the copy of dataSource is not written"),
    ("statefulsets", "made", "/body//spec", "defaults that no model reads"),
    ("statefulsets", "its first pod runs", "/body//", "fields that no model reads"),
    ("statefulsets", "a field that stands", "", "fields of a StatefulSet that stand are not guarded"),
    ("statefulsets", "fewer", "/body//metadata/generation", "follows from the step before"),
];

fn names() -> Names {
    [("namespace", "conformance"), ("class", "standard"), ("snapshots", "standard"), ("image", "chain:1")]
        .into_iter()
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .collect()
}

/// Places where two answers differ.
fn differences(real: &Value, simulated: &Value, place: &str, found: &mut Vec<String>) {
    match (real, simulated) {
        (Value::Object(one), Value::Object(two)) => {
            for name in one.keys().chain(two.keys()).collect::<BTreeSet<_>>() {
                let (one, two) = (one.get(name).unwrap_or(&Value::Null), two.get(name).unwrap_or(&Value::Null));
                differences(one, two, &format!("{place}/{name}"), found);
            }
        }
        (Value::Array(one), Value::Array(two)) if one.len() == two.len() => {
            for (at, (one, two)) in one.iter().zip(two).enumerate() {
                differences(one, two, &format!("{place}/{at}"), found);
            }
        }
        _ if real == simulated => {}
        _ => found.push(format!("{place}: real {real}, simulated {simulated}")),
    }
}

async fn replay(file: &str, recording: &Value) -> Vec<String> {
    let world = World::new(1);
    world.namespace("conformance");
    let mut player = Player::new(world.plain_client_of("system:admin"), names());
    let mut found = Vec::new();
    for step in recording["steps"].as_array().expect("steps") {
        if step.get("forget").is_some() {
            world.compact();
        }
        let about = step["about"].as_str().expect("about");
        let told = match player.play(step).await {
            Ok(told) => told,
            Err(why) => json!({ "code": why }),
        };
        let mut places = Vec::new();
        differences(&step["told"], &told, "", &mut places);
        let listed = |place: &String| {
            LEFT_OUT.iter().any(|(where_to, at, begin, _)| {
                (*where_to == file || where_to.is_empty())
                    && (*at == about || at.is_empty())
                    && place.starts_with(begin)
            })
        };
        found
            .extend(places.into_iter().filter(|place| !listed(place)).map(|place| format!("{file}, {about}: {place}")));
        world.run_for(Duration::from_millis(500)).await;
    }
    found
}

#[test]
fn the_simulated_cluster_answers_as_the_real_one_did() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testbed/conformance");
    let files: BTreeSet<_> =
        fs::read_dir(folder).expect("recordings").map(|entry| entry.expect("a file").path()).collect();
    assert!(files.len() >= 8, "{files:?}");
    let mut found = Vec::new();
    for file in files {
        let recording: Value = serde_json::from_str(&fs::read_to_string(&file).expect("text")).expect("a recording");
        let name = file.file_stem().and_then(|name| name.to_str()).expect("a name").to_owned();
        found.extend(simcluster::simulate(replay(&name, &recording)).expect("a runtime"));
    }
    assert!(found.is_empty(), "{} differences:\n{}", found.len(), found.join("\n"));
}
