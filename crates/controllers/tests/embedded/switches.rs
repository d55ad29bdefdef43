//! What KKP's runs have in them besides. Each can be switched off by itself, to see what a violation
//! needs.

/// Two live claims on one group that is somebody else's; one ends while the other lives.
pub(crate) const NEIGHBOURS: bool = true;
/// The one that lives must not miss a rule at any time.
pub(crate) const CO_MARKS: bool = true;
/// People correct the VPC or the group while the first one is being made.
pub(crate) const CORRECTIONS: bool = true;
