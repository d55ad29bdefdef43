//! Tags.

use ownership::Class;
use ownership::kind::{Kind, Marking};
use ownership::step::{MarkRight, UnmarkRight};

use super::*;

static CREATE_ONLY: Kind = Kind {
    name: "test/create-only",
    marking: Marking::CreateOnly,
    ..PLAIN
};

static IBM: Kind = Kind {
    name: "test/ibm",
    carrier: Carrier::IbmTags,
    ..PLAIN
};

fn mark(
    account: &mut Account,
    targets: &[&Target],
    tags: &[(&str, &str)],
) -> Result<(), CloudError> {
    let step = Step::Mark {
        targets: targets.iter().copied().cloned().collect(),
        tags: pairs(tags),
        right: MarkRight::Trace,
    };
    account.perform(ENGINE, &step).map(|_| ())
}

fn unmark(account: &mut Account, on: &Target, tags: &[(&str, &str)]) -> Result<(), CloudError> {
    let step = Step::Unmark {
        targets: vec![on.clone()],
        tags: pairs(tags),
        right: UnmarkRight::Trace,
    };
    account.perform(ENGINE, &step).map(|_| ())
}

fn held(account: &Account, of: &Target) -> Tags {
    account.resource(of).unwrap().tags.clone()
}

#[test]
fn a_tag_is_set_and_removed_only_with_its_very_value() {
    let mut account = account();
    let table = main_route_table(&account);
    mark(&mut account, &[&table], &[("empty", ""), ("full", "x")]).unwrap();
    unmark(
        &mut account,
        &table,
        &[("full", ""), ("empty", "x"), ("absent", "")],
    )
    .unwrap();
    assert_eq!(
        held(&account, &table),
        tags(&[("empty", ""), ("full", "x")])
    );
    unmark(&mut account, &table, &[("full", "x")]).unwrap();
    assert_eq!(held(&account, &table), tags(&[("empty", "")]));
    mark(&mut account, &[&table], &[("empty", "now not")]).unwrap();
    unmark(&mut account, &table, &[("empty", "")]).unwrap();
    assert_eq!(held(&account, &table), tags(&[("empty", "now not")]));
}

#[test]
fn a_resource_holds_fifty_tags_and_a_full_one_is_named() {
    let mut account = account();
    let group = new_group(&mut account, "g");
    for n in 0..50 {
        mark(&mut account, &[&group], &[(&format!("k{n}"), "v")]).unwrap();
    }
    let error = mark(&mut account, &[&group], &[("one more", "v")]).unwrap_err();
    assert_eq!(&*error.code, "TagLimitExceeded");
    let Class::Blocked(blockers) = &error.class else {
        panic!("{error:?}");
    };
    assert_eq!(blockers[0].id, group.id);
    mark(&mut account, &[&group], &[("k7", "another value")]).expect("no new key");

    let role = new_role(&mut account, "r");
    for n in 0..50 {
        mark(&mut account, &[&role], &[(&format!("k{n}"), "v")]).unwrap();
    }
    assert_eq!(
        code(mark(&mut account, &[&role], &[("one more", "v")])),
        "LimitExceeded"
    );

    let mut many = create(
        &cloud_port::aws::security_group::SECURITY_GROUP,
        "h",
        &in_default_vpc(&account),
    );
    many.tags = (0..51)
        .map(|n| (text(&format!("k{n}")), text("")))
        .collect();
    assert_eq!(code(perform(&mut account, &many)), "TagLimitExceeded");
}

#[test]
fn keys_and_values_obey_the_carrier() {
    let mut account = account();
    let table = main_route_table(&account);
    let long_key = "k".repeat(129);
    let long_value = "v".repeat(257);
    for (key, value) in [
        ("aws:name", "x"),
        ("", "x"),
        (&long_key, "x"),
        ("k", &long_value),
        ("a*b", "x"),
    ] {
        assert_eq!(
            code(mark(&mut account, &[&table], &[(key, value)])),
            "InvalidParameterValue"
        );
    }
    assert_eq!(
        code(mark(&mut account, &[&table], &[("k", "1"), ("k", "2")])),
        "InvalidParameterValue"
    );
    assert!(held(&account, &table).is_empty());
    mark(
        &mut account,
        &[&table],
        &[(&long_key[1..], &long_value[1..]), ("AWS", "ä/=+-@:._ 1")],
    )
    .unwrap();
    let role = new_role(&mut account, "r");
    assert_eq!(
        code(mark(&mut account, &[&role], &[("aws:x", "")])),
        "ValidationError"
    );
}

#[test]
fn one_call_tags_several_resources_of_ec2_or_none_of_them() {
    let mut account = account();
    let (table, group) = (main_route_table(&account), new_group(&mut account, "g"));
    mark(&mut account, &[&table, &group], &[("a", "1")]).unwrap();
    assert!(held(&account, &table).has("a", "1") && held(&account, &group).has("a", "1"));
    let gone = target(GROUP, "sg-00000000000000000");
    let error = mark(&mut account, &[&table, &gone], &[("b", "1")]).unwrap_err();
    assert_eq!(
        (&*error.code, error.class),
        ("InvalidGroup.NotFound", Class::NotFound)
    );
    assert!(!held(&account, &table).has("b", "1"));
    let (a, b) = (new_role(&mut account, "a"), new_role(&mut account, "b"));
    assert_eq!(
        code(mark(&mut account, &[&a, &b], &[("a", "1")])),
        "InvalidParameterCombination"
    );
    assert_eq!(
        code(mark(&mut account, &[&table, &a], &[("c", "1")])),
        "InvalidParameterCombination"
    );
}

#[test]
fn create_only_marks_cannot_be_changed_later() {
    let mut account = account().with_kinds(&[&CREATE_ONLY]);
    let mut thing = create(&CREATE_ONLY, "a", &Props::new());
    thing.tags = tags(&[("k", "v")]);
    let thing = Target::new(
        &CREATE_ONLY,
        perform(&mut account, &thing).unwrap().id.clone(),
    );
    assert_eq!(
        code(mark(&mut account, &[&thing], &[("l", "v")])),
        "UnsupportedOperation"
    );
    assert_eq!(
        code(unmark(&mut account, &thing, &[("k", "v")])),
        "UnsupportedOperation"
    );
    assert_eq!(held(&account, &thing), tags(&[("k", "v")]));
}

#[test]
fn ibm_tags_stand_beside_each_other() {
    let mut account = account().with_kinds(&[&IBM]);
    let thing = perform(&mut account, &create(&IBM, "a", &Props::new())).unwrap();
    let thing = Target::new(&IBM, thing.id.clone());
    mark(&mut account, &[&thing], &[("k", "1")]).unwrap();
    mark(&mut account, &[&thing], &[("k", "2")]).unwrap();
    assert_eq!(held(&account, &thing), tags(&[("k", "1"), ("k", "2")]));
    unmark(&mut account, &thing, &[("k", "1")]).unwrap();
    assert_eq!(held(&account, &thing), tags(&[("k", "2")]));
}

#[test]
fn to_iam_two_keys_that_differ_in_case_are_one() {
    let mut account = account();
    let role = new_role(&mut account, "r");
    let role = std::slice::from_ref(&role);
    account.tag(ENGINE, role, &pairs(&[("Team", "a")])).unwrap();
    account.tag(ENGINE, role, &pairs(&[("team", "b")])).unwrap();
    let held = |account: &Account| account.resource(&role[0]).unwrap().tags.clone();
    assert_eq!(held(&account), tags(&[("team", "b")]));
    account
        .untag(ENGINE, role, &pairs(&[("Team", "b")]))
        .unwrap();
    assert_eq!(held(&account), tags(&[("team", "b")]), "not this very key");
    assert_eq!(account.counters().calls("UntagRole"), 0);
    assert_eq!(account.counters().calls("GetRole"), 1);
    let group = new_group(&mut account, "g");
    let group = std::slice::from_ref(&group);
    account
        .tag(ENGINE, group, &pairs(&[("Team", "a"), ("team", "b")]))
        .unwrap();
    assert_eq!(account.resource(&group[0]).unwrap().tags.len(), 2);
}
