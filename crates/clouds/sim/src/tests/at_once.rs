//! Slots that do not depend on each other are filled at once: a blueprint takes as long as its longest
//! chain, not as long as all its slots.

use std::collections::BTreeSet;
use std::future::Future;
use std::pin::{Pin, pin};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker};

use cloud_port::driver::{Driver, InMemory, LedgerError, LedgerStore, NoJournal, PassEnd, Term};
use cloud_port::{Cloud, Deadline, Effect};
use ownership::blueprint::Expr;
use ownership::decide::Evidence;
use ownership::time::Tick;
use ownership::{
    Answer, Blueprint, Case, Edit, KindAt, Ledger, Phase, Query, Sightings, Step as OneStep,
};

use super::*;
use crate::SharedAccount;

const READ: Millis = Millis(100);
const CREATE: Millis = Millis(700);
const WRITE: Millis = Millis(20);

/// A clock, and whoever waits on it for a time.
#[derive(Clone)]
struct Time {
    clock: VirtualClock,
    due: Arc<Mutex<BTreeSet<Tick>>>,
}

impl Time {
    fn pass(&self, span: Millis) -> Passing {
        let until = self.clock.now() + span;
        self.due.lock().unwrap().insert(until);
        let clock = self.clock.clone();
        Passing { clock, until }
    }

    /// Lets time pass whenever everybody waits for it.
    fn run<T>(&self, future: impl Future<Output = T>) -> T {
        let mut future = pin!(future);
        loop {
            let mut context = Context::from_waker(Waker::noop());
            if let Poll::Ready(end) = future.as_mut().poll(&mut context) {
                return end;
            }
            let next = self.due.lock().unwrap().pop_first();
            let next = next.expect("somebody waits for something else than time");
            self.clock.advance(next - self.clock.now().min(next));
        }
    }
}

struct Passing {
    clock: VirtualClock,
    until: Tick,
}

impl Future for Passing {
    type Output = ();

    fn poll(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<()> {
        if self.clock.now() < self.until {
            return Poll::Pending;
        }
        Poll::Ready(())
    }
}

/// An account and a ledger that take their time; with the most calls that were under way at once.
struct Slow<T> {
    inner: T,
    time: Time,
    under_way: Mutex<(usize, usize)>,
}

impl<T> Slow<T> {
    fn new(inner: T, time: &Time) -> Self {
        Self {
            inner,
            time: time.clone(),
            under_way: Mutex::default(),
        }
    }

    async fn take(&self, span: Millis) {
        {
            let mut under_way = self.under_way.lock().unwrap();
            under_way.0 += 1;
            under_way.1 = under_way.1.max(under_way.0);
        }
        self.time.pass(span).await;
        self.under_way.lock().unwrap().0 -= 1;
    }
}

impl Cloud for Slow<SharedAccount> {
    async fn read(&self, query: &Query) -> Result<Answer, CloudError> {
        self.take(READ).await;
        self.inner.read(query).await
    }

    async fn perform(&self, step: &OneStep, by: Deadline<'_>) -> Result<Effect, CloudError> {
        self.take(CREATE).await;
        self.inner.perform(step, by).await
    }
}

impl LedgerStore for Slow<InMemory> {
    async fn load(&mut self) -> Result<Ledger, LedgerError> {
        self.inner.load().await
    }

    async fn write(&mut self, edits: &[Edit]) -> Result<(), LedgerError> {
        self.take(WRITE).await;
        self.inner.write(edits).await
    }
}

/// A slot of a Kind whose names are labels, within another one.
fn within(name: &str, parents: &[&str]) -> Slot {
    let kind: &'static Kind = Box::leak(Box::new(Kind {
        naming: Naming::Free,
        ..PLAIN
    }));
    let named = |name: &&str| SlotName::new(name).unwrap();
    let mut slot = Slot::own(named(&name), kind, format!("abc-{name}"));
    slot.props = vec![("size", Expr::Text("3".into()))];
    let first = parents.first().map(|parent| Expr::Slot(named(parent)));
    slot.props.extend(first.map(|parent| ("parent", parent)));
    slot.after = parents.iter().skip(1).map(named).collect();
    slot
}

/// How long it takes until a blueprint rests, and how many calls were under way at once.
fn made(slots: Vec<Slot>) -> (Millis, usize) {
    let kinds: Vec<&'static Kind> = slots.iter().map(|slot| slot.kind).collect();
    let clock = VirtualClock::new();
    let account = Account::new(Settings::default(), clock.clone()).with_kinds(&kinds);
    let due = Arc::default();
    let time = Time { clock, due };
    let cloud = Slow::new(SharedAccount::new(account, ENGINE), &time);
    let mut store = Slow::new(InMemory::default(), &time);
    let count = slots.len();
    let blueprint = Blueprint::new(slots).unwrap();
    let case = Case {
        identity: &identity(),
        blueprint: &blueprint,
        evidence: &Evidence::default(),
        kinds: &KindAt::home(&kinds),
        phase: Phase::Live,
    };
    let driver = Driver {
        rules: &Freehold,
        cloud: &cloud,
        clock: &time.clock,
        term: Term::alone(),
    };
    let began = time.clock.now();
    let mut sightings = Sightings::new();
    let mut journal = NoJournal;
    let pass = driver.pass(&case, &mut store, &mut sightings, &mut journal);
    let end = time.run(pass);
    let PassEnd::Rest(report, _) = end else {
        panic!("{end:?}");
    };
    assert_eq!(report.filled.len(), count, "{report:?}");
    let most = cloud.under_way.lock().unwrap().1;
    (time.clock.now() - began, most)
}

#[test]
fn a_blueprint_takes_as_long_as_its_longest_chain() {
    let chain = ["network", "zone-0", "gateway-0", "last"];
    let (alone, _) = made(vec![
        within(chain[0], &[]),
        within(chain[1], &[chain[0]]),
        within(chain[2], &[chain[1]]),
        within(chain[3], &[chain[2]]),
    ]);
    let mut slots = vec![within("network", &[]), within("table", &[])];
    for zone in 0..5 {
        let (zone, gateway) = (format!("zone-{zone}"), format!("gateway-{zone}"));
        slots.push(within(&zone, &["network"]));
        slots.push(within(&gateway, &[&zone, "table"]));
    }
    let gateways: Vec<String> = (0..5).map(|zone| format!("gateway-{zone}")).collect();
    let gateways: Vec<&str> = gateways.iter().map(String::as_str).collect();
    slots.push(within("last", &gateways));
    let (whole, most) = made(slots);
    assert!(
        whole.0 * 10 <= alone.0 * 12,
        "13 slots take {whole}, and the longest chain {alone}"
    );
    assert!(most >= 5, "at most {most} calls at once");
}

#[test]
fn a_claim_does_not_ask_for_everything_at_once() {
    let slots = (0..45).map(|nth| within(&format!("disk-{nth}"), &[]));
    let (_, most) = made(slots.collect());
    assert_eq!(most, 20);
}
