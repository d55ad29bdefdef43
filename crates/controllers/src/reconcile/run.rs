//! The loop: every object is looked at when it changes, and when its time has come.

use std::convert::Infallible;
use std::sync::Arc;

use futures_util::StreamExt as _;
use kube::ResourceExt as _;
use kube::runtime::Controller;
use kube::runtime::controller::Action;
use kube::runtime::watcher;

use super::System;
use super::clock::WallClock;
use super::pass::{Next, Reconciler};

/// Runs a reconciler until the process ends; dropping the future stops it.
pub async fn run<S: System, K: WallClock + 'static>(reconciler: Arc<Reconciler<S, K>>) {
    let api = S::api(&reconciler.client, None);
    Controller::new(api, watcher::Config::default())
        .run(
            reconcile,
            |_, error: &Infallible, _| match *error {},
            reconciler,
        )
        .for_each(|result| async move {
            if let Err(error) = result {
                tracing::debug!(%error, "the controller goes on");
            }
        })
        .await;
}

/// An activation carries no payload: the object is read again.
async fn reconcile<S: System, K: WallClock>(
    object: Arc<S::Object>,
    reconciler: Arc<Reconciler<S, K>>,
) -> Result<Action, Infallible> {
    if let Some(wait) = reconciler.can_wait(&object) {
        return Ok(Action::requeue(wait));
    }
    let (name, namespace) = (object.name_any(), object.namespace());
    let next = reconciler.reconcile(&name, namespace.as_deref()).await;
    Ok(match next {
        Next::After(wait) => Action::requeue(wait),
        Next::OnChange => Action::await_change(),
    })
}
