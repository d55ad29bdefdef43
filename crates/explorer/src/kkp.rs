//! The whole KKP blueprint as a scenario: four slots of ours, three that are only looked up.

use std::collections::BTreeSet;

use cloud_port::aws::{instance_profile, role, security_group};
use cloud_sim::{Account, Actor, Settings, VirtualClock};
use controllers::kkp;
use ownership::decide::Evidence;
use ownership::time::Millis;
use ownership::{Identity, Ledger};

use crate::fault::Menu;
use crate::scenario::{Expect, Lifted, MACHINERY, Scenario, identity};
use crate::stranger;

const UUID: &str = "3b0d2a1c-7f55-4d38-9d54-6d3f8e1b2c70";

/// Every scenario of the KKP blueprint.
pub(crate) fn scenarios() -> Vec<Scenario> {
    let cluster = kkp::Cluster::new("prod");
    let identity: Identity = identity(UUID, "prod", "management-a", cluster.dialect());
    let alone = Scenario {
        name: "kkp/cluster/alone".to_owned(),
        account: Account::new(
            Settings {
                zones: 1,
                ..Settings::default()
            },
            VirtualClock::new(),
        ),
        ledger: Ledger::default(),
        identity,
        actor: Actor::Engine(0),
        blueprint: cluster.blueprint().expect("the cluster is legal"),
        evidence: Evidence::default(),
        kinds: vec![
            &security_group::SECURITY_GROUP,
            &role::ROLE,
            &instance_profile::INSTANCE_PROFILE,
        ],
        faults: MACHINERY,
        depth: 2,
        writers: 1,
        retains: false,
        status_refuses: false,
        intents_in_status: false,
        lifted: Lifted::default(),
        adopts: BTreeSet::new(),
        expect: Expect::Filled,
        must_report: false,
        blocker: None,
        long: Millis::seconds(120),
        logs: false,
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
