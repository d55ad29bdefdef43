//! Where clusters meet others: in a network that somebody brought, in each other's, under one name.

use cloud_port::aws::internet_gateway::INTERNET_GATEWAY;
use cloud_port::aws::security_group::SECURITY_GROUP;
use cloud_port::aws::subnet::SUBNET;
use cloud_port::aws::vpc::VPC;
use cloud_sim::{Actor, Harm};
use ownership::Target;
use ownership::mark::Tags;
use ownership::part::{InnerPart, Props};
use serde_json::{Value, json};

use crate::small::{Lab, around, create, end, lab, object, settings};

const SHORT: &str = "kubernetes.io/cluster/prod";
const LONG: &str = "sigs.k8s.io/cluster-api-provider-aws/cluster/prod";

fn tags(pairs: &[(&str, &str)]) -> Tags {
    let pairs = pairs.iter();
    pairs
        .map(|(key, value)| ((*key).into(), (*value).into()))
        .collect()
}

pub(crate) fn props(pairs: &[(&'static str, &str)]) -> Props {
    let pairs = pairs.iter();
    pairs.map(|(key, value)| (*key, (*value).into())).collect()
}

/// Somebody's VPC with an internet gateway and two subnets, and their tags.
struct Network {
    vpc: Target,
    gateway: Target,
    subnets: [Target; 2],
}

fn plant(lab: &Lab, of_network: &Tags, of_gateway: &Tags) -> Network {
    let mut account = lab.account();
    let vpc = account
        .plant(
            Actor::Stranger,
            &VPC,
            "",
            &props(&[("cidr", "10.7.0.0/16")]),
            of_network,
        )
        .unwrap();
    let gateway = account
        .plant(
            Actor::Stranger,
            &INTERNET_GATEWAY,
            "",
            &Props::new(),
            of_gateway,
        )
        .unwrap();
    let part = InnerPart::new(vpc.id.text(), "", Tags::new());
    account
        .add_parts(Actor::Stranger, &gateway, "attachment", &[part])
        .unwrap();
    let mut subnet = |cidr: &str, zone: &str| {
        let props = props(&[("vpc", vpc.id.as_str()), ("cidr", cidr), ("zone", zone)]);
        account
            .plant(Actor::Stranger, &SUBNET, "", &props, of_network)
            .unwrap()
    };
    let subnets = [
        subnet("10.7.0.0/24", "zone-a"),
        subnet("10.7.1.0/24", "zone-b"),
    ];
    Network {
        vpc,
        gateway,
        subnets,
    }
}

fn brought(network: &Network) -> Value {
    let [first, second] = &network.subnets;
    json!({"network": {
        "vpc": {"id": network.vpc.id.as_str()},
        "subnets": [
            {"id": first.id.as_str(), "availabilityZone": "zone-a", "isPublic": true},
            {"id": second.id.as_str(), "availabilityZone": "zone-b"},
        ],
    }})
}

/// What an engine took away from what somebody else had made.
fn stolen(lab: &Lab) -> Vec<String> {
    let account = lab.account();
    let deeds = account.deeds().iter().filter(|deed| {
        matches!(deed.by, Actor::Engine(_))
            && deed.made_by == Actor::Stranger
            && match &deed.harm {
                Harm::TagRemoved { was } => was.by == Actor::Stranger,
                Harm::InnerRemoved { was, .. } => was.by == Actor::Stranger,
                _ => true,
            }
    });
    deeds
        .map(|deed| format!("{} {:?}", deed.victim.id, deed.harm))
        .collect()
}

/// Law 1, law 4: kops, Terraform modules and EKS write `kubernetes.io/cluster/NAME=owned`, too. The
/// original calls only what carries its own long key its own; the rest of a brought network is used.
#[tokio::test]
async fn law_1_a_network_with_only_the_short_mark_is_used() {
    let lab = lab("short").await.unwrap();
    let network = plant(&lab, &tags(&[(SHORT, "owned")]), &Tags::new());
    create(&lab, brought(&network)).await;
    lab.settle().await;
    let marked = lab.marked().await;
    let condition = lab.condition("Ready").await;
    lab.delete().await;
    lab.settle().await;
    let stolen = stolen(&lab);
    assert!(stolen.is_empty(), "law 1: {stolen:#?}");
    assert_eq!(marked.len(), 5, "{condition:?} {marked:#?}");
}

/// Law 1: what a brought VPC has is no business of ours; in life the slot is not wanted
/// (`only_for`), so the end must not adopt what it names either.
#[tokio::test]
async fn law_1_the_end_adopts_nothing_that_life_did_not_want() {
    let lab = lab("adopts").await.unwrap();
    let legacy = tags(&[(SHORT, "owned"), (LONG, "owned")]);
    let network = plant(&lab, &Tags::new(), &legacy);
    let mut spec = brought(&network);
    spec["network"]["vpc"]["internetGatewayId"] = json!(network.gateway.id.as_str());
    create(&lab, spec).await;
    lab.converge().await;
    let marked = lab.marked().await;
    assert_eq!(marked.len(), 5, "{marked:#?}");
    assert!(stolen(&lab).is_empty());
    lab.delete().await;
    lab.settle().await;
    let stolen = stolen(&lab);
    assert!(stolen.is_empty(), "law 1: {stolen:#?}");
}

/// Law 1: another cluster of the name is a guest in our network, and somebody strips our mark off the VPC.
/// The dialect's marks name both clusters: the guest must not take it for its own.
#[tokio::test]
async fn law_1_a_guest_of_the_same_name_takes_nothing_that_lost_its_mark() {
    let lab = lab("host").await.unwrap();
    lab.create_sample().await;
    lab.converge().await;
    let mut said = object(&lab).await;
    let network = said["spec"]["network"].take();
    let subnets: Vec<Value> = network["subnets"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| {
            json!({"id": it["resourceID"], "availabilityZone": it["availabilityZone"],
               "isPublic": it["isPublic"]})
        })
        .collect();
    let vpc = Target::new(
        &VPC,
        ownership::ResourceId::new(network["vpc"]["id"].as_str().unwrap()),
    );
    // All but the mark of Freehold.
    let mark = {
        let account = lab.account();
        let vpc = account.alive(&VPC).find(|it| it.id == vpc.id).unwrap();
        let mark = vpc
            .tags
            .iter()
            .find(|(key, _)| key.starts_with("freehold.dev/"));
        mark.unwrap().clone()
    };
    lab.account()
        .untag(Actor::Stranger, std::slice::from_ref(&vpc), &[mark])
        .unwrap();
    let mut guest = around(lab.client.clone(), "guest", settings(2)).await;
    guest.lead_to(lab.cloud().clone());
    create(
        &guest,
        json!({"network": {"vpc": {"id": vpc.id.as_str()}, "subnets": subnets}}),
    )
    .await;
    guest.settle_as(&guest.name).await;
    guest.delete().await;
    guest.settle_as(&guest.name).await;
    let account = lab.account();
    let harmed: Vec<String> = account
        .deeds()
        .iter()
        .filter(|deed| deed.victim.id == vpc.id && matches!(deed.by, Actor::Engine(_)))
        .map(|deed| format!("{:?}", deed.harm))
        .collect();
    assert!(harmed.is_empty(), "law 1: {harmed:#?}");
    let vpc = account.alive(&VPC).find(|it| it.id == vpc.id).unwrap();
    let marks = vpc
        .tags
        .iter()
        .filter(|(key, _)| key.starts_with("freehold.dev/"));
    assert_eq!(
        marks.count(),
        0,
        "law 1: the guest has marked it: {:?}",
        vpc.tags
    );
}

/// Two clusters of which one names everything that the other has: the host ends first, then the guest.
#[tokio::test]
async fn a_guest_in_the_network_of_another_cluster_leaves_no_trace() {
    let lab = lab("owner").await.unwrap();
    lab.create_sample().await;
    lab.converge().await;
    let before = lab.marked().await;
    let tags_of = |lab: &Lab| -> Vec<String> {
        let account = lab.account();
        let all = account.lives().filter(|life| life.is_alive());
        all.map(|life| format!("{} {:?}", life.target, life.tags))
            .collect()
    };
    let tags_before = tags_of(&lab);
    let mut said = object(&lab).await;
    let network = said["spec"]["network"].take();
    let subnets: Vec<Value> = network["subnets"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| {
            json!({"id": it["resourceID"], "availabilityZone": it["availabilityZone"],
               "isPublic": it["isPublic"], "routeTableId": it["routeTableId"],
               "natGatewayId": it["natGatewayId"]})
        })
        .collect();
    let groups = said["status"]["networkStatus"]["securityGroups"].take();
    let spec = json!({"network": {
        "vpc": {"id": network["vpc"]["id"], "internetGatewayId": network["vpc"]["internetGatewayId"]},
        "subnets": subnets,
        "securityGroupOverrides": {
            "node": groups["node"]["id"], "controlplane": groups["controlplane"]["id"],
            "lb": groups["lb"]["id"], "apiserver-lb": groups["apiserver-lb"]["id"],
        },
    }});
    let mut guest = around(lab.client.clone(), "lodger", settings(2)).await;
    guest.lead_to(lab.cloud().clone());
    create(&guest, spec).await;
    guest.settle_as(&guest.name).await;
    let ready = guest.condition("Ready").await.unwrap();
    assert!(ready.holds, "{ready:?}");
    lab.delete().await;
    lab.settle().await;
    assert!(!lab.is_gone().await, "its guest is in the way");
    guest.delete().await;
    guest.settle_as(&guest.name).await;
    assert!(
        guest.is_gone().await,
        "{:?}",
        guest.condition("Ready").await
    );
    let _ = (before, tags_before);
    for _ in 0..4 {
        lab.wait(laboratory::RESYNC);
        lab.settle().await;
    }
    assert!(lab.is_gone().await, "{:?}", lab.condition("Ready").await);
}

/// The guest ends first: the host is as it was.
#[tokio::test]
async fn a_guest_that_goes_leaves_its_host_as_it_was() {
    let lab = lab("keeper").await.unwrap();
    lab.create_sample().await;
    lab.converge().await;
    let tags_of = |lab: &Lab| -> Vec<String> {
        let account = lab.account();
        let all = account.lives().filter(|life| life.is_alive());
        all.map(|life| format!("{} {:?}", life.target, life.tags))
            .collect()
    };
    let (before, tags_before) = (lab.marked().await, tags_of(&lab));
    let mut said = object(&lab).await;
    let network = said["spec"]["network"].take();
    let subnets: Vec<Value> = network["subnets"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| {
            json!({"id": it["resourceID"], "availabilityZone": it["availabilityZone"],
               "isPublic": it["isPublic"]})
        })
        .collect();
    let groups = said["status"]["networkStatus"]["securityGroups"].take();
    let spec = json!({"network": {
        "vpc": {"id": network["vpc"]["id"]},
        "subnets": subnets,
        "securityGroupOverrides": {
            "node": groups["node"]["id"], "controlplane": groups["controlplane"]["id"],
            "lb": groups["lb"]["id"], "apiserver-lb": groups["apiserver-lb"]["id"],
        },
    }});
    let mut guest = around(lab.client.clone(), "visitor", settings(2)).await;
    guest.lead_to(lab.cloud().clone());
    create(&guest, spec).await;
    guest.settle_as(&guest.name).await;
    guest.delete().await;
    guest.settle_as(&guest.name).await;
    assert!(guest.is_gone().await);
    assert_eq!(lab.marked().await, before);
    assert_eq!(tags_of(&lab), tags_before, "law 7");
    end(&lab).await;
}

/// Law 7: the cluster mark stays on what a live namesake uses, also where the other one stops using it
/// while it lives.
#[tokio::test]
async fn law_7_a_mark_that_a_namesake_needs_stays_when_a_subnet_is_dropped() {
    let lab = lab("first").await.unwrap();
    let network = plant(&lab, &Tags::new(), &Tags::new());
    create(&lab, brought(&network)).await;
    lab.converge().await;
    // The second one brings its groups, for names are unique in a VPC.
    let group = {
        let named = props(&[("vpc", network.vpc.id.as_str()), ("description", "x")]);
        let mut account = lab.account();
        let group = account.plant(
            Actor::Stranger,
            &SECURITY_GROUP,
            "theirs",
            &named,
            &Tags::new(),
        );
        group.unwrap().id.to_string()
    };
    let mut second = around(lab.client.clone(), "second", settings(2)).await;
    second.lead_to(lab.cloud().clone());
    let mut spec = brought(&network);
    spec["network"]["securityGroupOverrides"] =
        json!({"node": group, "controlplane": group, "lb": group, "apiserver-lb": group});
    create(&second, spec).await;
    second.settle_as(&second.name).await;
    let ready = second.condition("Ready").await.unwrap();
    assert!(ready.holds, "{ready:?}");
    let has_mark = |lab: &Lab| {
        let account = lab.account();
        let subnet = account
            .alive(&SUBNET)
            .find(|it| it.id == network.subnets[1].id);
        subnet.unwrap().tags.has(SHORT, "shared")
    };
    assert!(has_mark(&lab));
    let mut less = brought(&network);
    less["network"]["subnets"].as_array_mut().unwrap().pop();
    lab.patch(json!({"spec": less})).await;
    for _ in 0..3 {
        lab.settle().await;
        lab.wait(laboratory::RESYNC);
    }
    let ready = lab.condition("Ready").await.unwrap();
    assert!(ready.holds, "{ready:?}");
    assert!(has_mark(&lab), "law 7: its namesake uses it");
}
