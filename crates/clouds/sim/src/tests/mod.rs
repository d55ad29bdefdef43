//! What the simulated account does, asserted on the account itself.

mod at_once;
mod course;
mod create;
mod delete;
mod ibm;
mod inventory;
mod model;
mod network;
mod parts;
mod provenance;
mod reads;
mod tags;
mod world;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use cloud_port::aws::security_group::SECURITY_GROUP;
use cloud_port::aws::{instance_profile, internet_gateway, role, route_table};
use ownership::blueprint::Slot;
use ownership::kind::{
    BirthProof, Change, CreateMode, Ids, InnerKind, InnerProof, Kind, Marking, Naming, PropRule,
};
use ownership::life::Course;
use ownership::mark::{Carrier, Dialect, Tags};
use ownership::part::{InnerPart, Props, Resource};
use ownership::secret::Secrets;
use ownership::step::Create;
use ownership::time::Millis;
use ownership::verdict::{Identity, ReadStamp, judge};
use ownership::{
    Claim, CloudError, Freehold, Holder, Owned, Place, ResourceId, SlotName, Step, Target, Text,
    Verdict,
};

use crate::{Account, Actor, Settings, VirtualClock};

pub(super) const ENGINE: Actor = Actor::Engine(0);
pub(super) const GROUP: &Kind = &SECURITY_GROUP;
pub(super) const TRUST: &str = r#"{"Statement":[{"Effect":"Allow"}]}"#;

/// A synthetic Kind to vary.
pub(super) const PLAIN: Kind = Kind {
    name: "test/plain",
    noun: "thing",
    carrier: Carrier::AwsTags,
    birth: BirthProof::Marks,
    token: None,
    create: CreateMode::Insert,
    marking: Marking::Mutable,
    tags_together: true,
    naming: Naming::Account,
    names: ownership::name::NameRule::longest(255),
    ids: Ids::Unique,
    has_creation_time: false,
    lists_marks: true,
    recorded: true,
    valuable: false,
    settling: Millis::seconds(15),
    course: Course::PLAIN,
    props: &[
        PropRule {
            name: "size",
            change: Change::InPlace,
        },
        PropRule {
            name: "parent",
            change: Change::Never,
        },
    ],
    inner: &[InnerKind {
        name: "bit",
        noun: "bit",
        proof: InnerProof::ParentMark,
        create: CreateMode::Insert,
        blocks_deletion: false,
        batch: true,
        single: false,
        comes_along: &[],
        born_with: None,
        is_listed: true,
    }],
};

pub(super) fn account() -> Account {
    Account::new(Settings::default(), VirtualClock::new())
}

pub(super) fn account_with(change: impl FnOnce(&mut Settings)) -> Account {
    let mut settings = Settings::default();
    change(&mut settings);
    Account::new(settings, VirtualClock::new())
}

pub(super) fn text(text: &str) -> Text {
    text.into()
}

pub(super) fn props(pairs: &[(&'static str, &str)]) -> Props {
    pairs.iter().map(|(k, v)| (*k, text(v))).collect()
}

pub(super) fn tags(pairs: &[(&str, &str)]) -> Tags {
    self::pairs(pairs).into_iter().collect()
}

pub(super) fn pairs(pairs: &[(&str, &str)]) -> Vec<(Text, Text)> {
    pairs.iter().map(|(k, v)| (text(k), text(v))).collect()
}

pub(super) fn part(key: &str, value: &str) -> InnerPart {
    InnerPart::new(text(key), text(value), Tags::new())
}

pub(super) fn target(kind: &'static Kind, id: &str) -> Target {
    Target::new(kind, ResourceId::new(id))
}

pub(super) fn create(kind: &'static Kind, name: &str, props: &Props) -> Create {
    Create {
        place: Place::HOME,
        slot: SlotName::new("slot").unwrap(),
        kind,
        attempt: 1,
        name: text(name),
        props: props.clone(),
        secrets: Secrets::new(),
        tags: Tags::new(),
        token: None,
    }
}

pub(super) fn perform(account: &mut Account, create: &Create) -> Result<Arc<Resource>, CloudError> {
    let effect = account.perform(ENGINE, &Step::Create(create.clone()))?;
    Ok(effect.born.unwrap())
}

/// The properties of a group in the default VPC.
pub(super) fn in_default_vpc(account: &Account) -> Props {
    let vpc = account.default_vpc().unwrap().id.clone();
    props(&[("vpc", vpc.as_str()), ("description", "nodes")])
}

pub(super) fn new_group(account: &mut Account, name: &str) -> Target {
    let props = in_default_vpc(account);
    let born = perform(account, &create(&SECURITY_GROUP, name, &props)).unwrap();
    Target::new(GROUP, born.id.clone())
}

pub(super) fn new_role(account: &mut Account, name: &str) -> Target {
    let born = perform(
        account,
        &create(&role::ROLE, name, &props(&[("trust", TRUST)])),
    )
    .unwrap();
    Target::new(&role::ROLE, born.id.clone())
}

pub(super) fn new_profile(account: &mut Account, name: &str) -> Target {
    let kind = &instance_profile::INSTANCE_PROFILE;
    let born = perform(account, &create(kind, name, &Props::new())).unwrap();
    Target::new(kind, born.id.clone())
}

pub(super) fn new_gateway(account: &mut Account) -> Target {
    let kind = &internet_gateway::INTERNET_GATEWAY;
    let born = perform(account, &create(kind, "", &Props::new())).unwrap();
    Target::new(kind, born.id.clone())
}

pub(super) fn main_route_table(account: &Account) -> Target {
    let tables: Vec<_> = account.alive(&route_table::ROUTE_TABLE).collect();
    assert_eq!(tables.len(), 1);
    Target::new(&route_table::ROUTE_TABLE, tables[0].id.clone())
}

pub(super) fn code(result: Result<impl std::fmt::Debug, CloudError>) -> String {
    result.unwrap_err().code.to_string()
}

/// Somebody with a claim of their own.
pub(super) fn identity() -> Identity {
    let uuid = "b0b3f3c0-5c7a-4b0e-9a53-3f6f0f3c9c11";
    Identity {
        claim: Claim::new("Cluster.kubermatic.k8c.io", "", "abc", uuid).unwrap(),
        holder: Holder::of_cluster("here"),
        taken_over: BTreeMap::new(),
        dialect: Dialect::Kkp {
            cluster: text("abc"),
        },
    }
}

/// The tags that make a resource the claim's.
pub(super) fn marks(kind: &'static Kind) -> Tags {
    let slot = Slot::own(SlotName::new("slot").unwrap(), kind, "x");
    let tags = identity().ownership_tags(kind, &slot, 1).unwrap();
    tags.into_iter().collect()
}

/// The proof that a marked resource is the claim's.
pub(super) fn owned(account: &Account, kind: &'static Kind, target: &Target) -> Owned {
    let resource = account.resource(target).unwrap();
    let read = ReadStamp {
        at: account.clock().now(),
        fresh: true,
    };
    match judge(&Freehold, &identity(), kind, resource, read) {
        Verdict::Owned(owned) => owned,
        other => panic!("not owned: {other:?}"),
    }
}
