//! As whom AWS is called, and who may use that.

use api::capa::{RoleIdentity, SECRETS_NAMESPACE, StaticIdentity};
use cloud_port::aws::AwsPlace;
use k8s_openapi::api::core::v1::{Namespace, Secret};
use kube::api::{Api, PostParams};
use laboratory::WRONG_KEY;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::lab::{Lab, TWO_ZONES};

async fn make<K>(api: Api<K>, object: Value)
where
    K: Clone + DeserializeOwned + Serialize + std::fmt::Debug,
{
    let object: K = serde_json::from_value(object).unwrap();
    match api.create(&PostParams::default(), &object).await {
        Ok(_) => {}
        // One namespace for all cases on this API server.
        Err(kube::Error::Api(status)) if status.is_already_exists() => {}
        Err(error) => panic!("{error}"),
    }
}

/// An identity with the name of the case, and its Secret.
async fn make_static<C: AwsPlace + Clone + 'static>(lab: &Lab<C>, allowed: Value, key: &str) {
    let client = || lab.client.clone();
    let namespace = json!({"metadata": {"name": SECRETS_NAMESPACE}});
    make(Api::<Namespace>::all(client()), namespace).await;
    let secrets: Api<Secret> = Api::namespaced(client(), SECRETS_NAMESPACE);
    let secret = json!({
        "metadata": {"name": lab.name},
        "stringData": {"AccessKeyID": key, "SecretAccessKey": "hush"},
    });
    make(secrets, secret).await;
    let identity = json!({
        "metadata": {"name": lab.name},
        "spec": {"secretRef": lab.name, "allowedNamespaces": allowed},
    });
    make(Api::<StaticIdentity>::all(client()), identity).await;
}

/// What an object says that uses such an identity.
fn identity<C: AwsPlace + Clone + 'static>(lab: &Lab<C>, kind: &str) -> Value {
    json!({"identityRef": {"kind": kind, "name": lab.name}})
}

/// By the labels of the namespace.
pub async fn an_identity_that_allows_the_namespace_is_used<C: AwsPlace + Clone + 'static>(
    lab: &mut Lab<C>,
) {
    let allowed = json!({"selector": {"matchLabels": {"team": "blue"}}});
    make_static(lab, allowed, "AKIA").await;
    lab.create(identity(lab, "AWSClusterStaticIdentity")).await;
    lab.converge().await;
    assert_eq!(lab.marked().await.len(), TWO_ZONES);
}

/// By its name.
pub async fn an_identity_that_allows_others_is_refused<C: AwsPlace + Clone + 'static>(
    lab: &mut Lab<C>,
) {
    make_static(lab, json!({"list": ["elsewhere"]}), "AKIA").await;
    lab.create(identity(lab, "AWSClusterStaticIdentity")).await;
    lab.settle().await;
    let allows = format!("allows the namespace {}", lab.namespace.as_deref().unwrap());
    let words = ["spec.identityRef.name", &allows];
    lab.assert_condition("Invalid", &words).await;
    assert!(lab.marked().await.is_empty());
}

/// In AWS' own words.
pub async fn an_identity_with_a_wrong_key_is_told<C: AwsPlace + Clone + 'static>(lab: &mut Lab<C>) {
    make_static(lab, json!({}), WRONG_KEY).await;
    lab.create(identity(lab, "AWSClusterStaticIdentity")).await;
    lab.settle().await;
    let words = ["spec.identityRef.name", "credentials that AWS accepts"];
    lab.assert_condition("Invalid", &words).await;
}

/// What narrows a role and is not sent.
pub async fn a_role_is_taken_on_and_never_with_more_than_was_meant<
    C: AwsPlace + Clone + 'static,
>(
    lab: &mut Lab<C>,
) {
    let role = json!({
        "metadata": {"name": lab.name},
        "spec": {
            "allowedNamespaces": {},
            "roleARN": "arn:aws:iam::123456789012:role/team",
            "inlinePolicy": "{}",
        },
    });
    make(Api::<RoleIdentity>::all(lab.client.clone()), role).await;
    lab.create(identity(lab, "AWSClusterRoleIdentity")).await;
    lab.settle().await;
    lab.assert_condition("Invalid", &["inlinePolicy", "is not served"])
        .await;
    assert!(lab.marked().await.is_empty());
}

/// Until it is there.
pub async fn an_identity_that_is_missing_is_told<C: AwsPlace + Clone + 'static>(lab: &mut Lab<C>) {
    lab.create(identity(lab, "AWSClusterStaticIdentity")).await;
    lab.settle().await;
    let words = [
        "spec.identityRef.name",
        "an AWSClusterStaticIdentity that is there",
    ];
    lab.assert_condition("Invalid", &words).await;
}
