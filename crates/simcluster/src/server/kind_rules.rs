//! What the API server itself fills in and forbids, by kind. *No client.*
//!
//! Only what the models and the operator rely on: defaults of pods, claims, volumes and workloads, the protection
//! finalizers that admission adds, and the fields of a claim that never change.

use serde_json::{Value, json};

use super::{refusal::Refusal, store::Store};
use crate::object::{Fields, add_finalizer, bytes_of, set};

/// Keeps a claim while a pod uses it.
pub(crate) const CLAIM_PROTECTION: &str = "kubernetes.io/pvc-protection";
/// Keeps a volume while a claim is bound to it.
pub(crate) const VOLUME_PROTECTION: &str = "kubernetes.io/pv-protection";
/// Marks the class of claims that name none.
const DEFAULT_CLASS: &str = "storageclass.kubernetes.io/is-default-class";

/// Fills in what a new object leaves out.
pub(crate) fn on_create(resource: &str, object: &mut Value, store: &Store) {
    match resource {
        "pods" => {
            default(object, "/spec/restartPolicy", || "Always".into());
            default(object, "/spec/terminationGracePeriodSeconds", || 30.into());
            default(object, "/spec/schedulerName", || "default-scheduler".into());
            default(object, "/spec/serviceAccountName", || "default".into());
            set(object, "/status", json!({"phase": "Pending", "qosClass": "BestEffort"}));
        }
        "persistentvolumeclaims" => {
            default(object, "/spec/volumeMode", || "Filesystem".into());
            if !object.has("/spec/storageClassName")
                && let Some(class) = default_class(store)
            {
                set(object, "/spec/storageClassName", class.into());
            }
            add_finalizer(object, CLAIM_PROTECTION);
            set(object, "/status", json!({"phase": "Pending"}));
        }
        "persistentvolumes" => {
            default(object, "/spec/volumeMode", || "Filesystem".into());
            default(object, "/spec/persistentVolumeReclaimPolicy", || "Retain".into());
            add_finalizer(object, VOLUME_PROTECTION);
            set(object, "/status", json!({"phase": "Pending"}));
        }
        "storageclasses.storage.k8s.io" => {
            default(object, "/reclaimPolicy", || "Delete".into());
            default(object, "/volumeBindingMode", || "Immediate".into());
        }
        "statefulsets.apps" => {
            default(object, "/spec/replicas", || 1.into());
            default(object, "/spec/podManagementPolicy", || "OrderedReady".into());
            default(object, "/spec/updateStrategy/type", || "RollingUpdate".into());
            default(object, "/spec/revisionHistoryLimit", || 10.into());
        }
        "jobs.batch" => {
            default(object, "/spec/backoffLimit", || 6.into());
            default(object, "/spec/completions", || 1.into());
            default(object, "/spec/parallelism", || 1.into());
            let uid = object.uid().to_owned();
            let name = object.name().to_owned();
            for at in ["/metadata/labels", "/spec/template/metadata/labels"] {
                default(object, &format!("{at}/batch.kubernetes.io~1controller-uid"), || uid.clone().into());
                default(object, &format!("{at}/batch.kubernetes.io~1job-name"), || name.clone().into());
                default(object, &format!("{at}/job-name"), || name.clone().into());
            }
        }
        "namespaces" => set(object, "/status", json!({"phase": "Active"})),
        "customresourcedefinitions.apiextensions.k8s.io" => {
            let names = object.part("/spec/names").clone();
            let established = json!({
                "acceptedNames": names,
                "storedVersions": object.items("/spec/versions").iter().map(|version| version.text("/name")).collect::<Vec<_>>(),
                "conditions": [
                    {"type": "NamesAccepted", "status": "True", "reason": "NoConflicts", "message": "no conflicts found"},
                    {"type": "Established", "status": "True", "reason": "InitialNamesAccepted", "message": "the initial names have been accepted"},
                ],
            });
            set(object, "/status", established);
        }
        _ => {}
    }
}

fn default(object: &mut Value, pointer: &str, value: impl FnOnce() -> Value) {
    if !object.has(pointer) {
        set(object, pointer, value());
    }
}

fn default_class(store: &Store) -> Option<&str> {
    store
        .list("storageclasses.storage.k8s.io", None)
        .find(|(_, class)| class.annotation(DEFAULT_CLASS) == "true")
        .map(|(key, _)| key.name.as_str())
}

/// Refuses a change that the kind forbids.
pub(crate) fn on_update(resource: &str, before: &Value, after: &Value, store: &Store) -> Result<(), Refusal> {
    match resource {
        "persistentvolumeclaims" => claim_changed(before, after, store),
        "persistentvolumes" => {
            let (old, new) =
                (before.text("/spec/volumeAttributesClassName"), after.text("/spec/volumeAttributesClassName"));
            if !old.is_empty() && new.is_empty() {
                let field = "spec.volumeAttributesClassName";
                return Err(Refusal::invalid("PersistentVolume", before.name(), field, "Forbidden: may not be unset"));
            }
            let source = |volume: &Value| volume.part("/spec/csi").clone();
            if source(before) != source(after) {
                let why = "Forbidden: spec.persistentvolumesource is immutable after creation";
                return Err(Refusal::invalid("PersistentVolume", before.name(), "spec.persistentvolumesource", why));
            }
            Ok(())
        }
        "jobs.batch" if before.part("/spec/template") != after.part("/spec/template") => {
            Err(Refusal::invalid("Job", before.name(), "spec.template", "Invalid value: field is immutable"))
        }
        _ => Ok(()),
    }
}

/// A claim's spec stands, but for its size, the volume that it is bound to, and its attributes class.
fn claim_changed(before: &Value, after: &Value, store: &Store) -> Result<(), Refusal> {
    let mut allowed = before.part("/spec").clone();
    for part in ["/resources", "/volumeAttributesClassName"] {
        match after.part("/spec").pointer(part) {
            Some(value) => set(&mut allowed, part, value.clone()),
            None => {
                crate::object::unset(&mut allowed, part);
            }
        }
    }
    if before.text("/spec/volumeName").is_empty() && after.has("/spec/volumeName") {
        set(&mut allowed, "/volumeName", after.part("/spec/volumeName").clone());
    }
    if allowed != *after.part("/spec") {
        let why = "Forbidden: spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims";
        return Err(Refusal::invalid("PersistentVolumeClaim", before.name(), "spec", why));
    }
    let size = |claim: &Value| bytes_of(claim.text("/spec/resources/requests/storage")).unwrap_or_default();
    if size(after) < size(before) {
        let why = "Forbidden: field can not be less than status.capacity";
        return Err(Refusal::invalid("PersistentVolumeClaim", before.name(), "spec.resources.requests.storage", why));
    }
    if size(after) > size(before) {
        let class = store.get(&super::store::Key::new(
            "storageclasses.storage.k8s.io",
            "",
            after.text("/spec/storageClassName"),
        ));
        if !class.is_some_and(|class| class.is_true("/allowVolumeExpansion")) {
            let why = "only dynamically provisioned pvc can be resized and the storageclass that provisions the pvc must support resize";
            return Err(Refusal::forbidden("persistentvolumeclaims", before.name(), why));
        }
    }
    Ok(())
}
