//! Looking at an object without touching it: `freehold explain`, `freehold tree`.

mod around;
pub(crate) mod ask;
pub mod everywhere;
mod explain;
mod orphans;
mod seen;
mod tree;
mod whose;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context as _;
use api::names::OPERATOR_NAMESPACE;
use cloud_port::driver::Term;
use controllers::reconcile::{Inspection, Settings};
use controllers::registry::{self, Clouds, Entry, Road, Served, Which};
use kube::Client;
use ownership::time::REQUEST_TIMEOUT;
use ownership::{Freehold, Holder, input};
use serde::Serialize;

use crate::clock::ProcessClock;
use crate::operator::systems::{is_installed, not_installed};
use crate::{accounts, connect, install, show, take_over};
pub(crate) use around::Around;
pub(crate) use seen::Seen;

/// Which object.
#[derive(Clone, Debug)]
struct Object {
    entry: &'static Entry,
    name: String,
}

/// Reads `KIND/NAME`.
fn object(text: &str) -> Result<Object, String> {
    let rule = || {
        let called = |entry: &&Entry| {
            let Served {
                singular, group, ..
            } = &entry.kind;
            format!("{singular} (of {group})")
        };
        let served: Vec<_> = registry::ENTRIES.iter().map(called).collect();
        format!("must be KIND/NAME, where KIND is {}", served.join(" or "))
    };
    let (kind, name) = text.split_once('/').ok_or_else(rule)?;
    let mut entries = registry::ENTRIES.iter().copied();
    let meant = entries.find(|entry| entry.is_called(kind));
    let entry = meant.filter(|_| !name.is_empty()).ok_or_else(rule)?;
    input::object_name("NAME", name).map_err(|error| error.to_string())?;
    let name = name.to_owned();
    Ok(Object { entry, name })
}

/// What `freehold explain` is told.
#[derive(clap::Args)]
pub(crate) struct ExplainOptions {
    #[command(flatten)]
    what: What,
    /// Only this slot
    #[arg(long, conflicts_with = "all")]
    slot: Option<String>,
}

/// What `freehold tree` is told.
#[derive(clap::Args)]
pub(crate) struct TreeOptions {
    #[command(flatten)]
    what: What,
}

/// What is looked at, and how it is shown.
#[derive(clap::Args)]
struct What {
    /// The object, such as cluster/demo
    #[arg(value_name = "KIND/NAME", value_parser = object, required_unless_present = "all")]
    object: Option<Object>,
    /// Every object of every served kind
    #[arg(long, conflicts_with = "object")]
    all: bool,
    /// The object's namespace; without it, the context's
    #[arg(long, short, value_name = "NAMESPACE", value_parser = install::label)]
    namespace: Option<String>,
    /// How it is printed
    #[arg(long, short, value_enum, default_value_t)]
    output: Output,
    #[command(flatten)]
    place: Place,
}

/// Where the operator is.
#[derive(clap::Args)]
struct Place {
    /// The operator's namespace, which has the ConfigMap freehold-take-over
    #[arg(long, default_value = OPERATOR_NAMESPACE, value_name = "NAMESPACE")]
    operator_namespace: String,
    #[command(flatten)]
    whom: connect::Whom,
    #[command(flatten)]
    cluster: connect::Which,
}

/// How something is printed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Output {
    /// For people
    #[default]
    Text,
    /// For programs
    Json,
    /// For both
    Yaml,
}

impl Output {
    /// Prints something: `text` is what people are shown.
    pub(crate) fn print(self, what: &impl Serialize, text: &str) -> anyhow::Result<()> {
        match self {
            Self::Text => say::text(format_args!("{text}"))?,
            Self::Json => say::line!("{}", serde_json::to_string_pretty(what)?)?,
            Self::Yaml => say::text(format_args!("{}", serde_saphyr::to_string(what)?))?,
        }
        Ok(())
    }
}

/// `freehold explain`.
pub(crate) fn explain(options: &ExplainOptions) -> anyhow::Result<()> {
    let mut seen = on_the_cluster(&options.what)?;
    if let Some(slot) = &options.slot {
        seen = seen
            .into_iter()
            .map(|seen| seen.only(slot))
            .collect::<Result<_, _>>()?;
    }
    print(&options.what, &seen, explain::text)
}

/// `freehold tree`.
pub(crate) fn tree(options: &TreeOptions) -> anyhow::Result<()> {
    let seen = on_the_cluster(&options.what)?;
    print(&options.what, &seen, |seen| {
        show::tree(&tree::branches(seen))
    })
}

/// Prints one object, or a list of all.
fn print(what: &What, seen: &[Seen], text: impl Fn(&Seen) -> String) -> anyhow::Result<()> {
    let texts: Vec<String> = seen.iter().map(text).collect();
    let text = match &texts[..] {
        [] => "there are no objects of a served kind\n".to_owned(),
        texts => texts.join("\n"),
    };
    match seen {
        [one] if !what.all => what.output.print(one, &text)?,
        all => what.output.print(&all, &text)?,
    }
    let unseen = seen.iter().any(|seen| seen.unseen.is_some());
    anyhow::ensure!(!unseen, "not everything could be looked at from here");
    Ok(())
}

fn on_the_cluster(what: &What) -> anyhow::Result<Vec<Seen>> {
    runtime()?.block_on(async {
        let place = &what.place;
        let config = connect::config(&place.cluster).await?;
        let namespace = config.default_namespace.clone();
        let namespace = match &what.namespace {
            Some(namespace) => Some(namespace.as_str()),
            None if what.all => None,
            None => Some(namespace.as_str()),
        };
        let entries = match &what.object {
            Some(object) => vec![object.entry],
            None => registry::ENTRIES.to_vec(),
        };
        let name = what.object.as_ref().map(|object| object.name.as_str());
        let which = Which { name, namespace };
        let mut seen = Vec::new();
        if ask::is_dev(&config) {
            for entry in entries {
                seen.extend(ask::inspect(config.clone(), entry, which).await?);
            }
            return Ok(seen);
        }
        let clock = ProcessClock::real();
        let accounts = accounts::real(clock, REQUEST_TIMEOUT)?;
        let client = connect::client_of(config)?;
        let whose = Whose::ask(&client, place).await?;
        for entry in entries {
            let installed = is_installed(&client, entry).await;
            if !installed.map_err(anyhow::Error::msg)? {
                anyhow::ensure!(what.all, "{}", not_installed(entry));
                continue;
            }
            let (client, whose) = (client.clone(), whose.clone());
            let found = inspect(entry, &accounts, client, clock, whose, which);
            seen.extend(found.await?.iter().map(Seen::new));
        }
        Ok(seen)
    })
}

fn runtime() -> anyhow::Result<tokio::runtime::Runtime> {
    tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .context("the runtime")
}

/// The management cluster that asks.
#[derive(Clone, Debug)]
pub struct Whose {
    /// Itself.
    pub holder: Holder,
    /// Those that it has taken over, each up to a generation.
    pub taken_over: BTreeMap<Holder, u32>,
}

impl Whose {
    async fn ask(client: &Client, place: &Place) -> anyhow::Result<Self> {
        let said =
            |error: kube::Error| anyhow::anyhow!("the API server: {}", connect::words(&error));
        let holder = connect::holder(client, place.whom.holder.as_deref());
        Ok(Self {
            holder: holder.await.map_err(said)?,
            taken_over: take_over::read(client, &place.operator_namespace)
                .await
                .map_err(said)?,
        })
    }
}

/// Looks at objects and at their clouds; nothing is written.
pub(crate) async fn inspect<C: Clouds>(
    entry: &'static Entry,
    clouds: &C,
    client: Client,
    clock: ProcessClock,
    whose: Whose,
    which: Which<'_>,
) -> anyhow::Result<Vec<Inspection>> {
    let system = registry::system(entry, clouds);
    Ok(system.inspect(road(client, clock, whose), which).await?)
}

/// What a system is looked at with.
pub(crate) fn road(client: Client, clock: ProcessClock, whose: Whose) -> Road<ProcessClock> {
    Road {
        client,
        clock,
        settings: Settings {
            holder: whose.holder,
            taken_over: whose.taken_over,
            resync: Duration::MAX,
            retry: Duration::MAX,
            rules: Freehold,
        },
        term: Arc::new(Term::alone),
        monitor: None,
    }
}

/// What `freehold explain` and `freehold tree` say of objects: for tests.
///
/// # Errors
/// Why it cannot be inspected.
pub async fn texts<C: Clouds>(
    entry: &'static Entry,
    clouds: &C,
    client: Client,
    clock: ProcessClock,
    whose: Whose,
    which: Which<'_>,
) -> anyhow::Result<(String, String)> {
    let seen = inspect(entry, clouds, client, clock, whose, which).await?;
    let seen: Vec<Seen> = seen.iter().map(Seen::new).collect();
    let explained = seen.iter().map(explain::text).collect();
    let tree = seen.iter().map(|seen| show::tree(&tree::branches(seen)));
    Ok((explained, tree.collect()))
}

#[cfg(feature = "dev")]
pub(crate) use tree::branches;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_object_is_named_by_kind_and_name() {
        for text in ["cluster/a", "Clusters/a", "cluster.kubermatic.k8c.io/a"] {
            assert_eq!(object(text).unwrap().name, "a", "{text}");
        }
        for text in ["a", "cluster/", "machine/a", ""] {
            assert!(object(text).unwrap_err().contains("KIND/NAME"), "{text}");
        }
        for text in ["cluster/a/b", "cluster/a?b", "cluster/A"] {
            assert!(object(text).unwrap_err().contains("NAME: "), "{text}");
        }
    }
}
