//! The port: the two things that the driver asks of a cloud.

use std::future::Future;
use std::sync::Arc;

use ownership::part::Resource;
use ownership::{Answer, CloudError, Query, Step};

/// One account and region of a cloud.
///
/// # Guarantees that an implementation gives
/// - [`read`](Cloud::read) answers from the cloud itself, all pages of it, never from a cache. An
///   absent resource is an empty answer, not an error.
/// - [`perform`](Cloud::perform) sends the Step once and does not repeat it by itself: a repetition
///   is the engine's to decide (assumption A3).
/// - Every error has the class that the Kind's error table gives it; one that is not in the table is
///   retryable and says so. A call that may have taken effect is [`ownership::Class::Unknown`].
/// - Properties, rules and documents are canonical: two equal values are spelled alike.
pub trait Cloud: Send + Sync {
    /// Asks for the state of the cloud.
    fn read(&self, query: &Query) -> impl Future<Output = Result<Answer, CloudError>> + Send;

    /// Performs one side effect.
    fn perform(&self, step: &Step) -> impl Future<Output = Result<Effect, CloudError>> + Send;
}

impl<C: Cloud> Cloud for Arc<C> {
    fn read(&self, query: &Query) -> impl Future<Output = Result<Answer, CloudError>> + Send {
        C::read(self, query)
    }

    fn perform(&self, step: &Step) -> impl Future<Output = Result<Effect, CloudError>> + Send {
        C::perform(self, step)
    }
}

/// What an acknowledged Step came to.
#[derive(Clone, Debug, Default)]
pub struct Effect {
    /// The resource that a create made, as the cloud described it in its answer.
    pub born: Option<Arc<Resource>>,
}
