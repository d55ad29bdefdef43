//! The properties of a create call: checked, and completed as the cloud does.

use std::sync::Arc;

use cloud_port::aws::network::Network;
use cloud_port::aws::{instance_profile, role, security_group, subnet, vpc};
use ownership::part::{Props, Resource};
use ownership::{CloudError, ResourceId, Target, Text};

use super::create::Order;
use crate::account::{Account, refuse};
use crate::aws::Model;

impl Account {
    /// Checks a create call's properties and completes them as the cloud does.
    pub(super) fn prepare(&self, order: &Order<'_>) -> Result<Props, CloudError> {
        let shelf = &self.shelves[order.shelf];
        let (row, op) = (shelf.row, shelf.row.create);
        let invalid = |rule: String| refuse(row, op, row.invalid(), rule);
        for (name, _) in order.props.iter() {
            if !shelf.kind.props.iter().any(|rule| rule.name == *name) {
                let message = format!("a {} has no property {name}", shelf.kind.noun);
                return Err(refuse(row, op, "UnknownParameter", message));
            }
        }
        let mut props = order.props.clone();
        match row.model {
            Model::Other => {}
            Model::Vpc => {
                let cidr = self.network(order, &props)?;
                if !(16..=28).contains(&cidr.prefix()) {
                    let message = format!("the range {cidr} must be between /16 and /28");
                    return Err(refuse(row, op, "InvalidVpc.Range", message));
                }
                props.set("cidr", cidr.to_string().into());
                props.set("default", "false".into());
            }
            Model::Subnet => {
                let vpc = self.required_vpc(order, &props)?;
                let cidr = self.network(order, &props)?;
                self.check_subnet(order, vpc, cidr)?;
                props.set("cidr", cidr.to_string().into());
                if props.get("zone").is_none() {
                    // AWS chooses one.
                    props.set("zone", "zone-a".into());
                }
            }
            Model::RouteTable => {
                self.required_vpc(order, &props)?;
                props.set("main", "false".into());
            }
            Model::SecurityGroup => {
                self.required(order, &props, "description")?;
                if props.get("vpc").is_none() {
                    let message = "there is no default VPC: say which VPC".to_owned();
                    let vpc = self
                        .default_vpc()
                        .ok_or_else(|| refuse(row, op, "VPCIdNotSpecified", message))?;
                    props.set("vpc", vpc.id.text());
                }
                self.required_vpc(order, &props)?;
                security_group::check_name(order.name).map_err(|e| invalid(e.to_string()))?;
            }
            Model::Role => {
                self.required(order, &props, "trust")?;
                role::check_name(order.name).map_err(|e| invalid(e.to_string()))?;
            }
            Model::InstanceProfile => {
                instance_profile::check_name(order.name).map_err(|e| invalid(e.to_string()))?;
            }
        }
        Ok(props)
    }

    pub(super) fn required<'a>(
        &self,
        order: &Order<'_>,
        props: &'a Props,
        name: &'static str,
    ) -> Result<&'a Text, CloudError> {
        props.get(name).ok_or_else(|| {
            let row = self.shelves[order.shelf].row;
            let message = format!("the request must have the parameter {name}");
            refuse(row, row.create, "MissingParameter", message)
        })
    }

    fn required_vpc(&self, order: &Order<'_>, props: &Props) -> Result<&Arc<Resource>, CloudError> {
        let vpc = self.required(order, props, "vpc")?;
        let target = Target::new(vpc::VPC.name, ResourceId::new(vpc.clone()));
        let (_, state) = self.living(&target, self.shelves[order.shelf].row.create)?;
        Ok(&state.resource)
    }

    fn network(&self, order: &Order<'_>, props: &Props) -> Result<Network, CloudError> {
        let cidr = self.required(order, props, "cidr")?;
        Network::parse("cidr", cidr).map_err(|error| {
            let row = self.shelves[order.shelf].row;
            refuse(row, row.create, row.invalid(), error.to_string())
        })
    }

    fn check_subnet(
        &self,
        order: &Order<'_>,
        vpc: &Resource,
        cidr: Network,
    ) -> Result<(), CloudError> {
        let row = self.shelves[order.shelf].row;
        let range = |resource: &Resource| {
            let text = resource.props.get("cidr")?;
            Network::parse("cidr", text).ok()
        };
        if !range(vpc).is_some_and(|whole| whole.contains(cidr)) {
            let message = format!(
                "the range {cidr} is not within that of the VPC '{}'",
                vpc.id
            );
            return Err(refuse(row, row.create, "InvalidSubnet.Range", message));
        }
        let id = vpc.id.text();
        let taken = self
            .alive(subnet::SUBNET.name)
            .filter(|other| other.props.get("vpc") == Some(&id))
            .find(|other| range(other).is_some_and(|net| net.overlaps(cidr)));
        match taken {
            None => Ok(()),
            Some(other) => {
                let message = format!("the range {cidr} overlaps that of '{}'", other.id);
                Err(refuse(row, row.create, "InvalidSubnet.Conflict", message))
            }
        }
    }
}
