//! Security groups and their rules.

use std::slice::from_ref;

use cloud_port::Cloud;
use cloud_port::aws::security_group::{RULE, SECURITY_GROUP};
use cloud_port::aws::vpc::VPC;
use ownership::Target;

use super::network::default_vpc;
use crate::steps::*;
use crate::transcript::Transcript;

async fn new_group<C: Cloud>(cloud: &mut Transcript<'_, C>, vpc: &str, name: &str) -> Target {
    let with = [("vpc", vpc), ("description", "nodes of a cluster")];
    let order = create(&SECURITY_GROUP, name, &with, &[("freehold.dev/a", name)]);
    cloud.create(order).await.expect("created")
}

async fn own_vpc<C: Cloud>(cloud: &mut Transcript<'_, C>) -> String {
    let order = create(&VPC, "", &[("cidr", "10.7.0.0/16")], &[]);
    let vpc = cloud.create(order).await.expect("created");
    vpc.id.as_str().to_owned()
}

pub(crate) async fn a_group_lives<C: Cloud>(cloud: &mut Transcript<'_, C>) {
    let vpc = default_vpc(cloud).await;
    let group = new_group(cloud, &vpc, "kubernetes-a").await;
    cloud.ask(by_id(&group)).await;
    cloud
        .ask(by_name(
            &SECURITY_GROUP,
            "kubernetes-a",
            Some(("vpc", &vpc)),
        ))
        .await;
    cloud
        .ask(by_name(
            &SECURITY_GROUP,
            "kubernetes-*",
            Some(("vpc", &vpc)),
        ))
        .await;
    cloud
        .ask(by_name(
            &SECURITY_GROUP,
            "Kubernetes-a",
            Some(("vpc", &vpc)),
        ))
        .await;
    cloud.ask(by_mark(&SECURITY_GROUP, "freehold.dev/a")).await;
    cloud.ask(inside(&group, RULE)).await;
    let with = [("vpc", vpc.as_str()), ("description", "another")];
    cloud
        .create(create(&SECURITY_GROUP, "kubernetes-a", &with, &[]))
        .await;
    let elsewhere = own_vpc(cloud).await;
    let namesake = new_group(cloud, &elsewhere, "kubernetes-a").await;
    cloud
        .ask(by_name(
            &SECURITY_GROUP,
            "kubernetes-a",
            Some(("vpc", &vpc)),
        ))
        .await;
    cloud.act(delete(&SECURITY_GROUP, &namesake)).await;
    cloud.act(delete(&SECURITY_GROUP, &group)).await;
    cloud.act(delete(&SECURITY_GROUP, &group)).await;
    cloud.ask(by_id(&group)).await;
    let nowhere = [("vpc", "vpc-0123456789abcdef0"), ("description", "x")];
    cloud.moto_differs("group-in-no-vpc");
    cloud
        .create(create(&SECURITY_GROUP, "kubernetes-b", &nowhere, &[]))
        .await;
}

pub(crate) async fn rules_have_one_spelling<C: Cloud>(cloud: &mut Transcript<'_, C>) {
    let vpc = default_vpc(cloud).await;
    let group = new_group(cloud, &vpc, "kubernetes-a").await;
    let other = new_group(cloud, &vpc, "kubernetes-b").await;
    let peer = format!("ingress tcp 443-443 {}", other.id);
    let rules = [
        "ingress all all self",
        "ingress tcp 22-22 0.0.0.0/0",
        "ingress tcp 22-22 ::/0",
        "ingress tcp 0-65535 10.0.0.0/8",
        "ingress udp 30000-32767 192.168.7.0/24",
        "ingress icmp all 0.0.0.0/0",
        "ingress icmp 8/all 10.0.0.0/8",
        "ingress icmp 3/4 10.0.0.0/8",
        "ingress icmpv6 all ::/0",
        &peer,
    ]
    .map(|key| part(key, "", &[]));
    cloud.act(add(&group, RULE, &rules)).await;
    cloud.ask(inside(&group, RULE)).await;
    if let Some(raw) = cloud.raw {
        let there = raw.rules(group.id.as_str()).await;
        assert_eq!(there.len(), rules.len(), "{there:?}");
        for rule in [
            "tcp 22 22 0.0.0.0/0",
            "udp 30000 32767 192.168.7.0/24",
            "icmp 3 4 10.0.0.0/8",
        ] {
            assert!(there.contains(rule), "{rule}: {there:?}");
        }
    }
    for rule in rules {
        cloud.act(remove(&group, RULE, &[rule])).await;
    }
    cloud.ask(inside(&group, RULE)).await;
    let malformed = part("ingress tcp 22 anywhere", "", &[]);
    cloud.act(add(&group, RULE, &[malformed])).await;
    let strange = part("ingress 50 all 10.0.0.0/8", "", &[]);
    cloud.moto_differs("protocol-numbers");
    cloud.act(add(&group, RULE, &[strange])).await;
}

pub(crate) async fn rules_carry_tags_of_their_own<C: Cloud>(cloud: &mut Transcript<'_, C>) {
    let vpc = default_vpc(cloud).await;
    let group = new_group(cloud, &vpc, "kubernetes-a").await;
    let theirs = part("ingress tcp 443-443 10.0.0.0/8", "", &[]);
    cloud.act(add(&group, RULE, from_ref(&theirs))).await;
    let ours = ["ingress tcp 22-22 0.0.0.0/0", "ingress udp 53-53 0.0.0.0/0"];
    let ours = ours.map(|key| part(key, "", &[("freehold.dev/a", "group_0_h"), ("b", "")]));
    cloud.act(add(&group, RULE, &ours)).await;
    cloud.ask(inside(&group, RULE)).await;
    if let Some(raw) = cloud.raw {
        let tags = raw.rule_tags(group.id.as_str()).await;
        let tagged = tags.iter().filter(|tags| tags.len() == 2).count();
        assert_eq!((tags.len(), tagged), (3, 2), "{tags:?}");
    }
    cloud.act(remove(&group, RULE, &ours)).await;
    cloud.ask(inside(&group, RULE)).await;
    if let Some(raw) = cloud.raw {
        let left = raw.rules(group.id.as_str()).await;
        assert_eq!(left, ["tcp 443 443 10.0.0.0/8".to_owned()].into());
    }
}

pub(crate) async fn a_rule_that_is_there_or_not_is_refused<C: Cloud>(
    cloud: &mut Transcript<'_, C>,
) {
    let vpc = own_vpc(cloud).await;
    let group = new_group(cloud, &vpc, "kubernetes-a").await;
    let ssh = part("ingress tcp 22-22 0.0.0.0/0", "", &[]);
    let dns = part("ingress udp 53-53 0.0.0.0/0", "", &[]);
    cloud.act(add(&group, RULE, from_ref(&ssh))).await;
    cloud.act(add(&group, RULE, from_ref(&ssh))).await;
    cloud.ask(inside(&group, RULE)).await;
    cloud.act(remove(&group, RULE, from_ref(&dns))).await;
    cloud.ask(inside(&group, RULE)).await;
    cloud.act(add(&group, RULE, &[dns, ssh])).await;
    cloud.moto_differs("rules-all-or-none");
    cloud.ask(inside(&group, RULE)).await;
}

pub(crate) async fn a_group_in_use_names_its_users<C: Cloud>(cloud: &mut Transcript<'_, C>) {
    let vpc = default_vpc(cloud).await;
    let group = new_group(cloud, &vpc, "kubernetes-a").await;
    let other = new_group(cloud, &vpc, "kubernetes-b").await;
    let rule = part(&format!("ingress tcp 443-443 {}", group.id), "", &[]);
    cloud.act(add(&other, RULE, &[rule])).await;
    cloud.moto_differs("group-references");
    cloud.act(delete(&SECURITY_GROUP, &group)).await;
}
