//! The whole KKP blueprint as a scenario: four slots of ours, three that are only looked up.

use blueprints::kkp;
use cloud_port::aws::{instance_profile, role, security_group};
use cloud_sim::{Account, Settings, VirtualClock};
use ownership::Identity;

use crate::fault::Menu;
use crate::scenario::{MACHINERY, Scenario, identity};
use crate::stranger;

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
    vec![
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
        alone,
    ]
}
