//! Which systems are served: those that are named, or every installed one whose original is not at
//! work. Two controllers for one object make twins.

use anyhow::{Context as _, bail};
use controllers::registry::{self, ENTRIES, Entry, Served};
use jiff::{SignedDuration, Timestamp};
use k8s_openapi::api::coordination::v1::Lease;
use kube::Client;
use kube::api::{Api, ListParams};
use kube::core::{ApiResource, DynamicObject, GroupVersionKind};

use crate::connect;

/// What `--systems` was told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Systems {
    /// Every installed one whose original is not at work.
    Auto,
    /// These, by their names.
    Named(Vec<&'static str>),
}

/// Reads `--systems`.
pub(super) fn parse(text: &str) -> Result<Systems, String> {
    if text == "auto" {
        return Ok(Systems::Auto);
    }
    let mut named = Vec::new();
    for name in text.split(',').map(str::trim) {
        let Some(entry) = registry::entry(name) else {
            let all = ENTRIES.map(|entry| entry.name).join(", ");
            return Err(format!(
                "must be auto, or of these, with commas between: {all}"
            ));
        };
        if named.contains(&entry.name) {
            return Err(format!("names {name} twice"));
        }
        named.push(entry.name);
    }
    Ok(Systems::Named(named))
}

/// The systems to serve here.
///
/// # Errors
/// None was named, or none can be served: which could be, and why the others cannot.
pub(super) async fn choose(
    client: &Client,
    told: Option<&Systems>,
) -> anyhow::Result<Vec<&'static Entry>> {
    if let Some(Systems::Named(names)) = told {
        return Ok(names
            .iter()
            .filter_map(|name| registry::entry(name))
            .collect());
    }
    let mut free = Vec::new();
    let mut said = Vec::new();
    for entry in ENTRIES {
        let words = match at_work(client, entry).await? {
            _ if is_installed(client, entry).await.is_err() => {
                format!("{} is not installed", entry.definition())
            }
            Some(lease) => format!(
                "{} is at work: it renews the Lease {lease}",
                entry.original.name
            ),
            None => {
                free.push(entry);
                entry.about.to_owned()
            }
        };
        said.push(format!("{} ({words})", entry.name));
    }
    let said = said.join("; ");
    match told {
        None => bail!("--systems says what is served, and is not given; here there is: {said}"),
        Some(_) if free.is_empty() => bail!("--systems auto: nothing can be served here: {said}"),
        Some(_) => {
            tracing::info!("--systems auto: {said}");
            Ok(free)
        }
    }
}

/// The Lease that the original of a system renews, if it does.
async fn at_work(client: &Client, entry: &Entry) -> anyhow::Result<Option<String>> {
    let leases: Api<Lease> = Api::all(client.clone());
    let leases = leases.list(&ListParams::default()).await;
    let leases = leases.map_err(|error| anyhow::anyhow!("{}", connect::words(&error)));
    let leases = leases.context("whether an original is at work: the Leases")?;
    let renewed = leases.items.into_iter().find(|lease| {
        let name = lease.metadata.name.as_deref().unwrap_or_default();
        name.starts_with(entry.original.lease) && is_held(lease, Timestamp::now())
    });
    Ok(renewed.and_then(|lease| lease.metadata.name))
}

/// Whether somebody holds a Lease, and it is not over.
fn is_held(lease: &Lease, now: Timestamp) -> bool {
    let Some(spec) = &lease.spec else {
        return false;
    };
    let held = spec
        .holder_identity
        .as_ref()
        .is_some_and(|who| !who.is_empty());
    let lasts = SignedDuration::from_secs(spec.lease_duration_seconds.unwrap_or(15).into());
    let renewed = spec.renew_time.as_ref().map(|time| time.0);
    held && renewed.is_some_and(|renewed| now.duration_since(renewed) < lasts)
}

/// Whether the API server serves a system's objects.
///
/// # Errors
/// Why not, in words with the cure.
pub(super) async fn is_installed(client: &Client, entry: &Entry) -> Result<(), String> {
    let Served {
        group,
        version,
        plural,
        ..
    } = entry.kind;
    let kind = GroupVersionKind::gvk(group, version, entry.kind.singular);
    let kind = ApiResource::from_gvk_with_plural(&kind, plural);
    let objects: Api<DynamicObject> = Api::all_with(client.clone(), &kind);
    match objects.list_metadata(&ListParams::default().limit(1)).await {
        Ok(_) => Ok(()),
        Err(kube::Error::Api(status)) if status.code == 404 => Err(format!(
            "the kind {} is not installed: freehold crds | kubectl create -f -",
            entry.definition()
        )),
        Err(error) => Err(format!("the API server: {}", connect::words(&error))),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn systems_are_named_or_found() {
        assert_eq!(parse("auto"), Ok(Systems::Auto));
        assert_eq!(parse("kkp"), Ok(Systems::Named(vec!["kkp"])));
        for wrong in ["", "kkp,kkp", "moon", "kkp,auto"] {
            assert!(parse(wrong).is_err(), "{wrong:?}");
        }
    }

    #[test]
    fn a_lease_counts_while_it_is_held_and_renewed() {
        let lease = |holder: &str, renewed: &str| -> Lease {
            serde_json::from_value(json!({"spec": {
                "holderIdentity": holder, "leaseDurationSeconds": 15, "renewTime": renewed,
            }}))
            .unwrap()
        };
        let now = "2026-01-01T00:01:00Z".parse().unwrap();
        assert!(is_held(
            &lease("somebody", "2026-01-01T00:00:50.000000Z"),
            now
        ));
        assert!(!is_held(
            &lease("somebody", "2026-01-01T00:00:40.000000Z"),
            now
        ));
        assert!(!is_held(&lease("", "2026-01-01T00:00:50.000000Z"), now));
        assert!(!is_held(&Lease::default(), now));
    }
}
