//! Who an object is: the UUID that its marks carry, pinned once and kept through backups and moves.

use api::names::{CLAIM_PINNED_FOR, CLAIM_UUID, claim_finalizer, uuid_in_finalizer};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use ownership::Claim;
use ownership::input::InputError;

/// What an object says about its claim's UUID.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Pin {
    /// The UUID.
    pub(crate) uuid: String,
    /// Whether annotation, copy and finalizers all stand, so that a cloud may be written to.
    pub(crate) complete: bool,
    /// Whether the UUID was pinned for another object: this one is a copy, or was restored.
    pub(crate) moved: bool,
    /// Whether nothing says that it was ever pinned: nothing anywhere can carry its mark.
    pub(crate) is_new: bool,
}

/// Why nobody can tell which claim an object is.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum PinError {
    #[error("the object has no metadata.uid: it was not read from an API server")]
    Unborn,
    #[error(
        "the annotation {CLAIM_UUID} says {annotation:?}, but the finalizer {finalizer} keeps \
         another UUID: put the annotation back as the finalizer has it"
    )]
    Differs {
        annotation: String,
        finalizer: String,
    },
    #[error("the finalizers {0} and {1} keep two UUIDs: remove the one that is not this object's")]
    Ambiguous(String, String),
}

impl Pin {
    /// Reads the pin. `served` is the finalizer of the served API, which stands beside ours.
    pub(crate) fn read(meta: &ObjectMeta, served: &str) -> Result<Self, PinError> {
        let uid = meta.uid.as_deref().ok_or(PinError::Unborn)?;
        let finalizers = finalizers(meta);
        let mut copies = finalizers
            .iter()
            .filter(|name| uuid_in_finalizer(name).is_some());
        let copy = match (copies.next(), copies.next()) {
            (Some(one), Some(two)) => return Err(PinError::Ambiguous(one.clone(), two.clone())),
            (copy, _) => copy,
        };
        let written = annotation(meta, CLAIM_UUID);
        if let (Some(written), Some(copy)) = (written, copy)
            && *copy != claim_finalizer(written)
        {
            return Err(PinError::Differs {
                annotation: written.to_owned(),
                finalizer: copy.clone(),
            });
        }
        let kept = copy.and_then(|copy| uuid_in_finalizer(copy));
        let uuid = written.or(kept).unwrap_or(uid);
        let pinned_for = annotation(meta, CLAIM_PINNED_FOR);
        // An object on its way out takes no new finalizers: the annotation must do.
        let held = meta.deletion_timestamp.is_some()
            || (copy.is_some() && finalizers.iter().any(|name| name == served));
        Ok(Self {
            uuid: uuid.to_owned(),
            complete: written.is_some() && held && pinned_for == Some(uid),
            moved: pinned_for.unwrap_or(uuid) != uid,
            is_new: written.is_none() && copy.is_none() && pinned_for.is_none(),
        })
    }
}

impl Pin {
    /// The claim of the object that this is the pin of.
    pub(crate) fn claim(&self, kind: &str, meta: &ObjectMeta) -> Result<Claim, InputError> {
        let namespace = meta.namespace.as_deref().unwrap_or_default();
        let name = meta.name.as_deref().unwrap_or_default();
        Claim::new(kind, namespace, name, &self.uuid).map_err(|error| match &*error.field {
            // What is no UUID was written by somebody, and there.
            "uuid" => InputError {
                field: CLAIM_UUID.into(),
                ..error
            },
            _ => error,
        })
    }
}

/// Whether an object says that it is the claim of this UUID.
pub(crate) fn names(meta: &ObjectMeta, uuid: &str) -> bool {
    let written = annotation(meta, CLAIM_UUID);
    let mut copies = finalizers(meta)
        .iter()
        .filter_map(|name| uuid_in_finalizer(name))
        .peekable();
    if written.is_none() && copies.peek().is_none() {
        return meta.uid.as_deref() == Some(uuid);
    }
    written == Some(uuid) || copies.any(|copy| copy == uuid)
}

/// Whether its UUID was pinned for the object itself, and not for one that it was made from.
pub(crate) fn is_its_own(meta: &ObjectMeta) -> bool {
    annotation(meta, CLAIM_PINNED_FOR) == meta.uid.as_deref()
}

/// Whether an object's UUID was pinned for another one: it is a copy, or was restored.
pub(crate) fn was_moved(meta: &ObjectMeta) -> bool {
    annotation(meta, CLAIM_PINNED_FOR).is_some() && !is_its_own(meta)
}

/// Whether the first of two objects is older; of two that are as old, one of them is.
pub(crate) fn is_older(one: &ObjectMeta, other: &ObjectMeta) -> bool {
    let age = |meta: &ObjectMeta| {
        let created = meta.creation_timestamp.as_ref().map(|time| time.0);
        (created, meta.uid.clone())
    };
    age(one) < age(other)
}

fn annotation<'m>(meta: &'m ObjectMeta, key: &str) -> Option<&'m str> {
    let annotations = meta.annotations.as_ref()?;
    annotations.get(key).map(String::as_str)
}

fn finalizers(meta: &ObjectMeta) -> &[String] {
    meta.finalizers.as_deref().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const SERVED: &str = "kubermatic.k8c.io/cleanup-aws";
    const UID: &str = "11111111-1111-4111-8111-111111111111";
    const OLD: &str = "22222222-2222-4222-8222-222222222222";

    fn meta(annotations: &[(&str, &str)], finalizers: &[&str]) -> ObjectMeta {
        serde_json::from_value(json!({
            "uid": UID,
            "annotations": annotations.iter().copied().collect::<std::collections::BTreeMap<_, _>>(),
            "finalizers": finalizers,
        }))
        .unwrap()
    }

    fn read(meta: &ObjectMeta) -> Pin {
        Pin::read(meta, SERVED).unwrap()
    }

    #[test]
    fn a_new_object_is_its_own_uid() {
        let pin = read(&meta(&[], &[]));
        assert_eq!(
            (pin.uuid.as_str(), pin.complete, pin.moved),
            (UID, false, false)
        );
    }

    #[test]
    fn a_pinned_object_needs_both_finalizers() {
        let copy = claim_finalizer(UID);
        let written = [(CLAIM_UUID, UID), (CLAIM_PINNED_FOR, UID)];
        assert!(read(&meta(&written, &[SERVED, &copy])).complete);
        assert!(!read(&meta(&written, &[SERVED])).complete);
        assert!(!read(&meta(&written, &[&copy])).complete);
    }

    #[test]
    fn a_lost_annotation_comes_back_from_the_copy() {
        let pin = read(&meta(&[], &[SERVED, &claim_finalizer(OLD)]));
        assert_eq!((pin.uuid.as_str(), pin.complete), (OLD, false));
    }

    #[test]
    fn a_restored_object_keeps_its_uuid_and_is_known_to_have_moved() {
        let written = [(CLAIM_UUID, OLD), (CLAIM_PINNED_FOR, OLD)];
        let pin = read(&meta(&written, &[SERVED, &claim_finalizer(OLD)]));
        assert_eq!(
            (pin.uuid.as_str(), pin.complete, pin.moved),
            (OLD, false, true)
        );
    }

    #[test]
    fn two_uuids_are_told_with_the_way_out() {
        let differs = Pin::read(
            &meta(&[(CLAIM_UUID, UID)], &[&claim_finalizer(OLD)]),
            SERVED,
        );
        assert!(
            differs
                .unwrap_err()
                .to_string()
                .contains("put the annotation back")
        );
        let two = [claim_finalizer(OLD), claim_finalizer(UID)];
        let ambiguous = Pin::read(&meta(&[], &[&two[0], &two[1]]), SERVED);
        assert!(matches!(ambiguous, Err(PinError::Ambiguous(..))));
    }

    #[test]
    fn a_copy_without_its_pin_is_known_to_have_moved() {
        let pin = read(&meta(&[(CLAIM_UUID, OLD)], &[]));
        assert_eq!((pin.uuid.as_str(), pin.moved), (OLD, true));
    }

    #[test]
    fn an_object_is_named_by_annotation_copy_or_its_own_uid() {
        let copy = claim_finalizer(OLD);
        assert!(names(&meta(&[(CLAIM_UUID, OLD)], &[]), OLD));
        assert!(names(&meta(&[], &[&copy]), OLD));
        assert!(names(&meta(&[], &[]), UID));
        assert!(!names(&meta(&[(CLAIM_UUID, OLD)], &[&copy]), UID));
    }

    #[test]
    fn only_the_object_that_it_was_pinned_for_is_its_own() {
        let original = meta(&[(CLAIM_UUID, UID), (CLAIM_PINNED_FOR, UID)], &[]);
        let copy = ObjectMeta {
            uid: Some(OLD.to_owned()),
            ..original.clone()
        };
        assert!(is_its_own(&original) && !is_its_own(&copy));
        assert!(!is_its_own(&meta(&[(CLAIM_UUID, UID)], &[])));
        assert!(is_older(&original, &copy) && !is_older(&copy, &original));
    }
}
