//! `freehold sim`: what somebody else does by hand in the simulated account of a running `freehold dev`.

use std::sync::Arc;

use anyhow::{Context as _, bail, ensure};
use cloud_port::{aws, words};
use cloud_sim::{Account, Actor};
use http::Method;
use ownership::kind::InnerKind;
use ownership::part::Resource;
use ownership::{Target, Text};
use serde::{Deserialize, Serialize};

use crate::connect;
use crate::look::ask;

/// What `freehold sim` is told.
#[derive(clap::Args)]
pub(crate) struct Options {
    #[command(subcommand)]
    deed: Deed,
    #[command(flatten)]
    cluster: connect::Which,
}

/// What is done by hand.
#[derive(Clone, Debug, Serialize, Deserialize, clap::Subcommand)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Deed {
    /// Show what is in the account
    List,
    /// Delete a resource
    Delete {
        /// Its id or its name
        id: String,
    },
    /// Take a tag off a resource
    Untag {
        /// Its id or its name
        id: String,
        /// The tag's key
        key: String,
    },
    /// Remove what is inside a resource, such as a rule
    Remove {
        /// Its id or its name
        id: String,
        /// The part, as tree shows it: "ingress tcp 22-22 0.0.0.0/0"
        part: String,
    },
}

/// Asks a running `freehold dev` to do it.
pub(crate) fn run(options: &Options) -> anyhow::Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .context("the runtime")?;
    let said: String = runtime.block_on(async {
        let config = connect::config(&options.cluster).await?;
        ensure!(
            ask::is_dev(&config),
            "this is no freehold dev: only there is the cloud simulated"
        );
        ask::ask(config, Method::POST, "sim", &options.deed).await
    })?;
    say::text(format_args!("{said}"))?;
    Ok(())
}

/// Does it, and says what was done.
pub(super) fn perform(account: &mut Account, deed: &Deed) -> anyhow::Result<String> {
    match deed {
        Deed::List => Ok(list(account)),
        Deed::Delete { id } => {
            let (target, called) = find(account, id, |_| true)?;
            account.delete(Actor::Stranger, &target)?;
            Ok(format!("deleted {called}\n"))
        }
        Deed::Untag { id, key } => {
            let has = |resource: &Resource| resource.tags.get(key).is_some();
            let (target, called) = find(account, id, has)?;
            let resource = account.resource(&target).context("it is gone")?;
            let value = resource.tags.get(key).cloned().unwrap_or_default();
            let tags = [(Text::from(key.as_str()), value)];
            account.untag(Actor::Stranger, &[target], &tags)?;
            Ok(format!("took the tag {key} off {called}\n"))
        }
        Deed::Remove { id, part } => {
            let inside = |resource: &Resource| inner(account, resource, part).is_some();
            let (target, called) = find(account, id, inside)?;
            let resource = account.resource(&target).context("it is gone")?;
            let inner = inner(account, resource, part).context("it is gone")?;
            let parts = [Text::from(part.as_str())];
            account.remove_parts(Actor::Stranger, &target, inner.name, &parts)?;
            Ok(format!("removed {} {part} from {called}\n", inner.noun))
        }
    }
}

/// The sort of parts that one inside a resource is of.
fn inner(account: &Account, resource: &Resource, part: &str) -> Option<&'static InnerKind> {
    let target = resource.target();
    resource.kind.inner.iter().find(|inner| {
        let mut parts = account.parts(&target, inner.name).iter();
        parts.any(|other| &*other.key == part)
    })
}

fn list(account: &Account) -> String {
    let alive = aws::KINDS.iter().flat_map(|kind| account.alive(kind));
    let lines = alive.flat_map(|resource| {
        let tags = resource.tags.iter();
        let tags = tags.map(|(key, value)| match &**value {
            "" => format!("  tag {key}\n"),
            value => format!("  tag {key}={value}\n"),
        });
        std::iter::once(called(resource) + "\n").chain(tags)
    });
    lines.collect()
}

/// What there is on a resource and in it, to choose from.
fn all_of(account: &Account, resource: &Resource) -> String {
    let target = resource.target();
    let tags = resource.tags.iter().map(|(key, _)| format!("tag {key}"));
    let inner = resource.kind.inner.iter();
    let parts = inner.flat_map(|inner| {
        let parts = account.parts(&target, inner.name).iter();
        parts.map(|part| format!("{} {}", inner.noun, part.key))
    });
    let all: Vec<String> = tags.chain(parts).collect();
    if all.is_empty() {
        return "it has no tags and nothing is inside it".to_owned();
    }
    format!("there are: {}", all.join(", "))
}

fn called(resource: &Resource) -> String {
    let target = resource.target();
    words::called(&target, &resource.name)
}

/// The one resource of this id or name for which something `holds`.
fn find(
    account: &Account,
    id: &str,
    holds: impl Fn(&Resource) -> bool,
) -> anyhow::Result<(Target, String)> {
    let alive = aws::KINDS.iter().flat_map(|kind| account.alive(kind));
    let meant = |resource: &&Arc<Resource>| resource.id.as_str() == id || &*resource.name == id;
    let found: Vec<_> = alive.filter(meant).collect();
    let fit: Vec<_> = found.iter().filter(|resource| holds(resource)).collect();
    match (&fit[..], &found[..]) {
        (_, []) => bail!("there is nothing of the id or name {id:?}; freehold sim list shows all"),
        ([], [first, ..]) => {
            bail!(
                "{} has no such thing; {}",
                called(first),
                all_of(account, first)
            )
        }
        ([one], _) => Ok((Target::new(one.kind, one.id.clone()), called(one))),
        (several, _) => {
            let all: Vec<_> = several.iter().map(|one| called(one)).collect();
            bail!("{id:?} is several, name one by its id: {}", all.join(", "))
        }
    }
}
