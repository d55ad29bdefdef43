//! The workspace and its network, and the VPC and its subnets.

use cloud_port::ibm::NAME;
use cloud_port::ibm::power_network::{self, POWER_NETWORK, PowerNetwork};
use cloud_port::ibm::rule::{Direction, Peer, Rule, Traffic};
use cloud_port::ibm::vpc::{self, Vpc};
use cloud_port::ibm::vpc_subnet::{VPC_SUBNET, VpcSubnet};
use cloud_port::ibm::workspace::{WORKSPACE as WORKSPACE_KIND, Workspace};
use cloud_port::network::Network;
use ownership::blueprint::Expr;
use ownership::input::InputError;
use ownership::{Slot, SlotName, Text};

use super::blueprint::{NETWORK, VPC, WORKSPACE, group, region};
use super::names::{set, slot, subnet_slot};
use super::regions::{vpc_region, zones};
use super::{Cluster, Reference, Subnet};

const ZONE: &str = "spec.zone";
const REGION: &str = "spec.vpc.region";

impl Reference {
    /// Checks that nobody is asked to guess.
    fn check(&self, field: &'static str) -> Result<(), InputError> {
        match set(self.regex.as_ref()) {
            Some(regex) => {
                let rule = "is not served: give an id or a name, so that nobody has to choose";
                Err(InputError::new(format!("{field}.regex"), regex, rule))
            }
            None => Ok(()),
        }
    }
}

impl Cluster {
    /// The zone; at the end, none if it is wrong.
    pub(super) fn power_zone(&self) -> Result<&str, InputError> {
        let zone = set(self.zone.as_ref()).unwrap_or_default();
        if vpc_region(zone).is_some() {
            return Ok(zone);
        }
        if self.ends {
            return Ok("");
        }
        let rule = format!("must be a zone of Power Virtual Server: {}", zones());
        Err(InputError::new(ZONE, zone, rule))
    }

    /// The region of its VPC.
    ///
    /// # Errors
    /// A zone that nobody knows.
    pub fn region(&self) -> Result<&str, InputError> {
        if let Some(region) = set(self.vpc_region.as_ref()) {
            return Ok(region);
        }
        Ok(vpc_region(self.power_zone()?).unwrap_or_default())
    }

    /// The workspace: ours, or the one that is given.
    pub(super) fn workspace(&self) -> Result<Slot, InputError> {
        let field = "spec.serviceInstance";
        self.workspace.check(field)?;
        let at = slot(WORKSPACE);
        let name = set(self.workspace.name.as_ref());
        if set(self.workspace.id.as_ref()).is_some() {
            return Ok(used(Slot::own(at, &WORKSPACE_KIND, ""), field, "id"));
        }
        if !self.creates {
            let Some(name) = name else {
                let rule = "must have an id or a name: without the annotation \
                            powervs.cluster.x-k8s.io/create-infra nothing is made";
                return Err(InputError::new(field, "", rule));
            };
            let by = vec![(NAME, name.into())];
            return Ok(used(Slot::find(at, &WORKSPACE_KIND, by), field, "name"));
        }
        let workspace = Workspace {
            name: name.map_or_else(|| self.derived("serviceInstance"), Text::from),
            zone: self.power_zone()?.into(),
            resource_group: group(self),
        };
        Ok(used(workspace.slot(at), field, "name"))
    }

    /// The network in the workspace, with its DHCP server.
    pub(super) fn network(&self) -> Result<Slot, InputError> {
        let field = "spec.network";
        self.network.check(field)?;
        let at = slot(NETWORK);
        let workspace = Expr::Slot(slot(WORKSPACE));
        let within = || vec![(power_network::WORKSPACE, workspace.clone())];
        let name = set(self.network.name.as_ref());
        if set(self.network.id.as_ref()).is_some() {
            let network = Slot {
                props: within(),
                ..Slot::own(at, &POWER_NETWORK, "-")
            };
            return Ok(used(network, field, "id"));
        }
        let mut by = within();
        if let Some(id) = set(self.dhcp.id.as_ref()) {
            by.push((power_network::SERVER, id.into()));
            let found = Slot::find(at, &POWER_NETWORK, by);
            return Ok(used(found, "spec.dhcpServer", "id"));
        }
        if !self.creates {
            let Some(name) = name else {
                let rule = "must have an id or a name: without the annotation \
                            powervs.cluster.x-k8s.io/create-infra nothing is made";
                return Err(InputError::new(field, "", rule));
            };
            by.push((NAME, name.into()));
            return Ok(used(Slot::find(at, &POWER_NETWORK, by), field, "name"));
        }
        let server = set(self.dhcp.name.as_ref()).or(name).unwrap_or(&self.name);
        let network = PowerNetwork {
            server: server.into(),
            workspace,
            cidr: range(set(self.dhcp.cidr.as_ref()), || {
                "spec.dhcpServer.cidr".to_owned()
            })?,
            dns_server: set(self.dhcp.dns_server.as_ref()).map(Text::from),
            snat: self.dhcp.snat != Some(false),
        };
        let network = network.slot(at).map_err(|error| {
            let name = if error.field.contains("cidr") {
                "spec.dhcpServer.cidr"
            } else {
                "spec.dhcpServer.dnsServer"
            };
            InputError::new(name, &error.value, error.rule)
        })?;
        Ok(used(network, "spec.dhcpServer", "name"))
    }

    /// The VPC. API servers are reached through the security group that a new one comes with.
    pub(super) fn vpc(&self) -> Result<Slot, InputError> {
        let field = "spec.vpc";
        self.vpc.check(field)?;
        let at = slot(VPC);
        if set(self.vpc.id.as_ref()).is_some() {
            let name = self.vpc_name();
            let vpc = Slot::own(at, &vpc::VPC, name);
            return Ok(used(vpc.at(&region()), field, "id"));
        }
        let port = self.port()?;
        let api = Rule {
            direction: Direction::Inbound,
            traffic: Traffic::Tcp(port, port),
            peer: Peer::Network(Network::parse("peer", "0.0.0.0/0")?),
        };
        let vpc = Vpc {
            name: self.vpc_name(),
            resource_group: group(self),
            default_rules: vec![api],
        };
        let vpc = vpc.slot(at).map_err(blame("spec.vpc.name"))?;
        Ok(used(vpc.at(&region()), field, "name"))
    }

    pub(super) fn vpc_name(&self) -> Text {
        match set(self.vpc.name.as_ref()) {
            Some(name) => name.into(),
            None => vpc::VPC.names.fit(&self.derived("vpc")),
        }
    }

    /// The subnets: those that are given, or one in each zone.
    pub(super) fn subnets(&self) -> Result<Vec<Slot>, InputError> {
        if self.subnets.is_empty() {
            let zones = self.vpc_zones.iter().map(|zone| Subnet {
                zone: Some(zone.clone()),
                ..Subnet::default()
            });
            let zones: Vec<Subnet> = zones.collect();
            let slots = zones.iter().enumerate();
            return slots
                .map(|(at, subnet)| self.subnet(at, subnet, ZONE))
                .collect();
        }
        let slots = self.subnets.iter().enumerate();
        slots
            .map(|(at, subnet)| self.subnet(at, subnet, "spec.vpcSubnets"))
            .collect()
    }

    /// The slots of the subnets.
    pub(super) fn subnet_slots(&self) -> Vec<SlotName> {
        if self.subnets.is_empty() {
            let zones = self.vpc_zones.iter();
            return zones.map(|zone| subnet_slot(zone)).collect();
        }
        let subnets = self.subnets.iter().enumerate();
        subnets
            .map(|(at, subnet)| self.subnet_of(at, subnet))
            .collect()
    }

    /// The slot of a subnet that is given: by its id or name, else by where it stands.
    pub(super) fn subnet_of(&self, at: usize, subnet: &Subnet) -> SlotName {
        let given = set(subnet.id.as_ref()).or_else(|| set(subnet.name.as_ref()));
        match given {
            Some(key) => subnet_slot(key),
            None if self.subnets.is_empty() => {
                subnet_slot(subnet.zone.as_deref().unwrap_or_default())
            }
            None => subnet_slot(&at.to_string()),
        }
    }

    fn subnet(&self, at: usize, subnet: &Subnet, list: &str) -> Result<Slot, InputError> {
        let field = |name: &str| {
            if list == ZONE {
                list.to_owned()
            } else {
                format!("{list}[{at}].{name}")
            }
        };
        let name_of_slot = self.subnet_of(at, subnet);
        let within = Expr::Slot(slot(VPC));
        let zone = match set(subnet.zone.as_ref()) {
            Some(zone) => zone,
            None if self.vpc_zones.is_empty() => "",
            None => &self.vpc_zones[at % self.vpc_zones.len()],
        };
        if let Some(id) = set(subnet.id.as_ref()) {
            let own = Slot {
                props: vec![("vpc", within)],
                field: Some(field("id").into()),
                ..Slot::own(name_of_slot, &VPC_SUBNET, id)
            };
            return Ok(own.at(&region()));
        }
        if !self.ends && !self.vpc_zones.iter().any(|known| known == zone) {
            let rule = format!(
                "must be a zone of {}: {}",
                self.region()?,
                self.vpc_zones.join(", ")
            );
            return Err(InputError::new(field("zone"), zone, rule));
        }
        let what = if list == ZONE {
            format!("vpcsubnet-{zone}")
        } else {
            format!("vpcsubnet-{at}")
        };
        let name = match set(subnet.name.as_ref()) {
            Some(name) => name.into(),
            None => VPC_SUBNET.names.fit(&self.derived(&what)),
        };
        let own = VpcSubnet {
            name,
            vpc: within,
            zone: zone.into(),
            cidr: range(set(subnet.cidr.as_ref()), || field("cidr"))?,
            resource_group: group(self),
        };
        let own = own.slot(name_of_slot).map_err(|error| {
            let name = if error.field.contains("cidr") {
                "cidr"
            } else {
                "name"
            };
            InputError::new(field(name), &error.value, error.rule)
        })?;
        let own = Slot {
            field: Some(field("name").into()),
            ..own
        };
        Ok(own.at(&region()))
    }

    /// Checks the region.
    pub(super) fn check_region(&self) -> Result<(), InputError> {
        if self.vpc_zones.is_empty() {
            let region = self.region()?;
            let rule = "must be a region of VPC that this account can see: it has told no zones";
            return Err(InputError::new(REGION, region, rule));
        }
        Ok(())
    }

    /// The port at which the cluster's API is reached.
    ///
    /// # Errors
    /// A port that is none.
    pub fn port(&self) -> Result<u16, InputError> {
        let Some(port) = self.api_server_port else {
            return Ok(6443);
        };
        let legal = u16::try_from(port).ok().filter(|port| *port > 0);
        legal.ok_or_else(|| {
            let field = "spec.clusterNetwork.apiServerPort of the Cluster";
            InputError::new(field, &port.to_string(), "must be a port from 1 to 65535")
        })
    }
}

/// The range that somebody wrote.
fn range(text: Option<&str>, field: impl Fn() -> String) -> Result<Option<Network>, InputError> {
    let parse = |text| {
        Network::parse("cidr", text)
            .map_err(|error| InputError::new(field(), &error.value, error.rule))
    };
    text.map(parse).transpose()
}

/// The slot, with the field in which its author names what fills it.
pub(super) fn used(slot: Slot, field: &str, name: &str) -> Slot {
    Slot {
        field: Some(format!("{field}.{name}").into()),
        ..slot
    }
}

/// The same refusal of another field.
pub(super) fn blame(field: &str) -> impl Fn(InputError) -> InputError {
    let field = field.to_owned();
    move |error| InputError::new(field.clone(), &error.value, error.rule)
}
