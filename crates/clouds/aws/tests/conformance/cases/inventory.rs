//! Surveys: everything of a Kind at once, as reads show it one by one.

use cloud_port::aws::classic_load_balancer::CLASSIC_LOAD_BALANCER;
use cloud_port::aws::elastic_ip::ELASTIC_IP;
use cloud_port::aws::instance_profile::{INSTANCE_PROFILE, PROFILE_ROLE};
use cloud_port::aws::internet_gateway::{ATTACHMENT, INTERNET_GATEWAY};
use cloud_port::aws::nat_gateway::NAT_GATEWAY;
use cloud_port::aws::role::{INLINE_POLICY, ROLE};
use cloud_port::aws::route_table::ROUTE_TABLE;
use cloud_port::aws::security_group::{RULE, SECURITY_GROUP};
use cloud_port::aws::subnet::SUBNET;
use cloud_port::aws::vpc::VPC;
use cloud_port::{Survey, aws};
use ownership::Kind;
use ownership::mark::Tags;
use ownership::part::Resource;

use super::network::default_vpc;
use super::{balancers, machines};
use crate::steps::*;
use crate::transcript::Transcript;

const MARK: (&str, &str) = ("freehold.dev/a", "slot_1_h");
const POLICY: &str =
    r#"{"Statement":[{"Action":"ec2:*","Effect":"Allow","Resource":"*"}],"Version":"2012-10-17"}"#;

pub(crate) async fn a_survey_shows_the_network<C: Survey>(cloud: &mut Transcript<'_, C>) {
    let vpc = default_vpc(cloud).await;
    let table = create(&ROUTE_TABLE, "", &[("vpc", &vpc)], &[MARK]);
    cloud.create(table).await.expect("created");
    cloud.survey(&ROUTE_TABLE).await;
    let own = create(&VPC, "", &[("cidr", "10.7.0.0/16")], &[MARK]);
    let own = cloud.create(own).await.expect("created");
    let with = [
        ("vpc", own.id.as_str()),
        ("cidr", "10.7.16.0/20"),
        ("zone", "eu-central-1b"),
    ];
    let subnet = create(&SUBNET, "", &with, &[MARK, ("owner", "")]);
    cloud.create(subnet).await.expect("created");
    let vpcs = cloud.survey(&VPC).await;
    assert_eq!(vpcs.resources.len(), 2);
    let subnets = cloud.survey(&SUBNET).await;
    assert_eq!(subnets.resources.len(), 4);
    for vpc in [Some(&own), None] {
        let gateway = create(&INTERNET_GATEWAY, "", &[], &[MARK]);
        let gateway = cloud.create(gateway).await.expect("created");
        if let Some(vpc) = vpc {
            let attachment = part(vpc.id.as_str(), "", &[]);
            cloud.act(add(&gateway, ATTACHMENT, &[attachment])).await;
        }
    }
    let gateways = cloud.survey(&INTERNET_GATEWAY).await;
    assert_eq!(gateways.resources.len(), 2);
}

pub(crate) async fn a_survey_shows_groups_with_their_rules<C: Survey>(
    cloud: &mut Transcript<'_, C>,
) {
    let vpc = default_vpc(cloud).await;
    let mut groups = Vec::new();
    for name in ["kubernetes-a", "kubernetes-b", "kubernetes-c"] {
        let with = [("vpc", &*vpc), ("description", "nodes of a cluster")];
        let order = create(&SECURITY_GROUP, name, &with, &[("freehold.dev/a", name)]);
        groups.push(cloud.create(order).await.expect("created"));
    }
    let peer = format!("ingress tcp 443-443 {}", groups[0].id);
    for group in &groups[..2] {
        let plain = ["ingress all all self", "ingress icmp all 0.0.0.0/0"];
        let plain = plain.map(|key| part(key, "", &[]));
        cloud.act(add(group, RULE, &plain)).await;
        let marked = ["ingress tcp 22-22 0.0.0.0/0", "ingress udp 53-53 ::/0"];
        let marked = marked.map(|key| part(key, "", &[MARK]));
        cloud.act(add(group, RULE, &marked)).await;
    }
    let peer = part(&peer, "", &[]);
    cloud.act(add(&groups[1], RULE, &[peer])).await;
    let shown = cloud.survey(&SECURITY_GROUP).await;
    let counts: Vec<_> = shown.inner.iter().map(|told| told.parts.len()).collect();
    let total: usize = counts.iter().sum();
    assert_eq!((shown.resources.len(), total), (3, 9), "{counts:?}");
}

pub(crate) async fn a_survey_shows_roles_and_profiles<C: Survey>(cloud: &mut Transcript<'_, C>) {
    for name in ["bare", "worker"] {
        let role = create(
            &ROLE,
            name,
            &[("trust", TRUST)],
            &[("freehold.dev/a", name)],
        );
        let role = cloud.create(role).await.expect("created");
        let profile = create(&INSTANCE_PROFILE, name, &[], &[("freehold.dev/a", name)]);
        let profile = cloud.create(profile).await.expect("created");
        if name == "worker" {
            for key in ["b", "a"] {
                let policy = part(key, POLICY, &[]);
                cloud.act(add(&role, INLINE_POLICY, &[policy])).await;
            }
            let role = part("worker", "", &[]);
            cloud.act(add(&profile, PROFILE_ROLE, &[role])).await;
        }
    }
    cloud.survey(&ROLE).await;
    let profiles = cloud.survey(&INSTANCE_PROFILE).await;
    let mut tags = profiles.resources.iter().map(|profile| &profile.tags);
    assert!(tags.all(|tags| *tags == Tags::new()));
}

pub(crate) async fn a_survey_shows_what_reads_show<C: Survey>(cloud: &mut Transcript<'_, C>) {
    a_survey_shows_the_network(cloud).await;
    a_survey_shows_groups_with_their_rules(cloud).await;
    a_survey_shows_roles_and_profiles(cloud).await;
    let ground = balancers::ground(cloud).await;
    for name in ["one", "two"] {
        let own = create(&ELASTIC_IP, "", &[], &[MARK]);
        let own = cloud.create(own).await.expect("created");
        let with = [
            ("subnet", ground.subnets[0].as_str()),
            ("allocation", own.id.as_str()),
        ];
        let nat = create(&NAT_GATEWAY, "", &with, &[MARK]);
        cloud.create(nat).await.expect("created");
        for order in [
            balancers::classic_one(&ground, name),
            balancers::target_group(&ground, name),
            balancers::network_one(&ground, name),
            machines::instance(&ground),
        ] {
            let kind = order.kind;
            let made = cloud.create(order).await.expect("created");
            if kind == &CLASSIC_LOAD_BALANCER {
                // A new one has a check that moto does not show.
                let check = props(&[("health-check", balancers::CHECK)]);
                cloud.act(update(kind, &made, check)).await;
            }
        }
    }
    for kind in aws::KINDS {
        let shown = cloud.survey(kind).await;
        assert!(shown.resources.len() > 1, "{}", kind.name);
        for resource in &shown.resources {
            assert_reads_alike(cloud, kind, resource).await;
        }
        for told in &shown.inner {
            let read = cloud.look(inside(&told.of, told.inner)).await;
            assert_eq!(read.inner, std::slice::from_ref(told));
        }
        let listed = kind.inner.iter().filter(|inner| inner.is_listed);
        let parts = shown.resources.len() * listed.count();
        assert_eq!(shown.inner.len(), parts, "{}", kind.name);
    }
}

async fn assert_reads_alike<C: Survey>(
    cloud: &mut Transcript<'_, C>,
    kind: &'static Kind,
    shown: &Resource,
) {
    let read = cloud.look(by_id(&target(kind, shown.id.as_str()))).await;
    let read = (*read.resources[0]).clone();
    // Marks that a listing leaves out; all else is in it, also when the resource was created.
    let tags = if kind.lists_marks {
        read.tags.clone()
    } else {
        Tags::new()
    };
    assert_eq!(*shown, Resource { tags, ..read });
}
