//! What a cluster needs on IBM Cloud, as a Blueprint.
//!
//! | slot | place | what | if it is given |
//! | --- | --- | --- | --- |
//! | `workspace` | account | the workspace of Power Virtual Server | used |
//! | `network` | account | its network, with the DHCP server that makes it | used |
//! | `vpc` | region | the VPC, in which the load balancer is | used |
//! | `subnet-…` | region | one in each zone, or those that are given | used |
//! | `group-…` | region | the security groups that are given | used |
//! | `balancer-…` | region | the load balancer of the API server | used |
//! | `gateway` | account | the transit gateway between workspace and VPC | used; two connections are ours |
//! | `cos` | account | the COS instance, for ignition | – |

use ownership::blueprint::{Asked, BlueprintError, Expr, Family};
use ownership::input::InputError;
use ownership::{Blueprint, Place, Slot};

use super::Cluster;

/// The workspace.
pub const WORKSPACE: &str = "workspace";
/// The network in it.
pub const NETWORK: &str = "network";
/// The VPC.
pub const VPC: &str = "vpc";
/// The transit gateway.
pub const GATEWAY: &str = "gateway";
/// The COS instance.
pub const COS: &str = "cos";
/// How the slots of load balancers begin.
pub const BALANCER: &str = "balancer-";

/// The families of slots: what is not in the object any more goes.
pub const FAMILIES: [Family; 8] = [
    family(WORKSPACE),
    family(NETWORK),
    family(VPC),
    family("subnet-"),
    family("group-"),
    family(BALANCER),
    family(GATEWAY),
    family(COS),
];

/// Rises when a family comes or goes.
const REVISION: u32 = 1;

const fn family(name: &'static str) -> Family {
    Family {
        name,
        asked: Asked::BySpec,
    }
}

/// The place of what is in a region of VPC; everything else is in the account's.
pub fn region() -> Place {
    Place::named("vpc").expect("a legal name")
}

pub(super) fn group(cluster: &Cluster) -> Expr {
    Expr::Text(cluster.resource_group.as_str().into())
}

impl Cluster {
    /// The slots that the cluster needs filled. Ids that the object gives are not part of it, but of the
    /// ledger: see [`Cluster::ids`].
    ///
    /// # Errors
    /// The field that cannot be satisfied, and the rule it breaks.
    pub fn blueprint(&self) -> Result<Blueprint, InputError> {
        self.check_name()?;
        if !self.ends {
            self.check_tags()?;
        }
        let mut slots = vec![self.workspace()?, self.network()?];
        if self.creates {
            if !self.ends {
                self.check_region()?;
            }
            slots.push(self.vpc()?);
            slots.extend(self.subnets()?);
            slots.extend(self.groups()?);
            // At the end there may be no zone to be known of, and so no subnet.
            if !(self.ends && self.subnet_slots().is_empty()) {
                slots.extend(self.load_balancers()?);
            }
            slots.push(self.transit_gateway()?);
            slots.extend(self.cos_instance()?);
        }
        let slots: Vec<Slot> = slots.into_iter().map(|slot| self.tagged(slot)).collect();
        match Blueprint::new(slots) {
            Ok(blueprint) => Ok(blueprint.within(&FAMILIES, REVISION)),
            Err(BlueprintError::Duplicate(slot)) => {
                let rule = "must not be there twice";
                Err(InputError::new("spec", slot.as_str(), rule))
            }
            Err(BlueprintError::Input { source, .. }) => {
                Err(InputError::new("spec.tags", &source.value, source.rule))
            }
            Err(error) => Err(InputError::new("spec", "", error)),
        }
    }
}
