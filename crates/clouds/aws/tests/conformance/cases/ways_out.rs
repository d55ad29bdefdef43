//! What leads out of a VPC: addresses, NAT gateways, routes; and what is switched on in it.

use cloud_port::Cloud;
use cloud_port::aws::elastic_ip::ELASTIC_IP;
use cloud_port::aws::internet_gateway::{ATTACHMENT, INTERNET_GATEWAY};
use cloud_port::aws::nat_gateway::NAT_GATEWAY;
use cloud_port::aws::route_table::{ASSOCIATION, ROUTE, ROUTE_TABLE};
use cloud_port::aws::subnet::{PUBLIC_IPS, SUBNET};
use cloud_port::aws::vpc::{DNS_ATTRIBUTE, DNS_HOSTNAMES, DNS_SUPPORT, VPC};
use ownership::Target;
use ownership::step::Create;

use crate::steps::*;
use crate::transcript::Transcript;

const MARK: (&str, &str) = ("freehold.dev/a", "slot_1_h");

/// A VPC with a subnet and an internet gateway.
async fn ground<C: Cloud>(cloud: &mut Transcript<'_, C>) -> (Target, Target, Target) {
    let vpc = create(&VPC, "", &[("cidr", "10.7.0.0/16")], &[]);
    let vpc = cloud.create(vpc).await.expect("created");
    let with = [
        ("vpc", vpc.id.as_str()),
        ("cidr", "10.7.1.0/24"),
        ("zone", "eu-central-1b"),
    ];
    let subnet = cloud.create(create(&SUBNET, "", &with, &[])).await;
    let subnet = subnet.expect("created");
    let gateway = cloud.create(create(&INTERNET_GATEWAY, "", &[], &[])).await;
    let gateway = gateway.expect("created");
    let vpc_part = [part(vpc.id.as_str(), "", &[])];
    cloud.act(add(&gateway, ATTACHMENT, &vpc_part)).await;
    (vpc, subnet, gateway)
}

pub(crate) async fn attributes_are_switched<C: Cloud>(cloud: &mut Transcript<'_, C>) {
    let (vpc, subnet, _) = ground(cloud).await;
    cloud.ask(inside(&vpc, DNS_ATTRIBUTE)).await;
    let names = [part(DNS_HOSTNAMES, "", &[])];
    for _ in 0..2 {
        cloud.act(add(&vpc, DNS_ATTRIBUTE, &names)).await;
    }
    cloud.ask(inside(&vpc, DNS_ATTRIBUTE)).await;
    for _ in 0..2 {
        cloud.act(remove(&vpc, DNS_ATTRIBUTE, &names)).await;
    }
    let support = [part(DNS_SUPPORT, "", &[])];
    cloud.act(remove(&vpc, DNS_ATTRIBUTE, &support)).await;
    cloud.ask(inside(&vpc, DNS_ATTRIBUTE)).await;
    let nowhere = target(&VPC, "vpc-0123456789abcdef0");
    cloud.act(add(&nowhere, DNS_ATTRIBUTE, &support)).await;
    cloud.ask(by_id(&subnet)).await;
    let on = props(&[(PUBLIC_IPS, "true")]);
    cloud.act(update(&SUBNET, &subnet, on)).await;
    cloud.ask(by_id(&subnet)).await;
    let off = props(&[(PUBLIC_IPS, "false")]);
    cloud.act(update(&SUBNET, &subnet, off)).await;
    cloud.ask(by_id(&subnet)).await;
}

pub(crate) async fn a_nat_gateway_lives<C: Cloud>(cloud: &mut Transcript<'_, C>) {
    let (_, subnet, _) = ground(cloud).await;
    let address = || create(&ELASTIC_IP, "", &[], &[MARK]);
    let own = cloud.create(address()).await.expect("created");
    cloud.ask(by_id(&own)).await;
    cloud.ask(by_mark(&ELASTIC_IP, "freehold.dev/a")).await;
    let with = |allocation: &str| {
        let token = "8f2a4f7e-3f4c-5a57-9d2b-0c55d6f5c001";
        let with = [("subnet", subnet.id.as_str()), ("allocation", allocation)];
        Create {
            token: Some(token.parse().expect("a token")),
            ..create(&NAT_GATEWAY, "", &with, &[MARK])
        }
    };
    let nat = cloud.create(with(own.id.as_str())).await.expect("created");
    cloud.ask(by_id(&nat)).await;
    cloud.ask(by_mark(&NAT_GATEWAY, "freehold.dev/a")).await;
    cloud.moto_differs("nat-gateway-token");
    cloud.create(with(own.id.as_str())).await;
    let again = Create {
        token: None,
        ..with(own.id.as_str())
    };
    cloud.create(again).await;
    let nowhere = Create {
        token: None,
        ..with("eipalloc-0123456789abcdef0")
    };
    cloud.create(nowhere).await;
    let other = cloud.create(address()).await.expect("created");
    let second = Create {
        token: None,
        ..with(other.id.as_str())
    };
    let second = cloud.create(second).await.expect("created");
    cloud.moto_differs("address-in-use");
    cloud.act(delete(&ELASTIC_IP, &other)).await;
    cloud.act(delete(&NAT_GATEWAY, &second)).await;
    cloud.act(delete(&NAT_GATEWAY, &nat)).await;
    cloud.ask(by_id(&nat)).await;
    cloud.ask(by_mark(&NAT_GATEWAY, "freehold.dev/a")).await;
    cloud.moto_differs("deleted-nat-gateway");
    cloud.act(delete(&NAT_GATEWAY, &nat)).await;
    cloud.act(delete(&ELASTIC_IP, &own)).await;
    cloud.ask(by_id(&own)).await;
    cloud.act(delete(&ELASTIC_IP, &own)).await;
}

pub(crate) async fn routes_and_associations_live<C: Cloud>(cloud: &mut Transcript<'_, C>) {
    let (vpc, subnet, gateway) = ground(cloud).await;
    let own = cloud.create(create(&ELASTIC_IP, "", &[], &[])).await;
    let own = own.expect("created");
    let with = [
        ("subnet", subnet.id.as_str()),
        ("allocation", own.id.as_str()),
    ];
    let nat = cloud.create(create(&NAT_GATEWAY, "", &with, &[])).await;
    let nat = nat.expect("created");
    let table = create(&ROUTE_TABLE, "", &[("vpc", vpc.id.as_str())], &[MARK]);
    let first = cloud.create(table.clone()).await.expect("created");
    let second = cloud.create(table).await.expect("created");
    let route = |through: &Target| [part("0.0.0.0/0", through.id.as_str(), &[])];
    cloud.act(add(&first, ROUTE, &route(&gateway))).await;
    cloud.ask(by_id(&first)).await;
    // It is replaced where it is.
    cloud.act(add(&first, ROUTE, &route(&nat))).await;
    cloud.ask(inside(&first, ROUTE)).await;
    cloud.act(remove(&first, ROUTE, &route(&nat))).await;
    cloud.act(remove(&first, ROUTE, &route(&nat))).await;
    let subnet = [part(subnet.id.as_str(), "", &[])];
    cloud.act(add(&first, ASSOCIATION, &subnet)).await;
    let there = cloud.ask(inside(&first, ASSOCIATION)).await;
    cloud.moto_differs("second-association");
    cloud.act(add(&second, ASSOCIATION, &subnet)).await;
    cloud.act(delete(&ROUTE_TABLE, &first)).await;
    let there = &there.inner[0].parts;
    cloud.act(remove(&first, ASSOCIATION, there)).await;
    cloud.act(remove(&first, ASSOCIATION, there)).await;
    cloud.ask(by_id(&first)).await;
    let nowhere = [part("subnet-0123456789abcdef0", "", &[])];
    cloud.act(add(&first, ASSOCIATION, &nowhere)).await;
    cloud.act(delete(&ROUTE_TABLE, &first)).await;
    cloud.ask(by_id(&first)).await;
}
