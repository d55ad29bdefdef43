//! Clusters that are made.

use cloud_port::aws::AwsPlace;
use cloud_port::aws::instance_profile::INSTANCE_PROFILE;
use cloud_port::aws::role::ROLE;
use serde_json::json;

use super::{plain_rules, set};
use crate::Lab;

/// Everything is made, marked, recorded and told; then there is silence.
pub async fn a_cluster_that_leaves_everything_to_us<C: AwsPlace + Clone + 'static>(
    lab: &mut Lab<C>,
) {
    lab.create(json!({}), json!({})).await;
    lab.converge().await;
    let name = &lab.name;

    let group = lab
        .hands
        .group(&format!("kubernetes-{name}"))
        .await
        .unwrap();
    assert_eq!(group.rules, plain_rules());
    for key in [
        format!("kubernetes.io/cluster/{name}"),
        format!("owned-by.kubermatic.k8c.io/{name}"),
    ] {
        assert_eq!(
            group.tags.get(&key).map(String::as_str),
            Some(""),
            "{:?}",
            group.tags
        );
    }
    for suffix in ["control-plane", "worker"] {
        let role_name = format!("kubernetes-{name}-{suffix}");
        let role = lab.hands.role(&role_name).await.unwrap();
        assert_eq!(role.policies.into_keys().collect::<Vec<_>>(), [role_name]);
    }
    let profile = lab
        .hands
        .profile(&format!("kubernetes-{name}"))
        .await
        .unwrap();
    assert_eq!(profile.roles, set(&[&format!("kubernetes-{name}-worker")]));
    // The group, the main route table and three subnets; the VPC is never tagged.
    let tagged = lab
        .hands
        .tagged(&format!("kubernetes.io/cluster/{name}"))
        .await;
    assert_eq!(tagged.len(), 5, "{tagged:?}");
    assert!(
        !tagged.iter().any(|found| found.starts_with("aws/vpc")),
        "{tagged:?}"
    );

    let cluster = lab.cluster().await;
    let aws = cluster.spec.cloud.aws.unwrap();
    let vpc = lab.hands.default_vpc().await;
    assert_eq!(aws.vpc_id, vpc);
    assert_eq!(aws.route_table_id, lab.hands.main_route_table(&vpc).await);
    assert_eq!(aws.security_group_id, group.id);
    assert!(
        aws.role_arn.starts_with("arn:aws:iam::"),
        "{}",
        aws.role_arn
    );
    assert!(
        aws.role_arn
            .ends_with(&format!(":role/kubernetes-{name}-control-plane"))
    );
    assert_eq!(aws.instance_profile_name, format!("kubernetes-{name}"));
    let status = cluster.status.unwrap();
    assert!(status.last_provider_reconciliation.is_some());
    let finalizers = cluster.metadata.finalizers.unwrap();
    assert!(
        finalizers
            .iter()
            .any(|f| f == "kubermatic.k8c.io/cleanup-aws"),
        "{finalizers:?}"
    );

    let events = lab.events().await;
    let created = events
        .iter()
        .filter(|event| event.starts_with("Created"))
        .count();
    assert_eq!(created, 4, "{events:#?}");
    lab.assert_silent().await;
}

/// Rules follow the IP family and the allowed ranges.
pub async fn every_ip_family<C: AwsPlace + Clone + 'static>(lab: &mut Lab<C>) {
    let ranges =
        json!({"nodePortsAllowedIPRanges": {"cidrBlocks": ["10.1.2.3/8", "2001:db8::1/32"]}});
    let spec = json!({
        "clusterNetwork": {"ipFamily": "IPv4+IPv6"},
        "componentsOverride": {"apiserver": {"nodePortRange": "31000-31999"}},
    });
    lab.create(ranges, spec).await;
    lab.converge().await;
    let both = [
        "ingress all all self",
        "ingress tcp 22-22 0.0.0.0/0",
        "ingress tcp 22-22 ::/0",
        "ingress icmp all 0.0.0.0/0",
        "ingress icmpv6 all ::/0",
        "ingress tcp 31000-31999 10.0.0.0/8",
        "ingress tcp 31000-31999 2001:db8::/32",
        "ingress udp 31000-31999 10.0.0.0/8",
        "ingress udp 31000-31999 2001:db8::/32",
    ];
    let group_name = format!("kubernetes-{}", lab.name);
    assert_eq!(
        lab.hands.group(&group_name).await.unwrap().rules,
        set(&both)
    );

    // What is no longer wanted goes, what is new comes.
    lab.patch(json!({"spec": {
        "componentsOverride": {"apiserver": {"nodePortRange": null}},
        "cloud": {"aws": {"nodePortsAllowedIPRanges": null}},
    }}))
    .await;
    // The original's definition knows no IPv6 alone; its controller does.
    let six = json!({"spec": {"clusterNetwork": {"ipFamily": "IPv6"}}});
    if lab.patch_if_allowed(six).await {
        lab.converge().await;
        let six = [
            "ingress all all self",
            "ingress tcp 22-22 ::/0",
            "ingress icmpv6 all ::/0",
            "ingress tcp 30000-32767 ::/0",
            "ingress udp 30000-32767 ::/0",
        ];
        assert_eq!(lab.hands.group(&group_name).await.unwrap().rules, set(&six));
    }

    lab.patch(json!({"spec": {"clusterNetwork": {"ipFamily": "IPv4"}}}))
        .await;
    lab.converge().await;
    assert_eq!(
        lab.hands.group(&group_name).await.unwrap().rules,
        plain_rules()
    );
}

/// No role and no profile is made or looked at.
pub async fn without_iam<C: AwsPlace + Clone + 'static>(lab: &mut Lab<C>) {
    let (_, roles, profiles) = lab.hands.census().await;
    lab.create(json!({"disableIAMReconciling": true}), json!({}))
        .await;
    lab.converge().await;
    let (_, roles_now, profiles_now) = lab.hands.census().await;
    assert_eq!((roles_now, profiles_now), (roles, profiles));
    let aws = lab.cluster().await.spec.cloud.aws.unwrap();
    assert_eq!(
        (aws.role_arn.as_str(), aws.instance_profile_name.as_str()),
        ("", "")
    );
    lab.assert_silent().await;
    lab.delete().await;
    lab.settle().await;
    assert!(lab.is_gone().await);
    assert_eq!(lab.hands.traces_of(&lab.name).await, set(&[]));
}

/// The group is made in that VPC, and its subnets get the cluster mark; the default VPC nothing.
pub async fn into_a_vpc_that_the_object_names<C: AwsPlace + Clone + 'static>(lab: &mut Lab<C>) {
    let vpc = lab.hands.make_vpc("10.20.0.0/16").await;
    let subnet = lab.hands.make_subnet(&vpc, "10.20.1.0/24").await;
    lab.create(json!({"vpcID": vpc}), json!({})).await;
    lab.converge().await;
    let group = lab
        .hands
        .group(&format!("kubernetes-{}", lab.name))
        .await
        .unwrap();
    let table = lab.hands.main_route_table(&vpc).await;
    let tagged = lab
        .hands
        .tagged(&format!("kubernetes.io/cluster/{}", lab.name))
        .await;
    let expected = [
        format!("aws/security-group {}", group.id),
        format!("aws/route-table {table}"),
        format!("aws/subnet {subnet}"),
    ];
    assert_eq!(tagged, expected.into_iter().collect());
}

/// Deleting a cluster and creating one of the same name gives a second life, not a quarrel.
pub async fn the_same_name_twice_over<C: AwsPlace + Clone + 'static>(lab: &mut Lab<C>) {
    lab.create(json!({}), json!({})).await;
    lab.converge().await;
    let first = lab
        .hands
        .group(&format!("kubernetes-{}", lab.name))
        .await
        .unwrap();
    lab.delete().await;
    lab.settle().await;
    assert!(lab.is_gone().await);
    lab.create(json!({}), json!({})).await;
    lab.converge().await;
    let second = lab
        .hands
        .group(&format!("kubernetes-{}", lab.name))
        .await
        .unwrap();
    assert_ne!(first.id, second.id);
}

/// Names that the object gives to its role and its profile.
fn names<C: AwsPlace + Clone + 'static>(lab: &Lab<C>) -> (String, String) {
    (
        format!("control-{}", lab.name),
        format!("nodes-{}", lab.name),
    )
}

/// A role and a profile that the object names and that do not exist are made under those names, and
/// are ours: they are found again when somebody clears the names, and go at the end.
pub async fn a_role_and_a_profile_that_are_named_and_absent<C: AwsPlace + Clone + 'static>(
    lab: &mut Lab<C>,
) {
    let census = lab.hands.census().await;
    let (role, profile) = names(lab);
    lab.create(
        json!({"roleARN": role, "instanceProfileName": profile}),
        json!({}),
    )
    .await;
    lab.converge().await;
    let ours = format!("kubernetes-{}", lab.name);
    let owned = format!("owned-by.kubermatic.k8c.io/{}", lab.name);
    let made = lab.hands.role(&role).await.unwrap();
    assert!(made.tags.contains_key(&owned), "{:?}", made.tags);
    let policies: Vec<String> = made.policies.into_keys().collect();
    assert_eq!(policies, [format!("{ours}-control-plane")]);
    let made = lab.hands.profile(&profile).await.unwrap();
    assert!(made.tags.contains_key(&owned), "{:?}", made.tags);
    assert_eq!(made.roles, set(&[&format!("{ours}-worker")]));
    let (_, roles, profiles) = lab.hands.census().await;
    assert_eq!((roles - census.1, profiles - census.2), (2, 1));
    assert_named(lab, &role, &profile).await;
    lab.assert_silent().await;

    clear_names(lab).await;
    lab.converge().await;
    assert_named(lab, &role, &profile).await;
    let (_, roles, profiles) = lab.hands.census().await;
    assert_eq!((roles - census.1, profiles - census.2), (2, 1));
    lab.delete().await;
    lab.settle().await;
    assert!(lab.is_gone().await);
    assert_eq!(lab.hands.census().await, census);
    assert_eq!(lab.hands.traces_of(&lab.name).await, set(&[]));
}

/// Somebody clears the names and deletes the cluster at once.
pub async fn what_is_named_ends_although_its_names_were_cleared<C: AwsPlace + Clone + 'static>(
    lab: &mut Lab<C>,
) {
    let census = lab.hands.census().await;
    let (role, profile) = names(lab);
    lab.create(
        json!({"roleARN": role, "instanceProfileName": profile}),
        json!({}),
    )
    .await;
    lab.converge().await;
    clear_names(lab).await;
    lab.restart();
    lab.delete().await;
    lab.settle().await;
    assert!(lab.is_gone().await);
    assert_eq!(lab.hands.census().await, census);
}

/// The operator crashes when the role is made, and somebody clears its name: it is found by the name
/// that was announced, and there is no second one.
pub async fn a_create_under_a_name_that_was_cleared_since<C: AwsPlace + Clone + 'static>(
    lab: &mut Lab<C>,
) {
    let census = lab.hands.census().await;
    let (role, profile) = names(lab);
    lab.create(
        json!({"roleARN": role, "instanceProfileName": profile}),
        json!({}),
    )
    .await;
    lab.crash_in_create(&ROLE).await;
    assert!(lab.hands.role(&role).await.is_some());
    clear_names(lab).await;
    lab.converge().await;
    // The profile was announced together with the role.
    assert_named(lab, &role, &profile).await;
    let (_, roles, profiles) = lab.hands.census().await;
    assert_eq!((roles - census.1, profiles - census.2), (2, 1));
    lab.delete().await;
    lab.settle().await;
    assert!(lab.is_gone().await);
    assert_eq!(lab.hands.census().await, census);
}

/// The same for a profile, whose marks no list shows, and at once the end.
pub async fn a_profile_under_a_name_that_was_cleared_since_ends<C: AwsPlace + Clone + 'static>(
    lab: &mut Lab<C>,
) {
    let census = lab.hands.census().await;
    let (role, profile) = names(lab);
    lab.create(
        json!({"roleARN": role, "instanceProfileName": profile}),
        json!({}),
    )
    .await;
    lab.crash_in_create(&INSTANCE_PROFILE).await;
    assert!(lab.hands.profile(&profile).await.is_some());
    clear_names(lab).await;
    lab.delete().await;
    lab.settle().await;
    assert!(lab.is_gone().await);
    assert_eq!(lab.hands.census().await, census);
    assert_eq!(lab.hands.traces_of(&lab.name).await, set(&[]));
}

async fn clear_names<C: AwsPlace + Clone + 'static>(lab: &Lab<C>) {
    let none = json!({"roleARN": "", "instanceProfileName": ""});
    lab.patch(json!({"spec": {"cloud": {"aws": none}}})).await;
}

async fn assert_named<C: AwsPlace + Clone + 'static>(lab: &Lab<C>, role: &str, profile: &str) {
    let aws = lab.cluster().await.spec.cloud.aws.unwrap();
    let arn = aws.role_arn;
    assert!(arn.ends_with(&format!(":role/{role}")), "{arn}");
    assert_eq!(aws.instance_profile_name, profile);
}
