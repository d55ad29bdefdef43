//! Clusters of Cluster API on Power Virtual Server as a served system: the object's fields in; an endpoint
//! and a status out.
//!
//! It is in no registry yet: there is no client of IBM Cloud that it could be run with. Its suite runs it on a
//! simulated account.

mod key;
mod read;
mod report;

use api::powervs::{self as served, IbmPowerVsCluster};
use api::{Change, Status, capa};
use blueprints::powervs::{Cluster, region};
use cloud_port::Places;
use cloud_port::driver::Report;
use cloud_port::ibm::{self, Access, Accounts, IbmPlace as _};
use jiff::Timestamp;
use ownership::decide::Evidence;
use ownership::input::InputError;
use ownership::{CloudError, Kind, Place};

use crate::cluster_api;
use crate::reconcile::{Ask, Ids, Sources, System, Told, Trouble, Unserved, Wants, Watches};

/// Cluster API on Power Virtual Server.
#[derive(Clone, Debug)]
pub struct PowerVs<A> {
    /// The accounts.
    pub accounts: A,
}

/// What a cluster may own in the account.
static OF_ACCOUNT: [&Kind; 4] = [
    &ibm::workspace::WORKSPACE,
    &ibm::power_network::POWER_NETWORK,
    &ibm::transit_gateway::TRANSIT_GATEWAY,
    &ibm::cos_instance::COS_INSTANCE,
];

/// What it may own in a region of VPC.
static OF_REGION: [&Kind; 4] = [
    &ibm::vpc::VPC,
    &ibm::vpc_subnet::VPC_SUBNET,
    &ibm::vpc_security_group::VPC_SECURITY_GROUP,
    &ibm::vpc_load_balancer::VPC_LOAD_BALANCER,
];

/// What the API has and we do not serve: where one asks for something, nothing is made.
const UNSERVED: &[Unserved] = &[
    Unserved::new(&["spec", "vpcSecurityGroups", "[]", "tags"]),
    Unserved::new(&[
        "spec",
        "vpcSecurityGroups",
        "[]",
        "rules",
        "[]",
        "securityGroupID",
    ]),
    Unserved::new(&["spec", "resourceGroup", "regex"]),
];

/// What must be known of a cluster besides its object.
#[derive(Clone, Debug, Hash)]
pub struct Facts {
    /// With which key the account is entered.
    access: Access,
    /// The region of its VPC, where it has one.
    region: Option<String>,
    /// The zones of that region.
    zones: Vec<String>,
    /// The id of its resource group.
    resource_group: String,
    /// The port of the API server, if the owner names one.
    port: Option<i64>,
}

/// A cluster as the object and the facts have it.
fn cluster(object: &IbmPowerVsCluster, facts: &Facts) -> Cluster {
    let cluster = Cluster {
        vpc_zones: facts.zones.clone(),
        resource_group: facts.resource_group.clone(),
        api_server_port: facts.port,
        ..read::given(object)
    };
    let ends = object.metadata.deletion_timestamp.is_some();
    if ends { cluster.at_its_end() } else { cluster }
}

impl<A: Accounts> System for PowerVs<A> {
    type Object = IbmPowerVsCluster;
    type Facts = Facts;
    type Cloud = A::Cloud;

    const CLAIM_KIND: &'static str = "IBMPowerVSCluster.infrastructure.cluster.x-k8s.io";
    const FINALIZER: &'static str = served::FINALIZER;
    const STATUS: Status = served::STATUS;
    const UNSERVED: &'static [Unserved] = UNSERVED;

    fn owns(&self) -> &'static [&'static Kind] {
        &OF_ACCOUNT
    }

    fn kinds(&self) -> &'static [&'static Kind] {
        &ibm::KINDS
    }

    fn owns_in(&self, place: &Place) -> &'static [&'static Kind] {
        if *place == region() { &OF_REGION } else { &[] }
    }

    /// What another controller manages is left to it.
    fn is_ours(object: &IbmPowerVsCluster) -> bool {
        object.annotation(capa::MANAGED_BY).is_none()
    }

    fn pause(object: &IbmPowerVsCluster) -> Option<&'static str> {
        let is_paused = object.annotation(capa::PAUSED).is_some();
        is_paused.then_some("the annotation cluster.x-k8s.io/paused is set")
    }

    fn wants(object: &IbmPowerVsCluster, facts: &Facts) -> Result<Wants, InputError> {
        let cluster = cluster(object, facts);
        Ok(Wants {
            blueprint: cluster.blueprint()?,
            dialect: cluster.dialect(),
            evidence: Evidence {
                named: cluster.named(),
                ..Evidence::default()
            },
        })
    }

    fn ids(object: &IbmPowerVsCluster) -> Result<Ids, InputError> {
        read::given(object).ids()
    }

    fn publish(
        facts: &Facts,
        change: &mut Change<IbmPowerVsCluster>,
        object: &IbmPowerVsCluster,
        report: &Report,
    ) {
        report::endpoint(&cluster(object, facts), change, object, report);
    }

    fn place(cloud: &A::Cloud) -> String {
        cloud.account_id().to_owned()
    }

    fn misplaced(object: &IbmPowerVsCluster, was: &str, is: &str) -> InputError {
        let rule = format!(
            "has the key of the account {is}, but the cluster's resources are in {was}, and do not move: \
             put back a key of that account"
        );
        InputError::new(key::FIELD, key::secret(object), rule)
    }

    fn blames(object: &IbmPowerVsCluster, error: &CloudError) -> Option<InputError> {
        let rule = format_args!("must have an API key that IBM Cloud accepts; it says {error}");
        let is_key = ibm::errors::is_refused_key(error);
        is_key.then(|| InputError::new(key::FIELD, key::secret(object), rule))
    }

    fn status(
        change: &mut Change<IbmPowerVsCluster>,
        object: &IbmPowerVsCluster,
        told: &Told<'_>,
        _: Timestamp,
    ) {
        report::tell(change, object, told);
    }
}

impl<A: Accounts> Sources for PowerVs<A> {
    fn watches(watches: Watches<Self>) -> Watches<Self> {
        watches.on::<capa::OwnerCluster>()
    }

    async fn facts(&self, ask: &Ask<'_>, object: &IbmPowerVsCluster) -> Result<Facts, Trouble> {
        let port = cluster_api::port(ask, &object.metadata).await?;
        let access = Access::account(key::read(ask, object).await?);
        let ends = object.metadata.deletion_timestamp.is_some();
        let account = self.accounts.open(&access).await?;
        let given = read::given(object);
        // The region stays known to the end, whatever becomes of the fields that say it.
        let region = match given.region() {
            Ok(region) if !region.is_empty() && object.creates() => Some(region.to_owned()),
            Err(error) if object.creates() && !ends => return Err(error.into()),
            _ => None,
        };
        let zones = match &region {
            Some(region) => {
                let zones = account.cloud().vpc_zones(region).await?;
                zones.iter().map(ToString::to_string).collect()
            }
            None => Vec::new(),
        };
        let resource_group = read::resource_group(account.cloud(), object, ends).await?;
        Ok(Facts {
            access,
            region,
            zones,
            resource_group,
            port,
        })
    }

    async fn open(&self, facts: &Facts) -> Result<Places<A::Cloud>, CloudError> {
        let account = self.accounts.open(&facts.access).await?;
        let id = account.cloud().account_id().to_owned();
        let places = Places::from(account);
        let Some(name) = &facts.region else {
            return Ok(places);
        };
        let land = self.accounts.open(&facts.access.in_region(name)).await?;
        Ok(places.and(region(), format!("{id}/{name}"), land))
    }
}
