//! Records and marks that version 0.1.0 wrote before marks had generations and records unique ids:
//! they are read, used and kept. The files are what that version left, with its ids replaced.

use std::collections::BTreeMap;

use cloud_port::aws::AwsPlace;
use cloud_port::aws::route_table::ROUTE_TABLE;
use cloud_port::aws::security_group::SECURITY_GROUP;
use cloud_port::aws::subnet::SUBNET;
use serde::Deserialize;
use serde_json::{Value, json};

use super::{plain_rules, set};
use crate::Lab;

type Tags = BTreeMap<String, String>;

/// What an older version left of a cluster.
#[derive(Deserialize)]
struct Left {
    annotations: Tags,
    finalizers: Vec<String>,
    /// `spec.cloud.aws`.
    aws: Value,
    /// The tags of resources, by Kind and id.
    tags: BTreeMap<String, Tags>,
    /// The rules of the group, with their tags.
    rules: BTreeMap<String, Tags>,
}

/// A cluster whose creates were all seen.
pub async fn a_cluster_at_rest<C: AwsPlace + Clone + 'static>(lab: &mut Lab<C>) {
    lives_and_ends(lab, include_str!("older/a_cluster_at_rest.json"), "").await;
}

/// A cluster whose intents are open.
pub async fn a_cluster_that_settles<C: AwsPlace + Clone + 'static>(lab: &mut Lab<C>) {
    lives_and_ends(lab, include_str!("older/a_cluster_that_settles.json"), "").await;
}

/// A cluster with marked rules in somebody's group.
pub async fn a_cluster_that_uses_a_group<C: AwsPlace + Clone + 'static>(lab: &mut Lab<C>) {
    let left = include_str!("older/a_cluster_that_uses_a_group.json");
    lives_and_ends(lab, left, "somebodys").await;
}

/// The cloud and the object as they were left; the new version works with them, and ends them.
async fn lives_and_ends<C: AwsPlace + Clone + 'static>(lab: &mut Lab<C>, left: &str, used: &str) {
    let before = lab.hands.census().await;
    let name = format!("kubernetes-{}", lab.name);
    let vpc = lab.hands.make_vpc("10.9.0.0/16").await;
    let subnet = lab.hands.make_subnet(&vpc, "10.9.1.0/24").await;
    let table = lab.hands.main_route_table(&vpc).await;
    let group_name = if used.is_empty() { &name } else { used };
    let group = lab.hands.make_group(group_name, &vpc, &[]).await;
    let (account, region) = lab.place();
    let with_ids = left
        .replace("{account}", account)
        .replace("{region}", region)
        .replace("{vpc}", &vpc)
        .replace("{subnet}", &subnet)
        .replace("{route-table}", &table)
        .replace("{group}", &group);
    let left: Left = serde_json::from_str(&with_ids).unwrap();
    plant(lab, &left, &name, [&group, &subnet, &table]).await;
    let all = lab.hands.census().await;

    lab.create(left.aws.clone(), json!({})).await;
    let mut annotations = left.annotations.clone();
    let uid = lab.metadata().await.uid.unwrap();
    annotations.insert("freehold.dev/claim-pinned-for".to_owned(), uid);
    let metadata = json!({"annotations": annotations, "finalizers": left.finalizers});
    lab.patch(json!({"metadata": metadata})).await;
    lab.converge().await;

    assert_eq!(lab.hands.census().await, all, "nothing is made again");
    let kept = lab.hands.group(group_name).await.unwrap();
    assert_eq!((&kept.id, &kept.rules), (&group, &plain_rules()));
    assert_eq!(
        Some(&kept.tags),
        left.tags.get(&format!("aws/security-group {group}"))
    );
    for role in ["worker", "control-plane"].map(|role| format!("{name}-{role}")) {
        let kept = lab.hands.role(&role).await.unwrap();
        assert_eq!(
            Some(&kept.tags),
            left.tags.get(&format!("aws/iam-role {role}"))
        );
    }
    lab.assert_silent().await;

    lab.delete().await;
    lab.settle().await;
    assert!(lab.is_gone().await);
    assert_eq!(lab.hands.traces_of(&lab.name).await, set(&[]));
    let (groups, roles, profiles) = before;
    let groups = lab.hands.census().await.0 - groups;
    // The VPC has its default group.
    assert_eq!(groups, 1 + usize::from(!used.is_empty()));
    assert_eq!(lab.hands.census().await.1, roles);
    assert_eq!(lab.hands.census().await.2, profiles);
    if !used.is_empty() {
        assert_eq!(lab.hands.group(used).await.unwrap().rules, set(&[]));
    }
}

/// What the older version had made, with its marks.
async fn plant<C: AwsPlace + Clone + 'static>(
    lab: &Lab<C>,
    left: &Left,
    name: &str,
    [group, subnet, table]: [&str; 3],
) {
    let tags_of = |kind: &str, id: &str| -> Vec<(&str, &str)> {
        let tags = left.tags.get(&format!("{kind} {id}")).unwrap();
        let pair = |(key, value)| (String::as_str(key), String::as_str(value));
        tags.iter().map(pair).collect()
    };
    for role in ["worker", "control-plane"].map(|role| format!("{name}-{role}")) {
        let tags = tags_of("aws/iam-role", &role);
        lab.hands.make_role(&role, &tags).await;
    }
    let tags = tags_of("aws/instance-profile", name);
    lab.hands.make_profile(name, &tags).await;
    lab.hands.put_role(name, &format!("{name}-worker")).await;
    for (kind, id) in [
        (&SECURITY_GROUP, group),
        (&SUBNET, subnet),
        (&ROUTE_TABLE, table),
    ] {
        lab.hands.tag(kind, id, &tags_of(kind.name, id)).await;
    }
    for (rule, tags) in &left.rules {
        lab.hands.add_marked_rule(group, rule, tags).await;
    }
}
