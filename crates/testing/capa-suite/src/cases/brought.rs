//! What somebody brings is used, and left as it was.

use cloud_port::aws::AwsPlace;
use cloud_port::aws::internet_gateway::{ATTACHMENT, INTERNET_GATEWAY};
use cloud_port::aws::subnet::SUBNET;
use cloud_port::aws::vpc::VPC;
use serde_json::{Value, json};

use crate::lab::Lab;

/// A mark of somebody else's on what is brought: the very one that we would write for our cluster.
const SHARED: (&str, &str) = ("kubernetes.io/cluster/prod", "shared");

/// Somebody's VPC with an internet gateway and two subnets.
pub(super) struct Network {
    pub(super) vpc: String,
    gateway: String,
    subnets: [String; 2],
    zones: [String; 2],
}

impl Network {
    /// What an object says that uses it.
    pub(super) fn spec(&self) -> Value {
        let [first, second] = &self.subnets;
        let [here, there] = &self.zones;
        json!({
            "vpc": {"id": self.vpc},
            "subnets": [
                {"id": first, "availabilityZone": here, "isPublic": true},
                {"id": second, "availabilityZone": there},
            ],
        })
    }
}

/// Somebody makes such a network.
pub(super) async fn plant<C: AwsPlace + Clone + 'static>(lab: &Lab<C>) -> Network {
    let hands = &lab.hands;
    let tags = [("Name", "theirs"), SHARED];
    let vpc = hands.make(&VPC, "", &[("cidr", "10.7.0.0/16")], &tags);
    let vpc = vpc.await;
    let gateway = hands.make(&INTERNET_GATEWAY, "", &[], &[]).await;
    let attached = hands.add(&INTERNET_GATEWAY, &gateway, ATTACHMENT, &vpc, "");
    attached.await;
    let zones = lab.zones().await;
    let zones = [zones[0].clone(), zones[1].clone()];
    let subnet = async |cidr, zone: &str, tags: &[_]| {
        let props = [("vpc", vpc.as_str()), ("cidr", cidr), ("zone", zone)];
        hands.make(&SUBNET, "", &props, tags).await
    };
    let subnets = [
        subnet("10.7.0.0/24", &zones[0], &tags).await,
        subnet("10.7.1.0/24", &zones[1], &[]).await,
    ];
    Network {
        vpc,
        gateway,
        subnets,
        zones,
    }
}

/// Their tags are compared byte by byte, and so is everything else in the account: a cluster mark that was
/// there before is there again, as it was.
pub async fn a_vpc_and_its_subnets_are_used_and_given_back<C: AwsPlace + Clone + 'static>(
    lab: &mut Lab<C>,
) {
    let network = plant(lab).await;
    let before = lab.everything().await;
    lab.create(json!({"network": network.spec()})).await;
    lab.converge().await;
    // Four groups and a load balancer.
    assert_eq!(lab.marked().await.len(), 5);
    let during = lab.everything().await;
    let changed = before.iter().filter(|(id, said)| during[*id] != **said);
    let changed: Vec<&String> = changed.map(|(id, _)| id).collect();
    let subnet = |id: &String| format!("{SUBNET} {id}", SUBNET = SUBNET.name);
    let mut subnets = network.subnets.each_ref().map(subnet);
    subnets.sort();
    assert_eq!(changed, subnets.iter().collect::<Vec<_>>(), "marks only");
    let said = lab.said().await;
    assert_eq!(said["status"]["ready"], true);
    let subnet = &said["spec"]["network"]["subnets"][0];
    assert_eq!(subnet["id"], network.subnets[0]);
    lab.assert_silent().await;
    lab.end().await;
    lab.assert_same(&before, "law 7").await;
}

/// Nobody's wish is a new VPC in place of the one that he named.
pub async fn a_vpc_that_was_deleted_by_hand_is_told_and_not_made_again<
    C: AwsPlace + Clone + 'static,
>(
    lab: &mut Lab<C>,
) {
    let empty = lab.census().await;
    let network = plant(lab).await;
    lab.create(json!({"network": network.spec()})).await;
    delete(lab, &network).await;
    lab.settle().await;
    assert_told(lab, &network).await;
    assert_eq!(lab.census().await, empty, "law 6");
    lab.end().await;
}

/// The same after the cluster was ready: what is ours in it had to go by hand, too.
pub async fn a_vpc_that_is_deleted_under_a_cluster_is_not_made_again<
    C: AwsPlace + Clone + 'static,
>(
    lab: &mut Lab<C>,
) {
    let empty = lab.census().await;
    let network = plant(lab).await;
    lab.create(json!({"network": network.spec()})).await;
    lab.converge().await;
    delete_ours(lab).await;
    delete(lab, &network).await;
    lab.restart();
    lab.settle().await;
    assert_told(lab, &network).await;
    assert_eq!(lab.census().await, empty, "law 6");
    lab.end().await;
}

async fn assert_told<C: AwsPlace + Clone + 'static>(lab: &Lab<C>, network: &Network) {
    let ready = lab.condition("Ready").await.unwrap();
    let id = network.vpc.as_str();
    assert!(!ready.holds && ready.message.contains(id), "{ready:?}");
    assert!(ready.message.contains("spec.network"), "{ready:?}");
    assert_eq!(
        lab.network().await["vpc"]["id"],
        id,
        "it is theirs to change"
    );
}

/// Somebody deletes the network.
async fn delete<C: AwsPlace + Clone + 'static>(lab: &Lab<C>, network: &Network) {
    let (hands, gateway) = (&lab.hands, &network.gateway);
    let detached = hands.remove(&INTERNET_GATEWAY, gateway, ATTACHMENT, &network.vpc);
    detached.await;
    hands.delete(&INTERNET_GATEWAY, gateway).await;
    for subnet in &network.subnets {
        hands.delete(&SUBNET, subnet).await;
    }
    hands.delete(&VPC, &network.vpc).await;
}

/// Somebody deletes what the cluster has in the network: its load balancer and its groups.
async fn delete_ours<C: AwsPlace + Clone + 'static>(lab: &Lab<C>) {
    use cloud_port::aws::classic_load_balancer::CLASSIC_LOAD_BALANCER;
    use cloud_port::aws::security_group::{RULE, SECURITY_GROUP};
    let hands = &lab.hands;
    for balancer in hands.all(&CLASSIC_LOAD_BALANCER).await {
        let id = balancer.id.to_string();
        hands.delete(&CLASSIC_LOAD_BALANCER, &id).await;
    }
    let groups = hands.all(&SECURITY_GROUP).await;
    let ours = groups.iter().filter(|it| it.name.starts_with("prod-"));
    let ids: Vec<String> = ours.map(|it| it.id.to_string()).collect();
    // They let each other in.
    for id in &ids {
        for rule in hands.inside(&SECURITY_GROUP, id, RULE).await.into_keys() {
            hands.remove(&SECURITY_GROUP, id, RULE, &rule).await;
        }
    }
    for id in &ids {
        hands.delete(&SECURITY_GROUP, id).await;
    }
}

/// A VPC is brought with its subnets.
pub async fn a_vpc_without_its_subnets_is_refused<C: AwsPlace + Clone + 'static>(lab: &mut Lab<C>) {
    let network = plant(lab).await;
    lab.create(json!({"network": {"vpc": {"id": network.vpc}}}))
        .await;
    lab.settle().await;
    lab.assert_condition("Invalid", &["spec.network.subnets", "by their ids"])
        .await;
    assert!(lab.marked().await.is_empty());
    lab.end().await;
}
