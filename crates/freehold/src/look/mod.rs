//! Looking at an object without touching it: `freehold explain`, `freehold tree`.

pub(crate) mod ask;
mod explain;
mod tree;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context as _, bail};
use api::names::OPERATOR_NAMESPACE;
use cloud_port::driver::Term;
use controllers::reconcile::{Inspection, Settings};
use controllers::registry::{self, Clouds, Entry, Road, Served};
use kube::Client;
use ownership::time::REQUEST_TIMEOUT;
use ownership::{Freehold, Holder, SlotName};
use serde::{Deserialize, Serialize};

use crate::clock::ProcessClock;
use crate::show::Branch;
use crate::{accounts, connect, show, take_over};

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
    match meant {
        Some(entry) if !name.is_empty() && !name.contains('/') => {
            let name = name.to_owned();
            Ok(Object { entry, name })
        }
        _ => Err(rule()),
    }
}

/// What `freehold explain` is told.
#[derive(clap::Args)]
pub(crate) struct ExplainOptions {
    /// The object, such as cluster/demo
    #[arg(value_name = "KIND/NAME", value_parser = object)]
    object: Object,
    /// Only this slot
    #[arg(long)]
    slot: Option<String>,
    #[command(flatten)]
    place: Place,
}

/// What `freehold tree` is told.
#[derive(clap::Args)]
pub(crate) struct TreeOptions {
    /// The object, such as cluster/demo
    #[arg(value_name = "KIND/NAME", value_parser = object)]
    object: Object,
    #[command(flatten)]
    place: Place,
}

/// Where the operator is.
#[derive(clap::Args)]
struct Place {
    /// The operator's namespace, which has the ConfigMap freehold-take-over
    #[arg(long, default_value = OPERATOR_NAMESPACE)]
    namespace: String,
    #[command(flatten)]
    whom: connect::Whom,
}

/// `freehold explain`.
pub(crate) fn explain(options: &ExplainOptions) -> anyhow::Result<()> {
    let slot = options.slot.as_deref();
    let seen = on_the_current_cluster(&options.object, slot, &options.place)?;
    say::text(format_args!("{}", seen.explained))?;
    Ok(())
}

/// What people are shown of an object.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Seen {
    /// Its slots in words.
    explained: String,
    /// Its parts.
    branches: Vec<Branch>,
}

impl Seen {
    /// An object as it was inspected; all of it, or one slot.
    pub(crate) fn new(seen: &Inspection, slot: Option<&str>) -> anyhow::Result<Self> {
        let slot = slot.map(SlotName::new).transpose()?;
        if let Some(slot) = &slot
            && seen.blueprint.slot(slot).is_none()
        {
            let slots = seen.blueprint.slots().iter();
            let slots: Vec<_> = slots.map(|slot| slot.name.as_str()).collect();
            bail!("there is no slot {slot}; there are: {}", slots.join(", "));
        }
        Ok(Self {
            explained: explain::text(seen, slot.as_ref()),
            branches: tree::branches(seen),
        })
    }
}

/// `freehold tree`.
pub(crate) fn tree(options: &TreeOptions) -> anyhow::Result<()> {
    let seen = on_the_current_cluster(&options.object, None, &options.place)?;
    say::text(format_args!("{}", show::tree(&seen.branches)))?;
    Ok(())
}

fn on_the_current_cluster(
    object: &Object,
    slot: Option<&str>,
    place: &Place,
) -> anyhow::Result<Seen> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .context("the runtime")?;
    runtime.block_on(async {
        let config = connect::config().await?;
        if ask::is_dev(&config) {
            return ask::ask(config, object.entry, &object.name, slot).await;
        }
        let clock = ProcessClock::real();
        let accounts = accounts::real(clock, REQUEST_TIMEOUT)?;
        let client = connect::client_of(config)?;
        let said =
            |error: kube::Error| anyhow::anyhow!("the API server: {}", connect::words(&error));
        let whose = Whose {
            holder: connect::holder(&client, place.whom.holder.as_deref())
                .await
                .map_err(said)?,
            taken_over: take_over::read(&client, &place.namespace)
                .await
                .map_err(said)?,
        };
        let seen = inspect(object.entry, &accounts, client, clock, whose, &object.name);
        Seen::new(&seen.await?, slot)
    })
}

/// The management cluster that asks.
#[derive(Clone, Debug)]
pub struct Whose {
    /// Itself.
    pub holder: Holder,
    /// Those that it has taken over, each up to a generation.
    pub taken_over: BTreeMap<Holder, u32>,
}

/// Looks at an object and at its cloud; nothing is written.
pub(crate) async fn inspect<C: Clouds>(
    entry: &'static Entry,
    clouds: &C,
    client: Client,
    clock: ProcessClock,
    whose: Whose,
    name: &str,
) -> anyhow::Result<Inspection> {
    let road = Road {
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
    };
    let system = registry::system(entry, clouds);
    Ok(system.inspect(road, name, None).await?)
}

/// What `freehold explain` and `freehold tree` say of an object: for tests.
///
/// # Errors
/// Why it cannot be inspected.
pub async fn texts<C: Clouds>(
    entry: &'static Entry,
    clouds: &C,
    client: Client,
    clock: ProcessClock,
    whose: Whose,
    name: &str,
) -> anyhow::Result<(String, String)> {
    let seen = inspect(entry, clouds, client, clock, whose, name).await?;
    let tree = show::tree(&tree::branches(&seen));
    Ok((explain::text(&seen, None), tree))
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
        for text in ["a", "cluster/", "machine/a", "cluster/a/b", ""] {
            assert!(object(text).unwrap_err().contains("KIND/NAME"), "{text}");
        }
    }
}
