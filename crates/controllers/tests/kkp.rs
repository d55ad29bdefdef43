//! The KKP suite on the embedded API server and the simulated AWS.
#![allow(clippy::unwrap_used, reason = "a test stops at the first surprise")]

use std::sync::Arc;

use api::names;
use cloud_port::aws::security_group::SECURITY_GROUP;
use cloud_sim::SharedAccount;
use controllers::reconcile::{Guards, Object, api_of};
use controllers::registry;
use embedded_kube::{Cluster, TokioClock, User};
use k8s_openapi::api::admissionregistration::v1::{
    ValidatingAdmissionPolicy, ValidatingAdmissionPolicyBinding,
};
use kkp_suite::{Lab, cases};
use kube::api::{Api, DeleteParams, Patch, PatchParams, PostParams};
use serde_json::json;

async fn lab(case: &str) -> Option<Lab<SharedAccount>> {
    let settings = cloud_sim::Settings::default();
    Some(Lab::simulated(cluster().await.client(), settings, case))
}

/// An API server with the served kinds.
async fn cluster() -> Cluster {
    let began = "2026-01-01T00:00:00Z".parse().unwrap();
    let cluster = Cluster::new(Arc::new(TokioClock::starting_at(began)));
    let installed = api::manifests::install(cluster.client()).await;
    installed.unwrap();
    cluster
}

kkp_suite::cases!(lab);

/// The same laboratory without what is KKP's own.
async fn plain(case: &str) -> Option<kkp_suite::Plain<SharedAccount>> {
    Some(lab(case).await?.plain())
}

laboratory::cases!(plain);

/// With the policies in force, and an operator that is who they trust.
#[tokio::test]
async fn policies_let_a_manifest_be_applied_again_and_again() {
    let (mut lab, people) = guarded("guarded").await;
    cases::repair::apply_again_and_again(&mut lab, &people).await;
}

/// What the operator does for a claim, from its pin to its end, and to an object that was restored.
#[tokio::test]
async fn policies_let_the_operator_work() {
    let (mut lab, people) = guarded("guarded_life").await;
    lab.create(json!({}), json!({})).await;
    lab.converge().await;
    let by_force = json!({"metadata": {"finalizers": null}});
    for switch in [
        json!({"spec": {"pause": true}}),
        json!({"metadata": {"annotations": {"freehold.dev/management": "observe"}}}),
    ] {
        lab.patch(switch).await;
        lab.settle().await;
        let (parameters, patch) = (PatchParams::default(), Patch::Merge(&by_force));
        let refused = people.patch(&lab.name, &parameters, &patch).await;
        let refused = refused.unwrap_err().to_string();
        assert!(refused.contains("by the operator"), "{refused}");
    }
    let backup = lab.backup().await;
    lab.lose().await;
    lab.restore(&backup).await;
    let on = json!({"metadata": {"annotations": {"freehold.dev/management": "manage"}}});
    lab.patch(on).await;
    lab.patch(json!({"spec": {"pause": false}})).await;
    lab.restart();
    lab.converge().await;
    assert_eq!(lab.marked().await.len(), 4);
    people
        .delete(&lab.name, &DeleteParams::default())
        .await
        .unwrap();
    lab.settle().await;
    assert!(lab.is_gone().await);
    assert!(lab.hands.traces_of(&lab.name).await.is_empty());
}

/// A laboratory with the policies in force, in which only the operator is whom they trust; and what
/// people reach.
async fn guarded(case: &str) -> (Lab<SharedAccount>, Api<api::kkp::Cluster>) {
    let cluster = cluster().await;
    let people = cluster.client();
    let documents = registry::policies(registry::ENTRIES);
    for pair in documents.chunks(2) {
        create::<ValidatingAdmissionPolicy>(&people, &pair[0]).await;
        create::<ValidatingAdmissionPolicyBinding>(&people, &pair[1]).await;
    }
    let user = names::user_of_account(names::OPERATOR_NAMESPACE, names::OPERATOR_ACCOUNT);
    let operator = cluster.client_as(User::new(&user, &[]));
    let settings = cloud_sim::Settings::default();
    (Lab::simulated(operator, settings, case), Api::all(people))
}

async fn create<K: Object>(client: &kube::Client, text: &str) {
    let object: K = serde_saphyr::from_str(text).unwrap();
    let api = api_of::<K>(client, None);
    api.create(&PostParams::default(), &object).await.unwrap();
}

/// Resources do not move: credentials that lead to another account neither find nor forget them.
#[tokio::test]
async fn another_account_is_no_place_to_work() {
    let mut lab = lab("another_account").await.unwrap();
    work_elsewhere(&mut lab).await;
}

/// The checks around the engine: without one, these cases fail. What the others are for the seeded runs
/// show.
#[tokio::test]
async fn a_missing_check_fails_a_case() {
    let all = Guards::ALL;
    let mut unplaced = lab("without_place").await.unwrap();
    unplaced.break_with(Guards {
        place: false,
        ..all
    });
    let mut rivals = lab("without_rival").await.unwrap();
    rivals.break_with(Guards {
        rival: false,
        ..all
    });
    let place = tokio::spawn(async move { work_elsewhere(&mut unplaced).await });
    assert!(place.await.is_err(), "place");
    let copies = cases::copies::the_copy_is_restored_first;
    let rival = tokio::spawn(async move { copies(&mut rivals).await });
    assert!(rival.await.is_err(), "rival");
}

async fn work_elsewhere(lab: &mut Lab<SharedAccount>) {
    lab.create(json!({}), json!({})).await;
    lab.converge().await;
    let census = lab.hands.census().await;
    let elsewhere = cloud_sim::Settings {
        number: "210987654321",
        ..cloud_sim::Settings::default()
    };
    let here = lab.lead_elsewhere(elsewhere);
    let before = calls(lab);
    lab.settle().await;
    let words = ["123456789012/eu-central-1", "210987654321/eu-central-1"];
    lab.assert_condition("Invalid", &words).await;
    lab.delete().await;
    lab.settle().await;
    assert!(!lab.is_gone().await, "its resources are still there");
    assert_eq!(calls(lab), before, "nothing is asked there");
    assert_eq!(lab.hands.census().await, census);

    lab.lead_to(here);
    lab.settle().await;
    assert!(lab.is_gone().await);
    assert!(lab.hands.traces_of(&lab.name).await.is_empty());
}

/// Until anything is made, a mistake about the place can be corrected.
#[tokio::test]
async fn a_place_where_nothing_was_made_can_be_left() {
    let mut lab = lab("left_place").await.unwrap();
    let nowhere = json!({"vpcID": "vpc-0123456789abcdef0", "disableIAMReconciling": true});
    lab.create(nowhere, json!({})).await;
    lab.settle().await;
    lab.assert_condition("Invalid", &["spec.cloud.aws.vpcID"])
        .await;
    let elsewhere = cloud_sim::Settings {
        number: "210987654321",
        ..cloud_sim::Settings::default()
    };
    lab.lead_elsewhere(elsewhere);
    lab.settle().await;
    lab.assert_condition("Invalid", &["spec.cloud.aws.vpcID"])
        .await;
    lab.delete().await;
    lab.settle().await;
    assert!(lab.is_gone().await);
}

/// A backup from before the credentials were corrected, restored in another management cluster: its
/// record tells of nothing, but who keeps it. Nothing is made a second time before a person has said
/// that the first management cluster is gone.
#[tokio::test]
async fn an_old_backup_with_other_credentials_makes_nothing_twice() {
    let mut lab = lab("old_backup").await.unwrap();
    let nowhere = json!({"vpcID": "vpc-0123456789abcdef0", "disableIAMReconciling": true});
    lab.create(nowhere, json!({})).await;
    lab.settle().await;
    lab.assert_condition("Invalid", &["spec.cloud.aws.vpcID"])
        .await;
    let mut backup = lab.backup().await;
    lab.patch(json!({"spec": {"cloud": {"aws": {"vpcID": ""}}}}))
        .await;
    lab.converge().await;
    lab.lose().await;
    let elsewhere = cloud_sim::Settings {
        number: "210987654321",
        ..cloud_sim::Settings::default()
    };
    lab.lead_elsewhere(elsewhere);
    lab.move_to("elsewhere", &[]);
    backup["spec"]["cloud"]["aws"]["vpcID"] = json!("");
    lab.restore(&backup).await;
    let groups = |lab: &Lab<SharedAccount>| lab.account().alive(&SECURITY_GROUP).count();
    let before = groups(&lab);
    lab.settle().await;
    let here = ownership::Holder::of_cluster("here");
    let command = format!("freehold take-over --from {here}");
    lab.assert_condition("Conflict", &[&command]).await;
    assert_eq!(groups(&lab), before);

    lab.move_to("elsewhere", &["here"]);
    lab.converge().await;
    assert_eq!(groups(&lab), before + 1);
}

fn calls(lab: &Lab<SharedAccount>) -> u64 {
    lab.account()
        .counters()
        .iter()
        .map(|(_, calls)| calls)
        .sum()
}
