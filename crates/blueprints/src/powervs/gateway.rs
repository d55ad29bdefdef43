//! The transit gateway between workspace and VPC, and the COS instance.

use cloud_port::ibm::CRN;
use cloud_port::ibm::cos_instance::{Bucket, COS_INSTANCE, CosInstance};
use cloud_port::ibm::transit_gateway::{
    Connection, NetworkSort, TRANSIT_GATEWAY, TransitGateway, check_name,
};
use ownership::Slot;
use ownership::blueprint::Expr;
use ownership::input::InputError;

use super::Cluster;
use super::blueprint::{COS, GATEWAY, VPC, WORKSPACE, group};
use super::names::{set, slot};
use super::network::{blame, used};
use super::regions::vpc_region;

const ROUTING: &str = "spec.transitGateway.globalRouting";

impl Cluster {
    /// The gateway. One that is given is somebody's, and so are its connections but the two that are made
    /// for this cluster.
    pub(super) fn transit_gateway(&self) -> Result<Slot, InputError> {
        let field = "spec.transitGateway";
        let at = slot(GATEWAY);
        let connections = Self::connections();
        let name = match set(self.gateway.name.as_ref()) {
            Some(name) => {
                check_name(name).map_err(blame("spec.transitGateway.name"))?;
                name.into()
            }
            None => TRANSIT_GATEWAY.names.fit(&self.derived("transitgateway")),
        };
        if set(self.gateway.id.as_ref()).is_some() {
            let gateway = Slot {
                inner: connections.iter().map(Connection::wish).collect(),
                cluster_mark: true,
                ..Slot::own(at, &TRANSIT_GATEWAY, name)
            };
            return Ok(used(gateway, field, "id"));
        }
        let home = vpc_region(self.power_zone()?).unwrap_or_default();
        let region = self.region()?;
        if self.global_routing == Some(false) && home != region && !self.ends {
            let rule = format!(
                "must not be false: the VPC is in {region}, and the zone's own region is {home}"
            );
            return Err(InputError::new(ROUTING, "false", rule));
        }
        let gateway = TransitGateway {
            name,
            location: home.into(),
            is_global: self.global_routing.unwrap_or(home != region),
            resource_group: group(self),
            connections,
        };
        let gateway = gateway.slot(at).map_err(blame("metadata.name"))?;
        // If it turns out to be somebody's, people are told which sorts of connections are ours.
        let gateway = Slot {
            cluster_mark: set(self.gateway.name.as_ref()).is_some(),
            ..gateway
        };
        Ok(used(gateway, field, "name"))
    }

    fn connections() -> Vec<Connection> {
        let to = |sort, name| Connection {
            sort,
            network: Expr::Prop(slot(name), CRN),
        };
        vec![
            to(NetworkSort::Vpc, VPC),
            to(NetworkSort::PowerVirtualServer, WORKSPACE),
        ]
    }

    /// The COS instance with its bucket, from which machines fetch what they start with.
    pub(super) fn cos_instance(&self) -> Result<Option<Slot>, InputError> {
        if !self.ignites {
            return Ok(None);
        }
        let bucket = set(self.cos.bucket.as_ref());
        let bucket = bucket.map_or_else(|| self.derived("cosbucket"), Into::into);
        let region = set(self.cos.bucket_region.as_ref());
        let region = match region {
            Some(region) => region,
            None => self.region()?,
        };
        let name = set(self.cos.name.as_ref());
        let instance = CosInstance {
            name: name.map_or_else(
                || COS_INSTANCE.names.fit(&self.derived("cosinstance")),
                Into::into,
            ),
            resource_group: group(self),
            bucket: Bucket {
                name: bucket,
                region: region.into(),
            },
        };
        let instance = instance
            .slot(slot(COS))
            .map_err(blame("spec.cosInstance.bucketName"))?;
        Ok(Some(used(instance, "spec.cosInstance", "name")))
    }
}
