//! What was there before: used, and given back as it was; or somebody else's, and left alone.

use std::collections::BTreeMap;

use cloud_port::aws::AwsPlace;
use serde_json::json;

use super::{plain_rules, set};
use crate::Lab;

const GUEST: &str = "ingress tcp 443-443 192.0.2.0/24";

/// Nobody's mark is on it, so KKP uses it: our rules are added and taken away, the owner's stay.
pub async fn a_group_found_by_name_is_used_and_given_back<C: AwsPlace + Clone + 'static>(
    lab: &mut Lab<C>,
) {
    let vpc = lab.hands.default_vpc().await;
    let name = format!("kubernetes-{}", lab.name);
    let id = lab
        .hands
        .make_group(&name, &vpc, &[("team", "network")])
        .await;
    use_and_give_back(lab, &name, &id, json!({})).await;
}

/// The same, named by its id, with a name of its own.
pub async fn a_group_named_by_id_is_used_and_given_back<C: AwsPlace + Clone + 'static>(
    lab: &mut Lab<C>,
) {
    let vpc = lab.hands.default_vpc().await;
    let id = lab
        .hands
        .make_group("shared", &vpc, &[("team", "network")])
        .await;
    use_and_give_back(lab, "shared", &id, json!({"securityGroupID": id})).await;
}

async fn use_and_give_back<C: AwsPlace + Clone + 'static>(
    lab: &mut Lab<C>,
    name: &str,
    id: &str,
    aws: serde_json::Value,
) {
    lab.hands.add_rule(id, GUEST).await;
    let (groups, ..) = lab.hands.census().await;
    lab.create(aws, json!({})).await;
    lab.converge().await;
    assert_eq!(
        lab.cluster()
            .await
            .spec
            .cloud
            .aws
            .unwrap()
            .security_group_id,
        id
    );
    assert_eq!(lab.hands.census().await.0, groups, "none was made");
    let used = lab.hands.group(name).await.unwrap();
    let mut both = plain_rules();
    both.insert(GUEST.to_owned());
    assert_eq!(used.rules, both);
    assert!(
        !used.tags.keys().any(|key| key.starts_with("owned-by.")),
        "{:?}",
        used.tags
    );
    lab.assert_silent().await;

    lab.delete().await;
    lab.settle().await;
    assert!(lab.is_gone().await);
    let left = lab.hands.group(name).await.unwrap();
    assert_eq!(left.rules, set(&[GUEST]));
    let team = BTreeMap::from([("team".to_owned(), "network".to_owned())]);
    assert_eq!(left.tags, team);
}

/// A role gets our policy and loses it again; a profile stays with the role that it has, and no
/// worker role is made.
pub async fn a_role_and_a_profile_that_the_object_names_are_used<C: AwsPlace + Clone + 'static>(
    lab: &mut Lab<C>,
) {
    let (role, profile) = (
        format!("shared-{}", lab.name),
        format!("nodes-{}", lab.name),
    );
    lab.hands.make_role(&role, &[("team", "iam")]).await;
    lab.hands.put_policy(&role, "theirs").await;
    lab.hands.make_profile(&profile, &[]).await;
    lab.hands.put_role(&profile, &role).await;
    let before = lab.hands.role(&role).await.unwrap();
    lab.create(
        json!({"roleARN": role, "instanceProfileName": profile}),
        json!({}),
    )
    .await;
    lab.converge().await;
    let aws = lab.cluster().await.spec.cloud.aws.unwrap();
    assert!(
        aws.role_arn.ends_with(&format!(":role/{role}")),
        "{}",
        aws.role_arn
    );
    let used = lab.hands.role(&role).await.unwrap();
    assert!(used.policies.contains_key("theirs"));
    assert_eq!(used.policies.len(), 2, "ours is there too");
    assert_eq!(
        lab.hands.profile(&profile).await.unwrap().roles,
        set(&[&role])
    );
    assert_eq!(
        lab.hands
            .role(&format!("kubernetes-{}-worker", lab.name))
            .await,
        None
    );

    lab.delete().await;
    lab.settle().await;
    assert!(lab.is_gone().await);
    assert_eq!(lab.hands.role(&role).await.unwrap(), before);
    assert_eq!(
        lab.hands.profile(&profile).await.unwrap().roles,
        set(&[&role])
    );
}

/// Its mark names another claim: nothing on it changes, and the condition says whose it is.
pub async fn a_group_of_another_cluster_is_a_conflict<C: AwsPlace + Clone + 'static>(
    lab: &mut Lab<C>,
) {
    let vpc = lab.hands.default_vpc().await;
    let name = format!("kubernetes-{}", lab.name);
    let theirs = format!("owned-by.kubermatic.k8c.io/{}", lab.name);
    let id = lab.hands.make_group(&name, &vpc, &[(&theirs, "")]).await;
    let before = lab.hands.group(&name).await.unwrap();
    lab.create(json!({}), json!({})).await;
    lab.settle().await;
    lab.assert_condition("Conflict", &[&id]).await;
    assert_eq!(lab.hands.group(&name).await.unwrap(), before);
    lab.assert_silent().await;

    lab.delete().await;
    lab.settle().await;
    assert!(lab.is_gone().await);
    assert_eq!(lab.hands.group(&name).await.unwrap(), before);
}

/// What a person told us to adopt is adopted once, whatever else there is to find: a later namesake is
/// somebody else's, is only used, and stays.
pub async fn what_was_adopted_is_not_adopted_again<C: AwsPlace + Clone + 'static>(
    lab: &mut Lab<C>,
) {
    let vpc = lab.hands.default_vpc().await;
    let name = format!("kubernetes-{}", lab.name);
    let owned = format!("owned-by.kubermatic.k8c.io/{}", lab.name);
    let role = format!("{name}-control-plane");
    lab.hands.make_role(&role, &[(&owned, "")]).await;
    let id = lab.hands.make_group(&name, &vpc, &[]).await;
    let adopt = json!({"annotations": {"freehold.dev/adopt": "security-group, worker-role"}});
    let object = lab.name.clone();
    lab.create_as(&object, json!({}), json!({}), adopt).await;
    lab.settle().await;
    lab.assert_condition("Conflict", &[&role]).await;
    let adopted = lab.hands.group(&name).await.unwrap();
    assert_eq!(adopted.id, id);
    assert!(adopted.tags.contains_key(&owned), "{:?}", adopted.tags);
    let annotations = lab.metadata().await.annotations.unwrap();
    assert_eq!(annotations.get("freehold.dev/adopt"), None);

    lab.hands.delete_group(&id).await;
    let later = lab.hands.make_group(&name, &vpc, &[]).await;
    lab.settle().await;
    let used = lab.hands.group(&name).await.unwrap();
    assert_eq!(used.id, later);
    assert!(!used.tags.contains_key(&owned), "{:?}", used.tags);
    lab.delete().await;
    lab.settle().await;
    assert!(lab.is_gone().await);
    let left = lab.hands.group(&name).await.unwrap();
    assert_eq!((left.id, left.tags), (later, BTreeMap::new()));
}
