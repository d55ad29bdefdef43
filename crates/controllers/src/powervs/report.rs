//! What is told besides conditions: where the API server is reached, whether machines can be made, and the
//! ids of everything, for readers of the original's status.

use api::Change;
use api::powervs::{Endpoint, IbmPowerVsCluster};
use blueprints::powervs::{BALANCER, COS, Cluster, GATEWAY, NETWORK, VPC, WORKSPACE};
use cloud_port::driver::Report;
use cloud_port::ibm::vpc_load_balancer::HOSTNAME;
use ownership::Verdict;
use ownership::decide::Filled;
use serde_json::json;

use crate::reconcile::Told;

/// Where the status of the original has what fills a slot.
const FIELDS: [(&str, &str); 5] = [
    (WORKSPACE, "serviceInstance"),
    (NETWORK, "network"),
    (VPC, "vpc"),
    (GATEWAY, "transitGateway"),
    (COS, "cosInstance"),
];

/// Publishes where the API server is reached, unless somebody has said so.
pub(super) fn endpoint(
    cluster: &Cluster,
    change: &mut Change<IbmPowerVsCluster>,
    object: &IbmPowerVsCluster,
    report: &Report,
) {
    let said = object.spec.control_plane_endpoint.as_ref();
    if said.is_some_and(|endpoint| !endpoint.host.is_empty()) {
        return;
    }
    let slot = cluster.endpoint_slot();
    let balancer = report.filled.iter().find(|filled| filled.slot == slot);
    let host = balancer.and_then(|balancer| balancer.props.get(HOSTNAME));
    if let (Some(host), Ok(port)) = (host.filter(|host| !host.is_empty()), cluster.port()) {
        change.endpoint(&Endpoint {
            host: host.to_string(),
            port: port.into(),
            ..Endpoint::default()
        });
    }
}

/// Tells the status.
pub(super) fn tell(
    change: &mut Change<IbmPowerVsCluster>,
    object: &IbmPowerVsCluster,
    told: &Told<'_>,
) {
    let was_ready = object.status.as_ref().is_some_and(|status| status.ready);
    let endpoint = object.spec.control_plane_endpoint.as_ref();
    let is_reached = endpoint.is_some_and(|endpoint| !endpoint.host.is_empty());
    // Where nothing is made, nothing need be reached.
    let is_complete = told.conditions.is_ready() && (is_reached || !object.creates());
    // Once machines could be made, Cluster API counts on it.
    change.tell(&["ready"], json!(was_ready || is_complete));
    let Some(report) = told.report.filter(|_| told.conditions.is_ready()) else {
        return;
    };
    for filled in &report.filled {
        let name = filled.slot.as_str();
        if let Some((_, field)) = FIELDS.iter().find(|(slot, _)| *slot == name) {
            reference(change, &[field], filled);
        } else if let Some(key) = name.strip_prefix("subnet-") {
            reference(change, &["vpcSubnet", key], filled);
        } else if let Some(key) = name.strip_prefix("group-") {
            reference(change, &["vpcSecurityGroups", key], filled);
        } else if let Some(key) = name.strip_prefix(BALANCER) {
            reference(change, &["loadBalancers", key], filled);
            if let Some(host) = filled.props.get(HOSTNAME) {
                let path = ["loadBalancers", key, "hostname"];
                change.tell(&path, json!(&**host));
            }
        }
    }
}

/// The id, and the flag of the original which says whether the resource was made. It is for old readers:
/// nobody here reads it.
fn reference(change: &mut Change<IbmPowerVsCluster>, path: &[&str], filled: &Filled) {
    let at = |field: &'static str| -> Vec<&str> {
        path.iter().copied().chain(std::iter::once(field)).collect()
    };
    change.tell(&at("id"), json!(filled.target.id.as_str()));
    change.tell(
        &at("controllerCreated"),
        json!(matches!(filled.verdict, Verdict::Owned(_))),
    );
}
