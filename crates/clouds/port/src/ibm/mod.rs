//! The Kinds of IBM Cloud.
//!
//! ```text
//! account ──┬── workspace ── Power network, with its DHCP server
//!           ├── transit gateway ── connections
//!           └── COS instance ── bucket
//! region ───┴── VPC ──┬── subnet
//!                     ├── security group ── rules
//!                     └── load balancer ── pools and listeners
//! ```
//!
//! A claim has two places there: the account, and a region of VPC. What lies in a workspace lies in the
//! account's place ([decision 20](../../../../../docs/decisions/0020-places-of-ibm-cloud.md)).

mod access;
pub mod cos_instance;
pub mod errors;
mod names;
pub mod power_network;
pub mod rule;
pub mod transit_gateway;
pub mod vpc;
pub mod vpc_load_balancer;
pub mod vpc_security_group;
pub mod vpc_subnet;
pub mod workspace;

pub use access::{Access, Accounts, IbmPlace};
pub use names::{CRN, NAME, RESOURCE_GROUP};

use ownership::Kind;
use ownership::kind::{
    BirthProof, Change, CreateMode, Ids, InnerKind, InnerProof, Marking, Naming, PropRule,
};
use ownership::life::{Course, Failed};
use ownership::mark::Carrier;
use ownership::name::{Alphabet, NameRule};
use ownership::time::Millis;

use self::errors::Service;
use crate::code::Code;
use crate::sample::Sample;

/// A Kind of IBM Cloud with what belongs to it.
#[derive(Clone, Copy, Debug)]
pub struct Entry {
    /// An example of it, with its declaration.
    pub sample: &'static Sample,
    /// The service that it belongs to.
    pub service: Service,
    /// The error codes that belong to it alone.
    pub codes: &'static [Code],
}

/// Every Kind of IBM Cloud.
pub const CATALOGUE: [Entry; 8] = [
    workspace::ENTRY,
    power_network::ENTRY,
    vpc::ENTRY,
    vpc_subnet::ENTRY,
    vpc_security_group::ENTRY,
    vpc_load_balancer::ENTRY,
    transit_gateway::ENTRY,
    cos_instance::ENTRY,
];

/// The declaration of every Kind of IBM Cloud.
pub const KINDS: [&Kind; CATALOGUE.len()] = {
    let mut kinds = [CATALOGUE[0].sample.kind; CATALOGUE.len()];
    let mut at = 0;
    while at < kinds.len() {
        kinds[at] = CATALOGUE[at].sample.kind;
        at += 1;
    }
    kinds
};

/// How long reads may lag behind writes. Tags are told by global tagging, and looked up by global search,
/// which takes in what has changed half a minute later at times.
const SETTLING: Millis = Millis::seconds(60);

/// What takes minutes to come and to go.
const SLOW: Course = Course {
    ask_every: Millis::seconds(20),
    lingers: true,
    ..Course::PLAIN
};

/// What takes its time and holds data, so that nobody replaces it.
const KEPT: Course = Course {
    failed: Failed::Reported,
    ..SLOW
};

/// What most Kinds here have in common: a mark is a call of its own, and the create call carries nothing
/// that is ours but the name.
const MARKED_LATER: Kind = Kind {
    name: "",
    noun: "",
    carrier: Carrier::IbmTags,
    birth: BirthProof::Circumstantial,
    token: None,
    create: CreateMode::Insert,
    marking: Marking::Mutable,
    // Global tagging attaches to a list of CRNs, whatever service they are of.
    tags_together: true,
    naming: Naming::Account,
    names: NameRule {
        longest: 63,
        alphabet: Alphabet::Label,
    },
    ids: Ids::Unique,
    has_creation_time: true,
    // Not the service tells them: one global search tells those of all.
    lists_marks: true,
    recorded: true,
    valuable: false,
    settling: SETTLING,
    course: Course::PLAIN,
    props: &[],
    inner: &[],
};

/// Instances of the resource controller: their tags ride on the create, and any number can have one name.
const INSTANCE: Kind = Kind {
    birth: BirthProof::Marks,
    naming: Naming::Free,
    names: NameRule::longest(180),
    valuable: true,
    course: KEPT,
    ..MARKED_LATER
};

/// Parts that carry no tags, and are known by a tag of what they are in.
const PART: InnerKind = InnerKind {
    name: "",
    noun: "",
    proof: InnerProof::ParentMark,
    create: CreateMode::Insert,
    blocks_deletion: false,
    batch: false,
    single: false,
    comes_along: &[],
    born_with: None,
    is_listed: false,
};

const fn fixed(name: &'static str) -> PropRule {
    PropRule {
        name,
        change: Change::Never,
    }
}

const fn given(name: &'static str) -> PropRule {
    PropRule {
        name,
        change: Change::Given,
    }
}

/// Says something about the create call only.
const fn of_the_call(name: &'static str) -> PropRule {
    PropRule {
        name,
        change: Change::Irrelevant,
    }
}

#[cfg(test)]
mod tests {
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

    /// Blueprints refer to each of them by its CRN, and look them up by their names.
    #[test]
    fn every_kind_tells_its_crn_and_its_name() {
        for kind in KINDS {
            for told in [CRN, NAME] {
                let mut props = kind.props.iter();
                let rule = props.find(|rule| rule.name == told);
                let given = rule.is_some_and(|rule| rule.change == Change::Given);
                assert!(given, "{} does not tell its {told}", kind.name);
            }
        }
    }
}
