//! Crossplane's providers: whose definitions are an active provider's, it serves.

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::OwnerReference;
use kube::api::Api;
use kube::core::{ApiResource, DynamicObject, GroupVersionKind};
use kube::{Client, ResourceExt as _};

use crate::connect;

/// The group of Crossplane's packages.
const PACKAGES: &str = "pkg.crossplane.io/";

/// The provider that serves this definition, in words; `None` if no active one does.
///
/// # Errors
/// Why that cannot be told.
pub(super) async fn at_work(client: &Client, definition: &str) -> Result<Option<String>, String> {
    let said = |error: kube::Error| {
        let words = connect::words(&error);
        format!("whether a Crossplane provider serves {definition} cannot be told: {words}")
    };
    let definitions: Api<CustomResourceDefinition> = Api::all(client.clone());
    let found = definitions.get_opt(definition).await.map_err(said)?;
    let Some(found) = found else {
        return Ok(None);
    };
    for owner in found.owner_references() {
        let Some(revisions) = revisions(client, owner) else {
            continue;
        };
        let revision = revisions.get_opt(&owner.name).await.map_err(said)?;
        let state = revision.map(|it| it.data["spec"]["desiredState"].clone());
        if state.is_some_and(|state| state == "Active") {
            let name = &owner.name;
            return Ok(Some(format!(
                "Crossplane is at work: the revision {name} of a provider is active"
            )));
        }
    }
    Ok(None)
}

/// Where an owner that is a revision of a provider is.
fn revisions(client: &Client, owner: &OwnerReference) -> Option<Api<DynamicObject>> {
    let version = owner.api_version.strip_prefix(PACKAGES)?;
    let group = PACKAGES.trim_end_matches('/');
    let kind = GroupVersionKind::gvk(group, version, &owner.kind);
    let plural = format!("{}s", owner.kind.to_lowercase());
    let kind = ApiResource::from_gvk_with_plural(&kind, &plural);
    (owner.kind == "ProviderRevision").then(|| Api::all_with(client.clone(), &kind))
}

#[cfg(all(test, feature = "dev"))]
mod tests {
    use std::sync::Arc;

    use embedded_kube::Cluster;
    use kube::api::{Patch, PatchParams, PostParams};
    use serde_json::{Value, json};

    use super::*;
    use crate::clock::ProcessClock;

    fn definition(kind: &str, plural: &str, group: &str) -> Value {
        json!({
            "metadata": {"name": format!("{plural}.{group}")},
            "spec": {
                "group": group,
                "scope": "Cluster",
                "names": {"kind": kind, "plural": plural},
                "versions": [{"name": "v1", "served": true, "storage": true, "schema": {
                    "openAPIV3Schema": {
                        "type": "object", "x-kubernetes-preserve-unknown-fields": true,
                    },
                }}],
            },
        })
    }

    #[tokio::test]
    async fn definitions_of_an_active_provider_are_its_own() {
        let clock = ProcessClock::starting_at("2026-01-01T00:00:00Z".parse().unwrap());
        let client = Cluster::new(Arc::new(clock)).client();
        let definitions: Api<CustomResourceDefinition> = Api::all(client.clone());
        let create = async |object: Value| {
            let object = serde_json::from_value(object).unwrap();
            definitions
                .create(&PostParams::default(), &object)
                .await
                .unwrap()
        };
        let name = "securitygroups.ec2.aws.crossplane.io";
        assert_eq!(at_work(&client, name).await, Ok(None), "it is not there");
        create(definition(
            "ProviderRevision",
            "providerrevisions",
            "pkg.crossplane.io",
        ))
        .await;
        let revision = json!({
            "apiVersion": "pkg.crossplane.io/v1",
            "kind": "ProviderRevision",
            "metadata": {"name": "provider-aws-1"},
            "spec": {"desiredState": "Inactive"},
        });
        let mut owner = OwnerReference {
            api_version: "pkg.crossplane.io/v1".to_owned(),
            kind: "ProviderRevision".to_owned(),
            name: "provider-aws-1".to_owned(),
            ..OwnerReference::default()
        };
        let revisions = revisions(&client, &owner).unwrap();
        let revision: DynamicObject = serde_json::from_value(revision).unwrap();
        let parameters = PostParams::default();
        let revision = revisions.create(&parameters, &revision).await.unwrap();
        owner.uid = revision.uid().unwrap();
        let mut served = definition("SecurityGroup", "securitygroups", "ec2.aws.crossplane.io");
        served["metadata"]["ownerReferences"] = json!([owner]);
        create(served).await;
        assert_eq!(at_work(&client, name).await, Ok(None), "it is not active");
        let active = Patch::Merge(json!({"spec": {"desiredState": "Active"}}));
        let parameters = PatchParams::default();
        let patched = revisions.patch(&owner.name, &parameters, &active).await;
        patched.unwrap();
        let said = at_work(&client, name).await.unwrap().unwrap();
        assert!(said.contains("provider-aws-1"), "{said}");
    }
}
