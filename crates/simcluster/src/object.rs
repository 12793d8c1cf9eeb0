//! Objects as the API server keeps them: JSON, read by pointer. *No client.*
//!
//! Whatever is missing or of another type reads as empty, so that a model never fails on what a story or a foreign client
//! has written.

use jiff::{SignedDuration, Timestamp, tz::Offset};
use serde_json::{Map, Value};

/// Reads parts of an object by JSON pointer (RFC 6901).
pub trait Fields {
    /// The text at a place, or nothing.
    fn text(&self, pointer: &str) -> &str;
    /// The whole number at a place.
    fn number(&self, pointer: &str) -> Option<i64>;
    /// Whether `true` stands at a place.
    fn is_true(&self, pointer: &str) -> bool;
    /// The list at a place, or an empty one.
    fn items(&self, pointer: &str) -> &[Value];
    /// Whether anything but null stands at a place.
    fn has(&self, pointer: &str) -> bool;
    /// The part at a place, or null.
    fn part(&self, pointer: &str) -> &Value;
    /// `metadata.name`.
    fn name(&self) -> &str {
        self.text("/metadata/name")
    }
    /// `metadata.namespace`.
    fn namespace(&self) -> &str {
        self.text("/metadata/namespace")
    }
    /// `metadata.uid`.
    fn uid(&self) -> &str {
        self.text("/metadata/uid")
    }
    /// Whether it is on its way out.
    fn is_terminating(&self) -> bool {
        self.has("/metadata/deletionTimestamp")
    }
    /// A label's value, or nothing.
    fn label(&self, key: &str) -> &str;
    /// An annotation's value, or nothing.
    fn annotation(&self, key: &str) -> &str;
    /// The time at a place.
    fn time(&self, pointer: &str) -> Option<Timestamp> {
        self.text(pointer).parse().ok()
    }
    /// Whether a finalizer holds it.
    fn has_finalizer(&self, finalizer: &str) -> bool {
        self.items("/metadata/finalizers").iter().any(|item| item.as_str() == Some(finalizer))
    }
}

impl Fields for Value {
    fn text(&self, pointer: &str) -> &str {
        self.pointer(pointer).and_then(Value::as_str).unwrap_or_default()
    }

    fn number(&self, pointer: &str) -> Option<i64> {
        self.pointer(pointer).and_then(Value::as_i64)
    }

    fn is_true(&self, pointer: &str) -> bool {
        self.pointer(pointer).and_then(Value::as_bool).unwrap_or_default()
    }

    fn items(&self, pointer: &str) -> &[Value] {
        self.pointer(pointer).and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default()
    }

    fn has(&self, pointer: &str) -> bool {
        self.pointer(pointer).is_some_and(|value| !value.is_null())
    }

    fn part(&self, pointer: &str) -> &Value {
        static NOTHING: Value = Value::Null;
        self.pointer(pointer).unwrap_or(&NOTHING)
    }

    fn label(&self, key: &str) -> &str {
        self.part("/metadata/labels").get(key).and_then(Value::as_str).unwrap_or_default()
    }

    fn annotation(&self, key: &str) -> &str {
        self.part("/metadata/annotations").get(key).and_then(Value::as_str).unwrap_or_default()
    }
}

/// Writes a part of an object, making the objects on the way to it.
pub(crate) fn set(object: &mut Value, pointer: &str, value: Value) {
    let mut at = object;
    for step in pointer.split('/').skip(1) {
        if !at.is_object() {
            *at = Value::Object(Map::new());
        }
        let Value::Object(map) = at else { return };
        at = map.entry(step.replace("~1", "/").replace("~0", "~")).or_insert(Value::Null);
    }
    *at = value;
}

/// Sets one field of an object by its name as it stands, such as a label.
pub(crate) fn put(object: &mut Value, name: &str, value: Value) {
    if let Value::Object(map) = object {
        map.insert(name.to_owned(), value);
    }
}

/// Takes a part out of an object.
pub(crate) fn unset(object: &mut Value, pointer: &str) -> Option<Value> {
    let (parent, last) = pointer.rsplit_once('/')?;
    object.pointer_mut(parent)?.as_object_mut()?.remove(&last.replace("~1", "/").replace("~0", "~"))
}

/// Takes a finalizer out; whether it was there.
pub(crate) fn drop_finalizer(object: &mut Value, finalizer: &str) -> bool {
    let Some(list) = object.pointer_mut("/metadata/finalizers").and_then(Value::as_array_mut) else { return false };
    let before = list.len();
    list.retain(|item| item.as_str() != Some(finalizer));
    let (after, dropped) = (list.len(), list.len() < before);
    if after == 0 {
        unset(object, "/metadata/finalizers");
    }
    dropped
}

/// Puts a finalizer on; whether it was not there before.
pub(crate) fn add_finalizer(object: &mut Value, finalizer: &str) -> bool {
    if object.has_finalizer(finalizer) {
        return false;
    }
    match object.pointer_mut("/metadata/finalizers").and_then(Value::as_array_mut) {
        Some(list) => list.push(finalizer.into()),
        None => set(object, "/metadata/finalizers", vec![finalizer].into()),
    }
    true
}

/// A time as the API server writes it: whole seconds.
pub(crate) fn seconds(time: Timestamp) -> Value {
    Timestamp::from_second(time.as_second()).unwrap_or(time).to_string().into()
}

/// A time as the kubelet writes it into a log: nanoseconds.
pub(crate) fn nanoseconds(time: Timestamp) -> String {
    format!("{:.9}", time.display_with_offset(Offset::UTC)).replace("+00:00", "Z")
}

/// A time later by some whole seconds.
pub(crate) fn later(time: Timestamp, seconds: i64) -> Timestamp {
    time.checked_add(SignedDuration::from_secs(seconds)).unwrap_or(time)
}

/// Bytes in a quantity such as `10Gi` or `500M`; nothing where it is none.
pub(crate) fn bytes_of(quantity: &str) -> Option<u64> {
    let digits = quantity.find(|letter: char| !letter.is_ascii_digit() && letter != '.').unwrap_or(quantity.len());
    let (number, unit) = quantity.split_at_checked(digits)?;
    let scale: u64 = match unit {
        "" => 1,
        "k" => 1_000,
        "M" => 1_000_000,
        "G" => 1_000_000_000,
        "T" => 1_000_000_000_000,
        "Ki" => 1 << 10,
        "Mi" => 1 << 20,
        "Gi" => 1 << 30,
        "Ti" => 1 << 40,
        _ => return None,
    };
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    let whole = whole.parse::<u64>().ok()?.checked_mul(scale)?;
    let fraction = match fraction {
        "" => 0,
        digits if digits.len() > 9 => return None,
        digits => digits.parse::<u64>().ok()?.checked_mul(scale)? / 10_u64.pow(u32::try_from(digits.len()).ok()?),
    };
    whole.checked_add(fraction)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn parts_are_set_and_unset_with_escaped_keys() {
        let mut object = json!({});
        set(&mut object, "/metadata/annotations/a~1b", "x".into());
        assert_eq!(object, json!({"metadata": {"annotations": {"a/b": "x"}}}));
        assert_eq!(object.annotation("a/b"), "x");
        assert_eq!(unset(&mut object, "/metadata/annotations/a~1b"), Some("x".into()));
        assert_eq!(unset(&mut object, "/metadata/labels/c"), None);
    }

    #[test]
    fn finalizers_come_and_go() {
        let mut object = json!({"metadata": {}});
        assert!(add_finalizer(&mut object, "a"));
        assert!(!add_finalizer(&mut object, "a"));
        assert!(drop_finalizer(&mut object, "a"));
        assert!(!drop_finalizer(&mut object, "a"));
        assert_eq!(object, json!({"metadata": {}}));
    }

    #[test]
    fn quantities() {
        for (text, bytes) in
            [("10Gi", Some(10 << 30)), ("1.5Ki", Some(1536)), ("7", Some(7)), ("2G", Some(2_000_000_000))]
        {
            assert_eq!(bytes_of(text), bytes, "{text}");
        }
        for text in ["", "x", "1Zi", "99999999999Ti", "-1"] {
            assert_eq!(bytes_of(text), None, "{text}");
        }
    }

    #[test]
    fn times_as_they_are_written() {
        let time: Timestamp = "2026-12-01T00:00:01.25Z".parse().expect("a time");
        assert_eq!(seconds(time), "2026-12-01T00:00:01Z");
        assert_eq!(nanoseconds(time), "2026-12-01T00:00:01.250000000Z");
    }
}
