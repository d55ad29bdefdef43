//! A whole network: what lies in what, what leads where, and what goes first.

use cloud_port::aws::classic_load_balancer::{self, CLASSIC_LOAD_BALANCER};
use cloud_port::aws::elastic_ip::{ADDRESS, ELASTIC_IP};
use cloud_port::aws::internet_gateway::ATTACHMENT;
use cloud_port::aws::nat_gateway::NAT_GATEWAY;
use cloud_port::aws::network_load_balancer::{self, NETWORK_LOAD_BALANCER};
use cloud_port::aws::route_table::{ASSOCIATION, ROUTE, ROUTE_TABLE};
use cloud_port::aws::subnet::{PUBLIC_IPS, SUBNET};
use cloud_port::aws::target_group::TARGET_GROUP;
use cloud_port::aws::vpc::{DNS_ATTRIBUTE, DNS_HOSTNAMES, DNS_SUPPORT, VPC};
use ownership::Class;
use ownership::life::Life;

use super::*;
use crate::{Quotas, aws_paces};

/// One of each Kind of a network, in a VPC of its own.
pub(super) struct Network {
    pub(super) vpc: Target,
    pub(super) subnet: Target,
    pub(super) gateway: Target,
    pub(super) address: Target,
    pub(super) nat: Target,
    pub(super) table: Target,
    pub(super) classic: Target,
    pub(super) group: Target,
    pub(super) balancer: Target,
}

pub(super) const CHECK: &str = "tcp 6443 every 10 timeout 5 healthy 5 unhealthy 3";

pub(super) fn made(
    account: &mut Account,
    kind: &'static Kind,
    name: &str,
    with: &[(&'static str, &str)],
) -> Target {
    let born = perform(account, &create(kind, name, &props(with))).unwrap();
    Target::new(kind, born.id.clone())
}

fn add(account: &mut Account, on: &Target, inner: &str, key: &str, value: &str) {
    account
        .add_parts(ENGINE, on, inner, &[part(key, value)])
        .unwrap();
}

impl Network {
    pub(super) fn new(account: &mut Account) -> Self {
        let vpc = made(account, &VPC, "", &[("cidr", "10.0.0.0/16")]);
        let gateway = new_gateway(account);
        add(account, &gateway, ATTACHMENT, vpc.id.as_str(), "");
        let with = [("vpc", vpc.id.as_str()), ("cidr", "10.0.1.0/24")];
        let subnet = made(account, &SUBNET, "", &with);
        let address = made(account, &ELASTIC_IP, "", &[]);
        let with = [
            ("subnet", subnet.id.as_str()),
            ("allocation", address.id.as_str()),
        ];
        let nat = made(account, &NAT_GATEWAY, "", &with);
        let table = made(account, &ROUTE_TABLE, "", &[("vpc", vpc.id.as_str())]);
        add(account, &table, ROUTE, "0.0.0.0/0", nat.id.as_str());
        add(account, &table, ASSOCIATION, subnet.id.as_str(), "");
        let with = [
            ("scheme", "internal"),
            ("subnets", subnet.id.as_str()),
            ("listeners", "tcp 6443 tcp 6443"),
        ];
        let classic = made(account, &CLASSIC_LOAD_BALANCER, "prod", &with);
        let with = [
            ("vpc", vpc.id.as_str()),
            ("protocol", "tcp"),
            ("port", "6443"),
            ("targets", "instance"),
            ("health-check", CHECK),
        ];
        let group = made(account, &TARGET_GROUP, "prod", &with);
        let with = [("scheme", "internal"), ("subnets", subnet.id.as_str())];
        let balancer = made(account, &NETWORK_LOAD_BALANCER, "prod", &with);
        let listener = network_load_balancer::LISTENER;
        add(account, &balancer, listener, "tcp 6443", group.id.as_str());
        Self {
            vpc,
            subnet,
            gateway,
            address,
            nat,
            table,
            classic,
            group,
            balancer,
        }
    }
}

/// The code of a refusal, and who stands in the way.
fn blocked(result: Result<(), CloudError>) -> (String, Vec<String>) {
    let error = result.unwrap_err();
    let Class::Blocked(blockers) = error.class else {
        panic!("{error:?}");
    };
    let nouns = blockers.iter().map(|blocker| blocker.noun.to_string());
    (error.code.to_string(), nouns.collect())
}

#[test]
fn everything_is_kept_by_what_uses_it() {
    let mut account = account();
    let network = Network::new(&mut account);
    let all = [
        (&network.subnet, "DependencyViolation"),
        (&network.address, "InvalidIPAddress.InUse"),
        (&network.table, "DependencyViolation"),
        (&network.group, "ResourceInUse"),
        (&network.gateway, "DependencyViolation"),
    ];
    let users = all.map(|(target, expected)| {
        let (code, users) = blocked(account.delete(ENGINE, target));
        assert_eq!(code, expected, "{target}");
        users
    });
    let balancers = ["classic load balancer", "network load balancer"];
    let in_subnet = [&["NAT gateway"][..], &balancers].concat();
    assert_eq!(users[0], in_subnet);
    assert_eq!(users[1], ["NAT gateway"]);
    assert_eq!(users[2], ["association"]);
    assert_eq!(users[3], ["network load balancer"]);
    assert_eq!(users[4], ["attachment"]);
    // As long as there are public addresses, the gateway stays attached.
    let vpc = [network.vpc.id.text()];
    let detached = account.remove_parts(ENGINE, &network.gateway, ATTACHMENT, &vpc);
    assert_eq!(blocked(detached).1, ["NAT gateway"]);
}

#[test]
fn a_network_goes_from_the_end() {
    let mut account = account();
    let network = Network::new(&mut account);
    for target in [
        &network.balancer,
        &network.classic,
        &network.nat,
        &network.address,
    ] {
        account.delete(ENGINE, target).unwrap();
    }
    // The association goes with its subnet, and no target group keeps a VPC.
    account.delete(ENGINE, &network.subnet).unwrap();
    assert!(account.parts(&network.table, ASSOCIATION).is_empty());
    account.delete(ENGINE, &network.table).unwrap();
    let vpc = [network.vpc.id.text()];
    account
        .remove_parts(ENGINE, &network.gateway, ATTACHMENT, &vpc)
        .unwrap();
    account.delete(ENGINE, &network.vpc).unwrap();
    account.delete(ENGINE, &network.group).unwrap();
    // To delete a load balancer that is gone is nothing; a target group says so.
    account.delete(ENGINE, &network.balancer).unwrap();
    account.delete(ENGINE, &network.classic).unwrap();
    let gone = account.delete(ENGINE, &network.group);
    assert_eq!(code(gone), "TargetGroupNotFound");
}

#[test]
fn dns_attributes_are_switched_one_by_one() {
    let mut account = account();
    let keys = |account: &Account, vpc: &Target| {
        let parts = account.parts(vpc, DNS_ATTRIBUTE).iter();
        parts.map(|part| part.key.to_string()).collect::<Vec<_>>()
    };
    let default = account.default_vpc().unwrap().target();
    assert_eq!(keys(&account, &default), [DNS_HOSTNAMES, DNS_SUPPORT]);
    let vpc = made(&mut account, &VPC, "", &[("cidr", "10.0.0.0/16")]);
    assert_eq!(keys(&account, &vpc), [DNS_SUPPORT]);
    // What is on is switched on again without a word, and what is off is switched off.
    for _ in 0..2 {
        add(&mut account, &vpc, DNS_ATTRIBUTE, DNS_HOSTNAMES, "");
        assert_eq!(keys(&account, &vpc), [DNS_HOSTNAMES, DNS_SUPPORT]);
    }
    for _ in 0..2 {
        let off = [text(DNS_HOSTNAMES)];
        account
            .remove_parts(ENGINE, &vpc, DNS_ATTRIBUTE, &off)
            .unwrap();
        assert_eq!(keys(&account, &vpc), [DNS_SUPPORT]);
    }
    let unknown = account.add_parts(ENGINE, &vpc, DNS_ATTRIBUTE, &[part("enableMoon", "")]);
    assert_eq!(code(unknown), "InvalidParameterValue");
    let both = [part(DNS_SUPPORT, ""), part(DNS_HOSTNAMES, "")];
    let both = account.add_parts(ENGINE, &vpc, DNS_ATTRIBUTE, &both);
    assert_eq!(code(both), "InvalidParameterCombination");
}

#[test]
fn a_new_subnet_gives_no_public_addresses_whatever_it_is_asked() {
    let mut account = account();
    let network = Network::new(&mut account);
    let with = [
        ("vpc", network.vpc.id.as_str()),
        ("cidr", "10.0.2.0/24"),
        (PUBLIC_IPS, "true"),
    ];
    let subnet = made(&mut account, &SUBNET, "", &with);
    let given = |account: &Account| {
        account
            .resource(&subnet)
            .unwrap()
            .props
            .get(PUBLIC_IPS)
            .cloned()
    };
    assert_eq!(given(&account).as_deref(), Some("false"));
    let change = props(&[(PUBLIC_IPS, "true")]);
    account.update(ENGINE, &subnet, &change).unwrap();
    assert_eq!(given(&account).as_deref(), Some("true"));
}

#[test]
fn an_address_serves_one_nat_gateway() {
    let mut account = account();
    let network = Network::new(&mut account);
    let known = &account.resource(&network.address).unwrap().props;
    let address: std::net::Ipv4Addr = known.get(ADDRESS).unwrap().parse().unwrap();
    assert_eq!(address.octets()[0], 198);
    let with = [
        ("subnet", network.subnet.id.as_str()),
        ("allocation", network.address.id.as_str()),
    ];
    let second = perform(&mut account, &create(&NAT_GATEWAY, "", &props(&with)));
    assert_eq!(code(second), "Resource.AlreadyAssociated");
    let nowhere = [
        ("subnet", network.subnet.id.as_str()),
        ("allocation", "eipalloc-0"),
    ];
    let nowhere = perform(&mut account, &create(&NAT_GATEWAY, "", &props(&nowhere)));
    assert_eq!(code(nowhere), "InvalidAllocationID.NotFound");
}

#[test]
fn a_nat_gateway_takes_its_time_and_keeps_its_address_while_it_goes() {
    let mut account = account_with(|settings| settings.paces = aws_paces());
    let network = Network::new(&mut account);
    let life = |account: &mut Account, after| {
        account.clock().advance(Millis::seconds(after));
        account.take_course();
        let nat = account.resource(&network.nat)?;
        Some(nat.life.clone())
    };
    assert_eq!(life(&mut account, 0), Some(Life::Coming));
    assert_eq!(life(&mut account, 100), Some(Life::Ready));
    account.delete(ENGINE, &network.nat).unwrap();
    assert_eq!(life(&mut account, 10), Some(Life::Going));
    let released = account.delete(ENGINE, &network.address);
    assert_eq!(blocked(released).0, "InvalidIPAddress.InUse");
    assert_eq!(life(&mut account, 50), None);
    account.delete(ENGINE, &network.address).unwrap();
}

#[test]
fn a_nat_gateway_without_an_internet_gateway_comes_to_nothing() {
    let mut account = account();
    let vpc = made(&mut account, &VPC, "", &[("cidr", "10.0.0.0/16")]);
    let with = [("vpc", vpc.id.as_str()), ("cidr", "10.0.1.0/24")];
    let subnet = made(&mut account, &SUBNET, "", &with);
    let address = made(&mut account, &ELASTIC_IP, "", &[]);
    let with = [
        ("subnet", subnet.id.as_str()),
        ("allocation", address.id.as_str()),
    ];
    let nat = made(&mut account, &NAT_GATEWAY, "", &with);
    account.take_course();
    let life = &account.resource(&nat).unwrap().life;
    assert!(matches!(life, Life::Failed(why) if why.contains("Gateway.NotAttached")));
    // What has failed has no address: another one can take it.
    made(&mut account, &NAT_GATEWAY, "", &with);
}

#[test]
fn routes_lead_through_what_is_there_and_are_replaced_in_one_call() {
    let mut account = account();
    let network = Network::new(&mut account);
    let table = &network.table;
    let mut route =
        |key: &str, value: &str| account.add_parts(ENGINE, table, ROUTE, &[part(key, value)]);
    let gateway = network.gateway.id.as_str();
    route("0.0.0.0/0", gateway).unwrap();
    for (key, value, refusal) in [
        ("10.8.0.0/16", "nat-0", "InvalidNatGatewayID.NotFound"),
        ("10.8.0.0/16", "igw-0", "InvalidGatewayID.NotFound"),
        ("10.8.0.1/16", gateway, "InvalidParameterValue"),
        ("everywhere", gateway, "InvalidParameterValue"),
    ] {
        assert_eq!(code(route(key, value)), refusal);
    }
    let routes = account.parts(table, ROUTE);
    assert_eq!((routes.len(), &*routes[0].value), (1, gateway));
    let gateway = new_gateway(&mut account);
    let elsewhere = part("0.0.0.0/0", gateway.id.as_str());
    let elsewhere = account.add_parts(ENGINE, table, ROUTE, &[elsewhere]);
    assert_eq!(code(elsewhere), "InvalidParameterValue");
}

#[test]
fn a_subnet_goes_by_one_table_of_its_network() {
    let mut account = account();
    let network = Network::new(&mut account);
    let with = [("vpc", network.vpc.id.as_str())];
    let second = made(&mut account, &ROUTE_TABLE, "", &with);
    let subnet = part(network.subnet.id.as_str(), "");
    let taken = account.add_parts(ENGINE, &second, ASSOCIATION, std::slice::from_ref(&subnet));
    assert_eq!(code(taken), "Resource.AlreadyAssociated");
    let vpc = account.default_vpc().unwrap().id.clone();
    let elsewhere = made(&mut account, &ROUTE_TABLE, "", &[("vpc", vpc.as_str())]);
    let foreign = account.add_parts(ENGINE, &elsewhere, ASSOCIATION, &[subnet]);
    assert_eq!(code(foreign), "InvalidParameterValue");
    let association = &account.parts(&network.table, ASSOCIATION)[0];
    assert!(association.id.as_deref().unwrap().starts_with("rtbassoc-"));
}

#[test]
fn a_load_balancer_is_born_with_what_its_create_call_says() {
    let mut account = account();
    let network = Network::new(&mut account);
    let keys = |on: &Target, inner| {
        let parts = account.parts(on, inner).iter();
        parts.map(|part| part.key.clone()).collect::<Vec<_>>()
    };
    let subnet = [network.subnet.id.text()];
    for balancer in [&network.classic, &network.balancer] {
        assert_eq!(keys(balancer, "subnet"), subnet);
        let props = &account.resource(balancer).unwrap().props;
        assert!(props.get("subnets").is_none());
        assert!(props.get("dns-name").unwrap().starts_with("prod-1."));
    }
    let listener = classic_load_balancer::LISTENER;
    assert_eq!(
        keys(&network.classic, listener),
        [text("tcp 6443 tcp 6443")]
    );
    // A classic one without a group gets the default one; a network one gets none.
    assert_eq!(keys(&network.classic, "security-group").len(), 1);
    assert!(keys(&network.balancer, "security-group").is_empty());
    let check = account
        .resource(&network.classic)
        .unwrap()
        .props
        .get("health-check");
    let expected = "tcp 6443 every 30 timeout 5 healthy 10 unhealthy 2";
    assert_eq!(check.map(|check| &**check), Some(expected));
}

#[test]
fn a_group_is_kept_by_its_load_balancers() {
    let mut account = account();
    let network = Network::new(&mut account);
    let group = new_group(&mut account, "balancer");
    let id = group.id.as_str();
    add(&mut account, &network.classic, "security-group", id, "");
    let (_, users) = blocked(account.delete(ENGINE, &group));
    assert_eq!(users, ["classic load balancer"]);
    let keys = [text(id)];
    account
        .remove_parts(ENGINE, &network.classic, "security-group", &keys)
        .unwrap();
    account.delete(ENGINE, &group).unwrap();
}

#[test]
fn names_and_ports_of_load_balancers_are_unique() {
    let mut account = account();
    let network = Network::new(&mut account);
    let subnet = network.subnet.id.as_str();
    let mut again = |kind, with: &[(&'static str, &str)]| {
        code(perform(&mut account, &create(kind, "prod", &props(with))))
    };
    let with = [("subnets", subnet), ("listeners", "tcp 80 tcp 80")];
    let duplicate = "DuplicateLoadBalancerName";
    assert_eq!(again(&CLASSIC_LOAD_BALANCER, &with), duplicate);
    assert_eq!(again(&NETWORK_LOAD_BALANCER, &with[..1]), duplicate);
    let with = [("vpc", network.vpc.id.as_str()), ("port", "80")];
    assert_eq!(again(&TARGET_GROUP, &with), "DuplicateTargetGroupName");
    let port = [part("tcp 6443 tcp 443", "")];
    let listener = classic_load_balancer::LISTENER;
    let port = account.add_parts(ENGINE, &network.classic, listener, &port);
    assert_eq!(code(port), "DuplicateListener");
    let elsewhere = part("tcp 80", "arn:of-another:targetgroup/a");
    let listener = network_load_balancer::LISTENER;
    let added = account.add_parts(ENGINE, &network.balancer, listener, &[elsewhere]);
    added.unwrap();
    // A port that has a listener gets no other.
    let taken = part("tcp 80", "arn:of-another:targetgroup/b");
    let taken = account.add_parts(ENGINE, &network.balancer, listener, &[taken]);
    assert_eq!(code(taken), "DuplicateListener");
    let gone = part("tcp 81", &format!("{}x", network.group.id));
    let gone = account.add_parts(ENGINE, &network.balancer, listener, &[gone]);
    assert_eq!(code(gone), "TargetGroupNotFound");
}

#[test]
fn a_quota_that_is_used_up_is_told_by_its_name() {
    let mut account = account_with(|settings| {
        settings.quotas = Quotas::default()
            .resources(&ELASTIC_IP, 1)
            .resources(&NAT_GATEWAY, 1)
            .resources(&NETWORK_LOAD_BALANCER, 1);
    });
    let network = Network::new(&mut account);
    let mut full = |kind, with: &[(&'static str, &str)]| {
        let error = perform(&mut account, &create(kind, "other", &props(with))).unwrap_err();
        assert_eq!(error.class, Class::Fatal);
        assert!(error.message.contains("the quota '"), "{error}");
        error.code.to_string()
    };
    assert_eq!(full(&ELASTIC_IP, &[]), "AddressLimitExceeded");
    let subnet = network.subnet.id.as_str();
    let with = [("subnets", subnet)];
    assert_eq!(full(&NETWORK_LOAD_BALANCER, &with), "TooManyLoadBalancers");
}
