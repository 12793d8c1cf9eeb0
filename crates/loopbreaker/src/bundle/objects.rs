//! Kubernetes objects out of files. *No client.*
//!
//! What cannot be read costs only itself: it becomes a [`Note`] and the rest goes on.

use std::{collections::BTreeMap, path::Path};

use scene::{Objects, Taken, one_line};
use serde_json::Value;

use super::{Note, Passed, documents::read_documents, note::Place};

/// A `List` holds objects; a list of lists is nothing that `kubectl` prints.
const LISTS_DEEP_MAX: usize = 2;

/// Adds all objects of one file.
pub(super) fn add_file(objects: &mut Objects, file: &Path, bytes: &[u8], notes: &mut Vec<Note>) {
    let mut intake = Intake { objects, file, notes, skipped: BTreeMap::new() };
    for document in read_documents(bytes) {
        let place = Place { document: document.number, item: 0 };
        match document.content {
            Ok(value) => intake.add(value, place, LISTS_DEEP_MAX),
            Err(why) => intake.broken(place, &why),
        }
    }
    intake.finish();
}

/// All objects of one file as they stand there; what cannot be read has been told by whoever read the bundle.
pub(super) fn as_they_stand(bytes: &[u8]) -> Vec<Value> {
    let mut objects = Vec::new();
    for value in read_documents(bytes).into_iter().filter_map(|document| document.content.ok()) {
        flatten(value, LISTS_DEEP_MAX, &mut objects);
    }
    objects
}

fn flatten(mut value: Value, lists_left: usize, into: &mut Vec<Value>) {
    let kind = text(&value, "kind");
    if !kind.ends_with("List") {
        into.push(value);
        return;
    }
    let Some(Value::Array(items)) = value.get_mut("items").map(Value::take) else { return };
    let item_kind = kind.strip_suffix("List").unwrap_or_default().to_owned();
    for mut item in items.into_iter().filter(|_| lists_left > 0) {
        if let Value::Object(fields) = &mut item
            && !item_kind.is_empty()
        {
            fields.entry("kind").or_insert_with(|| item_kind.clone().into());
            fields.entry("apiVersion").or_insert_with(|| text(&value, "apiVersion").into());
        }
        flatten(item, lists_left - 1, into);
    }
}

/// One file being taken in.
struct Intake<'a> {
    objects: &'a mut Objects,
    file: &'a Path,
    notes: &'a mut Vec<Note>,
    /// Kinds passed over, with their number and the place of the first.
    skipped: BTreeMap<String, (usize, Place)>,
}

impl Intake<'_> {
    fn add(&mut self, mut value: Value, place: Place, lists_left: usize) {
        let kind = text(&value, "kind");
        if kind.ends_with("List")
            && let Some(Value::Array(items)) = value.get_mut("items").map(Value::take)
        {
            self.add_items(&value, &kind, items, place, lists_left);
            return;
        }
        match self.objects.add(value) {
            Ok(Taken::Kept) => {}
            Ok(Taken::Passed) => self.skipped.entry(one_line(&kind)).or_insert((0, place)).0 += 1,
            Err(why) => self.broken(place, &why),
        }
    }

    /// `kubectl get` prints a `List` of complete objects, the API server a `PodList` whose items leave kind and version out.
    fn add_items(&mut self, list: &Value, kind: &str, items: Vec<Value>, place: Place, lists_left: usize) {
        if lists_left == 0 {
            self.broken(place, "a list within a list within a list");
            return;
        }
        let item_kind = kind.strip_suffix("List").unwrap_or_default();
        for (index, mut item) in items.into_iter().enumerate() {
            if let Value::Object(fields) = &mut item
                && !item_kind.is_empty()
                && !fields.contains_key("kind")
            {
                fields.insert("kind".to_owned(), item_kind.into());
                fields.entry("apiVersion").or_insert_with(|| text(list, "apiVersion").into());
            }
            self.add(item, Place { item: index + 1, ..place }, lists_left - 1);
        }
    }

    fn broken(&mut self, place: Place, why: &str) {
        self.notes.push(Note::broken(self.file.to_owned(), place, why));
    }

    fn finish(self) {
        let Self { file, notes, skipped, .. } = self;
        notes.extend(skipped.into_iter().map(|(kind, (count, first))| Note {
            file: file.to_owned(),
            place: if count == 1 { first } else { Place::default() },
            what: Passed::Kind { kind, count },
        }));
    }
}

fn text(value: &Value, field: &str) -> String {
    value.get(field).and_then(Value::as_str).unwrap_or_default().to_owned()
}
