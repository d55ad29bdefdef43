//! Deleting.

use cloud_port::aws::instance_profile::INSTANCE_PROFILE;
use cloud_port::aws::internet_gateway::{ATTACHMENT, INTERNET_GATEWAY};
use cloud_port::aws::role::INLINE_POLICY;
use cloud_port::aws::security_group::SECURITY_GROUP;
use cloud_port::aws::{role, route_table, subnet, vpc};
use ownership::Class;
use ownership::error::Blocker;
use ownership::kind::Kind;

use super::*;

/// The code of a blocked deletion, and what blocks it.
fn blocked(result: Result<(), CloudError>) -> (String, Vec<Blocker>) {
    let error = result.unwrap_err();
    match error.class {
        Class::Blocked(blockers) => (error.code.to_string(), blockers),
        other => panic!("{other:?}: {}", error.message),
    }
}

fn blocker(noun: &str, id: &str) -> Blocker {
    Blocker {
        noun: text(noun),
        id: ResourceId::new(id),
    }
}

#[test]
fn a_step_deletes_what_its_proof_names() {
    let mut account = account();
    let mut group = create(&SECURITY_GROUP, "g", &in_default_vpc(&account));
    group.tags = marks(&SECURITY_GROUP);
    let group = Target::new(GROUP, perform(&mut account, &group).unwrap().id.clone());
    let owned = owned(&account, &SECURITY_GROUP, &group);
    let step = Step::delete(owned, account.clock().now()).unwrap();
    account.perform(ENGINE, &step).unwrap();
    assert!(account.resource(&group).is_none());
    let error = account.perform(ENGINE, &step).unwrap_err();
    assert_eq!(
        (&*error.code, error.class),
        ("InvalidGroup.NotFound", Class::NotFound)
    );
}

#[test]
fn each_kind_has_its_own_code_for_what_is_not_there() {
    let mut account = account();
    let cases: [(&'static Kind, _); 7] = [
        (&vpc::VPC, "InvalidVpcID.NotFound"),
        (&subnet::SUBNET, "InvalidSubnetID.NotFound"),
        (&route_table::ROUTE_TABLE, "InvalidRouteTableID.NotFound"),
        (&INTERNET_GATEWAY, "InvalidInternetGatewayID.NotFound"),
        (&SECURITY_GROUP, "InvalidGroup.NotFound"),
        (&role::ROLE, "NoSuchEntity"),
        (&INSTANCE_PROFILE, "NoSuchEntity"),
    ];
    for (kind, expected) in cases {
        let error = account.delete(ENGINE, &target(kind, "none")).unwrap_err();
        assert_eq!((&*error.code, error.class), (expected, Class::NotFound));
    }
}

#[test]
fn a_group_that_another_groups_rule_names_is_blocked() {
    let mut account = account();
    let (a, b) = (new_group(&mut account, "a"), new_group(&mut account, "b"));
    let rule = text(&format!("ingress tcp 22-22 {}", a.id));
    account
        .add_parts(Actor::Stranger, &b, "rule", &[part(&rule, "")])
        .unwrap();
    account
        .add_parts(ENGINE, &a, "rule", &[part("ingress all all self", "")])
        .unwrap();
    let (code, blockers) = blocked(account.delete(ENGINE, &a));
    assert_eq!(code, "DependencyViolation");
    assert_eq!(blockers, [blocker("security group", b.id.as_str())]);
    account
        .remove_parts(Actor::Stranger, &b, "rule", &[rule])
        .unwrap();
    account.delete(ENGINE, &a).unwrap();
}

#[test]
fn a_group_with_a_strangers_network_interface_is_blocked() {
    let mut account = account();
    let (a, b) = (new_group(&mut account, "a"), new_group(&mut account, "b"));
    let interface = account.pin(&a, "network interface");
    assert!(interface.as_str().starts_with("eni-"));
    let (code, blockers) = blocked(account.delete(ENGINE, &a));
    assert_eq!(code, "DependencyViolation");
    assert_eq!(blockers, [blocker("network interface", interface.as_str())]);
    account.delete(ENGINE, &b).unwrap();
    account.unpin(&interface);
    account.delete(ENGINE, &a).unwrap();
}

#[test]
fn a_default_group_and_a_main_route_table_cannot_be_deleted() {
    let mut account = account();
    let default = account
        .alive(GROUP)
        .find(|g| &*g.name == "default")
        .unwrap()
        .id
        .clone();
    let error = account
        .delete(ENGINE, &Target::new(GROUP, default))
        .unwrap_err();
    assert_eq!((&*error.code, error.class), ("CannotDelete", Class::Fatal));
    let table = main_route_table(&account);
    let (code, blockers) = blocked(account.delete(ENGINE, &table));
    assert_eq!(code, "DependencyViolation");
    assert_eq!(blockers[0].id, account.default_vpc().unwrap().id);
}

#[test]
fn a_vpc_is_blocked_by_what_is_in_it_and_takes_its_furniture_along() {
    let mut account = account_with(|settings| settings.default_vpc = false);
    let vpc = perform(
        &mut account,
        &create(&vpc::VPC, "", &props(&[("cidr", "10.0.0.0/16")])),
    )
    .unwrap();
    let vpc = Target::new(&vpc::VPC, vpc.id.clone());
    let mut make = |kind: &'static Kind, name: &str, more: &[(&'static str, &str)]| {
        let mut all = vec![("vpc", vpc.id.as_str())];
        all.extend(more);
        let born = perform(&mut account, &create(kind, name, &props(&all))).unwrap();
        Target::new(kind, born.id.clone())
    };
    let inside = [
        make(&subnet::SUBNET, "", &[("cidr", "10.0.1.0/24")]),
        make(&route_table::ROUTE_TABLE, "", &[]),
        make(&SECURITY_GROUP, "g", &[("description", "d")]),
    ];
    let (code, mut blockers) = blocked(account.delete(ENGINE, &vpc));
    assert_eq!(code, "DependencyViolation");
    blockers.sort();
    let mut expected = [
        blocker("subnet", inside[0].id.as_str()),
        blocker("route table", inside[1].id.as_str()),
        blocker("security group", inside[2].id.as_str()),
    ];
    expected.sort();
    assert_eq!(blockers, expected);
    for target in &inside {
        account.delete(ENGINE, target).unwrap();
    }
    assert_eq!(account.alive(GROUP).count(), 1, "the default group");
    account.delete(ENGINE, &vpc).unwrap();
    assert_eq!(account.lives().filter(|life| life.is_alive()).count(), 0);
}

#[test]
fn a_subnet_with_something_in_it_is_blocked() {
    let mut account = account();
    let subnet = account.alive(&subnet::SUBNET).next().unwrap().id.clone();
    let subnet = Target::new(&subnet::SUBNET, subnet);
    let interface = account.pin(&subnet, "network interface");
    assert_eq!(blocked(account.delete(ENGINE, &subnet)).1[0].id, interface);
}

#[test]
fn a_gateway_and_its_vpc_keep_each_other() {
    let mut account = account_with(|settings| settings.default_vpc = false);
    let range = props(&[("cidr", "10.0.0.0/16")]);
    let vpc = perform(&mut account, &create(&vpc::VPC, "", &range)).unwrap();
    let vpc = Target::new(&vpc::VPC, vpc.id.clone());
    let gateway = new_gateway(&mut account);
    let attachment = [part(vpc.id.as_str(), "")];
    account
        .add_parts(ENGINE, &gateway, ATTACHMENT, &attachment)
        .unwrap();
    let (code, blockers) = blocked(account.delete(ENGINE, &gateway));
    assert_eq!(code, "DependencyViolation");
    assert_eq!(blockers, [blocker("attachment", vpc.id.as_str())]);
    let (code, blockers) = blocked(account.delete(ENGINE, &vpc));
    assert_eq!(code, "DependencyViolation");
    assert_eq!(blockers, [blocker("internet gateway", gateway.id.as_str())]);
    account
        .remove_parts(ENGINE, &gateway, ATTACHMENT, &[vpc.id.text()])
        .unwrap();
    account.delete(ENGINE, &vpc).unwrap();
    account.delete(ENGINE, &gateway).unwrap();
}

#[test]
fn a_role_is_blocked_by_its_policies_and_by_a_profile() {
    let mut account = account();
    let (role, profile) = (new_role(&mut account, "r"), new_profile(&mut account, "p"));
    account
        .add_parts(ENGINE, &role, INLINE_POLICY, &[part("policy", "{}")])
        .unwrap();
    account
        .add_parts(ENGINE, &profile, "role", &[part("r", "")])
        .unwrap();
    let (code, blockers) = blocked(account.delete(ENGINE, &role));
    assert_eq!(code, "DeleteConflict");
    let expected = [
        blocker("inline policy", "policy"),
        blocker("instance profile", "p"),
    ];
    assert_eq!(blockers, expected);
    let (code, blockers) = blocked(account.delete(ENGINE, &profile));
    assert_eq!(code, "DeleteConflict");
    assert_eq!(blockers, [blocker("role", "r")]);
    account
        .remove_parts(ENGINE, &profile, "role", &[text("r")])
        .unwrap();
    account
        .remove_parts(ENGINE, &role, INLINE_POLICY, &[text("policy")])
        .unwrap();
    account.delete(ENGINE, &role).unwrap();
    account.delete(ENGINE, &profile).unwrap();
}

#[test]
fn a_group_goes_with_its_rules() {
    let mut account = account();
    let group = new_group(&mut account, "g");
    account
        .add_parts(
            Actor::Stranger,
            &group,
            "rule",
            &[part("ingress all all self", "")],
        )
        .unwrap();
    account.delete(ENGINE, &group).unwrap();
    assert!(account.parts(&group, "rule").is_empty());
    let life = account.life(&group).unwrap();
    assert_eq!(
        life.inner("rule", "ingress all all self").unwrap().by,
        Actor::Stranger
    );
}

static SYNTHETIC: Kind = PLAIN;

#[test]
fn a_synthetic_resource_is_blocked_by_what_refers_to_it() {
    let mut account = account().with_kinds(&[&SYNTHETIC]);
    let parent = perform(&mut account, &create(&SYNTHETIC, "a", &Props::new())).unwrap();
    let refers = props(&[("parent", parent.id.as_str())]);
    let child = perform(&mut account, &create(&SYNTHETIC, "b", &refers)).unwrap();
    let parent = Target::new(&SYNTHETIC, parent.id.clone());
    assert_eq!(
        blocked(account.delete(ENGINE, &parent)).1,
        [blocker("thing", child.id.as_str())]
    );
    account
        .delete(ENGINE, &Target::new(&SYNTHETIC, child.id.clone()))
        .unwrap();
    account.delete(ENGINE, &parent).unwrap();
}

#[test]
fn only_mutable_properties_change_in_place() {
    let mut account = account();
    let mut wanted = create(&role::ROLE, "r", &props(&[("trust", TRUST)]));
    wanted.tags = marks(&role::ROLE);
    let role = Target::new(
        &role::ROLE,
        perform(&mut account, &wanted).unwrap().id.clone(),
    );
    let owned = owned(&account, &role::ROLE, &role);
    let step = Step::update(owned, props(&[("trust", "{}")]), account.clock().now()).unwrap();
    account.perform(ENGINE, &step).unwrap();
    assert_eq!(
        account.resource(&role).unwrap().props,
        props(&[("trust", "{}")])
    );
    let group = new_group(&mut account, "g");
    let change = props(&[("description", "another")]);
    assert_eq!(
        code(account.update(ENGINE, &group, &change)),
        "InvalidParameterValue"
    );
}
