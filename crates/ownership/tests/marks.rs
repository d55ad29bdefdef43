//! Marks of every dialect on every carrier come back as they were written, or are refused with the
//! field and the rule.

use ownership::mark::{Carrier, Dialect, MOST_MARKS, OwnershipMark, Reading, Tags, reserved};
use ownership::name::fit;
use ownership::{Claim, Holder, SlotName};
use proptest::prelude::*;

fn carrier() -> impl Strategy<Value = Carrier> {
    proptest::sample::select(Carrier::ALL.to_vec())
}

/// Names as Kubernetes accepts them, and others.
fn name() -> impl Strategy<Value = String> {
    prop_oneof![
        "[a-z][a-z0-9-]{0,40}",
        "[a-z0-9.-]{1,120}",
        "[A-Za-z0-9_/ :.-]{0,60}",
        ".{0,20}"
    ]
}

fn dialect() -> impl Strategy<Value = Dialect> {
    (0..5_u8, name(), name(), name(), name()).prop_map(|(which, a, b, c, d)| {
        let (a, b, c, d) = (a.into(), b.into(), c.into(), d.into());
        match which {
            0 => Dialect::Kkp { cluster: a },
            1 => Dialect::Capa { cluster: a },
            2 => Dialect::PowerVs {
                cluster: a,
                uuid: b,
            },
            3 => Dialect::Crossplane {
                name: a,
                kind: b,
                provider_config: c,
            },
            _ => Dialect::Kyma {
                name: a,
                remote_name: b,
                scope: c,
                shoot: d,
            },
        }
    })
}

proptest! {
    #[test]
    fn a_dialects_mark_is_read_as_ours_or_refused(dialect in dialect(), carrier in carrier()) {
        match dialect.ownership(carrier, Some("node")) {
            Ok(tags) => {
                prop_assert_eq!(dialect.read(carrier, &tags), Reading::Ours);
                let mut all = dialect.cluster(carrier).unwrap_or_default();
                for (key, value) in tags.iter() {
                    prop_assert!(carrier.check(key, value).is_ok());
                    all.set(key.clone(), value.clone());
                }
                for (key, _) in all.iter() {
                    prop_assert!(reserved(carrier, key).is_some(), "{}", key);
                }
                prop_assert!(all.len() < MOST_MARKS, "Freehold's own comes on top");
            }
            Err(error) => {
                prop_assert!(!error.field.is_empty() && !error.rule.is_empty());
            }
        }
    }

    #[test]
    fn a_dialects_mark_is_not_read_as_anothers(
        ours in "[a-z][a-z0-9-]{0,20}", theirs in "[a-z][a-z0-9-]{0,20}", carrier in carrier()
    ) {
        prop_assume!(ours != theirs);
        let make = |name: &str| [
            Dialect::Kkp { cluster: name.into() },
            Dialect::Capa { cluster: name.into() },
            Dialect::PowerVs { cluster: name.into(), uuid: name.into() },
        ];
        for (ours, theirs) in make(&ours).into_iter().zip(make(&theirs)) {
            if let Ok(tags) = theirs.ownership(carrier, None) {
                prop_assert_ne!(ours.read(carrier, &tags), Reading::Ours);
            }
        }
    }

    #[test]
    fn freeholds_mark_comes_back_from_every_carrier(
        slot in "[a-z0-9-]{1,40}", attempt in 0..=999_999_u32, generation in 0..=9_999_u32, cluster in "[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?", uuid in 1..=u128::MAX,
        carrier in carrier()
    ) {
        let uuid = uuid::Uuid::from_u128(uuid).to_string();
        let claim = Claim::new("Cluster.kubermatic.k8c.io", "", &cluster, &uuid).unwrap();
        let mark = OwnershipMark {
            claim: claim.hash().clone(),
            slot: SlotName::new(&slot).unwrap(),
            attempt,
            holder: Holder::of_cluster(&uuid),
            generation,
        };
        let (key, value) = mark.encode(carrier).unwrap();
        prop_assert!(reserved(carrier, &key).is_some());
        prop_assert_eq!(OwnershipMark::decode(carrier, &key, &value), Some(mark));
    }

    #[test]
    fn nothing_that_people_type_makes_us_panic(
        kind in ".{0,80}", namespace in ".{0,80}", name in ".{0,300}", uuid in ".{0,50}", n in 0..300_usize
    ) {
        if let Err(error) = Claim::new(&kind, &namespace, &name, &uuid) {
            prop_assert!(error.to_string().starts_with(&*error.field));
        }
        let _ = SlotName::new(&name);
        let _ = Holder::parse(&uuid);
        if let Ok(short) = fit("name", &name, n) {
            prop_assert!(short.chars().count() <= n);
        }
        for carrier in Carrier::ALL {
            let _ = carrier.check(&kind, &name);
            let _ = carrier.encode(&name, &kind);
            let tags: Tags = [(name.as_str().into(), kind.as_str().into())].into_iter().collect();
            let _ = OwnershipMark::all(carrier, &tags).count();
        }
    }
}

#[test]
fn bad_input_names_the_field_and_the_rule() {
    let uuid = "8f4e2f6a-3c1b-4e0e-9a53-0d2f8c6b7a11";
    let said = |kind: &str, namespace: &str, name: &str, uuid: &str| {
        Claim::new(kind, namespace, name, uuid)
            .unwrap_err()
            .to_string()
    };
    assert_eq!(
        said("Cluster.test", "", "prod", "not-a-uuid"),
        r#"uuid: "not-a-uuid" must be a UUID (8-4-4-4-12 hex digits)"#
    );
    assert_eq!(
        said("Cluster.test", "", "Prod", uuid),
        r#"metadata.name: "Prod" must consist of lower-case letters, digits, '-' and '.', but has 'P'"#
    );
    let long = "a".repeat(254);
    assert!(said("Cluster.test", "", &long, uuid).ends_with("must have at most 253 characters"));
    assert_eq!(
        said("Cluster.test", "", "", uuid),
        r#"metadata.name: "" must not be empty"#
    );
    for kind in [
        "Cluster",
        "cluster.test",
        ".test",
        "Cluster.",
        "Clu-ster.test",
        "Cluster.a..b",
    ] {
        assert!(
            said(kind, "", "prod", uuid).contains("must have the form Kind.group"),
            "{kind}"
        );
    }
    for name in ["-prod", "prod-", ".prod", "prod.", "a..b", "a.-b", "-"] {
        let said = said("Cluster.test", "", name, uuid);
        assert!(
            said.contains("must begin and end with a letter or digit"),
            "{said}"
        );
    }
    for namespace in ["-x", "x-", "a.b"] {
        let said = said("Cluster.test", namespace, "prod", uuid);
        assert!(said.starts_with("metadata.namespace: "), "{said}");
    }
    let spellings = [
        uuid.replace('-', ""),
        format!("{{{uuid}}}"),
        format!("urn:uuid:{uuid}"),
    ];
    for uuid in spellings {
        let said = said("Cluster.test", "", "prod", &uuid);
        assert!(
            said.ends_with("must be a UUID (8-4-4-4-12 hex digits)"),
            "{said}"
        );
    }
    let nil = "00000000-0000-0000-0000-000000000000";
    assert!(said("Cluster.test", "", "prod", nil).contains("nil UUID"));
    let loud = uuid.to_uppercase();
    assert_eq!(
        Claim::new("Cluster.test", "ns", "a.b-c.0", &loud),
        Claim::new("Cluster.test", "ns", "a.b-c.0", uuid)
    );
}

#[test]
fn two_claims_of_one_name_are_two_claims() {
    let claim =
        |namespace: &str, uuid: &str| Claim::new("Cluster.test", namespace, "prod", uuid).unwrap();
    let (a, b) = (
        "8f4e2f6a-3c1b-4e0e-9a53-0d2f8c6b7a11",
        "0c9d7a52-6b1f-4f7e-8a4d-5e2b1c3d4f60",
    );
    assert_ne!(claim("x", a).hash(), claim("y", a).hash());
    assert_ne!(claim("x", a).hash(), claim("x", b).hash());
    assert_eq!(claim("x", a).hash(), claim("x", a).hash());
}
