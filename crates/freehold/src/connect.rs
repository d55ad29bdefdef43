//! The cluster that the command line speaks to: the current kubeconfig's, or the one it runs in.

use anyhow::Context as _;
use k8s_openapi::api::core::v1::Namespace;
use kube::api::Api;
use kube::{Client, Config, ResourceExt as _};
use ownership::Holder;

/// A client of the current cluster.
pub(crate) async fn client() -> anyhow::Result<Client> {
    let config = Config::infer()
        .await
        .context("no Kubernetes cluster to speak to: set KUBECONFIG, or run inside of one")?;
    Client::try_from(config).context("the client of the Kubernetes cluster")
}

/// The management cluster's own name in marks.
pub(crate) async fn holder(client: &Client) -> Result<Holder, kube::Error> {
    let namespaces: Api<Namespace> = Api::all(client.clone());
    let system = namespaces.get("kube-system").await?;
    Ok(Holder::of_cluster(&system.uid().unwrap_or_default()))
}

/// What an API server said, without the status object around it.
pub(crate) fn words(error: &kube::Error) -> String {
    match error {
        kube::Error::Api(status) if !status.message.is_empty() => status.message.clone(),
        other => {
            let mut words = other.to_string();
            let mut cause = std::error::Error::source(other);
            while let Some(error) = cause {
                words = format!("{words}: {error}");
                cause = error.source();
            }
            words
        }
    }
}
