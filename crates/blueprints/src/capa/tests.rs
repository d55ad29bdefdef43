//! Clusters and the Blueprints they become.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

use ownership::blueprint::{IfMissing, Source};
use ownership::input::InputError;
use ownership::mark::Carrier;
use ownership::{Blueprint, Slot};
use proptest::prelude::*;

use super::{Cluster, IngressRule, Subnet, slot};

const ZONES: [&str; 3] = ["eu-central-1a", "eu-central-1b", "eu-central-1c"];

fn cluster() -> Cluster {
    Cluster::new("default", "prod", &ZONES)
}

fn refusal<T: std::fmt::Debug>(result: Result<T, InputError>) -> String {
    result.unwrap_err().to_string()
}

fn names(blueprint: &Blueprint) -> Vec<&str> {
    let slots = blueprint.slots().iter();
    slots.map(|slot| slot.name.as_str()).collect()
}

/// Compares with a file; `FREEHOLD_ACCEPT=1` writes it instead.
fn assert_golden(name: &str, blueprint: &Blueprint) {
    let actual: String = blueprint.slots().iter().map(describe).collect();
    let file = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("src/capa/golden")
        .join(name);
    if std::env::var_os("FREEHOLD_ACCEPT").is_some() {
        std::fs::write(&file, &actual).unwrap();
    }
    let expected = std::fs::read_to_string(&file).unwrap_or_default();
    assert!(
        actual == expected,
        "differs from golden/{name}; read it, then accept it with FREEHOLD_ACCEPT=1:\n{actual}"
    );
}

fn describe(slot: &Slot) -> String {
    let title = format!("{}: {} {}", slot.name, slot.kind.noun, slot.label);
    let mut text = format!("{}\n", title.trim_end());
    let mut line = |words: String| writeln!(text, "  {}", words.trim_end()).unwrap();
    match &slot.source {
        Source::Own { if_missing } => assert_eq!(*if_missing, IfMissing::Refuse),
        Source::Find { .. } => line("only used".to_owned()),
    }
    if slot.cluster_mark {
        line("cluster mark".to_owned());
    }
    if let Some(host) = &slot.only_for {
        line(format!("only for {host} of ours"));
    }
    if !slot.after.is_empty() {
        let after: Vec<&str> = slot.after.iter().map(ownership::SlotName::as_str).collect();
        line(format!("after {}", after.join(", ")));
    }
    if let Some(role) = &slot.role {
        line(format!("role {role}"));
    }
    for (key, value) in &slot.user_tags {
        line(format!("tag {key}={value}"));
    }
    for (name, value) in &slot.props {
        line(format!("{name}: {value}"));
    }
    for wish in &slot.inner {
        line(format!("{} {} {}", wish.kind, wish.key, wish.value));
    }
    text
}

#[test]
fn a_cluster_that_leaves_everything_to_us() {
    let two = Cluster::new("default", "prod", &ZONES[..2]);
    assert_golden("two-zones.txt", &two.blueprint().unwrap());
    assert!(two.ids().unwrap().is_empty());
}

#[test]
fn three_zones_a_network_load_balancer_and_rules_of_ones_own() {
    let mut wanted = cluster();
    wanted.balancer.kind = Some("nlb".to_owned());
    wanted.balancer.health_protocol = Some("HTTPS".to_owned());
    wanted.balancer.rules = vec![IngressRule {
        protocol: "tcp".to_owned(),
        from: 6443,
        to: 6443,
        ranges: vec!["203.0.113.0/24".to_owned()],
        ..IngressRule::default()
    }];
    wanted.node_ports_allowed = vec!["10.0.0.0/8".to_owned()];
    wanted.cni_rules = Some(Vec::new());
    wanted.tags = BTreeMap::from([("team".to_owned(), "blue".to_owned())]);
    assert_golden("three-zones-nlb.txt", &wanted.blueprint().unwrap());
}

/// A VPC and subnets that somebody brings.
fn brought() -> Cluster {
    let mut wanted = cluster();
    wanted.zones.clear();
    wanted.vpc.id = Some("vpc-0123456789abcdef0".to_owned());
    let subnet = |id: &str, zone: &str, is_public| Subnet {
        id: id.to_owned(),
        zone: Some(zone.to_owned()),
        is_public,
        ..Subnet::default()
    };
    wanted.subnets = vec![
        subnet("subnet-0000000000000000a", "eu-central-1a", true),
        subnet("subnet-0000000000000000b", "eu-central-1a", false),
    ];
    wanted
}

#[test]
fn a_vpc_and_subnets_that_somebody_brings() {
    let mut wanted = brought();
    let id = "sg-0123456789abcdef0".to_owned();
    wanted.overrides = BTreeMap::from([("node".to_owned(), id)]);
    assert_golden("brought.txt", &wanted.blueprint().unwrap());
    let ids = wanted.ids().unwrap();
    let ids: Vec<String> = ids
        .iter()
        .map(|(slot, id)| format!("{slot} {id}"))
        .collect();
    assert_eq!(
        ids,
        [
            "override-node sg-0123456789abcdef0",
            "subnet-id-0000000000000000a subnet-0000000000000000a",
            "subnet-id-0000000000000000b subnet-0000000000000000b",
            "vpc vpc-0123456789abcdef0",
        ]
    );
}

/// A cluster whose object and record tell everything that was made for it.
fn recorded() -> Cluster {
    let mut after = cluster();
    after.zones = vec!["eu-central-1d".to_owned()];
    after.subnets = super::default_subnets(&cluster()).unwrap();
    after.vpc.id = Some("vpc-0123456789abcdef0".to_owned());
    after.vpc.internet_gateway = Some("igw-0123456789abcdef0".to_owned());
    let mut ours = |id: &str, slot: &str| after.ours.insert(id.to_owned(), slot.to_owned());
    ours("vpc-0123456789abcdef0", "vpc");
    for (at, subnet) in after.subnets.iter_mut().enumerate() {
        let digits = format!("0123456789abcdef{at}");
        subnet.resource_id = Some(format!("subnet-{digits}"));
        subnet.route_table = Some(format!("rtb-{digits}"));
        subnet.nat_gateway = subnet.is_public.then(|| format!("nat-{digits}"));
        ours(&format!("subnet-{digits}"), "subnet");
    }
    after
}

/// What we recorded says the same as what we made: nothing of the blueprint changes with it.
#[test]
fn what_is_recorded_changes_nothing() {
    let (before, after) = (cluster(), recorded());
    let (before, recorded) = (before.blueprint().unwrap(), after.blueprint().unwrap());
    let without = |blueprint: &Blueprint| -> Vec<Slot> {
        let slots = blueprint.slots().iter().cloned();
        slots
            .map(|slot| Slot {
                field: None,
                ..slot
            })
            .collect()
    };
    assert_eq!(without(&before), without(&recorded));
    // A VPC, a gateway, six subnets with their tables, three NAT gateways.
    assert_eq!(after.ids().unwrap().len(), 1 + 1 + 6 + 6 + 3);
}

/// Where the record is lost nobody knows yet whose the VPC is: the groups want what they wanted.
#[test]
fn a_lost_record_changes_no_group() {
    let mut known = recorded();
    known.balancer.rules = vec![IngressRule {
        protocol: "tcp".to_owned(),
        from: 6443,
        to: 6443,
        from_nat: true,
        ..IngressRule::default()
    }];
    let mut lost = known.clone();
    lost.ours.clear();
    let groups = |cluster: &Cluster| -> Vec<Slot> {
        let blueprint = cluster.blueprint().unwrap();
        let slots = blueprint.slots().iter();
        let groups = slots.filter(|slot| slot.name.as_str().starts_with("group-"));
        groups.cloned().collect()
    };
    assert!(lost.brings_its_vpc());
    assert_eq!(groups(&known), groups(&lost));
}

/// A zone that the region has got since, or an object that has forgotten its subnets, changes nothing.
#[test]
fn a_zone_that_appears_later_changes_nothing() {
    let before = Cluster::new("default", "prod", &ZONES[..2]);
    let mut later = cluster();
    let names: Vec<String> = names(&before.blueprint().unwrap())
        .into_iter()
        .map(str::to_owned)
        .collect();
    later.made = names.iter().cloned().collect();
    assert_eq!(later.blueprint().unwrap(), before.blueprint().unwrap());
}

#[test]
fn a_zone_less_and_a_zone_more() {
    let mut wanted = cluster();
    wanted.subnets = super::default_subnets(&wanted).unwrap();
    let all: Vec<String> = names(&wanted.blueprint().unwrap())
        .into_iter()
        .map(str::to_owned)
        .collect();
    wanted.subnets.drain(..2);
    let fewer = wanted.blueprint().unwrap();
    let gone: Vec<&String> = all
        .iter()
        .filter(|name| !names(&fewer).contains(&name.as_str()))
        .collect();
    assert_eq!(
        gone,
        [
            "subnet-public-eu-central-1a",
            "subnet-private-eu-central-1a",
            "eip-eu-central-1a",
            "nat-eu-central-1a",
            "rt-public-eu-central-1a",
            "rt-private-eu-central-1a",
        ]
    );
    for name in gone {
        assert!(fewer.family(&slot(name)).is_some(), "{name}");
    }
}

#[test]
fn only_one_security_group_has_the_short_key() {
    let cluster = cluster();
    let blueprint = cluster.blueprint().unwrap();
    let short = "kubernetes.io/cluster/prod";
    for slot in blueprint.slots() {
        let role = slot.role.as_deref();
        let tags = cluster.dialect().ownership_on(slot.kind, role).unwrap();
        let is_group = slot.name.as_str().starts_with("group-");
        let has_it = tags.get(short).is_some();
        assert_eq!(has_it, !is_group || role == Some("lb"), "{}", slot.name);
        let long = "sigs.k8s.io/cluster-api-provider-aws/cluster/prod";
        assert!(tags.has(long, "owned"), "{}", slot.name);
    }
}

#[test]
fn the_load_balancers_name_fits_and_tells_namespaces_apart() {
    let label = |change: &dyn Fn(&mut Cluster)| {
        let mut wanted = cluster();
        change(&mut wanted);
        let blueprint = wanted.blueprint().unwrap();
        blueprint.slot(&slot("api-lb")).unwrap().label.to_string()
    };
    assert_eq!(label(&|_| {}), "default-prod-apiserver");
    assert_eq!(
        label(&|it| it.namespace = "team".into()),
        "team-prod-apiserver"
    );
    let long = label(&|it| it.name = "a-cluster-with-a-rather-long.name".into());
    assert!(long.len() <= 32, "{long}");
    assert!(long.starts_with("default-a-cluster"), "{long}");
    assert_eq!(label(&|it| it.balancer.name = Some("mine".into())), "mine");
    assert_eq!(
        label(&|it| it.namespace = "internal".into()),
        "x-internal-prod-apiserver"
    );
    // A cluster of the original's keeps the name by which it is reached.
    let host = "prod-apiserver-1234.eu-central-1.elb.amazonaws.com";
    assert_eq!(
        label(&|it| it.endpoint = Some(host.into())),
        "prod-apiserver"
    );
    let own = "default-prod-apiserver-1234.eu-central-1.elb.amazonaws.com";
    assert_eq!(
        label(&|it| it.endpoint = Some(own.into())),
        "default-prod-apiserver"
    );
}

type Change = fn(&mut Cluster);

/// What is wrong, and part of what is said of it.
const MISTAKES: [(&str, Change); 22] = [
    ("metadata.name of the Cluster: \"\"", |it| it.name.clear()),
    ("spec.network.vpc.cidrBlock: \"10.0.0.0/8\" must be", |it| {
        it.vpc.cidr = Some("10.0.0.0/8".into());
    }),
    ("spec.network.vpc.id: \"vpc-1\" must be vpc-", |it| {
        it.vpc.id = Some("vpc-1".into());
    }),
    ("spec.network.subnets: \"\" must name the subnets", |it| {
        it.vpc.id = Some("vpc-0123456789abcdef0".into());
    }),
    ("spec.network.subnets: \"\" must not be empty", |it| {
        it.zones.clear();
    }),
    (
        "spec.network.subnets[2].cidrBlock: \"\" must be set",
        |it| {
            it.subnets[2].cidr = None;
        },
    ),
    (
        "spec.network.subnets[2].cidrBlock: \"10.0.0\" must be",
        |it| {
            it.subnets[2].cidr = Some("10.0.0".into());
        },
    ),
    (
        "spec.network.subnets[2].cidrBlock: \"10.9.0.0/24\" must be",
        |it| {
            it.vpc.cidr = Some("10.0.0.0/16".into());
            it.subnets[2].cidr = Some("10.9.0.0/24".into());
        },
    ),
    (
        "must not overlap with spec.network.subnets[0].cidrBlock",
        |it| {
            it.subnets[2].cidr = it.subnets[0].cidr.clone();
        },
    ),
    (
        "spec.network.subnets[1].availabilityZone: \"\" must be set",
        |it| {
            it.subnets[1].zone = None;
        },
    ),
    (
        "spec.network.subnets[1].availabilityZone: \"x\" must be a zone with a public",
        |it| {
            it.subnets[1].zone = Some("x".into());
        },
    ),
    ("spec.network.subnets[0].id: \"\" must be", |it| {
        it.subnets[0].id.clear();
    }),
    (
        "spec.network.subnets[0].id: \"subnet-x\" must be subnet-",
        |it| {
            it.subnets[0].id = "subnet-x".into();
        },
    ),
    (
        "names the same subnet as spec.network.subnets[0].id",
        |it| {
            it.subnets[1].id = it.subnets[0].id.clone();
        },
    ),
    (
        "spec.network.subnets[0].routeTableId: \"x\" must be rtb-",
        |it| {
            it.subnets[0].route_table = Some("x".into());
        },
    ),
    ("spec.network.securityGroupOverrides.node: \"sg-", |it| {
        let id = "sg-0123456789abcdef0".to_owned();
        it.overrides = BTreeMap::from([("node".to_owned(), id)]);
    }),
    (
        "spec.controlPlaneLoadBalancer.loadBalancerType: \"alb\" must be",
        |it| {
            it.balancer.kind = Some("alb".into());
        },
    ),
    ("loadBalancerType: \"nlb\" must stay what it was", |it| {
        it.balancer.kind = Some("nlb".into());
        it.made.insert("api-lb".into());
    }),
    ("spec.controlPlaneLoadBalancer.name: \"a_b\" must", |it| {
        it.balancer.name = Some("a_b".into());
    }),
    ("healthCheckProtocol: \"UDP\" must be", |it| {
        it.balancer.health_protocol = Some("UDP".into());
    }),
    ("spec.additionalTags.aws:x: \"y\"", |it| {
        it.tags = BTreeMap::from([("aws:x".to_owned(), "y".to_owned())]);
    }),
    ("additionalNodeIngressRules[1].natGatewaysIPsSource", |it| {
        *it = brought();
        let rule = IngressRule {
            protocol: "tcp".to_owned(),
            ranges: vec!["10.0.0.0/8".to_owned()],
            ..IngressRule::default()
        };
        let nat = IngressRule {
            from_nat: true,
            ..rule.clone()
        };
        it.node_rules = vec![rule, nat];
    }),
];

#[test]
fn what_cannot_be_satisfied_is_refused_by_field_and_rule() {
    let given: Change = |it| it.subnets = super::default_subnets(it).unwrap();
    for (expected, change) in MISTAKES {
        let mut wanted = cluster();
        if expected.contains("subnets[") {
            given(&mut wanted);
        }
        change(&mut wanted);
        let wrong = wanted.ids().err().map(Err);
        let said = refusal(wrong.unwrap_or_else(|| wanted.blueprint()));
        assert!(said.contains(expected), "{expected}: {said}");
        // A mistake does not keep what a cluster has from ending.
        wanted.at_its_end().blueprint().unwrap_or_else(|error| {
            assert!(expected.starts_with("metadata.name"), "{expected}: {error}");
            Blueprint::default()
        });
    }
}

/// The longest name is exactly what a mark can hold.
#[test]
fn the_longest_name_fits_into_a_mark() {
    let named = |length| Cluster::new("default", &"a".repeat(length), &ZONES);
    let longest = named(83);
    assert!(longest.blueprint().is_ok());
    assert!(longest.dialect().ownership(Carrier::AwsTags, None).is_ok());
    assert!(refusal(named(84).blueprint()).contains("at most 83 characters"));
    assert!(
        named(84)
            .dialect()
            .ownership(Carrier::AwsTags, None)
            .is_err()
    );
}

#[test]
fn an_end_knows_the_slots_of_a_life() {
    let mut ends = cluster();
    let life = ends.blueprint().unwrap();
    ends.node_ports_allowed = vec!["nonsense".to_owned()];
    let end = ends.clone().at_its_end().blueprint().unwrap();
    for name in names(&life) {
        assert!(names(&end).contains(&name), "{name}");
    }
    // Also where everything was forgotten: the record knows the zones.
    ends.zones.clear();
    ends.made = names(&life).into_iter().map(str::to_owned).collect();
    let end = ends.at_its_end().blueprint().unwrap();
    for name in names(&life) {
        assert!(names(&end).contains(&name), "{name}");
    }
}

proptest! {
    #[test]
    fn whatever_people_write_is_refused_or_served_without_a_panic(
        name in "[a-zA-Z0-9.-]{0,90}",
        ids in proptest::collection::vec("(subnet-)?[a-z0-9.-]{0,40}", 0..4),
        cidr in "[0-9./]{0,18}",
        text in "\\PC{0,12}",
        number in any::<i64>(),
    ) {
        let mut wanted = Cluster::new("n", &name, &ZONES);
        wanted.subnets = ids
            .iter()
            .map(|id| Subnet {
                id: id.clone(),
                cidr: Some(cidr.clone()),
                zone: Some(text.clone()),
                ..Subnet::default()
            })
            .collect();
        wanted.vpc.zone_limit = Some(number);
        wanted.api_server_port = Some(number);
        wanted.balancer.name = Some(text.clone());
        wanted.tags = BTreeMap::from([(text.clone(), text)]);
        let _ = wanted.ids();
        let _ = wanted.blueprint();
        let _ = wanted.at_its_end().blueprint();
    }
}
