//! Everything that can be seen from here: who claims, and what is in their accounts.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::{Context as _, bail};
use controllers::land::{Item, Land, Stock};
use controllers::reconcile::Claimant;
use controllers::registry::{self, Clouds};
use kube::Client;
use ownership::part::Resource;
use ownership::{ClaimHash, Holder};

use super::{Whose, road};
use crate::clock::ProcessClock;
use crate::operator::systems::is_installed;

/// Who claims, and where.
pub(crate) struct Around {
    /// Every object of every served kind that is installed.
    pub(super) claimants: Vec<Claimant>,
    /// The places of their resources, each once.
    pub(super) lands: Vec<Box<dyn Land>>,
    /// Whose place could not be entered, and why.
    pub(super) closed: Vec<String>,
    /// The systems whose kinds are installed.
    pub(super) systems: Vec<&'static str>,
    /// The management cluster that asks.
    pub(super) whose: Whose,
}

impl Around {
    /// Looks around, in the places of all objects and in these regions.
    ///
    /// # Errors
    /// The management cluster could not be asked.
    pub(crate) async fn look<C: Clouds>(
        clouds: &C,
        client: &Client,
        clock: ProcessClock,
        whose: Whose,
        regions: &[String],
    ) -> anyhow::Result<Self> {
        let mut around = Self {
            claimants: Vec::new(),
            lands: Vec::new(),
            closed: Vec::new(),
            systems: Vec::new(),
            whose,
        };
        for entry in registry::ENTRIES {
            let installed = is_installed(client, entry).await;
            if !installed.map_err(anyhow::Error::msg)? {
                continue;
            }
            around.systems.push(entry.name);
            let road = road(client.clone(), clock, around.whose.clone());
            let roll = registry::system(entry, clouds).roll(road).await;
            let roll = roll.with_context(|| format!("the objects of {}", entry.definition()))?;
            around.claimants.extend(roll.claimants);
            around.closed.extend(roll.closed);
            for land in roll.lands {
                around.enter(land);
            }
        }
        for region in regions {
            match registry::land(clouds, region).await {
                Ok(land) => around.enter(land),
                Err(error) => bail!("--region {region}: {error}"),
            }
        }
        if around.lands.is_empty() {
            let closed = around.closed.join("; ");
            if around.closed.is_empty() {
                bail!("no object leads to an account: name a region with --region");
            }
            bail!("no account can be entered: {closed}");
        }
        Ok(around)
    }

    fn enter(&mut self, land: Box<dyn Land>) {
        let mut known = self.lands.iter().map(|land| land.place());
        if !known.any(|place| place == land.place()) {
            self.lands.push(land);
        }
    }

    /// Everything in every place. What belongs to an account and to none of its regions is in the
    /// first of them only.
    pub(super) async fn stock(
        &self,
        is_asked_for: &(dyn Fn(&Resource) -> bool + Sync),
    ) -> Vec<Stock> {
        let mut seen = BTreeSet::new();
        let mut stocks = Vec::new();
        for land in &self.lands {
            let mut stock = land.stock(is_asked_for).await;
            stock.items.retain(|Item { resource, .. }| {
                let unique = resource.unique.clone();
                unique.is_none_or(|unique| seen.insert((resource.kind, unique)))
            });
            stocks.push(stock);
        }
        stocks
    }

    /// The object of a claim, where it is here.
    pub(super) fn object(&self, claim: &ClaimHash) -> Option<&str> {
        let mut all = self.claimants.iter();
        let found = all.find(|claimant| claimant.claim.as_ref() == Some(claim));
        found.map(|claimant| claimant.object.as_str())
    }

    /// Whether this management cluster holds what another one has marked.
    pub(super) fn holds(&self, holder: &Holder, generation: u32) -> bool {
        let taken: &BTreeMap<Holder, u32> = &self.whose.taken_over;
        *holder == self.whose.holder || taken.get(holder).is_some_and(|upto| generation <= *upto)
    }
}
