//! What a read returns: one object, a list in pages, the begin of a watch. *No client.*

use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};

use super::{
    Reply, Server,
    call::Call,
    refusal::Refusal,
    resource::Resource,
    selector::Selector,
    store::{Change, Event, Key, Objects, in_kind},
};
use crate::object::put;

/// A watch that was asked for.
#[derive(Debug, Clone)]
pub(crate) struct Watch {
    pub(crate) resource: super::resource::ResourceName,
    pub(crate) namespace: Option<String>,
    pub(crate) selector: Selector,
    /// The version after which it begins.
    pub(crate) from: u64,
    /// What is told first, to a client that knows nothing yet.
    pub(crate) first: Vec<Arc<Value>>,
    pub(crate) bookmarks: bool,
    /// After how many seconds the server ends it.
    pub(crate) timeout: u64,
    /// For bookmarks.
    pub(crate) api_version: String,
    pub(crate) kind: String,
}

/// How long a watch lasts that does not say so.
const WATCH_SECONDS: u64 = 1800;

/// The selectors of a request.
pub(super) fn selector_of(call: &Call) -> Result<Selector, Refusal> {
    let selector = Selector::read(call.option("labelSelector"), call.option("fieldSelector"))?;
    selector.fits(&call.resource)?;
    Ok(selector)
}

impl Server {
    pub(super) fn get(&self, call: &Call, now: Timestamp) -> Result<Reply, Refusal> {
        let key = call.key();
        let object = self.store.get(&key).ok_or_else(|| Refusal::not_found(&key.resource, &key.name))?;
        match call.subresource.as_deref() {
            Some("log") => Ok(Reply::Text(self.logs.read(object, call, now)?)),
            _ => Ok(Reply::Object(200, Arc::clone(object))),
        }
    }

    /// A list; `stale` is how far behind the server's cache is, where a fault makes it so.
    pub(super) fn list(
        &self,
        call: &Call,
        kind: &Resource,
        now: Timestamp,
        stale: Option<SignedDuration>,
    ) -> Result<Reply, Refusal> {
        let selector = selector_of(call)?;
        let limit = call.option("limit").parse::<usize>().ok().filter(|limit| *limit > 0).unwrap_or(usize::MAX);
        let (version, after) = match continued(call.option("continue"))? {
            Some((version, after)) => (version, Some(after)),
            None => (self.version_to_list(call, now, stale)?, None),
        };
        let older: Objects;
        let objects = if version == self.store.version() {
            None
        } else {
            older = self.store.at(version).ok_or_else(|| Refusal::expired(version, self.store.oldest()))?;
            Some(&older)
        };
        let namespace = call.namespace.as_deref();
        let found: Vec<(&Key, &Arc<Value>)> = match objects {
            Some(objects) => in_kind(objects, &call.resource, namespace).collect(),
            None => self.store.list(&call.resource, namespace).collect(),
        };
        let place = |key: &Key| format!("{}/{}", key.namespace, key.name);
        let mut wanted: Vec<(&Key, &Arc<Value>)> =
            found.into_iter().filter(|(_, object)| selector.takes(object)).collect();
        if let Some(after) = &after {
            let begin = wanted.iter().position(|(key, _)| place(key) == *after).map_or(0, |at| at + 1);
            wanted.drain(..begin);
        }
        let rest = wanted.len().saturating_sub(limit);
        wanted.truncate(limit);
        let mut metadata = json!({"resourceVersion": version.to_string()});
        if let (true, Some((last, _))) = (rest > 0, wanted.last()) {
            put(&mut metadata, "continue", format!("{version} {}", place(last)).into());
            if selector == Selector::default() {
                put(&mut metadata, "remainingItemCount", rest.into());
            }
        }
        let items: Vec<Value> = wanted.iter().map(|(_, object)| Value::clone(object)).collect();
        Ok(Reply::Object(
            200,
            Arc::new(json!({
                "apiVersion": kind.api_version(), "kind": format!("{}List", kind.kind), "metadata": metadata, "items": items,
            })),
        ))
    }

    fn version_to_list(&self, call: &Call, now: Timestamp, stale: Option<SignedDuration>) -> Result<u64, Refusal> {
        let current = self.store.version();
        let asked = version_of(call)?;
        if asked > current {
            return Err(Refusal::too_large_version(asked, current));
        }
        if call.option("resourceVersionMatch") == "Exact" {
            return Ok(asked);
        }
        // Whoever asks for "at least this one" is never shown less, however far behind the cache is.
        let behind = stale.map(|by| self.store.version_at(now.checked_sub(by).unwrap_or(now)));
        Ok(behind.map_or(current, |behind| behind.max(asked)))
    }

    pub(super) fn watch(&self, call: &Call, kind: &Resource) -> Result<Reply, Refusal> {
        if call.is_set("sendInitialEvents") {
            let why =
                "Forbidden: sendInitialEvents is forbidden for watch unless the WatchList feature gate is enabled";
            return Err(Refusal::invalid("ListOptions", "", "sendInitialEvents", why));
        }
        let selector = selector_of(call)?;
        let asked = version_of(call)?;
        let first = if asked == 0 {
            let found = self.store.list(&call.resource, call.namespace.as_deref());
            found.filter(|(_, object)| selector.takes(object)).map(|(_, object)| Arc::clone(object)).collect()
        } else {
            Vec::new()
        };
        Ok(Reply::Watch(Box::new(Watch {
            resource: call.resource.clone(),
            namespace: call.namespace.clone(),
            selector,
            from: if asked == 0 { self.store.version() } else { asked },
            first,
            bookmarks: call.is_set("allowWatchBookmarks"),
            timeout: call.option("timeoutSeconds").parse().unwrap_or(WATCH_SECONDS),
            api_version: kind.api_version(),
            kind: kind.kind.clone(),
        })))
    }
}

impl Watch {
    /// What a change of the store means to this watch: an object that no longer fits is gone for it.
    pub(crate) fn sees(&self, event: &Event) -> Option<(&'static str, Arc<Value>)> {
        let same = event.key.resource == self.resource
            && self.namespace.as_ref().is_none_or(|namespace| *namespace == event.key.namespace);
        if !same {
            return None;
        }
        let fitted = event.before.as_ref().is_some_and(|before| self.selector.takes(before));
        let fits = event.change != Change::Deleted && self.selector.takes(&event.object);
        let what = match (fitted, fits) {
            (false, true) => "ADDED",
            (true, true) => "MODIFIED",
            (true, false) => "DELETED",
            (false, false) => return None,
        };
        Some((what, Arc::clone(&event.object)))
    }

    /// A sign of life with a version and nothing else.
    pub(crate) fn bookmark(&self, version: u64) -> Value {
        json!({
            "apiVersion": self.api_version, "kind": self.kind,
            "metadata": {"resourceVersion": version.to_string(), "creationTimestamp": null},
        })
    }
}

fn version_of(call: &Call) -> Result<u64, Refusal> {
    match call.option("resourceVersion") {
        "" => Ok(0),
        text => text.parse().map_err(|_| {
            Refusal::invalid(
                "ListOptions",
                "",
                "resourceVersion",
                &format!("Invalid value: {text:?}: strconv.ParseUint: parsing {text:?}: invalid syntax"),
            )
        }),
    }
}

fn continued(token: &str) -> Result<Option<(u64, String)>, Refusal> {
    if token.is_empty() {
        return Ok(None);
    }
    let parts = token.split_once(' ').and_then(|(version, after)| Some((version.parse().ok()?, after.to_owned())));
    parts.map(Some).ok_or_else(|| Refusal::bad_request("continue key is not valid"))
}
