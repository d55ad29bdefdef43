//! The cases on the embedded API server, and what only it can be made to do.
#![allow(
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test stops at the first surprise, in its helpers too"
)]

mod cases;

use std::sync::Arc;

use cases::lab::{Lab, SETTINGS, definition};
use embedded_kube::{Cluster, Fault, FaultKind, TokioClock};
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::api::{Api, PostParams};
use ownership::{Class, Step};

cases::all_cases!(lab);

async fn lab(case: &str) -> Option<Lab> {
    Some(cluster(case).await.1)
}

async fn cluster(case: &str) -> (Cluster, Lab) {
    let start = "2026-11-19T04:00:00Z".parse().unwrap();
    let cluster = Cluster::new(Arc::new(TokioClock::starting_at(start)));
    let definitions: Api<CustomResourceDefinition> = Api::all(cluster.client());
    let params = PostParams::default();
    definitions.create(&params, &definition()).await.unwrap();
    let lab = Lab::new(cluster.client(), case).await;
    (cluster, lab)
}

#[tokio::test]
async fn law_9_what_the_server_does_wrong_has_its_class() {
    let (cluster, lab) = cluster("faults").await;
    let fault = |kind, verb| cluster.faults().add(Fault::new(kind).verb(verb));
    let create = |name: &str| Step::Create(lab.create(&SETTINGS, name, &[]));

    fault(FaultKind::LostAnswer, "create");
    let lost = lab.perform(&create("lost")).await.unwrap_err();
    assert_eq!(lost.class, Class::Unknown, "{lost}");
    // It has taken effect all the same: a repetition is refused, and it is found by its mark.
    let again = lab.perform(&create("lost")).await.unwrap_err();
    assert_eq!(again.class, Class::Exists);
    assert_eq!(lab.ask(&lab.by_marks(&SETTINGS)).await.len(), 1);

    fault(FaultKind::TooManyRequests { retry_after: 7 }, "create");
    let throttled = lab.perform(&create("throttled")).await.unwrap_err();
    assert_eq!(throttled.class, Class::Throttled, "{throttled}");

    fault(FaultKind::InternalError, "create");
    let failed = lab.perform(&create("failed")).await.unwrap_err();
    assert_eq!(failed.class, Class::Unknown, "{failed}");

    fault(FaultKind::InternalError, "list");
    let failed = lab.answer(&lab.by_marks(&SETTINGS)).await.unwrap_err();
    assert_eq!(failed.class, Class::Retryable, "{failed}");

    let found = lab.ask(&lab.by_name(&SETTINGS, "lost")).await;
    fault(FaultKind::Conflict, "delete");
    let refused = lab.perform(&lab.deletion(&found[0])).await.unwrap_err();
    assert_eq!(refused.class, Class::Retryable, "{refused}");
    lab.perform(&lab.deletion(&found[0])).await.unwrap();
    assert_eq!(cluster.faults().pending(), 0);
}

#[tokio::test]
async fn a_listing_has_all_its_pages() {
    let (_, lab) = cluster("pages").await;
    for number in 0..501 {
        lab.make(&SETTINGS, &format!("settings-{number}"), &[])
            .await;
    }
    let found = lab.ask(&lab.by_marks(&SETTINGS)).await;
    assert_eq!(found.len(), 501);
}
