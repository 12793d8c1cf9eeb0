//! `peers.json`: one sound set of samples, one change each.

use diagnosis::{AppHashQuestion, Height, Siblings};

use super::*;

/// `gaia-1` and `gaia-2` advance; the victim `gaia-0` stands at 100. All run one image.
fn samples() -> Vec<Value> {
    let sample = |pod: &str, second: u32, height: u64| {
        json!({"pod": pod, "image_id": "ghcr.io/gaia@sha256:11", "time": format!("2026-01-05T10:40:{second:02}Z"), "height": height,
            "earliest_height": 1, "catching_up": false})
    };
    vec![
        sample("gaia-1", 0, 500),
        sample("gaia-1", 30, 505),
        sample("gaia-2", 0, 499),
        sample("gaia-2", 30, 504),
        sample("gaia-0", 0, 100),
    ]
}

fn siblings_of(samples: &[Value]) -> Siblings {
    let folder =
        Folder::new().with_object("pod", &sick("gaia-0")).with("peers.json", Value::from(samples.to_vec()).to_string());
    assert_eq!(folder.notes(), Vec::<String>::new());
    folder.bundle().subjects(None).expect("subjects")[0].siblings()
}

fn changed(change: impl Fn(&mut Value)) -> Siblings {
    let mut all = samples();
    all.iter_mut().filter(|sample| sample["pod"] != "gaia-0").for_each(change);
    siblings_of(&all)
}

fn advancing(count: u32, height: u64, app_hash: AppHashQuestion) -> Siblings {
    Siblings::Advancing { count, height: Height(height), app_hash }
}

#[test]
fn the_sound_set() {
    assert_eq!(siblings_of(&samples()), advancing(2, 505, AppHashQuestion::SameImagePasses));
}

#[test]
fn the_victim_does_not_count() {
    let mut only_the_victim = samples();
    for sample in &mut only_the_victim {
        sample["pod"] = json!("gaia-0");
    }
    assert_eq!(siblings_of(&only_the_victim), Siblings::Unknown);
    for sample in &mut only_the_victim {
        sample["pod"] = json!("cosmos/gaia-0");
    }
    assert_eq!(siblings_of(&only_the_victim), Siblings::Unknown);
}

#[test]
fn who_advances() {
    let one_sample: Vec<Value> =
        samples().into_iter().filter(|sample| sample["time"] == "2026-01-05T10:40:00Z").collect();
    assert_eq!(siblings_of(&one_sample), Siblings::Unknown, "one sample shows no advance");
    assert_eq!(changed(|sample| sample["height"] = json!(500)), Siblings::Halted { height: Height(500) });
    assert_eq!(changed(|sample| sample["catching_up"] = json!(true)), Siblings::Unknown, "they only follow");
    let behind = changed(|sample| sample["height"] = json!(sample["height"].as_u64().unwrap_or(0) - 450));
    assert_eq!(behind, Siblings::Unknown, "behind the victim");
    let text = changed(|sample| sample["height"] = json!(sample["height"].to_string()));
    assert_eq!(text, advancing(2, 505, AppHashQuestion::SameImagePasses), "heights as CometBFT writes them");
    let hasty = changed(|sample| {
        sample["height"] = json!(500);
        if sample["time"] == "2026-01-05T10:40:30Z" {
            sample["time"] = json!("2026-01-05T10:40:05Z");
        }
    });
    assert_eq!(hasty, Siblings::Unknown, "five seconds show no halt");
    let mut reversed = samples();
    reversed.reverse();
    assert_eq!(
        siblings_of(&reversed),
        advancing(2, 505, AppHashQuestion::SameImagePasses),
        "times decide, not the order"
    );
    let mut one_stands = samples();
    one_stands[3]["height"] = json!(499);
    assert_eq!(siblings_of(&one_stands), advancing(1, 505, AppHashQuestion::SameImagePasses));
}

#[test]
fn does_the_same_image_pass() {
    let app_hash = |siblings| match siblings {
        Siblings::Advancing { app_hash, .. } => app_hash,
        other => panic!("{other:?}"),
    };
    let other_image = changed(|sample| sample["image_id"] = json!("ghcr.io/gaia@sha256:22"));
    assert_eq!(app_hash(other_image), AppHashQuestion::SameImageDoesNot);
    let of_another_sort = changed(|sample| sample["image_id"] = json!("sha256:22"));
    assert_eq!(
        app_hash(of_another_sort),
        AppHashQuestion::Unknown,
        "a configuration's digest compares with no manifest's"
    );
    let none = changed(|sample| sample["image_id"] = json!(""));
    assert_eq!(app_hash(none), AppHashQuestion::Unknown);
    let synced_above = changed(|sample| sample["earliest_height"] = json!(400));
    assert_eq!(app_hash(synced_above), AppHashQuestion::Unknown, "they never made that block");
    let pulled = changed(|sample| sample["image_id"] = json!("docker-pullable://mirror.example/gaia@sha256:11"));
    assert_eq!(app_hash(pulled), AppHashQuestion::SameImagePasses, "the digest counts");
    let mut height_unknown = samples();
    height_unknown.pop();
    assert_eq!(app_hash(siblings_of(&height_unknown)), AppHashQuestion::Unknown);
}

#[test]
fn digests_and_heights_out_of_the_objects() {
    let mut bare: Vec<Value> = samples();
    bare.pop();
    for sample in &mut bare {
        sample["image_id"] = Value::Null;
    }
    let folder = Folder::new()
        .with_object("0", &sick("gaia-0"))
        .with_object("1", &well("gaia-1"))
        .with_object("owner", &owner())
        .with("peers.json", Value::from(bare).to_string());
    let bundle = folder.bundle();
    assert_eq!(
        bundle.subjects(None).expect("subjects")[0].siblings(),
        advancing(2, 505, AppHashQuestion::SameImagePasses)
    );
    assert_eq!(
        (bundle.scene.peers.len(), bundle.scene.peers[0].version.clone(), bundle.scene.peers[0].app_hash.clone()),
        (4, None, None)
    );
}

#[test]
fn the_owners_heights_alone_show_no_advance() {
    let folder = Folder::new().with_object("0", &sick("gaia-0")).with_object("owner", &owner());
    assert_eq!(folder.bundle().subjects(None).expect("subjects")[0].siblings(), Siblings::Unknown);
}

#[test]
fn broken_samples() {
    let folder =
        Folder::new().with("peers.json", r#"[{"pod":"a","height":1},{"height":2},{"pod":"b","height":"x"},7]"#);
    assert_eq!(
        folder.notes(),
        [
            "peers.json, document 1, item 2: skipped, cannot be read: the sample names no pod",
            "peers.json, document 1, item 3: skipped, cannot be read: a height is a whole number, plain or in quotes",
            "peers.json, document 1, item 4: skipped, cannot be read: invalid type: integer `7`, expected struct Sample",
        ]
    );
    assert_eq!(folder.bundle().scene.peers.len(), 1);
    assert_eq!(
        Folder::new().with("peers.json", "{}").notes(),
        ["peers.json, document 1: skipped, cannot be read: expected a JSON array of samples"]
    );
}
