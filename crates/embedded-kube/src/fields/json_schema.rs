//! The shape of a schema inside a definition.

use super::shape::{Ref, Scalar};

/// The struct and the field that hold one.
pub(super) const PLACE: (&str, &str) = ("CustomResourceValidation", "openAPIV3Schema");
const TEXTS: [&str; 10] = [
    "$ref",
    "$schema",
    "description",
    "format",
    "id",
    "pattern",
    "title",
    "type",
    "x-kubernetes-list-type",
    "x-kubernetes-map-type",
];
const NUMBERS: [&str; 9] = [
    "maxItems",
    "maxLength",
    "maxProperties",
    "maximum",
    "minItems",
    "minLength",
    "minProperties",
    "minimum",
    "multipleOf",
];
const FLAGS: [&str; 7] = [
    "exclusiveMaximum",
    "exclusiveMinimum",
    "nullable",
    "uniqueItems",
    "x-kubernetes-embedded-resource",
    "x-kubernetes-int-or-string",
    "x-kubernetes-preserve-unknown-fields",
];
/// What these hold is not known.
const REST: [&str; 11] = [
    "additionalItems",
    "additionalProperties",
    "default",
    "dependencies",
    "enum",
    "example",
    "externalDocs",
    "items",
    "required",
    "x-kubernetes-list-map-keys",
    "x-kubernetes-validations",
];

/// What a field of a schema holds.
pub(super) fn field<'a>(name: &str) -> Option<Ref<'a>> {
    match name {
        "not" => Some(Ref::JsonSchema),
        "allOf" | "anyOf" | "oneOf" => Some(Ref::JsonSchemas { by_name: false }),
        "definitions" | "patternProperties" | "properties" => {
            Some(Ref::JsonSchemas { by_name: true })
        }
        _ if TEXTS.contains(&name) => Some(Ref::Plain(Scalar::Text)),
        _ if NUMBERS.contains(&name) => Some(Ref::Plain(Scalar::Number)),
        _ if FLAGS.contains(&name) => Some(Ref::Plain(Scalar::Flag)),
        _ => REST.contains(&name).then_some(Ref::Deduced),
    }
}
