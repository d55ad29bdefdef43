//! What controllers inside a cluster left behind in its network, when the cluster ends.

use api::names::LEFT_BEHIND;
use cloud_port::aws::classic_load_balancer::CLASSIC_LOAD_BALANCER;
use cloud_port::aws::load_balancer::{GROUPS, SUBNETS};
use cloud_port::aws::network_load_balancer::{LISTENER, NETWORK_LOAD_BALANCER};
use cloud_port::aws::security_group::{RULE, SECURITY_GROUP};
use cloud_port::aws::subnet::SUBNET;
use cloud_port::aws::target_group::TARGET_GROUP;
use cloud_port::aws::vpc::VPC;
use cloud_sim::Actor;
use ownership::mark::Tags;
use ownership::part::{InnerPart, Props};
use ownership::{Kind, ResourceId, Target, Text};
use serde_json::json;

use crate::lab::{Lab, TWO_ZONES, around, create, end, lab, object, settings};

const EXTERNAL_GC: &str = "aws.cluster.x-k8s.io/external-resource-gc";

/// What the cloud controller writes on what it makes for the cluster `prod`.
fn owned() -> Tags {
    tag("prod", "owned")
}

fn tag(cluster: &str, value: &str) -> Tags {
    let key = format!("kubernetes.io/cluster/{cluster}");
    [(key.into(), value.into())].into_iter().collect()
}

fn plant(
    lab: &Lab,
    kind: &'static Kind,
    name: &str,
    props: &[(&'static str, &str)],
    tags: &Tags,
) -> Target {
    let props = props.iter().map(|(key, value)| (*key, Text::from(*value)));
    let props: Props = props.collect();
    let mut account = lab.account();
    let planted = account.plant(Actor::Stranger, kind, name, &props, tags);
    planted.unwrap()
}

fn group(lab: &Lab, vpc: &str, name: &str, tags: &Tags) -> Target {
    let props = [("vpc", vpc), ("description", "for a service")];
    plant(lab, &SECURITY_GROUP, name, &props, tags)
}

fn admit(lab: &Lab, to: &Target, from: &Target) {
    let rule = format!("ingress tcp 80-80 {}", from.id);
    let rule = InnerPart::new(rule, "", Tags::new());
    let mut account = lab.account();
    account
        .add_parts(Actor::Stranger, to, RULE, &[rule])
        .unwrap();
}

/// The VPC that the object records, and a subnet of it.
async fn network(lab: &Lab) -> (String, String) {
    let network = object(lab).await["spec"]["network"].take();
    let vpc = network["vpc"]["id"].as_str().unwrap().to_owned();
    let subnet = network["subnets"][0]["resourceID"].as_str().unwrap();
    (vpc, subnet.to_owned())
}

/// Load balancers, what one forwards to, and their groups, which admit each other; and a rule in the
/// cluster's own group for its nodes that admits one.
async fn leave(lab: &Lab, name: &str) -> Vec<Target> {
    let (vpc, subnet) = network(lab).await;
    leave_in(lab, name, &vpc, &subnet)
}

fn leave_in(lab: &Lab, name: &str, vpc: &str, subnet: &str) -> Vec<Target> {
    let one = group(lab, vpc, &format!("k8s-elb-{name}"), &owned());
    let two = group(lab, vpc, &format!("k8s-nlb-{name}"), &owned());
    admit(lab, &one, &two);
    admit(lab, &two, &one);
    let nodes = {
        let account = lab.account();
        let mut groups = account.alive(&SECURITY_GROUP);
        let its = groups.find(|group| {
            &*group.name == "prod-node" && group.props.get("vpc") == Some(&Text::from(vpc))
        });
        its.map(|group| group.target())
    };
    if let Some(nodes) = nodes {
        admit(lab, &nodes, &one);
    }
    let classic = [
        (SUBNETS, subnet),
        (GROUPS, one.id.as_str()),
        ("listeners", "tcp 80 tcp 30080"),
    ];
    let name = |what: &str| format!("{what}-{name}");
    let classic = plant(
        lab,
        &CLASSIC_LOAD_BALANCER,
        &name("a1b2"),
        &classic,
        &owned(),
    );
    let targets = [
        ("vpc", vpc),
        ("protocol", "tcp"),
        ("port", "30080"),
        ("targets", "instance"),
        (
            "health-check",
            "tcp 30080 every 10 timeout 5 healthy 5 unhealthy 3",
        ),
    ];
    let targets = plant(lab, &TARGET_GROUP, &name("c3d4"), &targets, &owned());
    let network = [(SUBNETS, subnet), (GROUPS, two.id.as_str())];
    let network = plant(
        lab,
        &NETWORK_LOAD_BALANCER,
        &name("c3d4"),
        &network,
        &owned(),
    );
    let listener = InnerPart::new("tcp 80", targets.id.text(), Tags::new());
    lab.account()
        .add_parts(Actor::Stranger, &network, LISTENER, &[listener])
        .unwrap();
    vec![classic, network, targets, one, two]
}

fn alive(lab: &Lab, all: &[Target]) -> usize {
    let account = lab.account();
    let alive = all
        .iter()
        .filter(|target| account.resource(target).is_some());
    alive.count()
}

async fn annotate(lab: &Lab, key: &str, value: &str) {
    lab.patch(json!({"metadata": {"annotations": {key: value}}}))
        .await;
}

#[tokio::test]
async fn what_was_left_behind_is_named_and_stays_until_a_person_asks() {
    let lab = lab("left").await.unwrap();
    lab.create_sample().await;
    lab.converge().await;
    let left = leave(&lab, "left").await;
    let (vpc, _) = network(&lab).await;
    lab.delete().await;
    lab.settle().await;
    let mut words: Vec<&str> = left.iter().map(|target| target.id.as_str()).collect();
    words.extend([&*vpc, "left behind", "freehold.dev/left-behind to delete"]);
    lab.assert_condition("Blocked", &words).await;
    assert_eq!(alive(&lab, &left), left.len(), "law 1");
    // What it does not mean is no word.
    annotate(&lab, EXTERNAL_GC, "false").await;
    lab.settle().await;
    assert_eq!(alive(&lab, &left), left.len(), "law 1");
    annotate(&lab, LEFT_BEHIND, "delete").await;
    lab.settle().await;
    assert!(lab.is_gone().await, "{:?}", lab.condition("Ready").await);
    assert_eq!(alive(&lab, &left), 0);
    assert!(lab.marked().await.is_empty());
}

#[tokio::test]
async fn the_originals_own_switch_says_so_too() {
    let lab = lab("gc").await.unwrap();
    create(
        &lab,
        json!({"controlPlaneLoadBalancer": {"loadBalancerType": "nlb"}}),
    )
    .await;
    lab.converge().await;
    let left = leave(&lab, "gc").await;
    annotate(&lab, EXTERNAL_GC, "true").await;
    lab.settle().await;
    assert_eq!(
        alive(&lab, &left),
        left.len(),
        "not while the cluster lives"
    );
    end(&lab).await;
    assert_eq!(alive(&lab, &left), 0);
}

/// `keep` is the last word, whatever the original's switch says.
#[tokio::test]
async fn who_says_keep_keeps_it() {
    let lab = lab("keep").await.unwrap();
    lab.create_sample().await;
    lab.converge().await;
    let left = leave(&lab, "keep").await;
    annotate(&lab, EXTERNAL_GC, "true").await;
    annotate(&lab, LEFT_BEHIND, "keep").await;
    lab.delete().await;
    lab.settle().await;
    lab.assert_condition("Blocked", &["left behind"]).await;
    assert_eq!(alive(&lab, &left), left.len(), "law 1");
}

/// What lies in our VPC and is not what controllers of this cluster made is named, and stays.
#[tokio::test]
async fn what_is_somebody_elses_in_our_network_blocks_and_stays() {
    let lab = lab("others").await.unwrap();
    lab.create_sample().await;
    lab.converge().await;
    let left = leave(&lab, "others").await;
    let (vpc, _) = network(&lab).await;
    let mut both: Vec<(Text, Text)> = owned().iter().cloned().collect();
    both.extend(tag("other", "owned").iter().cloned());
    let theirs = [
        ("bare", Tags::new()),
        ("used", tag("prod", "shared")),
        ("of-other", tag("other", "owned")),
        ("of-both", both.into_iter().collect()),
    ];
    let theirs = theirs.map(|(name, tags)| group(&lab, &vpc, name, &tags));
    annotate(&lab, LEFT_BEHIND, "delete").await;
    lab.delete().await;
    lab.settle().await;
    assert_eq!(alive(&lab, &left), 0, "what was left behind goes");
    assert_eq!(alive(&lab, &theirs), theirs.len(), "law 1");
    let words = theirs.each_ref().map(|target| target.id.as_str());
    lab.assert_condition("Blocked", &words).await;
    for target in &theirs {
        lab.account().delete(Actor::Stranger, target).unwrap();
    }
    lab.wait(laboratory::RESYNC);
    lab.settle().await;
    assert!(lab.is_gone().await, "{:?}", lab.condition("Ready").await);
}

/// In a VPC that is only used nothing is anybody's by that.
#[tokio::test]
async fn in_a_vpc_that_is_brought_nothing_goes() {
    let lab = lab("shared").await.unwrap();
    let vpc = plant(&lab, &VPC, "", &[("cidr", "10.7.0.0/16")], &Tags::new());
    let vpc = vpc.id.as_str();
    let subnet = |zone, cidr| {
        let props = [("vpc", vpc), ("cidr", cidr), ("zone", zone)];
        plant(&lab, &SUBNET, "", &props, &Tags::new())
    };
    let subnets = [
        subnet("zone-a", "10.7.0.0/24"),
        subnet("zone-b", "10.7.1.0/24"),
    ];
    let [first, second] = subnets.each_ref().map(|subnet| subnet.id.as_str());
    let spec = json!({"network": {
        "vpc": {"id": vpc},
        "subnets": [
            {"id": first, "availabilityZone": "zone-a", "isPublic": true},
            {"id": second, "availabilityZone": "zone-b"},
        ],
    }});
    create(&lab, spec).await;
    lab.converge().await;
    let (one, two) = (
        group(&lab, vpc, "k8s-one", &owned()),
        group(&lab, vpc, "k8s-two", &owned()),
    );
    admit(&lab, &one, &two);
    annotate(&lab, LEFT_BEHIND, "delete").await;
    end(&lab).await;
    assert_eq!(alive(&lab, &[one, two]), 2, "law 1");
}

/// Of two clusters of one name in two namespaces each ends only what lies in its own VPC.
#[tokio::test]
async fn a_namesakes_network_keeps_what_is_in_it() {
    let lab = lab("east").await.unwrap();
    lab.create_sample().await;
    lab.converge().await;
    let mut other = around(lab.client.clone(), "west", settings(2)).await;
    other.lead_to(lab.cloud().clone());
    other.create_sample().await;
    other.settle_as(&other.name).await;
    assert!(other.condition("Ready").await.unwrap().holds);
    let left = leave(&lab, "east").await;
    let (vpc, subnet) = network(&other).await;
    let theirs = leave_in(&lab, "west", &vpc, &subnet);
    annotate(&lab, LEFT_BEHIND, "delete").await;
    lab.delete().await;
    lab.settle().await;
    assert!(lab.is_gone().await, "{:?}", lab.condition("Ready").await);
    assert_eq!(alive(&lab, &left), 0);
    assert_eq!(alive(&lab, &theirs), theirs.len(), "law 1");
    assert_eq!(other.marked().await.len(), TWO_ZONES);
}

/// A cluster of the same name that was put into our network keeps what its controllers made there.
#[tokio::test]
async fn a_namesake_in_our_network_keeps_everything_in_it() {
    let lab = lab("host").await.unwrap();
    lab.create_sample().await;
    lab.converge().await;
    let (vpc, subnet) = network(&lab).await;
    let mut other = around(lab.client.clone(), "guest", settings(2)).await;
    other.lead_to(lab.cloud().clone());
    create(
        &other,
        json!({"network": {"vpc": {"id": &*vpc}, "subnets": [
            {"id": &*subnet, "availabilityZone": "zone-a", "isPublic": true},
        ]}}),
    )
    .await;
    other.settle_as(&other.name).await;
    let made = ResourceId::new(Text::from(&*vpc));
    let made = Target::new(&VPC, made);
    assert!(lab.account().resource(&made).is_some());
    let left = leave(&lab, "host").await;
    annotate(&lab, LEFT_BEHIND, "delete").await;
    lab.delete().await;
    lab.settle().await;
    assert!(!lab.is_gone().await);
    assert_eq!(alive(&lab, &left), left.len(), "law 1");
    lab.assert_condition("Blocked", &["another cluster of the same name uses"])
        .await;
}
