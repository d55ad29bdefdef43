//! Whole clusters, from nothing to ready to gone; zones that come and go; what is forgotten.

use api::names::{CLAIM_UUID, LEDGER};
use cloud_port::aws::elastic_ip::ELASTIC_IP;
use cloud_port::aws::subnet::SUBNET;
use cloud_port::aws::vpc::VPC;
use cloud_sim::{Actor, Quotas, Settings};
use ownership::Target;
use ownership::mark::Tags;
use ownership::part::Props;
use serde_json::{Value, json};

use crate::lab::{Lab, TWO_ZONES, around, create, end, lab, object, settings, with};

/// The names of the subnets that the object records.
fn subnets(object: &Value) -> Vec<String> {
    let list = object["spec"]["network"]["subnets"].as_array();
    let ids = list
        .into_iter()
        .flatten()
        .map(|it| it["id"].as_str().unwrap());
    ids.map(str::to_owned).collect()
}

#[tokio::test]
async fn two_zones_from_nothing_to_ready_to_gone() {
    let lab = lab("two_zones").await.unwrap();
    lab.create_sample().await;
    lab.converge().await;
    assert_eq!(lab.marked().await.len(), TWO_ZONES);
    let object = object(&lab).await;
    let (spec, status) = (&object["spec"], &object["status"]);
    assert_eq!(
        subnets(&object),
        [
            "prod-subnet-public-zone-a",
            "prod-subnet-private-zone-a",
            "prod-subnet-public-zone-b",
            "prod-subnet-private-zone-b",
        ]
    );
    for subnet in spec["network"]["subnets"].as_array().unwrap() {
        for field in [
            "resourceID",
            "routeTableId",
            "cidrBlock",
            "availabilityZone",
        ] {
            assert!(subnet[field].is_string(), "{field} of {subnet}");
        }
        assert_eq!(
            subnet["natGatewayId"].is_string(),
            subnet["isPublic"] == true
        );
    }
    assert!(spec["network"]["vpc"]["id"].is_string());
    assert!(spec["network"]["vpc"]["internetGatewayId"].is_string());
    assert_eq!(spec["controlPlaneEndpoint"]["port"], 6443);
    let host = spec["controlPlaneEndpoint"]["host"].as_str().unwrap();
    assert!(host.contains("two-zones-prod-apiserver"), "{host}");
    assert_eq!(status["ready"], true);
    assert_eq!(
        status["failureDomains"],
        json!({"zone-a": {"controlPlane": true}, "zone-b": {"controlPlane": true}})
    );
    let network = &status["networkStatus"];
    assert_eq!(network["apiServerElb"]["dnsName"], host);
    assert_eq!(network["natGatewaysIPs"].as_array().unwrap().len(), 2);
    assert_eq!(network["securityGroups"]["node"]["name"], "prod-node");
    lab.assert_silent().await;
    end(&lab).await;
    assert_untouched(&lab);
}

/// Nothing of ours lives on.
fn assert_untouched(lab: &Lab) {
    let account = lab.account();
    let ours = account.lives();
    let ours = ours.filter(|life| life.is_alive() && matches!(life.by, Actor::Engine(_)));
    let left: Vec<String> = ours.map(|life| life.target.to_string()).collect();
    assert!(left.is_empty(), "law 3: {left:#?}");
}

#[tokio::test]
async fn three_zones_behind_a_network_load_balancer() {
    let lab = with("three_zones", settings(3)).await;
    create(
        &lab,
        json!({"controlPlaneLoadBalancer": {"loadBalancerType": "nlb"}}),
    )
    .await;
    lab.converge().await;
    assert_eq!(lab.marked().await.len(), 1 + 1 + 6 + 6 + 3 + 3 + 4 + 2);
    let status = object(&lab).await["status"].take();
    assert_eq!(
        status["networkStatus"]["apiServerElb"]["loadBalancerType"],
        "nlb"
    );
    lab.assert_silent().await;
    end(&lab).await;
    assert_untouched(&lab);
}

/// A zone that the region gets later, and an object that has forgotten its subnets, change nothing.
#[tokio::test]
async fn what_was_chosen_stays_chosen() {
    let mut lab = lab("chosen").await.unwrap();
    lab.create_sample().await;
    lab.converge().await;
    let (before, said) = (lab.marked().await, subnets(&object(&lab).await));
    lab.account().open_zone();
    lab.patch(json!({"spec": {"network": {"subnets": null}}}))
        .await;
    lab.restart();
    lab.converge().await;
    assert_eq!(lab.marked().await, before);
    lab.patch(json!({"spec": {"additionalTags": {"team": "blue"}}}))
        .await;
    lab.converge().await;
    assert_eq!(subnets(&object(&lab).await), said);
    assert_eq!(lab.marked().await, before);
}

#[tokio::test]
async fn a_zone_less_and_a_zone_more() {
    let lab = lab("zones").await.unwrap();
    lab.create_sample().await;
    lab.converge().await;
    let all = object(&lab).await["spec"]["network"]["subnets"].take();
    let fewer: Vec<Value> = all.as_array().unwrap()[..2].to_vec();
    lab.patch(json!({"spec": {"network": {"subnets": fewer}}}))
        .await;
    lab.settle().await;
    lab.converge().await;
    // Two subnets with their tables, a NAT gateway and its address have gone.
    assert_eq!(lab.marked().await.len(), TWO_ZONES - 6);
    let domains = object(&lab).await["status"]["failureDomains"].take();
    assert_eq!(domains, json!({"zone-a": {"controlPlane": true}}));
    let again: Vec<Value> = all.as_array().unwrap()[2..]
        .iter()
        .map(|subnet| {
            json!({
                "id": subnet["id"], "cidrBlock": subnet["cidrBlock"],
                "availabilityZone": subnet["availabilityZone"], "isPublic": subnet["isPublic"],
            })
        })
        .collect();
    let mut more = object(&lab).await["spec"]["network"]["subnets"].take();
    more.as_array_mut().unwrap().extend(again);
    lab.patch(json!({"spec": {"network": {"subnets": more}}}))
        .await;
    lab.converge().await;
    assert_eq!(lab.marked().await.len(), TWO_ZONES);
    lab.assert_silent().await;
    end(&lab).await;
}

/// Deletion is by marks: no recorded id is needed, in the spec or in the record.
#[tokio::test]
async fn an_object_that_has_forgotten_everything_leaves_nothing() {
    let mut lab = lab("forgotten").await.unwrap();
    lab.create_sample().await;
    lab.converge().await;
    lab.patch(json!({
        "spec": {"network": null, "controlPlaneEndpoint": null},
        "metadata": {"annotations": {LEDGER: null}},
    }))
    .await;
    lab.restart();
    end(&lab).await;
    assert_untouched(&lab);
}

/// Two clusters of one name in two namespaces are two networks.
#[tokio::test]
async fn the_same_name_in_two_namespaces() {
    let lab = lab("north").await.unwrap();
    lab.create_sample().await;
    lab.converge().await;
    let first = lab.marked().await;
    let mut other = around(lab.client.clone(), "south", settings(2)).await;
    other.lead_to(lab.cloud().clone());
    other.create_sample().await;
    other.settle_as(&other.name).await;
    let ready = other.condition("Ready").await.unwrap();
    assert!(ready.holds, "{ready:?}");
    assert_eq!(other.marked().await.len(), 2 * TWO_ZONES, "in one account");
    lab.delete().await;
    lab.settle().await;
    assert!(lab.is_gone().await);
    let left = other.marked().await;
    assert_eq!(left.len(), TWO_ZONES, "each has its own");
    assert!(left.is_disjoint(&first));
}

/// A VPC that is in nobody's way but the quota's.
fn plant_vpc(lab: &Lab) -> Target {
    let props: Props = [("cidr", "10.9.0.0/16".into())].into_iter().collect();
    let mut account = lab.account();
    let planted = account.plant(Actor::Stranger, &VPC, "", &props, &Tags::new());
    planted.unwrap()
}

#[tokio::test]
async fn a_quota_is_told_and_recovered_from() {
    let account = Settings {
        quotas: Quotas::default().resources(&VPC, 2),
        ..settings(2)
    };
    let lab = with("quota", account).await;
    let other = plant_vpc(&lab);
    lab.create_sample().await;
    lab.settle().await;
    let ready = lab.condition("Ready").await.unwrap();
    assert!(
        !ready.holds && ready.message.contains("VpcLimitExceeded"),
        "{ready:?}"
    );
    let used = "VPCs per Region in eu-central-1: 2 used";
    assert!(ready.message.contains(used), "{ready:?}");
    // A gateway and addresses need no VPC.
    let made = lab.marked().await;
    assert_eq!(made.len(), 1 + 2, "{made:#?}");
    lab.account().delete(Actor::Stranger, &other).unwrap();
    lab.wait(laboratory::RESYNC);
    lab.converge().await;
    assert_eq!(lab.marked().await.len(), TWO_ZONES);
}

/// What does not need the address goes on; nothing is made twice.
#[tokio::test]
async fn a_quota_of_addresses_holds_only_what_needs_one() {
    let account = Settings {
        quotas: Quotas::default().resources(&ELASTIC_IP, 1),
        ..settings(2)
    };
    let lab = with("addresses", account).await;
    lab.create_sample().await;
    lab.settle().await;
    let ready = lab.condition("Ready").await.unwrap();
    assert!(
        !ready.holds && ready.message.contains("AddressLimitExceeded"),
        "{ready:?}"
    );
    let used = "EC2-VPC Elastic IPs in eu-central-1: 1 used";
    assert!(ready.message.contains(used), "{ready:?}");
    let subnets = lab.account().alive(&SUBNET).count();
    assert_eq!(subnets, 4 + 2, "and those of the default VPC");
    end(&lab).await;
}

/// A quota of a VPC counts what is in this one.
#[tokio::test]
async fn a_quota_of_one_vpc_is_told_with_what_is_in_it() {
    let account = Settings {
        quotas: Quotas::default().resources(&SUBNET, 3),
        ..settings(2)
    };
    let lab = with("subnets", account).await;
    lab.create_sample().await;
    lab.settle().await;
    let ready = lab.condition("Ready").await.unwrap();
    let vpc = object(&lab).await["spec"]["network"]["vpc"]["id"].take();
    let used = format!("Subnets per VPC in {}: 3 used", vpc.as_str().unwrap());
    assert!(!ready.holds && ready.message.contains(&used), "{ready:?}");
    end(&lab).await;
}

/// Without its record an object cannot tell the ids that we wrote from a person's. Marks can.
#[tokio::test]
async fn a_record_that_was_lost_changes_nothing() {
    let mut lab = lab("lost").await.unwrap();
    lab.create_sample().await;
    lab.converge().await;
    let before = lab.marked().await;
    let none = json!({"metadata": {"annotations": {LEDGER: null}}});
    lab.patch(none).await;
    lab.restart();
    lab.converge().await;
    assert_eq!(lab.marked().await, before);
    lab.assert_silent().await;
    end(&lab).await;
    assert_untouched(&lab);
}

/// Whoever takes the claim's annotation off makes nobody forget what is ours: its finalizer keeps it.
#[tokio::test]
async fn a_claim_whose_annotation_was_taken_off_changes_nothing() {
    let lab = lab("annotation").await.unwrap();
    lab.create_sample().await;
    lab.converge().await;
    let (before, deeds) = (lab.marked().await, lab.account().deeds().len());
    let none = json!({"metadata": {"annotations": {CLAIM_UUID: null}}});
    lab.patch(none).await;
    lab.converge().await;
    assert_eq!(lab.marked().await, before);
    assert_eq!(lab.account().deeds().len(), deeds, "nothing is taken away");
}
