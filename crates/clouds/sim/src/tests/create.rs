//! Creating.

use cloud_port::aws::route_table::ROUTE_TABLE;
use cloud_port::aws::security_group::SECURITY_GROUP;
use cloud_port::aws::{role, subnet, vpc};
use ownership::kind::{BirthProof, CreateMode, Kind, Marking, Naming};
use ownership::life::Life;
use ownership::part::Props;
use ownership::time::{CloudTime, Millis};
use ownership::{Class, Query, Secret};

use super::*;
use crate::{Harm, Quotas, Staleness};

static UPSERT: Kind = Kind {
    name: "test/upsert",
    birth: BirthProof::Nonce,
    create: CreateMode::Upsert,
    naming: Naming::Within("parent"),
    ..PLAIN
};

static SECOND_CALL: Kind = Kind {
    name: "test/second-call",
    birth: BirthProof::Circumstantial,
    naming: Naming::Free,
    has_creation_time: true,
    ..PLAIN
};

static CREATE_ONLY: Kind = Kind {
    name: "test/create-only",
    marking: Marking::CreateOnly,
    ..PLAIN
};

static TOKEN: Kind = Kind {
    name: "test/token",
    token: Some(Millis::seconds(600)),
    naming: Naming::Free,
    ..PLAIN
};

static SECRET: Kind = Kind {
    name: "test/secret",
    token: Some(Millis::seconds(600)),
    naming: Naming::Free,
    props: &[PropRule {
        name: "password",
        change: Change::Secret,
    }],
    ..PLAIN
};

#[test]
fn group_names_are_unique_within_a_vpc() {
    let mut account = account();
    new_group(&mut account, "nodes");
    let again = create(&SECURITY_GROUP, "nodes", &in_default_vpc(&account));
    let error = perform(&mut account, &again).unwrap_err();
    assert_eq!(
        (&*error.code, error.class),
        ("InvalidGroup.Duplicate", Class::Exists)
    );

    let cidr = props(&[("cidr", "10.0.0.0/16")]);
    let vpc = account
        .plant(Actor::Stranger, &vpc::VPC, "", &cidr, &Tags::new())
        .unwrap();
    let elsewhere = props(&[("vpc", vpc.id.as_str()), ("description", "nodes")]);
    perform(&mut account, &create(&SECURITY_GROUP, "nodes", &elsewhere)).unwrap();
    assert_eq!(
        account.alive(GROUP).filter(|g| &*g.name == "nodes").count(),
        2
    );
}

#[test]
fn a_deleted_groups_name_is_free_again_under_another_id() {
    let mut account = account();
    let first = new_group(&mut account, "nodes");
    account.delete(ENGINE, &first).unwrap();
    let second = new_group(&mut account, "nodes");
    assert_ne!(first, second);
}

#[test]
fn a_role_created_again_has_the_id_of_the_dead_one() {
    let mut account = account();
    let first = new_role(&mut account, "worker");
    assert_eq!(first.id.as_str(), "worker");
    let again = create(&role::ROLE, "worker", &props(&[("trust", TRUST)]));
    let error = perform(&mut account, &again).unwrap_err();
    assert_eq!(
        (&*error.code, error.class),
        ("EntityAlreadyExists", Class::Exists)
    );
    account.delete(ENGINE, &first).unwrap();
    assert_eq!(new_role(&mut account, "worker"), first);
    let lives: Vec<_> = account
        .lives()
        .filter(|life| life.target == first)
        .collect();
    assert_eq!(lives.len(), 2);
    assert!(!lives[0].is_alive() && lives[1].is_alive());
}

#[test]
fn names_of_iam_differ_in_more_than_case() {
    let mut account = account();
    new_role(&mut account, "Worker");
    let again = create(&role::ROLE, "wORKER", &props(&[("trust", TRUST)]));
    assert_eq!(code(perform(&mut account, &again)), "EntityAlreadyExists");
}

#[test]
fn ids_look_like_the_real_ones_and_do_not_repeat() {
    let mut account = account();
    let ids: BTreeSet<_> = (0..500)
        .map(|n| new_group(&mut account, &format!("g{n}")).id)
        .collect();
    assert_eq!(ids.len(), 500);
    for id in &ids {
        let digits = id.as_str().strip_prefix("sg-").unwrap();
        assert_eq!(digits.len(), 17);
        assert!(
            digits
                .chars()
                .all(|c| c.is_ascii_hexdigit() && !c.is_ascii_uppercase())
        );
    }
    assert!(
        account
            .default_vpc()
            .unwrap()
            .id
            .as_str()
            .starts_with("vpc-")
    );
}

#[test]
fn the_same_calls_give_the_same_ids_and_another_seed_others() {
    let id = |seed| {
        let mut account = account_with(|settings| settings.seed = seed);
        new_group(&mut account, "nodes").id
    };
    assert_eq!(id(1), id(1));
    assert_ne!(id(1), id(2));
}

#[test]
fn a_repeated_token_answers_with_the_first_resource() {
    let mut account = account();
    let vpc = account.default_vpc().unwrap().id.clone();
    let mut table = create(&ROUTE_TABLE, "", &props(&[("vpc", vpc.as_str())]));
    let identity = identity();
    table.token = Some(ownership::name::client_token(
        &identity.claim,
        &table.slot,
        1,
    ));
    let first = perform(&mut account, &table).unwrap();
    let second = perform(&mut account, &table).unwrap();
    assert_eq!(first.id, second.id);
    assert_eq!(
        account.alive(&ROUTE_TABLE).count(),
        2,
        "the main one and this one"
    );

    let mut other = table.clone();
    other.tags = tags(&[("team", "a")]);
    let error = perform(&mut account, &other).unwrap_err();
    assert_eq!(&*error.code, "IdempotentParameterMismatch");
    assert_eq!(error.class, Class::TokenMismatch);

    let target = Target::new(&ROUTE_TABLE, first.id.clone());
    account.delete(ENGINE, &target).unwrap();
    assert_eq!(
        perform(&mut account, &table).unwrap().id,
        first.id,
        "the dead one's description"
    );
    assert!(account.resource(&target).is_none());

    account.clock().advance(Millis::seconds(24 * 3600));
    assert_eq!(
        perform(&mut account, &table).unwrap().id,
        first.id,
        "a day later, to the second"
    );
    account.clock().advance(Millis(1));
    assert_ne!(
        perform(&mut account, &table).unwrap().id,
        first.id,
        "the token is forgotten"
    );
}

#[test]
fn tokens_of_two_kinds_are_apart_and_only_some_kinds_take_one() {
    let mut account = account().with_kinds(&[&TOKEN, &PLAIN]);
    let identity = identity();
    let mut thing = create(&TOKEN, "", &Props::new());
    thing.token = Some(ownership::name::client_token(
        &identity.claim,
        &thing.slot,
        1,
    ));
    let born = perform(&mut account, &thing).unwrap();
    let mut next = thing.clone();
    next.token = Some(ownership::name::client_token(
        &identity.claim,
        &thing.slot,
        2,
    ));
    assert_ne!(perform(&mut account, &next).unwrap().id, born.id);
    next.kind = &PLAIN;
    next.name = text("x");
    assert_eq!(code(perform(&mut account, &next)), "UnknownParameter");
}

#[test]
fn a_create_without_a_token_makes_twins_where_names_are_free() {
    let mut account = account().with_kinds(&[&TOKEN]);
    let thing = create(&TOKEN, "x", &Props::new());
    perform(&mut account, &thing).unwrap();
    perform(&mut account, &thing).unwrap();
    assert_eq!(account.alive(&TOKEN).count(), 2);
}

#[test]
fn an_upsert_overwrites_what_has_its_name() {
    let mut account = account().with_kinds(&[&UPSERT]);
    let old = props(&[("parent", "net"), ("size", "1")]);
    let theirs = tags(&[("team", "blue")]);
    let planted = account
        .plant(Actor::Stranger, &UPSERT, "a", &old, &theirs)
        .unwrap();
    assert_eq!(planted.id.as_str(), "net/a");
    let new = props(&[("parent", "net"), ("size", "2")]);
    let born = perform(&mut account, &create(&UPSERT, "a", &new)).unwrap();
    assert_eq!(born.id, planted.id);
    assert_eq!(account.resource(&planted).unwrap().props, new);
    assert_eq!(account.resource(&planted).unwrap().tags, theirs);
    assert!(born.tags.is_empty(), "the answer is that for a new one");
    let deed = account.deeds().last().unwrap();
    assert_eq!((deed.by, deed.made_by), (ENGINE, Actor::Stranger));
    assert_eq!((&deed.harm, &deed.victim.props), (&Harm::Overwritten, &old));
    assert_eq!(
        account.life(&planted).unwrap().by,
        Actor::Stranger,
        "it is still theirs"
    );

    let elsewhere = props(&[("parent", "other"), ("size", "2")]);
    perform(&mut account, &create(&UPSERT, "a", &elsewhere)).unwrap();
    assert_eq!(account.alive(&UPSERT).count(), 2);
}

#[test]
fn marks_ride_only_on_creates_that_take_them() {
    let mut account = account().with_kinds(&[&SECOND_CALL, &CREATE_ONLY]);
    let mut thing = create(&SECOND_CALL, "a", &Props::new());
    thing.tags = tags(&[("k", "v")]);
    assert_eq!(code(perform(&mut account, &thing)), "UnknownParameter");
    thing.kind = &CREATE_ONLY;
    let born = perform(&mut account, &thing).unwrap();
    assert_eq!(born.tags, thing.tags);
}

#[test]
fn kinds_without_a_creation_time_have_none() {
    let mut account = account().with_kinds(&[&SECOND_CALL]);
    let group = new_group(&mut account, "g");
    assert_eq!(account.resource(&group).unwrap().created, None);
    account.clock().advance(Millis(1234));
    let date = account.clock().cloud_time();
    let born = perform(&mut account, &create(&SECOND_CALL, "a", &Props::new())).unwrap();
    assert_eq!(born.created, Some(date));
    assert_eq!(date.0 % 1000, 0, "whole seconds, as in a Date header");
    assert!(
        date > CloudTime(account.clock().now().0),
        "another clock than ours"
    );
}

#[test]
fn quotas_are_the_accounts() {
    let mut account = account_with(|settings| {
        settings.quotas = Quotas::default()
            .resources(&SECURITY_GROUP, 2)
            .resources(&subnet::SUBNET, 4)
            .resources(&role::ROLE, 1);
    });
    new_group(&mut account, "a");
    let group = create(&SECURITY_GROUP, "b", &in_default_vpc(&account));
    let error = perform(&mut account, &group).unwrap_err();
    assert_eq!(
        (&*error.code, error.class),
        ("SecurityGroupLimitExceeded", Class::Fatal)
    );

    let mut ids = Vec::new();
    for n in 1..5 {
        let cidr = format!("10.{n}.0.0/16");
        ids.push(
            perform(
                &mut account,
                &create(&vpc::VPC, "", &props(&[("cidr", &cidr)])),
            )
            .unwrap()
            .id
            .clone(),
        );
    }
    let sixth = create(&vpc::VPC, "", &props(&[("cidr", "10.9.0.0/16")]));
    assert_eq!(code(perform(&mut account, &sixth)), "VpcLimitExceeded");

    let subnet = |account: &mut Account, vpc: &str, cidr: &str| {
        perform(
            account,
            &create(&subnet::SUBNET, "", &props(&[("vpc", vpc), ("cidr", cidr)])),
        )
    };
    let default = account.default_vpc().unwrap().id.clone();
    subnet(&mut account, default.as_str(), "172.31.240.0/20").unwrap();
    assert_eq!(
        code(subnet(&mut account, default.as_str(), "172.31.224.0/20")),
        "SubnetLimitExceeded"
    );
    subnet(&mut account, ids[0].as_str(), "10.1.1.0/24").expect("the quota is per VPC");

    new_role(&mut account, "a");
    let role = create(&role::ROLE, "b", &props(&[("trust", TRUST)]));
    assert_eq!(code(perform(&mut account, &role)), "LimitExceeded");
}

#[test]
fn a_freed_place_in_a_quota_can_be_taken() {
    let mut account = account_with(|settings| {
        settings.quotas = Quotas::default().resources(&SECURITY_GROUP, 2);
    });
    let group = new_group(&mut account, "a");
    account.delete(ENGINE, &group).unwrap();
    new_group(&mut account, "b");
}

#[test]
fn ranges_are_checked_and_canonical() {
    let mut account = account();
    let mut vpc = |cidr: &str| {
        perform(
            &mut account,
            &create(&vpc::VPC, "", &props(&[("cidr", cidr)])),
        )
    };
    assert_eq!(code(vpc("10.0.0.0/8")), "InvalidVpc.Range");
    assert_eq!(code(vpc("10.0.0.0")), "InvalidParameterValue");
    let born = vpc("10.1.2.3/16").unwrap();
    assert_eq!(
        born.props,
        props(&[("cidr", "10.1.0.0/16"), ("default", "false")])
    );
    let mut subnet = |cidr: &str| {
        let props = props(&[("vpc", born.id.as_str()), ("cidr", cidr)]);
        perform(&mut account, &create(&subnet::SUBNET, "", &props))
    };
    subnet("10.1.16.0/20").unwrap();
    assert_eq!(code(subnet("10.1.17.0/24")), "InvalidSubnet.Conflict");
    assert_eq!(code(subnet("10.2.0.0/24")), "InvalidSubnet.Range");
}

#[test]
fn parameters_are_checked() {
    let mut account = account();
    let vpc = account.default_vpc().unwrap().id.clone();
    let mut group = |name: &str, pairs: &[(&'static str, &str)]| {
        code(perform(
            &mut account,
            &create(&SECURITY_GROUP, name, &props(pairs)),
        ))
    };
    assert_eq!(group("g", &[("vpc", vpc.as_str())]), "MissingParameter");
    assert_eq!(
        group("g", &[("vpc", "vpc-0"), ("description", "d")]),
        "InvalidVpcID.NotFound"
    );
    assert_eq!(
        group("sg-1", &[("description", "d")]),
        "InvalidParameterValue"
    );
    assert_eq!(
        group("default", &[("description", "d")]),
        "InvalidParameterValue"
    );
    assert_eq!(group("g", &[("colour", "red")]), "UnknownParameter");
    let long = "r".repeat(65);
    let role = create(&role::ROLE, &long, &props(&[("trust", TRUST)]));
    assert_eq!(code(perform(&mut account, &role)), "ValidationError");
    let stranger = create(&PLAIN_UNKNOWN, "x", &Props::new());
    assert_eq!(
        code(perform(&mut account, &stranger)),
        "UnsupportedOperation"
    );
}

static PLAIN_UNKNOWN: Kind = PLAIN;

#[test]
fn a_group_without_a_vpc_goes_to_the_default_one() {
    let group = create(&SECURITY_GROUP, "g", &props(&[("description", "d")]));
    let mut with = account();
    let born = perform(&mut with, &group).unwrap();
    assert_eq!(
        born.props.get("vpc"),
        Some(&with.default_vpc().unwrap().id.text())
    );
    let mut without = account_with(|settings| settings.default_vpc = false);
    assert_eq!(code(perform(&mut without, &group)), "VPCIdNotSpecified");
}

#[test]
fn a_new_group_has_no_ingress_rules() {
    let mut account = account();
    let group = new_group(&mut account, "g");
    assert!(account.parts(&group, "rule").is_empty());
}

#[test]
fn a_new_resource_is_ready_after_the_settings_time() {
    let mut account = account_with(|settings| settings.ready_after = Millis(500));
    let vpc = create(&vpc::VPC, "", &props(&[("cidr", "10.0.0.0/16")]));
    let born = perform(&mut account, &vpc).unwrap();
    assert_eq!(born.life, Life::Coming);
    let query = Query::Id(Target::new(&vpc::VPC, born.id.clone()));
    let ready = |account: &mut Account| {
        account.read(&query, Staleness::Settled).unwrap().resources[0].life == Life::Ready
    };
    account.clock().advance(Millis(499));
    assert!(!ready(&mut account));
    account.clock().advance(Millis(1));
    assert!(ready(&mut account));
    let role = create(&role::ROLE, "r", &props(&[("trust", TRUST)]));
    assert!(
        perform(&mut account, &role).unwrap().life == Life::Ready,
        "IAM has no such state"
    );
}

#[test]
fn a_secret_is_received_and_shown_by_no_read() {
    let mut account = account().with_kinds(&[&SECRET]);
    let with = |password: &str| Create {
        secrets: Secrets::from_iter([("password", Secret::new(password, "uid"))]),
        token: Some(ownership::name::client_token(
            &identity().claim,
            &SlotName::new("slot").unwrap(),
            1,
        )),
        ..create(&SECRET, "x", &Props::new())
    };
    let born = perform(&mut account, &with("canary")).unwrap();
    assert_eq!(perform(&mut account, &with("canary")).unwrap().id, born.id);
    let error = perform(&mut account, &with("another")).unwrap_err();
    assert_eq!(error.class, Class::TokenMismatch);

    let target = Target::new(&SECRET, born.id.clone());
    let life = account.life(&target).unwrap();
    let received = life.secrets.get("password").map(Secret::reveal);
    assert_eq!(received, Some("canary"));
    let answer = account
        .read(&Query::Id(target), Staleness::Settled)
        .unwrap();
    assert_eq!(answer.resources[0].props, Props::new());
    let shown = format!("{answer:?} {born:?} {account:?}");
    assert!(!shown.contains("canary"), "{shown}");

    // In plain text everybody could read it.
    let plain = create(&SECRET, "y", &props(&[("password", "canary")]));
    assert_eq!(code(perform(&mut account, &plain)), "InvalidParameterValue");
    let unknown = Create {
        kind: &PLAIN,
        ..with("canary")
    };
    assert!(perform(&mut account.with_kinds(&[&PLAIN]), &unknown).is_err());
}
