//! Parts inside resources.

use cloud_port::aws::internet_gateway::ATTACHMENT;
use cloud_port::aws::role::{ATTACHED_POLICY, INLINE_POLICY};
use cloud_port::aws::vpc::VPC;
use ownership::Class;
use ownership::kind::Kind;

use super::*;

const SSH: &str = "ingress tcp 22-22 0.0.0.0/0";
const DNS: &str = "ingress udp 53-53 10.0.0.0/8";

fn add(
    account: &mut Account,
    to: &Target,
    inner: &'static str,
    parts: &[InnerPart],
) -> Result<(), CloudError> {
    let step = Step::AddInner {
        target: to.clone(),
        inner,
        parts: parts.to_vec(),
    };
    account.perform(ENGINE, &step).map(|_| ())
}

fn remove(
    account: &mut Account,
    from: &Target,
    inner: &'static str,
    keys: &[&str],
) -> Result<(), CloudError> {
    let keys: Vec<Text> = keys.iter().map(|key| text(key)).collect();
    account.remove_parts(ENGINE, from, inner, &keys)
}

fn keys(account: &Account, of: &Target, inner: &str) -> Vec<String> {
    account
        .parts(of, inner)
        .iter()
        .map(|part| part.key.to_string())
        .collect()
}

#[test]
fn authorizing_several_rules_is_all_or_nothing() {
    let mut account = account();
    let group = new_group(&mut account, "g");
    add(&mut account, &group, "rule", &[part(SSH, "")]).unwrap();
    let error = add(
        &mut account,
        &group,
        "rule",
        &[part(DNS, ""), part(SSH, "")],
    )
    .unwrap_err();
    assert_eq!(
        (&*error.code, error.class),
        ("InvalidPermission.Duplicate", Class::Exists)
    );
    assert_eq!(keys(&account, &group, "rule"), [SSH]);
    assert_eq!(
        code(add(
            &mut account,
            &group,
            "rule",
            &[part(DNS, ""), part(DNS, "")]
        )),
        "InvalidPermission.Duplicate"
    );
    add(
        &mut account,
        &group,
        "rule",
        &[part(DNS, ""), part("ingress all all self", "")],
    )
    .unwrap();
    assert_eq!(keys(&account, &group, "rule").len(), 3);
}

#[test]
fn rules_carry_tags_of_their_own_the_same_for_a_whole_call() {
    let mut account = account();
    let group = new_group(&mut account, "g");
    let tagged = |key: &str, value: &str| InnerPart {
        tags: tags(&[("owner", value)]),
        ..part(key, "")
    };
    assert_eq!(
        code(add(
            &mut account,
            &group,
            "rule",
            &[tagged(SSH, "a"), tagged(DNS, "b")]
        )),
        "InvalidParameterCombination"
    );
    add(
        &mut account,
        &group,
        "rule",
        &[tagged(SSH, "a"), tagged(DNS, "a")],
    )
    .unwrap();
    assert!(
        account
            .parts(&group, "rule")
            .iter()
            .all(|rule| rule.tags.has("owner", "a"))
    );
}

#[test]
fn rules_must_be_legal_and_canonical_and_their_groups_exist() {
    let mut account = account();
    let group = new_group(&mut account, "g");
    let mut rule = |key: &str| code(add(&mut account, &group, "rule", &[part(key, "")]));
    assert_eq!(rule("tcp 22 0.0.0.0/0"), "InvalidPermission.Malformed");
    assert_eq!(
        rule("ingress tcp 22-22 10.0.0.1/8"),
        "InvalidPermission.Malformed"
    );
    assert_eq!(rule("nonsense"), "InvalidPermission.Malformed");
    assert_eq!(
        rule("ingress tcp 22-22 sg-00000000000000000"),
        "InvalidGroup.NotFound"
    );
    let own = format!("ingress tcp 22-22 {}", group.id);
    assert_eq!(rule(&own), "InvalidPermission.Malformed");
    let abroad = "ingress tcp 22-22 123456789012/sg-00000000000000000";
    add(&mut account, &group, "rule", &[part(abroad, "")]).unwrap();
}

#[test]
fn a_group_holds_sixty_rules() {
    let mut account = account();
    let group = new_group(&mut account, "g");
    let rules: Vec<_> = (0..60)
        .map(|n| part(&format!("ingress tcp {n}-{n} self"), ""))
        .collect();
    add(&mut account, &group, "rule", &rules).unwrap();
    let error = add(&mut account, &group, "rule", &[part(SSH, "")]).unwrap_err();
    assert_eq!(&*error.code, "RulesPerSecurityGroupLimitExceeded");
    assert_eq!(error.class, Class::Fatal);
}

#[test]
fn revoking_an_absent_rule_is_an_error_outside_the_default_vpc() {
    let mut account = account();
    let inside = new_group(&mut account, "g");
    let cidr = props(&[("cidr", "10.0.0.0/16")]);
    let vpc = account
        .plant(Actor::Stranger, &VPC, "", &cidr, &Tags::new())
        .unwrap();
    let elsewhere = props(&[("vpc", vpc.id.as_str()), ("description", "d")]);
    let outside = account
        .plant(Actor::Stranger, GROUP, "g", &elsewhere, &Tags::new())
        .unwrap();
    for group in [&inside, &outside] {
        add(&mut account, group, "rule", &[part(SSH, "")]).unwrap();
    }
    let error = remove(&mut account, &outside, "rule", &[SSH, DNS]).unwrap_err();
    assert_eq!(
        (&*error.code, error.class),
        ("InvalidPermission.NotFound", Class::NotFound)
    );
    assert_eq!(keys(&account, &outside, "rule"), [SSH], "none was revoked");
    remove(&mut account, &inside, "rule", &[SSH, DNS]).unwrap();
    assert!(keys(&account, &inside, "rule").is_empty());
    remove(&mut account, &outside, "rule", &[SSH]).unwrap();
    assert!(keys(&account, &outside, "rule").is_empty());
}

#[test]
fn inline_policies_overwrite_and_attaching_twice_is_nothing() {
    let mut account = account();
    let role = new_role(&mut account, "r");
    add(&mut account, &role, INLINE_POLICY, &[part("p", "one")]).unwrap();
    add(&mut account, &role, INLINE_POLICY, &[part("p", "two")]).unwrap();
    assert_eq!(account.parts(&role, INLINE_POLICY), [part("p", "two")]);
    let arn = "arn:aws:iam::aws:policy/ReadOnlyAccess";
    add(&mut account, &role, ATTACHED_POLICY, &[part(arn, "")]).unwrap();
    add(&mut account, &role, ATTACHED_POLICY, &[part(arn, "")]).unwrap();
    assert_eq!(keys(&account, &role, ATTACHED_POLICY), [arn]);
    let error = remove(&mut account, &role, INLINE_POLICY, &["q"]).unwrap_err();
    assert_eq!(
        (&*error.code, error.class),
        ("NoSuchEntity", Class::NotFound)
    );
    remove(&mut account, &role, ATTACHED_POLICY, &[arn]).unwrap();
    assert_eq!(
        code(remove(&mut account, &role, ATTACHED_POLICY, &[arn])),
        "NoSuchEntity"
    );
}

#[test]
fn policies_obey_iam() {
    let mut account = account();
    let role = new_role(&mut account, "r");
    let mut put =
        |inner, key: &str, value: &str| add(&mut account, &role, inner, &[part(key, value)]);
    assert_eq!(code(put(INLINE_POLICY, "p", "")), "MalformedPolicyDocument");
    assert_eq!(code(put(INLINE_POLICY, "a b", "{}")), "ValidationError");
    assert_eq!(
        code(put(ATTACHED_POLICY, "ReadOnly", "")),
        "ValidationError"
    );
    put(INLINE_POLICY, "p", &"x".repeat(10_000)).unwrap();
    let error = put(INLINE_POLICY, "q", &"x".repeat(241)).unwrap_err();
    assert_eq!((&*error.code, error.class), ("LimitExceeded", Class::Fatal));
    put(INLINE_POLICY, "p", &"x".repeat(10_240)).expect("it replaces the old one");
    for n in 0..10 {
        put(
            ATTACHED_POLICY,
            &format!("arn:aws:iam::aws:policy/p{n}"),
            "",
        )
        .unwrap();
    }
    assert_eq!(
        code(put(ATTACHED_POLICY, "arn:aws:iam::aws:policy/p10", "")),
        "LimitExceeded"
    );
}

#[test]
fn a_profile_holds_one_role_that_exists() {
    let mut account = account();
    let profile = new_profile(&mut account, "p");
    assert_eq!(
        code(add(&mut account, &profile, "role", &[part("a", "")])),
        "NoSuchEntity"
    );
    new_role(&mut account, "a");
    new_role(&mut account, "b");
    add(&mut account, &profile, "role", &[part("a", "")]).unwrap();
    for role in ["a", "b"] {
        let error = add(&mut account, &profile, "role", &[part(role, "")]).unwrap_err();
        assert_eq!(&*error.code, "LimitExceeded");
        assert_eq!(error.class, Class::Exists, "look again: it may be ours");
    }
    remove(&mut account, &profile, "role", &["a"]).unwrap();
    add(&mut account, &profile, "role", &[part("b", "")]).unwrap();
    assert_eq!(keys(&account, &profile, "role"), ["b"]);
}

#[test]
fn a_gateway_has_one_vpc_and_a_vpc_one_gateway() {
    let mut account = account();
    let range = props(&[("cidr", "10.0.0.0/16")]);
    let own = perform(&mut account, &create(&VPC, "", &range)).unwrap();
    let default = account.default_vpc().unwrap().id.clone();
    let (own, default) = (part(own.id.as_str(), ""), part(default.as_str(), ""));
    let (a, b) = (new_gateway(&mut account), new_gateway(&mut account));
    let attach = |account: &mut Account, gateway: &Target, vpc: &InnerPart| {
        let attached = add(account, gateway, ATTACHMENT, std::slice::from_ref(vpc));
        attached.map_err(|error| (error.code.to_string(), error.class))
    };
    let refusal = |code: &str, class| Err((code.to_owned(), class));
    assert_eq!(
        attach(&mut account, &a, &part("vpc-00000000000000000", "")),
        refusal("InvalidVpcID.NotFound", Class::NotFound)
    );
    attach(&mut account, &a, &own).unwrap();
    // Look again: it may be where we want it.
    for vpc in [&own, &default] {
        assert_eq!(
            attach(&mut account, &a, vpc),
            refusal("Resource.AlreadyAssociated", Class::Exists)
        );
    }
    assert_eq!(
        attach(&mut account, &b, &own),
        refusal("InvalidParameterValue", Class::Fatal)
    );
    let detached = remove(&mut account, &a, ATTACHMENT, &[&default.key]);
    assert_eq!(code(detached), "Gateway.NotAttached");
    remove(&mut account, &a, ATTACHMENT, &[&own.key]).unwrap();
    attach(&mut account, &b, &own).unwrap();
    attach(&mut account, &a, &default).unwrap();
    assert_eq!(keys(&account, &a, ATTACHMENT), [&*default.key]);
}

#[test]
fn one_call_takes_one_part_unless_the_kind_says_otherwise() {
    let mut account = account();
    let role = new_role(&mut account, "r");
    let two = [part("p", "{}"), part("q", "{}")];
    assert_eq!(
        code(add(&mut account, &role, INLINE_POLICY, &two)),
        "InvalidParameterCombination"
    );
    assert_eq!(
        code(add(&mut account, &role, INLINE_POLICY, &[])),
        "InvalidParameterCombination"
    );
    assert!(account.parts(&role, INLINE_POLICY).is_empty());
}

#[test]
fn parts_of_what_is_not_there() {
    let mut account = account();
    let gone = target(GROUP, "sg-00000000000000000");
    assert_eq!(
        code(add(&mut account, &gone, "rule", &[part(SSH, "")])),
        "InvalidGroup.NotFound"
    );
    assert_eq!(
        code(remove(&mut account, &gone, "rule", &[SSH])),
        "InvalidGroup.NotFound"
    );
    let group = new_group(&mut account, "g");
    assert_eq!(
        code(add(&mut account, &group, "egress", &[part(SSH, "")])),
        "UnsupportedOperation"
    );
}

static SYNTHETIC: Kind = PLAIN;

#[test]
fn synthetic_parts_follow_their_declaration() {
    let mut account = account().with_kinds(&[&SYNTHETIC]);
    let thing = perform(&mut account, &create(&SYNTHETIC, "a", &Props::new())).unwrap();
    let thing = Target::new(&SYNTHETIC, thing.id.clone());
    add(
        &mut account,
        &thing,
        "bit",
        &[part("x", "1"), part("y", "2")],
    )
    .unwrap();
    let error = add(&mut account, &thing, "bit", &[part("x", "1")]).unwrap_err();
    assert_eq!(error.class, Class::Exists);
    let error = remove(&mut account, &thing, "bit", &["z"]).unwrap_err();
    assert_eq!(error.class, Class::NotFound);
}
