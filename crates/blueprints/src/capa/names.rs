//! What slots and resources are called, and the ids that the object records.

use std::collections::BTreeMap;

use ownership::input::{self, InputError};
use ownership::mark::Dialect;
use ownership::name::{Alphabet, NameRule};
use ownership::{ResourceId, SlotName};

use super::Cluster;
use super::blueprint::{INTERNET_GATEWAY, VPC};
use super::groups::Role;
use super::subnets::Planned;

/// Where the object names its VPC.
pub(super) const VPC_ID: &str = "spec.network.vpc.id";
const GATEWAY_ID: &str = "spec.network.vpc.internetGatewayId";
const CLUSTER: &str = "metadata.name of the Cluster";

/// What is left of a tag's key beside `sigs.k8s.io/cluster-api-provider-aws/cluster/`.
const LONGEST_CLUSTER: usize = 83;

/// The longest key in the name of a slot: `subnet-` stands before it.
const KEY: NameRule = NameRule {
    longest: SlotName::LONGEST - 7,
    alphabet: Alphabet::Label,
};

/// The name of a slot of ours.
pub fn slot(name: &str) -> SlotName {
    SlotName::new(name).expect("the names of slots are made of fixed words and fitted keys")
}

/// The slot of what has such a key: a zone, a subnet's key.
pub(super) fn keyed(family: &str, key: &str) -> SlotName {
    slot(&format!("{family}{}", KEY.fit(key)))
}

/// The slot of a zone's NAT gateway.
pub fn nat_slot(zone: &str) -> SlotName {
    keyed("nat-", zone)
}

/// The slot of the address of a zone's NAT gateway.
pub fn address_slot(zone: &str) -> SlotName {
    keyed("eip-", zone)
}

/// The slot of the route table of a subnet, by the subnet's slot.
pub fn table_slot(subnet: &SlotName) -> SlotName {
    let key = subnet.as_str().trim_start_matches("subnet-");
    slot(&format!("rt-{key}"))
}

/// The slot of our security group of a role.
pub fn group_slot(role: Role) -> SlotName {
    slot(&format!("group-{}", role.name()))
}

/// The slot of somebody's security group that is used for a role.
pub fn override_slot(role: Role) -> SlotName {
    slot(&format!("override-{}", role.name()))
}

/// What a subnet is called that we make where none is given.
pub(super) fn default_subnet(cluster: &str, is_public: bool, zone: &str) -> String {
    format!("{cluster}-subnet-{}-{zone}", publicity(is_public))
}

/// `public` or `private`.
pub(super) fn publicity(is_public: bool) -> &'static str {
    if is_public { "public" } else { "private" }
}

/// The slot of a subnet: by its role and zone if it is called as we call ours, else by its id or name.
/// Never by its place in the list.
pub(super) fn subnet_slot(cluster: &str, id: &str) -> SlotName {
    let ours = id.strip_prefix(&format!("{cluster}-subnet-"));
    let ours = ours.filter(|key| key.starts_with("public-") || key.starts_with("private-"));
    match (ours, id.strip_prefix("subnet-")) {
        (Some(key), _) => keyed("subnet-", key),
        (None, Some(digits)) => keyed("subnet-", &format!("id-{digits}")),
        (None, None) => keyed("subnet-", &format!("x-{id}")),
    }
}

/// Checks an id of EC2.
pub(super) fn aws_id(
    field: impl Into<input::Field>,
    id: &str,
    prefix: &str,
) -> Result<(), InputError> {
    let hex = |c: char| c.is_ascii_digit() || ('a'..='f').contains(&c);
    let digits = id.strip_prefix(prefix);
    if digits.is_some_and(|rest| (8..=17).contains(&rest.len()) && rest.chars().all(hex)) {
        return Ok(());
    }
    let rule = format!("must be {prefix} followed by 8 to 17 hexadecimal digits in lower case");
    Err(InputError::new(field, id, rule))
}

/// What is written in a field: an empty string is the same as none.
pub(super) fn set(field: Option<&String>) -> Option<&str> {
    field.map(String::as_str).filter(|text| !text.is_empty())
}

/// The slots of a subnet and of what is recorded beside it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Beside {
    /// The subnet.
    pub subnet: SlotName,
    /// Its route table.
    pub table: SlotName,
    /// The NAT gateway in it, if the zone's is.
    pub nat: Option<SlotName>,
}

impl Cluster {
    /// The ids that the object records, by slot: what belongs into the ledger's ids.
    ///
    /// # Errors
    /// The field whose value cannot be an id of its kind.
    pub fn ids(&self) -> Result<BTreeMap<SlotName, ResourceId>, InputError> {
        let mut ids = BTreeMap::new();
        if let Some(id) = set(self.vpc.id.as_ref()) {
            aws_id(VPC_ID, id, "vpc-")?;
            ids.insert(slot(VPC), ResourceId::new(id));
        }
        if let Some(id) = set(self.vpc.internet_gateway.as_ref()) {
            aws_id(GATEWAY_ID, id, "igw-")?;
            ids.insert(slot(INTERNET_GATEWAY), ResourceId::new(id));
        }
        let planned = self.planned()?;
        for subnet in &planned {
            ids.extend(self.subnet_ids(subnet, &planned)?);
        }
        for (name, id) in &self.overrides {
            let role = Role::parse("spec.network.securityGroupOverrides", name)?;
            aws_id(
                format!("spec.network.securityGroupOverrides.{name}"),
                id,
                "sg-",
            )?;
            ids.insert(override_slot(role), ResourceId::new(id.as_str()));
        }
        Ok(ids)
    }

    /// The ids of a subnet, of its route table and of the NAT gateway in it.
    fn subnet_ids(
        &self,
        subnet: &Planned,
        all: &[Planned],
    ) -> Result<Vec<(SlotName, ResourceId)>, InputError> {
        let mut ids = Vec::new();
        if let Some(id) = &subnet.id {
            ids.push((subnet.slot.clone(), ResourceId::new(id.as_str())));
        }
        let Some(given) = subnet.at.and_then(|at| self.subnets.get(at)) else {
            return Ok(ids);
        };
        if let Some(id) = set(given.route_table.as_ref()) {
            aws_id(subnet.field("routeTableId"), id, "rtb-")?;
            ids.push((table_slot(&subnet.slot), ResourceId::new(id)));
        }
        if let (Some(id), Some(zone)) = (set(given.nat_gateway.as_ref()), &subnet.zone) {
            aws_id(subnet.field("natGatewayId"), id, "nat-")?;
            let home = super::subnets::home_of_nat(all, zone);
            if home.is_some_and(|home| home.slot == subnet.slot) {
                ids.push((nat_slot(zone), ResourceId::new(id)));
            }
        }
        Ok(ids)
    }

    /// The dialect that its marks are written in.
    pub fn dialect(&self) -> Dialect {
        Dialect::Capa {
            cluster: self.name.as_str().into(),
        }
    }

    /// The cluster's name, if resources can be named and marked after it.
    pub(super) fn checked_name(&self) -> Result<&str, InputError> {
        input::object_name(CLUSTER, &self.name)?;
        if self.name.len() > LONGEST_CLUSTER {
            let rule = format!(
                "must have at most {LONGEST_CLUSTER} characters, so that a tag can hold it beside \
                 'sigs.k8s.io/cluster-api-provider-aws/cluster/'"
            );
            return Err(InputError::new(CLUSTER, &self.name, rule));
        }
        Ok(&self.name)
    }

    /// The slots of each subnet and of what is recorded beside it, in the order of the list.
    ///
    /// # Errors
    /// The field that nobody can read.
    pub fn beside(&self) -> Result<Vec<Beside>, InputError> {
        let planned = self.planned()?;
        let given = planned.iter().filter(|subnet| subnet.at.is_some());
        let beside = given.map(|subnet| {
            let zone = subnet.zone.as_deref();
            let home = zone.and_then(|zone| super::subnets::home_of_nat(&planned, zone));
            let is_home = home.is_some_and(|home| home.slot == subnet.slot);
            Beside {
                subnet: subnet.slot.clone(),
                table: table_slot(&subnet.slot),
                nat: zone.filter(|_| is_home).map(nat_slot),
            }
        });
        Ok(beside.collect())
    }

    /// What our security group of a role is called.
    pub fn group_name(&self, role: Role) -> String {
        // EC2 takes no names that begin as its ids do.
        let at = if self.name.starts_with("sg-") {
            "@"
        } else {
            ""
        };
        format!("{at}{}-{}", self.name, role.name())
    }

    /// Whether the object shows that a record was kept for it: `resourceID` is written for subnets that
    /// are made, never for those that somebody brings. The original writes it, too.
    pub(super) fn had_a_record(&self) -> bool {
        let mut subnets = self.subnets.iter();
        subnets.any(|subnet| set(subnet.resource_id.as_ref()).is_some())
    }

    /// Whether the object names a VPC that is not known to be ours.
    pub fn brings_its_vpc(&self) -> bool {
        let id = set(self.vpc.id.as_ref());
        id.is_some_and(|id| !self.ours.contains_key(id))
    }
}
