//! The whole blueprint of an `AWSCluster` as a scenario: a network with everything in it, where nearly
//! every slot refers to another one.

use blueprints::capa::{Cluster, Subnet, default_subnets};
use cloud_port::aws;
use cloud_sim::{Account, Settings, VirtualClock};
use ownership::kind::Kind;

use crate::fault::Fault;
use crate::scenario::{CLUSTER, MACHINERY, Scenario, identity};

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
    vec![spec(), of("nlb", &network), alone]
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
