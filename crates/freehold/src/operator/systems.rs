//! Which systems are served: those that are named, or every installed one whose original is not at
//! work. Two controllers for one object make twins.

use std::fmt;
use std::time::Duration;

use anyhow::bail;
use controllers::registry::{self, ENTRIES, Entry, Served};
use jiff::{SignedDuration, Timestamp};
use k8s_openapi::api::coordination::v1::Lease;
use kube::Client;
use kube::api::{Api, ListParams};

use super::provider;
use crate::connect;

/// What `--systems` was told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Systems {
    /// Every installed one whose original is not at work.
    Auto,
    /// These, by their names.
    Named(Vec<&'static str>),
}

impl Systems {
    /// Those that may be served: all, where it is found out later.
    pub fn entries(&self) -> Vec<&'static Entry> {
        match self {
            Self::Auto => ENTRIES.to_vec(),
            Self::Named(names) => names
                .iter()
                .flat_map(|name| registry::served_as(name))
                .collect(),
        }
    }
}

impl fmt::Display for Systems {
    /// As `--systems` takes it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Auto => f.write_str("auto"),
            Self::Named(names) => f.write_str(&names.join(",")),
        }
    }
}

/// What `--systems` takes, in words.
pub(crate) fn help() -> String {
    let names = registry::names();
    format!(
        "What is served: of {}, with commas between; or auto, for every installed API whose \
         original is not at work",
        names.join(", ")
    )
}

/// Reads `--systems`.
///
/// # Errors
/// The rule that it breaks.
pub fn parse(text: &str) -> Result<Systems, String> {
    if text == "auto" {
        return Ok(Systems::Auto);
    }
    let mut named = Vec::new();
    for name in text.split(',').map(str::trim) {
        let mut all = registry::names().into_iter();
        let Some(known) = all.find(|known| *known == name) else {
            let all = registry::names().join(", ");
            return Err(format!(
                "must be auto, or of these, with commas between: {all}"
            ));
        };
        if named.contains(&known) {
            return Err(format!("names {name} twice"));
        }
        named.push(known);
    }
    Ok(Systems::Named(named))
}

/// The systems to serve here.
///
/// # Errors
/// None was named, or none can be served: which could be, and why the others cannot.
pub async fn choose(
    client: &Client,
    told: Option<&Systems>,
) -> anyhow::Result<Vec<&'static Entry>> {
    if let Some(named @ Systems::Named(_)) = told {
        return Ok(named.entries());
    }
    let mut free = Vec::new();
    let mut said = Vec::new();
    for &entry in ENTRIES {
        let installed = is_installed(client, entry)
            .await
            .map_err(anyhow::Error::msg)?;
        let original = match original(client, entry).await {
            Ok(original) => original,
            // Whoever only asks what there is hears that, too.
            Err(words) if told.is_none() => {
                said.push(format!("{} ({words})", entry.name));
                continue;
            }
            Err(words) => bail!("--systems auto: {words}"),
        };
        let provider = match provider::at_work(client, &entry.definition()).await {
            Err(words) if told.is_some() => bail!("--systems auto: {words}"),
            provider => provider.unwrap_or_default(),
        };
        let words = match original {
            _ if !installed => format!("{} is not installed", entry.definition()),
            _ if provider.is_some() => provider.unwrap_or_default(),
            Some(renewed) if renewed.is_recent(Timestamp::now()) => renewed.words(entry),
            _ => {
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

/// The Lease of an original, as somebody holds it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Renewed {
    name: String,
    holder: String,
    at: Option<Timestamp>,
    /// For how long a renewal is good.
    pub(super) lasts: Duration,
}

/// By how much the clocks of two machines may differ.
const SKEW: SignedDuration = SignedDuration::from_mins(5);

impl Renewed {
    fn of(lease: &Lease) -> Option<Self> {
        let spec = lease.spec.as_ref()?;
        let holder = spec.holder_identity.clone().filter(|who| !who.is_empty())?;
        let lasts = u64::try_from(spec.lease_duration_seconds.unwrap_or(15)).unwrap_or(15);
        Some(Self {
            name: lease.metadata.name.clone().unwrap_or_default(),
            holder,
            at: spec.renew_time.as_ref().map(|time| time.0),
            lasts: Duration::from_secs(lasts),
        })
    }

    /// Whether it may be good still, for all that the clocks say.
    fn is_recent(&self, now: Timestamp) -> bool {
        let lasts = SignedDuration::try_from(self.lasts).unwrap_or(SKEW);
        self.at
            .is_some_and(|at| now.duration_since(at) < lasts + SKEW)
    }

    /// That the original is at work.
    pub(super) fn words(&self, entry: &Entry) -> String {
        format!(
            "{} is at work: {} holds the Lease {}",
            entry.original.name, self.holder, self.name
        )
    }
}

/// The Lease of a system's original, if somebody holds it.
///
/// # Errors
/// Why that cannot be told.
pub(super) async fn original(client: &Client, entry: &Entry) -> Result<Option<Renewed>, String> {
    let leases: Api<Lease> = Api::all(client.clone());
    let leases = leases.list(&ListParams::default()).await.map_err(|error| {
        let words = connect::words(&error);
        format!(
            "whether {} is at work cannot be told: {words}",
            entry.original.name
        )
    })?;
    let its = |lease: &&Lease| {
        let name = lease.metadata.name.as_deref().unwrap_or_default();
        name.starts_with(entry.original.lease)
    };
    let held = leases.items.iter().filter(its).filter_map(Renewed::of);
    Ok(held.max_by_key(|renewed| renewed.at))
}

/// That a kind is not installed, with the cure.
pub(crate) fn not_installed(entry: &Entry) -> String {
    let kind = entry.definition();
    format!("the kind {kind} is not installed: freehold crds | kubectl create -f -")
}

/// Whether the API server serves a system's objects.
///
/// # Errors
/// Why that cannot be told.
pub(crate) async fn is_installed(client: &Client, entry: &Entry) -> Result<bool, String> {
    let Served {
        group,
        version,
        plural,
        ..
    } = entry.kind;
    is_served(client, group, version, plural).await
}

/// Whether the API server serves a kind. Everybody may ask that.
///
/// # Errors
/// Why that cannot be told.
pub(super) async fn is_served(
    client: &Client,
    group: &str,
    version: &str,
    plural: &str,
) -> Result<bool, String> {
    let version = format!("{group}/{version}");
    match client.list_api_group_resources(&version).await {
        Ok(kinds) => Ok(kinds.resources.iter().any(|kind| kind.name == plural)),
        Err(kube::Error::Api(status)) if status.code == 404 => Ok(false),
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
    fn a_lease_counts_while_somebody_holds_it() {
        let lease = |holder: &str| -> Lease {
            serde_json::from_value(json!({"spec": {
                "holderIdentity": holder, "leaseDurationSeconds": 15,
                "renewTime": "2026-01-01T00:00:50.000000Z",
            }}))
            .unwrap()
        };
        let held = Renewed::of(&lease("somebody")).unwrap();
        assert_eq!(held.lasts, Duration::from_secs(15));
        assert!(held.is_recent("2026-01-01T00:05:00Z".parse().unwrap()));
        assert!(!held.is_recent("2026-01-01T00:07:00Z".parse().unwrap()));
        assert_eq!(Renewed::of(&lease("")), None);
        assert_eq!(Renewed::of(&Lease::default()), None);
    }
}
