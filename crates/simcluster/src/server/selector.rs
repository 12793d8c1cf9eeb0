//! Label and field selectors of lists and watches. *No client.*

use serde_json::Value;

use super::refusal::Refusal;
use crate::object::Fields;

/// Which objects of a kind are wanted.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Selector {
    labels: Vec<LabelRule>,
    fields: Vec<(String, String, bool)>,
}

#[derive(Debug, Clone, PartialEq)]
enum LabelRule {
    In(String, Vec<String>),
    NotIn(String, Vec<String>),
    Exists(String),
    Absent(String),
}

impl Selector {
    /// Reads `labelSelector` and `fieldSelector` of a request.
    pub(crate) fn read(labels: &str, fields: &str) -> Result<Self, Refusal> {
        let mut selector = Self::default();
        for rule in split(labels) {
            selector.labels.push(
                label_rule(rule)
                    .ok_or_else(|| Refusal::bad_request(format!("unable to parse requirement: {rule:?}")))?,
            );
        }
        for rule in fields.split(',').filter(|rule| !rule.is_empty()) {
            let (field, value, wanted) = if let Some((field, value)) = rule.split_once("!=") {
                (field, value, false)
            } else {
                let (field, value) = rule.split_once("==").or_else(|| rule.split_once('=')).ok_or_else(|| {
                    Refusal::bad_request(format!("invalid selector: {rule:?}; can't understand {rule:?}"))
                })?;
                (field, value, true)
            };
            selector.fields.push((field.to_owned(), value.to_owned(), wanted));
        }
        Ok(selector)
    }

    /// Refuses a field that the API server has no index for.
    pub(crate) fn fits(&self, resource: &str) -> Result<(), Refusal> {
        for (field, ..) in &self.fields {
            let known = match resource {
                "pods" => matches!(
                    field.as_str(),
                    "spec.nodeName"
                        | "status.phase"
                        | "spec.restartPolicy"
                        | "spec.serviceAccountName"
                        | "status.podIP"
                ),
                "events" => {
                    field.starts_with("involvedObject.") || matches!(field.as_str(), "reason" | "type" | "source")
                }
                "events.events.k8s.io" => {
                    field.starts_with("regarding.") || matches!(field.as_str(), "reason" | "type")
                }
                "secrets" => field == "type",
                "jobs.batch" => field == "status.successful",
                "namespaces" => field == "status.phase",
                "nodes" => field == "spec.unschedulable",
                _ => false,
            };
            if !known && !matches!(field.as_str(), "metadata.name" | "metadata.namespace") {
                return Err(Refusal::bad_request(format!("field label not supported: {field}")));
            }
        }
        Ok(())
    }

    /// Whether an object is wanted.
    pub(crate) fn takes(&self, object: &Value) -> bool {
        let labels = object.part("/metadata/labels");
        self.labels.iter().all(|rule| rule.takes(labels))
            && self.fields.iter().all(|(field, value, wanted)| {
                let found = object.part(&format!("/{}", field.replace('.', "/")));
                (found.as_str().unwrap_or_default() == value) == *wanted
            })
    }

    /// Reads a `LabelSelector` object, as workloads carry it.
    pub(crate) fn of_object(selector: &Value) -> Self {
        let exact = selector.part("/matchLabels").as_object().into_iter().flatten();
        let mut labels: Vec<LabelRule> = exact
            .map(|(key, value)| LabelRule::In(key.clone(), vec![value.as_str().unwrap_or_default().to_owned()]))
            .collect();
        for rule in selector.items("/matchExpressions") {
            let key = rule.text("/key").to_owned();
            let values = rule.items("/values").iter().filter_map(Value::as_str).map(str::to_owned).collect();
            labels.push(match rule.text("/operator") {
                "In" => LabelRule::In(key, values),
                "NotIn" => LabelRule::NotIn(key, values),
                "Exists" => LabelRule::Exists(key),
                _ => LabelRule::Absent(key),
            });
        }
        Self { labels, fields: Vec::new() }
    }
}

impl LabelRule {
    fn takes(&self, labels: &Value) -> bool {
        let value = |key: &String| labels.get(key).and_then(Value::as_str);
        match self {
            Self::In(key, values) => value(key).is_some_and(|value| values.iter().any(|wanted| wanted == value)),
            Self::NotIn(key, values) => value(key).is_none_or(|value| values.iter().all(|other| other != value)),
            Self::Exists(key) => value(key).is_some(),
            Self::Absent(key) => value(key).is_none(),
        }
    }
}

/// Splits at commas outside parentheses.
fn split(selector: &str) -> Vec<&str> {
    let (mut depth, mut begin, mut rules) = (0_i32, 0, Vec::new());
    for (at, letter) in selector.char_indices().chain([(selector.len(), ',')]) {
        match letter {
            '(' => depth += 1,
            ')' => depth -= 1,
            ',' if depth <= 0 => {
                rules.extend(selector.get(begin..at).map(str::trim).filter(|rule| !rule.is_empty()));
                begin = at + 1;
            }
            _ => {}
        }
    }
    rules
}

fn label_rule(rule: &str) -> Option<LabelRule> {
    let set = |values: &str| -> Option<Vec<String>> {
        let inside = values.trim().strip_prefix('(')?.strip_suffix(')')?;
        Some(inside.split(',').map(|value| value.trim().to_owned()).collect())
    };
    if let Some((key, values)) = rule.split_once(" notin ") {
        return Some(LabelRule::NotIn(key.trim().to_owned(), set(values)?));
    }
    if let Some((key, values)) = rule.split_once(" in ") {
        return Some(LabelRule::In(key.trim().to_owned(), set(values)?));
    }
    if let Some((key, value)) = rule.split_once("!=") {
        return Some(LabelRule::NotIn(key.trim().to_owned(), vec![value.trim().to_owned()]));
    }
    if let Some((key, value)) = rule.split_once("==").or_else(|| rule.split_once('=')) {
        return Some(LabelRule::In(key.trim().to_owned(), vec![value.trim().to_owned()]));
    }
    let absent = rule.strip_prefix('!');
    let key = absent.unwrap_or(rule).trim();
    let plain = !key.is_empty() && !key.contains(|letter: char| letter.is_whitespace() || "()=!".contains(letter));
    plain.then(|| if absent.is_some() { LabelRule::Absent(key.to_owned()) } else { LabelRule::Exists(key.to_owned()) })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::Selector;

    #[test]
    fn label_rules() {
        let pod = json!({"metadata": {"labels": {"app": "osmo", "role": "full"}}});
        for (rule, takes) in [
            ("app=osmo", true),
            ("app==osmo,role!=full", false),
            ("app in (gaia, osmo),role", true),
            ("app notin (gaia,osmo)", false),
            ("!absent", true),
            ("absent", false),
            ("absent!=x", true),
            ("", true),
        ] {
            assert_eq!(Selector::read(rule, "").expect(rule).takes(&pod), takes, "{rule}");
        }
        assert!(Selector::read("a b", "").is_err());
    }

    #[test]
    fn field_rules() {
        let pod = json!({"metadata": {"name": "a"}, "spec": {"nodeName": "n"}, "status": {"phase": "Running"}});
        let read = |rule| Selector::read("", rule).expect(rule);
        assert!(read("metadata.name=a,spec.nodeName!=m").takes(&pod));
        assert!(!read("status.phase=Failed").takes(&pod));
        assert!(read("spec.nodeName=n").fits("pods").is_ok());
        assert!(read("spec.nodeName=n").fits("jobs.batch").is_err());
    }
}
