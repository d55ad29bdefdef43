//! The whole blueprint of an `IBMPowerVSCluster` as a scenario: two places, tags that are a second call and
//! lag, and strangers' resources under our names.

use blueprints::powervs::{Cluster, region};
use cloud_port::ibm::transit_gateway::{CONNECTION, TRANSIT_GATEWAY};
use cloud_port::ibm::{self, RESOURCE_GROUP, cos_instance, transit_gateway};
use cloud_sim::{Account, Actor, Settings, VirtualClock};
use ownership::decide::Evidence;
use ownership::mark::Tags;
use ownership::part::{InnerPart, Props};
use ownership::{Kind, KindAt, Target};

use crate::claims;
use crate::fault::Fault;
use crate::scenario::{CLUSTER, Expect, Scenario, identity};

const UUID: &str = "0f9a6c2e-5d31-4a3e-8b76-1c2d3e4f5a60";

/// What the cluster may own in the account.
static OF_ACCOUNT: [&Kind; 4] = [
    &ibm::workspace::WORKSPACE,
    &ibm::power_network::POWER_NETWORK,
    &transit_gateway::TRANSIT_GATEWAY,
    &cos_instance::COS_INSTANCE,
];

/// What it may own in a region.
static OF_REGION: [&Kind; 4] = [
    &ibm::vpc::VPC,
    &ibm::vpc_subnet::VPC_SUBNET,
    &ibm::vpc_security_group::VPC_SECURITY_GROUP,
    &ibm::vpc_load_balancer::VPC_LOAD_BALANCER,
];

/// Every scenario of the blueprint. What one Kind alone can show is walked with that Kind.
pub(crate) fn scenarios() -> Vec<Scenario> {
    let alone = of("alone", &cluster(UUID), account());
    vec![foreign(), hub(), alone]
}

/// With everything: ignition, and so a COS instance.
fn cluster(uuid: &str) -> Cluster {
    Cluster {
        ignites: true,
        tags: vec![("team".to_owned(), "blue".to_owned())],
        ..Cluster::new(CLUSTER, uuid, "dal10", &["us-south-1"])
    }
}

fn account() -> Account {
    let settings = Settings {
        paces: cloud_sim::ibm_paces(),
        ..Settings::ibm()
    };
    let account = Account::new(settings, VirtualClock::new());
    account.with_place(&region(), &OF_REGION)
}

fn of(what: &str, cluster: &Cluster, account: Account) -> Scenario {
    let identity = identity(
        &cluster.uuid,
        &cluster.name,
        "management-a",
        cluster.dialect(),
    );
    let blueprint = cluster.blueprint().expect("the cluster is legal");
    let name = format!("powervs/cluster/{what}");
    let mut scenario = Scenario::plain(&name, account, identity, blueprint, &OF_ACCOUNT);
    scenario.kinds.extend(KindAt::all(&region(), &OF_REGION));
    scenario.ledger.ids = cluster.ids().expect("legal ids");
    scenario.evidence = Evidence {
        named: cluster.named(),
        ..Evidence::default()
    };
    scenario
}

fn props(pairs: &[(&'static str, &str)]) -> Props {
    pairs
        .iter()
        .map(|(name, is)| (*name, (*is).into()))
        .collect()
}

/// A stranger's gateway, with a connection of the stranger's.
fn plant_gateway(account: &mut Account, name: &str) -> Target {
    let wanted = [
        (transit_gateway::LOCATION, "us-south"),
        (transit_gateway::GLOBAL, "false"),
        (RESOURCE_GROUP, "default"),
    ];
    let gateway = claims::plant(account, &TRANSIT_GATEWAY, name, &props(&wanted));
    let theirs = "vpc crn:v1:bluemix:public:is:us-south:a/1::vpc:r006-theirs";
    let part = InnerPart::new(theirs, "", Tags::new());
    account
        .add_parts(Actor::Stranger, &gateway, CONNECTION, &[part])
        .expect("room for it");
    gateway
}

/// A gateway and a COS instance of somebody's have the names that ours would have. The gateway's name is
/// unique, so that is a conflict, which is told; any number of instances can have one name, so ours is made
/// beside theirs. Neither is touched.
fn foreign() -> Scenario {
    let mut account = account();
    plant_gateway(&mut account, &format!("{CLUSTER}-transitgateway"));
    let wanted = [
        (RESOURCE_GROUP, "default"),
        (cos_instance::PLAN, cos_instance::PLAN_ID),
    ];
    claims::plant(
        &mut account,
        &cos_instance::COS_INSTANCE,
        &format!("{CLUSTER}-cosinstance"),
        &props(&wanted),
    );
    plant_vpc(&mut account);
    let scenario = of("foreign", &cluster(UUID), account);
    Scenario {
        expect: Expect::Reported,
        must_report: true,
        faults: scenario.faults.without(Fault::LoseStatus.bit()),
        ..scenario
    }
}

/// A VPC of somebody's, in our region, that has our VPC's name.
fn plant_vpc(account: &mut Account) {
    let wanted = props(&[(RESOURCE_GROUP, "default")]);
    let name = format!("{CLUSTER}-vpc");
    account
        .plant_at(
            &region(),
            Actor::Stranger,
            &ibm::vpc::VPC,
            &name,
            &wanted,
            &Tags::new(),
        )
        .expect("the name is free");
}

/// The gateway is somebody's: two connections are ours, and exactly those go.
fn hub() -> Scenario {
    let mut account = account();
    let gateway = plant_gateway(&mut account, "hub");
    let mut cluster = cluster(UUID);
    cluster.gateway.id = Some(gateway.id.to_string());
    let scenario = of("hub", &cluster, account);
    Scenario {
        faults: scenario.faults.without(Fault::LoseStatus.bit()),
        ..scenario
    }
}
