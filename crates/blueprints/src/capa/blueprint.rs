//! What a cluster needs on AWS, as a Blueprint.
//!
//! | slot | what | in a VPC that is brought |
//! | --- | --- | --- |
//! | `vpc` | the VPC, with DNS | used |
//! | `igw` | its internet gateway | – |
//! | `subnet-…` | a public and a private one in each zone, or those that are given | used, with the cluster mark |
//! | `eip-ZONE`, `nat-ZONE` | a NAT gateway with its address in each zone with a public subnet | – |
//! | `rt-…` | a route table for each subnet | – |
//! | `group-ROLE`, `override-ROLE` | security groups | ours all the same, or used |
//! | `api-lb`; `api-nlb`, `api-targets` | the load balancer of the API server | ours all the same |
//!
//! A VPC that the object names and the record does not know may be ours after all: the record can be lost.
//! So what a VPC of ours has is wanted there only for a VPC of ours (`only_for`).

use std::collections::BTreeSet;

use cloud_port::aws::classic_load_balancer::CLASSIC_LOAD_BALANCER;
use cloud_port::aws::internet_gateway::InternetGateway;
use cloud_port::aws::nat_gateway::NatGateway;
use cloud_port::aws::network::Network;
use cloud_port::aws::network_load_balancer::NETWORK_LOAD_BALANCER;
use cloud_port::aws::route_table::{Route, RouteTable};
use cloud_port::aws::security_group::SECURITY_GROUP;
use cloud_port::aws::subnet::{self, SUBNET};
use cloud_port::aws::target_group::TARGET_GROUP;
use cloud_port::aws::{elastic_ip, vpc};
use ownership::blueprint::{Asked, BlueprintError, Expr, Family, Leftover};
use ownership::input::InputError;
use ownership::{Blueprint, Kind, Slot};

use super::Cluster;
use super::names::{VPC_ID, address_slot, nat_slot, publicity, slot, table_slot};
use super::subnets::{Planned, home_of_nat};
use super::tags::tagged;

/// The VPC.
pub const VPC: &str = "vpc";
/// Its internet gateway.
pub const INTERNET_GATEWAY: &str = "igw";
/// The classic load balancer of the API server.
pub const BALANCER: &str = "api-lb";
/// The network load balancer of the API server.
pub const NETWORK_BALANCER: &str = "api-nlb";
/// The targets of the network load balancer.
pub const TARGETS: &str = "api-targets";

/// The families of slots: what is not in the object any more goes.
pub const FAMILIES: [Family; 9] = [
    family(VPC),
    family(INTERNET_GATEWAY),
    family("subnet-"),
    family("eip-"),
    family("nat-"),
    family("rt-"),
    family("group-"),
    family("override-"),
    family("api-"),
];

/// What controllers inside the cluster may leave behind in its VPC: balancers before what they forward to,
/// and both before the groups that they have.
pub static LEFTOVERS: [Leftover; 4] = [
    leftover(&CLASSIC_LOAD_BALANCER),
    leftover(&NETWORK_LOAD_BALANCER),
    leftover(&TARGET_GROUP),
    leftover(&SECURITY_GROUP),
];

const fn leftover(kind: &'static Kind) -> Leftover {
    Leftover {
        kind,
        within: "vpc",
        slot: VPC,
    }
}

/// Rises when a family comes or goes.
const REVISION: u32 = 1;

const fn family(name: &'static str) -> Family {
    Family {
        name,
        asked: Asked::BySpec,
    }
}

/// What most resources have as their role.
const COMMON: &str = "common";

impl Cluster {
    /// The slots that the cluster needs filled. Ids that the object records are not part of it, but of the
    /// ledger: see [`Cluster::ids`].
    ///
    /// # Errors
    /// The field that cannot be satisfied, and the rule it breaks.
    pub fn blueprint(&self) -> Result<Blueprint, InputError> {
        self.checked_name()?;
        let subnets = self.planned()?;
        if !self.ends {
            self.check_tags()?;
            self.check_subnets(&subnets)?;
            self.check_not_empty(&subnets)?;
        }
        let nat_zones = Self::nat_zones(&subnets);
        let mut slots = vec![self.vpc()?];
        slots.push(self.only_in_ours(self.internet_gateway()));
        for planned in &subnets {
            slots.push(self.subnet(planned)?);
        }
        for zone in &nat_zones {
            let gateway = self.nat_gateway(&subnets, zone);
            slots.extend(
                gateway
                    .into_iter()
                    .flatten()
                    .map(|it| self.only_in_ours(it)),
            );
        }
        for planned in subnets.iter().filter(|it| self.gets_table(it)) {
            let table = self.route_table(planned, &nat_zones)?;
            slots.push(self.only_in_ours(table));
        }
        let own_nat = if self.brings_its_vpc() {
            BTreeSet::new()
        } else {
            nat_zones
        };
        slots.extend(self.groups(&own_nat)?);
        slots.extend(self.balancer(&subnets)?);
        match Blueprint::new(slots) {
            Ok(blueprint) => Ok(blueprint.within(&FAMILIES, REVISION).leaving(&LEFTOVERS)),
            Err(BlueprintError::Input { source, .. }) => {
                Err(Self::blame_tags(&source.value, &source.rule))
            }
            Err(error) => Err(InputError::new("spec.network", "", error)),
        }
    }

    fn check_not_empty(&self, subnets: &[Planned]) -> Result<(), InputError> {
        if !subnets.is_empty() {
            return Ok(());
        }
        let rule = if self.brings_its_vpc() {
            "must name the subnets by their ids (subnet-…): spec.network.vpc.id names a VPC that is \
             somebody's"
        } else {
            "must not be empty: the region has told no zone in which subnets could be made"
        };
        Err(InputError::new("spec.network.subnets", "", rule))
    }

    fn vpc(&self) -> Result<Slot, InputError> {
        let field = Some(VPC_ID.into());
        if self.brings_its_vpc() || self.ends {
            let role = Some(COMMON.into());
            let vpc = Slot::own(slot(VPC), &vpc::VPC, "");
            return Ok(Slot { field, role, ..vpc });
        }
        let vpc = vpc::Vpc {
            cidr: self.range()?,
            dns_support: true,
            dns_hostnames: true,
        };
        let name = format!("{}-vpc", self.name);
        let tags = self.tags([("Name", name.as_str())], &self.vpc.tags);
        let vpc = tagged(vpc.slot(slot(VPC))?, COMMON, tags);
        Ok(Slot { field, ..vpc })
    }

    fn internet_gateway(&self) -> Slot {
        let gateway = InternetGateway {
            vpc: Expr::Slot(slot(VPC)),
        };
        let name = format!("{}-igw", self.name);
        self.ours(gateway.slot(slot(INTERNET_GATEWAY)), COMMON, &name)
    }

    fn subnet(&self, planned: &Planned) -> Result<Slot, InputError> {
        let network = Expr::Slot(slot(VPC));
        let field = Some(planned.field("id").into());
        let role = publicity(planned.is_public);
        // For the load balancers that the cloud controller inside the cluster makes.
        let balancers = if planned.is_public {
            "kubernetes.io/role/elb"
        } else {
            "kubernetes.io/role/internal-elb"
        };
        let given = planned.at.and_then(|at| self.subnets.get(at));
        let none = std::collections::BTreeMap::new();
        let own = given.map_or(&none, |given| &given.tags);
        if let (false, Some(cidr), Some(zone)) = (planned.is_brought, planned.cidr, &planned.zone) {
            let subnet = subnet::Subnet {
                vpc: network,
                cidr,
                zone: zone.as_str().into(),
                public_ips: planned.is_public,
            };
            let named = |error: InputError| {
                let name = if error.field.contains("zone") {
                    "availabilityZone"
                } else {
                    "cidrBlock"
                };
                InputError::new(planned.field(name), &error.value, error.rule)
            };
            let slot = subnet.slot(planned.slot.clone()).map_err(named)?;
            let tags = self.tags([("Name", planned.name.as_str()), (balancers, "1")], own);
            let slot = tagged(slot, role, tags);
            return Ok(Slot { field, ..slot });
        }
        let slot = Slot {
            props: vec![("vpc", network)],
            field,
            cluster_mark: planned.is_brought,
            ..Slot::own(planned.slot.clone(), &SUBNET, "")
        };
        let tags = self.tags([(balancers, "1")], &none);
        Ok(tagged(slot, role, tags))
    }

    /// The zones that get a NAT gateway: those with a public subnet, if there is a private one at all.
    fn nat_zones(subnets: &[Planned]) -> BTreeSet<String> {
        if subnets.iter().all(|subnet| subnet.is_public) {
            return BTreeSet::new();
        }
        let public = subnets.iter().filter(|subnet| subnet.is_public);
        public.filter_map(|subnet| subnet.zone.clone()).collect()
    }

    /// A NAT gateway and its address.
    fn nat_gateway(&self, subnets: &[Planned], zone: &str) -> Option<[Slot; 2]> {
        let home = home_of_nat(subnets, zone)?;
        let address = elastic_ip::slot(address_slot(zone));
        let gateway = NatGateway {
            subnet: Expr::Slot(home.slot.clone()),
            allocation: Expr::Slot(address_slot(zone)),
        };
        let mut gateway = gateway.slot(nat_slot(zone));
        // Without a way out it comes to nothing.
        gateway.after.push(slot(INTERNET_GATEWAY));
        let eip = format!("{}-eip-{COMMON}", self.name);
        let nat = format!("{}-nat", self.name);
        Some([
            self.ours(address, COMMON, &eip),
            self.ours(gateway, COMMON, &nat),
        ])
    }

    /// Whether a subnet gets a route table of ours: not one that somebody brought, who has seen to that.
    fn gets_table(&self, subnet: &Planned) -> bool {
        !subnet.is_brought || (self.brings_its_vpc() && subnet.zone.is_some())
    }

    fn route_table(
        &self,
        subnet: &Planned,
        nat_zones: &BTreeSet<String>,
    ) -> Result<Slot, InputError> {
        let zone = subnet.zone.as_deref().unwrap_or_default();
        let through = if subnet.is_public {
            Some(slot(INTERNET_GATEWAY))
        } else {
            nat_zones.contains(zone).then(|| nat_slot(zone))
        };
        if through.is_none() && !self.brings_its_vpc() && !self.ends {
            let rule = "must be a zone with a public subnet: a private one reaches the internet by the NAT \
                        gateway there";
            return Err(InputError::new(
                subnet.field("availabilityZone"),
                zone,
                rule,
            ));
        }
        let destination = Network::parse("destination", "0.0.0.0/0")?;
        let route = |through| Route {
            destination,
            through: Expr::Slot(through),
        };
        let table = RouteTable {
            vpc: Expr::Slot(slot(VPC)),
            routes: through.map(route).into_iter().collect(),
            subnets: vec![Expr::Slot(subnet.slot.clone())],
        };
        let name = format!("{}-rt-{}-{zone}", self.name, publicity(subnet.is_public));
        Ok(self.ours(table.slot(table_slot(&subnet.slot)), COMMON, &name))
    }

    /// What only a VPC of ours has.
    fn only_in_ours(&self, it: Slot) -> Slot {
        Slot {
            only_for: self.brings_its_vpc().then(|| slot(VPC)),
            ..it
        }
    }
}
