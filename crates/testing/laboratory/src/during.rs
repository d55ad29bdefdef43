//! A cloud during whose next create something else happens: in the management cluster, or to the
//! operator.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};

use cloud_port::aws::AwsPlace;
use cloud_port::aws::image::ImageQuery;
use cloud_port::{Cloud, Deadline, Effect, Survey};
use ownership::{Answer, CloudError, Kind, Query, Step, Text};

type Deed = Pin<Box<dyn Future<Output = ()> + Send>>;

/// What happens once, when the cloud has created something of a Kind and has not answered yet.
#[derive(Clone, Default)]
pub(crate) struct Deeds(Arc<Mutex<Option<(&'static str, Deed)>>>);

impl Deeds {
    /// Plans one.
    pub(crate) fn plan(&self, kind: &Kind, deed: impl Future<Output = ()> + Send + 'static) {
        *self.planned() = Some((kind.name, Box::pin(deed)));
    }

    fn take(&self, kind: &str) -> Option<Deed> {
        let (_, deed) = self.planned().take_if(|(of, _)| *of == kind)?;
        Some(deed)
    }

    fn planned(&self) -> std::sync::MutexGuard<'_, Option<(&'static str, Deed)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A cloud with such deeds.
#[derive(Clone)]
pub struct During<C> {
    pub(crate) cloud: C,
    pub(crate) deeds: Deeds,
}

impl<C: fmt::Debug> fmt::Debug for During<C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.cloud.fmt(f)
    }
}

impl<C: Cloud> Cloud for During<C> {
    fn read(&self, query: &Query) -> impl Future<Output = Result<Answer, CloudError>> + Send {
        self.cloud.read(query)
    }

    async fn perform(&self, step: &Step, by: Deadline<'_>) -> Result<Effect, CloudError> {
        let effect = self.cloud.perform(step, by).await?;
        if let Step::Create(create) = step
            && let Some(deed) = self.deeds.take(create.kind.name)
        {
            deed.await;
        }
        Ok(effect)
    }
}

impl<C: Survey> Survey for During<C> {
    fn survey(
        &self,
        kind: &'static Kind,
    ) -> impl Future<Output = Result<Answer, CloudError>> + Send {
        self.cloud.survey(kind)
    }
}

impl<C: AwsPlace> AwsPlace for During<C> {
    fn partition(&self) -> &str {
        self.cloud.partition()
    }

    fn account(&self) -> &str {
        self.cloud.account()
    }

    fn region(&self) -> &str {
        self.cloud.region()
    }

    fn zones(&self) -> impl Future<Output = Result<Vec<Text>, CloudError>> + Send {
        self.cloud.zones()
    }

    fn image(
        &self,
        query: &ImageQuery,
    ) -> impl Future<Output = Result<Option<Text>, CloudError>> + Send {
        self.cloud.image(query)
    }

    fn role_path(&self, name: &str) -> String {
        self.cloud.role_path(name)
    }
}
