//! The samples of the demonstration: an object of each served system, and what it needs.

use anyhow::Context as _;
use controllers::registry::{self, Entry};
use controllers::{capa, kkp};
use kube::Client;
use kube::api::{Api, ApiResource, DynamicObject, GroupVersionKind, PostParams};
use serde_json::{Value, json};

/// The name of every sample.
pub(super) const DEMO: &str = "demo";
/// Where those are that are in a namespace.
pub(super) const NAMESPACE: &str = "default";

/// An object of a served system, and what it needs.
pub(super) struct Sample {
    /// The system.
    pub(super) entry: &'static Entry,
    /// Its namespace, where it is in one.
    pub(super) namespace: Option<&'static str>,
    /// Its kind.
    kind: &'static str,
    manifest: fn() -> Value,
    /// What it belongs to, where it belongs to anything: group, version, kind, plural.
    owner: Option<[&'static str; 4]>,
}

/// A sample of each system that there is.
pub(super) const SAMPLES: [Sample; 2] = [
    Sample {
        entry: &kkp::ENTRY,
        namespace: None,
        kind: "Cluster",
        manifest: cluster,
        owner: None,
    },
    Sample {
        entry: &capa::ENTRY,
        namespace: Some(NAMESPACE),
        kind: "AWSCluster",
        manifest: network,
        owner: Some([
            api::capa::OWNER_GROUP,
            api::capa::OWNER_VERSION,
            "Cluster",
            "clusters",
        ]),
    },
];

/// The sample of a system.
pub(super) fn of(entry: &Entry) -> Option<&'static Sample> {
    SAMPLES
        .iter()
        .find(|sample| sample.entry.name == entry.name)
}

/// The samples of every system that the registry has.
pub(super) fn all() -> impl Iterator<Item = &'static Sample> {
    registry::ENTRIES.iter().filter_map(|entry| of(entry))
}

impl Sample {
    /// Its objects.
    pub(super) fn api(&self, client: &Client) -> Api<DynamicObject> {
        let kind = &self.entry.kind;
        let named = GroupVersionKind::gvk(kind.group, kind.version, self.kind);
        self.api_of(
            client,
            &ApiResource::from_gvk_with_plural(&named, kind.plural),
        )
    }

    fn api_of(&self, client: &Client, resource: &ApiResource) -> Api<DynamicObject> {
        match self.namespace {
            Some(namespace) => Api::namespaced_with(client.clone(), namespace, resource),
            None => Api::all_with(client.clone(), resource),
        }
    }

    /// Creates it, and first what it belongs to. What was kept is left as it is.
    pub(super) async fn create(&self, client: &Client) -> anyhow::Result<()> {
        let mut manifest = (self.manifest)();
        if let Some([group, version, kind, plural]) = self.owner {
            let named = GroupVersionKind::gvk(group, version, kind);
            let owners = ApiResource::from_gvk_with_plural(&named, plural);
            let owner = json!({
                "apiVersion": format!("{group}/{version}"), "kind": kind, "metadata": {"name": DEMO},
            });
            let owner = create(&self.api_of(client, &owners), owner).await?;
            manifest["metadata"]["ownerReferences"] = json!([{
                "apiVersion": format!("{group}/{version}"), "kind": kind, "name": DEMO,
                "uid": owner.metadata.uid.context("an owner without a uid")?,
            }]);
        }
        create(&self.api(client), manifest).await.map(drop)
    }
}

async fn create(api: &Api<DynamicObject>, manifest: Value) -> anyhow::Result<DynamicObject> {
    let object = serde_json::from_value(manifest).context("the sample")?;
    match api.create(&PostParams::default(), &object).await {
        // It was kept.
        Err(kube::Error::Api(status)) if status.code == 409 => {
            api.get(DEMO).await.context("the sample")
        }
        created => created.context("the sample"),
    }
}

/// A cluster of KKP that leaves everything to us.
fn cluster() -> Value {
    let ids = json!({
        "vpcID": "", "routeTableID": "", "securityGroupID": "", "roleARN": "",
        "instanceProfileName": "",
    });
    json!({
        "apiVersion": "kubermatic.k8c.io/v1",
        "kind": "Cluster",
        "metadata": {
            "name": DEMO,
            "annotations": {"kubermatic.io/aws-region": "eu-central-1"},
        },
        "spec": {
            "humanReadableName": "a demonstration",
            "cloud": {"dc": "aws-eu-central-1a", "providerName": "aws", "aws": ids},
        },
    })
}

/// A whole network in two zones, for a cluster of Cluster API.
fn network() -> Value {
    json!({
        "apiVersion": "infrastructure.cluster.x-k8s.io/v1beta2",
        "kind": "AWSCluster",
        "metadata": {"name": DEMO},
        "spec": {
            "region": "eu-central-1",
            "network": {"vpc": {"availabilityZoneUsageLimit": 2}},
        },
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_system_has_a_sample() {
        for entry in registry::ENTRIES {
            let sample = of(entry).unwrap_or_else(|| panic!("{} has no sample", entry.name));
            let manifest = (sample.manifest)();
            assert_eq!(manifest["kind"], sample.kind);
            let version = format!("{}/{}", entry.kind.group, entry.kind.version);
            assert_eq!(manifest["apiVersion"], version);
        }
        assert_eq!(all().count(), SAMPLES.len());
    }
}
