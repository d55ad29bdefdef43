//! Networks: what a region and a VPC come with, and what is asked of those who put something there.

use std::sync::Arc;

use cloud_port::aws::network::Network;
use cloud_port::aws::{route_table, security_group, subnet, vpc};
use ownership::mark::Tags;
use ownership::part::{InnerPart, Props, Resource};
use ownership::secret::Secrets;
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
        let names = InnerPart::new(vpc::DNS_HOSTNAMES, "", Tags::new());
        let whole = Target::new(&vpc::VPC, vpc.clone());
        self.put_parts(Actor::Cloud, &whole, 0, &[names]);
        for (at, name) in self.zones().iter().enumerate() {
            let cidr = format!("172.31.{}.0/20", 16 * at);
            let props = [
                ("vpc", vpc.as_str()),
                ("cidr", &cidr),
                ("zone", name),
                (subnet::PUBLIC_IPS, "true"),
            ];
            self.make(&subnet::SUBNET, "", &props);
        }
    }

    /// The region's zones.
    pub(super) fn zones(&self) -> Vec<Text> {
        let letters = (b'a'..=b'p').map(char::from);
        let zones = letters.take(self.settings.zones.into());
        zones
            .map(|letter| format!("zone-{letter}").into())
            .collect()
    }

    /// The region has one zone more from now on.
    pub fn open_zone(&mut self) {
        Arc::make_mut(&mut self.settings).zones += 1;
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
            secrets: &Secrets::new(),
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
        self.required_resource(order, props, &vpc::VPC, "vpc")
    }

    /// The living resource of a Kind that a create call must name by this property.
    pub(super) fn required_resource(
        &self,
        order: &Order<'_>,
        props: &Props,
        kind: &'static Kind,
        prop: &'static str,
    ) -> Result<&Arc<Resource>, CloudError> {
        let id = self.required(order, props, prop)?;
        let target = Target::new(kind, ResourceId::new(id.clone()));
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
