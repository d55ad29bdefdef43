//! What the runs have in them. Each can be switched off by itself, to see what a violation needs.

/// Two operators at once, both of which lead, in a share of the runs.
pub(super) const TWO_OPERATORS: bool = true;
/// A Lease is taken away: its term ends, and another's begins.
pub(super) const LOST_LEASES: bool = true;
/// People want something else of their objects.
pub(super) const EDITS: bool = true;
/// All objects are lost and restored, in any order.
pub(super) const RESTORES: bool = true;
/// A copy of a manifest is among the objects that are restored.
pub(super) const RESTORED_COPIES: bool = false;
/// A copy of a manifest stays for a while, whatever becomes of the original.
pub(super) const LASTING_COPIES: bool = false;
/// Objects are set back to an earlier state of their own.
pub(super) const SET_BACKS: bool = true;
/// A call is answered at once with "nobody knows", and takes effect later.
pub(super) const EARLY_UNKNOWN: bool = true;
/// Others add to what we own, and what they added must stay.
pub const SPARES_GUESTS: bool = true;
