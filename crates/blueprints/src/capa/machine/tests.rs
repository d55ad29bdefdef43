use std::io::Read as _;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use ownership::blueprint::Empty;

use super::super::Subnet;
use super::*;

fn machine() -> Machine {
    Machine {
        machine: "t3.large".to_owned(),
        image: Some("ami-0123456789abcdef0".to_owned()),
        subnet: Some("subnet-0123456789abcdef0".to_owned()),
        groups: vec!["sg-0123456789abcdef0".to_owned()],
        ..Machine::new("prod", "prod-a")
    }
}

fn error(machine: &Machine) -> String {
    machine.blueprint().unwrap_err().to_string()
}

#[test]
fn a_worker_is_one_instance() {
    let blueprint = machine().blueprint().unwrap();
    let [instance] = blueprint.slots() else {
        panic!("{blueprint:?}");
    };
    assert_eq!(instance.role.as_deref(), Some("node"));
    assert_eq!(instance.user_tags, [("Name".into(), "prod-a".into())]);
    assert_eq!(instance.inner.len(), 1);
}

#[test]
fn a_machine_of_the_control_plane_is_registered_and_the_load_balancer_is_not_ours() {
    for (registry, name) in [
        (Registry::Classic("a".into()), "api-lb"),
        (Registry::Targets("a".into()), "api-targets"),
    ] {
        let machine = Machine {
            is_control_plane: true,
            registry: Some(registry.clone()),
            ..machine()
        };
        let blueprint = machine.blueprint().unwrap();
        let slots = blueprint.slots();
        assert_eq!(slots[1].name.as_str(), name);
        assert!(!slots[1].is_own());
        assert_eq!(slots[1].inner[0].key.resolve(&Empty), None);
        // One that ends is deregistered.
        let ends = Machine {
            ends: true,
            registry: Some(registry),
            is_control_plane: true,
            ..Machine::new("prod", "prod-a")
        };
        assert_eq!(ends.blueprint().unwrap().slots().len(), 2);
    }
    let worker = Machine {
        registry: Some(Registry::Classic("a".into())),
        ..machine()
    };
    assert_eq!(worker.blueprint().unwrap().slots().len(), 1);
}

#[test]
fn a_mistake_is_told_by_its_field() {
    let groups = Machine {
        more_groups: vec!["mine".to_owned()],
        ..machine()
    };
    assert!(error(&groups).contains("spec.additionalSecurityGroups[0].id"));
    let nameless = Machine {
        machine: String::new(),
        ..machine()
    };
    assert!(error(&nameless).contains("spec.instanceType"));
    let tags = [("freehold.dev/a".to_owned(), "b".to_owned())];
    let tags = Machine {
        tags: tags.into_iter().collect(),
        ..machine()
    };
    assert!(error(&tags).contains("spec.additionalTags.freehold.dev/a"));
    let large = Machine {
        user_data: Some(Secret::new(encode(&[b'x'; 17_000], false), "uid")),
        ..machine()
    };
    let words = error(&large);
    assert!(
        words.contains("bootstrap data") && words.contains("17000 bytes"),
        "{words}"
    );
    let small = Machine {
        user_data: Some(Secret::new(encode(&[b'x'; 17_000], true), "uid")),
        ..machine()
    };
    assert!(small.blueprint().is_ok());
}

#[test]
fn ids_are_read_from_either_field() {
    let id = "i-0123456789abcdef0";
    let provided = Machine {
        provider_id: Some(format!("aws:///zone-a/{id}")),
        ..machine()
    };
    let recorded = Machine {
        instance_id: Some(id.to_owned()),
        ..machine()
    };
    for machine in [provided, recorded] {
        assert_eq!(machine.ids().unwrap()[&slot(MACHINE)].as_str(), id);
    }
    let wrong = Machine {
        provider_id: Some("gce://x".to_owned()),
        ..machine()
    };
    assert!(
        wrong
            .ids()
            .unwrap_err()
            .to_string()
            .contains("aws:///ZONE/INSTANCE")
    );
}

#[test]
fn of_an_instance_that_others_have_made_nothing_is_wished_that_nobody_said() {
    let theirs = Machine {
        instance_id: Some("i-0123456789abcdef0".to_owned()),
        image: None,
        subnet: None,
        ..machine()
    };
    let blueprint = theirs.blueprint().unwrap();
    let props = blueprint.slots()[0].props.iter();
    let names: Vec<&str> = props.map(|(name, _)| *name).collect();
    assert_eq!(names, ["type", "security-groups"]);
}

#[test]
fn user_data_is_compressed_and_the_same_every_time() {
    let data = "#cloud-config\n".repeat(500);
    let text = encode(data.as_bytes(), true);
    assert_eq!(text, encode(data.as_bytes(), true));
    let packed = STANDARD.decode(text).unwrap();
    assert_eq!(packed[..2], [0x1f, 0x8b]);
    let mut read = String::new();
    let mut gzip = flate2::read::GzDecoder::new(&packed[..]);
    gzip.read_to_string(&mut read).unwrap();
    assert_eq!(read, data);
    assert_eq!(encode(b"hello", false), "aGVsbG8=");
}

#[test]
fn an_image_is_looked_up_by_the_machine_then_by_the_cluster() {
    let query = Lookup::default()
        .query(Some("v1.34.2"), "t3.large")
        .unwrap();
    assert_eq!(&*query.name, "capa-ami-ubuntu-24.04-?1.34.2-*");
    assert_eq!(&*query.owner, "819546954734");
    let some = |text: &str| Some(text.to_owned());
    let lookup = Lookup {
        format: [None, some("own-{{ .BaseOS }}-{{.K8sVersion}}")],
        organisation: [some("1"), some("2")],
        base: [some(""), some("flatcar")],
    };
    let query = lookup.query(Some("1.34.2"), "t3.large").unwrap();
    assert_eq!((&*query.name, &*query.owner), ("own-flatcar-1.34.2", "1"));
    assert!(Lookup::default().query(None, "t3.large").is_err());
    assert!(pattern("{{.Other}}", "a", "1").is_err());
    assert!(pattern("{{.BaseOS", "a", "1").is_err());
}

#[test]
fn a_subnet_is_a_private_one_of_the_zone() {
    let subnet = |id: &str, zone: &str, is_public| Subnet {
        id: format!("prod-{id}"),
        resource_id: Some(format!("subnet-{id}")),
        zone: Some(zone.to_owned()),
        is_public,
        ..Subnet::default()
    };
    let all = [
        subnet("a1", "zone-a", true),
        subnet("a2", "zone-a", false),
        subnet("b1", "zone-b", true),
    ];
    assert_eq!(choose_subnet(&all, Some("zone-a")).unwrap(), "subnet-a2");
    assert_eq!(choose_subnet(&all, Some("zone-b")).unwrap(), "subnet-b1");
    assert_eq!(choose_subnet(&all, None).unwrap(), "subnet-a2");
    let error = choose_subnet(&all, Some("zone-c")).unwrap_err().to_string();
    assert!(error.contains("spec.failureDomain"), "{error}");
}
