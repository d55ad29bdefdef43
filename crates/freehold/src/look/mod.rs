//! Looking at an object without touching it: `freehold explain`, `freehold tree`.

mod explain;
mod tree;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context as _, bail};
use api::names::OPERATOR_NAMESPACE;
use cloud_port::Cloud;
use cloud_port::aws::Accounts;
use cloud_port::driver::Term;
use controllers::kkp::Kkp;
use controllers::reconcile::{Inspection, Reconciler, Settings};
use kube::Client;
use ownership::time::REQUEST_TIMEOUT;
use ownership::{Freehold, Holder, SlotName};

use crate::clock::ProcessClock;
use crate::{accounts, connect, show, take_over};

/// Which object.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Object {
    name: String,
}

/// The names of the one kind that is served.
const KINDS: [&str; 4] = [
    "cluster",
    "clusters",
    "cluster.kubermatic.k8c.io",
    "clusters.kubermatic.k8c.io",
];

/// Reads `KIND/NAME`.
fn object(text: &str) -> Result<Object, String> {
    let rule = "must be KIND/NAME, where KIND is cluster (of kubermatic.k8c.io)";
    let (kind, name) = text.split_once('/').ok_or(rule)?;
    if !KINDS.contains(&kind.to_lowercase().as_str()) || name.is_empty() || name.contains('/') {
        return Err(rule.to_owned());
    }
    let name = name.to_owned();
    Ok(Object { name })
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
    on_the_current_cluster(&options.object, &options.place, async |seen| {
        let slot = options.slot.as_deref();
        let slot = slot.map(SlotName::new).transpose()?;
        if let Some(slot) = &slot
            && seen.blueprint.slot(slot).is_none()
        {
            let slots = seen.blueprint.slots().iter();
            let slots: Vec<_> = slots.map(|slot| slot.name.as_str()).collect();
            bail!("there is no slot {slot}; there are: {}", slots.join(", "));
        }
        say::text(format_args!("{}", explain::text(&seen, slot.as_ref())))?;
        Ok(())
    })
}

/// `freehold tree`.
pub(crate) fn tree(options: &TreeOptions) -> anyhow::Result<()> {
    on_the_current_cluster(&options.object, &options.place, async |seen| {
        let branches = tree::branches(&seen).await?;
        say::text(format_args!("{}", show::tree(&branches)))?;
        Ok(())
    })
}

fn on_the_current_cluster(
    object: &Object,
    place: &Place,
    then: impl AsyncFnOnce(Inspection<<accounts::Real as Accounts>::Cloud>) -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .context("the runtime")?;
    runtime.block_on(async {
        let clock = ProcessClock::real();
        let accounts = accounts::real(clock, REQUEST_TIMEOUT)?;
        let client = connect::client().await?;
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
        let seen = Box::pin(inspect(client, accounts, clock, whose, &object.name)).await?;
        then(seen).await
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

/// Looks at a cluster and at its cloud; nothing is written.
pub(crate) async fn inspect<A: Accounts>(
    client: Client,
    accounts: A,
    clock: ProcessClock,
    whose: Whose,
    name: &str,
) -> anyhow::Result<Inspection<A::Cloud>> {
    let settings = Settings {
        holder: whose.holder,
        taken_over: whose.taken_over,
        resync: Duration::MAX,
        retry: Duration::MAX,
        rules: Freehold,
    };
    let term = Arc::new(Term::alone);
    let reconciler = Reconciler::new(Kkp { accounts }, client, clock, settings, term);
    Ok(reconciler.inspect(name, None).await?)
}

/// What `freehold explain` and `freehold tree` say of a cluster: for tests.
///
/// # Errors
/// Why it cannot be inspected.
pub async fn texts<A: Accounts>(
    client: Client,
    accounts: A,
    clock: ProcessClock,
    whose: Whose,
    name: &str,
) -> anyhow::Result<(String, String)>
where
    A::Cloud: Cloud,
{
    let seen = inspect(client, accounts, clock, whose, name).await?;
    let tree = show::tree(&tree::branches(&seen).await?);
    Ok((explain::text(&seen, None), tree))
}

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
