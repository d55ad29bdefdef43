//! Machines of Cluster API on AWS: an instance each, and for those of the control plane a place with the
//! load balancer of the API server.
//!
//! | slot | what | |
//! | --- | --- | --- |
//! | `instance` | the machine, with its security groups | ours; one that is gone is told, and not made again |
//! | `api-lb` | the classic load balancer of the cluster | its owner's: the machine is added as an instance |
//! | `api-targets` | the target group of its network load balancer | the same, as a target |

mod image;
#[cfg(test)]
mod tests;
mod user_data;

use std::collections::BTreeMap;

use cloud_port::aws::classic_load_balancer::{self, CLASSIC_LOAD_BALANCER};
use cloud_port::aws::instance::{self, INSTANCE};
use cloud_port::aws::root_volume::RootVolume;
use cloud_port::aws::target_group::{self, TARGET_GROUP};
use ownership::blueprint::{Asked, BlueprintError, Expr, Family, InnerWish, Source};
use ownership::input::InputError;
use ownership::mark::{self, Carrier, Dialect};
use ownership::secret::Secret;
use ownership::{Blueprint, ResourceId, Slot, SlotName, Text};

pub use image::{Lookup, pattern};
pub use user_data::encode;

use super::blueprint::{BALANCER, TARGETS};
use super::names::{aws_id, set, slot};

/// The slot of the instance.
pub const MACHINE: &str = "instance";

/// The families of slots: what the machine does not need any more goes.
pub const FAMILIES: [Family; 2] = [
    Family {
        name: MACHINE,
        asked: Asked::BySpec,
    },
    Family {
        name: "api-",
        asked: Asked::ByFacts,
    },
];

/// Rises when a family comes or goes.
const REVISION: u32 = 1;

/// What is not wished for.
const WHATEVER: &str = "(whatever it is)";

const INSTANCE_ID: &str = "spec.instanceID";
const PROVIDER_ID: &str = "spec.providerID";
const TAGS: &str = "spec.additionalTags";
const GROUPS: &str = "spec.additionalSecurityGroups";
const ROOT: &str = "spec.rootVolume";

/// What a machine says of itself, and what its cluster says of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Machine {
    /// Its name.
    pub name: String,
    /// The name of the `Cluster` that it belongs to.
    pub cluster: String,
    /// Whether it is one of the control plane.
    pub is_control_plane: bool,
    /// `spec.instanceID`.
    pub instance_id: Option<String>,
    /// `spec.providerID`.
    pub provider_id: Option<String>,
    /// `spec.instanceType`.
    pub machine: String,
    /// Its image: the object's, or the one that was found.
    pub image: Option<String>,
    /// Its subnet: the object's, or the one that was chosen.
    pub subnet: Option<String>,
    /// The security groups that the cluster gives it.
    pub groups: Vec<String>,
    /// `spec.additionalSecurityGroups[].id`.
    pub more_groups: Vec<String>,
    /// `spec.iamInstanceProfile`.
    pub profile: Option<String>,
    /// Its SSH key: the object's, or the cluster's.
    pub key: Option<String>,
    /// `spec.rootVolume`.
    pub root: Volume,
    /// The tags of its cluster, and over them its own.
    pub tags: BTreeMap<String, String>,
    /// What it is told at its first start, in base64.
    pub user_data: Option<Secret>,
    /// Where machines of the control plane are registered.
    pub registry: Option<Registry>,
    /// Whether it ends: then nothing is asked of its fields that only matters while it lives.
    pub ends: bool,
}

/// `spec.rootVolume`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Volume {
    /// Its size, in GiB.
    pub size: Option<i64>,
    /// Its type.
    pub kind: Option<String>,
    /// How many operations a second it is to serve.
    pub iops: Option<i64>,
    /// How many MiB a second.
    pub throughput: Option<i64>,
    /// Whether it is encrypted.
    pub encrypted: Option<bool>,
    /// By which key.
    pub key: Option<String>,
}

/// Where machines of the control plane are registered: by its name, which is unique in an account and
/// region.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Registry {
    /// With a classic load balancer.
    Classic(Text),
    /// With the target group of a network load balancer.
    Targets(Text),
}

impl Machine {
    /// A machine of a cluster of which nothing is known yet.
    pub fn new(cluster: &str, name: &str) -> Self {
        Self {
            name: name.to_owned(),
            cluster: cluster.to_owned(),
            is_control_plane: false,
            instance_id: None,
            provider_id: None,
            machine: String::new(),
            image: None,
            subnet: None,
            groups: Vec::new(),
            more_groups: Vec::new(),
            profile: None,
            key: None,
            root: Volume::default(),
            tags: BTreeMap::new(),
            user_data: None,
            registry: None,
            ends: false,
        }
    }

    /// The dialect that its marks are written in.
    pub fn dialect(&self) -> Dialect {
        Dialect::Capa {
            cluster: self.cluster.as_str().into(),
        }
    }

    /// The ids that the object records.
    ///
    /// # Errors
    /// The field whose value cannot be an id of its kind.
    pub fn ids(&self) -> Result<BTreeMap<SlotName, ResourceId>, InputError> {
        let mut ids = BTreeMap::new();
        let own = set(self.instance_id.as_ref());
        let provided = set(self.provider_id.as_ref());
        let (field, id) = match (own, provided) {
            (Some(id), _) => (INSTANCE_ID, id),
            (None, Some(text)) => match text.strip_prefix("aws:///").and_then(last) {
                Some(id) => (PROVIDER_ID, id),
                None => {
                    let rule = "must be aws:///ZONE/INSTANCE";
                    return Err(InputError::new(PROVIDER_ID, text, rule));
                }
            },
            (None, None) => return Ok(ids),
        };
        aws_id(field, id, "i-")?;
        ids.insert(slot(MACHINE), ResourceId::new(id));
        Ok(ids)
    }

    /// The slots that the machine needs filled. Ids that the object records are not part of it, but of the
    /// ledger: see [`Machine::ids`].
    ///
    /// # Errors
    /// The field that cannot be satisfied, and the rule it breaks.
    pub fn blueprint(&self) -> Result<Blueprint, InputError> {
        let mut slots = vec![self.instance()?];
        slots.extend(self.registered());
        match Blueprint::new(slots) {
            Ok(blueprint) => Ok(blueprint.within(&FAMILIES, REVISION)),
            Err(BlueprintError::Input { source, .. }) => {
                Err(InputError::new(TAGS, &source.value, source.rule))
            }
            Err(error) => Err(InputError::new("spec", "", error)),
        }
    }

    fn instance(&self) -> Result<Slot, InputError> {
        let role = if self.is_control_plane {
            "control-plane"
        } else {
            "node"
        };
        let field = Some(INSTANCE_ID.into());
        let role = Some(role.into());
        if self.ends {
            let bare = Slot::own(slot(MACHINE), &INSTANCE, "");
            return Ok(Slot {
                field,
                role,
                ..bare
            });
        }
        if self.machine.is_empty() {
            return Err(InputError::new("spec.instanceType", "", "must be set"));
        }
        let mut groups: Vec<Expr> = Vec::new();
        for (at, id) in self.more_groups.iter().enumerate() {
            aws_id(format!("{GROUPS}[{at}].id"), id, "sg-")?;
        }
        for id in self.groups.iter().chain(&self.more_groups) {
            let group = Expr::from(id.as_str());
            // Who names one twice means one.
            if !groups.contains(&group) {
                groups.push(group);
            }
        }
        let image = self.chosen("spec.ami.id", self.image.as_ref(), "ami-")?;
        let subnet = self.chosen("spec.subnet.id", self.subnet.as_ref(), "subnet-")?;
        let instance = instance::Instance {
            image: image.into(),
            machine: self.machine.as_str().into(),
            subnet: subnet.into(),
            groups,
            key: set(self.key.as_ref()).map(Text::from),
            profile: set(self.profile.as_ref()).map(Text::from),
            root: self.root.wanted()?,
            user_data: self.user_data.clone(),
        };
        let named = |error: InputError| match error.field.as_ref() {
            "instance user data" => InputError::new(
                "the bootstrap data of the Machine",
                &error.value,
                format_args!(
                    "{}, and compressed where uncompressedUserData is not set",
                    error.rule
                ),
            ),
            "root volume" => InputError::new(ROOT, &error.value, error.rule),
            _ => error,
        };
        let mut instance = instance.slot(slot(MACHINE)).map_err(named)?;
        instance
            .props
            .retain(|(_, value)| *value != Expr::from(WHATEVER));
        Ok(Slot {
            field,
            role,
            user_tags: self.user_tags()?,
            ..instance
        })
    }

    /// What was chosen before the instance was made. Of one that others have made it is whatever it is.
    fn chosen<'a>(
        &self,
        field: &'static str,
        id: Option<&'a String>,
        prefix: &str,
    ) -> Result<&'a str, InputError> {
        let is_made = [&self.instance_id, &self.provider_id];
        let is_made = is_made.into_iter().any(|id| set(id.as_ref()).is_some());
        match set(id) {
            None if is_made => Ok(WHATEVER),
            None => Err(InputError::new(field, "", "must be set")),
            Some(id) => aws_id(field, id, prefix).map(|()| id),
        }
    }

    /// The machine's place with the load balancer, which is the cluster's own: its name and its mark say
    /// so.
    fn registered(&self) -> Option<Slot> {
        let registry = self.registry.as_ref().filter(|_| self.is_control_plane)?;
        let (name, kind, part, label) = match registry {
            Registry::Classic(name) => (
                BALANCER,
                &CLASSIC_LOAD_BALANCER,
                classic_load_balancer::INSTANCE,
                name,
            ),
            Registry::Targets(name) => (TARGETS, &TARGET_GROUP, target_group::TARGET, name),
        };
        let key = format!(
            "sigs.k8s.io/cluster-api-provider-aws/cluster/{}",
            self.cluster
        );
        Some(Slot {
            source: Source::Find {
                by: Vec::new(),
                tags: vec![(key.into(), "owned".into())],
                all: false,
            },
            inner: vec![InnerWish {
                kind: part,
                key: Expr::Slot(slot(MACHINE)),
                value: "".into(),
            }],
            ..Slot::own(slot(name), kind, label.clone())
        })
    }

    /// The user's tags, and the name that consoles show.
    fn user_tags(&self) -> Result<Vec<(Text, Text)>, InputError> {
        let own_mark = format!("kubernetes.io/cluster/{}", self.cluster);
        let mut all: BTreeMap<&str, &str> = BTreeMap::new();
        for (key, value) in self.tags.iter().filter(|(key, _)| **key != own_mark) {
            let field = || format!("{TAGS}.{key}");
            Carrier::AwsTags
                .check(key, value)
                .map_err(|error| InputError::new(field(), value, error.rule))?;
            if let Some(rule) = mark::reserved(Carrier::AwsTags, key) {
                return Err(InputError::new(field(), value, rule));
            }
            all.insert(key, value);
        }
        all.insert("Name", &self.name);
        let texts = all.into_iter();
        Ok(texts
            .map(|(key, value)| (key.into(), value.into()))
            .collect())
    }
}

impl Volume {
    /// As the create call has it; `None` where the image says all.
    fn wanted(&self) -> Result<Option<RootVolume>, InputError> {
        let number = |name: &str, number: Option<i64>| {
            let read = number.map(|number| {
                u32::try_from(number).map_err(|_| {
                    let field = format!("{ROOT}.{name}");
                    InputError::new(field, &number.to_string(), "must be a positive number")
                })
            });
            read.transpose()
        };
        let wanted = RootVolume {
            size: number("size", self.size)?,
            kind: set(self.kind.as_ref()).map(Text::from),
            iops: number("iops", self.iops.filter(|iops| *iops != 0))?,
            throughput: number("throughput", self.throughput)?,
            encrypted: self.encrypted,
            key: set(self.key.as_ref()).map(Text::from),
        };
        Ok((wanted != RootVolume::default()).then_some(wanted))
    }
}

/// The last word of a path.
fn last(path: &str) -> Option<&str> {
    path.rsplit_once('/').map(|(_, last)| last)
}

/// The subnet of a cluster that a machine is put into which names none: a private one of its zone, else a
/// public one; without a zone the first. A zone without any is an error of whoever chose the zone.
///
/// # Errors
/// There is none.
pub fn choose_subnet<'s>(
    subnets: &'s [super::Subnet],
    zone: Option<&str>,
) -> Result<&'s str, InputError> {
    let here = |subnet: &&super::Subnet| zone.is_none() || subnet.zone.as_deref() == zone;
    let id = |subnet: &'s super::Subnet| {
        let own = Some(&subnet.id).filter(|id| id.starts_with("subnet-"));
        set(subnet.resource_id.as_ref()).or(own.map(String::as_str))
    };
    let of = |public: bool| {
        let mut all = subnets.iter().filter(here);
        all.find_map(|subnet| id(subnet).filter(|_| subnet.is_public == public))
    };
    of(false).or_else(|| of(true)).ok_or_else(|| {
        let zone = zone.unwrap_or_default();
        let rule = "must be a zone in which the AWSCluster has a subnet";
        InputError::new("spec.failureDomain of the Machine", zone, rule)
    })
}
