//! What somebody brings is used, and left as it was.

use cloud_port::aws::internet_gateway::INTERNET_GATEWAY;
use cloud_port::aws::subnet::SUBNET;
use cloud_port::aws::vpc::VPC;
use cloud_sim::Actor;
use ownership::Target;
use ownership::mark::Tags;
use ownership::part::Props;
use serde_json::{Value, json};

use crate::lab::{Lab, create, end, lab, object};

/// Somebody's VPC with an internet gateway and two subnets.
struct Network {
    vpc: Target,
    subnets: [Target; 2],
}

fn plant(lab: &Lab) -> Network {
    let mut account = lab.account();
    let tags: Tags = [
        ("Name".into(), "theirs".into()),
        ("kubernetes.io/cluster/prod".into(), "shared".into()),
    ]
    .into_iter()
    .collect();
    let props: Props = [("cidr", "10.7.0.0/16".into())].into_iter().collect();
    let vpc = account
        .plant(Actor::Stranger, &VPC, "", &props, &tags)
        .unwrap();
    let none = Props::new();
    let igw = account.plant(Actor::Stranger, &INTERNET_GATEWAY, "", &none, &Tags::new());
    let part = ownership::part::InnerPart::new(vpc.id.text(), "", Tags::new());
    account
        .add_parts(Actor::Stranger, &igw.unwrap(), "attachment", &[part])
        .unwrap();
    let mut subnet = |cidr: &str, zone: &str, tags: &Tags| {
        let props = [
            ("vpc", vpc.id.text()),
            ("cidr", cidr.into()),
            ("zone", zone.into()),
        ];
        let props: Props = props.into_iter().collect();
        let planted = account.plant(Actor::Stranger, &SUBNET, "", &props, tags);
        planted.unwrap()
    };
    let subnets = [
        subnet("10.7.0.0/24", "zone-a", &tags),
        subnet("10.7.1.0/24", "zone-b", &Tags::new()),
    ];
    Network { vpc, subnets }
}

fn spec(network: &Network) -> Value {
    let [first, second] = &network.subnets;
    json!({"network": {
        "vpc": {"id": network.vpc.id.as_str()},
        "subnets": [
            {"id": first.id.as_str(), "availabilityZone": "zone-a", "isPublic": true},
            {"id": second.id.as_str(), "availabilityZone": "zone-b"},
        ],
    }})
}

/// The tags of everything that somebody made, byte by byte.
fn tags(lab: &Lab) -> Vec<String> {
    let account = lab.account();
    let theirs = account.lives();
    let theirs = theirs.filter(|life| life.is_alive() && life.by == Actor::Stranger);
    let said = theirs.map(|life| format!("{} {:?}", life.target, life.tags));
    said.collect()
}

#[tokio::test]
async fn a_vpc_and_its_subnets_are_used_and_given_back() {
    let lab = lab("brought").await.unwrap();
    let network = plant(&lab);
    let before = tags(&lab);
    create(&lab, spec(&network)).await;
    lab.converge().await;
    // Four groups and a load balancer.
    assert_eq!(lab.marked().await.len(), 5);
    assert_ne!(tags(&lab), before, "subnets carry the cluster mark");
    let said = object(&lab).await;
    assert_eq!(said["status"]["ready"], true);
    let subnet = &said["spec"]["network"]["subnets"][0];
    assert_eq!(subnet["id"], network.subnets[0].id.as_str());
    lab.assert_silent().await;
    end(&lab).await;
    assert_eq!(tags(&lab), before, "law 7");
}

#[tokio::test]
async fn a_vpc_that_was_deleted_by_hand_is_told_and_not_made_again() {
    let lab = lab("deleted").await.unwrap();
    let network = plant(&lab);
    create(&lab, spec(&network)).await;
    let vpcs = lab.account().alive(&VPC).count();
    {
        let mut account = lab.account();
        let gateways: Vec<Target> = account
            .alive(&INTERNET_GATEWAY)
            .map(|it| it.target())
            .collect();
        for gateway in gateways {
            let key = network.vpc.id.text();
            let _ = account.remove_parts(Actor::Stranger, &gateway, "attachment", &[key]);
        }
        for subnet in &network.subnets {
            account.delete(Actor::Stranger, subnet).unwrap();
        }
        account.delete(Actor::Stranger, &network.vpc).unwrap();
    }
    lab.settle().await;
    let ready = lab.condition("Ready").await.unwrap();
    let id = network.vpc.id.as_str();
    assert!(!ready.holds && ready.message.contains(id), "{ready:?}");
    assert!(ready.message.contains("spec.network"), "{ready:?}");
    assert_eq!(lab.account().alive(&VPC).count(), vpcs - 1, "law 6");
    assert!(lab.marked().await.is_empty());
    end(&lab).await;
}

#[tokio::test]
async fn a_vpc_without_its_subnets_is_refused() {
    let lab = lab("alone").await.unwrap();
    let network = plant(&lab);
    create(
        &lab,
        json!({"network": {"vpc": {"id": network.vpc.id.as_str()}}}),
    )
    .await;
    lab.settle().await;
    lab.assert_condition("Invalid", &["spec.network.subnets", "by their ids"])
        .await;
    assert!(lab.marked().await.is_empty());
    end(&lab).await;
}
