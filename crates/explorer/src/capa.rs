//! The whole blueprint of an `AWSCluster` as a scenario: a network with everything in it, where nearly
//! every slot refers to another one.

use blueprints::capa::{Cluster, Subnet, Vpc, default_subnets};
use cloud_port::aws;
use cloud_port::aws::internet_gateway::ATTACHMENT;
use cloud_sim::{Account, Actor, Settings, VirtualClock};
use ownership::kind::Kind;
use ownership::mark::Tags;
use ownership::part::{InnerPart, Props};
use ownership::{Freehold, ResourceId, Target};

use crate::fault::{Fault, Menu};
use crate::scenario::{CLUSTER, Expect, MACHINERY, OTHER_UUID, Scenario, identity};
use crate::{claims, run};

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

/// What a stranger does, but for taking off marks: what lost its mark would keep our network from its end.
const MEDDLING: Menu = Menu::of(&[
    Fault::StrangerCreates,
    Fault::StrangerDeletes,
    Fault::StrangerAddsInner,
    Fault::StrangerRemovesInner,
    Fault::StrangerTags,
]);

/// That it does: then the end waits, and says for what.
const UNMARKING: Menu = Menu::of(&[
    Fault::StrangerUnmarks,
    Fault::StrangerUnmarksPartly,
    Fault::SlowAndUnmarked,
    Fault::AnsweredThenUnmarked,
]);

/// Every scenario of the blueprint.
pub(crate) fn scenarios() -> Vec<Scenario> {
    let once = of("", &Cluster::new("default", CLUSTER, &["zone-a"]));
    let special = |what: &str| Scenario {
        name: format!("capa/cluster/{what}"),
        ..once.clone()
    };
    let mut network = Cluster::new("default", CLUSTER, &["zone-a"]);
    network.balancer.kind = Some("nlb".to_owned());
    let mut all = vec![
        spec(),
        brought(),
        of("nlb", &network),
        Scenario {
            faults: MACHINERY.or(MEDDLING),
            ..special("stranger")
        },
        Scenario {
            faults: MACHINERY.or(UNMARKING),
            expect: Expect::Reported,
            ..special("unmarked")
        },
        Scenario {
            writers: 2,
            ..special("two-writers")
        },
        two_writers_end(&special("two-writers-end")),
        Scenario {
            glances: true,
            ..special("glancing")
        },
        Scenario {
            retains: true,
            ..special("retain")
        },
        Scenario {
            status_refuses: true,
            ..special("status-refuses")
        },
        Scenario {
            depth: 2,
            ..special("alone")
        },
    ];
    all.extend(two_networks(&special("cluster")));
    all
}

fn of(what: &str, cluster: &Cluster) -> Scenario {
    with(what, cluster, account())
}

fn account() -> Account {
    let settings = Settings {
        zones: 2,
        ..Settings::default()
    };
    Account::new(settings, VirtualClock::new())
}

fn with(what: &str, cluster: &Cluster, account: Account) -> Scenario {
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
        depth: 2,
        ..of("spec", &first)
    }
}

/// Somebody's VPC and subnets are used, with a cluster mark on them that goes at the end; the groups and the
/// load balancer are ours. A lost status would take the author's wishes with it.
fn brought() -> Scenario {
    let mut account = account();
    let mark = (
        format!("kubernetes.io/cluster/{CLUSTER}").into(),
        "shared".into(),
    );
    let marked: Tags = [mark].into_iter().collect();
    let mut plant = |kind, props: &[(&'static str, &str)], tags: &Tags| {
        let props: Props = props
            .iter()
            .map(|(name, value)| (*name, (*value).into()))
            .collect();
        let planted = account.plant(Actor::Stranger, kind, "", &props, tags);
        planted.expect("room for it")
    };
    let vpc = plant(&aws::vpc::VPC, &[("cidr", "10.7.0.0/16")], &marked);
    let gateway = plant(&aws::internet_gateway::INTERNET_GATEWAY, &[], &Tags::new());
    let mut subnet = |cidr, zone, tags| {
        let props = [("vpc", vpc.id.as_str()), ("cidr", cidr), ("zone", zone)];
        plant(&aws::subnet::SUBNET, &props, tags)
    };
    let public = subnet("10.7.0.0/24", "zone-a", &marked);
    let private = subnet("10.7.1.0/24", "zone-b", &Tags::new());
    attach(&mut account, &gateway, &vpc.id);
    let mut cluster = Cluster::new("default", CLUSTER, &[]);
    cluster.vpc = Vpc {
        id: Some(vpc.id.to_string()),
        ..Vpc::default()
    };
    let given = |subnet: &Target, zone: &str, is_public| Subnet {
        id: subnet.id.to_string(),
        zone: Some(zone.to_owned()),
        is_public,
        ..Subnet::default()
    };
    cluster.subnets = vec![
        given(&public, "zone-a", true),
        given(&private, "zone-b", false),
    ];
    Scenario {
        faults: MACHINERY.without(Fault::LoseStatus.bit()),
        depth: 2,
        ..with("brought", &cluster, account)
    }
}

fn attach(account: &mut Account, gateway: &Target, vpc: &ResourceId) {
    let part = InnerPart::new(vpc.text(), "", Tags::new());
    account
        .add_parts(Actor::Stranger, gateway, ATTACHMENT, &[part])
        .expect("it is attached to none");
}

/// Both believe that they lead, and end the cluster.
fn two_writers_end(alone: &Scenario) -> Scenario {
    let (account, ledger) = run::prepare(alone, &Freehold);
    Scenario {
        account,
        ledger,
        writers: 2,
        ends_at_once: true,
        ..alone.clone()
    }
}

/// Two clusters of one name, in two namespaces, each with a network of its own: whichever ends, the other
/// one stays as it is.
fn two_networks(first: &Scenario) -> [Scenario; 2] {
    let cluster = Cluster::new("other", CLUSTER, &["zone-a"]);
    let second = Scenario {
        identity: identity(OTHER_UUID, CLUSTER, "management-a", cluster.dialect()),
        actor: Actor::Engine(1),
        blueprint: cluster.blueprint().expect("the cluster is legal"),
        ..first.clone()
    };
    let whole = Scenario {
        name: "capa/cluster".to_owned(),
        ..first.clone()
    };
    claims::both_orders(&whole, second, "two-claims/two-networks")
}
