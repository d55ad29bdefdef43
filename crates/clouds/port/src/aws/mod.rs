//! The Kinds of AWS: what KKP on AWS needs.

mod access;
mod check;
pub mod errors;
pub mod instance_profile;
pub mod network;
mod place;
pub mod policy;
pub mod role;
pub mod route_table;
mod rule;
pub mod security_group;
pub mod subnet;
pub mod vpc;

pub use access::{Access, Accounts, AssumeRole, Credentials, Secret};
pub use place::AwsPlace;

use ownership::Kind;
use ownership::time::Millis;

/// Every Kind of AWS.
pub const KINDS: [&Kind; 6] = [
    &vpc::VPC,
    &route_table::ROUTE_TABLE,
    &subnet::SUBNET,
    &security_group::SECURITY_GROUP,
    &role::ROLE,
    &instance_profile::INSTANCE_PROFILE,
];

/// How long EC2 reads may lag behind writes.
const EC2_SETTLING: Millis = Millis::seconds(15);

/// How long IAM reads may lag behind writes.
const IAM_SETTLING: Millis = Millis::seconds(30);

/// How long EC2 remembers a client token.
const EC2_TOKEN: Millis = Millis::seconds(24 * 3600);

#[cfg(test)]
mod tests {
    use ownership::time::{FRESH, LONGEST_REQUEST_TIMEOUT};

    use super::*;

    #[test]
    fn every_kind_can_be_declared() {
        for (at, kind) in KINDS.iter().enumerate() {
            assert_eq!(kind.check(), Ok(()));
            let others = &KINDS[..at];
            assert!(
                others.iter().all(|other| other.name != kind.name),
                "{}",
                kind.name
            );
        }
    }

    /// `Kind::check` holds them to the usual T.
    #[test]
    fn every_client_token_outlives_the_longest_request_timeout_that_can_be_set() {
        for kind in KINDS {
            let needed = FRESH + LONGEST_REQUEST_TIMEOUT + kind.settling;
            assert!(
                kind.token.is_none_or(|lifetime| lifetime > needed),
                "{}",
                kind.name
            );
        }
        assert!(KINDS.iter().any(|kind| kind.token.is_some()));
    }
}
