//! Objects that we generate for others: who they are does not depend on when they were made.

use std::collections::BTreeMap;

use api::names::CLAIM_UUID;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{ObjectMeta, OwnerReference};
use ownership::Claim;

/// The metadata of an object that is generated for its owner and is `claim`: see [`Claim::derived`] and
/// [`Claim::edge`]. One that was deleted and is generated again finds what the first one made.
pub fn generated(claim: &Claim, owner: Option<OwnerReference>) -> ObjectMeta {
    let namespace = Some(claim.namespace()).filter(|namespace| !namespace.is_empty());
    let uuid = claim.uuid().to_string();
    ObjectMeta {
        name: Some(claim.name().to_owned()),
        namespace: namespace.map(str::to_owned),
        annotations: Some(BTreeMap::from([(CLAIM_UUID.to_owned(), uuid)])),
        owner_references: owner.map(|owner| vec![owner]),
        ..ObjectMeta::default()
    }
}
