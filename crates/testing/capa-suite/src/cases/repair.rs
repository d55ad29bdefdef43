//! What somebody changed in what is ours is put right; what is in the way of its end is named.

use std::collections::BTreeSet;

use cloud_port::aws::AwsPlace;
use cloud_port::aws::classic_load_balancer::CLASSIC_LOAD_BALANCER;
use cloud_port::aws::load_balancer::HEALTH_CHECK;
use cloud_port::aws::route_table::{ROUTE, ROUTE_TABLE};
use cloud_port::aws::security_group::SECURITY_GROUP;
use cloud_port::aws::subnet::{PUBLIC_IPS, SUBNET};
use cloud_port::aws::target_group::TARGET_GROUP;
use cloud_port::aws::vpc::{DNS_ATTRIBUTE, DNS_HOSTNAMES, VPC};
use ownership::Kind;
use serde_json::{Value, json};

use crate::lab::Lab;

/// Whatever the cloud lets them take out: rules, routes, associations, the attachment of the gateway, what
/// the load balancer has.
async fn parts_are_put_back<C: AwsPlace + Clone + 'static>(lab: &Lab<C>, balancer: &str) {
    let spec = json!({"controlPlaneLoadBalancer": {"loadBalancerType": balancer}});
    lab.create(spec).await;
    lab.converge().await;
    let before = lab.everything().await;
    let mut taken = BTreeSet::new();
    for (kind, id) in ours(lab).await {
        for inner in kind.inner {
            // What a VPC says of DNS is switched, and not taken out.
            if inner.name == DNS_ATTRIBUTE {
                continue;
            }
            let parts = lab.hands.inside(kind, &id, inner.name).await;
            for key in parts.into_keys() {
                let removed = lab.hands.try_to_remove(kind, &id, inner.name, &key);
                if removed.await.is_ok() {
                    taken.insert((kind.name, inner.name));
                }
            }
        }
    }
    assert!(taken.len() >= 5, "{taken:?}");
    lab.wait(laboratory::RESYNC);
    lab.converge().await;
    lab.assert_same(&before, "as it was").await;
    lab.assert_silent().await;
    lab.end().await;
}

/// What the claim owns: Kind and id.
async fn ours<C: AwsPlace + Clone + 'static>(lab: &Lab<C>) -> Vec<(&'static Kind, String)> {
    let marked = lab.marked().await;
    let found = marked.iter().map(|it| {
        let (name, id) = it.split_once(' ').unwrap();
        let kind = lab.owns().iter().find(|kind| kind.name == name);
        (*kind.unwrap(), id.to_owned())
    });
    found.collect()
}

/// With a classic load balancer.
pub async fn every_part_that_somebody_took_out_is_put_back<C: AwsPlace + Clone + 'static>(
    lab: &mut Lab<C>,
) {
    parts_are_put_back(lab, "classic").await;
}

/// With a network load balancer.
pub async fn every_part_of_a_network_load_balancer_is_put_back<C: AwsPlace + Clone + 'static>(
    lab: &mut Lab<C>,
) {
    parts_are_put_back(lab, "nlb").await;
}

/// Properties, and parts that are there with another value.
pub async fn what_somebody_changed_is_put_right<C: AwsPlace + Clone + 'static>(lab: &mut Lab<C>) {
    lab.create_sample().await;
    lab.converge().await;
    let (before, network) = (lab.everything().await, lab.network().await);
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let (public, private) = (&network["subnets"][0], &network["subnets"][1]);
    let (hands, vpc) = (&lab.hands, text(&network["vpc"]["id"]));
    let subnet = text(&public["resourceID"]);
    hands.update(&SUBNET, &subnet, PUBLIC_IPS, "false").await;
    hands
        .add(&VPC, &vpc, DNS_ATTRIBUTE, DNS_HOSTNAMES, "false")
        .await;
    // Machines without public addresses would be cut off.
    let (table, gateway) = (
        text(&private["routeTableId"]),
        text(&network["vpc"]["internetGatewayId"]),
    );
    hands
        .add(&ROUTE_TABLE, &table, ROUTE, "0.0.0.0/0", &gateway)
        .await;
    let balancer = hands.all(&CLASSIC_LOAD_BALANCER).await.remove(0);
    let (id, check) = (balancer.id.to_string(), balancer.props.get(HEALTH_CHECK));
    let other = check.unwrap().replace("6443", "80");
    hands
        .update(&CLASSIC_LOAD_BALANCER, &id, HEALTH_CHECK, &other)
        .await;
    let during = lab.everything().await;
    let changed = before.iter().filter(|(id, said)| during[*id] != **said);
    assert_eq!(changed.count(), 4);
    lab.wait(laboratory::RESYNC);
    lab.converge().await;
    lab.assert_same(&before, "as it was").await;
    lab.assert_silent().await;
}

/// The same in the targets of a network load balancer.
pub async fn a_target_group_that_somebody_changed_is_put_right<C: AwsPlace + Clone + 'static>(
    lab: &mut Lab<C>,
) {
    lab.create(json!({"controlPlaneLoadBalancer": {"loadBalancerType": "nlb"}}))
        .await;
    lab.converge().await;
    let before = lab.everything().await;
    let targets = lab.hands.all(&TARGET_GROUP).await.remove(0);
    let (id, check) = (targets.id.to_string(), targets.props.get(HEALTH_CHECK));
    let other = check.unwrap().replace("every 10", "every 30");
    lab.hands
        .update(&TARGET_GROUP, &id, HEALTH_CHECK, &other)
        .await;
    assert_ne!(lab.everything().await, before);
    lab.wait(laboratory::RESYNC);
    lab.converge().await;
    lab.assert_same(&before, "as it was").await;
}

/// Tags that a person wants on everything follow the object; a tag of somebody else's stays.
pub async fn tags_follow_the_object<C: AwsPlace + Clone + 'static>(lab: &mut Lab<C>) {
    lab.create_sample().await;
    lab.converge().await;
    for (kind, id) in ours(lab).await {
        lab.hands.tag(kind, &id, &[("theirs", "stays")]).await;
    }
    for team in [json!("blue"), json!("green"), Value::Null] {
        lab.edit(json!({"additionalTags": {"team": team}})).await;
        lab.converge().await;
        for kind in lab.owns() {
            for it in lab.hands.all(kind).await {
                let tags = laboratory::tags(&it);
                if !tags.keys().any(|key| key.starts_with("freehold.dev/")) {
                    continue;
                }
                let told = tags.get("team").map(String::as_str);
                assert_eq!(told, team.as_str(), "{it:?}");
                assert_eq!(tags["theirs"], "stays", "{it:?}");
            }
        }
    }
    lab.assert_silent().await;
    lab.end().await;
}

/// Somebody's subnet and group in our VPC are nobody's to delete: the end waits, and says for what.
pub async fn what_stands_in_the_way_of_the_end_is_named<C: AwsPlace + Clone + 'static>(
    lab: &mut Lab<C>,
) {
    let before = lab.everything().await;
    let vpc = json!({"vpc": {"cidrBlock": "10.0.0.0/16"}, "subnets": subnets(lab).await});
    lab.create(json!({"network": vpc})).await;
    lab.converge().await;
    let network = lab.network().await;
    let vpc = network["vpc"]["id"].as_str().unwrap();
    let zone = lab.zones().await.swap_remove(0);
    let props = [("vpc", vpc), ("cidr", "10.0.128.0/24"), ("zone", &*zone)];
    let subnet = lab.hands.make(&SUBNET, "", &props, &[]).await;
    let props = [("vpc", vpc), ("description", "by hand")];
    let group = lab.hands.make(&SECURITY_GROUP, "theirs", &props, &[]).await;
    lab.delete().await;
    lab.settle().await;
    assert!(!lab.is_gone().await);
    lab.assert_condition("Blocked", &[vpc, &subnet, &group])
        .await;
    assert_eq!(lab.marked().await.len(), 1, "the VPC is left");
    lab.hands.delete(&SUBNET, &subnet).await;
    lab.hands.delete(&SECURITY_GROUP, &group).await;
    lab.settle().await;
    assert!(lab.is_gone().await);
    lab.assert_same(&before, "law 3").await;
}

/// Subnets in one zone that leave room for others.
async fn subnets<C: AwsPlace + Clone + 'static>(lab: &Lab<C>) -> Value {
    let zone = lab.zones().await.swap_remove(0);
    json!([
        {"id": "one", "availabilityZone": zone, "cidrBlock": "10.0.0.0/24", "isPublic": true},
        {"id": "two", "availabilityZone": zone, "cidrBlock": "10.0.1.0/24"},
    ])
}
