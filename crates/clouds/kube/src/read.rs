//! Objects as resources.

use cloud_port::kube::{NAME, NAMESPACE, OWNER, ObjectId, ObjectKind, Ready, UID};
use k8s_openapi::jiff::Timestamp;
use ownership::kind::Change;
use ownership::life::Life;
use ownership::part::{Props, Resource};
use ownership::time::CloudTime;
use ownership::{Place, Text};
use serde_json::Value;

use crate::{fields, marks};

/// An object as a resource; `None` if it has no name or uid, which every object has.
pub(crate) fn resource(
    all: &[&'static ObjectKind],
    kind: &'static ObjectKind,
    object: &Value,
) -> Option<Resource> {
    let id = id(object)?;
    let created = object["metadata"]["creationTimestamp"].as_str();
    let created = created.and_then(|at| at.parse().ok());
    Some(Resource {
        kind: kind.kind,
        id: id.id(),
        unique: None,
        name: id.name.into(),
        tags: marks::read(object),
        props: props(all, kind, object, &id),
        created: created.and_then(cloud_time),
        life: life(kind, object),
        place: Place::HOME,
    })
}

/// Which object it is.
pub(crate) fn id(object: &Value) -> Option<ObjectId<'_>> {
    let metadata = &object["metadata"];
    Some(ObjectId {
        namespace: metadata["namespace"].as_str(),
        name: metadata["name"].as_str()?,
        uid: metadata["uid"].as_str()?,
    })
}

fn props(
    all: &[&'static ObjectKind],
    kind: &ObjectKind,
    object: &Value,
    id: &ObjectId<'_>,
) -> Props {
    let value = |name: &str| -> Option<Text> {
        match name {
            NAMESPACE => id.namespace.map(Into::into),
            NAME => Some(id.name.into()),
            UID => Some(id.uid.into()),
            OWNER => owner(all, object, id),
            _ => fields::read(object, kind.field(name)?),
        }
    };
    // Secrets are told to nobody.
    let rules = kind.kind.props.iter();
    let rules = rules.filter(|rule| rule.change != Change::Secret);
    rules
        .filter_map(|rule| Some((rule.name, value(rule.name)?)))
        .collect()
}

/// The controlling owner, as a wish names it. Whether an owner that we have no table of is in a namespace
/// it does not say: most are.
fn owner(all: &[&'static ObjectKind], object: &Value, id: &ObjectId<'_>) -> Option<Text> {
    let mut owners = object["metadata"]["ownerReferences"].as_array()?.iter();
    let owner = owners.find(|owner| owner["controller"] == true)?;
    let (api, sort) = (owner["apiVersion"].as_str()?, owner["kind"].as_str()?);
    let mut known = all.iter();
    let known = known.find(|kind| kind.api_version == api && kind.object == sort);
    let namespaced = known.is_none_or(|kind| kind.is_namespaced());
    let of = ObjectId {
        namespace: id.namespace.filter(|_| namespaced),
        name: owner["name"].as_str()?,
        uid: owner["uid"].as_str()?,
    };
    Some(format!("{api} {sort} {of}").into())
}

fn cloud_time(at: Timestamp) -> Option<CloudTime> {
    u64::try_from(at.as_millisecond()).ok().map(CloudTime)
}

/// Where an object stands in its life.
fn life(kind: &ObjectKind, object: &Value) -> Life {
    if object["metadata"]["deletionTimestamp"].is_string() {
        return Life::Going;
    }
    match kind.ready {
        Ready::AtOnce => Life::Ready,
        Ready::Condition { is, fails } => by_condition(object, is, fails),
        Ready::Field { at, ready, fails } => {
            let found = object.pointer(at).and_then(Value::as_str);
            match found {
                Some(value) if fails.contains(&value) => Life::Failed(value.into()),
                found => Life::ready_if(found.is_some_and(|value| ready.contains(&value))),
            }
        }
    }
}

fn by_condition(object: &Value, is: &str, fails: &[&str]) -> Life {
    let conditions = object["status"]["conditions"].as_array();
    let mut conditions = conditions.into_iter().flatten();
    let Some(condition) = conditions.find(|condition| condition["type"] == is) else {
        return Life::Coming;
    };
    let observed = condition["observedGeneration"].as_i64();
    let outdated =
        observed.is_some_and(|seen| Some(seen) != object["metadata"]["generation"].as_i64());
    let reason = condition["reason"].as_str().unwrap_or_default();
    if outdated {
        return Life::Coming;
    }
    if condition["status"] == "False" && fails.contains(&reason) {
        let words = condition["message"]
            .as_str()
            .filter(|words| !words.is_empty());
        return Life::Failed(words.unwrap_or(reason).into());
    }
    Life::ready_if(condition["status"] == "True")
}

#[cfg(test)]
mod tests {
    use super::*;
    use cloud_port::kube::{self, Seen};
    use ownership::Kind;
    use serde_json::json;

    static KIND: Kind = Kind {
        name: "kube/test",
        noun: "test object",
        props: &[kube::IN_NAMESPACE, kube::OWNED],
        ..kube::NAMESPACED
    };

    const fn object_kind(ready: Ready) -> ObjectKind {
        ObjectKind {
            kind: &KIND,
            api_version: "v1",
            object: "ConfigMap",
            plural: "configmaps",
            fields: &[],
            ready,
            seen: Seen::Managed,
        }
    }

    static BY_CONDITION: ObjectKind = object_kind(Ready::Condition {
        is: "Ready",
        fails: &["Broken"],
    });

    static BY_FIELD: ObjectKind = object_kind(Ready::Field {
        at: "/status/phase",
        ready: &["Bound"],
        fails: &["Lost"],
    });

    fn condition(status: &str, reason: &str, observed: i64) -> Value {
        json!({"metadata": {"generation": 2}, "status": {"conditions": [
            {"type": "Synced", "status": "True"},
            {"type": "Ready", "status": status, "reason": reason, "message": "so it is",
             "observedGeneration": observed},
        ]}})
    }

    #[test]
    fn a_condition_counts_for_the_spec_of_now() {
        let told = |object: Value| life(&BY_CONDITION, &object);
        assert_eq!(told(json!({"metadata": {}})), Life::Coming);
        assert_eq!(told(condition("True", "", 2)), Life::Ready);
        assert_eq!(told(condition("True", "", 1)), Life::Coming);
        assert_eq!(told(condition("False", "Creating", 2)), Life::Coming);
        let broken = Life::Failed("so it is".into());
        assert_eq!(told(condition("False", "Broken", 2)), broken);
        let mut going = condition("True", "", 2);
        going["metadata"]["deletionTimestamp"] = json!("2026-11-19T04:00:00Z");
        assert_eq!(told(going), Life::Going);
    }

    #[test]
    fn a_field_may_say_when_it_can_be_used() {
        let told = |phase: &str| life(&BY_FIELD, &json!({"status": {"phase": phase}}));
        assert_eq!(told("Pending"), Life::Coming);
        assert_eq!(told("Bound"), Life::Ready);
        assert_eq!(told("Lost"), Life::Failed("Lost".into()));
    }

    #[test]
    fn an_owner_is_read_as_it_is_wished_for() {
        let object = json!({"metadata": {
            "namespace": "team-a", "name": "child", "uid": "2", "ownerReferences": [
                {"apiVersion": "v1", "kind": "Secret", "name": "other", "uid": "9"},
                {"apiVersion": "v1", "kind": "ConfigMap", "name": "parent", "uid": "1",
                 "controller": true},
            ],
        }});
        let read = resource(&[&BY_FIELD], &BY_FIELD, &object).unwrap();
        let parent = kube::owner(&BY_FIELD, "team-a/parent/1".into()).to_string();
        assert_eq!(read.props.get(OWNER).map(|owner| &**owner), Some(&*parent));
        assert_eq!(read.id.as_str(), "team-a/child/2");
    }
}
