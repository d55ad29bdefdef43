//! Tags as marks.

use cloud_port::Cloud;
use cloud_port::aws::instance_profile::INSTANCE_PROFILE;
use cloud_port::aws::role::ROLE;
use cloud_port::aws::route_table::ROUTE_TABLE;
use cloud_port::aws::subnet::SUBNET;

use super::network::default_vpc;
use crate::steps::*;
use crate::transcript::Transcript;

pub(crate) async fn marks_find_and_go_by_key_and_value<C: Cloud>(cloud: &mut Transcript<'_, C>) {
    let vpc = default_vpc(cloud).await;
    let main = by_props(&ROUTE_TABLE, &[("vpc", &vpc), ("main", "true")]);
    let table = cloud.find(main).await;
    let table = target(&ROUTE_TABLE, table.id.as_str());
    let cluster = "kubernetes.io/cluster/abc";
    cloud
        .act(mark(
            &[&table],
            &[(cluster, ""), ("Team", "a"), ("team", "b")],
        ))
        .await;
    cloud.ask(by_mark(&ROUTE_TABLE, cluster)).await;
    cloud.act(mark(&[&table], &[("team", "c")])).await;
    cloud.ask(by_id(&table)).await;
    cloud
        .act(unmark(&[&table], &[("team", "b"), ("Team", "")]))
        .await;
    cloud.ask(by_id(&table)).await;
    cloud
        .act(unmark(
            &[&table],
            &[(cluster, ""), ("team", "c"), ("none", "")],
        ))
        .await;
    cloud.ask(by_id(&table)).await;
    if let Some(raw) = cloud.raw {
        let left = raw.tags(table.id.as_str()).await;
        assert_eq!(left, ["Team=a".to_owned()].into());
    }
    cloud.ask(by_mark(&ROUTE_TABLE, cluster)).await;
}

pub(crate) async fn one_call_marks_several<C: Cloud>(cloud: &mut Transcript<'_, C>) {
    let vpc = default_vpc(cloud).await;
    let subnets = cloud.ask(by_props(&SUBNET, &[("vpc", &vpc)])).await;
    let subnets = subnets
        .resources
        .iter()
        .map(|s| target(&SUBNET, s.id.as_str()));
    let subnets: Vec<_> = subnets.collect();
    let all: Vec<_> = subnets.iter().collect();
    cloud
        .act(mark(&all, &[("kubernetes.io/cluster/abc", "")]))
        .await;
    cloud
        .ask(by_mark(&SUBNET, "kubernetes.io/cluster/abc"))
        .await;
    if let Some(raw) = cloud.raw {
        assert_eq!(raw.tagged("kubernetes.io/cluster/").await.len(), 3);
    }
    cloud
        .act(unmark(&all, &[("kubernetes.io/cluster/abc", "")]))
        .await;
    cloud.ask(by_props(&SUBNET, &[("vpc", &vpc)])).await;
    if let Some(raw) = cloud.raw {
        assert!(raw.tagged("kubernetes.io/cluster/").await.is_empty());
    }
}

pub(crate) async fn fifty_tags_are_all<C: Cloud>(cloud: &mut Transcript<'_, C>) {
    let keys: Vec<_> = (0..50).map(|n| format!("key-{n}")).collect();
    let fifty: Vec<_> = keys.iter().map(|key| (key.as_str(), "v")).collect();
    let vpc = default_vpc(cloud).await;
    let main = by_props(&ROUTE_TABLE, &[("vpc", &vpc), ("main", "true")]);
    let table = cloud.find(main).await;
    let table = target(&ROUTE_TABLE, table.id.as_str());
    let role = create(&ROLE, "worker", &[("trust", TRUST)], &[]);
    let role = cloud.create(role).await.expect("created");
    for target in [table, role] {
        cloud.act(mark(&[&target], &fifty)).await;
        if *target.kind == ROLE {
            cloud.moto_differs("iam-tag-limit");
        }
        cloud.act(mark(&[&target], &[("one-more", "")])).await;
        cloud.act(mark(&[&target], &[("key-7", "w")])).await;
    }
}

pub(crate) async fn iam_takes_away_only_the_very_pair<C: Cloud>(cloud: &mut Transcript<'_, C>) {
    let role = create(
        &ROLE,
        "worker",
        &[("trust", TRUST)],
        &[("freehold.dev/a", "x")],
    );
    let role = cloud.create(role).await.expect("created");
    let profile = create(&INSTANCE_PROFILE, "worker", &[], &[("freehold.dev/a", "x")]);
    let profile = cloud.create(profile).await.expect("created");
    for target in [&role, &profile] {
        cloud
            .act(mark(&[target], &[("team", "a"), ("freehold.dev/b", "")]))
            .await;
        cloud
            .act(unmark(&[target], &[("team", "b"), ("freehold.dev/a", "")]))
            .await;
        cloud.act(unmark(&[target], &[("TEAM", "a")])).await;
        cloud.ask(by_id(target)).await;
        cloud
            .act(unmark(&[target], &[("freehold.dev/a", "x"), ("none", "")]))
            .await;
        cloud
            .act(unmark(&[target], &[("freehold.dev/b", "")]))
            .await;
        cloud.ask(by_id(target)).await;
    }
    if let Some(raw) = cloud.raw {
        assert_eq!(raw.role_tags("worker").await, ["team=a".to_owned()].into());
    }
    cloud.act(mark(&[&role], &[("Team", "b")])).await;
    cloud.moto_differs("iam-tag-case");
    cloud.ask(by_id(&role)).await;
}
