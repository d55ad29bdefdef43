//! Queries and Steps, as short as cases want them.

use std::collections::BTreeMap;

use ownership::life::Life;
use ownership::mark::Dialect;
use ownership::part::{InnerPart, Props, Resource};
use ownership::step::{Create, MarkRight, UnmarkRight};
use ownership::time::Tick;
use ownership::verdict::{OwnedPart, ReadStamp, judge};
use ownership::{
    Claim, Freehold, Holder, Identity, Kind, Owned, Place, Query, ResourceId, Slot, SlotName, Step,
    Target, Text, Verdict,
};

pub(crate) const TRUST: &str = concat!(
    r#"{"Statement":[{"Action":"sts:AssumeRole","Effect":"Allow","#,
    r#""Principal":{"Service":"ec2.amazonaws.com"}}],"Version":"2012-10-17"}"#
);

pub(crate) fn text(text: &str) -> Text {
    text.into()
}

pub(crate) fn pairs(pairs: &[(&str, &str)]) -> Vec<(Text, Text)> {
    pairs.iter().map(|(k, v)| (text(k), text(v))).collect()
}

pub(crate) fn props(pairs: &[(&'static str, &str)]) -> Props {
    pairs.iter().map(|(k, v)| (*k, text(v))).collect()
}

pub(crate) fn part(key: &str, value: &str, tags: &[(&str, &str)]) -> InnerPart {
    InnerPart::new(text(key), text(value), pairs(tags).into_iter().collect())
}

pub(crate) fn target(kind: &'static Kind, id: &str) -> Target {
    Target::new(kind, ResourceId::new(id))
}

pub(crate) fn by_id(target: &Target) -> Query {
    Query::Id(target.clone())
}

pub(crate) fn by_name(
    kind: &'static Kind,
    name: &str,
    within: Option<(&'static str, &str)>,
) -> Query {
    Query::Name {
        place: Place::HOME,
        kind,
        name: text(name),
        within: within.map(|(prop, parent)| (prop, text(parent))),
    }
}

pub(crate) fn by_mark(kind: &'static Kind, key: &str) -> Query {
    let keys = vec![text(key)];
    Query::Marks {
        place: Place::HOME,
        kind,
        keys,
    }
}

pub(crate) fn by_props(kind: &'static Kind, pairs: &[(&'static str, &str)]) -> Query {
    Query::Match {
        place: Place::HOME,
        kind,
        name: text(""),
        props: props(pairs),
    }
}

pub(crate) fn inside(of: &Target, inner: &'static str) -> Query {
    let of = of.clone();
    Query::Inner { of, inner }
}

pub(crate) fn create(
    kind: &'static Kind,
    name: &str,
    with: &[(&'static str, &str)],
    tags: &[(&str, &str)],
) -> Create {
    Create {
        place: Place::HOME,
        slot: slot(),
        kind,
        attempt: 1,
        name: text(name),
        props: props(with),
        secrets: ownership::secret::Secrets::new(),
        tags: pairs(tags).into_iter().collect(),
        token: None,
    }
}

pub(crate) fn mark(targets: &[&Target], tags: &[(&str, &str)]) -> Step {
    Step::Mark {
        targets: targets.iter().map(|t| (*t).clone()).collect(),
        tags: pairs(tags),
        right: MarkRight::Trace,
    }
}

pub(crate) fn unmark(targets: &[&Target], tags: &[(&str, &str)]) -> Step {
    Step::Unmark {
        targets: targets.iter().map(|t| (*t).clone()).collect(),
        tags: pairs(tags),
        right: UnmarkRight::Trace,
    }
}

pub(crate) fn add(target: &Target, inner: &'static str, parts: &[InnerPart]) -> Step {
    Step::AddInner {
        target: target.clone(),
        inner,
        parts: parts.to_vec(),
    }
}

pub(crate) fn remove(target: &Target, inner: &'static str, parts: &[InnerPart]) -> Step {
    let inner = target.kind.inner(inner).expect("a part of that kind");
    let read = ReadStamp {
        at: Tick(0),
        fresh: true,
    };
    let proved = |part: &InnerPart| {
        OwnedPart::derived(&owned(target.kind, target), inner, part.clone(), read)
            .expect("it is held here")
    };
    Step::remove(parts.iter().map(proved).collect(), Tick(0)).expect("the proof is fresh")
}

pub(crate) fn update(kind: &'static Kind, target: &Target, with: Props) -> Step {
    Step::update(owned(kind, target), with, Tick(0)).expect("the proof is fresh")
}

pub(crate) fn delete(kind: &'static Kind, target: &Target) -> Step {
    Step::delete(owned(kind, target), Tick(0)).expect("the proof is fresh")
}

fn slot() -> SlotName {
    SlotName::new("slot").expect("a legal name")
}

/// The proof that a resource is ours, for cases that are not about ownership.
fn owned(kind: &'static Kind, target: &Target) -> Owned {
    let uuid = "b0b3f3c0-5c7a-4b0e-9a53-3f6f0f3c9c11";
    let identity = Identity {
        claim: Claim::new("Cluster.kubermatic.k8c.io", "", "abc", uuid).expect("a legal claim"),
        holder: Holder::of_cluster("here"),
        taken_over: BTreeMap::new(),
        dialect: Dialect::Kkp {
            cluster: text("abc"),
        },
    };
    let marks = identity.ownership_tags(kind, &Slot::own(slot(), kind, "x"), 1);
    let resource = Resource {
        place: Place::HOME,
        kind,
        id: target.id.clone(),
        unique: None,
        name: text("x"),
        tags: marks.expect("legal marks").into_iter().collect(),
        props: Props::new(),
        created: None,
        life: Life::Ready,
    };
    let read = ReadStamp {
        at: Tick(0),
        fresh: true,
    };
    match judge(&Freehold, &identity, kind, &resource, read) {
        Verdict::Owned(owned) => owned,
        other => panic!("not owned: {other:?}"),
    }
}
