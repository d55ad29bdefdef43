//! The world of the demonstration: a simulated account, one KKP cluster, and its ledger.

use std::collections::BTreeSet;
use std::sync::MutexGuard;

use anyhow::{Context as _, bail};
use blueprints::kkp;
use cloud_port::driver::{Driver, InMemory, PassEnd, Planned, Report, Term};
use cloud_port::{Cloud as _, aws};
use cloud_sim::{Account, Actor, Settings, SharedAccount, VirtualClock};
use ownership::decide::{Case, Evidence, Phase};
use ownership::mark::Tags;
use ownership::part::Props;
use ownership::{
    Blueprint, Claim, Freehold, Holder, Identity, Ledger, Query, Sightings, Target, Text, Verdict,
};

use super::progress::Progress;
use crate::block_on::block_on;
use crate::show::Branch;
use cloud_port::words;

/// More passes than a cluster needs to converge or to end.
const PASSES: usize = 100;

const CLUSTER: &str = "demo";

/// Everything that the demonstration works with.
pub(crate) struct World {
    cloud: SharedAccount,
    clock: VirtualClock,
    identity: Identity,
    blueprint: Blueprint,
    evidence: Evidence,
    ledger: InMemory,
    sightings: Sightings,
}

impl World {
    /// An account that somebody else uses too, and a cluster that leaves everything to us.
    pub(crate) fn new() -> anyhow::Result<Self> {
        let clock = VirtualClock::new();
        let mut account = Account::new(Settings::default(), clock.clone());
        move_in(&mut account)?;
        let cluster = kkp::Cluster::new(CLUSTER);
        let uuid = "6f1c2a34-9b5d-4e07-8a61-2d3c4b5a6f70";
        let identity = Identity {
            claim: Claim::new("Cluster.kubermatic.k8c.io", "", CLUSTER, uuid)?,
            holder: Holder::of_cluster("freehold dev"),
            taken_over: BTreeSet::new(),
            dialect: cluster.dialect(),
        };
        let ledger = Ledger {
            ids: cluster.ids()?,
            ..Ledger::default()
        };
        Ok(Self {
            cloud: SharedAccount::new(account, Actor::Engine(0)),
            clock,
            identity,
            blueprint: cluster.blueprint()?,
            evidence: Evidence::default(),
            ledger: InMemory(ledger),
            sightings: Sightings::new(),
        })
    }

    /// The cluster's claim.
    pub(crate) fn claim(&self) -> &Claim {
        &self.identity.claim
    }

    /// The account itself, hidden provenance and all.
    pub(crate) fn account(&self) -> MutexGuard<'_, Account> {
        self.cloud.lock()
    }

    /// What would be done.
    pub(crate) fn plan(&self, phase: Phase) -> anyhow::Result<Vec<Planned>> {
        let case = case(&self.identity, &self.blueprint, &self.evidence, phase);
        let driver = driver(&self.cloud, &self.clock);
        let (plan, _) = block_on(driver.plan(&case, &self.ledger.0)).context("the plan")?;
        Ok(plan)
    }

    /// Passes until the cluster is at rest, or has ended.
    pub(crate) fn converge(
        &mut self,
        phase: Phase,
        progress: &mut Progress,
    ) -> anyhow::Result<Report> {
        let case = case(&self.identity, &self.blueprint, &self.evidence, phase);
        let driver = driver(&self.cloud, &self.clock);
        for _ in 0..PASSES {
            let pass = driver.pass(&case, &mut self.ledger, &mut self.sightings, progress);
            let end = block_on(pass);
            progress.check()?;
            match end {
                PassEnd::Rest(report) => match report.findings.first() {
                    None => return Ok(report),
                    Some(finding) => bail!("{finding}"),
                },
                PassEnd::Done => return Ok(Report::default()),
                PassEnd::Wait(until, reason, _) => {
                    let span = until - self.clock.now();
                    progress.waits(span, &reason);
                    self.clock.advance(span);
                }
                PassEnd::Failed(error, _) => bail!("the cloud: {error}"),
                PassEnd::Ledger(error) => bail!("the ledger: {error}"),
                PassEnd::NotNow => bail!("this process may not act now"),
            }
        }
        bail!("{} does not come to rest", self.identity.claim)
    }

    /// The cluster's parts with their verdicts.
    pub(crate) fn tree(&self, report: &Report) -> anyhow::Result<Vec<Branch>> {
        let claim = self.claim();
        let mut branches = vec![Branch {
            depth: 0,
            what: claim.to_string(),
            verdict: ("", String::new()),
        }];
        for filled in &report.filled {
            branches.push(Branch {
                depth: 1,
                what: self.name(&filled.target)?,
                verdict: words::verdict(&filled.verdict),
            });
            branches.extend(self.parts(&filled.target, &filled.verdict)?);
        }
        Ok(branches)
    }

    fn name(&self, target: &Target) -> anyhow::Result<String> {
        let answer = block_on(self.cloud.read(&Query::Id(target.clone())))?;
        let name = answer
            .resources
            .first()
            .map_or("", |resource| &*resource.name);
        Ok(match name {
            "" => words::resource(target),
            name if name == target.id.as_str() => words::resource(target),
            name => format!("{} {name}", words::resource(target)),
        })
    }

    /// What is inside a resource, and what we added to one that is not ours.
    fn parts(&self, target: &Target, verdict: &Verdict) -> anyhow::Result<Vec<Branch>> {
        let branch = |what, why: &str| Branch {
            depth: 2,
            what,
            verdict: ("Owned", why.to_owned()),
        };
        if !matches!(verdict, Verdict::Owned(_)) {
            let traces = self
                .ledger
                .0
                .traces
                .keys()
                .filter(|trace| trace.on == *target);
            return Ok(traces
                .map(|trace| branch(words::trace(trace), "added by us"))
                .collect());
        }
        let kind = aws::KINDS.iter().find(|kind| kind.name == target.kind);
        let mut branches = Vec::new();
        for inner in kind.iter().flat_map(|kind| kind.inner) {
            let query = Query::Inner {
                of: target.clone(),
                inner: inner.name,
            };
            for part in block_on(self.cloud.read(&query))?
                .inner
                .iter()
                .flat_map(|told| &told.parts)
            {
                let what = format!("{} {}", inner.noun, part.key);
                branches.push(branch(what, "inside what we own"));
            }
        }
        Ok(branches)
    }
}

/// Somebody else's resources, which must come to no harm.
fn move_in(account: &mut Account) -> anyhow::Result<()> {
    let vpc = account.default_vpc().context("the default VPC")?.id.text();
    let props: Props = [("vpc", vpc), ("description", Text::from("a web shop"))]
        .into_iter()
        .collect();
    let group = aws::security_group::SECURITY_GROUP.name;
    account.plant(Actor::Stranger, group, "web-shop", &props, &Tags::new())?;
    Ok(())
}

fn case<'a>(
    identity: &'a Identity,
    blueprint: &'a Blueprint,
    evidence: &'a Evidence,
    phase: Phase,
) -> Case<'a> {
    Case {
        identity,
        blueprint,
        evidence,
        kinds: &aws::KINDS,
        phase,
    }
}

fn driver<'a>(
    cloud: &'a SharedAccount,
    clock: &'a VirtualClock,
) -> Driver<'a, Freehold, SharedAccount, VirtualClock> {
    Driver {
        rules: &Freehold,
        cloud,
        clock,
        term: Term::alone(),
    }
}
