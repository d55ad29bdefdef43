//! The fields of a KKP cluster, checked: every refusal names the field and the rule.

use std::collections::BTreeMap;

use cloud_port::aws::instance_profile;
use cloud_port::aws::network::Network;
use ownership::input::{self, InputError};
use ownership::mark::Dialect;
use ownership::{ResourceId, SlotName};

use super::blueprint::{self, slot};
use super::{Cluster, IpFamily};

const NAME: &str = "metadata.name";
/// What is left of a tag's key on AWS beside `owned-by.kubermatic.k8c.io/`.
const LONGEST_NAME: usize = 101;
const IP_FAMILY: &str = "spec.clusterNetwork.ipFamily";
/// Where the object names its VPC.
pub(super) const VPC: &str = "spec.cloud.aws.vpcID";
/// Where the object names its route table.
pub(super) const ROUTE_TABLE: &str = "spec.cloud.aws.routeTableID";
const SECURITY_GROUP: &str = "spec.cloud.aws.securityGroupID";
const ROLE: &str = "spec.cloud.aws.roleARN";
const INSTANCE_PROFILE: &str = "spec.cloud.aws.instanceProfileName";
const NODE_PORTS: &str = "spec.componentsOverride.apiserver.nodePortRange";
const ALLOWED: &str = "spec.cloud.aws.nodePortsAllowedIPRanges";
const ALLOWED_ONE: &str = "spec.cloud.aws.nodePortsAllowedIPRange";

impl IpFamily {
    /// Reads the field; empty means IPv4.
    ///
    /// # Errors
    /// The rule that `text` breaks.
    pub fn parse(text: &str) -> Result<Self, InputError> {
        match text {
            "" | "IPv4" => Ok(Self::V4),
            "IPv6" => Ok(Self::V6),
            "IPv4+IPv6" => Ok(Self::Dual),
            _ => Err(InputError::new(
                IP_FAMILY,
                text,
                "must be IPv4, IPv6 or IPv4+IPv6",
            )),
        }
    }

    pub(super) fn has_v4(self) -> bool {
        self != Self::V6
    }

    pub(super) fn has_v6(self) -> bool {
        self != Self::V4
    }
}

impl Cluster {
    /// The ids that the object records, by slot: what belongs into the ledger's ids.
    ///
    /// # Errors
    /// The field whose value cannot be an id of its kind.
    pub fn ids(&self) -> Result<BTreeMap<SlotName, ResourceId>, InputError> {
        let mut ids = BTreeMap::new();
        let mut record = |name, id: &str| ids.insert(slot(name), ResourceId::new(id));
        if let Some(id) = set(self.vpc_id.as_ref()) {
            record(blueprint::VPC, aws_id(VPC, id, "vpc-")?);
        }
        if let Some(id) = set(self.route_table_id.as_ref()) {
            record(blueprint::ROUTE_TABLE, aws_id(ROUTE_TABLE, id, "rtb-")?);
        }
        if let Some(id) = set(self.security_group_id.as_ref()) {
            record(
                blueprint::SECURITY_GROUP,
                aws_id(SECURITY_GROUP, id, "sg-")?,
            );
        }
        if self.disable_iam {
            return Ok(ids);
        }
        if let Some(name) = self.role_name()? {
            record(blueprint::CONTROL_PLANE_ROLE, name);
        }
        if let Some(name) = self.profile_name()? {
            record(blueprint::INSTANCE_PROFILE, name);
        }
        Ok(ids)
    }

    /// The name of the control plane's role that the object records.
    pub(super) fn role_name(&self) -> Result<Option<&str>, InputError> {
        set(self.role.as_ref()).map(role_name).transpose()
    }

    /// The name of the profile that the object records.
    pub(super) fn profile_name(&self) -> Result<Option<&str>, InputError> {
        let name = set(self.instance_profile.as_ref());
        let checked = |name| {
            iam_name(name, 128).ok_or_else(|| {
                let rule = "must be the name of an instance profile: 1 to 128 letters, digits and \
                            + = , . @ _ -";
                InputError::new(INSTANCE_PROFILE, name, rule)
            })
        };
        name.map(checked).transpose()
    }

    /// Whether the profile that the object records is named as we name ours.
    pub fn records_own_profile(&self) -> bool {
        let ours = instance_profile::fit_name(&format!("kubernetes-{}", self.name));
        let recorded = set(self.instance_profile.as_ref());
        !self.disable_iam && recorded.is_some_and(|name| ours.is_ok_and(|ours| *ours == *name))
    }

    /// Whether everything that the object names can be in this account.
    ///
    /// # Errors
    /// The field whose value is in another one.
    pub fn check_account(&self, account: &str) -> Result<(), InputError> {
        let Some(role) = set(self.role.as_ref()).filter(|_| !self.disable_iam) else {
            return Ok(());
        };
        let foreign = role
            .strip_prefix("arn:")
            .and_then(|rest| rest.split(':').nth(3))
            .is_some_and(|of| of != account);
        if foreign {
            let rule = format!("must be a role of {account}, the account of the credentials");
            return Err(InputError::new(ROLE, role, rule));
        }
        Ok(())
    }

    /// The dialect that its marks are written in.
    pub fn dialect(&self) -> Dialect {
        Dialect::Kkp {
            cluster: self.name.as_str().into(),
        }
    }

    /// The name, if resources can be named and marked after it.
    pub(super) fn checked_name(&self) -> Result<&str, InputError> {
        input::object_name(NAME, &self.name)?;
        if self.name.len() > LONGEST_NAME {
            let rule = format!(
                "must have at most {LONGEST_NAME} characters, so that a tag can hold it beside \
                 'owned-by.kubermatic.k8c.io/'"
            );
            return Err(InputError::new(NAME, &self.name, rule));
        }
        Ok(&self.name)
    }

    /// The first and the last node port.
    pub(super) fn node_ports(&self) -> Result<(u16, u16), InputError> {
        let Some(text) = set(self.node_port_range.as_ref()) else {
            return Ok((30000, 32767));
        };
        let port = |text: &str| {
            // A sign is part of a number to Rust.
            let digits = text.bytes().all(|b| b.is_ascii_digit());
            text.parse::<u16>().ok().filter(|port| digits && *port > 0)
        };
        let range = text
            .split_once('-')
            .and_then(|(first, last)| Some((port(first)?, port(last)?)));
        range.filter(|(first, last)| first <= last).ok_or_else(|| {
            let rule = "must be two ports from 1 to 65535 such as 30000-32767, the lower one \
                        first, without blanks or signs";
            InputError::new(NODE_PORTS, text, rule)
        })
    }

    /// Says that a group cannot hold the rules for so many ranges.
    pub(super) fn too_many_allowed(&self, error: &InputError) -> InputError {
        let number = self.node_ports_allowed.len().to_string();
        let rule = format!(
            "ranges need two rules each, and of these {} {}",
            error.value, error.rule
        );
        InputError::new(ALLOWED, &number, rule)
    }

    /// Who may reach the node ports: canonical, each range once, in order.
    pub(super) fn allowed(&self) -> Result<Vec<Network>, InputError> {
        let one = set(self.node_ports_allowed_one.as_ref());
        let one = one.map(|text| Network::parse(ALLOWED_ONE, text));
        let all = self.node_ports_allowed.iter();
        let all = all.map(|text| Network::parse(ALLOWED, text));
        let mut ranges = one.into_iter().chain(all).collect::<Result<Vec<_>, _>>()?;
        if ranges.is_empty() {
            return everybody(self.ip_family);
        }
        ranges.sort_unstable();
        ranges.dedup();
        Ok(ranges)
    }
}

/// What is written in a field: an empty string is the same as none.
fn set(field: Option<&String>) -> Option<&str> {
    field.map(String::as_str).filter(|text| !text.is_empty())
}

/// Every address of a family.
pub(super) fn everybody(family: IpFamily) -> Result<Vec<Network>, InputError> {
    let v4 = family.has_v4().then_some("0.0.0.0/0");
    let v6 = family.has_v6().then_some("::/0");
    v4.into_iter()
        .chain(v6)
        .map(|range| Network::parse(ALLOWED, range))
        .collect()
}

fn aws_id<'a>(field: &'static str, id: &'a str, prefix: &str) -> Result<&'a str, InputError> {
    let hex = |c: char| c.is_ascii_digit() || ('a'..='f').contains(&c);
    let valid = id
        .strip_prefix(prefix)
        .is_some_and(|rest| (8..=17).contains(&rest.len()) && rest.chars().all(hex));
    if valid {
        return Ok(id);
    }
    let rule = format!("must be {prefix} followed by 8 to 17 hexadecimal digits in lower case");
    Err(InputError::new(field, id, rule))
}

/// The name in a role's ARN, or the plain name of an older cluster.
fn role_name(text: &str) -> Result<&str, InputError> {
    let name = match text.strip_prefix("arn:") {
        None => Some(text),
        Some(rest) => arn_name(rest),
    };
    name.and_then(|name| iam_name(name, 64)).ok_or_else(|| {
        let rule = "must be the ARN of a role such as arn:aws:iam::123456789012:role/NAME, or its \
                    plain name: 1 to 64 letters, digits and + = , . @ _ -";
        InputError::new(ROLE, text, rule)
    })
}

/// `aws:iam::123456789012:role/path/NAME` without its first word.
fn arn_name(rest: &str) -> Option<&str> {
    let [partition, "iam", "", account, resource] = rest.split(':').collect::<Vec<_>>()[..] else {
        return None;
    };
    let digits = account.len() == 12 && account.chars().all(|c| c.is_ascii_digit());
    let name = resource.strip_prefix("role/")?.rsplit('/').next()?;
    (digits && is_partition(partition)).then_some(name)
}

/// A partition of AWS; there are several isolated ones: `aws-iso`, `aws-iso-b`.
fn is_partition(name: &str) -> bool {
    let isolated = name.strip_prefix("aws-iso").is_some_and(|rest| {
        let letter = |rest: &str| rest.len() == 1 && rest.bytes().all(|b| b.is_ascii_lowercase());
        rest.is_empty() || rest.strip_prefix('-').is_some_and(letter)
    });
    isolated || matches!(name, "aws" | "aws-cn" | "aws-us-gov" | "aws-eusc")
}

fn iam_name(name: &str, longest: usize) -> Option<&str> {
    let allowed = |c: char| c.is_ascii_alphanumeric() || "+=,.@_-".contains(c);
    let legal = (1..=longest).contains(&name.len()) && name.chars().all(allowed);
    legal.then_some(name)
}
