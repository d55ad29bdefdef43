//! Clusters of Cluster API on AWS as a served system: the object's fields in; ids, an endpoint and a
//! status out.

mod blame;
mod identity;
mod read;
mod record;
mod report;

use api::capa::{
    self as served, AwsCluster, ControllerIdentity, OwnerCluster, RoleIdentity, StaticIdentity,
};
use api::{Change, Status};
use blueprints::capa::Cluster;
use cloud_port::Places;
use cloud_port::aws::{self, Access, Accounts, AwsPlace as _};
use cloud_port::driver::Report;
use jiff::Timestamp;
use ownership::decide::Evidence;
use ownership::input::InputError;
use ownership::{CloudError, Kind, SlotName, Text};

use crate::cluster_api;
use crate::reconcile::{Ask, Ids, Sources, System, Told, Trouble, Unserved, Wants, Watches};
use crate::registry::{Entry, Original, Right, Served};
use crate::resources::Resources;

/// Its entry in the registry.
pub const ENTRY: Entry = Entry {
    name: "capa",
    about: "clusters of Cluster API on AWS",
    kind: Served {
        plural: "awsclusters",
        singular: "awscluster",
        group: served::GROUP,
        version: served::VERSION,
    },
    definitions: &api::manifests::CAPA_DEFINITIONS,
    policies: &[],
    asks: &[
        Right::new(
            served::OWNER_GROUP,
            served::OWNER_VERSION,
            "clusters",
            WATCHED,
        ),
        Right::new(
            served::GROUP,
            served::VERSION,
            "awsclustercontrolleridentities",
            WATCHED,
        ),
        Right::new(
            served::GROUP,
            served::VERSION,
            "awsclusterstaticidentities",
            WATCHED,
        ),
        Right::new(
            served::GROUP,
            served::VERSION,
            "awsclusterroleidentities",
            WATCHED,
        ),
        Right::new("", "v1", "namespaces", &["get"]),
        Right::new("", "v1", "secrets", &["get"]).in_parts(),
    ],
    resources: RESOURCES,
    original: Original {
        name: "Cluster API's provider for AWS",
        lease: "controller-leader-elect-capa",
    },
};

const WATCHED: &[&str] = &["get", "list", "watch"];

/// Cluster API on AWS.
#[derive(Clone, Debug)]
pub struct Capa<A> {
    /// The accounts.
    pub accounts: A,
}

/// What a cluster may own, and what it may use where somebody brings it.
static OWNED: [&Kind; 10] = [
    &aws::vpc::VPC,
    &aws::internet_gateway::INTERNET_GATEWAY,
    &aws::subnet::SUBNET,
    &aws::elastic_ip::ELASTIC_IP,
    &aws::nat_gateway::NAT_GATEWAY,
    &aws::route_table::ROUTE_TABLE,
    &aws::security_group::SECURITY_GROUP,
    &aws::classic_load_balancer::CLASSIC_LOAD_BALANCER,
    &aws::network_load_balancer::NETWORK_LOAD_BALANCER,
    &aws::target_group::TARGET_GROUP,
];

/// What clusters have to do with the resources of AWS.
const RESOURCES: Resources = Resources {
    owns: &OWNED,
    uses: &OWNED,
    adds: &[
        aws::vpc::DNS_ATTRIBUTE,
        aws::internet_gateway::ATTACHMENT,
        aws::route_table::ROUTE,
        aws::route_table::ASSOCIATION,
        aws::security_group::RULE,
        aws::classic_load_balancer::SUBNET,
        aws::classic_load_balancer::GROUP,
        aws::classic_load_balancer::LISTENER,
    ],
};

/// What the API has and we do not serve: where one asks for something, nothing is made.
const UNSERVED: &[Unserved] = &[
    Unserved::new(&["spec", "bastion", "enabled"]),
    Unserved::new(&["spec", "s3Bucket"]),
    Unserved::new(&["spec", "secondaryControlPlaneLoadBalancer"]),
    Unserved::new(&["spec", "controlPlaneLoadBalancer", "additionalListeners"]),
    Unserved::new(&["spec", "controlPlaneLoadBalancer", "crossZoneLoadBalancing"]),
    Unserved {
        default: Some("ipv4"),
        ..Unserved::new(&["spec", "controlPlaneLoadBalancer", "targetGroupIPType"])
    },
    Unserved::new(&["spec", "network", "vpc", "ipv6"]),
    Unserved::new(&["spec", "network", "vpc", "ipamPool"]),
    Unserved::new(&["spec", "network", "vpc", "elasticIpPool"]),
    Unserved::new(&["spec", "network", "vpc", "secondaryCidrBlocks"]),
    Unserved::new(&["spec", "network", "vpc", "carrierGatewayId"]),
    Unserved::new(&[
        "spec",
        "network",
        "vpc",
        "emptyRoutesDefaultVPCSecurityGroup",
    ]),
    Unserved {
        default: Some("ip-name"),
        ..Unserved::new(&["spec", "network", "vpc", "privateDnsHostnameTypeOnLaunch"])
    },
    Unserved::new(&["spec", "network", "subnets", "[]", "isIpv6"]),
    Unserved::new(&["spec", "network", "subnets", "[]", "ipv6CidrBlock"]),
    Unserved::new(&["spec", "network", "subnets", "[]", "parentZoneName"]),
    Unserved {
        default: Some("availability-zone"),
        ..Unserved::new(&["spec", "network", "subnets", "[]", "zoneType"])
    },
];

/// What must be known of a cluster besides its object.
#[derive(Clone, Debug, Hash)]
pub struct Facts {
    /// As whom the account is entered, and where.
    access: Access,
    /// The port of the API server, if the owner names one.
    port: Option<i64>,
    /// The zones of the region, where they are needed.
    zones: Vec<Text>,
}

/// A cluster as the object and the facts have it.
fn cluster(object: &AwsCluster, facts: &Facts) -> Cluster {
    let zones = facts.zones.iter().map(ToString::to_string).collect();
    read::cluster(object, facts.port, zones)
}

impl<A: Accounts> System for Capa<A> {
    type Object = AwsCluster;
    type Facts = Facts;
    type Cloud = A::Cloud;

    const CLAIM_KIND: &'static str = read::CLAIM_KIND;
    const FINALIZER: &'static str = served::FINALIZER;
    const STATUS: Status = served::STATUS;
    const IDS_IN: Option<&'static str> = Some("spec.network");
    const UNSERVED: &'static [Unserved] = UNSERVED;

    fn owns(&self) -> &'static [&'static Kind] {
        &OWNED
    }

    fn kinds(&self) -> &'static [&'static Kind] {
        &OWNED
    }

    /// What another controller manages is left to it.
    fn is_ours(object: &AwsCluster) -> bool {
        !object.has_annotation(served::MANAGED_BY)
    }

    fn pause(object: &AwsCluster) -> Option<&'static str> {
        let is_paused = object.has_annotation(served::PAUSED);
        is_paused.then_some("the annotation cluster.x-k8s.io/paused is set")
    }

    fn wants(object: &AwsCluster, facts: &Facts) -> Result<Wants, InputError> {
        let cluster = cluster(object, facts);
        Ok(Wants {
            blueprint: cluster.blueprint()?,
            dialect: cluster.dialect(),
            evidence: Evidence::default(),
        })
    }

    fn keeps(slot: &SlotName) -> bool {
        record::keeps(slot)
    }

    fn ids(object: &AwsCluster) -> Result<Ids, InputError> {
        read::cluster(object, None, Vec::new()).ids()
    }

    fn record(
        _: &A::Cloud,
        facts: &Facts,
        change: &mut Change<AwsCluster>,
        object: &AwsCluster,
        ids: &Ids,
    ) {
        record::write(facts, change, object, ids);
    }

    fn publish(
        facts: &Facts,
        change: &mut Change<AwsCluster>,
        object: &AwsCluster,
        report: &Report,
    ) {
        record::publish(facts, change, object, report);
    }

    fn place(cloud: &A::Cloud) -> String {
        cloud.place()
    }

    fn misplaced(object: &AwsCluster, was: &str, is: &str) -> InputError {
        blame::misplaced(object, was, is)
    }

    fn blames(object: &AwsCluster, error: &CloudError) -> Option<InputError> {
        blame::field(object, error)
    }

    fn status(change: &mut Change<AwsCluster>, object: &AwsCluster, told: &Told<'_>, _: Timestamp) {
        report::tell(change, object, told);
    }
}

impl<A: Accounts> Sources for Capa<A> {
    fn watches(watches: Watches<Self>) -> Watches<Self> {
        watches
            .on::<OwnerCluster>()
            .on::<ControllerIdentity>()
            .on::<StaticIdentity>()
            .on::<RoleIdentity>()
    }

    async fn facts(&self, ask: &Ask<'_>, object: &AwsCluster) -> Result<Facts, Trouble> {
        let port = cluster_api::port(ask, &object.metadata).await?;
        let Some(region) = object.spec.region.as_ref().filter(|it| !it.is_empty()) else {
            let rule = "must be set: it is the region of everything that the cluster has";
            return Err(InputError::new(blame::REGION, "", rule).into());
        };
        let access = identity::access(ask, object, region).await?;
        let ends = object.metadata.deletion_timestamp.is_some();
        let zones = if read::needs_zones(object) {
            let zones = async { self.accounts.open(&access).await?.cloud().zones().await };
            match zones.await {
                // Whatever was made in them is found by its marks.
                Err(_) if ends => Vec::new(),
                zones => zones?,
            }
        } else {
            Vec::new()
        };
        Ok(Facts {
            access,
            port,
            zones,
        })
    }

    async fn open(&self, facts: &Facts) -> Result<Places<A::Cloud>, CloudError> {
        Ok(self.accounts.open(&facts.access).await?.into())
    }
}
