//! The loop: every object is looked at when it changes, and when its time has come.

use std::convert::Infallible;
use std::pin::pin;
use std::sync::Arc;

use futures_util::StreamExt as _;
use futures_util::future::select;
use kube::ResourceExt as _;
use kube::runtime::Controller;
use kube::runtime::controller::{Action, Error};
use kube::runtime::watcher;
use tracing::Instrument as _;

use super::ask::Watches;
use super::clock::WallClock;
use super::pass::{Next, Reconciler, shown};
use super::system::{Sources, api_of};

/// Runs a reconciler until `stop`, and then until the passes that have begun have ended. Dropping
/// the future stops it at once: that is a crash, and no worse than one.
pub async fn run<S: Sources, K: WallClock + 'static>(
    reconciler: Arc<Reconciler<S, K>>,
    stop: impl Future<Output = ()> + Send + Sync + 'static,
) {
    let api = api_of::<S::Object>(&reconciler.client, None);
    let controller = Controller::new(api, watcher::Config::default());
    let hosts = reconciler.clone();
    let passes = S::watches(Watches::default())
        .wire(controller, &reconciler.client, &reconciler.references)
        .graceful_shutdown_on(stop)
        .run(
            reconcile,
            |_, error: &Infallible, _| match *error {},
            reconciler,
        )
        .for_each(|result| async move {
            match result {
                Ok(_) => {}
                // It is repeated with growing pauses.
                Err(Error::QueueError(error)) => {
                    tracing::warn!(%error, "objects cannot be watched now");
                }
                Err(error) => tracing::debug!(%error, "the controller goes on"),
            }
        });
    let hosts = pin!(hosts.look_after_hosts());
    select(pin!(passes), hosts).await;
}

/// An activation carries no payload: the object is read again.
async fn reconcile<S: Sources, K: WallClock>(
    object: Arc<S::Object>,
    reconciler: Arc<Reconciler<S, K>>,
) -> Result<Action, Infallible> {
    if let Some(wait) = reconciler.can_wait(&object).await {
        return Ok(Action::requeue(wait));
    }
    let key = (object.namespace(), object.name_any());
    let pass = reconciler.reconcile(&key.1, key.0.as_deref());
    let next = pass
        .instrument(tracing::info_span!("pass", object = %shown(&key)))
        .await;
    Ok(match next {
        Next::After(wait) => Action::requeue(wait),
        Next::OnChange => Action::await_change(),
    })
}
