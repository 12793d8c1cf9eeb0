//! From an HTTP request to a [`Call`], and what discovery answers. *No client.*
//!
//! Paths as in the API reference: `/api/v1/…` for the core group, `/apis/GROUP/VERSION/…` for the others.

use std::collections::{BTreeMap, BTreeSet};

use http::{Method, request::Parts};
use serde_json::{Value, json};

use super::{
    call::{Call, PatchKind, Verb},
    refusal::Refusal,
    resource::{Registry, Resource},
};

/// Reads a request.
pub(crate) fn read(parts: &Parts, body: &[u8], registry: &Registry) -> Result<Call, Refusal> {
    let path = parts.uri.path().trim_matches('/');
    let query = query_of(parts.uri.query().unwrap_or_default());
    let steps: Vec<&str> = path.split('/').collect();
    let (group, version, rest) = match steps.as_slice() {
        ["api", version, rest @ ..] => ("", *version, rest),
        ["apis", group, version, rest @ ..] => (*group, *version, rest),
        _ => ("", "", [].as_slice()),
    };
    let (namespace, rest) = match rest {
        ["namespaces", namespace, rest @ ..] if !rest.is_empty() && *rest != ["status"] => (Some(*namespace), rest),
        rest => (None, rest),
    };
    let [plural, object @ ..] = rest else { return looked_around(path, query) };
    let kind = registry.at(group, version, plural).ok_or_else(Refusal::no_such_kind)?;
    let (name, subresource) = match object {
        [] => (None, None),
        [name] => (Some(*name), None),
        [name, subresource] => (Some(*name), Some(*subresource)),
        _ => return Err(Refusal::no_such_kind()),
    };
    let served = match subresource {
        None => true,
        Some("status") => kind.has_status,
        Some("log") => &*kind.name == "pods" && parts.method == Method::GET,
        Some(_) => false,
    };
    if !served {
        return Err(Refusal::no_such_kind());
    }
    if namespace.is_some() != kind.namespaced && (name.is_some() || namespace.is_some()) {
        return Err(Refusal::no_such_kind());
    }
    let verb = verb_of(&parts.method, name.is_some(), query.get("watch").map(String::as_str))?;
    let content_type = parts.headers.get(http::header::CONTENT_TYPE).and_then(|value| value.to_str().ok());
    Ok(Call {
        verb,
        resource: kind.name.clone(),
        namespace: namespace.map(str::to_owned),
        name: name.map(decoded),
        subresource: subresource.map(str::to_owned),
        query,
        patch: if verb == Verb::Patch { Some(PatchKind::read(content_type.unwrap_or_default())?) } else { None },
        body: json_of(body)?,
    })
}

fn verb_of(method: &Method, has_name: bool, watch: Option<&str>) -> Result<Verb, Refusal> {
    let watches = matches!(watch, Some("true" | "1"));
    match (method.as_str(), has_name) {
        ("GET", false) if watches => Ok(Verb::Watch),
        ("GET", false) => Ok(Verb::List),
        ("GET", true) => Ok(Verb::Get),
        ("POST", false) => Ok(Verb::Create),
        ("PUT", true) => Ok(Verb::Update),
        ("PATCH", true) => Ok(Verb::Patch),
        ("DELETE", true) => Ok(Verb::Delete),
        ("DELETE", false) => Ok(Verb::DeleteCollection),
        _ => Err(Refusal::not_allowed()),
    }
}

/// A request for no object: the path travels as the name.
fn looked_around(path: &str, query: BTreeMap<String, String>) -> Result<Call, Refusal> {
    let known = matches!(path, "version" | "api" | "apis" | "livez" | "readyz" | "healthz");
    if !known && !path.starts_with("api/") && !path.starts_with("apis/") {
        return Err(Refusal::no_such_kind());
    }
    let mut call = Call::new(Verb::Discover, "", "", path);
    call.query = query;
    Ok(call)
}

fn json_of(body: &[u8]) -> Result<Value, Refusal> {
    if body.is_empty() {
        return Ok(Value::Null);
    }
    serde_json::from_slice(body).map_err(|error| Refusal::bad_request(format!("the body is no JSON: {error}")))
}

fn query_of(query: &str) -> BTreeMap<String, String> {
    query
        .split('&')
        .filter(|pair| !pair.is_empty())
        .map(|pair| pair.split_once('=').unwrap_or((pair, "")))
        .map(|(name, value)| (decoded(name), decoded(value)))
        .collect()
}

/// Percent-decoding; `+` is a blank in a query and does not occur in names.
fn decoded(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [first, after @ ..] = rest {
        let (byte, next) = match (first, after) {
            (b'%', [high, low, tail @ ..]) => match (hex(*high), hex(*low)) {
                (Some(high), Some(low)) => (high * 16 + low, tail),
                _ => (b'%', after),
            },
            (b'+', _) => (b' ', after),
            (byte, _) => (*byte, after),
        };
        bytes.push(byte);
        rest = next;
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

fn hex(digit: u8) -> Option<u8> {
    char::from(digit).to_digit(16).and_then(|digit| u8::try_from(digit).ok())
}

/// What discovery says: `/version`, `/api`, `/apis`, `/api/v1`, `/apis/GROUP`, `/apis/GROUP/VERSION`.
pub(crate) fn discovery(path: &str, registry: &Registry) -> Result<Value, Refusal> {
    let steps: Vec<&str> = path.split('/').collect();
    match steps.as_slice() {
        ["version"] => Ok(json!({
            "major": "1", "minor": "34", "gitVersion": "v1.34.4", "gitCommit": "", "gitTreeState": "clean",
            "buildDate": "2026-01-01T00:00:00Z", "goVersion": "", "compiler": "", "platform": "linux/amd64",
        })),
        ["api"] => Ok(json!({"kind": "APIVersions", "versions": ["v1"], "serverAddressByClientCIDRs": []})),
        ["apis"] => Ok(json!({"kind": "APIGroupList", "apiVersion": "v1", "groups": groups(registry)})),
        ["api", version] => resources(registry, "", version),
        ["apis", group] => {
            groups(registry).into_iter().find(|entry| entry["name"] == *group).ok_or_else(Refusal::no_such_kind)
        }
        ["apis", group, version] => resources(registry, group, version),
        _ => Ok(Value::String("ok".to_owned())),
    }
}

fn groups(registry: &Registry) -> Vec<Value> {
    let mut groups: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for kind in registry.all().filter(|kind| !kind.group.is_empty()) {
        groups.entry(kind.group.clone()).or_default().insert(kind.version.clone());
    }
    let entry = |group: &str, version: &str| json!({"groupVersion": format!("{group}/{version}"), "version": version});
    groups
        .iter()
        .map(|(group, versions)| {
            let listing: Vec<Value> = versions.iter().map(|version| entry(group, version)).collect();
            json!({"name": group, "preferredVersion": listing.last(), "versions": listing})
        })
        .collect()
}

fn resources(registry: &Registry, group: &str, version: &str) -> Result<Value, Refusal> {
    let kinds: Vec<_> = registry.all().filter(|kind| kind.group == group && kind.version == version).collect();
    let first: &Resource = kinds.first().ok_or_else(Refusal::no_such_kind)?;
    let listing: Vec<Value> = kinds.iter().flat_map(|kind| kind.discovery()).collect();
    Ok(json!({
        "kind": "APIResourceList", "apiVersion": "v1", "groupVersion": first.api_version(), "resources": listing,
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(method: &str, uri: &str) -> Result<Call, Refusal> {
        let (parts, ()) = http::Request::builder().method(method).uri(uri).body(()).expect("a request").into_parts();
        read(&parts, b"", &Registry::new())
    }

    #[test]
    fn paths() {
        let log = call("GET", "/api/v1/namespaces/a/pods/b/log?container=node&tailLines=5").expect("a log");
        assert_eq!((log.verb, log.place().as_str(), log.option("tailLines")), (Verb::Get, "pods/log", "5"));
        let namespace = call("GET", "/api/v1/namespaces/a").expect("a namespace");
        assert_eq!((&*namespace.resource, namespace.name.as_deref()), ("namespaces", Some("a")));
        let watch = call("GET", "/apis/apps/v1/statefulsets?&watch=true").expect("a watch");
        assert_eq!((watch.verb, &*watch.resource, watch.namespace), (Verb::Watch, "statefulsets.apps", None));
        let version = call("GET", "/version").expect("the version");
        assert_eq!((version.verb, version.name.as_deref()), (Verb::Discover, Some("version")));
    }

    #[test]
    fn what_is_not_served_is_404() {
        for uri in [
            "/apis/loopbreaker.dev/v1alpha1/recoveries",
            "/api/v1/namespaces/a/nodes/b",
            "/api/v1/namespaces/a/pods/b/exec",
            "/x",
        ] {
            assert_eq!(call("GET", uri).expect_err(uri).code, 404, "{uri}");
        }
        assert_eq!(call("POST", "/api/v1/nodes/a").expect_err("no such verb").code, 405);
    }

    #[test]
    fn a_query_is_decoded() {
        let list = call("GET", "/api/v1/pods?labelSelector=app%20in%20%28a%2Cb%29").expect("a list");
        assert_eq!(list.option("labelSelector"), "app in (a,b)");
    }
}
