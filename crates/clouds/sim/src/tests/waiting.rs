//! A claim that waits for what is coming asks for nothing else, until it has come or the claim has changed.

use cloud_port::driver::{Driver, InMemory, NoJournal, PassEnd, Rested, Term};
use cloud_port::inventory::Inventory;
use futures_util::FutureExt as _;
use ownership::blueprint::Expr;
use ownership::decide::Evidence;
use ownership::time::Tick;
use ownership::{Blueprint, Case, KindAt, Phase, Sightings};

use super::*;
use crate::{Pace, SharedAccount};

static QUICK: Kind = Kind {
    name: "test/quick",
    naming: Naming::Free,
    ..PLAIN
};

static SLOW: Kind = Kind {
    name: "test/slow",
    naming: Naming::Free,
    ..PLAIN
};

/// A network, a gateway in it that takes its time, and a table that needs the gateway.
struct Claim {
    account: SharedAccount,
    clock: VirtualClock,
    inventory: Inventory<SharedAccount>,
    blueprint: Blueprint,
    ledger: InMemory,
    sightings: Sightings,
    rested: Rested,
}

fn blueprint(size: &str) -> Blueprint {
    let name = |name| SlotName::new(name).unwrap();
    let slot = |it, kind, within: Option<&'static str>| {
        let mut slot = Slot::own(name(it), kind, format!("abc-{it}"));
        slot.props = vec![("size", Expr::Text(size.into()))];
        let parent = within.map(|parent| ("parent", Expr::Slot(name(parent))));
        slot.props.extend(parent);
        slot
    };
    Blueprint::new(vec![
        slot("network", &QUICK, None),
        slot("gateway", &SLOW, Some("network")),
        slot("table", &QUICK, Some("gateway")),
    ])
    .unwrap()
}

impl Claim {
    /// The gateway takes so many seconds. Everything that can be made by then is.
    fn new(seconds: u64) -> Self {
        let pace = Pace {
            comes: Millis::seconds(seconds),
            ..Pace::default()
        };
        let account = account_with(|settings| settings.paces = vec![(&SLOW, pace)]);
        let account = account.with_kinds(&[&QUICK, &SLOW]);
        let clock = account.clock().clone();
        let account = SharedAccount::new(account, ENGINE);
        let mut claim = Self {
            inventory: Inventory::new(account.clone(), &[&QUICK, &SLOW]),
            account,
            clock,
            blueprint: blueprint("3"),
            ledger: InMemory::default(),
            sightings: Sightings::new(),
            rested: Rested::default(),
        };
        assert!(claim.waits());
        assert_eq!(claim.lives(), 2);
        claim
    }

    fn visit(&mut self) -> PassEnd {
        let case = Case {
            identity: &identity(),
            blueprint: &self.blueprint,
            evidence: &Evidence::default(),
            kinds: &KindAt::home(&[&QUICK, &SLOW]),
            phase: Phase::Live,
        };
        let driver = Driver {
            rules: &Freehold,
            cloud: &self.inventory,
            clock: &self.clock,
            term: Term::alone(),
        };
        let (ledger, sightings, rested) = (&mut self.ledger, &mut self.sightings, &mut self.rested);
        let mut nobody = NoJournal;
        let visit = driver.visit(&case, ledger, sightings, rested, &mut nobody);
        visit.now_or_never().unwrap()
    }

    /// Visits it, and lets the time pass that it waits for.
    fn waits(&mut self) -> bool {
        match self.visit() {
            PassEnd::Wait(until, ..) => {
                self.clock.advance(until - self.clock.now());
                true
            }
            PassEnd::Rest(..) => false,
            end => panic!("{end:?}"),
        }
    }

    fn lives(&self) -> usize {
        let account = self.account.lock();
        account
            .lives()
            .filter(|life| life.is_alive() && life.by == ENGINE)
            .count()
    }

    fn calls(&self) -> u64 {
        let account = self.account.lock();
        account.counters().reads() + account.counters().writes()
    }

    fn one(&self, kind: &'static Kind) -> Target {
        let account = self.account.lock();
        account.alive(kind).next().unwrap().target()
    }
}

#[test]
fn only_what_is_coming_is_asked_for() {
    let mut claim = Claim::new(100);
    let before = claim.calls();
    let mut visits = 0;
    while claim.clock.now() < Tick(100_000) {
        assert!(claim.waits());
        visits += 1;
    }
    assert_eq!(visits, 6);
    assert_eq!(claim.calls() - before, visits);
    assert!(!claim.waits());
    assert_eq!(claim.lives(), 3);
}

#[test]
fn what_does_not_come_any_more_is_made_again() {
    let mut claim = Claim::new(100);
    let gateway = claim.one(&SLOW);
    claim
        .account
        .lock()
        .delete(Actor::Stranger, &gateway)
        .unwrap();
    for _ in 0..20 {
        if !claim.waits() {
            break;
        }
    }
    assert_eq!(claim.lives(), 3);
    assert_ne!(claim.one(&SLOW), gateway);
}

#[test]
fn another_wish_is_followed_at_once() {
    let mut claim = Claim::new(1000);
    claim.blueprint = blueprint("4");
    assert!(claim.waits());
    let network = claim.one(&QUICK);
    let account = claim.account.lock();
    let resource = account.resource(&network).unwrap();
    assert_eq!(resource.props.get("size"), Some(&text("4")));
}

#[test]
fn nobody_waits_for_long_without_a_look_at_everything() {
    let mut claim = Claim::new(1000);
    let network = claim.one(&QUICK);
    let other = props(&[("size", "9")]);
    claim
        .account
        .lock()
        .update(Actor::Stranger, &network, &other)
        .unwrap();
    let is_right = |claim: &Claim| {
        let account = claim.account.lock();
        let resource = account.resource(&network).unwrap();
        resource.props.get("size") == Some(&text("3"))
    };
    while !is_right(&claim) {
        assert!(claim.clock.now() <= Tick(330_000), "nobody looks");
        assert!(claim.waits());
    }
}
