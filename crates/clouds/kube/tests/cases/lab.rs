//! A namespace of one API server, and what a case does in it: as the driver does, and by hand.

use std::collections::BTreeMap;
use std::sync::Arc;

use cloud_kube::Objects;
use cloud_port::kube::{self as words, Field, ObjectKind, Ready, Seen, Shape};
use cloud_port::{Cloud, Deadline};
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::Client;
use kube::api::{Api, DynamicObject, Patch, PatchParams, PostParams};
use kube::core::ApiResource;
use ownership::kind::{Change, PropRule};
use ownership::mark::{Dialect, Tags};
use ownership::part::{Props, Resource};
use ownership::step::Create;
use ownership::time::Tick;
use ownership::verdict::{ReadStamp, judge};
use ownership::{
    Answer, Claim, CloudError, Freehold, Holder, Identity, Kind, Owned, Place, Query, Slot,
    SlotName, Step, Target, Text, Verdict,
};
use serde_json::{Value, json};

const fn prop(name: &'static str, change: Change) -> PropRule {
    PropRule { name, change }
}

const fn field(prop: &'static str, at: &'static str, shape: Shape) -> Field {
    Field { prop, at, shape }
}

static VOLUME_KIND: Kind = Kind {
    name: "kube/volume",
    noun: "volume object",
    props: &[
        words::IN_NAMESPACE,
        words::OWNED,
        prop("size", Change::InPlace),
        prop("class", Change::InPlace),
        prop("zones", Change::InPlace),
        prop("team", Change::InPlace),
        prop("unknown", Change::InPlace),
        prop("handle", Change::Given),
        prop("password", Change::Secret),
    ],
    ..words::NAMESPACED
};

/// A custom resource with a status; of one of its fields the definition knows nothing.
pub(crate) static VOLUME: ObjectKind = ObjectKind {
    kind: &VOLUME_KIND,
    api_version: "kube.freehold.test/v1",
    object: "Volume",
    plural: "volumes",
    fields: &[
        field("size", "/spec/sizeGb", Shape::Integer),
        field("class", "/spec/class", Shape::Text),
        field("zones", "/spec/zones", Shape::Texts),
        field("team", "/metadata/labels/team", Shape::Text),
        field("unknown", "/spec/unknown", Shape::Text),
        field("handle", "/status/handle", Shape::Text),
        field("password", "/spec/password", Shape::Text),
    ],
    ready: Ready::Condition {
        is: "Ready",
        fails: &["OutOfSpace"],
    },
    seen: Seen::Managed,
};

static SETTINGS_KIND: Kind = Kind {
    name: "kube/settings",
    noun: "settings",
    props: &[words::IN_NAMESPACE, prop("size", Change::InPlace)],
    ..words::NAMESPACED
};

/// A built-in kind.
pub(crate) static SETTINGS: ObjectKind = ObjectKind {
    kind: &SETTINGS_KIND,
    api_version: "v1",
    object: "ConfigMap",
    plural: "configmaps",
    fields: &[field("size", "/data/size", Shape::Text)],
    ready: Ready::AtOnce,
    seen: Seen::All,
};

static SPACE_KIND: Kind = Kind {
    name: "kube/namespace",
    noun: "namespace",
    props: &[prop(words::UID, Change::Given)],
    ..words::CLUSTER_WIDE
};

/// A kind outside of namespaces.
pub(crate) static SPACE: ObjectKind = ObjectKind {
    kind: &SPACE_KIND,
    api_version: "v1",
    object: "Namespace",
    plural: "namespaces",
    fields: &[],
    ready: Ready::Field {
        at: "/status/phase",
        ready: &["Active"],
        fails: &[],
    },
    seen: Seen::Managed,
};

static MOON_KIND: Kind = Kind {
    name: "kube/moon",
    noun: "moon",
    props: &[words::IN_NAMESPACE],
    ..words::NAMESPACED
};

/// A kind that no server serves.
pub(crate) static MOON: ObjectKind = ObjectKind {
    kind: &MOON_KIND,
    api_version: "sky.freehold.test/v1",
    object: "Moon",
    plural: "moons",
    fields: &[],
    ready: Ready::AtOnce,
    seen: Seen::Managed,
};

pub(crate) const ALL: [&ObjectKind; 4] = [&VOLUME, &SETTINGS, &SPACE, &MOON];

/// The definition of the custom resource.
pub(crate) fn definition() -> CustomResourceDefinition {
    let text = json!({"type": "string"});
    let schema = json!({"type": "object", "properties": {
        "spec": {"type": "object", "properties": {
            "sizeGb": {"type": "integer"},
            "class": text,
            "password": text,
            "zones": {"type": "array", "items": text},
        }},
        "status": {"type": "object", "x-kubernetes-preserve-unknown-fields": true},
    }});
    let definition = json!({
        "metadata": {"name": "volumes.kube.freehold.test"},
        "spec": {
            "group": "kube.freehold.test",
            "names": {"plural": "volumes", "singular": "volume", "kind": "Volume",
                      "listKind": "VolumeList"},
            "scope": "Namespaced",
            "versions": [{"name": "v1", "served": true, "storage": true,
                          "schema": {"openAPIV3Schema": schema}, "subresources": {"status": {}}}],
        },
    });
    serde_json::from_value(definition).unwrap()
}

/// A namespace of one API server.
pub(crate) struct Lab {
    pub client: Client,
    pub namespace: String,
    pub objects: Objects,
    pub identity: Identity,
}

impl Lab {
    /// A namespace of its own for a case.
    pub(crate) async fn new(client: Client, case: &str) -> Self {
        let namespace = case.replace('_', "-");
        let namespace = namespace[..namespace.len().min(60)]
            .trim_end_matches('-')
            .to_owned();
        let lab = Self {
            objects: Objects::new(client.clone(), &ALL),
            client,
            identity: identity(&namespace),
            namespace,
        };
        let object = json!({"apiVersion": "v1", "kind": "Namespace",
                            "metadata": {"name": lab.namespace}});
        lab.by_hand(&SPACE, &object).await;
        lab
    }

    /// The objects of a kind, for hands.
    pub(crate) fn api(&self, kind: &ObjectKind) -> Api<DynamicObject> {
        let (group, version) = kind
            .api_version
            .split_once('/')
            .unwrap_or(("", kind.api_version));
        let resource = ApiResource {
            group: group.to_owned(),
            version: version.to_owned(),
            api_version: kind.api_version.to_owned(),
            kind: kind.object.to_owned(),
            plural: kind.plural.to_owned(),
        };
        if kind.is_namespaced() {
            Api::namespaced_with(self.client.clone(), &self.namespace, &resource)
        } else {
            Api::all_with(self.client.clone(), &resource)
        }
    }

    /// Somebody makes an object.
    pub(crate) async fn by_hand(&self, kind: &ObjectKind, object: &Value) {
        let object = serde_json::from_value(object.clone()).unwrap();
        let params = PostParams::default();
        self.api(kind).create(&params, &object).await.unwrap();
    }

    /// Somebody else, with a name of his own, applies something, whatever others manage.
    pub(crate) async fn apply(&self, kind: &ObjectKind, name: &str, mut object: Value) {
        object["apiVersion"] = json!(kind.api_version);
        object["kind"] = json!(kind.object);
        object["metadata"]["name"] = json!(name);
        let params = PatchParams::apply("somebody").force();
        let patch = Patch::Apply(object);
        self.api(kind).patch(name, &params, &patch).await.unwrap();
    }

    /// Somebody patches an object.
    pub(crate) async fn patch(&self, kind: &ObjectKind, name: &str, patch: Value) {
        let (params, patch) = (PatchParams::default(), Patch::Merge(patch));
        self.api(kind).patch(name, &params, &patch).await.unwrap();
    }

    /// Its controller writes an object's status.
    pub(crate) async fn status(&self, kind: &ObjectKind, name: &str, status: Value) {
        let patch = Patch::Merge(json!({"status": status}));
        let params = PatchParams::default();
        let api = self.api(kind);
        api.patch_status(name, &params, &patch).await.unwrap();
    }

    /// An object as it is; `None` if it is not there.
    pub(crate) async fn object(&self, kind: &ObjectKind, name: &str) -> Option<Value> {
        let found = self.api(kind).get_opt(name).await.unwrap();
        found.map(|object| serde_json::to_value(object).unwrap())
    }

    /// A create in this namespace, for the slot of the name.
    pub(crate) fn create(
        &self,
        kind: &ObjectKind,
        name: &str,
        props: &[(&'static str, &str)],
    ) -> Create {
        let slot = SlotName::new(name).unwrap();
        let wanted = Slot::own(slot.clone(), kind.kind, name);
        let tags = self.identity.ownership_tags(kind.kind, &wanted, 1).unwrap();
        let mut all: Props = props
            .iter()
            .map(|(name, value)| (*name, (*value).into()))
            .collect();
        if kind.is_namespaced() {
            all.set(words::NAMESPACE, self.namespace.as_str().into());
        }
        Create {
            place: Place::HOME,
            slot,
            kind: kind.kind,
            attempt: 1,
            name: name.into(),
            props: all,
            secrets: ownership::secret::Secrets::new(),
            tags: tags.into_iter().collect::<Tags>(),
            token: None,
        }
    }

    /// Makes an object as the driver does.
    pub(crate) async fn make(
        &self,
        kind: &ObjectKind,
        name: &str,
        props: &[(&'static str, &str)],
    ) -> Arc<Resource> {
        let create = Step::Create(self.create(kind, name, props));
        let effect = self.objects.perform(&create, Deadline::never()).await;
        effect.unwrap().born.unwrap()
    }

    pub(crate) async fn perform(&self, step: &Step) -> Result<(), CloudError> {
        let effect = self.objects.perform(step, Deadline::never()).await;
        effect.map(drop)
    }

    pub(crate) async fn ask(&self, query: &Query) -> Vec<Arc<Resource>> {
        self.answer(query).await.unwrap().resources
    }

    pub(crate) async fn answer(&self, query: &Query) -> Result<Answer, CloudError> {
        self.objects.read(query).await
    }

    pub(crate) async fn read(&self, target: &Target) -> Option<Arc<Resource>> {
        self.ask(&Query::Id(target.clone())).await.pop()
    }

    pub(crate) fn by_name(&self, kind: &ObjectKind, name: &str) -> Query {
        let namespace = self.namespace.as_str().into();
        Query::Name {
            kind: kind.kind,
            place: Place::HOME,
            name: name.into(),
            within: kind
                .is_namespaced()
                .then_some((words::NAMESPACE, namespace)),
        }
    }

    pub(crate) fn by_marks(&self, kind: &ObjectKind) -> Query {
        Query::Marks {
            kind: kind.kind,
            place: Place::HOME,
            keys: vec![self.identity.key(kind.kind)],
        }
    }

    /// The proof that a resource is ours, as it was read.
    pub(crate) fn owned(&self, resource: &Resource) -> Owned {
        let read = ReadStamp {
            at: Tick(0),
            fresh: true,
        };
        match judge(&Freehold, &self.identity, resource.kind, resource, read) {
            Verdict::Owned(owned) => owned,
            other => panic!("not owned: {other:?}"),
        }
    }

    pub(crate) fn deletion(&self, resource: &Resource) -> Step {
        Step::delete(self.owned(resource), Tick(0)).unwrap()
    }

    pub(crate) fn change(&self, resource: &Resource, change: &[(&'static str, &str)]) -> Step {
        let change: Vec<(&'static str, Text)> = change
            .iter()
            .map(|(name, value)| (*name, (*value).into()))
            .collect();
        let change = change.into_iter().collect();
        Step::update(self.owned(resource), change, Tick(0)).unwrap()
    }
}

fn identity(case: &str) -> Identity {
    let uuid = "b0b3f3c0-5c7a-4b0e-9a53-3f6f0f3c9c11";
    Identity {
        claim: Claim::new("Cluster.test.freehold.dev", "", case, uuid).unwrap(),
        holder: Holder::of_cluster("here"),
        taken_over: BTreeMap::new(),
        dialect: Dialect::Kyma {
            name: "a".into(),
            remote_name: "team-a/volume".into(),
            scope: "s".into(),
            shoot: "shoot".into(),
        },
    }
}
