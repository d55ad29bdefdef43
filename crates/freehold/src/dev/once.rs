//! `freehold dev --once`: a cluster's life on a virtual clock, from plan to deletion.

use std::time::Duration;

use anyhow::{Context as _, bail, ensure};
use cloud_port::aws::security_group::{RULE, SECURITY_GROUP};
use cloud_port::driver::Plan;
use cloud_sim::Actor;
use console::style;
use controllers::kkp;
use controllers::registry::Which;
use k8s_openapi::api::events::v1::Event;
use kube::api::DeleteParams;
use ownership::mark::Tags;
use ownership::part::InnerPart;
use ownership::time::Millis;
use ownership::{ResourceId, Target, Text};
use tokio::sync::oneshot;
use tokio::time::{Instant, sleep};

use super::table;
use super::world::{DEMO, World};
use crate::census::Census;
use crate::clock::ProcessClock;
use crate::look::Seen;
use crate::{look, show};

/// How long anything may take, in virtual time.
const PATIENCE: Duration = Duration::from_hours(1);
/// How often it is looked at meanwhile.
const LOOK_EVERY: Duration = Duration::from_secs(1);
/// How long the cluster is left at rest.
/// Longer than the ledger takes to be closed.
const SETTLING: Duration = Duration::from_mins(2);
const REST: Duration = Duration::from_hours(2);

/// The rule that somebody removes by hand, and the one that somebody adds.
const REMOVED: &str = "ingress tcp 22-22 0.0.0.0/0";
const ADDED: &str = "ingress tcp 3306-3306 0.0.0.0/0";

/// Runs the demonstration; its last line is the summary.
pub(super) fn run() -> anyhow::Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .start_paused(true)
        .build()
        .context("the runtime")?;
    runtime.block_on(async {
        let began = "2026-01-01T00:00:00Z".parse().context("a constant")?;
        let world = World::new(ProcessClock::starting_at(began)).await?;
        let mut story = Story { world, told: 0 };
        story.tell().await
    })
}

struct Story {
    world: World,
    /// How many events have been shown.
    told: usize,
}

impl Story {
    async fn tell(&mut self) -> anyhow::Result<()> {
        self.world.create().await?;
        say::line!("{} {}", style("Freehold").bold(), env!("CARGO_PKG_VERSION"))?;
        let (object, plan) = self.sight().await?;
        say::line!(
            "{} on an embedded Kubernetes API and a simulated AWS account that others use too;\n\
             time is virtual, and nothing leaves this process.\n",
            object.name()
        )?;

        chapter(1, "Plan", "what would be done, and why")?;
        say::line!("{}\n", table::plan(&plan.now))?;

        chapter(2, "Create", "as the object's events tell it")?;
        let (stop, stopped) = oneshot::channel::<()>();
        let controllers = self.world.control(async {
            // Resolves when the sender is dropped.
            let _ = stopped.await;
        });
        let controllers = tokio::spawn(controllers);
        self.until_ready("Created", Instant::now()).await?;

        chapter(3, "Tree", "what belongs to whom, freshly read")?;
        let (object, plan) = self.sight().await?;
        let branches = look::branches(&object);
        say::line!("{}", show::tree(&branches))?;
        ensure!(plan.now.is_empty(), "there is still something to do");

        chapter(4, "Rest", "a converged cluster causes no write")?;
        self.rest().await?;

        chapter(5, "Drift", "somebody edits the security group by hand")?;
        self.drift().await?;

        chapter(6, "Delete", "in reverse order, and only on proof")?;
        self.delete().await?;
        drop(stop);
        controllers.await.context("the controllers")?;

        chapter(7, "Census", "by the simulation's record of who made what")?;
        self.count()
    }

    /// The cluster as people are shown it, and what would be done.
    async fn sight(&self) -> anyhow::Result<(Seen, Plan)> {
        let which = Which {
            name: Some(DEMO),
            namespace: None,
        };
        let seen = self.world.inspect(&kkp::ENTRY, which).await?;
        let [inspection] = &seen[..] else {
            bail!("{DEMO} is not there");
        };
        match &inspection.sight {
            Ok(sight) => Ok((Seen::new(inspection), sight.plan.clone())),
            Err(unseen) => bail!("{DEMO}: {:?}", unseen.0),
        }
    }

    /// Waits for `Ready`, and shows what was done since the last time; `what` came first.
    async fn until_ready(&mut self, what: &str, began: Instant) -> anyhow::Result<()> {
        let ready = loop {
            let ready = self.world.ready().await?;
            match ready {
                Some(ready) if ready.status == "True" => break ready,
                ready if began.elapsed() > PATIENCE => bail!("{DEMO} is not ready: {ready:?}"),
                _ => sleep(LOOK_EVERY).await,
            }
        };
        self.show_events().await?;
        let words = ready.message.unwrap_or_default();
        say::line!(
            "  {what} after {}; Ready: {words}\n",
            seconds(began.elapsed())
        )?;
        Ok(())
    }

    async fn rest(&mut self) -> anyhow::Result<()> {
        // Ready is told as soon as everything is there; rest begins when the ledger is closed.
        sleep(SETTLING).await;
        let (before, passes) = (self.writes().await?, self.world.passes());
        sleep(REST).await;
        let passes = self.world.passes() - passes;
        ensure!(passes > 0, "nobody looks after the cluster");
        ensure!(
            self.writes().await? == before,
            "something was written at rest"
        );
        say::line!(
            "  after {} and {passes} passes: no write to the cloud, none to the object, no event\n",
            seconds(REST)
        )?;
        Ok(())
    }

    /// How often the cloud and the object have been written to.
    async fn writes(&self) -> anyhow::Result<(u64, Option<String>, usize)> {
        let object = self.world.clusters().get(DEMO).await?;
        let writes = self.world.accounts.account().lock().counters().writes();
        let events = self.world.events().await?.len();
        Ok((writes, object.metadata.resource_version, events))
    }

    async fn drift(&mut self) -> anyhow::Result<()> {
        let group = ResourceId::new(self.world.group().await?);
        let group = Target::new(&SECURITY_GROUP, group);
        {
            let mut account = self.world.accounts.account().lock();
            let removed = [Text::from(REMOVED)];
            account.remove_parts(Actor::Stranger, &group, RULE, &removed)?;
            let added = InnerPart::new(ADDED, "", Tags::new());
            account.add_parts(Actor::Stranger, &group, RULE, &[added])?;
        }
        say::line!("  by hand: removed rule {REMOVED}")?;
        say::line!("  by hand: added rule {ADDED}, which is somebody else's and stays")?;
        let began = Instant::now();
        loop {
            let repaired = {
                let account = self.world.accounts.account().lock();
                let rules = account.parts(&group, RULE);
                let has = |key: &str| rules.iter().any(|rule| &*rule.key == key);
                has(REMOVED) && has(ADDED)
            };
            if repaired {
                break;
            }
            ensure!(began.elapsed() < PATIENCE, "the rules are not put right");
            sleep(LOOK_EVERY).await;
        }
        self.until_ready("Put right", began).await
    }

    async fn delete(&mut self) -> anyhow::Result<()> {
        let clusters = self.world.clusters();
        clusters.delete(DEMO, &DeleteParams::default()).await?;
        let began = Instant::now();
        while clusters.get_opt(DEMO).await?.is_some() {
            if began.elapsed() > PATIENCE {
                bail!("{DEMO} does not end: {:?}", self.world.ready().await?);
            }
            sleep(LOOK_EVERY).await;
        }
        self.show_events().await?;
        say::line!("  gone after {}\n", seconds(began.elapsed()))?;
        Ok(())
    }

    fn count(&self) -> anyhow::Result<()> {
        let census = Census::take(&self.world.accounts.account().lock());
        say::line!("touched of what is somebody else's: {}", census.thefts)?;
        say::line!(
            "created {}, deleted {}, orphans {}",
            census.created,
            census.deleted,
            census.orphans
        )?;
        ensure!(
            census.thefts == 0 && census.orphans == 0,
            "a law was broken: please report this"
        );
        Ok(())
    }

    async fn show_events(&mut self) -> anyhow::Result<()> {
        let events = self.world.events().await?;
        for event in events.iter().skip(self.told) {
            say::line!("  {}", line(event))?;
        }
        ensure!(events.len() > self.told, "no event tells what happened");
        self.told = events.len();
        Ok(())
    }
}

/// An event on one line.
pub(super) fn line(event: &Event) -> String {
    let note = event.note.as_deref().unwrap_or_default();
    let action = event.action.as_deref().unwrap_or_default();
    let reason = event.reason.as_deref().unwrap_or_default();
    match (event.type_.as_deref(), action) {
        (Some("Normal"), "report") => format!("{} {reason}: {note}", style("✓").green()),
        (Some("Normal"), verb) => format!("{} {} {note}", style("✓").green(), table::verb(verb)),
        _ => format!("{} {reason}: {note}", style("✗").red()),
    }
}

fn chapter(number: u8, title: &str, rest: &str) -> Result<(), say::Unheard> {
    say::line!("{}", table::heading(number, title, rest))
}

/// A time in words, in whole seconds.
fn seconds(span: Duration) -> Millis {
    Millis::seconds(span.as_secs())
}
