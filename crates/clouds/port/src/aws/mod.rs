//! The Kinds of AWS.

mod access;
mod check;
pub mod classic_load_balancer;
pub mod elastic_ip;
pub mod errors;
pub mod health_check;
pub mod instance_profile;
pub mod internet_gateway;
pub mod load_balancer;
pub mod nat_gateway;
pub mod network_load_balancer;
mod place;
pub mod policy;
pub mod role;
pub mod route_table;
mod rule;
pub mod security_group;
pub mod subnet;
pub mod target_group;
pub mod vpc;

pub use crate::network;
pub use access::{Access, Accounts, AssumeRole, Credentials, Secret};
pub use place::AwsPlace;

use ownership::Kind;
use ownership::time::Millis;

use self::errors::{Code, Service};
use crate::sample::Sample;

/// A Kind of AWS with what belongs to it.
#[derive(Clone, Copy, Debug)]
pub struct Entry {
    /// An example of it, with its declaration.
    pub sample: &'static Sample,
    /// The service that it belongs to.
    pub service: Service,
    /// The error codes that belong to it alone.
    pub codes: &'static [Code],
}

/// Every Kind of AWS.
pub const CATALOGUE: [Entry; 12] = [
    vpc::ENTRY,
    route_table::ENTRY,
    subnet::ENTRY,
    internet_gateway::ENTRY,
    elastic_ip::ENTRY,
    nat_gateway::ENTRY,
    security_group::ENTRY,
    role::ENTRY,
    instance_profile::ENTRY,
    classic_load_balancer::ENTRY,
    target_group::ENTRY,
    network_load_balancer::ENTRY,
];

/// The declaration of every Kind of AWS.
pub const KINDS: [&Kind; CATALOGUE.len()] = {
    let mut kinds = [CATALOGUE[0].sample.kind; CATALOGUE.len()];
    let mut at = 0;
    while at < kinds.len() {
        kinds[at] = CATALOGUE[at].sample.kind;
        at += 1;
    }
    kinds
};

/// How long EC2 reads may lag behind writes.
const EC2_SETTLING: Millis = Millis::seconds(15);

/// How long IAM reads may lag behind writes.
const IAM_SETTLING: Millis = Millis::seconds(30);

/// How long reads of Elastic Load Balancing may lag behind writes.
const ELB_SETTLING: Millis = Millis::seconds(15);

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

    #[test]
    fn every_sample_is_one_of_its_kind() {
        for entry in CATALOGUE {
            assert_eq!(entry.sample.check(), Ok(()), "{}", entry.sample.kind.name);
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
