//! A place: one simulated account with many KKP clusters, visited as an operator visits them.

use std::collections::BTreeMap;

use blueprints::kkp::Cluster;
use cloud_port::driver::{Driver, InMemory, Journal, PassEnd, Rested, Term};
use cloud_port::{Inventory, Survey, aws};
use cloud_sim::{Account, Actor, Counters, Quotas, Settings, SharedAccount, VirtualClock};
use futures_util::FutureExt as _;
use ownership::decide::{Case, Evidence, Phase};
use ownership::mark::Tags;
use ownership::part::Props;
use ownership::time::Millis;
use ownership::{
    Blueprint, Claim, CloudError, Freehold, Holder, Identity, Kind, KindAt, Ledger, Reason,
    Sightings, Step, Text,
};

/// How often claims at rest are visited.
pub(crate) const RESYNC: Millis = Millis::seconds(300);
/// AWS has 50 tags a resource, and each cluster puts one on its network.
pub(crate) const TO_A_VPC: usize = 40;

/// One account and its clusters.
pub(crate) struct Place<C> {
    pub(crate) account: SharedAccount,
    pub(crate) inventory: Inventory<C>,
    pub(crate) tenants: Vec<Tenant>,
}

/// One cluster.
pub(crate) struct Tenant {
    pub(crate) wants: Wants,
    pub(crate) ledger: InMemory,
    pub(crate) sightings: Sightings,
    pub(crate) rested: Rested,
}

/// Who it is, and what it wants.
pub(crate) struct Wants {
    identity: Identity,
    blueprint: Blueprint,
    evidence: Evidence,
    kinds: Vec<KindAt>,
}

/// What the cloud was asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Calls {
    pub(crate) reads: u64,
    pub(crate) writes: u64,
    pub(crate) by_operation: Vec<(&'static str, u64)>,
}

/// How many Steps there were.
#[derive(Default)]
pub(crate) struct Steps(pub(crate) usize);

impl Journal for Steps {
    fn step(&mut self, _: &Step, _: &Reason, _: Result<(), &CloudError>) {
        self.0 += 1;
    }
}

impl<C: Survey> Place<C> {
    /// An account with so many clusters, which nobody has visited yet. `cloud` is what the operator
    /// sees of the account.
    pub(crate) fn new(clusters: usize, cloud: impl FnOnce(SharedAccount) -> C) -> Self {
        let settings = Settings {
            quotas: Quotas::default()
                .resources(&aws::vpc::VPC, 1000)
                .resources(&aws::security_group::SECURITY_GROUP, 100_000)
                .resources(&aws::role::ROLE, 100_000)
                .resources(&aws::instance_profile::INSTANCE_PROFILE, 100_000),
            ..Settings::default()
        };
        let mut account = Account::new(settings, VirtualClock::new());
        let mut tenants = Vec::with_capacity(clusters);
        let mut vpc = None;
        for number in 0..clusters {
            if number > 0 && number % TO_A_VPC == 0 {
                vpc = Some(new_vpc(&mut account, number / TO_A_VPC));
            }
            tenants.push(Tenant::new(number, vpc.clone()));
        }
        let account = SharedAccount::new(account, Actor::Engine(0));
        Self {
            inventory: Inventory::new(cloud(account.clone()), &aws::KINDS),
            account,
            tenants,
        }
    }

    /// Visits one cluster.
    pub(crate) fn visit(&mut self, tenant: usize, phase: Phase) -> (PassEnd, usize) {
        let clock = self.account.lock().clock().clone();
        self.tenants[tenant].visit(&self.inventory, &clock, phase)
    }

    /// Visits one cluster until there is nothing more to do.
    pub(crate) fn converge(&mut self, tenant: usize, phase: Phase) {
        for _ in 0..100 {
            match self.visit(tenant, phase).0 {
                PassEnd::Rest(report, None) => {
                    assert_eq!(report.findings, []);
                    return;
                }
                PassEnd::Rest(_, Some(until)) => {
                    let account = self.account.lock();
                    let span = until - account.clock().now();
                    account.clock().advance(span);
                }
                PassEnd::Done(_) => return,
                PassEnd::Wait(until, ..) => {
                    let account = self.account.lock();
                    let span = until - account.clock().now();
                    account.clock().advance(span);
                }
                other => panic!("{other:?}"),
            }
        }
        panic!("cluster {tenant} does not come to rest");
    }

    /// The next time at which all are visited comes. Returns what that cost, and which of them had
    /// Steps or did not come to rest.
    pub(crate) fn resync(&mut self) -> (Calls, Vec<usize>) {
        let before = {
            let account = self.account.lock();
            let now = account.clock().now();
            account.clock().advance(Millis(RESYNC.0 - now.0 % RESYNC.0));
            account.counters().clone()
        };
        let mut busy = Vec::new();
        for tenant in 0..self.tenants.len() {
            let (end, steps) = self.visit(tenant, Phase::Live);
            if steps > 0 || !matches!(end, PassEnd::Rest(..)) {
                busy.push(tenant);
            }
        }
        (self.calls_since(&before), busy)
    }

    /// What the cloud was asked since.
    pub(crate) fn calls_since(&self, before: &Counters) -> Calls {
        let now = self.account.lock().counters().clone();
        let called = now.iter().map(|(op, n)| (op.name(), n));
        let more = called.map(|(op, n)| (op, n - before.calls(op)));
        Calls {
            reads: now.reads() - before.reads(),
            writes: now.writes() - before.writes(),
            by_operation: more.filter(|(_, n)| *n > 0).collect(),
        }
    }
}

impl Tenant {
    fn new(number: usize, vpc: Option<String>) -> Self {
        let name = format!("c{number:04}");
        let uuid = format!("6f1c2a34-9b5d-4e07-8a61-{number:012x}");
        let cluster = Cluster {
            vpc_id: vpc,
            ..Cluster::new(&name)
        };
        let ledger = Ledger {
            ids: cluster.ids().expect("legal ids"),
            ..Ledger::default()
        };
        let identity = Identity {
            claim: Claim::new("Cluster.kubermatic.k8c.io", "", &name, &uuid).expect("legal"),
            holder: Holder::of_cluster("management"),
            taken_over: BTreeMap::new(),
            dialect: cluster.dialect(),
        };
        Self {
            wants: Wants {
                identity,
                blueprint: cluster.blueprint().expect("a legal cluster"),
                evidence: Evidence::default(),
                kinds: KindAt::home(&aws::KINDS),
            },
            ledger: InMemory(ledger),
            sightings: Sightings::new(),
            rested: Rested::default(),
        }
    }

    fn visit<C: Survey>(
        &mut self,
        inventory: &Inventory<C>,
        clock: &VirtualClock,
        phase: Phase,
    ) -> (PassEnd, usize) {
        let mut steps = Steps::default();
        let end = driver(inventory, clock)
            .visit(
                &self.wants.case(phase),
                &mut self.ledger,
                &mut self.sightings,
                &mut self.rested,
                &mut steps,
            )
            .now_or_never();
        (end.expect("a simulated cloud answers at once"), steps.0)
    }
}

impl Wants {
    pub(crate) fn case(&self, phase: Phase) -> Case<'_> {
        Case {
            identity: &self.identity,
            blueprint: &self.blueprint,
            evidence: &self.evidence,
            kinds: &self.kinds,
            phase,
        }
    }
}

/// The driver of the only process there is.
pub(crate) fn driver<'a, C>(cloud: &'a C, clock: &'a VirtualClock) -> Driver<'a, C, VirtualClock> {
    Driver {
        rules: &Freehold,
        cloud,
        clock,
        term: Term::alone(),
    }
}

/// Somebody makes another network.
fn new_vpc(account: &mut Account, number: usize) -> String {
    let mut plant = |kind: &'static Kind, props: &[(&'static str, &str)]| {
        let props: Props = props.iter().map(|(k, v)| (*k, Text::from(*v))).collect();
        let planted = account.plant(Actor::Stranger, kind, "", &props, &Tags::new());
        planted.expect("there is room for it").id.to_string()
    };
    let vpc = plant(&aws::vpc::VPC, &[("cidr", &format!("10.{number}.0.0/16"))]);
    for (at, zone) in ["zone-a", "zone-b", "zone-c"].iter().enumerate() {
        let cidr = format!("10.{number}.{}.0/20", 16 * at);
        plant(
            &aws::subnet::SUBNET,
            &[("vpc", &vpc), ("cidr", &cidr), ("zone", zone)],
        );
    }
    vpc
}
