//! Turns `data/phrases.toml` into a static table, so that a typo in the data file fails the build, not a diagnosis.

use std::{collections::HashSet, env, error::Error, fmt::Write as _, fs, path::Path};

use serde::Deserialize;

#[derive(Deserialize)]
struct File {
    phrase: Vec<Entry>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    id: String,
    text: String,
    #[serde(default)]
    with: Vec<String>,
    #[serde(default)]
    without: Vec<String>,
    cause: String,
    #[serde(default)]
    also: Vec<String>,
    polarity: String,
    strength: u8,
    #[serde(default)]
    integrity: bool,
    #[serde(default)]
    whole: bool,
    emitter: Vec<String>,
    symptom: Option<String>,
    source: String,
    #[serde(rename = "sample")]
    _sample: String,
    #[serde(default, rename = "note")]
    _note: String,
}

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-changed=data/phrases.toml");
    let file: File = toml::from_str(&fs::read_to_string("data/phrases.toml")?)?;
    let mut ids = HashSet::new();
    let mut table = String::from("&[\n");
    for entry in &file.phrase {
        if !ids.insert(&entry.id) {
            return Err(format!("data/phrases.toml: id `{}` stands there twice", entry.id).into());
        }
        write_entry(&mut table, entry).map_err(|reason| format!("data/phrases.toml: `{}`: {reason}", entry.id))?;
    }
    table.push(']');
    fs::write(Path::new(&env::var("OUT_DIR")?).join("phrases.rs"), table)?;
    Ok(())
}

fn write_entry(table: &mut String, entry: &Entry) -> Result<(), String> {
    let cause = variant(&entry.cause)?;
    let also = entry.also.iter().map(|word| variant(word)).collect::<Result<Vec<_>, _>>()?.join(", ");
    let polarity = match entry.polarity.as_str() {
        "damage" if entry.integrity => "Damage(Proof::IntegrityCheck)",
        "damage" => "Damage(Proof::Words)",
        "against" if !entry.integrity => "Against",
        "benign" if !entry.integrity => "Benign",
        other => return Err(format!("polarity `{other}` (with integrity = {})", entry.integrity)),
    };
    let strength = match entry.strength {
        1 => "Hint",
        2 => "Strong",
        3 => "Decisive",
        other => return Err(format!("strength {other}")),
    };
    let mut places = Vec::new();
    for emitter in &entry.emitter {
        places.push(match emitter.as_str() {
            "panic" => "Place::Panic",
            "error" => "Place::Error",
            "log" => "Place::Log",
            "frame" => "Place::Frame",
            "os" => "Place::Os",
            "peer" => "Place::Peer",
            other => return Err(format!("emitter `{other}`")),
        });
    }
    let extent = if entry.whole { "Whole" } else { "Part" };
    let symptom = match &entry.symptom {
        Some(word) => format!("Some(Symptom::{})", variant(word)?),
        None => "None".to_owned(),
    };
    writeln!(
        table,
        "Phrase {{ id: {:?}, text: {:?}, with: &{:?}, without: &{:?}, cause: Cause::{cause}, also: &[{also}], \
         polarity: Polarity::{polarity}, strength: Strength::{strength}, places: &[{}], \
         extent: Extent::{extent}, symptom: {symptom}, source: {:?} }},",
        entry.id,
        entry.text,
        entry.with,
        entry.without,
        places.join(", "),
        entry.source,
    )
    .map_err(|error| error.to_string())
}

/// `disk_full` → `Cause::DiskFull`; the compiler then checks that it exists.
fn variant(word: &str) -> Result<String, String> {
    if word == "unknown" {
        return Err("`unknown` is no label".to_owned());
    }
    Ok(word
        .split('_')
        .filter_map(|part| {
            let mut letters = part.chars();
            letters.next().map(|first| first.to_ascii_uppercase().to_string() + letters.as_str())
        })
        .collect())
}
