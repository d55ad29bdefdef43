//! Take-over: the management clusters whose claims somebody has confirmed to be this one's.

use std::collections::BTreeSet;

use k8s_openapi::api::core::v1::ConfigMap;
use kube::Client;
use kube::api::Api;
use ownership::Holder;

/// The ConfigMap in the operator's namespace whose keys are the holders that this management
/// cluster has taken over: their claims are its own. It is read when a replica begins to lead.
pub const CONFIG_MAP: &str = "freehold-take-over";

/// Reads it; without one, nobody was taken over. A key that is no holder is left out, and logged.
///
/// # Errors
/// What the API server said.
pub(crate) async fn read(
    client: &Client,
    namespace: &str,
) -> Result<BTreeSet<Holder>, kube::Error> {
    let maps: Api<ConfigMap> = Api::namespaced(client.clone(), namespace);
    let map = maps.get_opt(CONFIG_MAP).await?.unwrap_or_default();
    let mut holders = BTreeSet::new();
    for key in map.data.unwrap_or_default().keys() {
        match Holder::parse(key) {
            Ok(holder) => {
                tracing::info!(%holder, "taken over");
                holders.insert(holder);
            }
            Err(error) => tracing::warn!(%error, "a key of the ConfigMap {CONFIG_MAP}"),
        }
    }
    Ok(holders)
}
