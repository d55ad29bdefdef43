//! The whole blueprint of an `AWSMachine` as a scenario: an instance that takes its time, is told a secret
//! and is not made again, and a place with a load balancer that is another claim's.

use blueprints::capa::machine::{Machine, Registry, encode};
use cloud_port::aws::classic_load_balancer::{self as classic, CLASSIC_LOAD_BALANCER};
use cloud_port::aws::instance::INSTANCE;
use cloud_port::aws::security_group::SECURITY_GROUP;
use cloud_port::aws::subnet::SUBNET;
use cloud_port::aws::target_group::TARGET_GROUP;
use cloud_sim::{Account, Actor, Settings, VirtualClock};
use ownership::mark::Tags;
use ownership::part::Props;
use ownership::time::Millis;
use ownership::{Kind, Secret, Target};

use crate::fault::{Fault, Menu};
use crate::scenario::{CLUSTER, MACHINERY, Scenario, identity};

const UUID: &str = "9a0c6a5e-4f0b-4d19-8b9b-6c1f3d2e7a44";

/// Longer than EC2 remembers a client token.
const EXPIRED: Millis = Millis::seconds(25 * 3600);

/// Every scenario of the blueprint.
pub(crate) fn scenarios() -> Vec<Scenario> {
    let classic = behind("classic", &CLASSIC_LOAD_BALANCER);
    let special = |what: &str, faults| Scenario {
        name: format!("capa/machine/{what}"),
        faults,
        ..classic.clone()
    };
    vec![
        behind("nlb", &TARGET_GROUP),
        special(
            "killed",
            MACHINERY.or(Menu::of(&[Fault::StrangerDeletes, Fault::Fails])),
        ),
        Scenario {
            long: EXPIRED,
            ..special("expired", MACHINERY)
        },
        Scenario {
            writers: 2,
            ..special("two-writers", MACHINERY)
        },
        Scenario {
            glances: true,
            ..special("glancing", MACHINERY)
        },
        special(
            "taken-out",
            MACHINERY.or(Menu::of(&[
                Fault::StrangerRemovesInner,
                Fault::StrangerTags,
            ])),
        ),
        Scenario {
            depth: 2,
            ..classic.clone()
        },
    ]
}

/// A machine of the control plane behind such a load balancer.
fn behind(what: &str, kind: &'static Kind) -> Scenario {
    let settings = Settings {
        zones: 1,
        paces: cloud_sim::aws_paces(),
        ..Settings::default()
    };
    let mut account = Account::new(settings, VirtualClock::new());
    let vpc = account.default_vpc().expect("there is one").id.to_string();
    let subnet = account
        .alive(&SUBNET)
        .next()
        .expect("there is one")
        .id
        .to_string();
    let group = [("vpc", vpc.as_str()), ("description", "a group")];
    let groups = ["node", "lb", "controlplane"];
    let groups = groups.map(|role| plant(&mut account, &SECURITY_GROUP, role, &group));
    let registry = if kind == &CLASSIC_LOAD_BALANCER {
        let with = [
            (classic::SUBNETS, subnet.as_str()),
            (classic::LISTENERS, "tcp 6443 tcp 6443"),
        ];
        plant(&mut account, kind, "api", &with);
        Registry::Classic("api".into())
    } else {
        let with = [
            ("vpc", vpc.as_str()),
            ("protocol", "tcp"),
            ("port", "6443"),
            ("targets", "instance"),
        ];
        plant(&mut account, kind, "api", &with);
        Registry::Targets("api".into())
    };
    let machine = Machine {
        is_control_plane: true,
        machine: "t3.large".to_owned(),
        image: Some("ami-0123456789abcdef0".to_owned()),
        subnet: Some(subnet),
        groups: groups.iter().map(|group| group.id.to_string()).collect(),
        user_data: Some(Secret::new(encode(b"canary-of-a-machine", false), "uid")),
        registry: Some(registry),
        ..Machine::new(CLUSTER, "prod-a")
    };
    let identity = identity(UUID, CLUSTER, "management-a", machine.dialect());
    let blueprint = machine.blueprint().expect("the machine is legal");
    let name = format!("capa/machine/{what}");
    Scenario::plain(&name, account, identity, blueprint, &[&INSTANCE])
}

/// Something that the cluster's own claim has made.
fn plant(
    account: &mut Account,
    kind: &'static Kind,
    name: &str,
    props: &[(&'static str, &str)],
) -> Target {
    let props = props.iter().map(|(name, value)| (*name, (*value).into()));
    let key = format!("sigs.k8s.io/cluster-api-provider-aws/cluster/{CLUSTER}");
    let tags: Tags = [(key.into(), "owned".into())].into_iter().collect();
    let planted = account.plant(
        Actor::Stranger,
        kind,
        name,
        &props.collect::<Props>(),
        &tags,
    );
    planted.expect("room for it")
}
