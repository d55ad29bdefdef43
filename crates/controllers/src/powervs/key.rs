//! The API key of a cluster: in a Secret of its namespace.

use api::powervs::{API_KEY, DEFAULT_SECRET, IbmPowerVsCluster, SECRET};
use cloud_port::aws::Secret as Key;
use k8s_openapi::api::core::v1::Secret;
use kube::ResourceExt as _;
use ownership::input::InputError;

use crate::reconcile::{Ask, Trouble};

/// Where an object names its Secret.
pub(super) const FIELD: &str = "metadata.annotations[powervs.cluster.x-k8s.io/credentials-secret]";

/// The name of the Secret.
pub(super) fn secret(object: &IbmPowerVsCluster) -> &str {
    let named = object.annotation(SECRET).filter(|name| !name.is_empty());
    named.unwrap_or(DEFAULT_SECRET)
}

/// The key.
pub(super) async fn read(ask: &Ask<'_>, object: &IbmPowerVsCluster) -> Result<Key, Trouble> {
    let name = secret(object);
    let namespace = object.namespace();
    let found: Option<Secret> = ask.peek(namespace.as_deref(), name).await?;
    let data = found.and_then(|secret| secret.data).unwrap_or_default();
    let bytes = data.get(API_KEY).map(|bytes| bytes.0.clone());
    let text = bytes.and_then(|bytes| String::from_utf8(bytes).ok());
    let text = text.map(|text| text.trim().to_owned());
    if let Some(text) = text.filter(|text| !text.is_empty()) {
        return Ok(Key::new(text));
    }
    let namespace = namespace.unwrap_or_default();
    let rule = format!(
        "must name a Secret in the namespace {namespace} with an API key of IBM Cloud under {API_KEY}"
    );
    Err(Trouble::Unwatched(InputError::new(FIELD, name, rule)))
}
