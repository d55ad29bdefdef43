//! Clusters and the Blueprints they become.

use std::fmt::Write as _;
use std::path::Path;

use ownership::blueprint::Source;
use ownership::input::InputError;
use ownership::mark::Carrier;
use ownership::{Blueprint, Slot};

use super::*;

const UUID: &str = "5b1f0c6e-2d8a-4f6b-9f0e-6f1b7a2c9d31";
const ZONES: [&str; 3] = ["us-south-1", "us-south-2", "us-south-3"];

fn cluster() -> Cluster {
    Cluster::new("prod", UUID, "dal10", &ZONES)
}

fn refusal(change: impl FnOnce(&mut Cluster)) -> InputError {
    let mut cluster = cluster();
    change(&mut cluster);
    let ids = cluster.ids();
    ids.map(drop)
        .and_then(|()| cluster.blueprint().map(drop))
        .expect_err("must be refused")
}

#[allow(clippy::unnecessary_wraps, reason = "it is what the fields want")]
fn some(text: &str) -> Option<String> {
    Some(text.to_owned())
}

/// Compares with a file; `FREEHOLD_ACCEPT=1` writes it instead.
fn assert_golden(name: &str, blueprint: &Blueprint) {
    let actual: String = blueprint.slots().iter().map(describe).collect();
    let file = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("src/powervs/golden")
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
    let mut text = format!("{}{}\n", title.trim_end(), slot.place);
    let mut line = |words: String| writeln!(text, "  {}", words.trim_end()).unwrap();
    if let Source::Find { by, .. } = &slot.source {
        let by: Vec<String> = by.iter().map(|(name, is)| format!("{name} {is}")).collect();
        line(format!("only used: {}", by.join(", ")));
    }
    if slot.cluster_mark {
        line("cluster mark".to_owned());
    }
    for (name, value) in &slot.props {
        line(format!("{name}: {value}"));
    }
    for wish in &slot.inner {
        line(format!("{} {} {}", wish.kind, wish.key, wish.value));
    }
    for (key, value) in &slot.user_tags {
        line(format!("tag {key}:{value}"));
    }
    text
}

fn slot_of(blueprint: &Blueprint, name: &str) -> Slot {
    let found = blueprint.slot(&slot(name));
    found.unwrap_or_else(|| panic!("no slot {name}")).clone()
}

#[test]
fn a_new_cluster_gets_everything_under_the_names_of_the_original() {
    let cluster = Cluster {
        ignites: true,
        tags: vec![("team".to_owned(), "blue".to_owned())],
        ..cluster()
    };
    assert_golden("new.txt", &cluster.blueprint().unwrap());
    assert!(cluster.ids().unwrap().is_empty() && cluster.named().is_empty());
}

#[test]
fn what_is_given_is_used() {
    let mut cluster = cluster();
    cluster.workspace.id = some("guid-1");
    cluster.network.id = some("net-1");
    cluster.vpc.id = some("r006-1");
    cluster.subnets = vec![Subnet {
        id: some("0717-1"),
        ..Subnet::default()
    }];
    cluster.balancers = vec![LoadBalancer {
        id: some("r006-lb"),
        ..LoadBalancer::default()
    }];
    cluster.gateway.id = some("gateway-1");
    assert_golden("given.txt", &cluster.blueprint().unwrap());
    let ids: Vec<String> = cluster
        .ids()
        .unwrap()
        .iter()
        .map(|(slot, id)| format!("{slot} {id}"))
        .collect();
    let expected = [
        "balancer-r006-lb r006-lb",
        "gateway gateway-1",
        "network net-1",
        "subnet-x0717-1 0717-1",
        "vpc r006-1",
        "workspace guid-1",
    ];
    assert_eq!(ids.len(), expected.len(), "{ids:?}");
    for (id, expected) in ids.iter().zip(expected) {
        let slot = expected.split(' ').next().unwrap();
        let stem = slot.split("-x").next().unwrap();
        assert!(id.starts_with(stem), "{id} is not {expected}");
    }
}

#[test]
fn without_the_annotation_nothing_is_made() {
    let mut cluster = Cluster {
        creates: false,
        ..cluster()
    };
    let error = cluster.blueprint().unwrap_err().to_string();
    assert!(error.contains("create-infra nothing is made"), "{error}");
    cluster.workspace.name = some("theirs");
    cluster.network.name = some("private");
    let blueprint = cluster.blueprint().unwrap();
    assert!(blueprint.slots().iter().all(|slot| !slot.is_own()));
    assert_golden("looked-up.txt", &blueprint);
}

#[test]
fn what_the_author_names_may_be_there_already() {
    let mut cluster = cluster();
    cluster.vpc.name = some("shared");
    cluster.gateway.name = some("Hub_1");
    let named = cluster.named();
    assert_eq!(named.len(), 2);
    let blueprint = cluster.blueprint().unwrap();
    assert_eq!(&*slot_of(&blueprint, VPC).label, "shared");
    let gateway = slot_of(&blueprint, GATEWAY);
    assert!(gateway.cluster_mark && &*gateway.label == "Hub_1");
    let marks = cluster.dialect().cluster_on(gateway.kind).unwrap();
    let marks: Vec<String> = marks
        .iter()
        .map(|(key, value)| format!("{key}:{value}"))
        .collect();
    assert_eq!(
        marks,
        [
            "powervs.cluster.x-k8s.io_owner_prod_tg:powervsconnection",
            "powervs.cluster.x-k8s.io_owner_prod_tg:vpcconnection",
        ]
    );
}

#[test]
fn the_longest_name_of_a_cluster_fits_into_every_tag() {
    let cluster = Cluster {
        name: "a".repeat(75),
        ..cluster()
    };
    let blueprint = cluster.blueprint().unwrap();
    for slot in blueprint.slots() {
        assert!(cluster.dialect().cluster_on(slot.kind).is_ok());
        assert!(cluster.dialect().ownership_on(slot.kind, None).is_ok());
    }
    let error = refusal(|cluster| cluster.name = "a".repeat(76)).to_string();
    assert!(error.contains("metadata.name") && error.contains("at most 75"));
}

#[test]
fn tags_are_kept_as_ibm_cloud_keeps_them() {
    let mut cluster = cluster();
    cluster.tags = vec![("Team".to_owned(), "Blue".to_owned())];
    let blueprint = cluster.blueprint().unwrap();
    for slot in blueprint.slots() {
        assert_eq!(slot.user_tags, [("team".into(), "blue".into())]);
    }
    let said = cluster.folded_tags();
    assert_eq!(said.len(), 1);
    assert!(
        said[0].contains("Team:Blue is written team:blue"),
        "{said:?}"
    );
    assert!(Carrier::IbmTags.check("team", "blue").is_ok());
}

#[test]
fn bad_input_is_told_with_field_and_rule() {
    let tag = |key: &str, value: &str| {
        let tag = (key.to_owned(), value.to_owned());
        move |cluster: &mut Cluster| cluster.tags.push(tag)
    };
    let cases = [
        (
            refusal(tag("a/b", "x")),
            "spec.tags[0].key",
            "must not contain '/'",
        ),
        (
            refusal(tag("a", "x:y")),
            "spec.tags[0].value",
            "must not contain ':'",
        ),
        (
            refusal(tag("ä", "x")),
            "spec.tags[0].key",
            "must consist of",
        ),
        (
            refusal(tag("freehold.dev_x", "y")),
            "spec.tags[0].key",
            "kept for marks",
        ),
        (
            refusal(|cluster| {
                tag("a", "1")(cluster);
                tag("A", "2")(cluster);
            }),
            "spec.tags[1].key",
            "twice",
        ),
        (
            refusal(|cluster| cluster.zone = some("mars01")),
            "spec.zone",
            "must be a zone of Power",
        ),
        (
            refusal(|cluster| cluster.vpc_zones.clear()),
            "spec.vpc.region",
            "it has told no zones",
        ),
        (
            refusal(|cluster| cluster.vpc.name = some("Prod")),
            "spec.vpc.name",
            "lower-case",
        ),
        (
            refusal(|cluster| cluster.gateway.id = some("A gateway")),
            "spec.transitGateway.id",
            "an id of IBM Cloud",
        ),
        (
            refusal(|cluster| cluster.network.regex = some("prod.*")),
            "spec.network.regex",
            "is not served",
        ),
        (
            refusal(|cluster| {
                cluster.vpc_region = some("eu-de");
                cluster.global_routing = Some(false);
            }),
            "spec.transitGateway.globalRouting",
            "the VPC is in eu-de",
        ),
        (
            refusal(|cluster| cluster.dhcp.cidr = some("10.0.0.0/30")),
            "spec.dhcpServer.cidr",
            "/28 or larger",
        ),
        (
            refusal(|cluster| {
                cluster.subnets = vec![Subnet {
                    zone: some("us-south-9"),
                    ..Subnet::default()
                }];
            }),
            "spec.vpcSubnets[0].zone",
            "must be a zone of us-south",
        ),
        (
            refusal(|cluster| cluster.api_server_port = Some(70_000)),
            "apiServerPort",
            "1 to 65535",
        ),
    ];
    for (error, field, rule) in cases {
        let words = error.to_string();
        assert!(words.contains(field) && words.contains(rule), "{words}");
    }
}

#[test]
fn security_groups_may_name_each_other_and_subnets() {
    let mut cluster = cluster();
    cluster.subnets = vec![Subnet {
        name: some("first"),
        zone: some("us-south-1"),
        ..Subnet::default()
    }];
    let rule = |remotes| GroupRule {
        direction: "inbound".to_owned(),
        protocol: "tcp".to_owned(),
        ports: Some((22, 22)),
        remotes,
        ..GroupRule::default()
    };
    let group = |name: &str, remotes| Group {
        name: some(name),
        rules: vec![rule(remotes)],
        ..Group::default()
    };
    let of_group = |name: &str| Remote::Group(name.to_owned());
    cluster.groups = vec![
        group(
            "nodes",
            vec![of_group("nodes"), of_group("lb"), Remote::Any],
        ),
        group(
            "lb",
            vec![
                of_group("nodes"),
                Remote::Subnet("first".to_owned()),
                Remote::Address("10.0.0.1".to_owned()),
            ],
        ),
    ];
    let blueprint = cluster.blueprint().unwrap();
    let keys = |name: &str| -> Vec<String> {
        let slot = slot_of(&blueprint, name);
        slot.inner.iter().map(|wish| wish.key.to_string()).collect()
    };
    assert_eq!(
        keys("group-nodes"),
        [
            "inbound tcp 22-22 self",
            "inbound tcp 22-22 <group-lb>",
            "inbound tcp 22-22 0.0.0.0/0",
        ]
    );
    assert_eq!(
        keys("group-lb"),
        [
            "inbound tcp 22-22 <group-nodes>",
            "inbound tcp 22-22 <cidr of subnet-first>",
            "inbound tcp 22-22 10.0.0.1/32",
        ]
    );
    cluster.groups[1].rules[0].remotes = vec![of_group("other")];
    let error = cluster.blueprint().unwrap_err().to_string();
    assert!(error.contains("remotes[0].securityGroupName"), "{error}");
}

#[test]
fn a_load_balancer_forwards_what_is_asked_for_besides() {
    let mut cluster = cluster();
    cluster.balancers = vec![LoadBalancer {
        name: some("front"),
        listeners: vec![PoolListener {
            port: 22,
            ..PoolListener::default()
        }],
        ..LoadBalancer::default()
    }];
    let blueprint = cluster.blueprint().unwrap();
    let front = slot_of(&blueprint, "balancer-front");
    let keys: Vec<String> = front.inner.iter().map(|it| it.key.to_string()).collect();
    assert_eq!(
        keys,
        [
            "front-pool-6443",
            "additional-pool-22",
            "tcp 6443",
            "tcp 22"
        ]
    );
    cluster.balancers[0].listeners[0].port = 6443;
    let error = cluster.blueprint().unwrap_err().to_string();
    assert!(error.contains("nothing else listens to"), "{error}");
}

#[test]
fn a_mistake_does_not_keep_what_was_made() {
    let mut cluster = cluster();
    cluster.zone = some("mars01");
    cluster.vpc.name = some("NOT LEGAL");
    assert!(cluster.blueprint().is_err());
    let ending = cluster.at_its_end();
    assert!(ending.ids().is_ok());
    let blueprint = ending.blueprint().unwrap();
    // Everything is found by its marks, and goes in this order.
    let names: Vec<&str> = blueprint
        .slots()
        .iter()
        .map(|it| it.name.as_str())
        .collect();
    assert_eq!(names, [WORKSPACE, NETWORK, VPC, GATEWAY]);
}
