//! Owners, switches, keys and mistakes.

use api::capa::OwnerCluster;
use k8s_openapi::api::core::v1::Secret;
use kube::api::{Api, Patch, PatchParams};
use laboratory::WRONG_API_KEY;
use serde_json::json;

use crate::lab::{Lab, create, end, lab, made};

#[tokio::test]
async fn an_object_waits_for_its_owner() {
    let lab = lab("waits").await;
    let mut sample = lab.sample.manifest.clone();
    let owners = sample["metadata"]["ownerReferences"].take();
    lab.create_object(&sample).await;
    lab.settle().await;
    let ready = lab.condition("Ready").await.unwrap();
    assert_eq!((ready.holds, ready.reason.as_str()), (false, "Waiting"));
    assert!(made(&lab).is_empty());
    lab.patch(json!({"metadata": {"ownerReferences": owners}}))
        .await;
    lab.converge().await;
}

#[tokio::test]
async fn a_pause_stops_everything() {
    let lab = lab("paused").await;
    let owners: Api<OwnerCluster> =
        Api::namespaced(lab.client.clone(), lab.namespace.as_deref().unwrap());
    let pause = |paused: bool| Patch::Merge(json!({"spec": {"paused": paused}}));
    let params = PatchParams::default();
    owners.patch("prod", &params, &pause(true)).await.unwrap();
    lab.create_sample().await;
    lab.settle().await;
    lab.assert_condition("Paused", &["spec.paused of the Cluster prod"])
        .await;
    assert!(made(&lab).is_empty());
    owners.patch("prod", &params, &pause(false)).await.unwrap();
    lab.converge().await;
}

async fn set_key(lab: &Lab, key: &str) {
    let secrets: Api<Secret> =
        Api::namespaced(lab.client.clone(), lab.namespace.as_deref().unwrap());
    let data = k8s_openapi::ByteString(key.as_bytes().to_vec());
    let patch = json!({"data": {"ibmcloud_api_key": data}});
    let patched = secrets
        .patch(
            "ibmcloud-credentials",
            &PatchParams::default(),
            &Patch::Merge(patch),
        )
        .await;
    patched.unwrap();
}

#[tokio::test]
async fn a_key_that_is_refused_is_told_and_shows_nowhere() {
    let lab = lab("key").await;
    set_key(&lab, WRONG_API_KEY).await;
    lab.create_sample().await;
    lab.settle().await;
    let ready = lab.condition("Ready").await.unwrap();
    assert!(!ready.holds, "{ready:?}");
    for word in ["credentials-secret", "BXNIM0415E", "check the API key"] {
        assert!(ready.message.contains(word), "{ready:?}");
    }
    assert!(made(&lab).is_empty());
    set_key(&lab, "right").await;
    lab.wait(laboratory::RESYNC);
    lab.converge().await;
    let object = serde_json::to_string(&lab.object().await).unwrap();
    assert!(!object.contains("right"), "{object}");
}

#[tokio::test]
async fn a_missing_secret_is_named() {
    let lab = lab("secretless").await;
    let mut sample = lab.sample.manifest.clone();
    sample["metadata"]["annotations"]["powervs.cluster.x-k8s.io/credentials-secret"] =
        json!("elsewhere");
    lab.create_object(&sample).await;
    lab.settle().await;
    let ready = lab.condition("Ready").await.unwrap();
    assert!(
        ready.message.contains("elsewhere") && ready.message.contains("ibmcloud_api_key"),
        "{ready:?}"
    );
}

#[tokio::test]
async fn a_mistake_is_told_by_its_field_before_anything_is_made() {
    for (case, spec, words) in [
        (
            "zone",
            json!({"zone": "mars01"}),
            ["spec.zone", "must be a zone of Power"],
        ),
        (
            "tag",
            json!({"tags": [{"key": "a/b", "value": "c"}]}),
            ["spec.tags[0].key", "must not contain '/'"],
        ),
        (
            "group",
            json!({"resourceGroup": {"name": "nobodys"}}),
            ["spec.resourceGroup.name", "resource group of the account"],
        ),
        (
            "regex",
            json!({"network": {"regex": "a.*"}}),
            ["spec.network.regex", "is not served"],
        ),
    ] {
        let lab = lab(case).await;
        create(&lab, spec).await;
        lab.settle().await;
        let ready = lab.condition("Ready").await.unwrap();
        assert!(!ready.holds, "{ready:?}");
        for word in words {
            assert!(ready.message.contains(word), "{word}: {ready:?}");
        }
        assert!(made(&lab).is_empty());
        end(&lab).await;
    }
}
