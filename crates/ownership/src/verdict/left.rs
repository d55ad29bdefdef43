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

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::blueprint::SlotName;
    use crate::claim::{Claim, Holder};
    use crate::kind::tests::THING;
    use crate::life::Life;
    use crate::mark::{Dialect, OwnershipMark, Tags};
    use crate::part::Props;
    use crate::place::Place;
    use crate::rules::Freehold;
    use crate::step::Step;
    use crate::text::ResourceId;
    use crate::time::{FRESH, Millis, Tick};

    const LEFTOVER: Leftover = Leftover {
        kind: &THING,
        within: "parent",
        slot: "vpc",
    };
    const NOW: Tick = Tick(100_000);
    const READ: ReadStamp = ReadStamp {
        at: NOW,
        fresh: true,
    };

    fn identity(uuid: &str, holder: &str) -> Identity {
        Identity {
            claim: Claim::new("Thing.example.com", "", "prod", uuid).unwrap(),
            holder: Holder::of_cluster(holder),
            taken_over: BTreeMap::new(),
            dialect: Dialect::Capa {
                cluster: "prod".into(),
            },
        }
    }

    fn ours() -> Identity {
        identity("8f4e2f6a-3c1b-4e0e-9a53-0d2f8c6b7a11", "a")
    }

    fn mark(identity: &Identity) -> (Text, Text) {
        let mark: OwnershipMark = identity.mark(&SlotName::new("vpc").unwrap(), 1);
        mark.encode(THING.carrier).unwrap()
    }

    fn thing(id: &str, parent: &str, tags: Vec<(Text, Text)>) -> Resource {
        Resource {
            kind: &THING,
            id: ResourceId::new(id),
            unique: None,
            name: "".into(),
            tags: tags.into_iter().collect::<Tags>(),
            props: Props::from_iter([("parent", parent.into())]),
            created: None,
            life: Life::Ready,
            place: Place::HOME,
        }
    }

    fn tag(key: &str, value: &str) -> (Text, Text) {
        (key.into(), value.into())
    }

    fn owned() -> (Text, Text) {
        tag("kubernetes.io/cluster/prod", "owned")
    }

    fn seen(thing: &Resource, host: &Resource, host_read: ReadStamp) -> Option<Left> {
        Left::seen(
            &Freehold,
            &ours(),
            &LEFTOVER,
            (thing, READ),
            (host, host_read),
        )
    }

    #[test]
    fn only_what_controllers_of_this_cluster_made_was_left_behind() {
        let host = thing("host", "", vec![mark(&ours())]);
        let others = identity("0c9d7a52-6b1f-4f7e-8a4d-5e2b1c3d4f60", "a");
        let long = "sigs.k8s.io/cluster-api-provider-aws/cluster/";
        for (is_left, parent, tags) in [
            (true, "host", vec![owned()]),
            (true, "host", vec![owned(), tag("team", "blue")]),
            (false, "elsewhere", vec![owned()]),
            (false, "host", vec![]),
            (
                false,
                "host",
                vec![tag("kubernetes.io/cluster/prod", "shared")],
            ),
            (
                false,
                "host",
                vec![tag("kubernetes.io/cluster/other", "owned")],
            ),
            (
                false,
                "host",
                vec![owned(), tag("kubernetes.io/cluster/other", "shared")],
            ),
            (
                false,
                "host",
                vec![owned(), tag(&format!("{long}prod"), "owned")],
            ),
            (
                false,
                "host",
                vec![owned(), tag(&format!("{long}other"), "owned")],
            ),
            (false, "host", vec![owned(), mark(&others)]),
            (false, "host", vec![owned(), mark(&ours())]),
        ] {
            let thing = thing("thing", parent, tags);
            assert_eq!(seen(&thing, &host, READ).is_some(), is_left, "{thing:?}");
        }
    }

    #[test]
    fn what_it_lies_in_must_be_ours_and_held_here() {
        let left = thing("thing", "host", vec![owned()]);
        let others = identity("0c9d7a52-6b1f-4f7e-8a4d-5e2b1c3d4f60", "a");
        let elsewhere = identity("8f4e2f6a-3c1b-4e0e-9a53-0d2f8c6b7a11", "b");
        for (is_ours, tags) in [
            (true, vec![mark(&ours())]),
            (false, vec![]),
            (false, vec![owned()]),
            (false, vec![mark(&others)]),
            (false, vec![mark(&ours()), mark(&others)]),
            (false, vec![mark(&elsewhere)]),
        ] {
            let host = thing("host", "", tags);
            assert_eq!(seen(&left, &host, READ).is_some(), is_ours, "{host:?}");
        }
    }

    #[test]
    fn it_ends_only_if_asked_and_on_two_fresh_reads() {
        let (left, host) = (
            thing("thing", "host", vec![owned()]),
            thing("host", "", vec![mark(&ours())]),
        );
        let asked = Evidence {
            left_behind: true,
            ..Evidence::default()
        };
        let found = seen(&left, &host, READ).unwrap();
        assert!(
            found
                .clone()
                .ends(&Freehold, &Evidence::default())
                .is_none()
        );
        let owned = found.ends(&Freehold, &asked).unwrap();
        assert!(Step::delete(owned, NOW).is_some());
        for host_read in [
            ReadStamp {
                fresh: false,
                ..READ
            },
            ReadStamp {
                at: Tick(NOW.0 - FRESH.0 - 1),
                ..READ
            },
        ] {
            let found = seen(&left, &host, host_read).unwrap();
            let owned = found.ends(&Freehold, &asked).unwrap();
            assert!(Step::delete(owned, NOW + Millis(0)).is_none());
        }
    }
}
