//! What happened in a rehearsal, as anybody at the API server could have seen it. *No IO.* (P14)

use std::{
    collections::BTreeSet,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use jiff::{SignedDuration, Timestamp};
use serde_json::Value;
use simcluster::{Change, Event, OPERATOR, Seen, World};

use super::stage::Plan;

/// One thing that happened.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Entry {
    /// When.
    pub(super) at: Timestamp,
    /// What, in one word for scripts.
    pub(super) event: &'static str,
    /// To which replica or policy, by namespace and name.
    pub(super) subject: String,
    /// In words.
    pub(super) text: String,
}

/// All of it. Clones are the same one.
#[derive(Debug, Clone)]
pub(super) struct Timeline {
    inner: Arc<Mutex<Told>>,
}

#[derive(Debug, Default)]
struct Told {
    bundle: String,
    watched: Vec<String>,
    begins: Timestamp,
    ended: Timestamp,
    entries: Vec<Entry>,
    /// Inspectors that have not ended.
    at_work: BTreeSet<String>,
    /// The records at the end.
    records: Vec<Value>,
}

impl Timeline {
    /// Begins to watch.
    pub(super) fn watching(world: &World, plan: &Plan, policies: &[api::RecoveryPolicy]) -> Self {
        let watched = policies.iter().map(in_words).collect();
        let told = Told { bundle: plan.label.clone(), watched, begins: plan.begins, ..Told::default() };
        let timeline = Self { inner: Arc::new(Mutex::new(told)) };
        let seen_by = timeline.clone();
        world.observe(Box::new(move |seen, _| match seen {
            Seen::Event(event) => seen_by.lock().event(event),
            Seen::Request(entry, _, _) => {
                if entry.user == OPERATOR
                    && entry.place == "pods/log"
                    && entry.code == 200
                    && !is_inspector(&entry.name)
                {
                    let subject = format!("{}/{}", entry.namespace, entry.name);
                    seen_by.lock().note(entry.at, "log", subject, "its log is read".to_owned());
                }
            }
        }));
        timeline
    }

    /// When something of note last happened.
    pub(super) fn last(&self) -> Option<Timestamp> {
        let told = self.lock();
        let of_note = told.entries.iter().filter(|entry| !matches!(entry.event, "crash" | "log"));
        of_note.map(|entry| entry.at).max()
    }

    /// Whether an inspector is still at work.
    pub(super) fn is_at_work(&self) -> bool {
        !self.lock().at_work.is_empty()
    }

    /// Keeps the records as they are at the end.
    pub(super) fn end(&self, world: &World) {
        let mut told = self.lock();
        told.ended = world.now();
        told.records = world.list("recoveries.loopbreaker.dev", "");
    }

    /// The bundle's directory.
    pub(super) fn bundle(&self) -> String {
        self.lock().bundle.clone()
    }

    /// The policies in words.
    pub(super) fn watched(&self) -> Vec<String> {
        self.lock().watched.clone()
    }

    /// From when to when.
    pub(super) fn span(&self) -> (Timestamp, Timestamp) {
        let told = self.lock();
        (told.begins, told.ended)
    }

    /// In the order of time; what happened at one instant, in the order of its words.
    pub(super) fn entries(&self) -> Vec<Entry> {
        let mut entries = self.lock().entries.clone();
        entries.sort();
        // A long log is read in two pieces, and the kubelet's first answer may be that it has none yet.
        entries.dedup_by(|later, first| {
            let soon = later.at.duration_since(first.at) < SignedDuration::from_secs(10);
            soon && (later.event, &later.subject, &later.text) == (first.event, &first.subject, &first.text)
        });
        entries
    }

    /// The records at the end.
    pub(super) fn records(&self) -> Vec<Value> {
        self.lock().records.clone()
    }

    fn lock(&self) -> MutexGuard<'_, Told> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn in_words(policy: &api::RecoveryPolicy) -> String {
    let targets = policy
        .spec
        .targets
        .iter()
        .map(|target| format!("{} {}", target.kind.as_str(), target.name.as_deref().unwrap_or("by its labels")));
    let targets: Vec<String> = targets.collect();
    let name = policy.metadata.name.clone().unwrap_or_default();
    format!("policy {name} watches {} in mode {:?}", targets.join(", "), policy.spec.mode)
}

fn is_inspector(name: &str) -> bool {
    name.starts_with("lb-inspect-")
}

impl Told {
    fn note(&mut self, at: Timestamp, event: &'static str, subject: String, text: String) {
        self.entries.push(Entry { at, event, subject, text });
    }

    fn event(&mut self, event: &Event) {
        match event.key.resource.to_string().as_str() {
            "pods" if !is_inspector(&event.key.name) => self.pod(event),
            "jobs.batch" => self.job(event),
            "recoveries.loopbreaker.dev" => self.record(event),
            "events.events.k8s.io" if event.change == Change::Added => self.said(event),
            _ => {}
        }
    }

    /// A container has died once more.
    fn pod(&mut self, event: &Event) {
        let Some(before) = &event.before else { return };
        let subject = format!("{}/{}", event.key.namespace, event.key.name);
        for list in ["/status/initContainerStatuses", "/status/containerStatuses"] {
            for status in event.object.pointer(list).and_then(Value::as_array).into_iter().flatten() {
                let name = text(status, "/name");
                let ended =
                    |object: &Value, place: &str| object.pointer(place).cloned().filter(|ended| !ended.is_null());
                let Some(now) = ended(status, "/state/terminated") else { continue };
                let same = before.pointer(list).and_then(Value::as_array).into_iter().flatten();
                let same = same
                    .filter(|old| text(old, "/name") == name)
                    .any(|old| ended(old, "/state/terminated") == Some(now.clone()));
                let code = now.get("exitCode").and_then(Value::as_i64).unwrap_or_default();
                if same || (code == 0 && list.contains("init")) {
                    continue;
                }
                let restarts = status.get("restartCount").and_then(Value::as_i64).unwrap_or_default();
                let text = format!("container {name} ends with {code}, after {restarts} restarts");
                self.note(event.at, "crash", subject.clone(), text);
            }
        }
    }

    fn job(&mut self, event: &Event) {
        let name = event.key.name.clone();
        let of = text(&event.object, "/metadata/labels/loopbreaker.dev~1recovery");
        let subject = format!("{}/{of}", event.key.namespace);
        let is_over = |object: &Value| {
            let conditions = object.pointer("/status/conditions").and_then(Value::as_array);
            conditions.into_iter().flatten().any(|condition| {
                matches!(text(condition, "/type"), "Complete" | "Failed") && text(condition, "/status") == "True"
            })
        };
        match event.change {
            Change::Added => {
                self.at_work.insert(name);
                self.note(event.at, "inspector", subject, "an inspector is sent to its volume".to_owned());
            }
            Change::Modified
                if is_over(&event.object) && !event.before.as_ref().is_some_and(|before| is_over(before)) =>
            {
                self.at_work.remove(&name);
                self.note(event.at, "inspector", subject, "the inspector has ended".to_owned());
            }
            Change::Modified => {}
            Change::Deleted => {
                self.at_work.remove(&name);
                self.note(event.at, "inspector", subject, "what the inspector left is taken away".to_owned());
            }
        }
    }

    fn record(&mut self, event: &Event) {
        let subject = format!("{}/{}", event.key.namespace, event.key.name);
        let phase = text(&event.object, "/status/phase");
        let before = event.before.as_ref().map_or("", |before| text(before, "/status/phase"));
        if event.change == Change::Added {
            let pod = text(&event.object, "/spec/target/pod");
            self.note(event.at, "record", subject, format!("record opened for replica {pod}"));
        } else if phase != before && !phase.is_empty() {
            let look = event.object.pointer("/status/look/round").and_then(Value::as_u64).unwrap_or_default();
            let summary = text(&event.object, "/status/summary");
            let said = match phase {
                "Collecting" if look > 1 => format!("{phase}: it is looked at again, look {look}"),
                _ => format!("{phase}: {summary}"),
            };
            self.note(event.at, "phase", subject, said);
        }
    }

    fn said(&mut self, event: &Event) {
        if text(&event.object, "/reportingController") != "loopbreaker.dev/operator" {
            return;
        }
        let reason = text(&event.object, "/reason").to_owned();
        let about = text(&event.object, "/regarding/name").to_owned();
        let subject = format!("{}/{about}", event.key.namespace);
        self.note(event.at, "event", subject, format!("Event {reason}"));
    }
}

fn text<'o>(object: &'o Value, pointer: &str) -> &'o str {
    object.pointer(pointer).and_then(Value::as_str).unwrap_or_default()
}
