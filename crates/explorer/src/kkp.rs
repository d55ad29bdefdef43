//! The whole KKP blueprint as a scenario: four slots of ours, three that are only looked up.

use blueprints::kkp;
use cloud_port::aws::{instance_profile, role, security_group};
use cloud_sim::{Account, Settings, VirtualClock};
use ownership::{Blueprint, Identity};

use crate::fault::{Fault, Menu};
use crate::scenario::{MACHINERY, Scenario, identity};
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
        ..Scenario::plain("kkp/cluster/alone", account, identity, blueprint, kinds)
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
    all.extend(claims::kkp_scenarios(&whole));
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
