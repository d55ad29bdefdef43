//! Take-over: the management clusters whose claims somebody has confirmed to be this one's.

use std::collections::BTreeMap;
use std::fmt;

use ::api::names::OPERATOR_NAMESPACE;
use ::api::written;
use anyhow::{Context as _, bail, ensure};
use controllers::registry::Clouds;
use k8s_openapi::api::core::v1::{ConfigMap, Namespace};
use kube::api::{Api, ObjectMeta, Patch};
use kube::{Client, ResourceExt as _};
use ownership::Holder;
use ownership::time::REQUEST_TIMEOUT;

use crate::clock::ProcessClock;
use crate::look::everywhere::{Held, held_by};
use crate::look::{Around, Whose, ask};
use crate::{accounts, connect, install};

/// The ConfigMap in the operator's namespace that says what this management cluster has taken over:
/// its keys are holders, its values the generation up to which their claims are its own. It is read
/// when a replica begins to lead, and now and then while it does.
pub const CONFIG_MAP: &str = "freehold-take-over";

/// What the version before wrote in place of a generation: it knew only the first.
const CONFIRMED: &str = "confirmed";

/// What `freehold take-over` is told.
#[derive(clap::Args)]
pub(crate) struct Options {
    /// The management cluster that is gone for good, as a message names it
    #[arg(long, value_name = "HOLDER[@GENERATION]", value_parser = from)]
    from: Confirmation,
    /// The operator's namespace
    #[arg(long, default_value = OPERATOR_NAMESPACE, value_parser = install::label)]
    namespace: String,
    #[command(flatten)]
    whom: connect::Whom,
    /// A region of AWS to look in for its marks, too, with the credentials of the environment
    #[arg(long, value_name = "REGION")]
    region: Vec<String>,
    #[command(flatten)]
    cluster: connect::Which,
    /// Do it; without this, only what would be done is said
    #[arg(long)]
    apply: bool,
}

/// A holder, up to a generation of its marks.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Confirmation {
    holder: Holder,
    generation: u32,
}

impl fmt::Display for Confirmation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { holder, generation } = self;
        write!(f, "{holder}, generation {generation}")
    }
}

/// Reads `HOLDER[@GENERATION]`; without a generation it is the first, 0.
fn from(text: &str) -> Result<Confirmation, String> {
    let (holder, number) = text.split_once('@').unwrap_or((text, "0"));
    let holder = Holder::parse(holder).map_err(|error| error.to_string())?;
    let generation = generation(number)
        .ok_or_else(|| format!("generation: {number:?} must be a number as a message names it"))?;
    Ok(Confirmation { holder, generation })
}

/// Reads a generation, which has one spelling.
fn generation(text: &str) -> Option<u32> {
    let number: u32 = text.parse().ok()?;
    (number.to_string() == text).then_some(number)
}

/// `freehold take-over`: confirms once that the claims of another management cluster are this one's.
pub(crate) fn command(options: &Options) -> anyhow::Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .context("the runtime")?;
    runtime.block_on(async {
        let config = connect::config(&options.cluster).await?;
        ensure!(
            !ask::is_dev(&config),
            "this is a freehold dev: nobody else has been in its cloud"
        );
        let client = connect::client_of(config)?;
        let clock = ProcessClock::real();
        let clouds = || accounts::real(clock, REQUEST_TIMEOUT);
        let words = take_over(clouds, &client, clock, options).await?;
        say::line!("{words}")?;
        Ok(())
    })
}

/// What `freehold take-over` does, and says: for tests.
///
/// # Errors
/// Why nothing can be taken over.
pub async fn text<C: Clouds + Clone>(
    clouds: &C,
    client: &Client,
    clock: ProcessClock,
    holder: &str,
    namespace: &str,
    apply: bool,
) -> anyhow::Result<String> {
    let options = Options {
        from: from(holder).map_err(anyhow::Error::msg)?,
        namespace: namespace.to_owned(),
        whom: connect::Whom { holder: None },
        region: Vec::new(),
        cluster: connect::Which::default(),
        apply,
    };
    take_over(|| Ok(clouds.clone()), client, clock, &options).await
}

/// What is taken over, and what came of it, in words. The clouds are asked for when the cluster has
/// answered.
async fn take_over<C: Clouds>(
    clouds: impl FnOnce() -> anyhow::Result<C>,
    client: &Client,
    clock: ProcessClock,
    options: &Options,
) -> anyhow::Result<String> {
    let (from, namespace) = (&options.from, &options.namespace);
    let own = connect::holder(client, options.whom.holder.as_deref());
    let own = own.await.map_err(said)?;
    ensure!(
        from.holder != own,
        "{} is this management cluster itself",
        from.holder
    );
    let namespaces: Api<Namespace> = Api::all(client.clone());
    ensure!(
        namespaces.get_opt(namespace).await.map_err(said)?.is_some(),
        "there is no namespace {namespace}: --namespace must be the operator's"
    );
    let whose = Whose {
        holder: own.clone(),
        taken_over: read(client, namespace).await.map_err(said)?,
    };
    let around = Around::look(&clouds()?, client, clock, whose, &options.region).await?;
    let Held { mut lines, beyond } = held_by(&around, &from.holder, from.generation).await;
    let holder = &from.holder;
    let beyond = beyond.map(|highest| {
        format!(
            "marks of {holder} here have generation {highest}, which this does not reach: --from \
             {holder}@{highest}"
        )
    });
    if lines.is_empty() {
        let nothing = || {
            format!(
                "nothing here is held by {holder}: neither a mark in the accounts of the objects \
                 here nor a record of theirs names it"
            )
        };
        bail!(beyond.unwrap_or_else(nothing));
    }
    lines.extend(beyond);
    lines.push(confirm(client, namespace, from, &own, options.apply).await?);
    Ok(lines.join("\n"))
}

fn said(error: kube::Error) -> anyhow::Error {
    anyhow::anyhow!("the API server: {}", connect::words(&error))
}

/// Confirms it if that is to be done and not done before, and says what came of it.
async fn confirm(
    client: &Client,
    namespace: &str,
    from: &Confirmation,
    own: &Holder,
    apply: bool,
) -> anyhow::Result<String> {
    let maps: Api<ConfigMap> = Api::namespaced(client.clone(), namespace);
    let map = maps.get_opt(CONFIG_MAP).await.map_err(said)?;
    let before = map
        .as_ref()
        .and_then(|map| confirmed(map).remove(&from.holder));
    let holder = &from.holder;
    let mut lines = Vec::new();
    if let Some(before) = before {
        let known = format!("{holder} was taken over before, up to generation {before}");
        if before >= from.generation {
            return Ok(format!("{known}: nothing is to be done"));
        }
        lines.push(known);
    }
    lines.push(format!(
        "every claim that {from}, holds becomes this management cluster's ({own})"
    ));
    if apply {
        let written = match &map {
            None => create(&maps, from).await,
            Some(map) => raise(&maps, map, from).await,
        };
        match written {
            Err(kube::Error::Api(status)) if status.code == 409 => {
                bail!("somebody else changed the ConfigMap {CONFIG_MAP} just now: say it again")
            }
            written => written.map_err(said)?,
        }
        lines.push(format!(
            "confirmed in the ConfigMap {CONFIG_MAP} in {namespace}; the operator there notices within \
             half a minute"
        ));
    } else {
        lines.push(format!(
            "nothing was done: make sure that {holder} is gone for good, and add --apply"
        ));
    }
    Ok(lines.join("\n"))
}

async fn create(maps: &Api<ConfigMap>, from: &Confirmation) -> Result<(), kube::Error> {
    let map = ConfigMap {
        metadata: ObjectMeta {
            name: Some(CONFIG_MAP.to_owned()),
            ..ObjectMeta::default()
        },
        data: Some(entry(from)),
        ..ConfigMap::default()
    };
    maps.create(&written::posts(), &map).await.map(drop)
}

/// Only over what was read: a generation that somebody else confirmed meanwhile may be higher.
async fn raise(
    maps: &Api<ConfigMap>,
    map: &ConfigMap,
    from: &Confirmation,
) -> Result<(), kube::Error> {
    let patch = Patch::Merge(serde_json::json!({
        "metadata": {"resourceVersion": map.resource_version()},
        "data": entry(from),
    }));
    let parameters = written::patches();
    maps.patch(CONFIG_MAP, &parameters, &patch).await.map(drop)
}

fn entry(from: &Confirmation) -> BTreeMap<String, String> {
    BTreeMap::from([(from.holder.to_string(), from.generation.to_string())])
}

/// Reads it; without one, nobody was taken over. What is no holder with a generation is left out,
/// and logged.
///
/// # Errors
/// What the API server said.
pub(crate) async fn read(
    client: &Client,
    namespace: &str,
) -> Result<BTreeMap<Holder, u32>, kube::Error> {
    let maps: Api<ConfigMap> = Api::namespaced(client.clone(), namespace);
    let map = maps.get_opt(CONFIG_MAP).await?.unwrap_or_default();
    Ok(confirmed(&map))
}

/// What a ConfigMap confirms.
fn confirmed(map: &ConfigMap) -> BTreeMap<Holder, u32> {
    let mut holders = BTreeMap::new();
    for (key, value) in map.data.iter().flatten() {
        let generation = match value.as_str() {
            CONFIRMED => Some(0),
            value => generation(value),
        };
        match (Holder::parse(key), generation) {
            (Ok(holder), Some(generation)) => {
                holders.insert(holder, generation);
            }
            (Err(error), _) => tracing::warn!(%error, "a key of the ConfigMap {CONFIG_MAP}"),
            (Ok(holder), None) => {
                tracing::warn!(%holder, value, "no generation in the ConfigMap {CONFIG_MAP}");
            }
        }
    }
    holders
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use embedded_kube::Cluster;

    use super::*;
    use crate::clock::ProcessClock;

    const HOLDER: &str = "0123456789";

    #[test]
    fn a_holder_has_a_generation_or_the_first() {
        let read = |text: &str| from(text).map(|from| (from.holder.to_string(), from.generation));
        assert_eq!(read(HOLDER), Ok((HOLDER.to_owned(), 0)));
        assert_eq!(read("0123456789@0"), Ok((HOLDER.to_owned(), 0)));
        assert_eq!(read("0123456789@12"), Ok((HOLDER.to_owned(), 12)));
        assert_eq!(read("0123456789@4294967295").unwrap().1, u32::MAX);
        for wrong in [
            "@",
            "@x",
            "@-1",
            "@+1",
            "@01",
            "@1.0",
            "@ 1",
            "@4294967296",
            "@1@2",
        ] {
            let said = read(&format!("{HOLDER}{wrong}")).unwrap_err();
            assert!(said.contains("must be a number"), "{wrong}: {said}");
        }
        for (wrong, rule) in [
            ("", "must not be empty"),
            ("@3", "must not be empty"),
            ("012345678", "must have 10 characters"),
            ("0123456789a@3", "must have at most 10 characters"),
            ("012345678X@3", "must consist of digits and a-f"),
        ] {
            let said = read(wrong).unwrap_err();
            assert!(said.contains(rule), "{wrong}: {said}");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_confirmation_is_raised_and_never_lowered() {
        let clock = ProcessClock::starting_at("2026-01-01T00:00:00Z".parse().unwrap());
        let client = Cluster::new(Arc::new(clock)).client();
        let own = Holder::of_cluster("here");
        let say = async |text: &str, apply| {
            let from = from(text).unwrap();
            confirm(&client, "default", &from, &own, apply)
                .await
                .unwrap()
        };
        let known = async || {
            let known = read(&client, "default").await.unwrap();
            known.get(&Holder::parse(HOLDER).unwrap()).copied()
        };
        let said = say(HOLDER, false).await;
        assert!(said.contains("0123456789, generation 0, holds"), "{said}");
        assert!(said.contains("nothing was done"), "{said}");
        assert_eq!(known().await, None);
        assert!(say(HOLDER, true).await.contains("confirmed in"));
        assert_eq!(known().await, Some(0));
        assert!(say(HOLDER, true).await.contains("nothing is to be done"));
        let said = say("0123456789@2", true).await;
        assert!(said.contains("before, up to generation 0\n"), "{said}");
        assert_eq!(known().await, Some(2));
        let said = say("0123456789@1", true).await;
        assert!(said.contains("up to generation 2: nothing"), "{said}");
        assert_eq!(known().await, Some(2));
        say("fedcba9876", true).await;
        assert_eq!(
            known().await,
            Some(2),
            "another's confirmation is another's"
        );
    }

    #[test]
    fn what_the_version_before_confirmed_counts_as_the_first_generation() {
        let data = [
            (HOLDER, CONFIRMED),
            ("aaaaaaaaaa", "3"),
            ("bbbbbbbbbb", "yes"),
            ("bbbbbbbbbc", "-1"),
            ("not-a-holder", "0"),
        ];
        let data = data.map(|(key, value)| (key.to_owned(), value.to_owned()));
        let map = ConfigMap {
            data: Some(data.into()),
            ..ConfigMap::default()
        };
        let confirmed: Vec<_> = confirmed(&map)
            .into_iter()
            .map(|(holder, generation)| (holder.to_string(), generation))
            .collect();
        let expected = [(HOLDER.to_owned(), 0), ("aaaaaaaaaa".to_owned(), 3)];
        assert_eq!(confirmed, expected);
    }
}
