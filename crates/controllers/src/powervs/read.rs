//! What an object says about its infrastructure.

use api::names::CLAIM_UUID;
use api::powervs::{
    IbmPowerVsCluster, LoadBalancer, Reference, RuleEnd, RuleRemote, SecurityGroup,
    SecurityGroupRule,
};
use blueprints::powervs::{
    BackendPool, Cluster, Cos, DhcpServer, Group, GroupRule, LoadBalancer as Balancer,
    PoolListener, Reference as Given, Remote, Subnet,
};
use cloud_port::ibm::IbmPlace;
use kube::ResourceExt as _;
use ownership::input::InputError;

use crate::reconcile::Trouble;

/// What the object says, as it says it.
pub(super) fn given(object: &IbmPowerVsCluster) -> Cluster {
    let spec = object.spec.clone();
    let vpc = spec.vpc.unwrap_or_default();
    let gateway = spec.transit_gateway.unwrap_or_default();
    let mut workspace = reference(spec.service_instance);
    let older = spec.service_instance_id.filter(|id| !id.is_empty());
    workspace.id = workspace.id.filter(|id| !id.is_empty()).or(older);
    let dhcp = spec.dhcp_server.unwrap_or_default();
    let cos = spec.cos_instance.unwrap_or_default();
    let subnets = spec.vpc_subnets.unwrap_or_default().into_iter();
    let groups = spec.vpc_security_groups.unwrap_or_default().into_iter();
    let balancers = spec.load_balancers.unwrap_or_default().into_iter();
    let tags = spec.tags.unwrap_or_default().into_iter();
    Cluster {
        name: object.name_any(),
        uuid: uuid(object),
        creates: object.creates(),
        zone: spec.zone,
        resource_group: String::new(),
        workspace,
        network: reference(spec.network),
        dhcp: DhcpServer {
            id: dhcp.id,
            name: dhcp.name,
            cidr: dhcp.cidr,
            dns_server: dhcp.dns_server,
            snat: dhcp.snat,
        },
        vpc: Given {
            id: vpc.id,
            name: vpc.name,
            regex: None,
        },
        vpc_region: vpc.region,
        vpc_zones: Vec::new(),
        subnets: subnets
            .map(|subnet| Subnet {
                id: subnet.id,
                name: subnet.name,
                cidr: subnet.cidr,
                zone: subnet.zone,
            })
            .collect(),
        groups: groups.map(group).collect(),
        balancers: balancers.map(balancer).collect(),
        gateway: Given {
            id: gateway.id,
            name: gateway.name,
            regex: None,
        },
        global_routing: gateway.global_routing,
        ignites: spec.ignition.is_some(),
        cos: Cos {
            name: cos.name,
            bucket: cos.bucket_name,
            bucket_region: cos.bucket_region,
        },
        tags: tags.map(|tag| (tag.key, tag.value)).collect(),
        api_server_port: None,
        ends: false,
    }
}

/// The UUID in the original's tags: first the object's own, and then what was pinned.
fn uuid(object: &IbmPowerVsCluster) -> String {
    let pinned = object.annotation(CLAIM_UUID).map(str::to_owned);
    pinned.or_else(|| object.uid()).unwrap_or_default()
}

fn reference(reference: Option<Reference>) -> Given {
    let reference = reference.unwrap_or_default();
    Given {
        id: reference.id,
        name: reference.name,
        regex: reference.regex,
    }
}

fn group(group: SecurityGroup) -> Group {
    let rules = group.rules.unwrap_or_default().into_iter();
    Group {
        id: group.id,
        name: group.name,
        rules: rules.map(rule).collect(),
    }
}

fn rule(rule: SecurityGroupRule) -> GroupRule {
    let end = if rule.direction == "outbound" {
        rule.destination
    } else {
        rule.source
    };
    let RuleEnd {
        protocol,
        port_range,
        icmp_type,
        icmp_code,
        remotes,
        ..
    } = end.unwrap_or_default();
    GroupRule {
        direction: rule.direction,
        protocol,
        ports: port_range.map(|ports| (ports.minimum_port, ports.maximum_port)),
        icmp: (icmp_type, icmp_code),
        remotes: remotes
            .unwrap_or_default()
            .into_iter()
            .map(remote)
            .collect(),
    }
}

fn remote(remote: RuleRemote) -> Remote {
    match remote.remote_type.as_str() {
        "address" => Remote::Address(remote.address.unwrap_or_default()),
        "cidr" => Remote::Subnet(remote.cidr_subnet_name.unwrap_or_default()),
        "sg" => Remote::Group(remote.security_group_name.unwrap_or_default()),
        _ => Remote::Any,
    }
}

fn balancer(balancer: LoadBalancer) -> Balancer {
    let references = |list: Option<Vec<Reference>>| {
        let list = list.unwrap_or_default().into_iter();
        list.map(|it| (it.id, it.name)).collect()
    };
    let listeners = balancer
        .additional_listeners
        .unwrap_or_default()
        .into_iter();
    let pools = balancer.backend_pools.unwrap_or_default().into_iter();
    Balancer {
        id: balancer.id,
        name: balancer.name,
        public: balancer.public,
        subnets: references(balancer.subnets),
        groups: references(balancer.security_groups),
        listeners: listeners
            .map(|listener| PoolListener {
                port: listener.port,
                protocol: listener.protocol,
                pool: listener.default_pool_name,
            })
            .collect(),
        pools: pools
            .map(|pool| {
                let monitor = pool.health_monitor;
                BackendPool {
                    name: pool.name,
                    protocol: pool.protocol,
                    algorithm: pool.algorithm,
                    health: (monitor.kind, monitor.port, monitor.url_path),
                    limits: [monitor.delay, monitor.timeout, monitor.retries],
                }
            })
            .collect(),
    }
}

/// The id of the resource group that the object names, or of the account's default one.
pub(super) async fn resource_group<C: IbmPlace>(
    account: &C,
    object: &IbmPowerVsCluster,
    ends: bool,
) -> Result<String, Trouble> {
    let given = object.spec.resource_group.clone().unwrap_or_default();
    if let Some(id) = given.id.filter(|id| !id.is_empty()) {
        return Ok(id);
    }
    let name = given.name.filter(|name| !name.is_empty());
    match account.resource_group(name.as_deref()).await? {
        Some(id) => Ok(id.to_string()),
        // What was made in it is found by its marks.
        None if ends => Ok(String::new()),
        None => {
            let rule = "must be the name of a resource group of the account; without one its default \
                        group is used";
            let name = name.unwrap_or_default();
            Err(InputError::new("spec.resourceGroup.name", &name, rule).into())
        }
    }
}
