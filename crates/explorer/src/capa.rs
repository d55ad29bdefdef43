//! The whole blueprint of an `AWSCluster` as a scenario: a network with everything in it, where nearly
//! every slot refers to another one.

use blueprints::capa::{Cluster, Subnet, default_subnets};
use cloud_port::aws;
use cloud_port::aws::classic_load_balancer::{CLASSIC_LOAD_BALANCER, GROUPS, LISTENERS, SUBNETS};
use cloud_port::aws::network_load_balancer::NETWORK_LOAD_BALANCER;
use cloud_port::aws::security_group::{RULE, SECURITY_GROUP};
use cloud_port::aws::target_group::TARGET_GROUP;
use cloud_sim::{Account, Actor, Settings, VirtualClock};
use ownership::kind::Kind;
use ownership::mark::Tags;
use ownership::part::{InnerPart, Props};
use ownership::{Freehold, Text};

use crate::fault::Fault;
use crate::run;
use crate::scenario::{CLUSTER, MACHINERY, Scenario, identity, slot_name};

const UUID: &str = "5b1f0c6e-2d8a-4f6b-9f0e-6f1b7a2c9d31";

/// What the cluster may own.
static KINDS: [&Kind; 10] = [
    &aws::vpc::VPC,
    &aws::internet_gateway::INTERNET_GATEWAY,
    &aws::subnet::SUBNET,
    &aws::elastic_ip::ELASTIC_IP,
    &aws::nat_gateway::NAT_GATEWAY,
    &aws::route_table::ROUTE_TABLE,
    &aws::security_group::SECURITY_GROUP,
    &aws::classic_load_balancer::CLASSIC_LOAD_BALANCER,
    &aws::network_load_balancer::NETWORK_LOAD_BALANCER,
    &aws::target_group::TARGET_GROUP,
];

/// Every scenario of the blueprint.
pub(crate) fn scenarios() -> Vec<Scenario> {
    let alone = of("alone", &Cluster::new("default", CLUSTER, &["zone-a"]));
    let mut network = Cluster::new("default", CLUSTER, &["zone-a"]);
    network.balancer.kind = Some("nlb".to_owned());
    vec![spec(), of("nlb", &network), left_behind(), alone]
}

fn of(what: &str, cluster: &Cluster) -> Scenario {
    let settings = Settings {
        zones: 2,
        ..Settings::default()
    };
    let account = Account::new(settings, VirtualClock::new());
    let identity = identity(UUID, CLUSTER, "management-a", cluster.dialect());
    let blueprint = cluster.blueprint().expect("the cluster is legal");
    let name = format!("capa/cluster/{what}");
    let mut scenario = Scenario::plain(&name, account, identity, blueprint, &KINDS);
    scenario.ledger.ids = cluster.ids().expect("legal ids");
    scenario
}

/// A zone more, and then the first one no more.
fn spec() -> Scenario {
    let mut cluster = Cluster::new("default", CLUSTER, &["zone-a", "zone-b"]);
    let all = default_subnets(&cluster).expect("room for all");
    let mut with = |subnets: &[Subnet]| {
        cluster.subnets = subnets.to_vec();
        cluster.clone()
    };
    let (first, both, second) = (with(&all[..2]), with(&all), with(&all[2..]));
    let blueprint = |cluster: &Cluster| cluster.blueprint().expect("the cluster is legal");
    Scenario {
        changes: vec![blueprint(&both), blueprint(&second)],
        faults: MACHINERY.or(Fault::SpecChange.bit()),
        ..of("spec", &first)
    }
}

/// Controllers inside the cluster left load balancers, a target group and groups in its VPC, and it ends with
/// all that. What lies beside them and is not theirs, or not only theirs, stays.
fn left_behind() -> Scenario {
    let mut scenario = of(
        "left-behind",
        &Cluster::new("default", CLUSTER, &["zone-a"]),
    );
    scenario.evidence.left_behind = true;
    let (account, ledger) = run::prepare(&scenario, &Freehold);
    (scenario.account, scenario.ledger) = (account, ledger);
    let id = |slot: &str| scenario.ledger.ids[&slot_name(slot)].text();
    let (vpc, subnet) = (id(blueprints::capa::VPC), id("subnet-public-zone-a"));
    let account = &mut scenario.account;
    let mut plant = |kind, name: &str, props: &[(&'static str, &str)], tags: &[(&str, &str)]| {
        let props: Props = props.iter().map(|(k, v)| (*k, (*v).into())).collect();
        let tag = |(cluster, value): &(&str, &str)| -> (Text, Text) {
            let key = format!("kubernetes.io/cluster/{cluster}");
            (key.into(), (*value).into())
        };
        let tags: Tags = tags.iter().map(tag).collect();
        let planted = account.plant(Actor::Stranger, kind, name, &props, &tags);
        planted.expect("room for it")
    };
    let owned = [(CLUSTER, "owned")];
    let group = [("vpc", &*vpc), ("description", "for a service")];
    let targets = [
        ("vpc", &*vpc),
        ("protocol", "tcp"),
        ("port", "30080"),
        ("targets", "instance"),
        (
            "health-check",
            "tcp 30080 every 10 timeout 5 healthy 5 unhealthy 3",
        ),
    ];
    let one = plant(&SECURITY_GROUP, "k8s-one", &group, &owned);
    let two = plant(&SECURITY_GROUP, "k8s-two", &group, &owned);
    let balancer = [
        (SUBNETS, &*subnet),
        (GROUPS, one.id.as_str()),
        (LISTENERS, "tcp 80 tcp 30080"),
    ];
    let left = [
        plant(&CLASSIC_LOAD_BALANCER, "k8s-classic", &balancer, &owned),
        plant(
            &NETWORK_LOAD_BALANCER,
            "k8s-network",
            &balancer[..2],
            &owned,
        ),
        plant(&TARGET_GROUP, "k8s-targets", &targets, &owned),
    ];
    // A VPC can go although it has target groups.
    plant(&TARGET_GROUP, "bare", &targets, &[]);
    plant(&TARGET_GROUP, "used", &targets, &[(CLUSTER, "shared")]);
    plant(&TARGET_GROUP, "of-other", &targets, &[("other", "owned")]);
    let both = [(CLUSTER, "owned"), ("other", "owned")];
    plant(&TARGET_GROUP, "of-both", &targets, &both);
    for (to, from) in [(&one, &two), (&two, &one)] {
        let rule = format!("ingress tcp 80-80 {}", from.id);
        let rule = InnerPart::new(rule, "", Tags::new());
        let added = account.add_parts(Actor::Stranger, to, RULE, &[rule]);
        added.expect("room for it");
    }
    scenario.leaves = left.into_iter().chain([one, two]).collect();
    scenario
}
