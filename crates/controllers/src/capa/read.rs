//! What an object says about its infrastructure.

use std::collections::BTreeMap;

use api::capa::{
    AwsCluster, CLUSTER_NAME, CniIngressRule, FINALIZER, IngressRule, LoadBalancer, Subnet,
};
use blueprints::capa::{
    Cluster, IngressRule as Rule, LoadBalancer as Balancer, Subnet as GivenSubnet, Vpc,
};
use kube::ResourceExt as _;

use crate::cluster_api::owner;
use crate::reconcile::{Made, made};

/// The kind, as claims name it.
pub(super) const CLAIM_KIND: &str = "AWSCluster.infrastructure.cluster.x-k8s.io";

/// The name of the cluster; the object's own, if nobody says which it is.
fn name(object: &AwsCluster) -> String {
    let labelled = object.labels().get(CLUSTER_NAME);
    let labelled = labelled.map(String::as_str).filter(|name| !name.is_empty());
    let name = owner(&object.metadata).or(labelled);
    name.map_or_else(|| object.name_any(), str::to_owned)
}

/// What the record says that we made for the object.
fn made_for(object: &AwsCluster) -> Made {
    made(&object.metadata, CLAIM_KIND, FINALIZER)
}

/// Whether the region's zones must be known: not where subnets are given, recorded, or brought.
pub(super) fn needs_zones(object: &AwsCluster) -> bool {
    let subnets = object.network().subnets.unwrap_or_default();
    let made = made_for(object);
    let is_made = made.slots.iter().any(|slot| slot.starts_with("subnet-"));
    subnets.is_empty() && !is_made && !given(object, made).brings_its_vpc()
}

/// What the object says; of one that ends, only what its end needs.
pub(super) fn cluster(object: &AwsCluster, port: Option<i64>, zones: Vec<String>) -> Cluster {
    let mut cluster = given(object, made_for(object));
    cluster.api_server_port = port;
    cluster.zones = zones;
    let ends = object.metadata.deletion_timestamp.is_some();
    if ends { cluster.at_its_end() } else { cluster }
}

/// What the object says, as it says it.
pub(super) fn given(object: &AwsCluster, made: Made) -> Cluster {
    let network = object.network();
    let vpc = network.vpc.unwrap_or_default();
    let cni = network.cni.and_then(|cni| cni.cni_ingress_rules);
    let namespace = object.namespace().unwrap_or_default();
    let endpoint = object.spec.control_plane_endpoint.as_ref();
    Cluster {
        vpc: Vpc {
            id: vpc.id,
            cidr: vpc.cidr_block,
            internet_gateway: vpc.internet_gateway_id,
            zone_limit: vpc.availability_zone_usage_limit,
            zone_selection: vpc.availability_zone_selection,
            subnet_schema: vpc.subnet_schema,
            tags: vpc.tags.unwrap_or_default(),
        },
        subnets: network.subnets.into_iter().flatten().map(subnet).collect(),
        overrides: without_empty(network.security_group_overrides.unwrap_or_default()),
        cni_rules: cni.map(|rules| rules.into_iter().map(cni_rule).collect()),
        control_plane_rules: rules(network.additional_control_plane_ingress_rules),
        node_rules: rules(network.additional_node_ingress_rules),
        node_ports_allowed: network
            .node_port_ingress_rule_cidr_blocks
            .unwrap_or_default(),
        balancer: balancer(object.spec.control_plane_load_balancer.clone()),
        endpoint: endpoint.map(|endpoint| endpoint.host.clone()),
        tags: object.spec.additional_tags.clone().unwrap_or_default(),
        ours: made.ids,
        made: made.slots,
        ..Cluster::new(&namespace, &name(object), &[])
    }
}

fn without_empty(map: BTreeMap<String, String>) -> BTreeMap<String, String> {
    let map = map.into_iter();
    map.filter(|(_, id)| !id.is_empty()).collect()
}

/// A subnet, as it is given.
pub(super) fn subnet(subnet: Subnet) -> GivenSubnet {
    GivenSubnet {
        id: subnet.id,
        resource_id: subnet.resource_id,
        cidr: subnet.cidr_block,
        zone: subnet.availability_zone,
        is_public: subnet.is_public.unwrap_or(false),
        route_table: subnet.route_table_id,
        nat_gateway: subnet.nat_gateway_id,
        tags: subnet.tags.unwrap_or_default(),
    }
}

fn rules(rules: Option<Vec<IngressRule>>) -> Vec<Rule> {
    let rules = rules.into_iter().flatten();
    rules
        .map(|rule| Rule {
            protocol: rule.protocol,
            from: rule.from_port,
            to: rule.to_port,
            ranges: rule.cidr_blocks.unwrap_or_default(),
            ranges_v6: rule.ipv6_cidr_blocks.unwrap_or_default(),
            groups: rule.source_security_group_ids.unwrap_or_default(),
            roles: rule.source_security_group_roles.unwrap_or_default(),
            from_nat: rule.nat_gateways_ips_source.unwrap_or(false),
        })
        .collect()
}

fn cni_rule(rule: CniIngressRule) -> Rule {
    Rule {
        protocol: rule.protocol,
        from: rule.from_port,
        to: rule.to_port,
        ..Rule::default()
    }
}

fn balancer(balancer: Option<LoadBalancer>) -> Balancer {
    let balancer = balancer.unwrap_or_default();
    let health = balancer.health_check.unwrap_or_default();
    Balancer {
        name: balancer.name,
        kind: balancer.load_balancer_type,
        scheme: balancer.scheme,
        subnets: balancer.subnets.unwrap_or_default(),
        security_groups: balancer.additional_security_groups.unwrap_or_default(),
        health_protocol: balancer.health_check_protocol,
        health: [
            health.interval_seconds,
            health.timeout_seconds,
            health.threshold_count,
            health.unhealthy_threshold_count,
        ],
        rules: rules(balancer.ingress_rules),
        preserves_clients: balancer.preserve_client_ip.unwrap_or(false),
    }
}
