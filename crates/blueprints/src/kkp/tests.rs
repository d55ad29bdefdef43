//! Clusters and the Blueprints they become.

use std::fmt::Write as _;
use std::path::Path;

use ownership::blueprint::{IfMissing, Source};
use ownership::input::InputError;
use ownership::mark::Carrier;
use ownership::{Blueprint, Slot};
use proptest::prelude::*;

use super::{Cluster, IpFamily, SLOTS};

fn cluster() -> Cluster {
    Cluster::new("q7wz2mtn4k")
}

fn refusal<T: std::fmt::Debug>(result: Result<T, InputError>) -> String {
    result.unwrap_err().to_string()
}

fn names(blueprint: &Blueprint) -> Vec<&str> {
    blueprint
        .slots()
        .iter()
        .map(|slot| slot.name.as_str())
        .collect()
}

/// Compares with a file; `FREEHOLD_ACCEPT=1` writes it instead.
fn assert_golden(name: &str, blueprint: &Blueprint) {
    let actual: String = blueprint.slots().iter().map(describe).collect();
    let file = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("src/kkp/golden")
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
    let mut line = |words: String| writeln!(text, "  {words}").unwrap();
    match &slot.source {
        Source::Own {
            if_missing: IfMissing::Create,
        } => line("own, created if missing".into()),
        Source::Own {
            if_missing: IfMissing::Refuse,
        } => line("own, refused if missing".into()),
        Source::Find { by, all, .. } => {
            let by = by.iter().map(|(name, value)| format!("{name}={value}"));
            let which = if *all { "all" } else { "one" };
            line(format!(
                "find {which} by {}",
                by.collect::<Vec<_>>().join(", ")
            ));
        }
    }
    if slot.cluster_mark {
        line("cluster mark".into());
    }
    if !slot.exclusive.is_empty() {
        line(format!("exclusive: {}", slot.exclusive.join(", ")));
    }
    for (name, value) in &slot.props {
        line(format!("{name}: {value}"));
    }
    for wish in &slot.inner {
        line(
            format!("{} {} {}", wish.kind, wish.key, wish.value)
                .trim_end()
                .to_owned(),
        );
    }
    text
}

#[test]
fn a_cluster_that_leaves_everything_to_us() {
    let blueprint = cluster().blueprint().unwrap();
    assert_eq!(names(&blueprint), SLOTS);
    assert_golden("plain.txt", &blueprint);
    assert!(cluster().ids().unwrap().is_empty());
}

#[test]
fn two_families_own_ports_and_ranges() {
    let wanted = Cluster {
        ip_family: IpFamily::Dual,
        node_port_range: Some("20000-20100".to_owned()),
        node_ports_allowed: ["10.1.2.3/8", "2001:db8::/32", "10.0.0.0/8"]
            .map(str::to_owned)
            .into(),
        ..cluster()
    };
    assert_golden("dual-stack.txt", &wanted.blueprint().unwrap());
}

#[test]
fn the_sixth_version_alone_and_no_iam() {
    let wanted = Cluster {
        ip_family: IpFamily::V6,
        disable_iam: true,
        role: Some("not looked at".to_owned()),
        ..cluster()
    };
    assert_golden("ipv6-without-iam.txt", &wanted.blueprint().unwrap());
    assert!(wanted.ids().unwrap().is_empty());
}

#[test]
fn workers_get_a_role_only_for_a_profile_of_ours() {
    let blueprint = cluster().blueprint().unwrap();
    let only_for: Vec<_> = blueprint
        .slots()
        .iter()
        .filter_map(|slot| Some((slot.name.as_str(), slot.only_for.as_ref()?.as_str())))
        .collect();
    assert_eq!(only_for, [("worker-role", "instance-profile")]);
}

#[test]
fn recorded_ids_go_to_the_ledger_and_only_names_into_the_blueprint() {
    let wanted = Cluster {
        vpc_id: Some("vpc-0123456789abcdef0".to_owned()),
        route_table_id: Some("rtb-01234567".to_owned()),
        security_group_id: Some("sg-0123456789abcdef0".to_owned()),
        role: Some("arn:aws:iam::123456789012:role/team/control".to_owned()),
        instance_profile: Some("workers".to_owned()),
        ..cluster()
    };
    assert_golden("named.txt", &wanted.blueprint().unwrap());
    let ids = wanted.ids().unwrap();
    let ids: Vec<_> = ids
        .iter()
        .map(|(slot, id)| (slot.as_str(), id.as_str()))
        .collect();
    let expected = [
        ("control-plane-role", "control"),
        ("instance-profile", "workers"),
        ("route-table", "rtb-01234567"),
        ("security-group", "sg-0123456789abcdef0"),
        ("vpc", "vpc-0123456789abcdef0"),
    ];
    assert_eq!(ids, expected);
    let older = Cluster {
        role: Some("control".to_owned()),
        ..cluster()
    };
    assert_eq!(
        older.ids().unwrap().into_values().next().unwrap().as_str(),
        "control"
    );
}

#[test]
fn long_names_are_shortened_where_iam_is_strict_and_stay_apart() {
    let long = |end: &str| {
        let blueprint = Cluster::new("a".repeat(60) + end).blueprint().unwrap();
        let label = |slot: &Slot| slot.label.to_string();
        blueprint.slots().iter().map(label).collect::<Vec<_>>()
    };
    let (one, other) = (long("-one"), long("-other"));
    for (a, b) in one.iter().zip(&other).skip(3) {
        assert_ne!(a, b);
    }
    assert!(one[4].len() <= 64 && one[4] != one[5], "{one:?}");
}

#[test]
fn ids_of_the_wrong_kind_are_refused_by_field_and_rule() {
    let refused = |change: fn(&mut Cluster)| {
        let mut wanted = cluster();
        change(&mut wanted);
        refusal(wanted.ids())
    };
    assert_eq!(
        refused(|c| c.vpc_id = Some("subnet-1".to_owned())),
        "spec.cloud.aws.vpcID: \"subnet-1\" must be vpc- followed by 8 to 17 hexadecimal digits \
         in lower case"
    );
    assert!(refused(|c| c.route_table_id = Some("rtb-".to_owned())).contains("routeTableID"));
    assert!(
        refused(|c| c.security_group_id = Some("sg-XY".to_owned())).contains("securityGroupID")
    );
    for role in [
        "arn:aws:iam::12:role/x",
        "arn:aws:s3:::bucket",
        "arn:",
        "a role",
        "arn:awsome:iam::123456789012:role/x",
        "arn:aws-iso-:iam::123456789012:role/x",
    ] {
        let mut wanted = cluster();
        wanted.role = Some(role.to_owned());
        assert!(
            refusal(wanted.ids()).starts_with("spec.cloud.aws.roleARN: "),
            "{role}"
        );
    }
    let long = "x".repeat(129);
    let wanted = Cluster {
        instance_profile: Some(long),
        ..cluster()
    };
    assert!(refusal(wanted.ids()).contains("1 to 128 letters"));
}

/// The longest name is exactly what a mark can hold.
#[test]
fn the_longest_name_fits_into_a_mark() {
    let longest = Cluster::new("a".repeat(101));
    assert!(longest.blueprint().is_ok());
    assert!(longest.dialect().ownership(Carrier::AwsTags, None).is_ok());
    let longer = Cluster::new("a".repeat(102)).dialect();
    assert!(longer.ownership(Carrier::AwsTags, None).is_err());
}

#[test]
fn an_empty_field_is_the_same_as_none() {
    let empty = || Some(String::new());
    let wanted = Cluster {
        vpc_id: empty(),
        route_table_id: empty(),
        security_group_id: empty(),
        role: empty(),
        instance_profile: empty(),
        node_port_range: empty(),
        ..cluster()
    };
    assert_eq!(wanted.ids(), cluster().ids());
    assert_eq!(wanted.blueprint(), cluster().blueprint());
}

#[test]
fn roles_of_every_partition_are_read() {
    let partitions = [
        "aws",
        "aws-cn",
        "aws-us-gov",
        "aws-iso",
        "aws-iso-b",
        "aws-eusc",
    ];
    for partition in partitions {
        let role = format!("arn:{partition}:iam::123456789012:role/control");
        let wanted = Cluster {
            role: Some(role),
            ..cluster()
        };
        assert!(wanted.ids().is_ok(), "{partition}");
    }
}

#[test]
fn more_ranges_than_a_group_holds_are_refused_by_field() {
    let ranges = |number: u32| Cluster {
        node_ports_allowed: (0..number)
            .map(|n| format!("10.{}.{}.0/24", n >> 8, n & 255))
            .collect(),
        ..cluster()
    };
    // Three rules are there anyway.
    assert!(ranges(498).blueprint().is_ok());
    assert_eq!(
        refusal(ranges(499).blueprint()),
        "spec.cloud.aws.nodePortsAllowedIPRanges: \"499\" ranges need two rules each, and of these \
         1001 are too many: EC2 keeps at most 1000 rules for IPv4 in a group"
    );
    assert!(ranges(20_000).blueprint().is_err());
}

#[test]
fn what_cannot_be_satisfied_is_refused_by_field_and_rule() {
    let long = "a".repeat(102);
    for name in ["", "Demo", "a b", "ä", "-a", "a.", &long] {
        let said = refusal(Cluster::new(name).blueprint());
        assert!(said.starts_with("metadata.name: "), "{said}");
    }
    assert!(refusal(Cluster::new(long).blueprint()).contains("at most 101 characters"));
    let ports = [
        "30000", "0-10", "2-1", "1-65536", "a-b", "1-2-3", "-", "+1-2", " 1-2", "1-2\n", "1 - 2",
    ];
    for ports in ports {
        let wanted = Cluster {
            node_port_range: Some(ports.to_owned()),
            ..cluster()
        };
        let said = refusal(wanted.blueprint());
        assert!(
            said.contains("nodePortRange") && said.contains("lower one first"),
            "{said}"
        );
    }
    for range in ["10.0.0.0", "10.0.0.0/33", "everybody", ""] {
        let wanted = Cluster {
            node_ports_allowed: vec![range.to_owned()],
            ..cluster()
        };
        let said = refusal(wanted.blueprint());
        assert!(
            said.starts_with("spec.cloud.aws.nodePortsAllowedIPRanges: "),
            "{said}"
        );
    }
    assert!(refusal(IpFamily::parse("IPv5")).starts_with("spec.clusterNetwork.ipFamily: "));
    for (text, family) in [
        ("", IpFamily::V4),
        ("IPv4", IpFamily::V4),
        ("IPv6", IpFamily::V6),
    ] {
        assert_eq!(IpFamily::parse(text), Ok(family));
    }
    assert_eq!(IpFamily::parse("IPv4+IPv6"), Ok(IpFamily::Dual));
}

fn hostile() -> impl Strategy<Value = String> {
    prop_oneof![
        any::<String>(),
        "[a-z0-9.-]{0,120}",
        "(vpc|rtb|sg)-[0-9a-f]{0,17}",
        "arn:aws:iam::[0-9]{11,12}:role/[a-z/]{0,70}",
        "[0-9]{0,6}-[0-9]{0,6}",
        "[0-9a-f.:]{0,12}/[0-9]{0,3}",
    ]
}

prop_compose! {
    fn any_cluster()(
        name in hostile(),
        ids in prop::array::uniform5(prop::option::of(hostile())),
        ports in prop::option::of(hostile()),
        node_ports_allowed_one in prop::option::of(hostile()),
        node_ports_allowed in prop::collection::vec(hostile(), 0..3),
        family in 0..3_usize,
        disable_iam: bool,
    ) -> Cluster {
        let [vpc_id, route_table_id, security_group_id, role, instance_profile] = ids;
        Cluster {
            name,
            vpc_id,
            route_table_id,
            security_group_id,
            role,
            instance_profile,
            ip_family: [IpFamily::V4, IpFamily::V6, IpFamily::Dual][family],
            node_port_range: ports,
            node_ports_allowed_one,
            node_ports_allowed,
            disable_iam,
        }
    }
}

proptest! {
    /// Whatever is typed becomes slots in their order, or an error that names the field.
    #[test]
    fn nothing_that_is_typed_panics(cluster in any_cluster()) {
        let fields = ["metadata.", "spec."];
        match cluster.blueprint() {
            Ok(blueprint) => {
                let known: Vec<_> = SLOTS.into_iter().filter(|s| names(&blueprint).contains(s)).collect();
                prop_assert_eq!(names(&blueprint), known);
            }
            Err(error) => prop_assert!(fields.iter().any(|f| error.field.starts_with(f)), "{}", error),
        }
        if let Err(error) = cluster.ids() {
            prop_assert!(error.field.starts_with("spec.cloud.aws."), "{}", error);
        }
    }
}
