//! Roles, their policies, instance profiles.

use std::slice::from_ref;

use cloud_port::Cloud;
use cloud_port::aws::instance_profile::{INSTANCE_PROFILE, PROFILE_ROLE};
use cloud_port::aws::role::{ATTACHED_POLICY, INLINE_POLICY, ROLE};
use ownership::Target;

use crate::steps::*;
use crate::transcript::Transcript;

const POLICY: &str =
    r#"{"Statement":[{"Action":"ec2:*","Effect":"Allow","Resource":"*"}],"Version":"2012-10-17"}"#;
const OTHER: &str =
    r#"{"Statement":[{"Action":"s3:*","Effect":"Allow","Resource":"*"}],"Version":"2012-10-17"}"#;

async fn new_role<C: Cloud>(cloud: &mut Transcript<'_, C>, name: &str) -> Target {
    let order = create(
        &ROLE,
        name,
        &[("trust", TRUST)],
        &[("freehold.dev/a", name)],
    );
    cloud.create(order).await.expect("created")
}

async fn new_profile<C: Cloud>(cloud: &mut Transcript<'_, C>, name: &str) -> Target {
    let order = create(&INSTANCE_PROFILE, name, &[], &[("freehold.dev/a", name)]);
    cloud.create(order).await.expect("created")
}

pub(crate) async fn a_role_lives<C: Cloud>(cloud: &mut Transcript<'_, C>) {
    let role = new_role(cloud, "worker").await;
    cloud.ask(by_id(&role)).await;
    cloud.ask(by_name(&ROLE, "worker", None)).await;
    cloud.ask(by_mark(&ROLE, "freehold.dev/a")).await;
    cloud
        .create(create(&ROLE, "worker", &[("trust", TRUST)], &[]))
        .await;
    let trust = TRUST.replace("ec2.amazonaws.com", "eks.amazonaws.com");
    cloud
        .act(update(&ROLE, &role, props(&[("trust", &trust)])))
        .await;
    cloud.ask(by_id(&role)).await;
    if let Some(raw) = cloud.raw {
        let there = raw
            .iam
            .get_role()
            .role_name("worker")
            .send()
            .await
            .expect("GetRole");
        let trust = there
            .role()
            .and_then(|role| role.assume_role_policy_document());
        assert!(trust.expect("a trust policy").contains("eks.amazonaws.com"));
    }
    cloud.act(delete(&ROLE, &role)).await;
    cloud.act(delete(&ROLE, &role)).await;
    cloud.ask(by_id(&role)).await;
    cloud.ask(by_mark(&ROLE, "freehold.dev/a")).await;
}

pub(crate) async fn documents_have_one_spelling<C: Cloud>(cloud: &mut Transcript<'_, C>) {
    let role = new_role(cloud, "worker").await;
    let tricky = concat!(
        r#"{"Statement":[{"Action":["ec2:Describe*","s3:Get*"],"Condition":{"StringLike":"#,
        r#"{"aws:PrincipalTag/team":["a b+c","ä%/?"]}},"Effect":"Allow","Resource":"*","#,
        r#""Sid":"One"},{"Action":"sts:*","Effect":"Deny","Resource":"*"}],"Version":"2012-10-17"}"#
    );
    cloud
        .act(add(&role, INLINE_POLICY, &[part("tricky", tricky, &[])]))
        .await;
    let answer = cloud.ask(inside(&role, INLINE_POLICY)).await;
    assert_eq!(&*answer.inner[0].parts[0].value, tricky);
    let told = cloud.ask(by_mark(&ROLE, "freehold.dev/a")).await;
    assert_eq!(&*told.inner[1].parts[0].value, tricky, "{:?}", told.inner);
}

pub(crate) async fn policies_are_parts_of_a_role<C: Cloud>(cloud: &mut Transcript<'_, C>) {
    let arn = match cloud.raw {
        None => "arn:aws:iam::123456789012:policy/nodes".to_owned(),
        Some(raw) => {
            let call = raw.iam.create_policy().policy_name("nodes");
            let made = call
                .policy_document(POLICY)
                .send()
                .await
                .expect("CreatePolicy");
            made.policy()
                .and_then(|policy| policy.arn())
                .expect("an ARN")
                .to_owned()
        }
    };
    // The account is the only thing in which the two ARNs differ.
    let short = |told: &str| told.rsplit('/').next().unwrap_or_default().to_owned();
    let role = new_role(cloud, "worker").await;
    cloud
        .act(add(&role, INLINE_POLICY, &[part("b", POLICY, &[])]))
        .await;
    cloud
        .act(add(&role, INLINE_POLICY, &[part("a", POLICY, &[])]))
        .await;
    cloud
        .act(add(&role, INLINE_POLICY, &[part("b", OTHER, &[])]))
        .await;
    cloud.ask(inside(&role, INLINE_POLICY)).await;
    if let Some(raw) = cloud.raw {
        assert_eq!(raw.policies("worker").await.len(), 2);
    }
    cloud
        .act(add(&role, ATTACHED_POLICY, &[part(&arn, "", &[])]))
        .await;
    cloud
        .act(add(&role, ATTACHED_POLICY, &[part(&arn, "", &[])]))
        .await;
    let attached = cloud.look(inside(&role, ATTACHED_POLICY)).await;
    let keys = attached.inner[0].parts.iter().map(|part| short(&part.key));
    assert_eq!(keys.collect::<Vec<_>>(), ["nodes"]);
    let attached = part(&arn, "", &[]);
    cloud
        .act(remove(&role, ATTACHED_POLICY, from_ref(&attached)))
        .await;
    cloud.act(remove(&role, ATTACHED_POLICY, &[attached])).await;
    cloud.ask(inside(&role, ATTACHED_POLICY)).await;
    cloud
        .act(remove(&role, INLINE_POLICY, &[part("b", "", &[])]))
        .await;
    cloud
        .act(remove(&role, INLINE_POLICY, &[part("b", "", &[])]))
        .await;
    cloud.ask(inside(&role, INLINE_POLICY)).await;
}

pub(crate) async fn a_role_in_use_names_its_users<C: Cloud>(cloud: &mut Transcript<'_, C>) {
    let role = new_role(cloud, "worker").await;
    let profile = new_profile(cloud, "nodes").await;
    let policy = part("a", POLICY, &[]);
    cloud
        .act(add(&role, INLINE_POLICY, from_ref(&policy)))
        .await;
    cloud
        .act(add(&profile, PROFILE_ROLE, &[part("worker", "", &[])]))
        .await;
    cloud.act(delete(&ROLE, &role)).await;
    cloud.act(remove(&role, INLINE_POLICY, &[policy])).await;
    cloud.act(delete(&ROLE, &role)).await;
    cloud.act(delete(&INSTANCE_PROFILE, &profile)).await;
    cloud
        .act(remove(&profile, PROFILE_ROLE, &[part("worker", "", &[])]))
        .await;
    cloud.act(delete(&ROLE, &role)).await;
    cloud.act(delete(&INSTANCE_PROFILE, &profile)).await;
    if let Some(raw) = cloud.raw {
        assert!(raw.roles().await.is_empty() && raw.profiles().await.is_empty());
    }
}

pub(crate) async fn a_profile_lives<C: Cloud>(cloud: &mut Transcript<'_, C>) {
    new_role(cloud, "worker").await;
    new_role(cloud, "other").await;
    let profile = new_profile(cloud, "nodes").await;
    cloud.ask(by_id(&profile)).await;
    cloud
        .act(add(&profile, PROFILE_ROLE, &[part("worker", "", &[])]))
        .await;
    if let Some(raw) = cloud.raw {
        assert_eq!(raw.profiles().await, ["nodes worker".to_owned()].into());
    }
    cloud.ask(by_name(&INSTANCE_PROFILE, "nodes", None)).await;
    cloud
        .ask(by_mark(&INSTANCE_PROFILE, "freehold.dev/a"))
        .await;
    cloud.ask(inside(&profile, PROFILE_ROLE)).await;
    cloud
        .act(add(&profile, PROFILE_ROLE, &[part("worker", "", &[])]))
        .await;
    cloud
        .act(add(&profile, PROFILE_ROLE, &[part("other", "", &[])]))
        .await;
    cloud
        .act(add(&profile, PROFILE_ROLE, &[part("nobody", "", &[])]))
        .await;
    cloud
        .create(create(&INSTANCE_PROFILE, "nodes", &[], &[]))
        .await;
    cloud
        .act(remove(&profile, PROFILE_ROLE, &[part("worker", "", &[])]))
        .await;
    cloud.moto_differs("role-not-in-profile");
    cloud
        .act(remove(&profile, PROFILE_ROLE, &[part("worker", "", &[])]))
        .await;
    cloud.ask(inside(&profile, PROFILE_ROLE)).await;
    cloud.act(delete(&INSTANCE_PROFILE, &profile)).await;
    cloud.act(delete(&INSTANCE_PROFILE, &profile)).await;
    cloud.ask(by_id(&profile)).await;
}

pub(crate) async fn all_pages_are_read<C: Cloud>(cloud: &mut Transcript<'_, C>) {
    for n in 0..105 {
        new_role(cloud, &format!("role-{n:03}")).await;
        new_profile(cloud, &format!("profile-{n:03}")).await;
    }
    let roles = cloud.ask(by_mark(&ROLE, "freehold.dev/a")).await;
    assert_eq!(roles.resources.len(), 105);
    let profiles = cloud
        .ask(by_mark(&INSTANCE_PROFILE, "freehold.dev/a"))
        .await;
    assert_eq!(profiles.resources.len(), 105);
}
