//! As whom AWS is called, and who may use that.

use api::capa::{RoleIdentity, SECRETS_NAMESPACE, StaticIdentity};
use k8s_openapi::api::core::v1::{Namespace, Secret};
use kube::api::{Api, PostParams};
use laboratory::WRONG_KEY;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::lab::{Lab, TWO_ZONES, create, lab};

async fn make<K>(api: Api<K>, object: Value)
where
    K: Clone + DeserializeOwned + Serialize + std::fmt::Debug,
{
    let object: K = serde_json::from_value(object).unwrap();
    api.create(&PostParams::default(), &object).await.unwrap();
}

async fn make_static(lab: &Lab, allowed: Value, key: &str) {
    let client = || lab.client.clone();
    let namespace = json!({"metadata": {"name": SECRETS_NAMESPACE}});
    make(Api::<Namespace>::all(client()), namespace).await;
    let secrets: Api<Secret> = Api::namespaced(client(), SECRETS_NAMESPACE);
    let secret = json!({
        "metadata": {"name": "key"},
        "stringData": {"AccessKeyID": key, "SecretAccessKey": "hush"},
    });
    make(secrets, secret).await;
    let identity = json!({
        "metadata": {"name": "team"},
        "spec": {"secretRef": "key", "allowedNamespaces": allowed},
    });
    make(Api::<StaticIdentity>::all(client()), identity).await;
}

fn identity(kind: &str) -> Value {
    json!({"identityRef": {"kind": kind, "name": "team"}})
}

#[tokio::test]
async fn an_identity_that_allows_the_namespace_is_used() {
    let lab = lab("allowed").await.unwrap();
    let allowed = json!({"selector": {"matchLabels": {"team": "blue"}}});
    make_static(&lab, allowed, "AKIA").await;
    create(&lab, identity("AWSClusterStaticIdentity")).await;
    lab.converge().await;
    assert_eq!(lab.marked().await.len(), TWO_ZONES);
}

#[tokio::test]
async fn an_identity_that_allows_others_is_refused() {
    let lab = lab("others").await.unwrap();
    make_static(&lab, json!({"list": ["elsewhere"]}), "AKIA").await;
    create(&lab, identity("AWSClusterStaticIdentity")).await;
    lab.settle().await;
    let words = ["spec.identityRef.name", "allows the namespace others"];
    lab.assert_condition("Invalid", &words).await;
    assert!(lab.marked().await.is_empty());
}

#[tokio::test]
async fn an_identity_with_a_wrong_key_is_told() {
    let lab = lab("wrong").await.unwrap();
    make_static(&lab, json!({}), WRONG_KEY).await;
    create(&lab, identity("AWSClusterStaticIdentity")).await;
    lab.settle().await;
    let words = ["spec.identityRef.name", "credentials that AWS accepts"];
    lab.assert_condition("Invalid", &words).await;
}

#[tokio::test]
async fn a_role_is_taken_on_and_never_with_more_than_was_meant() {
    let lab = lab("role").await.unwrap();
    let role = json!({
        "metadata": {"name": "team"},
        "spec": {
            "allowedNamespaces": {},
            "roleARN": "arn:aws:iam::123456789012:role/team",
            "inlinePolicy": "{}",
        },
    });
    make(Api::<RoleIdentity>::all(lab.client.clone()), role).await;
    create(&lab, identity("AWSClusterRoleIdentity")).await;
    lab.settle().await;
    lab.assert_condition("Invalid", &["inlinePolicy", "is not served"])
        .await;
    assert!(lab.marked().await.is_empty());
}

#[tokio::test]
async fn an_identity_that_is_missing_is_told() {
    let lab = lab("missing").await.unwrap();
    create(&lab, identity("AWSClusterStaticIdentity")).await;
    lab.settle().await;
    let words = [
        "spec.identityRef.name",
        "an AWSClusterStaticIdentity that is there",
    ];
    lab.assert_condition("Invalid", &words).await;
}
