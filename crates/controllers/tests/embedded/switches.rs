//! What the runs have in them. Each can be switched off by itself, to see what a violation needs.

/// Two operators at once, both of which lead, in a share of the runs.
pub(crate) const TWO_OPERATORS: bool = true;
/// A Lease is taken away: its term ends, and another's begins.
pub(crate) const LOST_LEASES: bool = true;
/// Two live claims on one group that is somebody else's; one ends while the other lives.
pub(crate) const NEIGHBOURS: bool = true;
/// The one that lives must not miss a rule at any time.
pub(crate) const CO_MARKS: bool = true;
/// People edit node ports and IP families.
pub(crate) const EDITS: bool = true;
/// People correct the VPC or the group while the first one is being made.
pub(crate) const CORRECTIONS: bool = true;
/// All objects are lost and restored, in any order.
pub(crate) const RESTORES: bool = true;
/// A copy of a manifest is among the objects that are restored.
pub(crate) const RESTORED_COPIES: bool = false;
/// A copy of a manifest stays for a while, whatever becomes of the original.
pub(crate) const LASTING_COPIES: bool = false;
/// Objects are set back to an earlier state of their own.
pub(crate) const SET_BACKS: bool = true;
/// A call is answered at once with "nobody knows", and takes effect later.
pub(crate) const EARLY_UNKNOWN: bool = true;
/// Controllers inside the clusters add to what we own, and what they added must stay.
pub(crate) const SPARES_GUESTS: bool = true;
