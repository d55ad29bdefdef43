//! Classic and network load balancers, and target groups.

use cloud_port::Cloud;
use cloud_port::aws::classic_load_balancer::{self as classic, CLASSIC_LOAD_BALANCER};
use cloud_port::aws::internet_gateway::{ATTACHMENT, INTERNET_GATEWAY};
use cloud_port::aws::load_balancer::{GROUP, SUBNET as SUBNET_PART};
use cloud_port::aws::network_load_balancer::{self as nlb, NETWORK_LOAD_BALANCER};
use cloud_port::aws::security_group::SECURITY_GROUP;
use cloud_port::aws::subnet::SUBNET;
use cloud_port::aws::target_group::TARGET_GROUP;
use cloud_port::aws::vpc::VPC;
use ownership::Target;
use ownership::step::Create;

use crate::steps::*;
use crate::transcript::Transcript;

pub(crate) const CHECK: &str = "tcp 6443 every 10 timeout 5 healthy 5 unhealthy 3";
const SLOW: &str = "tcp 6443 every 30 timeout 5 healthy 5 unhealthy 3";
const MARK: (&str, &str) = ("freehold.dev/a", "slot_1_h");

/// A VPC with two subnets and two groups.
pub(crate) struct Ground {
    pub(crate) vpc: Target,
    pub(crate) subnets: [String; 2],
    pub(crate) groups: [String; 2],
}

pub(crate) async fn ground<C: Cloud>(cloud: &mut Transcript<'_, C>) -> Ground {
    let vpc = create(&VPC, "", &[("cidr", "10.7.0.0/16")], &[]);
    let vpc = cloud.create(vpc).await.expect("created");
    // Without it a NAT gateway in there would come to nothing.
    let gateway = cloud.create(create(&INTERNET_GATEWAY, "", &[], &[])).await;
    let attachment = [part(vpc.id.as_str(), "", &[])];
    let attached = add(&gateway.expect("created"), ATTACHMENT, &attachment);
    cloud.act(attached).await;
    let (mut subnets, mut groups) = (Vec::new(), Vec::new());
    for (zone, cidr) in [
        ("eu-central-1a", "10.7.1.0/24"),
        ("eu-central-1b", "10.7.2.0/24"),
    ] {
        let with = [("vpc", vpc.id.as_str()), ("cidr", cidr), ("zone", zone)];
        let subnet = cloud.create(create(&SUBNET, "", &with, &[])).await;
        subnets.push(subnet.expect("created").id.to_string());
        let with = [("vpc", vpc.id.as_str()), ("description", "for balancers")];
        let group = cloud
            .create(create(&SECURITY_GROUP, zone, &with, &[]))
            .await;
        groups.push(group.expect("created").id.to_string());
    }
    Ground {
        vpc,
        subnets: subnets.try_into().expect("two"),
        groups: groups.try_into().expect("two"),
    }
}

pub(crate) fn classic_one(ground: &Ground, name: &str) -> Create {
    let with = [
        ("scheme", "internal"),
        (classic::SUBNETS, ground.subnets[0].as_str()),
        (classic::GROUPS, ground.groups[0].as_str()),
        (classic::LISTENERS, "tcp 6443 tcp 6443"),
        (classic::HEALTH_CHECK, CHECK),
    ];
    create(&CLASSIC_LOAD_BALANCER, name, &with, &[MARK, ("owner", "")])
}

pub(crate) fn target_group(ground: &Ground, name: &str) -> Create {
    let with = [
        ("vpc", ground.vpc.id.as_str()),
        ("protocol", "tcp"),
        ("port", "6443"),
        ("targets", "instance"),
        ("health-check", CHECK),
    ];
    create(&TARGET_GROUP, name, &with, &[MARK])
}

pub(crate) fn network_one(ground: &Ground, name: &str) -> Create {
    let with = [
        ("scheme", "internal"),
        (nlb::SUBNETS, ground.subnets[0].as_str()),
        (nlb::GROUPS, ground.groups[0].as_str()),
    ];
    create(&NETWORK_LOAD_BALANCER, name, &with, &[MARK])
}

pub(crate) async fn a_classic_load_balancer_lives<C: Cloud>(cloud: &mut Transcript<'_, C>) {
    let ground = ground(cloud).await;
    let kind = &CLASSIC_LOAD_BALANCER;
    let balancer = cloud.create(classic_one(&ground, "prod")).await;
    let balancer = balancer.expect("created");
    let check = |text| props(&[(classic::HEALTH_CHECK, text)]);
    cloud.act(update(kind, &balancer, check(CHECK))).await;
    cloud.ask(by_id(&balancer)).await;
    cloud.ask(by_name(kind, "prod", None)).await;
    cloud.ask(by_mark(kind, "freehold.dev/a")).await;
    cloud.create(classic_one(&ground, "prod")).await;
    cloud.act(update(kind, &balancer, check(SLOW))).await;
    cloud.ask(by_id(&balancer)).await;
    let listener = [part("tcp 22 tcp 2222", "", &[])];
    cloud
        .act(add(&balancer, classic::LISTENER, &listener))
        .await;
    // To add it again is nothing; its port is taken for all else.
    cloud
        .act(add(&balancer, classic::LISTENER, &listener))
        .await;
    let other = [part("tcp 22 tcp 2223", "", &[])];
    cloud.act(add(&balancer, classic::LISTENER, &other)).await;
    cloud.ask(inside(&balancer, classic::LISTENER)).await;
    cloud
        .act(remove(&balancer, classic::LISTENER, &listener))
        .await;
    for (inner, second) in [
        (SUBNET_PART, &ground.subnets[1]),
        (GROUP, &ground.groups[1]),
    ] {
        let second = [part(second, "", &[])];
        for _ in 0..2 {
            cloud.act(add(&balancer, inner, &second)).await;
        }
        cloud.ask(inside(&balancer, inner)).await;
        cloud.act(remove(&balancer, inner, &second)).await;
    }
    cloud.ask(by_id(&balancer)).await;
    cloud.act(mark(&[&balancer], &[("team", "blue")])).await;
    let tags = [("team", "green"), ("owner", "")];
    cloud.act(unmark(&[&balancer], &tags)).await;
    cloud.ask(by_mark(kind, "team")).await;
    cloud.act(delete(kind, &balancer)).await;
    cloud.act(delete(kind, &balancer)).await;
    cloud.ask(by_id(&balancer)).await;
}

pub(crate) async fn a_network_load_balancer_lives<C: Cloud>(cloud: &mut Transcript<'_, C>) {
    let ground = ground(cloud).await;
    let kind = &NETWORK_LOAD_BALANCER;
    let group = cloud.create(target_group(&ground, "prod")).await;
    let group = group.expect("created");
    let balancer = cloud.create(network_one(&ground, "prod")).await;
    let balancer = balancer.expect("created");
    cloud.ask(by_id(&balancer)).await;
    cloud.ask(by_name(kind, "prod", None)).await;
    cloud.ask(by_mark(kind, "freehold.dev/a")).await;
    cloud.ask(inside(&balancer, nlb::LISTENER)).await;
    let listener = [part("tcp 6443", group.id.as_str(), &[MARK])];
    cloud.act(add(&balancer, nlb::LISTENER, &listener)).await;
    let there = cloud.ask(inside(&balancer, nlb::LISTENER)).await;
    cloud.moto_differs("balancer-arn");
    cloud.act(delete(&TARGET_GROUP, &group)).await;
    let second = [part(&ground.subnets[1], "", &[])];
    cloud.act(add(&balancer, SUBNET_PART, &second)).await;
    cloud.ask(inside(&balancer, SUBNET_PART)).await;
    cloud.act(add(&balancer, SUBNET_PART, &second)).await;
    let second = [part(&ground.groups[1], "", &[])];
    cloud.act(add(&balancer, GROUP, &second)).await;
    cloud.act(remove(&balancer, GROUP, &second)).await;
    cloud.ask(inside(&balancer, GROUP)).await;
    cloud.act(mark(&[&balancer], &[("team", "blue")])).await;
    let tags = [("team", "green"), MARK];
    cloud.act(unmark(&[&balancer], &tags)).await;
    cloud.ask(by_mark(kind, "team")).await;
    let listener = &there.inner[0].parts;
    cloud.act(remove(&balancer, nlb::LISTENER, listener)).await;
    cloud.act(remove(&balancer, nlb::LISTENER, listener)).await;
    cloud.ask(inside(&balancer, nlb::LISTENER)).await;
    cloud.act(delete(kind, &balancer)).await;
    cloud.act(delete(kind, &balancer)).await;
    cloud.ask(by_id(&balancer)).await;
    let again = cloud.create(network_one(&ground, "prod")).await;
    again.expect("created");
    cloud.moto_differs("second-balancer");
    cloud.create(network_one(&ground, "prod")).await;
}

pub(crate) async fn a_target_group_lives<C: Cloud>(cloud: &mut Transcript<'_, C>) {
    let ground = ground(cloud).await;
    let kind = &TARGET_GROUP;
    let group = cloud.create(target_group(&ground, "prod")).await;
    let group = group.expect("created");
    cloud.ask(by_id(&group)).await;
    cloud.ask(by_name(kind, "prod", None)).await;
    cloud.ask(by_mark(kind, "freehold.dev/a")).await;
    cloud.create(target_group(&ground, "prod")).await;
    let check = props(&[("health-check", SLOW)]);
    cloud.act(update(kind, &group, check)).await;
    cloud.ask(by_id(&group)).await;
    cloud.act(mark(&[&group], &[("team", "blue")])).await;
    cloud
        .act(unmark(&[&group], &[("team", "green"), MARK]))
        .await;
    cloud.ask(by_mark(kind, "team")).await;
    cloud.act(delete(kind, &group)).await;
    cloud.ask(by_id(&group)).await;
    cloud.act(delete(kind, &group)).await;
}
