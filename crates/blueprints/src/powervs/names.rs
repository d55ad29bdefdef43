//! What slots and resources are called, and the ids that the object gives.

use std::collections::{BTreeMap, BTreeSet};

use ownership::input::{self, InputError};
use ownership::mark::Dialect;
use ownership::name::{Alphabet, NameRule};
use ownership::{ResourceId, SlotName, Text};

use super::Cluster;
use super::blueprint::{COS, GATEWAY, NETWORK, VPC, WORKSPACE};

const CLUSTER: &str = "metadata.name";

/// The longest key in the name of a slot: `balancer-` stands before it.
const KEY: NameRule = NameRule {
    longest: SlotName::LONGEST - 9,
    alphabet: Alphabet::Label,
};

/// What is left of a tag of IBM Cloud beside
/// `powervs.cluster.x-k8s.io_owner_` and `_tg:powervsconnection`.
const LONGEST_CLUSTER: usize = 75;

/// The name of a slot of ours.
pub fn slot(name: &str) -> SlotName {
    SlotName::new(name).expect("the names of slots are made of fixed words and fitted keys")
}

fn keyed(family: &str, key: &str) -> SlotName {
    slot(&format!("{family}{}", KEY.fit(key)))
}

/// The slot of a subnet, by its name or id.
pub fn subnet_slot(key: &str) -> SlotName {
    keyed("subnet-", key)
}

/// The slot of a security group, by its name or id.
pub fn group_slot(key: &str) -> SlotName {
    keyed("group-", key)
}

/// The slot of a load balancer, by its name or id.
pub fn balancer_slot(key: &str) -> SlotName {
    keyed("balancer-", key)
}

/// What the author wrote; an empty text is nothing.
pub(super) fn set(field: Option<&String>) -> Option<&str> {
    field.map(String::as_str).filter(|text| !text.is_empty())
}

impl Cluster {
    /// How its marks are written.
    pub fn dialect(&self) -> Dialect {
        Dialect::PowerVs {
            cluster: self.name.as_str().into(),
            uuid: self.uuid.as_str().into(),
        }
    }

    /// Checks the name of which everything is called, and that stands in the marks.
    pub(super) fn check_name(&self) -> Result<(), InputError> {
        input::object_name(CLUSTER, &self.name)?;
        if self.name.len() > LONGEST_CLUSTER {
            let rule = format!(
                "must have at most {LONGEST_CLUSTER} characters: it is written into tags of IBM Cloud"
            );
            return Err(InputError::new(CLUSTER, &self.name, rule));
        }
        Ok(())
    }

    /// What a resource is called that its author gave no name.
    pub(super) fn derived(&self, what: &str) -> Text {
        format!("{}-{what}", self.name).into()
    }

    /// The ids that the author gives: wishes, not records.
    ///
    /// # Errors
    /// An id that is none.
    pub fn ids(&self) -> Result<BTreeMap<SlotName, ResourceId>, InputError> {
        let mut ids = BTreeMap::new();
        let mut give = |slot: SlotName, field: String, id: &str| {
            let legal =
                |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-' || c == '_';
            if id.len() > 64 || !id.chars().all(legal) {
                let rule =
                    "must be an id of IBM Cloud: at most 64 lower-case letters, digits, - and _";
                return Err(InputError::new(field, id, rule));
            }
            ids.insert(slot, ResourceId::new(id));
            Ok(())
        };
        if let Some(id) = set(self.workspace.id.as_ref()) {
            give(slot(WORKSPACE), "spec.serviceInstance.id".to_owned(), id)?;
        }
        if let Some(id) = set(self.network.id.as_ref()) {
            give(slot(NETWORK), "spec.network.id".to_owned(), id)?;
        }
        if !self.creates {
            return Ok(ids);
        }
        for (name, field, id) in [
            (VPC, "spec.vpc.id", &self.vpc.id),
            (GATEWAY, "spec.transitGateway.id", &self.gateway.id),
        ] {
            if let Some(id) = set(id.as_ref()) {
                give(slot(name), field.to_owned(), id)?;
            }
        }
        for (at, subnet) in self.subnets.iter().enumerate() {
            if let Some(id) = set(subnet.id.as_ref()) {
                give(subnet_slot(id), format!("spec.vpcSubnets[{at}].id"), id)?;
            }
        }
        for (at, group) in self.groups.iter().enumerate() {
            if let Some(id) = set(group.id.as_ref()) {
                give(
                    group_slot(id),
                    format!("spec.vpcSecurityGroups[{at}].id"),
                    id,
                )?;
            }
        }
        for (at, balancer) in self.balancers.iter().enumerate() {
            if let Some(id) = set(balancer.id.as_ref()) {
                give(
                    balancer_slot(id),
                    format!("spec.loadBalancers[{at}].id"),
                    id,
                )?;
            }
        }
        Ok(ids)
    }

    /// The slots whose resources the author gives names: what has one and no mark was made before, and is
    /// used.
    pub fn named(&self) -> BTreeSet<SlotName> {
        let mut named = BTreeSet::new();
        let mut note = |slot: SlotName, name: &Option<String>| {
            if set(name.as_ref()).is_some() {
                named.insert(slot);
            }
        };
        note(slot(WORKSPACE), &self.workspace.name);
        note(slot(NETWORK), &self.network.name);
        note(slot(NETWORK), &self.dhcp.name);
        note(slot(VPC), &self.vpc.name);
        note(slot(GATEWAY), &self.gateway.name);
        note(slot(COS), &self.cos.name);
        for (at, subnet) in self.subnets.iter().enumerate() {
            note(self.subnet_of(at, subnet), &subnet.name);
        }
        for (at, group) in self.groups.iter().enumerate() {
            note(Self::group_of(at, group), &group.name);
        }
        for (at, balancer) in self.balancers.iter().enumerate() {
            note(Self::balancer_of(at, balancer), &balancer.name);
        }
        named
    }
}
