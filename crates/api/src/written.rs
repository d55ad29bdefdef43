//! Who is told to have written a field: whoever applies manifests can tell the operator's fields from
//! others.

use kube::api::{PatchParams, PostParams};

/// The name under which Freehold manages fields.
pub const FIELD_MANAGER: &str = "freehold";

/// How Freehold patches.
pub fn patches() -> PatchParams {
    PatchParams {
        field_manager: Some(FIELD_MANAGER.to_owned()),
        ..PatchParams::default()
    }
}

/// How Freehold creates and replaces.
pub fn posts() -> PostParams {
    PostParams {
        field_manager: Some(FIELD_MANAGER.to_owned()),
        ..PostParams::default()
    }
}
