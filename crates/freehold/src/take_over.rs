//! Take-over: the management clusters whose claims somebody has confirmed to be this one's.

use std::collections::{BTreeMap, BTreeSet};

use ::api::names::OPERATOR_NAMESPACE;
use anyhow::{Context as _, ensure};
use k8s_openapi::api::core::v1::ConfigMap;
use kube::Client;
use kube::api::{Api, ObjectMeta, Patch, PatchParams, PostParams};
use ownership::Holder;

use crate::connect;

/// The ConfigMap in the operator's namespace whose keys are the holders that this management
/// cluster has taken over: their claims are its own. It is read when a replica begins to lead.
pub const CONFIG_MAP: &str = "freehold-take-over";

/// What `freehold take-over` is told.
#[derive(clap::Args)]
pub(crate) struct Options {
    /// The management cluster that is gone for good, as a message names it
    #[arg(long, value_name = "HOLDER", value_parser = holder)]
    from: Holder,
    /// The operator's namespace
    #[arg(long, default_value = OPERATOR_NAMESPACE)]
    namespace: String,
    #[command(flatten)]
    whom: connect::Whom,
    /// Do it; without this, only what would be done is said
    #[arg(long)]
    apply: bool,
}

fn holder(text: &str) -> Result<Holder, String> {
    Holder::parse(text).map_err(|error| error.to_string())
}

/// `freehold take-over`: confirms once that the claims of another management cluster are this one's.
pub(crate) fn command(options: &Options) -> anyhow::Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .context("the runtime")?;
    runtime.block_on(async {
        let client = connect::client().await?;
        let said =
            |error: kube::Error| anyhow::anyhow!("the API server: {}", connect::words(&error));
        let (from, namespace) = (&options.from, &options.namespace);
        let own = connect::holder(&client, options.whom.holder.as_deref());
        let own = own.await.map_err(said)?;
        ensure!(*from != own, "{from} is this management cluster itself");
        let taken = read(&client, namespace).await.map_err(said)?;
        if taken.contains(from) {
            say::line!("{from} was taken over before: nothing is to be done")?;
            return Ok(());
        }
        say::line!("every claim that {from} holds becomes this management cluster's ({own})")?;
        if !options.apply {
            say::line!(
                "nothing was done: make sure that {from} is gone for good, and add --apply"
            )?;
            return Ok(());
        }
        confirm(&client, namespace, from).await.map_err(said)?;
        say::line!("confirmed in the ConfigMap {CONFIG_MAP}; restart the operator in {namespace}")?;
        Ok(())
    })
}

async fn confirm(client: &Client, namespace: &str, from: &Holder) -> Result<(), kube::Error> {
    let maps: Api<ConfigMap> = Api::namespaced(client.clone(), namespace);
    let data = BTreeMap::from([(from.to_string(), "confirmed".to_owned())]);
    let map = ConfigMap {
        metadata: ObjectMeta {
            name: Some(CONFIG_MAP.to_owned()),
            ..ObjectMeta::default()
        },
        data: Some(data.clone()),
        ..ConfigMap::default()
    };
    match maps.create(&PostParams::default(), &map).await {
        Err(kube::Error::Api(status)) if status.code == 409 => {
            let patch = Patch::Merge(serde_json::json!({"data": data}));
            let parameters = PatchParams::default();
            maps.patch(CONFIG_MAP, &parameters, &patch).await.map(drop)
        }
        created => created.map(drop),
    }
}

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
