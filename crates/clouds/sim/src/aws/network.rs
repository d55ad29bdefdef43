//! Networks: what a region and a VPC come with, and what is asked of those who put something there.

use std::sync::Arc;

use cloud_port::aws::network::Network;
use cloud_port::aws::{route_table, security_group, subnet, vpc};
use ownership::mark::Tags;
use ownership::part::{InnerPart, Props, Resource};
use ownership::{CloudError, Kind, ResourceId, Target, Text};

use crate::account::{Account, refuse};
use crate::provenance::Actor;
use crate::write::create::Order;

impl Account {
    /// The default VPC: 172.31.0.0/16, with a /20 subnet in each zone.
    pub(super) fn make_default_vpc(&mut self) {
        if !self.settings.default_vpc {
            return;
        }
        let props = [("cidr", "172.31.0.0/16"), ("default", "true")];
        let vpc = self.make(&vpc::VPC, "", &props);
        for zone in 0..self.settings.zones.min(16) {
            let letter = char::from(b'a' + zone);
            let (cidr, name) = (
                format!("172.31.{}.0/20", 16 * zone),
                format!("zone-{letter}"),
            );
            let props = [("vpc", vpc.as_str()), ("cidr", &cidr), ("zone", &name)];
            self.make(&subnet::SUBNET, "", &props);
        }
    }

    /// The default VPC, unless it was deleted.
    pub fn default_vpc(&self) -> Option<&Arc<Resource>> {
        let is_default =
            |r: &&Arc<Resource>| r.props.get("default").is_some_and(|d| **d == *"true");
        self.alive(&vpc::VPC).find(is_default)
    }

    /// Every VPC comes with a main route table and a default group whose members may talk to each
    /// other.
    pub(super) fn furnish_vpc(&mut self, vpc: &ResourceId) {
        let main = [("vpc", vpc.as_str()), ("main", "true")];
        self.make(&route_table::ROUTE_TABLE, "", &main);
        let group = [
            ("vpc", vpc.as_str()),
            ("description", "default VPC security group"),
        ];
        let kind = &security_group::SECURITY_GROUP;
        let id = self.make(kind, security_group::DEFAULT_NAME, &group);
        let everything = InnerPart::new("ingress all all self", "", Tags::new());
        self.put_parts(Actor::Cloud, &Target::new(kind, id), 0, &[everything]);
    }

    /// Makes a resource as the cloud itself does, past the rules for its customers.
    fn make(&mut self, kind: &Kind, name: &str, props: &[(&'static str, &str)]) -> ResourceId {
        let shelf = self
            .shelf(kind)
            .expect("the kinds of AWS are in every account");
        let order = Order {
            shelf,
            name: &name.into(),
            props: &Props::new(),
            tags: &Tags::new(),
            slot: None,
            attempt: 0,
        };
        let props = props
            .iter()
            .map(|(name, value)| (*name, Text::from(*value)));
        let (_, born) = self.give_birth(Actor::Cloud, &order, props.collect());
        born.id.clone()
    }

    pub(super) fn required_vpc(
        &self,
        order: &Order<'_>,
        props: &Props,
    ) -> Result<&Arc<Resource>, CloudError> {
        let vpc = self.required(order, props, "vpc")?;
        let target = Target::new(&vpc::VPC, ResourceId::new(vpc.clone()));
        let (_, state) = self.living(&target, self.shelves[order.shelf].row.create)?;
        Ok(&state.resource)
    }

    pub(super) fn network(&self, order: &Order<'_>, props: &Props) -> Result<Network, CloudError> {
        let cidr = self.required(order, props, "cidr")?;
        Network::parse("cidr", cidr).map_err(|error| {
            let row = self.shelves[order.shelf].row;
            refuse(row, row.create, row.service.invalid, error.to_string())
        })
    }
}
