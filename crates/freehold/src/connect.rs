//! The cluster that the command line speaks to: the current kubeconfig's, or the one it runs in.

use std::path::PathBuf;

use k8s_openapi::api::core::v1::Namespace;
use kube::api::Api;
use kube::config::{KubeConfigOptions, Kubeconfig};
use kube::{Client, Config, ResourceExt as _};
use ownership::{Holder, input};

use crate::failure;

/// Which cluster is spoken to.
#[derive(Clone, Debug, Default, clap::Args)]
pub(crate) struct Which {
    /// The kubeconfig; without it, as KUBECONFIG says, or ~/.kube/config, or the cluster we run in
    #[arg(long, value_name = "FILE")]
    kubeconfig: Option<PathBuf>,
    /// The context in it; without it, the current one
    #[arg(long, value_name = "NAME")]
    context: Option<String>,
}

/// How the cluster is reached.
pub(crate) async fn config(which: &Which) -> anyhow::Result<Config> {
    let options = KubeConfigOptions {
        context: which.context.clone(),
        ..KubeConfigOptions::default()
    };
    let named = match &which.kubeconfig {
        Some(file) => match Kubeconfig::read_from(file) {
            Ok(read) => Config::from_custom_kubeconfig(read, &options).await,
            Err(error) => Err(error),
        },
        None if which.context.is_some() => Config::from_kubeconfig(&options).await,
        None => {
            return Config::infer().await.map_err(|error| {
                let words = failure::of_config(&error);
                anyhow::anyhow!(
                    "no Kubernetes cluster to speak to: set KUBECONFIG, or run inside of one: {words}"
                )
            });
        }
    };
    named.map_err(|error| anyhow::anyhow!("{}", failure::of_kubeconfig(&error)))
}

/// The client of a cluster.
pub(crate) fn client_of(config: Config) -> anyhow::Result<Client> {
    failure::speaks_to(&config.cluster_url);
    Client::try_from(config).map_err(|error| anyhow::anyhow!("the API server: {}", words(&error)))
}

/// Which management cluster it is, where its uid does not tell.
#[derive(clap::Args)]
pub(crate) struct Whom {
    /// What tells a clone of a management cluster from the original; the same for every command
    #[arg(long, value_name = "NAME", value_parser = holder_name)]
    pub(crate) holder: Option<String>,
}

/// Reads a name that becomes part of a holder.
fn holder_name(text: &str) -> Result<String, String> {
    match input::object_name("--holder", text) {
        Ok(()) => Ok(text.to_owned()),
        Err(error) => Err(error.rule),
    }
}

/// The management cluster's own name in marks. A clone has the same uids: only `name` can tell it
/// from its original.
pub(crate) async fn holder(client: &Client, name: Option<&str>) -> Result<Holder, kube::Error> {
    let namespaces: Api<Namespace> = Api::all(client.clone());
    let system = namespaces.get("kube-system").await?;
    let uid = system.uid().unwrap_or_default();
    Ok(holder_of(&uid, name))
}

/// Neither a uid nor a name has a line's end: no two pairs are spelled alike.
fn holder_of(uid: &str, name: Option<&str>) -> Holder {
    match name {
        None => Holder::of_cluster(uid),
        Some(name) => Holder::of_cluster(&format!("{uid}\n{name}")),
    }
}

/// What an API server said, or why nobody can be heard, in words.
pub(crate) fn words(error: &kube::Error) -> String {
    failure::of_api_server(error)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_makes_another_holder_and_no_name_the_one_as_ever() {
        let uid = "7f6a2f2e-58b5-4c1f-9d0e-0a3f4f1f2b11";
        let holders = [None, Some("a"), Some("b")].map(|name| holder_of(uid, name));
        assert_eq!(holders[0], Holder::of_cluster(uid));
        assert!(holders[0] != holders[1] && holders[1] != holders[2]);
        assert!(holders[0] != holders[2]);
    }
}
