//! The tables of operations are what the suites call: no more, and no less.

use std::collections::BTreeSet;

use cloud_aws::{Calls, PASS_ROLE, Place, Resources, UNRESTRICTED, permissions};
use cloud_port::aws::image::ImageQuery;
use cloud_port::aws::{AwsPlace as _, KINDS};
use kkp_suite::{Lab, cases as kkp};
use serde_json::json;

use crate::raw::Raw;
use crate::steps::TRUST;
use crate::transcript::Transcript;
use crate::{cases, clouds, suite};

const POLICY: &str = concat!(
    r#"{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Action":"s3:ListBucket","#,
    r#""Resource":"*"}]}"#
);

/// The calls, as actions of policies name them.
fn actions(calls: &Calls) -> BTreeSet<String> {
    let ended = calls.by_outcome().into_keys();
    let named = |service: &str| match service {
        "Elastic Load Balancing" | "Elastic Load Balancing v2" => "elasticloadbalancing".to_owned(),
        other => other.to_lowercase(),
    };
    ended
        .map(|ended| format!("{}:{}", named(&ended.service), ended.operation))
        .collect()
}

/// What is allowed, and what needs no permission; what is no call is left out.
fn callable(resources: Resources<'_>) -> BTreeSet<String> {
    let allowed = permissions(resources).expect("Kinds of AWS");
    let calls = allowed.iter().filter(|action| **action != PASS_ROLE);
    calls.chain(UNRESTRICTED).map(ToString::to_string).collect()
}

/// What nobody called, and what nobody declared.
fn assert_same(called: &BTreeSet<String>, declared: &BTreeSet<String>) {
    let undeclared: Vec<_> = called.difference(declared).collect();
    assert!(undeclared.is_empty(), "not in the tables: {undeclared:?}");
    let unused: Vec<_> = declared.difference(called).collect();
    assert!(unused.is_empty(), "never called: {unused:?}");
}

#[tokio::test]
async fn the_permissions_are_what_the_adapter_calls() {
    macro_rules! called {
        ($($case:path)*) => {{
            let mut all = BTreeSet::new();
            $(
                let Some(moto) = clouds::moto().await else { return };
                $case(&mut Transcript::new(&*moto.set, Some(&moto.raw))).await;
                all.extend(actions(moto.set.calls()));
            )*
            all
        }};
    }
    let mut called = called! {
        cases::network::a_vpc_lives
        cases::network::a_subnet_lives
        cases::network::a_route_table_lives
        cases::network::a_gateway_lives
        cases::ways_out::attributes_are_switched
        cases::ways_out::a_nat_gateway_lives
        cases::ways_out::routes_and_associations_live
        cases::balancers::a_classic_load_balancer_lives
        cases::balancers::a_network_load_balancer_lives
        cases::balancers::a_target_group_lives
        cases::machines::an_instance_lives
        cases::machines::load_balancers_know_instances
        cases::groups::a_group_lives
        cases::groups::a_rule_that_is_there_or_not_is_refused
        cases::groups::a_group_in_use_names_its_users
        cases::tags::marks_find_and_go_by_key_and_value
        cases::tags::iam_takes_away_only_the_very_pair
        cases::iam::a_role_lives
        cases::iam::policies_are_parts_of_a_role
        cases::iam::a_role_in_use_names_its_users
        cases::iam::a_profile_lives
        cases::inventory::a_survey_shows_roles_and_profiles
    };
    called.extend(zones_are_told().await);
    called.extend(an_image_is_found().await);
    let inner: Vec<_> = KINDS.iter().flat_map(|kind| kind.inner).collect();
    let adds: Vec<_> = inner.iter().map(|inner| inner.name).collect();
    let declared = callable(Resources {
        owns: &KINDS,
        uses: &[],
        adds: &adds,
        adds_in: &[],
    });
    assert_same(&called, &declared);
}

/// The region's zones, of which a system chooses where its subnets are.
async fn zones_are_told() -> BTreeSet<String> {
    let Some(moto) = clouds::moto().await else {
        return BTreeSet::new();
    };
    let place = Place::open(moto.set.clone()).await.expect("signs in");
    let zones = place.zones().await.expect("zones");
    assert!(zones.len() > 1, "{zones:?}");
    actions(moto.set.calls())
}

/// The newest image, of which a machine is made.
async fn an_image_is_found() -> BTreeSet<String> {
    let Some(moto) = clouds::moto().await else {
        return BTreeSet::new();
    };
    let place = Place::open(moto.set.clone()).await.expect("signs in");
    let query = |name: &str| ImageQuery {
        owner: "099720109477".into(),
        name: name.into(),
        machine: "t3.large".into(),
    };
    let found = place.image(&query("ubuntu/images/*")).await;
    assert!(found.expect("an answer").is_some());
    let none = place.image(&query("nobody-has-this-*")).await;
    assert_eq!(none.expect("an answer"), None);
    actions(moto.set.calls())
}

/// What people do to a cluster's resources that the suite's cases leave out: a role's trust, its
/// policies, a profile's mark; and what stands in the way of the end.
async fn disturb(lab: &Lab<Place>, raw: &Raw) {
    lab.create(json!({}), json!({})).await;
    lab.converge().await;
    let profile = format!("kubernetes-{}", lab.name);
    let role = format!("{profile}-worker");
    let iam = &raw.iam;
    let trust = TRUST.replace("ec2", "eks");
    let trusted = iam.update_assume_role_policy().role_name(&role);
    let trusted = trusted.policy_document(trust).send().await;
    trusted.expect("UpdateAssumeRolePolicy");
    let policy = iam.create_policy().policy_name("theirs");
    let policy = policy.policy_document(POLICY).send().await;
    let policy = policy.expect("CreatePolicy").policy.expect("a policy");
    let attached = iam.attach_role_policy().role_name(&role);
    let attached = attached.policy_arn(policy.arn().expect("an ARN")).send();
    attached.await.expect("AttachRolePolicy");
    let held = iam.get_instance_profile().instance_profile_name(&profile);
    let held = held.send().await.expect("GetInstanceProfile");
    let tags = held.instance_profile().expect("a profile").tags();
    let keys = tags.iter().map(|tag| tag.key().to_owned()).collect();
    let untagged = iam.untag_instance_profile().instance_profile_name(&profile);
    let untagged = untagged.set_tag_keys(Some(keys)).send().await;
    untagged.expect("UntagInstanceProfile");
    let switches = json!({
        "freehold.dev/rules": "exclusive", "freehold.dev/adopt": "instance-profile",
    });
    lab.patch(json!({"metadata": {"annotations": switches}}))
        .await;
    lab.converge().await;
    let other = iam
        .create_instance_profile()
        .instance_profile_name("theirs");
    other.send().await.expect("CreateInstanceProfile");
    let other = iam.add_role_to_instance_profile().role_name(&role);
    let other = other.instance_profile_name("theirs").send().await;
    other.expect("AddRoleToInstanceProfile");
    lab.delete().await;
    lab.settle().await;
    assert!(!lab.is_gone().await, "blocked");
}

#[tokio::test]
async fn the_permissions_are_what_kkp_calls() {
    macro_rules! called {
        ($($module:ident::$case:ident)*) => {{
            let mut all = BTreeSet::new();
            $(
                let Some((mut lab, moto)) = suite::seen(stringify!($case)).await else { return };
                kkp::$module::$case(&mut lab).await;
                all.extend(actions(moto.set.calls()));
            )*
            all
        }};
    }
    let mut called = called! {
        create::every_ip_family
        adopt::a_role_and_a_profile_that_the_object_names_are_used
        repair::what_is_gone_is_made_again
        repair::exclusive_rules_converge_both_ways
        repair::policies_edited_by_hand_are_put_right
        end::everything_goes
        end::retained_resources_stay
    };
    let Some((lab, moto)) = suite::seen("disturbed").await else {
        return;
    };
    disturb(&lab, &moto.raw).await;
    called.extend(actions(moto.set.calls()));
    // See the row `group-references` of docs/aws.md: who uses a group is asked when AWS keeps it.
    let asked = called.insert("ec2:DescribeNetworkInterfaces".to_owned());
    assert!(asked, "moto keeps groups that are in use: leave this out");
    let kkp = controllers::kkp::ENTRY.resources;
    let declared = callable(Resources {
        owns: kkp.owns,
        uses: kkp.uses,
        adds: kkp.adds,
        adds_in: kkp.adds_in,
    });
    assert_same(&called, &declared);
}
