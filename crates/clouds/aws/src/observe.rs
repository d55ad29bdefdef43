//! What is noticed about every call, without the ones who make it: how many, and the cloud's time.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::future::Future;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use aws_sdk_ec2::config::interceptors::{
    BeforeDeserializationInterceptorContextRef, BeforeTransmitInterceptorContextRef,
    FinalizerInterceptorContextRef,
};
use aws_sdk_ec2::config::{ConfigBag, Intercept, RuntimeComponents};
use aws_sdk_ec2::error::BoxError;
use aws_sdk_ec2::primitives::{DateTime, DateTimeFormat};
use aws_smithy_runtime_api::client::orchestrator::Metadata;
use cloud_port::Deadline;
use ownership::CloudError;
use ownership::time::CloudTime;

tokio::task_local! {
    /// The earliest `Date` among the answers to the calls of one read.
    static DATE: Cell<Option<CloudTime>>;
}

/// Runs a read and says at what time of the cloud its first answer was given.
pub(crate) async fn dated<F: Future>(read: F) -> (F::Output, CloudTime) {
    let read = async {
        let output = read.await;
        (output, DATE.with(Cell::get).unwrap_or_default())
    };
    DATE.scope(Cell::new(None), read).await
}

tokio::task_local! {
    /// When the call of one Step must have been sent, and whether it was too late.
    static LAST_MOMENT: (Instant, Cell<bool>);
}

/// Runs a Step whose calls are not sent after the deadline: credentials may have to be fetched first,
/// and the process may have been paused.
///
/// # Errors
/// That of the Step; or it was too late, and nothing was sent.
pub(crate) async fn in_time<T>(
    by: Deadline<'_>,
    step: impl Future<Output = Result<T, CloudError>>,
) -> Result<T, CloudError> {
    let left = by.left()?;
    #[expect(
        clippy::disallowed_methods,
        reason = "the deadline is asked inside of the SDK, where no other clock is at hand"
    )]
    let now = Instant::now();
    let Some(until) = now.checked_add(left) else {
        return step.await;
    };
    let step = async {
        let outcome = step.await;
        if LAST_MOMENT.with(|(_, missed)| missed.get()) {
            return Err(Deadline::missed());
        }
        outcome
    };
    LAST_MOMENT.scope((until, Cell::new(false)), step).await
}

/// Whether the Step under way may still be sent.
fn is_in_time() -> bool {
    #[expect(
        clippy::disallowed_methods,
        reason = "the deadline is asked inside of the SDK, where no other clock is at hand"
    )]
    let now = Instant::now();
    let asked = LAST_MOMENT.try_with(|(until, missed)| {
        let late = now > *until;
        missed.set(missed.get() || late);
        !late
    });
    // A read has no deadline.
    asked.unwrap_or(true)
}

/// How often each operation was called, by its name in the API's reference; a listing counts once a
/// page.
#[derive(Clone, Debug, Default)]
pub struct Calls(Arc<Mutex<Counts>>);

#[derive(Debug, Default)]
struct Counts {
    sent: BTreeMap<String, u64>,
    ended: BTreeMap<Ended, u64>,
    /// Where each service was last called.
    addresses: BTreeMap<String, String>,
}

/// How calls of one operation ended.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Ended {
    /// The service, as the SDK calls it.
    pub service: String,
    /// The operation.
    pub operation: String,
    /// `ok`, `refused`, or `no-answer`: not sent, or nobody knows.
    pub outcome: &'static str,
}

impl Calls {
    /// The operations that were called, and how often.
    pub fn by_operation(&self) -> BTreeMap<String, u64> {
        self.lock().sent.clone()
    }

    /// How the calls ended.
    pub fn by_outcome(&self) -> BTreeMap<Ended, u64> {
        self.lock().ended.clone()
    }

    /// Where a service was last called, such as `https://ec2.eu-central-1.amazonaws.com`.
    pub(crate) fn address(&self, service: &str) -> Option<String> {
        self.lock().addresses.get(service).cloned()
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Counts> {
        // A count is whole at any time.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Sits in every client.
#[derive(Clone, Debug)]
pub(crate) struct Observer(pub(crate) Calls);

impl Intercept for Observer {
    fn name(&self) -> &'static str {
        "freehold"
    }

    fn read_before_transmit(
        &self,
        context: &BeforeTransmitInterceptorContextRef<'_>,
        _: &RuntimeComponents,
        config: &mut ConfigBag,
    ) -> Result<(), BoxError> {
        if !is_in_time() {
            return Err("it is too late to send this".into());
        }
        if let Some(operation) = config.load::<Metadata>() {
            let mut counts = self.0.lock();
            let (service, address) = (operation.service(), origin(context.request().uri()));
            if counts.addresses.get(service).is_none_or(|it| it != address) {
                let (service, address) = (service.to_owned(), address.to_owned());
                counts.addresses.insert(service, address);
            }
            *counts.sent.entry(operation.name().to_owned()).or_default() += 1;
        }
        Ok(())
    }

    fn read_after_execution(
        &self,
        context: &FinalizerInterceptorContextRef<'_>,
        _: &RuntimeComponents,
        config: &mut ConfigBag,
    ) -> Result<(), BoxError> {
        if let Some(operation) = config.load::<Metadata>() {
            let outcome = match (context.output_or_error(), context.response()) {
                (Some(Ok(_)), _) => "ok",
                (_, Some(_)) => "refused",
                (_, None) => "no-answer",
            };
            let ended = Ended {
                service: operation.service().to_owned(),
                operation: operation.name().to_owned(),
                outcome,
            };
            *self.0.lock().ended.entry(ended).or_default() += 1;
        }
        Ok(())
    }

    fn read_before_deserialization(
        &self,
        context: &BeforeDeserializationInterceptorContextRef<'_>,
        _: &RuntimeComponents,
        _: &mut ConfigBag,
    ) -> Result<(), BoxError> {
        let date = context.response().headers().get("date").and_then(parse);
        if let Some(date) = date {
            // Calls that belong to no read, such as one for the account's id, need no time.
            let _ = DATE.try_with(|earliest| {
                earliest.set(Some(earliest.get().map_or(date, |other| other.min(date))));
            });
        }
        Ok(())
    }
}

/// Scheme and host of an address, without what is asked for there.
fn origin(uri: &str) -> &str {
    let after = uri.find("://").map_or(0, |at| at + 3);
    let end = uri[after..]
        .find(['/', '?'])
        .map_or(uri.len(), |at| after + at);
    &uri[..end]
}

fn parse(date: &str) -> Option<CloudTime> {
    let date = DateTime::from_str(date, DateTimeFormat::HttpDate).ok()?;
    time(&date)
}

/// A moment that AWS tells.
pub(crate) fn time(moment: &DateTime) -> Option<CloudTime> {
    let millis = moment.to_millis().ok()?;
    u64::try_from(millis).ok().map(CloudTime)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_scheme_and_host() {
        let uri = "https://ec2.eu-central-1.amazonaws.com";
        for more in ["", "/", "/?Action=DescribeVpcs", "?Action=DescribeVpcs"] {
            assert_eq!(origin(&format!("{uri}{more}")), uri);
        }
    }

    #[test]
    fn a_date_is_read_as_the_clouds_time() {
        assert_eq!(
            parse("Thu, 01 Jan 1970 00:00:02 GMT"),
            Some(CloudTime(2000))
        );
        assert_eq!(parse("yesterday"), None);
    }
}
