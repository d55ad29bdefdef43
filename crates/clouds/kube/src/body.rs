//! What is sent: the object of a create, and the metadata of a mark.

use cloud_port::kube::{NAMESPACE, OWNER, ObjectId, ObjectKind};
use ownership::step::Create;
use ownership::{Class, CloudError, Text};
use serde_json::{Value, json};

use crate::{fields, marks};

/// The object that a create makes, with its marks.
///
/// # Errors
/// A wish that no such object can have.
pub(crate) fn object(kind: &ObjectKind, create: &Create) -> Result<Value, CloudError> {
    let (labels, annotations) = marks::written(create.tags.iter());
    let mut object = json!({
        "apiVersion": kind.api_version,
        "kind": kind.object,
        "metadata": {"name": *create.name, "labels": labels, "annotations": annotations},
    });
    for (name, value) in create.props.iter() {
        wish(kind, &mut object, name, value)?;
    }
    for name in create.secrets.names() {
        if let Some(secret) = create.secrets.get(name) {
            wish(kind, &mut object, name, secret.reveal())?;
        }
    }
    Ok(object)
}

fn wish(kind: &ObjectKind, object: &mut Value, name: &str, value: &str) -> Result<(), CloudError> {
    match name {
        NAMESPACE => object["metadata"]["namespace"] = json!(value),
        OWNER => object["metadata"]["ownerReferences"] = json!([owner(value)?]),
        name => {
            let field = kind.field(name).ok_or_else(|| unknown(kind, name))?;
            fields::put(object, field.at, fields::value(field, value)?);
        }
    }
    Ok(())
}

/// The reference to the controlling owner: "v1 ConfigMap team-a/settings/UID".
fn owner(value: &str) -> Result<Value, CloudError> {
    let mut words = value.split(' ');
    let (api, sort, id) = (words.next(), words.next(), words.next());
    let id = id.and_then(ObjectId::of).filter(|_| words.next().is_none());
    let (Some(api), Some(sort), Some(id)) = (api, sort, id) else {
        let message = format!("owner: {value:?} names no object by API, kind and id");
        return Err(CloudError::new(Class::Fatal, "InvalidValue", message));
    };
    Ok(json!({
        "apiVersion": api,
        "kind": sort,
        "name": id.name,
        "uid": id.uid,
        "controller": true,
    }))
}

/// The refusal of a property that the table of a Kind does not have.
pub(crate) fn unknown(kind: &ObjectKind, name: &str) -> CloudError {
    let message = format!("a {} has no field for {name}", kind.kind.noun);
    CloudError::new(Class::Fatal, "UnknownProperty", message)
}

/// The merge patch that gives an object back: it takes off these tags, and the controlling owner that its
/// create named. What that one owns goes with it.
pub(crate) fn given_back(kind: &ObjectKind, object: &Value, tags: &[(Text, Text)]) -> Value {
    let mut patch = tagged(object, tags, false);
    let mut props = kind.kind.props.iter();
    let owners = object["metadata"]["ownerReferences"].as_array();
    if let (true, Some(owners)) = (props.any(|rule| rule.name == OWNER), owners) {
        let others = owners.iter().filter(|owner| owner["controller"] != true);
        patch["metadata"]["ownerReferences"] = others.cloned().collect();
    }
    patch
}

/// The merge patch that adds tags to this very version of an object, or takes them off.
pub(crate) fn tagged(object: &Value, tags: &[(Text, Text)], adds: bool) -> Value {
    let (labels, annotations) = if adds {
        marks::written(tags)
    } else {
        marks::taken_off(object, tags)
    };
    json!({"metadata": {
        "uid": object["metadata"]["uid"],
        "resourceVersion": object["metadata"]["resourceVersion"],
        "labels": labels,
        "annotations": annotations,
    }})
}

#[cfg(test)]
mod tests {
    use super::*;
    use cloud_port::kube::{self, Ready, Seen};
    use ownership::Kind;

    static OWNED: Kind = Kind {
        name: "kube/owned",
        noun: "test object",
        props: &[kube::IN_NAMESPACE, kube::OWNED],
        ..kube::NAMESPACED
    };

    static FREE: Kind = Kind {
        name: "kube/free",
        props: &[kube::IN_NAMESPACE],
        ..OWNED
    };

    #[test]
    fn what_is_given_back_loses_the_owner_that_its_create_named() {
        let object = json!({"metadata": {
            "uid": "2", "resourceVersion": "7", "labels": {"team": "blue"},
            "ownerReferences": [
                {"apiVersion": "v1", "kind": "Secret", "name": "other", "uid": "9"},
                {"apiVersion": "v1", "kind": "ConfigMap", "name": "ours", "uid": "1", "controller": true},
            ],
        }});
        let patch = |kind| {
            let kind = ObjectKind {
                kind,
                api_version: "v1",
                object: "ConfigMap",
                plural: "configmaps",
                fields: &[],
                ready: Ready::AtOnce,
                seen: Seen::Managed,
            };
            given_back(&kind, &object, &[("team".into(), "blue".into())])
        };
        let metadata = &patch(&OWNED)["metadata"];
        assert_eq!(metadata["labels"], json!({"team": null}));
        assert_eq!(metadata["resourceVersion"], "7");
        let left = metadata["ownerReferences"].as_array().unwrap();
        assert!(left.len() == 1 && left[0]["name"] == "other", "{left:?}");
        // Of objects that are made without an owner it is somebody else's.
        assert!(patch(&FREE)["metadata"].get("ownerReferences").is_none());
    }
}
