//! Providers: what is one cloud's own. Everything else follows the Kinds' declarations.
//!
//! A cloud is a folder with one [`Provider`] in it: a [`Row`] for each of its Kinds, the [`Service`]s
//! that these belong to, and what a new region comes with.

use ownership::error::Blocker;
use ownership::input::InputError;
use ownership::kind::InnerKind;
use ownership::part::{InnerPart, Props};
use ownership::{CloudError, Kind, ResourceId, Target};

use crate::account::{Account, refuse};
use crate::op::Op;
use crate::provenance::Actor;
use crate::record::State;
use crate::write::create::Order;
use crate::write::inner::Spot;

/// What one cloud is like.
#[derive(Debug)]
pub struct Provider {
    pub(crate) rows: &'static [(&'static Kind, &'static Row)],
    /// The row of a Kind that is nothing but its declaration.
    pub(crate) other: &'static Row,
    /// Makes what a new region comes with.
    pub(crate) furnish: fn(&mut Account),
    /// What the id of something begins with that is not simulated, by what people call it.
    pub(crate) foreign_id: fn(&str) -> &'static str,
}

impl Provider {
    /// Its Kinds.
    pub fn kinds(&self) -> impl Iterator<Item = &'static Kind> {
        self.rows.iter().map(|(kind, _)| *kind)
    }

    /// The row of a Kind.
    pub(crate) fn row(&self, kind: &Kind) -> &'static Row {
        let found = self.rows.iter().find(|(known, _)| *known == kind);
        found.map_or(self.other, |(_, row)| row)
    }
}

/// A service of a cloud: what its operations have in common.
#[derive(Debug)]
pub(crate) struct Service {
    pub(crate) name: &'static str,
    /// Whether all regions of an account see the same resources.
    pub(crate) is_global: bool,
    /// Whether it finds a name as others find an id.
    pub(crate) finds_names: bool,
    /// Whether a listing is filtered before it is divided into pages.
    pub(crate) filters: bool,
    /// Whether it removes tags by their keys alone: who removes one reads first, and one call tags one
    /// resource.
    pub(crate) tags_by_key: bool,
    /// Whether two names, or two keys of tags, that differ only in case are one.
    pub(crate) folds_case: bool,
    /// The error that it answers an operation with: operation, code, message.
    pub(crate) error: fn(&str, &str, &str) -> CloudError,
    pub(crate) throttled: &'static str,
    pub(crate) invalid: &'static str,
    pub(crate) missing: &'static str,
    pub(crate) unknown: &'static str,
    pub(crate) unsupported: &'static str,
    pub(crate) not_together: &'static str,
    pub(crate) token_mismatch: &'static str,
}

impl Service {
    /// An operation that reads one thing.
    pub(crate) const fn reads(&self, name: &'static str) -> Op {
        self.lists(name, 1)
    }

    /// An operation that lists, so many items a page.
    pub(crate) const fn lists(&self, name: &'static str, page: usize) -> Op {
        Op::new(self.name, name, true, page)
    }

    /// An operation that changes something.
    pub(crate) const fn writes(&self, name: &'static str) -> Op {
        Op::new(self.name, name, false, 1)
    }
}

/// How one Kind appears in the API.
#[derive(Debug)]
pub(crate) struct Row {
    pub(crate) model: &'static dyn Model,
    pub(crate) service: &'static Service,
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
    /// The call that shows the tags of so many, where no read of the resources does.
    pub(crate) shows_tags: Option<Op>,
    /// Whether the deletion of what is not there succeeds.
    pub(crate) forgives: bool,
    /// How many a new account may have.
    pub(crate) quota: usize,
    /// The property that says within what, if not in the whole account and region.
    pub(crate) quota_within: Option<&'static str>,
    /// The rows of its inner Kinds, in the order of the declaration.
    pub(crate) inner: &'static [InnerRow],
    /// The row of an inner Kind that is nothing but its declaration.
    pub(crate) other_inner: &'static InnerRow,
}

impl Row {
    /// The row of a Kind's inner Kind, by its place in the declaration.
    pub(crate) fn inner(&self, at: usize) -> &'static InnerRow {
        self.inner.get(at).unwrap_or(self.other_inner)
    }

    /// The refusal of a create call for what somebody wrote.
    pub(crate) fn invalid_create(&self, error: InputError) -> CloudError {
        refuse(self, self.create, self.service.invalid, error.to_string())
    }
}

/// How the parts of one inner Kind appear in the API.
#[derive(Debug)]
pub(crate) struct InnerRow {
    pub(crate) list: Op,
    /// How often it is called for one resource.
    pub(crate) list_calls: usize,
    /// What the ids of its parts begin with; empty where they have none.
    pub(crate) prefix: &'static str,
    /// Where the listing shows only keys: the call that shows one part.
    pub(crate) get: Option<Op>,
    pub(crate) add: Op,
    pub(crate) remove: Op,
    pub(crate) duplicate: &'static str,
    pub(crate) not_found: &'static str,
    /// There is no part of that id.
    pub(crate) id_not_found: &'static str,
    pub(crate) full: &'static str,
    /// How much a resource of a new account holds, as [`Model::measure`] counts it.
    pub(crate) quota: usize,
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

    /// What the cloud gives a new one besides, when it has its id.
    fn gives(&self, _: &Account, _: &ResourceId, _: &Order<'_>, _: &mut Props) {}

    /// Whether a new one can be used at once, whatever the settings say.
    fn is_ready_at_once(&self) -> bool {
        false
    }

    /// Why one that is accepted will come to nothing.
    fn dooms(&self, _: &Account, _: &Props) -> Option<&'static str> {
        None
    }

    /// One was created: what comes with it is made, and what the create call says of parts is put in.
    fn is_born(&self, _: &mut Account, _: Actor, _: &ResourceId, _: &Order<'_>) {}

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

    /// Whether the cloud made it together with what it lies in, and deletes it together with that.
    fn came_with_parent(&self, _: &State) -> bool {
        false
    }

    /// Whether what it refers to can be deleted all the same.
    fn lets_go(&self, state: &State) -> bool {
        self.came_with_parent(state)
    }

    /// Who keeps a part from being removed.
    fn holds_part(&self, _: &Account, _: Spot, _: &str, _: &mut Vec<Blocker>) {}

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

    /// How much these parts of one inner Kind come to.
    fn measure(&self, _: &InnerKind, parts: &[&InnerPart]) -> usize {
        parts.len()
    }
}

/// The model of a Kind that does only what its declaration says.
#[derive(Debug)]
pub(crate) struct Plain;

impl Model for Plain {}
