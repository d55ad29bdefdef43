//! The account as a whole: what it begins with, snapshots, and the port.

use std::pin::pin;
use std::task::{Context, Poll, Waker};

use cloud_port::aws::{security_group, subnet, vpc};
use cloud_port::{Cloud, Deadline};
use ownership::{Class, Place, Query, Step};

use super::*;
use crate::{AWS, IBM, Op, SharedAccount, Staleness, Throttle, World};

#[test]
fn a_new_account_has_a_default_vpc_with_its_furniture() {
    let account = account();
    let vpc = account.default_vpc().unwrap();
    assert_eq!(
        vpc.props,
        props(&[("cidr", "172.31.0.0/16"), ("default", "true")])
    );
    let zones: Vec<_> = account
        .alive(&subnet::SUBNET)
        .map(|s| s.props.get("cidr").unwrap().to_string())
        .collect();
    assert_eq!(zones, ["172.31.0.0/20", "172.31.16.0/20", "172.31.32.0/20"]);
    let table = account.resource(&main_route_table(&account)).unwrap();
    assert_eq!(
        table.props,
        props(&[("vpc", vpc.id.as_str()), ("main", "true")])
    );
    let group = account.alive(GROUP).next().unwrap();
    assert_eq!(&*group.name, security_group::DEFAULT_NAME);
    let group = Target::new(GROUP, group.id.clone());
    let rules = account.parts(&group, "rule").iter();
    let keys: Vec<&str> = rules.map(|rule| &*rule.key).collect();
    assert_eq!(keys, ["ingress all all self"]);
    assert!(
        account
            .lives()
            .all(|life| life.by == Actor::Cloud && life.is_alive())
    );
}

#[test]
fn an_account_without_a_default_vpc_is_empty() {
    let account = account_with(|settings| settings.default_vpc = false);
    assert_eq!(account.lives().count(), 0);
    assert!(account.default_vpc().is_none());
}

#[test]
fn a_new_vpc_has_a_main_route_table_and_a_default_group() {
    let mut account = account_with(|settings| settings.default_vpc = false);
    let vpc = perform(
        &mut account,
        &create(&vpc::VPC, "", &props(&[("cidr", "10.0.0.0/16")])),
    )
    .unwrap();
    let table = main_route_table(&account);
    assert_eq!(
        account.resource(&table).unwrap().props,
        props(&[("vpc", vpc.id.as_str()), ("main", "true")])
    );
    assert_eq!(account.life(&table).unwrap().by, Actor::Cloud);
    assert_eq!(account.alive(GROUP).count(), 1);
}

#[test]
fn a_snapshot_lives_on_by_itself() {
    let mut account = account();
    let group = new_group(&mut account, "g");
    let clock = VirtualClock::at(account.clock().now());
    let mut fork = account.fork(clock.clone());
    fork.delete(ENGINE, &group).unwrap();
    clock.advance(Millis::seconds(9));
    assert!(fork.resource(&group).is_none());
    assert!(account.resource(&group).is_some());
    assert!(account.deeds().is_empty());
    assert_eq!(
        fork.clock().now() - account.clock().now(),
        Millis::seconds(9)
    );
    let (a, b) = (new_group(&mut account, "h"), new_group(&mut fork, "h"));
    assert_eq!(a, b, "the same call after the same calls gives the same id");
}

/// The result of a future that never waits.
fn now<T>(future: impl Future<Output = T>) -> T {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(value) => value,
        Poll::Pending => panic!("the simulated account never waits"),
    }
}

#[test]
fn the_port_lags_as_the_settings_say_and_knows_its_actor() {
    let account = account_with(|settings| settings.lag.by_filter = Millis::seconds(1));
    let clock = account.clock().clone();
    let group = create(
        &security_group::SECURITY_GROUP,
        "g",
        &in_default_vpc(&account),
    );
    let cloud = SharedAccount::new(account, Actor::Engine(3));
    let born = now(cloud.perform(&Step::Create(group), Deadline::never()))
        .unwrap()
        .born
        .unwrap();
    let query = Query::Name {
        place: Place::HOME,
        kind: GROUP,
        name: text("g"),
        within: None,
    };
    assert!(now(cloud.read(&query)).unwrap().resources.is_empty());
    clock.advance(Millis::seconds(1));
    let other = cloud.as_actor(Actor::Engine(4));
    assert_eq!(now(other.read(&query)).unwrap().resources[0].id, born.id);
    let target = Target::new(GROUP, born.id.clone());
    assert_eq!(cloud.lock().life(&target).unwrap().by, Actor::Engine(3));
}

#[test]
fn the_strangers_calls_are_not_counted() {
    let mut account = account();
    let group = account
        .plant(
            Actor::Stranger,
            GROUP,
            "g",
            &in_default_vpc(&account),
            &Tags::new(),
        )
        .unwrap();
    account
        .tag(
            Actor::Stranger,
            std::slice::from_ref(&group),
            &pairs(&[("k", "v")]),
        )
        .unwrap();
    account.delete(Actor::Stranger, &group).unwrap();
    assert_eq!(account.counters().writes(), 0);
    account.read(&Query::Id(group), Staleness::Settled).unwrap();
    let called: Vec<_> = account.counters().iter().collect();
    assert_eq!(called.len(), 1);
    assert_eq!(account.counters().calls("DescribeSecurityGroups"), 1);
}

#[test]
fn law_9_every_code_of_the_account_has_its_class_in_the_error_tables() {
    let aws = cloud_port::aws::KINDS.into_iter().chain([&PLAIN_KIND]);
    let ibm = cloud_port::ibm::KINDS.into_iter().chain([&PLAIN_KIND]);
    let aws = aws.map(|kind| (kind, AWS.row(kind)));
    for (kind, row) in aws.chain(ibm.map(|kind| (kind, IBM.row(kind)))) {
        let class = |op: Op, code: &str| {
            let error = (row.service.error)(op.name(), code, "");
            let is_known = !error.message.contains("does not know");
            is_known.then_some(error.class)
        };
        assert_eq!(class(row.get, row.not_found), Some(Class::NotFound));
        if kind.naming != Naming::Free {
            assert_eq!(class(row.create, row.duplicate), Some(Class::Exists));
        }
        assert_eq!(class(row.create, row.over_quota), Some(Class::Fatal));
        assert_eq!(class(row.delete, row.blocked), Some(Class::Blocked(vec![])));
        assert_eq!(
            class(row.get, row.service.throttled),
            Some(Class::Throttled)
        );
        assert_eq!(class(row.create, row.service.invalid), Some(Class::Fatal));
        for at in 0..kind.inner.len() {
            let inner = row.inner(at);
            if kind.inner[at].create == CreateMode::Insert {
                assert_eq!(class(inner.add, inner.duplicate), Some(Class::Exists));
            }
            assert_eq!(class(inner.remove, inner.not_found), Some(Class::NotFound));
            assert!(class(inner.add, inner.full).is_some());
        }
    }
}

static PLAIN_KIND: Kind = PLAIN;

#[test]
fn a_world_has_accounts_and_regions_on_one_clock() {
    let clock = VirtualClock::new();
    let mut world = World::new(Settings::default(), clock.clone());
    let (here, there) = ("eu-central-1", "us-east-1");
    let mut open = |number, region| world.open(number, region, ENGINE);
    let (one, far, other) = (open("1", here), open("1", there), open("2", here));
    let group = new_group(&mut one.lock(), "g");
    let role = new_role(&mut far.lock(), "r");
    // A region has its own network; identities are the account's.
    assert_eq!(one.lock().alive(GROUP).count(), 2);
    assert_eq!(far.lock().alive(GROUP).count(), 1);
    assert!(far.lock().resource(&group).is_none());
    assert!(one.lock().resource(&role).is_some());
    assert_eq!(
        one.lock().lives().filter(|life| life.by == ENGINE).count(),
        2
    );
    assert_eq!(
        far.lock().lives().filter(|life| life.by == ENGINE).count(),
        1
    );
    // Accounts share nothing, not even an id.
    assert!(other.lock().resource(&role).is_none());
    let vpc = |cloud: &SharedAccount| cloud.lock().default_vpc().unwrap().id.clone();
    assert_ne!(vpc(&one), vpc(&far));
    assert_ne!(vpc(&one), vpc(&other));
    // Who opens it again sees what was there; time passes for all.
    assert!(open("1", here).lock().resource(&group).is_some());
    clock.advance(Millis::seconds(1));
    assert_eq!(other.lock().clock().now(), clock.now());
}

#[test]
fn each_region_is_throttled_by_itself_and_global_services_as_a_whole() {
    let settings = Settings {
        throttle: Some(Throttle {
            burst: 1,
            per_second: 1,
        }),
        ..Settings::default()
    };
    let mut world = World::new(settings, VirtualClock::new());
    let mut open = |region| world.open("1", region, ENGINE);
    let (here, there) = (open("eu-central-1"), open("us-east-1"));
    let asks = |cloud: &SharedAccount, kind| cloud.lock().survey(kind, Staleness::Settled).is_ok();
    assert!(asks(&here, &subnet::SUBNET) && asks(&there, &subnet::SUBNET));
    assert!(!asks(&here, &subnet::SUBNET));
    assert!(asks(&here, &role::ROLE) && !asks(&there, &role::ROLE));
}
