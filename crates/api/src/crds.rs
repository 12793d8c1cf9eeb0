//! Our own kinds as the definitions that an API server takes. *No client.*

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::CustomResourceExt;

use crate::{Recovery, RecoveryPolicy};

#[cfg(test)]
mod tests;

/// One kind, ready to be applied.
#[derive(Debug, Clone, PartialEq)]
pub struct Crd {
    /// The file below `config/crd/` that holds it.
    pub file: &'static str,
    /// What an API server takes.
    pub definition: CustomResourceDefinition,
}

/// All of our kinds, in the order in which they are applied.
#[must_use]
pub fn crds() -> Vec<Crd> {
    vec![
        Crd { file: "recoverypolicies.yaml", definition: RecoveryPolicy::crd() },
        Crd { file: "recoveries.yaml", definition: Recovery::crd() },
    ]
}
