//! Whole clusters, from nothing to ready to gone; zones that come and go; what is forgotten.

use api::names::{CLAIM_UUID, LEDGER};
use cloud_port::aws::AwsPlace;
use cloud_port::aws::load_balancer::SUBNET;
use cloud_port::aws::network_load_balancer::NETWORK_LOAD_BALANCER;
use serde_json::{Value, json};

use super::subnets;
use crate::lab::{Lab, TWO_ZONES, network};

/// What a VPC comes with: its main route table and its default group.
const BESIDE_A_VPC: usize = 2;

/// The whole life of a cluster in the first so many zones, with a load balancer of this type.
async fn live<C: AwsPlace + Clone + 'static>(lab: &Lab<C>, zones: usize, balancer: &str) {
    let before = lab.everything().await;
    let spec = json!({
        "network": {"vpc": {"availabilityZoneUsageLimit": zones}},
        "controlPlaneLoadBalancer": {"loadBalancerType": balancer},
    });
    lab.create(spec).await;
    lab.converge().await;
    // A network load balancer has its targets beside it.
    let balancers = if balancer == "nlb" { 2 } else { 1 };
    let made = network(zones) + balancers;
    assert_eq!(lab.marked().await.len(), made);
    let census = lab.census().await.len();
    assert_eq!(census, before.len() + made + BESIDE_A_VPC, "nothing twice");
    let all = lab.zones().await;
    assert_said(&lab.said().await, &all[..zones], balancer);
    lab.assert_silent().await;
    lab.end().await;
    lab.assert_same(&before, "laws 3 and 7").await;
}

/// What the object says of a cluster that is ready.
fn assert_said(object: &Value, zones: &[String], balancer: &str) {
    let (spec, status) = (&object["spec"], &object["status"]);
    let named = zones.iter().flat_map(|zone| {
        ["public", "private"].map(|publicity| format!("prod-subnet-{publicity}-{zone}"))
    });
    let named: Vec<String> = named.collect();
    assert_eq!(subnets(&spec["network"]), named);
    for subnet in spec["network"]["subnets"].as_array().unwrap() {
        for field in [
            "resourceID",
            "routeTableId",
            "cidrBlock",
            "availabilityZone",
        ] {
            assert!(subnet[field].is_string(), "{field} of {subnet}");
        }
        assert_eq!(
            subnet["natGatewayId"].is_string(),
            subnet["isPublic"] == true
        );
    }
    assert!(spec["network"]["vpc"]["id"].is_string());
    assert!(spec["network"]["vpc"]["internetGatewayId"].is_string());
    assert_eq!(spec["controlPlaneEndpoint"]["port"], 6443);
    let host = &spec["controlPlaneEndpoint"]["host"];
    assert!(!host.as_str().unwrap().is_empty(), "{spec}");
    assert_eq!(status["ready"], true);
    let domain = |zone: &String| (zone.clone(), json!({"controlPlane": true}));
    let domains: Value = zones.iter().map(domain).collect();
    assert_eq!(status["failureDomains"], domains);
    let network = &status["networkStatus"];
    assert_eq!(network["apiServerElb"]["dnsName"], *host);
    assert_eq!(network["apiServerElb"]["loadBalancerType"], balancer);
    let addresses = network["natGatewaysIPs"].as_array().unwrap();
    assert_eq!(addresses.len(), zones.len());
    assert_eq!(network["securityGroups"]["node"]["name"], "prod-node");
}

/// Two zones, and the load balancer that the API has by default.
pub async fn two_zones_from_nothing_to_ready_to_gone<C: AwsPlace + Clone + 'static>(
    lab: &mut Lab<C>,
) {
    live(lab, 2, "classic").await;
}

/// The same behind the other sort of load balancer.
pub async fn two_zones_behind_a_network_load_balancer<C: AwsPlace + Clone + 'static>(
    lab: &mut Lab<C>,
) {
    live(lab, 2, "nlb").await;
}

/// Three zones.
pub async fn three_zones_from_nothing_to_ready_to_gone<C: AwsPlace + Clone + 'static>(
    lab: &mut Lab<C>,
) {
    live(lab, 3, "classic").await;
}

/// The same behind the other sort of load balancer.
pub async fn three_zones_behind_a_network_load_balancer<C: AwsPlace + Clone + 'static>(
    lab: &mut Lab<C>,
) {
    live(lab, 3, "nlb").await;
}

/// Who takes a zone's subnets out of the list ends what is in it; who puts them back has it made again.
pub async fn a_zone_less_and_a_zone_more<C: AwsPlace + Clone + 'static>(lab: &mut Lab<C>) {
    lab.create_sample().await;
    lab.converge().await;
    let all = lab.network().await["subnets"].take();
    let fewer: Vec<Value> = all.as_array().unwrap()[..2].to_vec();
    lab.edit(json!({"network": {"subnets": fewer}})).await;
    lab.converge().await;
    // Two subnets with their tables, a NAT gateway and its address have gone.
    assert_eq!(lab.marked().await.len(), TWO_ZONES - 6);
    let first = lab.zones().await.swap_remove(0);
    let domains = lab.said().await["status"]["failureDomains"].take();
    assert_eq!(domains, json!({first: {"controlPlane": true}}));
    let again = all.as_array().unwrap()[2..].iter().map(|subnet| {
        json!({
            "id": subnet["id"], "cidrBlock": subnet["cidrBlock"],
            "availabilityZone": subnet["availabilityZone"], "isPublic": subnet["isPublic"],
        })
    });
    let mut more = lab.network().await["subnets"].take();
    more.as_array_mut().unwrap().extend(again);
    lab.edit(json!({"network": {"subnets": more}})).await;
    lab.converge().await;
    assert_eq!(lab.marked().await.len(), TWO_ZONES);
    let domains = lab.said().await["status"]["failureDomains"].take();
    assert_eq!(domains.as_object().unwrap().len(), 2, "{domains}");
    lab.assert_silent().await;
    lab.end().await;
}

/// A third zone behind a network load balancer: it is attached there, and nothing is made anew.
pub async fn a_zone_more_behind_a_network_load_balancer<C: AwsPlace + Clone + 'static>(
    lab: &mut Lab<C>,
) {
    lab.create(json!({"controlPlaneLoadBalancer": {"loadBalancerType": "nlb"}}))
        .await;
    lab.converge().await;
    let before = lab.marked().await;
    let third = lab.zones().await.swap_remove(2);
    let mut all = lab.network().await["subnets"].take();
    // The ranges of two zones leave the last quarter.
    let new = [("public", "10.0.192.0/20"), ("private", "10.0.208.0/20")];
    let new = new.map(|(publicity, range)| {
        json!({
            "id": format!("prod-subnet-{publicity}-{third}"), "availabilityZone": third,
            "cidrBlock": range, "isPublic": publicity == "public",
        })
    });
    all.as_array_mut().unwrap().extend(new);
    lab.edit(json!({"network": {"subnets": all}})).await;
    lab.converge().await;
    let after = lab.marked().await;
    assert_eq!(after.len(), network(3) + 2);
    assert!(after.is_superset(&before), "{before:#?} {after:#?}");
    let balancer = lab.hands.all(&NETWORK_LOAD_BALANCER).await.remove(0);
    let id = balancer.id.to_string();
    let subnets = lab.hands.inside(&NETWORK_LOAD_BALANCER, &id, SUBNET).await;
    assert_eq!(subnets.len(), 3, "{subnets:?}");
    lab.assert_silent().await;
    lab.end().await;
}

/// Deletion is by marks: no recorded id is needed, in the spec, in the status or in the record.
pub async fn an_object_that_has_forgotten_everything_leaves_nothing<
    C: AwsPlace + Clone + 'static,
>(
    lab: &mut Lab<C>,
) {
    let before = lab.everything().await;
    lab.create_sample().await;
    lab.converge().await;
    lab.patch(json!({
        "spec": {"network": null, "controlPlaneEndpoint": null},
        "metadata": {"annotations": {LEDGER: null}},
    }))
    .await;
    forget_status(lab).await;
    lab.restart();
    lab.end().await;
    lab.assert_same(&before, "law 3").await;
}

/// The original looks for nothing where no VPC is recorded, and its finalizer goes.
pub async fn a_network_whose_recorded_vpc_id_is_empty_is_no_orphan<
    C: AwsPlace + Clone + 'static,
>(
    lab: &mut Lab<C>,
) {
    let before = lab.everything().await;
    lab.create_sample().await;
    lab.converge().await;
    lab.edit(json!({"network": {"vpc": {"id": ""}}})).await;
    lab.restart();
    lab.end().await;
    lab.assert_same(&before, "law 3").await;
}

async fn forget_status<C: AwsPlace + Clone + 'static>(lab: &Lab<C>) {
    let none = kube::api::Patch::Merge(json!({"status": null}));
    let parameters = kube::api::PatchParams::default();
    let forgotten = lab.api().patch_status(&lab.name, &parameters, &none).await;
    forgotten.unwrap();
}

/// Without its record an object cannot tell the ids that we wrote from a person's. Marks can.
pub async fn a_record_that_was_lost_changes_nothing<C: AwsPlace + Clone + 'static>(
    lab: &mut Lab<C>,
) {
    let empty = lab.everything().await;
    lab.create_sample().await;
    lab.converge().await;
    let before = lab.marked().await;
    let none = json!({"metadata": {"annotations": {LEDGER: null}}});
    lab.patch(none).await;
    lab.restart();
    lab.converge().await;
    assert_eq!(lab.marked().await, before);
    lab.assert_silent().await;
    lab.end().await;
    lab.assert_same(&empty, "law 3").await;
}

/// Whoever takes the claim's annotation off makes nobody forget what is ours: its finalizer keeps it.
pub async fn a_claim_whose_annotation_was_taken_off_changes_nothing<
    C: AwsPlace + Clone + 'static,
>(
    lab: &mut Lab<C>,
) {
    lab.create_sample().await;
    lab.converge().await;
    let before = lab.everything().await;
    let none = json!({"metadata": {"annotations": {CLAIM_UUID: null}}});
    lab.patch(none).await;
    lab.converge().await;
    lab.assert_same(&before, "nothing is taken away").await;
}

/// Two clusters of one name in two namespaces are two networks, and none crosses the other.
pub async fn the_same_name_in_two_namespaces_is_two_networks<C: AwsPlace + Clone + 'static>(
    lab: &mut Lab<C>,
) {
    let empty = lab.everything().await;
    lab.create_sample().await;
    lab.converge().await;
    let first = lab.marked().await;
    let namespace = format!("{}-south", lab.name);
    let other = lab.beside(&namespace).await;
    other.create_sample().await;
    other.converge().await;
    assert_eq!(other.marked().await.len(), 2 * TWO_ZONES, "in one account");
    let (one, two) = (ids(&lab.network().await), ids(&other.network().await));
    assert!(one.iter().all(|id| !two.contains(id)), "{one:?} {two:?}");
    let host = |object: &Value| object["spec"]["controlPlaneEndpoint"]["host"].clone();
    assert_ne!(host(&lab.said().await), host(&other.said().await));
    lab.assert_silent().await;
    let both = lab.everything().await;
    lab.delete().await;
    lab.settle().await;
    assert!(lab.is_gone().await);
    let left = other.marked().await;
    assert_eq!(left.len(), TWO_ZONES, "each has its own");
    assert!(left.is_disjoint(&first));
    let after = other.everything().await;
    assert!(after.iter().all(|(id, said)| both[id] == *said), "crossed");
    other.assert_silent().await;
    other.end().await;
    lab.assert_same(&empty, "law 3").await;
}

/// The ids that an object records.
fn ids(network: &Value) -> Vec<String> {
    let vpc = &network["vpc"];
    let mut all = vec![vpc["id"].clone(), vpc["internetGatewayId"].clone()];
    for subnet in network["subnets"].as_array().unwrap() {
        let fields = ["resourceID", "routeTableId", "natGatewayId"];
        all.extend(fields.map(|field| subnet[field].clone()));
    }
    let ids = all.iter().filter_map(Value::as_str);
    ids.map(str::to_owned).collect()
}
