//! IBM Cloud: what its account does besides the declarations.

use cloud_port::ibm::cos_instance::{self, BUCKET, COS_INSTANCE};
use cloud_port::ibm::power_network::{POWER_NETWORK, SERVER, WORKSPACE as IN};
use cloud_port::ibm::transit_gateway::{CONNECTION, GLOBAL, LOCATION, TRANSIT_GATEWAY};
use cloud_port::ibm::vpc::{DEFAULT_RULE, VPC};
use cloud_port::ibm::vpc_load_balancer::{
    HOSTNAME, LISTENER, POOL, PUBLIC, SUBNETS, VPC_LOAD_BALANCER,
};
use cloud_port::ibm::vpc_security_group::{RULE, VPC_SECURITY_GROUP};
use cloud_port::ibm::vpc_subnet::{ADDRESSES, CIDR, VPC_SUBNET, ZONE};
use cloud_port::ibm::workspace::{PLAN, PLAN_ID, WORKSPACE};
use cloud_port::ibm::{CRN, KINDS, NAME, RESOURCE_GROUP};
use ownership::life::{Life, Progress};
use ownership::{Class, Query};

use super::*;
use crate::{Lag, Staleness, ibm_paces};

const GROUP_ID: (&str, &str) = (RESOURCE_GROUP, "default");

fn ibm() -> Account {
    Account::new(Settings::ibm(), VirtualClock::new())
}

fn made(
    account: &mut Account,
    kind: &'static Kind,
    name: &str,
    with: &[(&'static str, &str)],
) -> Target {
    let born = perform(account, &create(kind, name, &props(with))).unwrap();
    Target::new(kind, born.id.clone())
}

fn workspace(account: &mut Account) -> Target {
    let with = [("zone", "dal10"), GROUP_ID, (PLAN, PLAN_ID)];
    made(account, &WORKSPACE, "prod-serviceInstance", &with)
}

fn vpc(account: &mut Account) -> Target {
    made(account, &VPC, "prod-vpc", &[GROUP_ID])
}

fn subnet(account: &mut Account, vpc: &Target, zone: &str) -> Target {
    let with = [
        ("vpc", vpc.id.as_str()),
        (ZONE, zone),
        (ADDRESSES, "256"),
        GROUP_ID,
    ];
    made(account, &VPC_SUBNET, &format!("prod-{zone}"), &with)
}

fn gateway(account: &mut Account) -> Target {
    let with = [(LOCATION, "us-south"), (GLOBAL, "false"), GROUP_ID];
    made(account, &TRANSIT_GATEWAY, "prod-transitgateway", &with)
}

fn prop(account: &Account, of: &Target, name: &str) -> String {
    account
        .resource(of)
        .unwrap()
        .props
        .get(name)
        .unwrap()
        .to_string()
}

fn blockers(result: Result<(), CloudError>) -> Vec<String> {
    match result.unwrap_err().class {
        Class::Blocked(blockers) => blockers.iter().map(ToString::to_string).collect(),
        other => panic!("not blocked: {other:?}"),
    }
}

#[test]
fn everything_tells_its_crn_and_its_name() {
    let mut account = ibm();
    let workspace = workspace(&mut account);
    let network = made(
        &mut account,
        &POWER_NETWORK,
        "DHCPSERVERprod_Private",
        &[(IN, workspace.id.as_str())],
    );
    let vpc = vpc(&mut account);
    let subnet = subnet(&mut account, &vpc, "us-south-2");
    let number = "a/7f75c7b025e54bc5635f754b2f888665";
    let guid = &workspace.id;
    let expected = [
        (
            &workspace,
            format!("crn:v1:bluemix:public:power-iaas:dal10:{number}:{guid}::"),
        ),
        (
            &network,
            format!(
                "crn:v1:bluemix:public:power-iaas:dal10:{number}:{guid}:network:{}",
                network.id
            ),
        ),
        (
            &vpc,
            format!("crn:v1:bluemix:public:is:us-south:{number}::vpc:{}", vpc.id),
        ),
        (
            &subnet,
            format!(
                "crn:v1:bluemix:public:is:us-south-2:{number}::subnet:{}",
                subnet.id
            ),
        ),
    ];
    for (target, crn) in expected {
        assert_eq!(prop(&account, target, CRN), crn);
        let name = account.resource(target).unwrap().name.to_string();
        assert_eq!(prop(&account, target, NAME), name);
    }
    assert!(prop(&account, &network, SERVER).starts_with("dhcp-"));
    assert_eq!(prop(&account, &subnet, CIDR), "10.240.64.0/24");
}

#[test]
fn tags_ride_on_the_create_of_instances_only() {
    for kind in KINDS {
        let mut account = ibm();
        let mut order = create(kind, "prod", &Props::new());
        order.tags = tags(&[("owner", "x")]);
        let refused = account.perform(ENGINE, &Step::Create(order)).unwrap_err();
        let no_tags = refused.message.contains("takes no tags");
        let is_instance = [&WORKSPACE, &COS_INSTANCE].contains(&kind);
        assert_eq!(no_tags, !is_instance, "{kind}: {refused}");
    }
}

/// A mark that is written again takes the place of the one before; other tags stand beside each other.
#[test]
fn a_claim_has_one_mark_on_a_resource() {
    let mut account = ibm();
    let vpc = vpc(&mut account);
    for value in ["one", "two"] {
        let new = pairs(&[("freehold.dev_0123", value), ("team", value)]);
        account
            .tag(ENGINE, std::slice::from_ref(&vpc), &new)
            .unwrap();
    }
    let held = account.resource(&vpc).unwrap().tags.clone();
    let expected = [
        ("freehold.dev_0123", "two"),
        ("team", "one"),
        ("team", "two"),
    ];
    assert_eq!(held, tags(&expected));
}

/// One call attaches tags to resources of any services; two tags may begin alike; what IBM Cloud does not
/// allow is refused with its status.
#[test]
fn tags_are_attached_by_a_service_of_their_own() {
    let mut account = ibm();
    let (vpc, gateway) = (vpc(&mut account), gateway(&mut account));
    let both = [vpc.clone(), gateway.clone()];
    let connections = pairs(&[
        ("owner_prod_tg", "vpcconnection"),
        ("owner_prod_tg", "powervsconnection"),
    ]);
    account.tag(ENGINE, &both, &connections).unwrap();
    assert_eq!(account.counters().calls("AttachTag"), 1);
    for target in &both {
        assert_eq!(account.resource(target).unwrap().tags.len(), 2);
    }
    for (key, value) in [
        ("powervs.cluster.x-k8s.io/owner", "prod"),
        ("team", "a,b"),
        ("team", "a:b"),
        ("Team", "blue"),
        (&"k".repeat(100), &"v".repeat(40)),
    ] {
        let refused = account.tag(ENGINE, &both, &pairs(&[(key, value)]));
        let error = refused.unwrap_err();
        assert_eq!((&*error.code, &error.class), ("HTTP 400", &Class::Fatal));
        assert!(error.message.contains("transaction"), "{error}");
    }
    account
        .untag(ENGINE, std::slice::from_ref(&gateway), &connections[..1])
        .unwrap();
    let left = account.resource(&gateway).unwrap().tags.clone();
    assert_eq!(left, tags(&[("owner_prod_tg", "powervsconnection")]));
}

#[test]
fn search_shows_a_tag_later_than_the_resource_itself() {
    let mut account = Account::new(
        Settings {
            lag: Lag {
                by_id: Millis(0),
                by_filter: Millis::seconds(30),
            },
            ..Settings::ibm()
        },
        VirtualClock::new(),
    );
    account.clock().advance(Millis::seconds(3600));
    let vpc = vpc(&mut account);
    account
        .tag(
            ENGINE,
            std::slice::from_ref(&vpc),
            &pairs(&[("team", "blue")]),
        )
        .unwrap();
    let by_mark = Query::Marks {
        kind: &VPC,
        place: Place::HOME,
        keys: vec![text("team")],
    };
    let by_id = Query::Id(vpc);
    let found = |account: &mut Account, query: &Query| {
        let answer = account.read(query, Staleness::Lagging).unwrap();
        answer.resources.len()
    };
    assert_eq!(found(&mut account, &by_id), 1);
    assert_eq!(found(&mut account, &by_mark), 0);
    account.clock().advance(VPC.settling);
    assert_eq!(found(&mut account, &by_mark), 1);
    assert!(account.counters().calls("Search") > 0);
}

#[test]
fn names_are_unique_where_ibm_cloud_has_them_so() {
    let mut account = ibm();
    let first = vpc(&mut account);
    let again = create(&VPC, "prod-vpc", &props(&[GROUP_ID]));
    assert_eq!(
        code(perform(&mut account, &again)),
        "validation_unique_failed"
    );
    gateway(&mut account);
    let with = [(LOCATION, "eu-de"), GROUP_ID];
    let again = create(&TRANSIT_GATEWAY, "prod-transitgateway", &props(&with));
    let error = perform(&mut account, &again).unwrap_err();
    assert_eq!((&*error.code, error.class), ("HTTP 409", Class::Exists));
    // Any number of instances can have one name.
    let (one, other) = (workspace(&mut account), workspace(&mut account));
    assert_ne!(one.id, other.id);
    // Another region has another VPC of that name, and the same gateways.
    account.enter("eu-de");
    assert!(account.resource(&first).is_none());
    vpc(&mut account);
    assert_eq!(account.alive(&TRANSIT_GATEWAY).count(), 1);
}

/// What the network of a DHCP server is, shows minutes after the server was accepted.
#[test]
fn the_id_of_a_power_network_arrives_late() {
    let mut account = Account::new(
        Settings {
            paces: ibm_paces(),
            ..Settings::ibm()
        },
        VirtualClock::new(),
    );
    let workspace = workspace(&mut account);
    let with = props(&[(IN, workspace.id.as_str())]);
    let order = create(&POWER_NETWORK, "DHCPSERVERprod_Private", &with);
    // Not before the workspace can be used.
    assert_eq!(code(perform(&mut account, &order)), "HTTP 400");
    account.clock().advance(Millis::seconds(150));
    let effect = account.perform(ENGINE, &Step::Create(order)).unwrap();
    assert!(effect.born.is_none());
    let operation = Query::Operation {
        kind: &POWER_NETWORK,
        place: Place::HOME,
        name: effect.operation.unwrap(),
    };
    let progress = |account: &mut Account| {
        let answer = account.read(&operation, Staleness::Settled).unwrap();
        answer.progress.unwrap()
    };
    assert_eq!(progress(&mut account), Progress::Running);
    account.clock().advance(Millis::seconds(240));
    let Progress::Done(Some(id)) = progress(&mut account) else {
        panic!("no network");
    };
    let network = Target::new(&POWER_NETWORK, id);
    assert_eq!(account.resource(&network).unwrap().life, Life::Ready);
    assert_eq!(
        blockers(account.delete(ENGINE, &workspace)),
        [format!("Power network {}", network.id)]
    );
}

#[test]
fn a_deleted_workspace_can_be_restored_as_long_as_it_is_going() {
    let mut account = Account::new(
        Settings {
            paces: ibm_paces(),
            ..Settings::ibm()
        },
        VirtualClock::new(),
    );
    let workspace = workspace(&mut account);
    account
        .tag(
            ENGINE,
            std::slice::from_ref(&workspace),
            &pairs(&[("team", "blue")]),
        )
        .unwrap();
    account.clock().advance(Millis::seconds(150));
    account.delete(ENGINE, &workspace).unwrap();
    assert!(account.is_going(&workspace));
    assert!(account.restore(&workspace));
    account.clock().advance(Millis::seconds(3600));
    let there = account.resource(&workspace).unwrap();
    assert_eq!(there.life, Life::Ready);
    assert_eq!(there.tags, tags(&[("team", "blue")]));
    assert!(!account.restore(&workspace));
    account.delete(ENGINE, &workspace).unwrap();
    account.clock().advance(Millis::seconds(90));
    assert!(!account.restore(&workspace));
}

#[test]
fn what_must_go_first_is_named() {
    let mut account = ibm();
    let (workspace, vpc) = (workspace(&mut account), vpc(&mut account));
    let subnet = subnet(&mut account, &vpc, "us-south-1");
    let with = [(PUBLIC, "true"), (SUBNETS, subnet.id.as_str()), GROUP_ID];
    let balancer = made(&mut account, &VPC_LOAD_BALANCER, "prod-loadbalancer", &with);
    let gateway = gateway(&mut account);
    let to = |account: &Account, sort: &str, of: &Target| {
        part(&format!("{sort} {}", prop(account, of, CRN)), "")
    };
    let connections = [
        to(&account, "vpc", &vpc),
        to(&account, "power_virtual_server", &workspace),
    ];
    for connection in &connections {
        account
            .add_parts(
                ENGINE,
                &gateway,
                CONNECTION,
                std::slice::from_ref(connection),
            )
            .unwrap();
    }
    let connected = format!("transit gateway {}", gateway.id);
    assert_eq!(
        blockers(account.delete(ENGINE, &workspace)),
        [connected.clone()]
    );
    assert_eq!(
        blockers(account.delete(ENGINE, &vpc)),
        [format!("VPC subnet {}", subnet.id), connected]
    );
    assert_eq!(
        blockers(account.delete(ENGINE, &subnet)),
        [format!("VPC load balancer {}", balancer.id)]
    );
    assert_eq!(blockers(account.delete(ENGINE, &gateway)).len(), 2);
    let keys: Vec<Text> = connections.iter().map(|it| it.key.clone()).collect();
    for key in keys {
        account
            .remove_parts(ENGINE, &gateway, CONNECTION, &[key])
            .unwrap();
    }
    for target in [gateway, balancer, subnet, vpc, workspace] {
        account.delete(ENGINE, &target).unwrap();
    }
}

#[test]
fn a_vpc_comes_with_rules_and_takes_others() {
    let mut account = ibm();
    let vpc = vpc(&mut account);
    let keys = |account: &Account| -> Vec<String> {
        let rules = account.parts(&vpc, DEFAULT_RULE).iter();
        rules.map(|rule| rule.key.to_string()).collect()
    };
    assert_eq!(keys(&account).len(), 2);
    let api = part("inbound tcp 6443-6443 0.0.0.0/0", "");
    account
        .add_parts(ENGINE, &vpc, DEFAULT_RULE, &[api])
        .unwrap();
    assert_eq!(keys(&account).len(), 3);
    let sloppy = part("inbound tcp 6443 0.0.0.0/0", "");
    let refused = account.add_parts(ENGINE, &vpc, DEFAULT_RULE, &[sloppy]);
    assert_eq!(code(refused), "HTTP 400");
}

#[test]
fn a_rule_names_a_group_that_is_there_and_keeps_it() {
    let mut account = ibm();
    let vpc = vpc(&mut account);
    let mut group = |name: &str| {
        let with = [("vpc", vpc.id.as_str()), GROUP_ID];
        made(&mut account, &VPC_SECURITY_GROUP, name, &with)
    };
    let (nodes, bastion) = (group("nodes"), group("bastion"));
    let from = |id: &str| part(&format!("inbound tcp 22-22 {id}"), "");
    let nowhere = account.add_parts(ENGINE, &nodes, RULE, &[from("r006-nowhere")]);
    assert_eq!(code(nowhere), "not_found");
    account
        .add_parts(ENGINE, &nodes, RULE, &[from(bastion.id.as_str())])
        .unwrap();
    assert_eq!(
        blockers(account.delete(ENGINE, &bastion)),
        [format!("VPC security group {}", nodes.id)]
    );
}

#[test]
fn a_listener_needs_its_pool_and_a_port_of_its_own() {
    let mut account = ibm();
    let vpc = vpc(&mut account);
    let subnet = subnet(&mut account, &vpc, "us-south-1");
    let with = [(PUBLIC, "true"), (SUBNETS, subnet.id.as_str()), GROUP_ID];
    let balancer = made(&mut account, &VPC_LOAD_BALANCER, "prod-loadbalancer", &with);
    assert!(prop(&account, &balancer, HOSTNAME).ends_with("-us-south.lb.appdomain.cloud"));
    let api = part("tcp 6443", "api");
    let early = account.add_parts(ENGINE, &balancer, LISTENER, std::slice::from_ref(&api));
    assert_eq!(code(early), "pool_not_found");
    account
        .add_parts(ENGINE, &balancer, POOL, &[part("api", "tcp")])
        .unwrap();
    account
        .add_parts(ENGINE, &balancer, LISTENER, &[api])
        .unwrap();
    let taken = account.add_parts(ENGINE, &balancer, LISTENER, &[part("http 6443", "api")]);
    assert_eq!(code(taken), "listener_duplicate_port");
}

#[test]
fn the_name_of_a_bucket_is_taken_in_the_whole_world() {
    let mut account = ibm();
    let with = [GROUP_ID, (PLAN, cos_instance::PLAN_ID)];
    let one = made(&mut account, &COS_INSTANCE, "prod-cosinstance", &with);
    let bucket = [part("prod-cosbucket", "us-south")];
    account.add_parts(ENGINE, &one, BUCKET, &bucket).unwrap();
    let taken = [part("taken-by-others", "us-south")];
    let error = account.add_parts(ENGINE, &one, BUCKET, &taken).unwrap_err();
    assert_eq!(&*error.code, "BucketAlreadyExists");
    assert!(error.message.contains("choose another"), "{error}");
    assert_eq!(
        blockers(account.delete(ENGINE, &one)),
        ["bucket prod-cosbucket"]
    );
}

#[test]
fn quotas_and_unknown_zones_are_told() {
    let mut account = ibm();
    for at in 0..10 {
        made(&mut account, &VPC, &format!("vpc-{at}"), &[GROUP_ID]);
    }
    let one_more = create(&VPC, "one-more", &props(&[GROUP_ID]));
    let error = perform(&mut account, &one_more).unwrap_err();
    assert!(
        error.message.contains("'VPCs per region' is used up"),
        "{error}"
    );
    let with = [("zone", "mars01"), GROUP_ID, (PLAN, PLAN_ID)];
    let error = perform(&mut account, &create(&WORKSPACE, "w", &props(&with))).unwrap_err();
    assert!(error.message.contains("no zone 'mars01'"), "{error}");
}
