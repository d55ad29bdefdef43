//! What is written to the spec: the subnets that were chosen, ids, and the endpoint.

use api::Change;
use api::capa::{AwsCluster, Endpoint, Subnet};
use blueprints::capa::{BALANCER, INTERNET_GATEWAY, NETWORK_BALANCER, VPC, default_subnets, slot};
use cloud_port::aws::classic_load_balancer::DNS_NAME;
use cloud_port::driver::Report;
use ownership::SlotName;

use super::{Facts, cluster, read};
use crate::reconcile::Ids;

/// How the slots begin whose ids the spec has a place for. Those of groups, addresses and load balancers
/// are in the record.
const KEPT: [&str; 4] = ["subnet-", "rt-", "nat-", "override-"];

/// Whether the spec has a place for the id of a slot.
pub(super) fn keeps(slot: &SlotName) -> bool {
    let name = slot.as_str();
    name == VPC || name == INTERNET_GATEWAY || KEPT.iter().any(|stem| name.starts_with(stem))
}

/// Writes the subnets, before the first of them is made, and all ids.
pub(super) fn write(
    facts: &Facts,
    change: &mut Change<AwsCluster>,
    object: &AwsCluster,
    ids: &Ids,
) {
    let network = object.network();
    let vpc = network.vpc.unwrap_or_default();
    for (field, was, name) in [
        ("id", vpc.id, VPC),
        (
            "internetGatewayId",
            vpc.internet_gateway_id,
            INTERNET_GATEWAY,
        ),
    ] {
        let was = was.unwrap_or_default();
        let id = ids.get(&slot(name)).map_or("", |id| id.as_str());
        if id != was {
            change.vpc(field, id);
        }
    }
    let given = network.subnets.unwrap_or_default();
    let mut wanted = cluster(object, facts);
    let ends = object.metadata.deletion_timestamp.is_some();
    let mut subnets = given.clone();
    if subnets.is_empty() && !wanted.brings_its_vpc() && !ends {
        let Ok(chosen) = default_subnets(&wanted) else {
            return;
        };
        subnets = chosen.into_iter().map(as_written).collect();
    }
    wanted.subnets = subnets.iter().cloned().map(read::subnet).collect();
    let Ok(beside) = wanted.beside() else {
        return;
    };
    for (subnet, slots) in subnets.iter_mut().zip(beside) {
        let id = |slot: &SlotName| ids.get(slot).map(|id| id.as_str().to_owned());
        // Somebody's is named by its id already.
        if !subnet.id.starts_with("subnet-") {
            put(&mut subnet.resource_id, id(&slots.subnet));
        }
        put(&mut subnet.route_table_id, id(&slots.table));
        if let Some(nat) = &slots.nat {
            put(&mut subnet.nat_gateway_id, id(nat));
        }
    }
    if subnets != given {
        change.subnets(&subnets);
    }
}

/// An empty field and none are the same.
fn put(field: &mut Option<String>, id: Option<String>) {
    if field.as_deref().unwrap_or_default() != id.as_deref().unwrap_or_default() {
        *field = id;
    }
}

fn as_written(subnet: blueprints::capa::Subnet) -> Subnet {
    Subnet {
        id: subnet.id,
        cidr_block: subnet.cidr,
        availability_zone: subnet.zone,
        is_public: Some(subnet.is_public),
        ..Subnet::default()
    }
}

/// Publishes where the API server is reached, unless somebody has said so.
pub(super) fn publish(
    facts: &Facts,
    change: &mut Change<AwsCluster>,
    object: &AwsCluster,
    report: &Report,
) {
    let said = object.spec.control_plane_endpoint.as_ref();
    if said.is_some_and(|endpoint| !endpoint.host.is_empty()) {
        return;
    }
    let is_balancer = |slot: &SlotName| [BALANCER, NETWORK_BALANCER].contains(&slot.as_str());
    let balancer = report
        .filled
        .iter()
        .find(|filled| is_balancer(&filled.slot));
    let host = balancer.and_then(|balancer| balancer.props.get(DNS_NAME));
    let port = cluster(object, facts).port();
    if let (Some(host), Ok(port)) = (host.filter(|host| !host.is_empty()), port) {
        change.endpoint(&Endpoint {
            host: host.to_string(),
            port: port.into(),
            ..Endpoint::default()
        });
    }
}
