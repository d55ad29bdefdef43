//! VPCs, subnets, route tables, internet gateways.

use cloud_port::Cloud;
use cloud_port::aws::classic_load_balancer::CLASSIC_LOAD_BALANCER;
use cloud_port::aws::elastic_ip::ELASTIC_IP;
use cloud_port::aws::instance_profile::{INSTANCE_PROFILE, PROFILE_ROLE};
use cloud_port::aws::internet_gateway::{ATTACHMENT, INTERNET_GATEWAY};
use cloud_port::aws::nat_gateway::NAT_GATEWAY;
use cloud_port::aws::network_load_balancer::NETWORK_LOAD_BALANCER;
use cloud_port::aws::role::{ATTACHED_POLICY, INLINE_POLICY, ROLE};
use cloud_port::aws::route_table::ROUTE_TABLE;
use cloud_port::aws::security_group::{RULE, SECURITY_GROUP};
use cloud_port::aws::subnet::SUBNET;
use cloud_port::aws::target_group::TARGET_GROUP;
use cloud_port::aws::vpc::VPC;
use ownership::Target;
use ownership::step::Create;

use crate::steps::*;
use crate::transcript::Transcript;

/// Which zone a subnet gets is the cloud's to choose, unless it is told.
const ZONE: &str = "eu-central-1b";

/// The default VPC, found as a KKP cluster finds it.
pub(crate) async fn default_vpc<C: Cloud>(cloud: &mut Transcript<'_, C>) -> String {
    let vpc = cloud.find(by_props(&VPC, &[("default", "true")])).await;
    vpc.id.as_str().to_owned()
}

pub(crate) async fn what_an_account_comes_with<C: Cloud>(cloud: &mut Transcript<'_, C>) {
    let vpc = default_vpc(cloud).await;
    cloud.ask(by_id(&target(&VPC, &vpc))).await;
    let main = by_props(&ROUTE_TABLE, &[("vpc", &vpc), ("main", "true")]);
    let main = cloud.find(main).await;
    cloud
        .ask(by_id(&target(&ROUTE_TABLE, main.id.as_str())))
        .await;
    let subnets = cloud.ask(by_props(&SUBNET, &[("vpc", &vpc)])).await;
    assert_eq!(subnets.resources.len(), 3);
    let name = by_name(&SECURITY_GROUP, "default", Some(("vpc", &vpc)));
    let group = cloud.find(name).await;
    let group = target(&SECURITY_GROUP, group.id.as_str());
    cloud.moto_differs("default-group-rules");
    cloud.ask(inside(&group, RULE)).await;
    cloud.moto_differs("default-group");
    cloud.act(delete(&SECURITY_GROUP, &group)).await;
}

pub(crate) async fn a_vpc_lives<C: Cloud>(cloud: &mut Transcript<'_, C>) {
    let tags = [("freehold.dev/a", "vpc_1_h"), ("owner", "")];
    let order = create(&VPC, "", &[("cidr", "10.7.0.0/16")], &tags);
    let vpc = cloud.create(order).await.expect("created");
    if let Some(raw) = cloud.raw {
        let there = raw.tags(vpc.id.as_str()).await;
        assert_eq!(
            there,
            ["freehold.dev/a=vpc_1_h", "owner="]
                .map(str::to_owned)
                .into()
        );
    }
    cloud.ask(by_id(&vpc)).await;
    cloud.ask(by_mark(&VPC, "freehold.dev/a")).await;
    cloud.ask(by_mark(&VPC, "freehold.dev/")).await;
    cloud.ask(by_props(&VPC, &[("cidr", "10.7.0.0/16")])).await;
    let wide = create(&VPC, "", &[("cidr", "10.0.0.0/15")], &[]);
    cloud.create(wide).await;
    cloud
        .ask(by_props(&ROUTE_TABLE, &[("vpc", vpc.id.as_str())]))
        .await;
    let subnet = [
        ("vpc", vpc.id.as_str()),
        ("cidr", "10.7.1.0/24"),
        ("zone", ZONE),
    ];
    let subnet = cloud.create(create(&SUBNET, "", &subnet, &[])).await;
    let subnet = subnet.expect("created");
    cloud.act(delete(&VPC, &vpc)).await;
    cloud.act(delete(&SUBNET, &subnet)).await;
    cloud.act(delete(&VPC, &vpc)).await;
    cloud.ask(by_id(&vpc)).await;
    cloud.ask(by_mark(&VPC, "freehold.dev/a")).await;
    cloud
        .ask(by_props(&ROUTE_TABLE, &[("vpc", vpc.id.as_str())]))
        .await;
    cloud.act(delete(&VPC, &vpc)).await;
}

pub(crate) async fn a_subnet_lives<C: Cloud>(cloud: &mut Transcript<'_, C>) {
    let vpc = create(&VPC, "", &[("cidr", "10.7.0.0/16")], &[]);
    let vpc = cloud.create(vpc).await.expect("created");
    let vpc = vpc.id.as_str();
    let order = |cidr| {
        let with = [("vpc", vpc), ("cidr", cidr), ("zone", ZONE)];
        create(&SUBNET, "", &with, &[("a", "b")])
    };
    let subnet = cloud.create(order("10.7.1.0/24")).await;
    let subnet = subnet.expect("created");
    cloud.create(order("10.7.1.128/25")).await;
    cloud.create(order("10.8.0.0/24")).await;
    cloud.ask(by_mark(&SUBNET, "a")).await;
    cloud.act(delete(&SUBNET, &subnet)).await;
    cloud.act(delete(&SUBNET, &subnet)).await;
    cloud.ask(by_props(&SUBNET, &[("vpc", vpc)])).await;
    let nowhere = [("vpc", "vpc-0123456789abcdef0"), ("cidr", "10.7.1.0/24")];
    cloud.create(create(&SUBNET, "", &nowhere, &[])).await;
}

pub(crate) async fn a_route_table_lives<C: Cloud>(cloud: &mut Transcript<'_, C>) {
    let vpc = default_vpc(cloud).await;
    let main = by_props(&ROUTE_TABLE, &[("vpc", &vpc), ("main", "true")]);
    let main = cloud.find(main).await;
    let token = "8f2a4f7e-3f4c-5a57-9d2b-0c55d6f5c001";
    let order = Create {
        token: Some(token.parse().expect("a token")),
        ..create(&ROUTE_TABLE, "", &[("vpc", &vpc)], &[("a", "b")])
    };
    let table = cloud.create(order.clone()).await.expect("created");
    cloud.ask(by_id(&table)).await;
    cloud.ask(by_mark(&ROUTE_TABLE, "a")).await;
    cloud.moto_differs("client-token");
    cloud.create(order.clone()).await;
    cloud.moto_differs("client-token");
    let tags = pairs(&[("a", "c")]).into_iter().collect();
    cloud.create(Create { tags, ..order }).await;
    cloud.act(delete(&ROUTE_TABLE, &table)).await;
    cloud.ask(by_id(&table)).await;
    cloud.act(delete(&ROUTE_TABLE, &table)).await;
    let main = target(&ROUTE_TABLE, main.id.as_str());
    cloud.moto_differs("main-route-table");
    cloud.act(delete(&ROUTE_TABLE, &main)).await;
}

pub(crate) async fn a_gateway_lives<C: Cloud>(cloud: &mut Transcript<'_, C>) {
    let vpc = create(&VPC, "", &[("cidr", "10.7.0.0/16")], &[]);
    let vpc = cloud.create(vpc).await.expect("created");
    let other = create(&VPC, "", &[("cidr", "10.8.0.0/16")], &[]);
    let other = cloud.create(other).await.expect("created");
    let order = || create(&INTERNET_GATEWAY, "", &[], &[("a", "b")]);
    let gateway = cloud.create(order()).await.expect("created");
    cloud.ask(by_id(&gateway)).await;
    cloud.ask(inside(&gateway, ATTACHMENT)).await;
    let attachment = |vpc: &Target| [part(vpc.id.as_str(), "", &[])];
    let attach = |gateway, vpc| add(gateway, ATTACHMENT, &attachment(vpc));
    let detach = |gateway, vpc| remove(gateway, ATTACHMENT, &attachment(vpc));
    let nowhere = target(&VPC, "vpc-0123456789abcdef0");
    cloud.act(attach(&gateway, &nowhere)).await;
    cloud.act(detach(&gateway, &vpc)).await;
    cloud.act(attach(&gateway, &vpc)).await;
    cloud.ask(by_mark(&INTERNET_GATEWAY, "a")).await;
    cloud.ask(inside(&gateway, ATTACHMENT)).await;
    cloud.act(attach(&gateway, &vpc)).await;
    cloud.act(attach(&gateway, &other)).await;
    cloud.act(detach(&gateway, &other)).await;
    let second = cloud.create(order()).await.expect("created");
    cloud.moto_differs("second-gateway");
    cloud.act(attach(&second, &vpc)).await;
    let third = cloud.create(order()).await.expect("created");
    cloud.act(delete(&INTERNET_GATEWAY, &gateway)).await;
    cloud.act(detach(&gateway, &vpc)).await;
    cloud.act(delete(&INTERNET_GATEWAY, &gateway)).await;
    cloud.act(delete(&INTERNET_GATEWAY, &gateway)).await;
    cloud.act(attach(&gateway, &vpc)).await;
    cloud.ask(by_id(&gateway)).await;
    cloud.act(attach(&third, &other)).await;
    cloud.moto_differs("vpc-with-gateway");
    cloud.act(delete(&VPC, &other)).await;
}

pub(crate) async fn absent_resources_are_empty_answers<C: Cloud>(cloud: &mut Transcript<'_, C>) {
    let arn = "arn:aws:elasticloadbalancing:eu-central-1:123456789012";
    let group = format!("{arn}:targetgroup/nothing/0123456789abcdef");
    let balancer = format!("{arn}:loadbalancer/net/nothing/0123456789abcdef");
    let absent: [(_, &str); 12] = [
        (&VPC, "vpc-0123456789abcdef0"),
        (&SUBNET, "subnet-0123456789abcdef0"),
        (&ROUTE_TABLE, "rtb-0123456789abcdef0"),
        (&INTERNET_GATEWAY, "igw-0123456789abcdef0"),
        (&SECURITY_GROUP, "sg-0123456789abcdef0"),
        (&ROLE, "nobody"),
        (&INSTANCE_PROFILE, "nothing"),
        (&ELASTIC_IP, "eipalloc-0123456789abcdef0"),
        (&NAT_GATEWAY, "nat-0123456789abcdef0"),
        (&CLASSIC_LOAD_BALANCER, "nothing"),
        (&TARGET_GROUP, &group),
        (&NETWORK_LOAD_BALANCER, &balancer),
    ];
    for (kind, id) in absent {
        cloud.ask(by_id(&target(kind, id))).await;
        cloud
            .ask(by_mark(kind, "freehold.dev/0123456789abcdef"))
            .await;
        for inner in kind.inner {
            cloud.ask(inside(&target(kind, id), inner.name)).await;
        }
    }
    cloud.ask(by_name(&ROLE, "nobody", None)).await;
    cloud.ask(by_name(&INSTANCE_PROFILE, "nothing", None)).await;
    let within = Some(("vpc", "vpc-0123456789abcdef0"));
    cloud.ask(by_name(&SECURITY_GROUP, "none", within)).await;
    let group = target(&SECURITY_GROUP, "sg-0123456789abcdef0");
    cloud
        .act(add(
            &group,
            RULE,
            &[part("ingress tcp 22-22 0.0.0.0/0", "", &[])],
        ))
        .await;
    let role = target(&ROLE, "nobody");
    cloud.act(mark(&[&role], &[("a", "b")])).await;
    cloud.act(unmark(&[&role], &[("a", "b")])).await;
    cloud
        .act(update(&ROLE, &role, props(&[("trust", TRUST)])))
        .await;
    cloud
        .act(remove(&role, INLINE_POLICY, &[part("p", "", &[])]))
        .await;
    let arn = "arn:aws:iam::123456789012:policy/p";
    cloud
        .act(remove(&role, ATTACHED_POLICY, &[part(arn, "", &[])]))
        .await;
    let profile = target(&INSTANCE_PROFILE, "nothing");
    cloud
        .act(add(&profile, PROFILE_ROLE, &[part("nobody", "", &[])]))
        .await;
    cloud.act(unmark(&[&profile], &[("a", "b")])).await;
}
