//! What the generators wrote down of each fixture, and the same worked out from a view of ours.

use sha2::{Digest, Sha256};

use crate::kit;

/// The cases of a set's `manifest.json`, each with the text that describes it.
pub(crate) fn recorded(manifest: &str) -> impl Iterator<Item = (&str, &str)> {
    manifest.split("\"case\": \"").skip(1).filter_map(|block| Some((block.split('"').next()?, block)))
}

/// One field of such a text, as it is written.
pub(crate) fn field<'b>(block: &'b str, name: &str) -> Option<&'b str> {
    block.split(&format!("\"{name}\": ")).nth(1).and_then(|rest| rest.split([',', '\n']).next())
}

/// The digest, in quotes, of all that a view of a fixture gives, entry by entry, as the generators compute it of what the
/// engine gives. Each key is looked up by itself too.
pub(crate) fn content_of(case: &str) -> String {
    let store = kit::store(&kit::fixture(case));
    let view = store.view().unwrap();
    let mut digest = Sha256::new();
    for entry in view.range(&[], None) {
        let (key, value) = entry.map_err(|error| format!("{case}: {error}")).unwrap();
        for bytes in [&key, &value] {
            digest.update(u32::try_from(bytes.len()).unwrap().to_le_bytes());
            digest.update(bytes);
        }
        assert_eq!(view.get(&key).unwrap().as_ref(), Some(&value), "{case}");
    }
    let hex = digest.finalize().iter().fold(String::new(), |hex, byte| hex + &format!("{byte:02x}"));
    format!("\"{hex}\"")
}
