//! What the adapter does for one Kind: a file each, and a row in one table.

use std::pin::Pin;

use ownership::part::{InnerPart, Props, Resource};
use ownership::step::{Create, PartTags};
use ownership::{Answer, Class, CloudError, Kind, Query, Target, Text};

use crate::client_set::ClientSet;
use crate::permissions::Operations;
use crate::{ec2, elb, iam};

/// A call under way.
pub(crate) type Asked<'a, T> = Pin<Box<dyn Future<Output = Result<T, CloudError>> + Send + 'a>>;

/// What the adapter does for one Kind. [`handler!`] makes one of the functions in a Kind's file.
pub(crate) trait Handler: Sync {
    /// The Kind.
    fn kind(&self) -> &'static Kind;

    /// Everything that it calls.
    fn operations(&self) -> &'static Operations;

    /// Answers a question about resources.
    fn find<'a>(&self, set: &'a ClientSet, query: &'a Query) -> Asked<'a, Answer>;

    /// Shows everything of the Kind, with what is inside.
    fn survey<'a>(&self, set: &'a ClientSet) -> Asked<'a, Answer>;

    /// Creates one.
    fn create<'a>(&self, set: &'a ClientSet, create: &'a Create) -> Asked<'a, Resource>;

    /// Deletes one.
    fn delete<'a>(&self, set: &'a ClientSet, target: &'a Target) -> Asked<'a, ()>;

    /// Changes one in place. Most Kinds have nothing that can be.
    fn update<'a>(&self, _: &'a ClientSet, target: &'a Target, _: &'a Props) -> Asked<'a, ()> {
        Box::pin(async move { Err(fixed(target)) })
    }

    /// Adds tags. EC2 does so for any number of resources at once, whatever their Kinds.
    fn tag<'a>(
        &self,
        set: &'a ClientSet,
        targets: &'a [Target],
        tags: &'a [(Text, Text)],
    ) -> Asked<'a, ()> {
        Box::pin(ec2::tags::add(set, targets, tags))
    }

    /// Removes these very tags, key and value.
    fn untag<'a>(
        &self,
        set: &'a ClientSet,
        targets: &'a [Target],
        tags: &'a [(Text, Text)],
    ) -> Asked<'a, ()> {
        Box::pin(ec2::tags::remove(set, targets, tags))
    }

    /// What it does for the parts inside, inner Kind by inner Kind.
    fn parts(&self) -> &'static [(&'static str, &'static dyn Parts)] {
        &[]
    }

    /// What it does for the parts of one inner Kind.
    ///
    /// # Errors
    /// The Kind has no such parts.
    fn inside(&self, inner: &str) -> Result<&'static dyn Parts, CloudError> {
        let mut parts = self.parts().iter();
        let found = parts.find(|(name, _)| *name == inner);
        found.map(|(_, parts)| *parts).ok_or_else(|| unknown(inner))
    }
}

/// What the adapter does for the parts of one inner Kind. [`parts!`] makes one of three functions.
pub(crate) trait Parts: Sync {
    /// Shows all of them inside a resource.
    fn list<'a>(&self, set: &'a ClientSet, of: &'a Target) -> Asked<'a, Answer>;

    /// Adds some.
    fn add<'a>(
        &self,
        set: &'a ClientSet,
        target: &'a Target,
        parts: &'a [InnerPart],
    ) -> Asked<'a, ()>;

    /// Removes some.
    fn remove<'a>(
        &self,
        set: &'a ClientSet,
        target: &'a Target,
        parts: &'a [InnerPart],
    ) -> Asked<'a, ()>;

    /// The parts as what can be tagged. Most carry no tags.
    ///
    /// # Errors
    /// Parts that carry none, or have no id to be tagged by.
    fn taggable(&self, tags: &PartTags) -> Result<Vec<Target>, CloudError> {
        Err(unknown(tags.inner))
    }
}

/// Makes a handler of the functions `find`, `survey`, `create` and `delete` of a Kind's file and of its
/// `OPERATIONS`; what the Kind does otherwise than most stands in the braces.
macro_rules! handler {
    ($name:ident: $kind:ident { $($own:tt)* }) => {
        /// What the adapter does for the Kind.
        pub(crate) struct $name;

        impl $crate::handler::Handler for $name {
            fn kind(&self) -> &'static ownership::Kind {
                &$kind
            }

            fn operations(&self) -> &'static $crate::permissions::Operations {
                &OPERATIONS
            }

            fn find<'a>(
                &self,
                set: &'a $crate::ClientSet,
                query: &'a ownership::Query,
            ) -> $crate::handler::Asked<'a, ownership::Answer> {
                Box::pin(find(set, query))
            }

            fn survey<'a>(
                &self,
                set: &'a $crate::ClientSet,
            ) -> $crate::handler::Asked<'a, ownership::Answer> {
                Box::pin(survey(set))
            }

            fn create<'a>(
                &self,
                set: &'a $crate::ClientSet,
                wanted: &'a ownership::step::Create,
            ) -> $crate::handler::Asked<'a, ownership::part::Resource> {
                Box::pin(create(set, wanted))
            }

            fn delete<'a>(
                &self,
                set: &'a $crate::ClientSet,
                target: &'a ownership::Target,
            ) -> $crate::handler::Asked<'a, ()> {
                Box::pin(delete(set, target))
            }

            $($own)*
        }
    };
}

/// Makes what the adapter does for an inner Kind of the functions that list, add and remove its parts.
macro_rules! parts {
    ($name:ident: $list:path, $add:path, $remove:path { $($own:tt)* }) => {
        /// What the adapter does for the inner Kind.
        pub(crate) struct $name;

        impl $crate::handler::Parts for $name {
            fn list<'a>(
                &self,
                set: &'a $crate::ClientSet,
                of: &'a ownership::Target,
            ) -> $crate::handler::Asked<'a, ownership::Answer> {
                Box::pin($list(set, of))
            }

            fn add<'a>(
                &self,
                set: &'a $crate::ClientSet,
                target: &'a ownership::Target,
                parts: &'a [ownership::part::InnerPart],
            ) -> $crate::handler::Asked<'a, ()> {
                Box::pin($add(set, target, parts))
            }

            fn remove<'a>(
                &self,
                set: &'a $crate::ClientSet,
                target: &'a ownership::Target,
                parts: &'a [ownership::part::InnerPart],
            ) -> $crate::handler::Asked<'a, ()> {
                Box::pin($remove(set, target, parts))
            }

            $($own)*
        }
    };
}

pub(crate) use {handler, parts};

/// The handlers of the Kinds of AWS, service by service.
const HANDLERS: [&[&dyn Handler]; 3] = [ec2::HANDLERS, elb::HANDLERS, iam::HANDLERS];

const _: () = assert!(
    ec2::HANDLERS.len() + elb::HANDLERS.len() + iam::HANDLERS.len() == cloud_port::aws::KINDS.len(),
    "each Kind of AWS needs a handler in the table of its service"
);

/// The handler of a Kind.
pub(crate) fn of(kind: &Kind) -> Result<&'static dyn Handler, CloudError> {
    let mut handlers = HANDLERS.into_iter().flatten().copied();
    let found = handlers.find(|handler| handler.kind() == kind);
    found.ok_or_else(|| unknown(kind.name))
}

fn unknown(kind: &str) -> CloudError {
    let message = format!("AWS has nothing of the kind {kind}");
    CloudError::new(Class::Fatal, "UnsupportedOperation", message)
}

/// The refusal of a change to what cannot be changed.
pub(crate) fn fixed(target: &Target) -> CloudError {
    let message = format!("what is to be changed in {target} is fixed at its creation");
    CloudError::new(Class::Fatal, "ValidationError", message)
}

#[cfg(test)]
mod tests {
    use cloud_port::aws::KINDS;

    use super::*;

    #[test]
    fn every_kind_and_inner_kind_is_handled_and_no_other() {
        for kind in KINDS {
            assert_eq!(of(kind).unwrap().kind(), kind);
            let declared: Vec<&str> = kind.inner.iter().map(|inner| inner.name).collect();
            let parts = of(kind).unwrap().parts().iter();
            let handled: Vec<&str> = parts.map(|(name, _)| *name).collect();
            assert_eq!(handled, declared, "{}", kind.name);
        }
        let moon = Kind {
            name: "aws/moon",
            ..KINDS[0].clone()
        };
        assert!(of(&moon).is_err());
        assert!(of(KINDS[0]).unwrap().inside("moon").is_err());
    }
}
