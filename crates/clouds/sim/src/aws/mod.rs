//! How each Kind appears in the real account, and what it does there: a file each, and a row in one
//! table.
//!
//! Everything that a Kind's declaration says is followed from there. The rows and models hold the rest;
//! a synthetic Kind gets the row [`OTHER`].

mod instance_profile;
mod role;
mod route_table;
mod security_group;
mod subnet;
mod vpc;

use cloud_port::aws::errors::Service;
use ownership::error::Blocker;
use ownership::input::InputError;
use ownership::kind::InnerKind;
use ownership::part::{InnerPart, Props};
use ownership::{CloudError, Kind, ResourceId, Target, Text};

use crate::account::{Account, refuse};
use crate::op::Op;
use crate::record::State;
use crate::settings::Quotas;
use crate::write::create::Order;
use crate::write::inner::Spot;

/// How one Kind appears in the API.
#[derive(Debug)]
pub(crate) struct Row {
    pub(crate) model: &'static dyn Model,
    pub(crate) service: Service,
    /// What its ids begin with; empty where the id is the name.
    pub(crate) prefix: &'static str,
    /// What the account's own name for it begins with, where its id is only a name.
    pub(crate) unique: &'static str,
    pub(crate) not_found: &'static str,
    pub(crate) duplicate: &'static str,
    pub(crate) over_quota: &'static str,
    pub(crate) blocked: &'static str,
    pub(crate) tags_full: &'static str,
    pub(crate) get: Op,
    pub(crate) list: Op,
    pub(crate) create: Op,
    pub(crate) update: Op,
    pub(crate) delete: Op,
    pub(crate) tag: Op,
    pub(crate) untag: Op,
    pub(crate) inner: &'static [InnerRow],
}

/// How the parts of one inner Kind appear in the API.
#[derive(Debug)]
pub(crate) struct InnerRow {
    pub(crate) list: Op,
    /// What the ids of its parts begin with; empty where they have none.
    pub(crate) prefix: &'static str,
    /// Where the listing shows only keys: the call that shows one part.
    pub(crate) get: Option<Op>,
    pub(crate) add: Op,
    pub(crate) remove: Op,
    pub(crate) duplicate: &'static str,
    pub(crate) not_found: &'static str,
    pub(crate) full: &'static str,
    /// Which reads of the resource show them too.
    pub(crate) told: Told,
}

/// Which reads of a resource show its parts unasked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Told {
    Never,
    InList,
    Always,
}

/// What a Kind does that its declaration and its row do not say. By default nothing.
pub(crate) trait Model: std::fmt::Debug + Sync {
    /// Checks a create call's properties and completes them as the cloud does.
    fn prepare(&self, _: &Account, _: &Order<'_>, _: &mut Props) -> Result<(), CloudError> {
        Ok(())
    }

    /// How many there may be, and within which VPC if not in the whole account.
    fn quota<'p>(&self, quotas: &Quotas, _: &'p Props) -> (usize, Option<&'p Text>) {
        (quotas.others, None)
    }

    /// Whether a new one can be used at once, whatever the settings say.
    fn is_ready_at_once(&self) -> bool {
        false
    }

    /// One was created: what comes with it is made.
    fn is_born(&self, _: &mut Account, _: &ResourceId) {}

    /// One is about to be deleted: what came with it goes.
    fn ends(&self, _: &mut Account, _: &ResourceId) {}

    /// The refusal to delete one that the cloud keeps for itself.
    fn keeps(&self, _: &Target, _: &State) -> Option<CloudError> {
        None
    }

    /// Who uses one, and so blocks its deletion, besides what is inside it.
    fn users(&self, account: &Account, state: &State, blockers: &mut Vec<Blocker>) {
        account.dependents(&state.resource.id, blockers);
    }

    /// Whether the cloud deletes it together with its VPC.
    fn goes_with_vpc(&self, _: &State) -> bool {
        false
    }

    /// Whether the removal of parts says nothing of those that are not there.
    fn overlooks_missing_parts(&self, _: &Account, _: &State) -> bool {
        false
    }

    /// What the cloud checks in the content of a part.
    fn check_part(
        &self,
        _: &Account,
        _: Spot,
        _: &Target,
        _: &InnerPart,
    ) -> Result<(), CloudError> {
        Ok(())
    }

    /// How much these parts of one inner Kind come to, and how much one resource holds.
    fn room(&self, _: &Quotas, _: &InnerKind, parts: &[&InnerPart]) -> (usize, usize) {
        (parts.len(), usize::MAX)
    }
}

#[derive(Debug)]
struct Plain;

impl Model for Plain {}

/// The rows of the Kinds of AWS.
static ROWS: [(&Kind, &Row); cloud_port::aws::KINDS.len()] = [
    (&cloud_port::aws::vpc::VPC, &vpc::ROW),
    (
        &cloud_port::aws::route_table::ROUTE_TABLE,
        &route_table::ROW,
    ),
    (&cloud_port::aws::subnet::SUBNET, &subnet::ROW),
    (
        &cloud_port::aws::security_group::SECURITY_GROUP,
        &security_group::ROW,
    ),
    (&cloud_port::aws::role::ROLE, &role::ROW),
    (
        &cloud_port::aws::instance_profile::INSTANCE_PROFILE,
        &instance_profile::ROW,
    ),
];

/// The row of a Kind.
pub(crate) fn row(kind: &Kind) -> &'static Row {
    let mut rows = ROWS.iter();
    let found = rows.find(|(known, _)| known.name == kind.name);
    found.map_or(&OTHER, |(_, row)| row)
}

impl Row {
    /// The row of a Kind's inner Kind, by its place in the declaration.
    pub(crate) fn inner(&self, at: usize) -> &'static InnerRow {
        self.inner.get(at).unwrap_or(&OTHER_PART)
    }

    /// The refusal of a create call for what somebody wrote.
    pub(crate) fn invalid_create(&self, error: InputError) -> CloudError {
        refuse(self, self.create, self.invalid(), error.to_string())
    }

    /// The code of a throttled call.
    pub(crate) fn throttled(&self) -> &'static str {
        match self.service {
            Service::Ec2 => "RequestLimitExceeded",
            Service::Iam | Service::Sts => "Throttling",
        }
    }

    /// The code of a parameter that breaks a rule.
    pub(crate) fn invalid(&self) -> &'static str {
        match self.service {
            Service::Ec2 => "InvalidParameterValue",
            Service::Iam | Service::Sts => "ValidationError",
        }
    }
}

static OTHER: Row = Row {
    model: &Plain,
    service: Service::Ec2,
    prefix: "res-",
    unique: "UNIQUE",
    not_found: "InvalidResourceID.NotFound",
    duplicate: "InvalidResource.Duplicate",
    over_quota: "ResourceLimitExceeded",
    blocked: "DependencyViolation",
    tags_full: "TagLimitExceeded",
    get: Op::GetResource,
    list: Op::ListResources,
    create: Op::CreateResource,
    update: Op::UpdateResource,
    delete: Op::DeleteResource,
    tag: Op::TagResource,
    untag: Op::UntagResource,
    inner: &[],
};

static OTHER_PART: InnerRow = InnerRow {
    prefix: "",
    list: Op::ListParts,
    get: None,
    add: Op::AddPart,
    remove: Op::RemovePart,
    duplicate: "InvalidPart.Duplicate",
    not_found: "InvalidPart.NotFound",
    full: "InvalidPart.Duplicate",
    told: Told::Never,
};

#[cfg(test)]
mod tests {
    use cloud_port::aws::KINDS;

    use super::*;

    #[test]
    fn every_kind_and_inner_kind_has_a_row() {
        for kind in KINDS {
            assert!(
                ROWS.iter().any(|(known, _)| **known == *kind),
                "{}",
                kind.name
            );
            assert_eq!(row(kind).inner.len(), kind.inner.len(), "{}", kind.name);
        }
    }
}
