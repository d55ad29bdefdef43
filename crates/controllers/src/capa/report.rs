//! What is told in the status besides conditions: whether machines can be made, and of what.

use std::collections::BTreeSet;

use api::Change;
use api::capa::AwsCluster;
use blueprints::capa::{BALANCER, NETWORK_BALANCER, Role, group_slot, override_slot};
use cloud_port::aws::classic_load_balancer::DNS_NAME;
use cloud_port::aws::elastic_ip::ADDRESS;
use cloud_port::driver::Report;
use ownership::decide::Filled;
use serde_json::json;

use super::read;
use crate::reconcile::{Made, Told};

/// Tells the status.
pub(super) fn tell(change: &mut Change<AwsCluster>, object: &AwsCluster, told: &Told<'_>) {
    let was_ready = object.status.as_ref().is_some_and(|status| status.ready);
    let endpoint = object.spec.control_plane_endpoint.as_ref();
    let is_reached = endpoint.is_some_and(|endpoint| !endpoint.host.is_empty());
    // Once machines could be made, Cluster API counts on it.
    let is_ready = was_ready || (told.conditions.is_ready() && is_reached);
    change.tell(&["ready"], json!(is_ready));
    if let Some(report) = told.report.filter(|_| told.conditions.is_ready()) {
        network(change, object, report);
        failure_domains(change, object, report);
    }
}

fn network(change: &mut Change<AwsCluster>, object: &AwsCluster, report: &Report) {
    let cluster = read::given(object, Made::default());
    let mut tell = |path: &[&str], value: serde_json::Value| {
        let path: Vec<&str> = std::iter::once("networkStatus")
            .chain(path.iter().copied())
            .collect();
        change.tell(&path, value);
    };
    for role in Role::ALL {
        let ours = find(report, group_slot(role).as_str());
        let theirs = find(report, override_slot(role).as_str());
        let Some(group) = ours.or(theirs) else {
            continue;
        };
        let id = group.target.id.to_string();
        let name = if ours.is_some() {
            cluster.group_name(role)
        } else {
            id.clone()
        };
        tell(&["securityGroups", role.name(), "id"], json!(id));
        tell(&["securityGroups", role.name(), "name"], json!(name));
    }
    let classic = find(report, BALANCER).map(|it| (it, "classic"));
    let network = find(report, NETWORK_BALANCER).map(|it| (it, "nlb"));
    if let Some((balancer, kind)) = classic.or(network) {
        let text = |name| json!(balancer.props.get(name).map(|value| &**value));
        // The id of a classic one is its name, that of the other its ARN.
        let id = balancer.target.id.to_string();
        let field = if kind == "nlb" { "arn" } else { "name" };
        tell(&["apiServerElb", field], json!(id));
        tell(&["apiServerElb", "dnsName"], text(DNS_NAME));
        tell(&["apiServerElb", "scheme"], text("scheme"));
        tell(&["apiServerElb", "loadBalancerType"], json!(kind));
    }
    let addresses = report
        .filled
        .iter()
        .filter(|it| it.slot.as_str().starts_with("eip-"));
    let addresses: Vec<&str> = addresses
        .filter_map(|it| it.props.get(ADDRESS).map(|address| &**address))
        .collect();
    if !addresses.is_empty() {
        tell(&["natGatewaysIPs"], json!(addresses));
    }
}

/// The zones of private subnets; of all, where there are none.
fn failure_domains(change: &mut Change<AwsCluster>, object: &AwsCluster, report: &Report) {
    let cluster = read::given(object, Made::default());
    let Ok(beside) = cluster.beside() else {
        return;
    };
    let zone_of = |at: usize| -> Option<String> {
        let filled = find(report, beside.get(at)?.subnet.as_str())?;
        filled.props.get("zone").map(ToString::to_string)
    };
    let zones = |public: bool| -> BTreeSet<String> {
        let subnets = cluster.subnets.iter().enumerate();
        let those = subnets.filter(|(_, subnet)| subnet.is_public == public);
        those.filter_map(|(at, _)| zone_of(at)).collect()
    };
    let mut wanted = zones(false);
    if wanted.is_empty() {
        wanted = zones(true);
    }
    for zone in &wanted {
        change.tell(&["failureDomains", zone, "controlPlane"], json!(true));
    }
    let status = object.status.as_ref();
    let told = status.and_then(|status| status.rest.get("failureDomains")?.as_object());
    for zone in told.into_iter().flat_map(|told| told.keys()) {
        if !wanted.contains(zone) {
            change.tell(&["failureDomains", zone], serde_json::Value::Null);
        }
    }
}

fn find<'r>(report: &'r Report, slot: &str) -> Option<&'r Filled> {
    report.filled.iter().find(|it| it.slot.as_str() == slot)
}
