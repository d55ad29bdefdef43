//! Instances of Cloud Object Storage, with their buckets as parts.

use ownership::blueprint::{Expr, InnerWish};
use ownership::input::InputError;
use ownership::kind::InnerKind;
use ownership::{Class, Kind, Slot, SlotName, Text};

use super::errors::Service;
use super::{CRN, Entry, INSTANCE, NAME, PART, RESOURCE_GROUP, fixed, given, of_the_call};
use crate::code::Code;
use crate::sample::{PartSample, Sample};

/// An instance that a claim wants for itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CosInstance {
    /// Its name. Any number of instances can have one.
    pub name: Text,
    /// The id of its resource group.
    pub resource_group: Expr,
    /// The bucket in it.
    pub bucket: Bucket,
}

/// A bucket.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bucket {
    /// Its name, which nobody in the world can have besides.
    pub name: Text,
    /// The region that it is in.
    pub region: Text,
}

impl Bucket {
    /// The wish for it, in an instance of ours or somebody's.
    ///
    /// # Errors
    /// A name that the service does not accept.
    pub fn wish(&self) -> Result<InnerWish, InputError> {
        check_bucket_name(&self.name)?;
        Ok(InnerWish {
            kind: BUCKET,
            key: Expr::Text(self.name.clone()),
            value: Expr::Text(self.region.clone()),
        })
    }
}

impl CosInstance {
    /// The slot for it.
    ///
    /// # Errors
    /// A name of the bucket that the service does not accept.
    pub fn slot(self, slot: SlotName) -> Result<Slot, InputError> {
        Ok(Slot {
            props: vec![
                (RESOURCE_GROUP, self.resource_group),
                (PLAN, PLAN_ID.into()),
            ],
            inner: vec![self.bucket.wish()?],
            ..Slot::own(slot, &COS_INSTANCE, self.name)
        })
    }
}

/// Checks the name of a bucket.
///
/// # Errors
/// The broken rule.
pub fn check_bucket_name(name: &str) -> Result<(), InputError> {
    let framed = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit();
    let legal = |c: char| framed(c) || c == '-' || c == '.';
    let is_legal = (3..=63).contains(&name.len())
        && name.chars().all(legal)
        && name.starts_with(framed)
        && name.ends_with(framed)
        && !name.contains("..");
    if is_legal {
        return Ok(());
    }
    let rule =
        "must have 3 to 63 lower-case letters, digits, - and ., a letter or digit first and last";
    Err(InputError::new("bucket name", name, rule))
}

/// A bucket: the key is its name, the value its region. It is emptied before it is removed, and removed
/// before its instance, which is kept for days, and its names with it.
pub const BUCKET: &str = "bucket";
/// The property of the create call with the plan.
pub const PLAN: &str = "plan";
/// The standard plan of Cloud Object Storage.
pub const PLAN_ID: &str = "1e4e33e4-cfa6-4f12-9016-be594a6d5f87";

/// The declaration. What was deleted is kept for some days, as a workspace is.
pub static COS_INSTANCE: Kind = Kind {
    name: "ibm/cos-instance",
    noun: "COS instance",
    props: &[
        fixed(RESOURCE_GROUP),
        of_the_call(PLAN),
        given(CRN),
        given(NAME),
    ],
    inner: &[InnerKind {
        name: BUCKET,
        noun: "bucket",
        blocks_deletion: true,
        ..PART
    }],
    ..INSTANCE
};

pub(super) const ENTRY: Entry = Entry {
    sample: &SAMPLE,
    service: Service::ObjectStorage,
    codes: &CODES,
};

static CODES: [Code; 4] = [
    Code::new("HTTP 409", Class::Blocked(Vec::new())).to("DeleteResourceInstance"),
    Code::new("BucketAlreadyExists", Class::Fatal)
        .advice("names of buckets are taken in the whole world: choose another"),
    Code::new("BucketAlreadyOwnedByYou", Class::Exists),
    Code::new("NoSuchBucket", Class::NotFound),
];

static SAMPLE: Sample = Sample {
    props: &[(RESOURCE_GROUP, "group-of-the-account"), (PLAN, PLAN_ID)],
    parts: &[PartSample {
        inner: BUCKET,
        wanted: &[("prod-ignition", "us-south"), ("prod-images", "us-south")],
        others: [
            ("somebodys", "us-south"),
            ("anothers", "us-east"),
            ("a-third", "eu-de"),
        ],
    }],
    ..Sample::of(&COS_INSTANCE)
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_of_a_bucket_is_what_the_service_accepts() {
        assert_eq!(check_bucket_name("prod-cosbucket.1"), Ok(()));
        for bad in ["ab", "Prod", "-prod", "a..b", "prod_x", &"a".repeat(64)] {
            let error = check_bucket_name(bad).unwrap_err().to_string();
            assert!(error.contains("3 to 63 lower-case"), "{error}");
        }
    }
}
