//! What a cluster must have installed: definitions of the served kinds, and the admission policies.

mod policies;

use k8s_openapi::api::admissionregistration::v1::{
    ValidatingAdmissionPolicy, ValidatingAdmissionPolicyBinding,
};
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::api::{Api, PostParams};
use kube::{Client, ResourceExt as _};

pub use policies::{PROTECTION, Served, for_account, protection, trusted};

/// The definitions of other people's kinds, each for clusters in which there is none.
pub const DEFINITIONS: [&str; 2] = [include_str!("cluster.yaml"), include_str!("seed.yaml")];

/// The definitions of Cluster API on AWS, each for clusters in which there is none.
pub const CAPA_DEFINITIONS: [&str; 5] = [
    include_str!("capa/awsclusters.yaml"),
    include_str!("capa/awsclustercontrolleridentities.yaml"),
    include_str!("capa/awsclusterstaticidentities.yaml"),
    include_str!("capa/awsclusterroleidentities.yaml"),
    include_str!("capa/clusters.yaml"),
];

/// The definitions of Cluster API on IBM Cloud, each for clusters in which there is none.
pub const POWERVS_DEFINITIONS: [&str; 2] = [
    include_str!("powervs/ibmpowervsclusters.yaml"),
    include_str!("capa/clusters.yaml"),
];

/// KKP's own admission policy, and the binding that turns it on.
pub const KKP_POLICIES: [&str; 2] = [
    include_str!("kkp-policy.yaml"),
    include_str!("kkp-binding.yaml"),
];

/// What became of a definition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Installed {
    /// There was none; now there is ours.
    Created(String),
    /// There is one, which was left as it is.
    Found(String),
}

/// YAML documents as one stream.
pub fn stream(documents: &[impl AsRef<str>]) -> String {
    let documents: Vec<&str> = documents.iter().map(AsRef::as_ref).collect();
    documents.join("---\n")
}

/// Creates KKP's definitions that are absent: see [`install_all`].
///
/// # Errors
/// What the API server said; what was created before that stays.
pub async fn install(client: Client) -> Result<Vec<Installed>, kube::Error> {
    install_all(client, &DEFINITIONS).await
}

/// Creates the definitions that are absent.
///
/// # Guarantees
/// A definition that is there, whoever made it, is neither replaced nor changed.
///
/// # Caveats
/// An API server serves a new kind a moment later.
///
/// # Errors
/// What the API server said; what was created before that stays.
pub async fn install_all(
    client: Client,
    definitions: &[&str],
) -> Result<Vec<Installed>, kube::Error> {
    let api: Api<CustomResourceDefinition> = Api::all(client);
    let mut installed = Vec::with_capacity(definitions.len());
    for definition in definitions.iter().map(|text| parse(text)) {
        let name = definition.name_any();
        if api.get_opt(&name).await?.is_some() {
            installed.push(Installed::Found(name));
            continue;
        }
        match api.create(&PostParams::default(), &definition).await {
            Ok(_) => installed.push(Installed::Created(name)),
            // Somebody else was faster.
            Err(kube::Error::Api(status)) if status.is_already_exists() => {
                installed.push(Installed::Found(name));
            }
            Err(error) => return Err(error),
        }
    }
    Ok(installed)
}

/// Creates the admission policies, each with its binding, that are absent.
///
/// # Errors
/// What the API server said.
pub async fn protect(client: Client, policies: &[String]) -> Result<(), kube::Error> {
    for text in policies {
        let value: serde_json::Value =
            serde_saphyr::from_str(text).expect("a constant, which a test reads");
        let created = if value["kind"] == "ValidatingAdmissionPolicy" {
            let api: Api<ValidatingAdmissionPolicy> = Api::all(client.clone());
            let policy = serde_json::from_value(value).map_err(kube::Error::SerdeError)?;
            api.create(&PostParams::default(), &policy).await.map(drop)
        } else {
            let api: Api<ValidatingAdmissionPolicyBinding> = Api::all(client.clone());
            let binding = serde_json::from_value(value).map_err(kube::Error::SerdeError)?;
            api.create(&PostParams::default(), &binding).await.map(drop)
        };
        match created {
            Err(kube::Error::Api(status)) if status.is_already_exists() => {}
            created => created?,
        }
    }
    Ok(())
}

fn parse(text: &str) -> CustomResourceDefinition {
    serde_saphyr::from_str(text).expect("a constant, which a test reads")
}
