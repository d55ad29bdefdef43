//! What people do to a cloud by hand, and what they see there.

use std::collections::{BTreeMap, BTreeSet};

use cloud_port::{Cloud, Deadline};
use cloud_sim::VirtualClock;
use ownership::life::Life;
use ownership::mark::{Dialect, Tags};
use ownership::part::{InnerPart, Props, Resource};
use ownership::secret::Secrets;
use ownership::step::{Create, MarkRight, UnmarkRight};
use ownership::time::Tick;
use ownership::verdict::{OwnedPart, ReadStamp, judge};
use ownership::{
    Claim, CloudError, Freehold, Holder, Identity, Kind, Owned, Place, Query, ResourceId, Slot,
    SlotName, Step, Target, Text, Verdict,
};

/// Somebody with access to the account.
#[derive(Clone, Debug)]
pub struct Hands<C> {
    cloud: C,
    clock: VirtualClock,
}

impl<C: Cloud> Hands<C> {
    /// What this cloud does for whoever asks; `clock` is that of the laboratory.
    pub fn new(cloud: C, clock: VirtualClock) -> Self {
        Self { cloud, clock }
    }

    /// Makes a resource; its id.
    pub async fn make(
        &self,
        kind: &'static Kind,
        name: &str,
        props: &[(&'static str, &str)],
        tags: &[(&str, &str)],
    ) -> String {
        let create = Create {
            place: Place::HOME,
            slot: SlotName::new("by-hand").unwrap(),
            kind,
            attempt: 1,
            name: name.into(),
            props: props.iter().map(|(k, v)| (*k, Text::from(*v))).collect(),
            secrets: Secrets::new(),
            tags: pairs(tags).into_iter().collect(),
            token: None,
        };
        let made = self
            .cloud
            .perform(&Step::Create(create), Deadline::never())
            .await
            .unwrap();
        made.born.unwrap().id.to_string()
    }

    /// Adds a part to a resource.
    pub async fn add(
        &self,
        kind: &'static Kind,
        id: &str,
        inner: &'static str,
        key: &str,
        value: &str,
    ) {
        self.add_part(kind, id, inner, part(key, value)).await;
    }

    /// The same, with tags of its own.
    pub async fn add_part(
        &self,
        kind: &'static Kind,
        id: &str,
        inner: &'static str,
        part: InnerPart,
    ) {
        let step = Step::AddInner {
            target: target(kind, id),
            inner,
            parts: vec![part],
        };
        self.cloud.perform(&step, Deadline::never()).await.unwrap();
    }

    /// Removes a part of a resource.
    pub async fn remove(&self, kind: &'static Kind, id: &str, inner: &'static str, key: &str) {
        self.try_to_remove(kind, id, inner, key).await.unwrap();
    }

    /// The same, if the cloud lets them.
    ///
    /// # Errors
    /// Why it does not.
    pub async fn try_to_remove(
        &self,
        kind: &'static Kind,
        id: &str,
        inner: &'static str,
        key: &str,
    ) -> Result<(), CloudError> {
        let now = self.clock.now();
        let inner = kind.inner(inner).unwrap();
        let read = ReadStamp {
            at: now,
            fresh: true,
        };
        let part = OwnedPart::derived(&proof(kind, id, now), inner, part(key, ""), read);
        let step = Step::remove(vec![part.unwrap()], now).unwrap();
        let removed = self.cloud.perform(&step, Deadline::never()).await;
        removed.map(drop)
    }

    /// Changes a property of a resource.
    pub async fn update(&self, kind: &'static Kind, id: &str, prop: &'static str, value: &str) {
        let now = self.clock.now();
        let props = [(prop, value.into())].into_iter().collect();
        let step = Step::update(proof(kind, id, now), props, now).unwrap();
        self.cloud.perform(&step, Deadline::never()).await.unwrap();
    }

    /// Tags a resource.
    pub async fn tag(&self, kind: &'static Kind, id: &str, tags: &[(&str, &str)]) {
        let step = Step::Mark {
            targets: vec![target(kind, id)],
            tags: pairs(tags),
            right: MarkRight::Trace,
        };
        self.cloud.perform(&step, Deadline::never()).await.unwrap();
    }

    /// Takes tags off a resource.
    pub async fn untag(&self, kind: &'static Kind, id: &str, tags: &BTreeMap<String, String>) {
        let tags = tags
            .iter()
            .map(|(key, value)| (key.as_str().into(), value.as_str().into()));
        let step = Step::Unmark {
            targets: vec![target(kind, id)],
            tags: tags.collect(),
            right: UnmarkRight::Trace,
        };
        self.cloud.perform(&step, Deadline::never()).await.unwrap();
    }

    /// Deletes a resource.
    pub async fn delete(&self, kind: &'static Kind, id: &str) {
        let now = self.clock.now();
        let step = Step::delete(proof(kind, id, now), now).unwrap();
        self.cloud.perform(&step, Deadline::never()).await.unwrap();
    }

    /// All resources of a Kind.
    pub async fn all(&self, kind: &'static Kind) -> Vec<Resource> {
        let query = Query::Match {
            place: Place::HOME,
            kind,
            name: "".into(),
            props: Props::new(),
        };
        let answer = self.cloud.read(&query).await.unwrap();
        let found = answer.resources.iter();
        found.map(|found| (**found).clone()).collect()
    }

    /// The resource of this name.
    pub async fn named(&self, kind: &'static Kind, name: &str) -> Option<Resource> {
        let query = Query::Name {
            place: Place::HOME,
            kind,
            name: name.into(),
            within: None,
        };
        let answer = self.cloud.read(&query).await.unwrap();
        answer.resources.first().map(|found| (**found).clone())
    }

    /// The parts in a resource: key and value.
    pub async fn inside(
        &self,
        kind: &'static Kind,
        id: &str,
        inner: &'static str,
    ) -> BTreeMap<String, String> {
        let of = target(kind, id);
        let query = Query::Inner {
            of: of.clone(),
            inner,
        };
        let answer = self.cloud.read(&query).await.unwrap();
        let told = answer
            .inner
            .into_iter()
            .filter(|told| told.of == of && told.inner == inner);
        told.flat_map(|told| told.parts)
            .map(|part| (part.key.to_string(), part.value.to_string()))
            .collect()
    }

    /// Everything of these Kinds that has a tag with this key: its Kind and id.
    pub async fn tagged(&self, kinds: &[&'static Kind], key: &str) -> BTreeSet<String> {
        let mut found = BTreeSet::new();
        for kind in kinds {
            let query = Query::Marks {
                place: Place::HOME,
                kind,
                keys: vec![key.into()],
            };
            let answer = self.cloud.read(&query).await.unwrap();
            let tagged = answer.resources.iter();
            found.extend(tagged.map(|it| format!("{} {}", it.kind, it.id)));
        }
        found
    }

    /// Everything of these Kinds, byte by byte: name, tags, properties and parts of each, by its Kind and
    /// id.
    pub async fn everything(&self, kinds: &[&'static Kind]) -> BTreeMap<String, String> {
        let mut found = BTreeMap::new();
        for kind in kinds {
            for it in self.all(kind).await {
                let id = it.id.to_string();
                let mut said = format!("{:?} {:?} {:?}", it.name, tags(&it), it.props);
                for inner in kind.inner {
                    let parts = self.inside(kind, &id, inner.name).await;
                    said = format!("{said} {} {parts:?}", inner.name);
                }
                found.insert(format!("{kind} {id}"), said);
            }
        }
        found
    }
}

/// There is no Step that deletes without a proof of ownership, so one is made up.
fn proof(kind: &'static Kind, id: &str, now: Tick) -> Owned {
    let identity = Identity {
        claim: Claim::new(
            "Hand.example.com",
            "",
            "x",
            "b0b3f3c0-5c7a-4b0e-9a53-3f6f0f3c9c11",
        )
        .unwrap(),
        holder: Holder::of_cluster("by hand"),
        taken_over: BTreeMap::new(),
        dialect: Dialect::Plain,
    };
    let slot = SlotName::new("by-hand").unwrap();
    let marks = identity
        .ownership_tags(kind, &Slot::own(slot, kind, "x"), 1)
        .unwrap();
    let resource = Resource {
        place: Place::HOME,
        kind,
        id: ResourceId::new(id),
        unique: None,
        name: "x".into(),
        tags: marks.into_iter().collect(),
        props: Props::new(),
        created: None,
        life: Life::Ready,
    };
    let read = ReadStamp {
        at: now,
        fresh: true,
    };
    match judge(&Freehold, &identity, kind, &resource, read) {
        Verdict::Owned(owned) => owned,
        other => panic!("not owned: {other:?}"),
    }
}

fn target(kind: &'static Kind, id: &str) -> Target {
    Target::new(kind, ResourceId::new(id))
}

fn part(key: &str, value: &str) -> InnerPart {
    InnerPart::new(key, value, Tags::new())
}

fn pairs(tags: &[(&str, &str)]) -> Vec<(Text, Text)> {
    tags.iter()
        .map(|(k, v)| (Text::from(*k), Text::from(*v)))
        .collect()
}

/// The tags of a resource.
pub fn tags(resource: &Resource) -> BTreeMap<String, String> {
    resource
        .tags
        .iter()
        .map(|(k, v)| (k.to_string(), v.to_string()))
        .collect()
}
