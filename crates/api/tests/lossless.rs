//! Whatever surrounds our fields is kept by the view, and left alone by every write.
#![allow(clippy::unwrap_used, reason = "a test stops at the first surprise")]

mod common;

use std::sync::Arc;

use api::Condition;
use api::kkp::{self, Id};
use api::{Change, manifests, names};
use common::{OURS, cluster, without};
use embedded_kube::{Cluster, TokioClock};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use kube::api::{Api, ApiResource, DynamicObject, Patch, PatchParams, PostParams};
use proptest::prelude::*;
use serde_json::{Value, json};

/// Everything that a controller writes.
fn everything(object: &kkp::Cluster) -> Change<kkp::Cluster> {
    let now = Time("2026-01-01T00:00:00Z".parse().unwrap());
    let mut change = Change::new(object).unwrap();
    change.annotate(names::CLAIM_UUID, "7f6a2f2e-58b5-4c1f-9d0e-0a3f4f1f2b11");
    change.annotate(kkp::AWS_REGION, "eu-central-1");
    change.add_finalizer(kkp::CLEANUP_AWS);
    change.record(Id::Vpc, "vpc-0123");
    change.record(Id::Role, "arn:aws:iam::123456789012:role/r");
    change.record(Id::SecurityGroup, "sg-0123");
    change.reconciled(&now);
    let report = Condition {
        holds: true,
        reason: "Converged".to_owned(),
        message: "all is well".to_owned(),
    };
    change.condition(&kkp::STATUS, "Ready", &report, "0.1.0", &now);
    change
}

/// The finalizers of others, in their order.
fn others_finalizers(object: &Value) -> Vec<Value> {
    let list = object["metadata"]["finalizers"].as_array();
    let mut list = list.cloned().unwrap_or_default();
    list.retain(|name| name != kkp::CLEANUP_AWS);
    list
}

fn parse(object: &Value) -> kkp::Cluster {
    serde_json::from_value(object.clone()).unwrap()
}

proptest! {
    #[test]
    fn a_view_gives_back_what_it_was_given(object in cluster()) {
        prop_assert_eq!(serde_json::to_value(parse(&object)).unwrap(), object);
    }

    #[test]
    fn a_patch_changes_our_fields_only(mut object in cluster()) {
        object["metadata"]["resourceVersion"] = json!("7");
        let change = everything(&parse(&object));
        let mut patched = object.clone();
        for patch in [change.object_patch(), change.status_patch()] {
            let patch = patch.unwrap();
            prop_assert_eq!(&patch["metadata"]["resourceVersion"], "7");
            json_patch::merge(&mut patched, &patch);
        }
        prop_assert_eq!(others_finalizers(&patched), others_finalizers(&object));
        prop_assert_eq!(without(patched.clone(), &OURS), without(object, &OURS));
        let again = everything(&parse(&patched));
        prop_assert_eq!(again.object_patch(), None);
        prop_assert_eq!(again.status_patch(), None);
    }
}

#[test]
fn a_write_to_an_api_server_changes_our_fields_only() {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .start_paused(true)
        .build()
        .unwrap();
    let server = runtime.block_on(async {
        let clock = TokioClock::starting_at("2026-01-01T00:00:00Z".parse().unwrap());
        let server = Cluster::new(Arc::new(clock));
        manifests::install(server.client()).await.unwrap();
        server
    });
    let config = ProptestConfig::with_cases(64);
    proptest!(config, |(object in cluster())| {
        runtime.block_on(write_and_compare(&server, object))?;
    });
}

async fn write_and_compare(server: &Cluster, object: Value) -> Result<(), TestCaseError> {
    let raw: Api<DynamicObject> =
        Api::all_with(server.client(), &ApiResource::erase::<kkp::Cluster>(&()));
    let api: Api<kkp::Cluster> = Api::all(server.client());
    let parameters = PatchParams::default();

    raw.create(
        &PostParams::default(),
        &serde_json::from_value(object.clone()).unwrap(),
    )
    .await
    .unwrap();
    let status = json!({"status": object["status"]});
    raw.patch_status("a", &parameters, &Patch::Merge(status))
        .await
        .unwrap();
    let before = serde_json::to_value(raw.get("a").await.unwrap()).unwrap();

    let patch = everything(&api.get("a").await.unwrap())
        .object_patch()
        .unwrap();
    let written = api
        .patch("a", &parameters, &Patch::Merge(&patch))
        .await
        .unwrap();
    let conflict = api.patch("a", &parameters, &Patch::Merge(&patch)).await;
    prop_assert!(
        matches!(&conflict, Err(kube::Error::Api(status)) if status.is_conflict()),
        "the same version twice: {:?}",
        conflict
    );
    let patch = everything(&written).status_patch().unwrap();
    api.patch_status("a", &parameters, &Patch::Merge(&patch))
        .await
        .unwrap();

    let after = serde_json::to_value(raw.get("a").await.unwrap()).unwrap();
    prop_assert_eq!(others_finalizers(&after), others_finalizers(&before));
    let servers_own: [&[&str]; 2] = [&["metadata", "generation"], &["metadata", "managedFields"]];
    let ignored = [&OURS[..], &servers_own].concat();
    prop_assert_eq!(without(after.clone(), &ignored), without(before, &ignored));
    prop_assert_eq!(&after["status"]["conditions"]["Ready"]["status"], "True");
    prop_assert_eq!(&after["spec"]["cloud"]["aws"]["vpcID"], "vpc-0123");

    let rest = everything(&api.get("a").await.unwrap());
    prop_assert_eq!(rest.object_patch(), None);
    prop_assert_eq!(rest.status_patch(), None);

    let free = json!({"metadata": {"finalizers": null}});
    api.patch("a", &parameters, &Patch::Merge(free))
        .await
        .unwrap();
    api.delete("a", &kube::api::DeleteParams::default())
        .await
        .unwrap();
    Ok(())
}
