//! The subnets of a cluster, given or made, each with its slot.

use cloud_port::aws::network::Network;
use ownership::SlotName;
use ownership::input::InputError;

use super::names::{aws_id, set, subnet_slot};
use super::ranges::default_subnets;
use super::{Cluster, Subnet};

/// A subnet, checked.
#[derive(Clone, Debug)]
pub(super) struct Planned {
    /// Its place in the list; `None` if the object names none.
    pub(super) at: Option<usize>,
    /// Its slot.
    pub(super) slot: SlotName,
    /// Its id in the cloud.
    pub(super) id: Option<String>,
    /// What it is called, if it is ours.
    pub(super) name: String,
    /// Its range.
    pub(super) cidr: Option<Network>,
    /// Its zone.
    pub(super) zone: Option<String>,
    /// Whether it is reached from outside.
    pub(super) is_public: bool,
    /// Whether the object names it by an id that is not known to be ours.
    pub(super) is_brought: bool,
    /// Whether the object says that the zone's NAT gateway is in it.
    pub(super) has_nat: bool,
}

impl Planned {
    /// A field of it, as its author knows it.
    pub(super) fn field(&self, name: &str) -> String {
        field(self.at, name)
    }
}

fn field(at: Option<usize>, name: &str) -> String {
    match at {
        Some(at) => format!("spec.network.subnets[{at}].{name}"),
        None => format!("spec.network.subnets.{name}"),
    }
}

/// The public subnet in which a zone's NAT gateway is: the one that says so, else the first.
pub(super) fn home_of_nat<'p>(all: &'p [Planned], zone: &str) -> Option<&'p Planned> {
    let mut public = all
        .iter()
        .filter(|it| it.is_public && it.zone.as_deref() == Some(zone));
    let first = public.clone().next();
    public.find(|it| it.has_nat).or(first)
}

impl Cluster {
    /// All subnets, as they are given, or as they are made where none are.
    ///
    /// Ranges and zones are not checked here: an object whose fields are wrong has ids all the same.
    pub(super) fn planned(&self) -> Result<Vec<Planned>, InputError> {
        if self.subnets.is_empty() && !self.brings_its_vpc() {
            let made = if self.ends {
                self.subnets_in_all_zones()
            } else {
                default_subnets(self)?
            };
            return made.iter().map(|subnet| self.plan(None, subnet)).collect();
        }
        let given = self.subnets.iter().enumerate();
        given
            .map(|(at, subnet)| self.plan(Some(at), subnet))
            .collect()
    }

    fn plan(&self, at: Option<usize>, subnet: &Subnet) -> Result<Planned, InputError> {
        if subnet.id.is_empty() {
            let rule = "must be the id of a subnet (subnet-…), or a name for one that is made";
            return Err(InputError::new(field(at, "id"), "", rule));
        }
        let by_id = subnet.id.starts_with("subnet-");
        if by_id {
            aws_id(field(at, "id"), &subnet.id, "subnet-")?;
        }
        let recorded = set(subnet.resource_id.as_ref());
        if let Some(id) = recorded {
            aws_id(field(at, "resourceID"), id, "subnet-")?;
        }
        let id = recorded.or_else(|| by_id.then_some(subnet.id.as_str()));
        let zone = set(subnet.zone.as_ref());
        let cidr = set(subnet.cidr.as_ref()).map(|text| range(at, text));
        let tagged = subnet.tags.get("Name").filter(|name| !name.is_empty());
        Ok(Planned {
            at,
            slot: self.slot_of(&subnet.id),
            id: id.map(str::to_owned),
            name: tagged.unwrap_or(&subnet.id).clone(),
            cidr: cidr.transpose()?,
            zone: zone.map(str::to_owned),
            is_public: subnet.is_public,
            is_brought: id.is_some_and(|id| !self.ours.contains_key(id)),
            has_nat: set(subnet.nat_gateway.as_ref()).is_some(),
        })
    }

    /// The slot of a subnet. One of ours that is named by its id has the slot that it was made for.
    fn slot_of(&self, id: &str) -> SlotName {
        let made = self.ours.get(id).filter(|slot| slot.starts_with("subnet-"));
        let made = made.and_then(|slot| SlotName::new(slot).ok());
        made.unwrap_or_else(|| subnet_slot(&self.name, id))
    }

    /// Checks that subnets can be there together.
    pub(super) fn check_subnets(&self, all: &[Planned]) -> Result<(), InputError> {
        let range = self.range()?;
        for (at, subnet) in all.iter().enumerate() {
            let twin = all[..at].iter().find(|other| other.slot == subnet.slot);
            if let Some(twin) = twin {
                let other = twin.field("id");
                let rule = format!("names the same subnet as {other}: give it another one");
                return Err(InputError::new(subnet.field("id"), &subnet.name, rule));
            }
            if subnet.is_brought {
                continue;
            }
            self.check_own(subnet, range, &all[..at])?;
        }
        Ok(())
    }

    /// A subnet that we make has a zone, and a range of its own within the VPC's.
    fn check_own(
        &self,
        subnet: &Planned,
        range: Network,
        before: &[Planned],
    ) -> Result<(), InputError> {
        if self.brings_its_vpc() && subnet.id.is_none() {
            let rule = "must be the id of a subnet (subnet-…): spec.network.vpc.id names a VPC that is \
                        somebody's, and nothing is made of its addresses";
            return Err(InputError::new(subnet.field("id"), &subnet.name, rule));
        }
        if subnet.zone.is_none() {
            let rule = "must be set: it is the zone in which the subnet is made";
            return Err(InputError::new(subnet.field("availabilityZone"), "", rule));
        }
        let Some(cidr) = subnet.cidr else {
            let rule = format!("must be set: a range within that of the VPC, {range}");
            return Err(InputError::new(subnet.field("cidrBlock"), "", rule));
        };
        let refuse = |rule: String| {
            let text = cidr.to_string();
            Err(InputError::new(subnet.field("cidrBlock"), &text, rule))
        };
        if !cidr.is_v4() || !(16..=28).contains(&cidr.prefix()) {
            return refuse("must be an IPv4 range between /16 and /28".to_owned());
        }
        if !self.brings_its_vpc() && !range.contains(cidr) {
            return refuse(format!("must be within the range of the VPC, {range}"));
        }
        let overlaps = |other: &&Planned| other.cidr.is_some_and(|other| other.overlaps(cidr));
        if let Some(other) = before.iter().find(overlaps) {
            let name = other.field("cidrBlock");
            let theirs = other.cidr.map(|cidr| cidr.to_string());
            let theirs = theirs.unwrap_or_default();
            return refuse(format!("must not overlap with {name}, {theirs}"));
        }
        Ok(())
    }
}

fn range(at: Option<usize>, text: &str) -> Result<Network, InputError> {
    Network::parse("cidr", text)
        .map_err(|error| InputError::new(field(at, "cidrBlock"), text, error.rule))
}
