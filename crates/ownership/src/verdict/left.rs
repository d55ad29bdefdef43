//! What controllers inside a cluster left behind in a resource of ours (decision 19).
//!
//! A cloud controller makes load balancers and security groups for its cluster, and writes the cluster's
//! name on them. A name proves nothing. But what lies in a network of ours, carries our cluster's name
//! and nobody's mark, can be only this cluster's; so it may end with it, if a person asks for that.

use super::{Identity, Owned, Owner, Proof, ReadStamp, Verdict, judge};
use crate::blueprint::Leftover;
use crate::decide::Evidence;
use crate::kind::Kind;
use crate::mark::{self, Reading};
use crate::part::Resource;
use crate::query::Target;
use crate::rules::Rules;
use crate::text::Text;

/// Something that was left behind in a resource of ours. It is shown; to end it takes a person's word.
#[derive(Clone, Debug)]
pub(crate) struct Left {
    target: Target,
    within: Target,
    read: ReadStamp,
}

impl Left {
    /// Whether `resource` was left behind in `host`, as both were read. Only what the host is, is judged by
    /// a mark of ours; the resource has none.
    pub(crate) fn seen(
        rules: &dyn Rules,
        identity: &Identity,
        leftover: &Leftover,
        (resource, read): (&Resource, ReadStamp),
        (host, host_read): (&Resource, ReadStamp),
    ) -> Option<Self> {
        if resource.kind != leftover.kind
            || resource.place != host.place
            || resource.props.get(leftover.within) != Some(&host.id.text())
            || !is_left_behind(rules, identity, resource, read)
        {
            return None;
        }
        let is_ours = match judge(rules, identity, host.kind, host, host_read) {
            Verdict::Owned(owned) => owned.held_by().is_none(),
            _ => false,
        };
        if rules.ends_leftovers_only_in_ours() && !is_ours {
            return None;
        }
        Some(Self {
            target: resource.target(),
            within: host.target(),
            read: ReadStamp {
                at: read.at.min(host_read.at),
                fresh: read.fresh && host_read.fresh,
            },
        })
    }

    /// The resource.
    pub(crate) fn target(&self) -> &Target {
        &self.target
    }

    /// What it lies in.
    pub(crate) fn within(&self) -> &Target {
        &self.within
    }

    /// The right to end it, if a person has asked for that.
    pub(crate) fn ends(self, rules: &dyn Rules, evidence: &Evidence) -> Option<Owned> {
        if rules.asks_before_leftovers_end() && !evidence.left_behind {
            return None;
        }
        Some(Owned {
            target: self.target,
            proof: Proof::LeftBehind(self.within),
            read_at: self.read.at,
            fresh: self.read.fresh,
            held_by: None,
        })
    }
}

/// The tag by which a Kind's leftovers are looked for.
pub(crate) fn left_behind_mark(identity: &Identity, kind: &Kind) -> Option<(Text, Text)> {
    identity.dialect.inside(kind.carrier)
}

/// Whether controllers of this very cluster made it: it carries their tag with our name, no claim's mark,
/// no mark of the served system's own, and nobody else's name.
fn is_left_behind(
    rules: &dyn Rules,
    identity: &Identity,
    resource: &Resource,
    read: ReadStamp,
) -> bool {
    let kind = resource.kind;
    let Some((key, value)) = left_behind_mark(identity, kind) else {
        return false;
    };
    let legacy = Verdict::Foreign(Owner::Legacy);
    let ours = identity.dialect.cluster_name();
    resource.tags.has(&key, &value)
        && judge(rules, identity, kind, resource, read) == legacy
        && identity.dialect.read(kind.carrier, &resource.tags) == Reading::Partly
        && mark::named(kind.carrier, &resource.tags)
            .iter()
            .all(|named| named.owns && Some(named.name.as_str()) == ours)
}
