//! Clusters whose record is lost, and ids that people write: nothing of ours is taken away, made twice or
//! overlooked.

use api::names::LEDGER;
use cloud_port::aws::classic_load_balancer::CLASSIC_LOAD_BALANCER;
use cloud_port::aws::security_group::SECURITY_GROUP;
use cloud_port::aws::subnet::SUBNET;
use cloud_port::aws::vpc::VPC;
use cloud_sim::Actor;
use ownership::Target;
use ownership::mark::Tags;
use ownership::part::Props;
use serde_json::{Value, json};

use crate::small::{Lab, create, lab, object};

fn removed(lab: &Lab, since: usize) -> Vec<String> {
    let account = lab.account();
    let deeds = account.deeds()[since..].iter();
    deeds
        .map(|deed| format!("{} {:?}", deed.victim.id, deed.harm))
        .collect()
}

fn guarded() -> Value {
    json!({"controlPlaneLoadBalancer": {"ingressRules": [{
        "description": "the office", "protocol": "tcp", "fromPort": 6443, "toPort": 6443,
        "cidrBlocks": ["203.0.113.0/24"],
    }]}})
}

/// Somebody's VPC with two subnets, as an object names them.
fn brought(lab: &Lab) -> Value {
    let mut account = lab.account();
    let mut plant = |kind, pairs: &[(&'static str, &str)]| -> Target {
        let pairs = pairs.iter();
        let props: Props = pairs.map(|(key, value)| (*key, (*value).into())).collect();
        let planted = account.plant(Actor::Stranger, kind, "", &props, &Tags::new());
        planted.unwrap()
    };
    let vpc = plant(&VPC, &[("cidr", "10.7.0.0/16")]);
    let vpc = vpc.id.as_str();
    let first = [("vpc", vpc), ("cidr", "10.7.0.0/24"), ("zone", "zone-a")];
    let second = [("vpc", vpc), ("cidr", "10.7.1.0/24"), ("zone", "zone-b")];
    let [first, second] = [first, second].map(|props| plant(&SUBNET, &props));
    json!({"network": {
        "vpc": {"id": vpc},
        "subnets": [
            {"id": first.id.as_str(), "availabilityZone": "zone-a", "isPublic": true},
            {"id": second.id.as_str(), "availabilityZone": "zone-b"},
        ],
    }})
}

/// Law 5, law 1: the record is lost, and what is ours is found by marks. Nothing that is still wanted is
/// taken away meanwhile: here the machines' own way to the API server.
#[tokio::test]
async fn law_5_a_lost_record_takes_no_rule_away() {
    let mut lab = lab("rule").await.unwrap();
    create(&lab, guarded()).await;
    lab.converge().await;
    let deeds = lab.account().deeds().len();
    lab.patch(json!({"metadata": {"annotations": {LEDGER: null}}}))
        .await;
    lab.restart();
    lab.converge().await;
    let removed = removed(&lab, deeds);
    assert!(removed.is_empty(), "law 5: {removed:#?}");
}

/// Law 5: the same, with a rule that names the NAT gateways: the object stays valid.
#[tokio::test]
async fn law_5_a_lost_record_makes_no_object_invalid() {
    let mut lab = lab("nat_rule").await.unwrap();
    let spec = json!({"controlPlaneLoadBalancer": {"ingressRules": [{
        "description": "machines", "protocol": "tcp", "fromPort": 6443, "toPort": 6443,
        "natGatewaysIPsSource": true,
    }]}});
    create(&lab, spec).await;
    lab.converge().await;
    lab.patch(json!({"metadata": {"annotations": {LEDGER: null}}}))
        .await;
    lab.restart();
    lab.converge().await;
}

/// Law 2: another name for the load balancer, and the record is lost: the one that is there is found by
/// its mark.
#[tokio::test]
async fn law_2_another_name_and_a_lost_record_make_no_second_load_balancer() {
    let mut lab = lab("renamed").await.unwrap();
    lab.create_sample().await;
    lab.converge().await;
    lab.patch(json!({
        "metadata": {"annotations": {LEDGER: null}},
        "spec": {"controlPlaneLoadBalancer": {"name": "another"}},
    }))
    .await;
    lab.restart();
    lab.settle().await;
    let balancers = lab.account().alive(&CLASSIC_LOAD_BALANCER).count();
    let told = lab.condition("Ready").await;
    assert_eq!(balancers, 1, "law 2: {told:?}");
}

/// Law 1, law 6: the user names as an override the very group that we made for him. It fills a slot: it is
/// not ended because another slot does not want it any more.
#[tokio::test]
async fn law_6_a_group_of_ours_that_the_user_names_as_an_override_stays() {
    let lab = lab("override").await.unwrap();
    let spec = brought(&lab);
    create(&lab, spec).await;
    lab.converge().await;
    let group = object(&lab).await["status"]["networkStatus"]["securityGroups"]["lb"]["id"].take();
    lab.patch(json!({"spec": {"network": {"securityGroupOverrides": {"lb": group}}}}))
        .await;
    for _ in 0..3 {
        lab.settle().await;
        lab.wait(laboratory::RESYNC);
    }
    let told = lab.condition("Ready").await.unwrap();
    // He has named one: it is refused or used, but not overlooked for whatever else there is.
    assert!(!told.message.contains("none is named"), "law 6: {told:?}");
    let account = lab.account();
    let mut groups = account.alive(&SECURITY_GROUP);
    let group = group.as_str().unwrap();
    assert!(
        groups.any(|it| it.id.as_str() == group),
        "law 6: {group} is gone: {told:?}"
    );
}
