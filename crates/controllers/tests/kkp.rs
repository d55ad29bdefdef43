//! The KKP suite on the embedded API server and the simulated AWS.
#![allow(clippy::unwrap_used, reason = "a test stops at the first surprise")]

use std::sync::Arc;

use cloud_port::aws::security_group::SECURITY_GROUP;
use cloud_sim::SharedAccount;
use controllers::reconcile::Guards;
use embedded_kube::{Cluster, TokioClock};
use kkp_suite::{Lab, cases};
use serde_json::json;

async fn lab(case: &str) -> Option<Lab<SharedAccount>> {
    let began = "2026-01-01T00:00:00Z".parse().unwrap();
    let cluster = Cluster::new(Arc::new(TokioClock::starting_at(began)));
    let client = cluster.client();
    api::manifests::install(client.clone()).await.unwrap();
    let settings = cloud_sim::Settings::default();
    Some(Lab::simulated(client, settings, case))
}

kkp_suite::cases!(lab);

/// The same laboratory without what is KKP's own.
async fn plain(case: &str) -> Option<kkp_suite::Plain<SharedAccount>> {
    Some(lab(case).await?.plain())
}

laboratory::cases!(plain);

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
