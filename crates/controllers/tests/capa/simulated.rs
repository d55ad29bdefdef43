//! What only the simulated account can do: quotas that are reached, zones that open.

use capa_suite::TWO_ZONES;
use cloud_port::aws::elastic_ip::ELASTIC_IP;
use cloud_port::aws::subnet::SUBNET;
use cloud_port::aws::vpc::VPC;
use cloud_sim::{Quotas, Settings};
use serde_json::json;

use crate::lab::with;
use crate::small::settings;

/// A zone that the region gets later, and an object that has forgotten its subnets, change nothing.
#[tokio::test]
async fn what_was_chosen_stays_chosen() {
    let mut lab = with("chosen", settings(2)).await;
    lab.create(json!({"network": {"vpc": {"availabilityZoneUsageLimit": 3}}}))
        .await;
    lab.converge().await;
    let (before, said) = (lab.marked().await, lab.network().await);
    assert_eq!(before.len(), TWO_ZONES);
    lab.account().open_zone();
    lab.edit(json!({"network": {"subnets": null}})).await;
    lab.restart();
    lab.converge().await;
    assert_eq!(lab.marked().await, before);
    lab.edit(json!({"additionalTags": {"team": "blue"}})).await;
    lab.converge().await;
    assert_eq!(lab.network().await["subnets"], said["subnets"]);
    assert_eq!(lab.marked().await, before);
}

#[tokio::test]
async fn a_quota_of_vpcs_is_told_and_recovered_from() {
    let account = Settings {
        quotas: Quotas::default().resources(&VPC, 2),
        ..settings(2)
    };
    let lab = with("quota", account).await;
    let other = lab.hands.make(&VPC, "", &[("cidr", "10.9.0.0/16")], &[]);
    let other = other.await;
    lab.create_sample().await;
    lab.settle().await;
    let ready = lab.condition("Ready").await.unwrap();
    assert!(!ready.holds, "{ready:?}");
    for words in [
        "VpcLimitExceeded",
        "VPCs per Region in eu-central-1: 2 used",
    ] {
        assert!(ready.message.contains(words), "{words}: {ready:?}");
    }
    // A gateway and addresses need no VPC.
    let made = lab.marked().await;
    assert_eq!(made.len(), 1 + 2, "{made:#?}");
    lab.hands.delete(&VPC, &other).await;
    lab.wait(laboratory::RESYNC);
    lab.converge().await;
    assert_eq!(lab.marked().await.len(), TWO_ZONES);
    lab.end().await;
}

/// What does not need the address goes on; nothing is made twice.
#[tokio::test]
async fn a_quota_of_addresses_holds_only_what_needs_one() {
    let account = Settings {
        quotas: Quotas::default().resources(&ELASTIC_IP, 2),
        ..settings(2)
    };
    let lab = with("addresses", account).await;
    let other = lab.hands.make(&ELASTIC_IP, "", &[], &[]).await;
    lab.create_sample().await;
    lab.settle().await;
    let ready = lab.condition("Ready").await.unwrap();
    assert!(!ready.holds, "{ready:?}");
    let used = "EC2-VPC Elastic IPs in eu-central-1: 2 used";
    for words in ["AddressLimitExceeded", used] {
        assert!(ready.message.contains(words), "{words}: {ready:?}");
    }
    let subnets = lab.account().alive(&SUBNET).count();
    assert_eq!(subnets, 4 + 2, "and those of the default VPC");
    let before = lab.marked().await;
    lab.hands.delete(&ELASTIC_IP, &other).await;
    lab.wait(laboratory::RESYNC);
    lab.converge().await;
    let after = lab.marked().await;
    assert_eq!(after.len(), TWO_ZONES);
    assert!(after.is_superset(&before), "what there was is used");
    lab.end().await;
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
    let vpc = lab.network().await["vpc"]["id"].take();
    let used = format!("Subnets per VPC in {}: 3 used", vpc.as_str().unwrap());
    assert!(!ready.holds && ready.message.contains(&used), "{ready:?}");
    lab.end().await;
}
