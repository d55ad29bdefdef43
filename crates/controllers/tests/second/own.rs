//! What only such a system has: an owner that it waits for, a Secret, fields that are not served, ids
//! in its status.

use api::names::{CLAIM_UUID, LEDGER};
use cloud_port::aws::security_group::{RULE, SECURITY_GROUP};
use cloud_port::aws::vpc::VPC;
use controllers::reconcile::generated;
use ownership::{Claim, ResourceId, Target};
use serde_json::{Value, json};

use crate::lab::{Lab, create_yard, edit_yard, lab, remove_yard};

/// The keys of the rules of the only group that the system made.
fn rules(lab: &Lab, id: &str) -> Vec<String> {
    let group = Target::new(&SECURITY_GROUP, ResourceId::new(id));
    let account = lab.account();
    let rules = account.parts(&group, RULE).iter();
    rules.map(|rule| rule.key.to_string()).collect()
}

async fn status(lab: &Lab) -> Value {
    lab.object().await.status.unwrap_or_default()
}

#[tokio::test]
async fn an_object_waits_for_its_owner() {
    let lab = lab("waits").await.unwrap();
    remove_yard(&lab).await;
    lab.create_sample().await;
    lab.settle().await;
    let ready = lab.condition("Ready").await.unwrap();
    assert_eq!((ready.holds, ready.reason.as_str()), (false, "Waiting"));
    assert_eq!(ready.message, "waits for the yard yard");
    assert!(lab.marked().await.is_empty());
    create_yard(&lab).await;
    lab.converge().await;
    assert_eq!(lab.marked().await.len(), 1);
}

#[tokio::test]
async fn an_owner_that_is_paused_pauses() {
    let lab = lab("paused").await.unwrap();
    edit_yard(&lab, json!({"spec": {"paused": true}})).await;
    lab.create_sample().await;
    lab.settle().await;
    lab.assert_condition("Paused", &["the yard is paused"])
        .await;
    assert!(lab.marked().await.is_empty());
    edit_yard(&lab, json!({"spec": {"paused": false}})).await;
    lab.converge().await;
    assert_eq!(lab.condition("Paused").await.map(|c| c.holds), Some(false));
}

#[tokio::test]
async fn a_secret_that_is_missing_is_told() {
    let lab = lab("secret").await.unwrap();
    lab.create_sample().await;
    lab.patch(json!({"spec": {"key": {"name": "other"}}})).await;
    lab.settle().await;
    lab.assert_condition("Invalid", &["spec.key.name", "\"other\""])
        .await;
    assert!(lab.marked().await.is_empty());
    lab.patch(json!({"spec": {"key": {"name": "key"}}})).await;
    lab.converge().await;
}

#[tokio::test]
async fn a_field_that_is_not_served_is_named_and_makes_nothing() {
    let lab = lab("unserved").await.unwrap();
    let mut sample = lab.sample.manifest.clone();
    sample["spec"]["bell"] = json!({"enabled": true});
    lab.create_object(&sample).await;
    lab.settle().await;
    lab.assert_condition("Invalid", &["spec.bell", "is not served"])
        .await;
    assert!(lab.marked().await.is_empty());
    // What asks for nothing, and the definition's own default, are not set.
    lab.patch(json!({"spec": {"bell": {"enabled": false}}}))
        .await;
    lab.converge().await;
    let said = serde_json::to_value(lab.object().await).unwrap();
    assert_eq!(said["spec"]["hinge"], "left");
}

#[tokio::test]
async fn ids_stand_in_the_status_and_facts_in_the_rules() {
    let lab = lab("ids").await.unwrap();
    lab.create_sample().await;
    lab.converge().await;
    let status = status(&lab).await;
    let id = status["securityGroupID"].as_str().unwrap().to_owned();
    assert_eq!(rules(&lab, &id), ["ingress tcp 443-443 10.0.0.0/8"]);
    assert_eq!(
        status["network"], "172.31.0.0/16",
        "what the cloud says of it"
    );
    let conditions = status["conditions"].as_array().unwrap();
    assert!(conditions.iter().any(|one| one["type"] == "Ready"));

    edit_yard(&lab, json!({"spec": {"from": "10.1.0.0/16"}})).await;
    lab.converge().await;
    assert_eq!(rules(&lab, &id), ["ingress tcp 443-443 10.1.0.0/16"]);
}

/// A record that is set back does not know of a rule that was written since; its own mark does, also
/// where no rule is wanted any more.
#[tokio::test]
async fn a_rule_that_the_record_does_not_know_is_closed() {
    let mut lab = lab("forgotten").await.unwrap();
    let mut sample = lab.sample.manifest.clone();
    sample["spec"]["ports"] = json!([]);
    lab.create_object(&sample).await;
    lab.converge().await;
    let before = lab.backup().await;
    lab.patch(json!({"spec": {"ports": [443]}})).await;
    lab.converge().await;
    let status = status(&lab).await;
    let id = status["securityGroupID"].as_str().unwrap();
    assert_eq!(rules(&lab, id), ["ingress tcp 443-443 10.0.0.0/8"]);
    let annotations = &before["metadata"]["annotations"];
    lab.patch(json!({"metadata": {"annotations": annotations}, "spec": {"ports": []}}))
        .await;
    lab.restart();
    lab.converge().await;
    assert!(rules(&lab, id).is_empty(), "law 6");
}

/// Two objects of one name in two namespaces are two claims.
#[tokio::test]
async fn a_namesake_in_another_namespace_is_another() {
    let lab = lab("namesake").await.unwrap();
    lab.create_sample().await;
    lab.converge().await;
    let mut other = crate::lab::around(lab.client.clone(), "namesake_other").await;
    other.lead_to(lab.cloud().clone());
    let mut sample = other.sample.manifest.clone();
    sample["metadata"]["name"] = json!(lab.name);
    other.create_object(&sample).await;
    other.settle_as(&lab.name).await;
    assert_eq!(other.marked().await.len(), 2, "in one account");
    lab.delete().await;
    lab.settle().await;
    assert!(lab.is_gone().await);
    assert_eq!(other.marked().await.len(), 1, "each has its own");
}

/// A cluster mark names the cluster alone: it stays on what a namesake uses that owns nothing.
#[tokio::test]
async fn what_a_namesake_uses_keeps_its_cluster_mark() {
    for used in [false, true] {
        let lab = lab("uses").await.unwrap();
        lab.create_sample().await;
        lab.converge().await;
        let vpc = default_vpc(&lab);
        assert!(has_cluster_mark(&lab, &vpc));
        let other = crate::lab::around(lab.client.clone(), "uses_other").await;
        let uuid = "7f6a2f2e-58b5-4c1f-9d0e-0a3f4f1f2b11";
        let claim = Claim::new("Gate.second.freehold.dev", "uses-other", &lab.name, uuid).unwrap();
        let ids = if used {
            json!({"vpc": vpc.id.as_str()})
        } else {
            json!({})
        };
        let record = json!({"claim": claim.hash().as_str(), "ids": ids}).to_string();
        let mut sample = other.sample.manifest.clone();
        sample["metadata"]["name"] = json!(lab.name);
        sample["metadata"]["annotations"] = json!({CLAIM_UUID: uuid, LEDGER: record});
        other.create_object(&sample).await;
        lab.delete().await;
        lab.settle().await;
        assert!(lab.is_gone().await);
        assert_eq!(has_cluster_mark(&lab, &vpc), used);
    }
}

fn default_vpc(lab: &Lab) -> Target {
    let account = lab.account();
    let mut vpcs = account.alive(&VPC);
    Target::new(&VPC, vpcs.next().unwrap().id.clone())
}

fn has_cluster_mark(lab: &Lab, vpc: &Target) -> bool {
    let account = lab.account();
    let vpc = account.alive(&VPC).find(|it| it.id == vpc.id).unwrap();
    let key = format!("kubernetes.io/cluster/{}", lab.name);
    vpc.tags.get(&key).is_some()
}

/// An object that was generated, lost and generated again is the same claim.
#[tokio::test]
async fn what_is_generated_again_finds_what_it_had() {
    let lab = lab("generated").await.unwrap();
    let uuid = "7f6a2f2e-58b5-4c1f-9d0e-0a3f4f1f2b11";
    let parent = Claim::new("Mesh.second.freehold.dev", "", "mesh", uuid).unwrap();
    let (kind, namespace) = ("Gate.second.freehold.dev", "generated");
    let derived = Claim::derived(&parent, kind, namespace, &lab.name).unwrap();
    let edge = Claim::edge(&[&parent, &derived], kind, namespace, &lab.name).unwrap();
    for claim in [derived, edge] {
        let mut gate = lab.sample.manifest.clone();
        gate["metadata"] = serde_json::to_value(generated(&claim, None)).unwrap();
        lab.create_object(&gate).await;
        lab.converge().await;
        let (made, uid) = (lab.marked().await, lab.metadata().await.uid);
        assert_eq!(made.len(), 1);
        lab.lose().await;
        lab.create_object(&gate).await;
        lab.converge().await;
        assert_ne!(lab.metadata().await.uid, uid, "another object");
        assert_eq!(lab.marked().await, made, "the same claim");
        lab.delete().await;
        lab.settle().await;
        assert!(lab.is_gone().await && lab.marked().await.is_empty());
    }
}
