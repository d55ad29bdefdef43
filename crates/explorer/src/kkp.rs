//! The whole KKP blueprint as a scenario: four slots of ours, three that are only looked up.

use blueprints::kkp;
use cloud_port::aws::{instance_profile, role, security_group};
use cloud_sim::{Account, Actor, Settings, VirtualClock};
use ownership::part::Props;
use ownership::{Blueprint, Identity, Ledger};

use crate::fault::{Fault, Menu};
use crate::scenario::{self, CLUSTER, MACHINERY, OTHER_UUID, Scenario, identity, named};
use crate::{claims, processes, stranger};

const UUID: &str = "3b0d2a1c-7f55-4d38-9d54-6d3f8e1b2c70";

/// Every scenario of the KKP blueprint.
pub(crate) fn scenarios() -> Vec<Scenario> {
    let cluster = kkp::Cluster::new("prod");
    let identity: Identity = identity(UUID, "prod", "management-a", cluster.dialect());
    let settings = Settings {
        zones: 1,
        ..Settings::default()
    };
    let account = Account::new(settings, VirtualClock::new());
    let blueprint = cluster.blueprint().expect("the cluster is legal");
    let kinds = vec![
        &security_group::SECURITY_GROUP,
        &role::ROLE,
        &instance_profile::INSTANCE_PROFILE,
    ];
    let alone = Scenario {
        depth: 2,
        ..Scenario::plain("kkp/cluster/alone", account, identity, blueprint, &kinds)
    };
    let special = |what: &str| Scenario {
        name: format!("kkp/cluster/{what}"),
        depth: 1,
        ..alone.clone()
    };
    let mut all = vec![
        Scenario {
            faults: MACHINERY.or(Menu::of(stranger::ALL)),
            ..special("stranger")
        },
        Scenario {
            writers: 2,
            ..special("two-writers")
        },
        Scenario {
            retains: true,
            ..special("retain")
        },
        Scenario {
            status_refuses: true,
            ..special("status-refuses")
        },
        // What others put into our group is theirs: a cloud controller's rules, for one.
        Scenario {
            faults: MACHINERY.or(Fault::StrangerAddsInner.bit()),
            ..special("others-parts")
        },
        Scenario {
            changes: changed(),
            faults: MACHINERY.or(Fault::SpecChange.bit()),
            ..special("spec")
        },
    ];
    let whole = Scenario {
        name: "kkp/cluster".into(),
        ..alone.clone()
    };
    all.extend(several(&whole));
    all.extend(processes::scenarios(&whole));
    all.push(alone);
    all
}

/// The author of the object lets others reach the node ports, and then moves them.
fn changed() -> Vec<Blueprint> {
    let mut cluster = kkp::Cluster {
        node_ports_allowed: vec!["10.0.0.0/8".into()],
        ..kkp::Cluster::new("prod")
    };
    let one = cluster.blueprint().expect("the cluster is legal");
    cluster.node_port_range = Some("30000-30100".into());
    vec![one, cluster.blueprint().expect("the cluster is legal")]
}

/// The scenarios of several KKP clusters.
fn several(alone: &Scenario) -> Vec<Scenario> {
    let mut all = vec![Scenario {
        name: "kkp/cluster/heir".into(),
        depth: 1,
        ..claims::heir(alone)
    }];
    let mut account = alone.account.clone();
    let vpc = account.default_vpc().expect("there is one").id.clone();
    let props: Props = [("vpc", vpc.text()), ("description", "shared".into())]
        .into_iter()
        .collect();
    let shared = claims::plant(
        &mut account,
        &security_group::SECURITY_GROUP,
        "shared",
        &props,
    );
    let cluster = |name: &str, uuid, holder, actor, own_group: bool, iam: bool, range: &str| {
        let cluster = kkp::Cluster {
            security_group_id: (!own_group).then(|| shared.id.to_string()),
            disable_iam: !iam,
            node_ports_allowed: vec![range.into()],
            ..kkp::Cluster::new(name)
        };
        let ledger = Ledger {
            ids: cluster.ids().expect("legal ids"),
            ..Ledger::default()
        };
        Scenario {
            account: account.clone(),
            identity: identity(uuid, name, holder, cluster.dialect()),
            actor,
            blueprint: cluster.blueprint().expect("the cluster is legal"),
            ledger,
            evidence: claims::sweeping(),
            depth: 1,
            faults: MACHINERY.without(Fault::LoseStatus.bit()),
            name: "kkp/cluster".into(),
            ..alone.clone()
        }
    };
    let (here, there) = (Actor::Engine(0), Actor::Engine(1));
    let (a, b) = ("management-a", "management-b");
    // One owns a group; its namesake owns roles and a profile, and uses somebody's group.
    let first = cluster(CLUSTER, scenario::UUID, a, here, true, false, "10.0.0.0/8");
    let namesake = cluster(CLUSTER, OTHER_UUID, b, there, false, true, "10.0.0.0/8");
    let first = Scenario {
        faults: first.faults.without(claims::OVERTAKEN),
        ..first
    };
    all.extend(claims::both_orders(
        &first,
        namesake,
        "two-claims/namesakes",
    ));
    // Two clusters use one group: ssh and ping are equal, the node ports are not.
    let first = cluster(CLUSTER, scenario::UUID, a, here, false, false, "10.0.0.0/8");
    let other = cluster("dev", OTHER_UUID, a, there, false, false, "192.168.0.0/16");
    all.extend(claims::both_orders(
        &first,
        other.clone(),
        "two-claims/one-used-resource",
    ));
    all.push(claims::one_comes(
        &first,
        other,
        "two-claims/one-comes-one-goes",
    ));
    let first = cluster(CLUSTER, scenario::UUID, a, here, true, true, "10.0.0.0/8");
    let other = cluster("dev", OTHER_UUID, a, there, true, true, "10.0.0.0/8");
    let [neighbours, _] = claims::both_orders(&first, other, "neighbours");
    all.push(Scenario {
        glances: true,
        ..named(&neighbours, "glancing")
    });
    all.push(neighbours);
    all
}
