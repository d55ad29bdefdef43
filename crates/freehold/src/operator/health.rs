//! What others ask a replica over HTTP: `/healthz`, `/readyz`, `/metrics`.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use axum::Router;
use axum::http::{StatusCode, header};
use axum::routing::get;

use super::metrics::Metrics;
use crate::accounts::Call;

/// What a replica is at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Stage {
    /// Something must happen first, in words.
    Waiting(String),
    /// Another replica leads.
    Standby,
    /// It does the work.
    Leading,
    /// It is about to end.
    Stopping,
}

/// A replica, as others see it.
pub struct Health {
    stage: Mutex<Stage>,
    pub(crate) metrics: Arc<Metrics>,
    calls: Box<dyn Fn() -> BTreeMap<Call, u64> + Send + Sync>,
}

impl Health {
    /// A replica that has just started.
    pub(crate) fn new(calls: impl Fn() -> BTreeMap<Call, u64> + Send + Sync + 'static) -> Self {
        Self {
            stage: Mutex::new(Stage::Waiting("it has just started".to_owned())),
            metrics: Arc::default(),
            calls: Box::new(calls),
        }
    }

    /// The next stage.
    pub(crate) fn enter(&self, stage: Stage) {
        let mut current = self.stage.lock().unwrap_or_else(PoisonError::into_inner);
        if *current == stage {
            return;
        }
        match &stage {
            Stage::Waiting(words) => tracing::warn!("waiting: {words}"),
            Stage::Standby => tracing::info!("standing by: another replica leads, or none yet"),
            Stage::Leading => tracing::info!("leading"),
            Stage::Stopping => tracing::info!("stopping"),
        }
        *current = stage;
    }

    /// The pages.
    ///
    /// - `/healthz`: the process answers.
    /// - `/readyz`: it works, or would as soon as it led; otherwise 503 and what it waits for.
    /// - `/metrics`: in the text format of Prometheus.
    pub fn router(self: &Arc<Self>) -> Router {
        let (ready, metrics) = (Arc::clone(self), Arc::clone(self));
        Router::new()
            .route("/healthz", get(|| async { "ok\n" }))
            .route("/readyz", get(|| async move { ready.readiness() }))
            .route("/metrics", get(|| async move { metrics.page() }))
    }

    fn readiness(&self) -> (StatusCode, String) {
        let stage = self.stage.lock().unwrap_or_else(PoisonError::into_inner);
        match &*stage {
            Stage::Waiting(words) => (
                StatusCode::SERVICE_UNAVAILABLE,
                format!("waiting: {words}\n"),
            ),
            Stage::Stopping => (StatusCode::SERVICE_UNAVAILABLE, "stopping\n".to_owned()),
            Stage::Standby => (StatusCode::OK, "standing by\n".to_owned()),
            Stage::Leading => (StatusCode::OK, "leading\n".to_owned()),
        }
    }

    fn page(&self) -> ([(header::HeaderName, &'static str); 1], String) {
        let kind = "text/plain; version=0.0.4; charset=utf-8";
        let text = self.metrics.text(&(self.calls)());
        ([(header::CONTENT_TYPE, kind)], text)
    }
}
