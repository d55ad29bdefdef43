//! Workspaces of Power Virtual Server: instances of the service `power-iaas`.

use ownership::blueprint::Expr;
use ownership::{Class, Kind, Slot, SlotName, Text};

use super::errors::Service;
use super::{CRN, Entry, INSTANCE, NAME, RESOURCE_GROUP, fixed, given, of_the_call};
use crate::code::Code;
use crate::sample::{Parent, Sample};

/// A workspace that a claim wants for itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Workspace {
    /// Its name. Any number of workspaces can have one.
    pub name: Text,
    /// The zone of Power that it is in: `dal10`, `syd05`.
    pub zone: Text,
    /// The id of its resource group.
    pub resource_group: Expr,
}

impl Workspace {
    /// The slot for it.
    pub fn slot(self, slot: SlotName) -> Slot {
        Slot {
            props: vec![
                (ZONE, Expr::Text(self.zone)),
                (RESOURCE_GROUP, self.resource_group),
                (PLAN, PLAN_ID.into()),
            ],
            ..Slot::own(slot, &WORKSPACE, self.name)
        }
    }
}

/// The property with the zone.
pub const ZONE: &str = "zone";

/// The property of the create call with the plan.
pub const PLAN: &str = "plan";

/// The one plan of Power Virtual Server for workspaces outside a client's own building.
pub const PLAN_ID: &str = "f165dd34-3a40-423b-9d95-e90a23f724dd";

/// The declaration. Its id is its GUID, which the Power API calls a cloud instance.
///
/// It takes minutes to come and to go. What was deleted is kept for some days, in which it can be restored
/// under the same CRN, with its tags: so long it is going, and not gone. All machines are in it: another
/// one in its place would not be the same, so it is not made again by itself.
pub static WORKSPACE: Kind = Kind {
    name: "ibm/workspace",
    noun: "workspace",
    props: &[
        fixed(ZONE),
        fixed(RESOURCE_GROUP),
        of_the_call(PLAN),
        given(CRN),
        given(NAME),
    ],
    ..INSTANCE
};

pub(super) const ENTRY: Entry = Entry {
    sample: &SAMPLE,
    service: Service::ResourceController,
    codes: &CODES,
};

static CODES: [Code; 1] =
    [Code::new("HTTP 409", Class::Blocked(Vec::new())).to("DeleteResourceInstance")];

static SAMPLE: Sample = Sample {
    props: &[
        (ZONE, "dal10"),
        (RESOURCE_GROUP, "group-of-the-account"),
        (PLAN, PLAN_ID),
    ],
    ..Sample::of(&WORKSPACE)
};

/// For the samples of what lies in a workspace.
pub(super) const PARENT: Parent = Parent {
    prop: super::power_network::WORKSPACE,
    part: None,
    sample: &SAMPLE,
};
