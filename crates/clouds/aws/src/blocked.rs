//! Blocked deletions: AWS says only that somebody uses a resource, a person must know who (law 9).

use std::future::Future;

use ownership::error::Blocker;
use ownership::{Class, CloudError, ResourceId};

/// What a look for blockers comes to.
pub(crate) type Found = Result<Vec<Blocker>, CloudError>;

/// Names the blockers in an error that says there are some.
pub(crate) async fn explain(
    mut error: CloudError,
    look: impl Future<Output = Found>,
) -> CloudError {
    if let Class::Blocked(blockers) = &mut error.class {
        match look.await {
            Ok(found) => *blockers = found,
            Err(failure) => {
                let words = format!("{} (what uses it cannot be read: {failure})", error.message);
                error.message = words.into();
            }
        }
    }
    error
}

pub(crate) fn blocker(noun: &str, id: Option<&str>) -> Option<Blocker> {
    Some(Blocker {
        noun: noun.into(),
        id: ResourceId::new(id?),
    })
}
