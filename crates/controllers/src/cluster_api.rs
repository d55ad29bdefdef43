//! What all providers of Cluster API have in common: the `Cluster` that an object belongs to.

use api::capa::{OWNER_GROUP, OwnerCluster};
use kube::api::ObjectMeta;

use crate::reconcile::{Ask, Trouble};

/// The name of the `Cluster` that owns an object.
pub(crate) fn owner(metadata: &ObjectMeta) -> Option<&str> {
    let owners = metadata.owner_references.iter().flatten();
    let mut clusters = owners.filter(|owner| {
        let group = owner.api_version.split('/').next();
        owner.kind == "Cluster" && group == Some(OWNER_GROUP)
    });
    clusters.next().map(|owner| owner.name.as_str())
}

/// The port of the API server, if the owner names one. An object that lives waits for its owner; one that
/// ends may have outlived it.
pub(crate) async fn port(ask: &Ask<'_>, metadata: &ObjectMeta) -> Result<Option<i64>, Trouble> {
    let ends = metadata.deletion_timestamp.is_some();
    let Some(name) = owner(metadata) else {
        if ends {
            return Ok(None);
        }
        let what = "its owner: Cluster API says which Cluster it belongs to";
        return Err(Trouble::Waits(what.to_owned()));
    };
    let owner: Option<OwnerCluster> = ask.get(metadata.namespace.as_deref(), name).await?;
    match owner {
        Some(owner) if owner.is_paused() => Err(Trouble::Paused(format!(
            "spec.paused of the Cluster {name} is set"
        ))),
        Some(owner) => Ok(owner.api_server_port()),
        None if ends => Ok(None),
        None => Err(Trouble::Waits(format!("the Cluster {name}"))),
    }
}
