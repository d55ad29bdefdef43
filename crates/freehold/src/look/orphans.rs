//! `freehold orphans`: what carries marks of a claim that is no object's here.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use cloud_port::words;
use controllers::land::{Ended, Item, Stock};
use controllers::reconcile::Claimant;
use controllers::registry::Future;
use ownership::mark::{self, Dialect, Named, OwnershipMark};
use ownership::{Claim, ClaimHash, Identity};
use serde::{Deserialize, Serialize};

use super::around::Around;

/// What is left of a claim that is no object's here.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Orphans {
    /// What the marks carry; none where only a served system's mark tells.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) claim: Option<String>,
    /// Whom a served system's marks name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) object: Option<String>,
    /// The management cluster that holds it; none where only a served system's mark tells.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) holder: Option<String>,
    /// Whether this management cluster may delete it.
    pub(super) ours: bool,
    /// What is left, place by place.
    pub(super) parts: BTreeMap<String, Vec<String>>,
    /// Why it is only shown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) untouched: Option<String>,
    /// Whom its marks name.
    #[serde(skip)]
    named: Option<Named>,
    /// Whether any of its marks is another management cluster's.
    #[serde(skip)]
    elsewhere: bool,
}

/// All of them, and what could not be looked at.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Found {
    /// By claim and holder.
    pub(super) orphans: Vec<Orphans>,
    /// What could not be looked at, and why.
    pub(super) unseen: Vec<String>,
    /// How many resources were looked at.
    pub(super) looked: usize,
    /// Where: accounts and regions.
    pub(super) places: Vec<String>,
}

/// Whom a group is about: a claim with its holder, or a name in a served system's words.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Whom {
    Claim(ClaimHash, String),
    Named(String),
}

/// Looks around: who claims may have changed since the last time.
pub(super) type Again<'a> = dyn Fn() -> Future<'a, anyhow::Result<Around>> + Send + Sync + 'a;

/// Looks for them everywhere.
///
/// # Errors
/// Nobody can look around.
pub(super) async fn find(again: &Again<'_>) -> anyhow::Result<(Found, Vec<Stock>)> {
    let mut around = again().await?;
    let stocks = around.stock(&|_| true).await;
    // To list everything takes a while: what belonged to anybody meanwhile is no orphan.
    around.claimants.extend(again().await?.claimants);
    let unseen = stocks.iter().flat_map(unseen);
    let found = Found {
        orphans: sorted(&around, &stocks),
        unseen: unseen.chain(around.closed.iter().cloned()).collect(),
        looked: stocks.iter().map(|stock| stock.items.len()).sum(),
        places: stocks.iter().map(|stock| stock.place.clone()).collect(),
    };
    Ok((found, stocks))
}

/// What could not be looked at in a place, and why.
fn unseen(stock: &Stock) -> impl Iterator<Item = String> {
    let here = stock.unseen.iter();
    here.map(|words| format!("{}: {words}", stock.place))
}

/// What is orphaned, by claim and holder.
fn sorted(around: &Around, stocks: &[Stock]) -> Vec<Orphans> {
    let mut groups: BTreeMap<Whom, Orphans> = BTreeMap::new();
    for stock in stocks {
        for item in &stock.items {
            sort(around, &stock.place, item, &mut groups);
        }
    }
    // Of whose claim another management cluster holds a part, nothing is ours to end (law 5).
    let held = groups.values().filter(|group| group.elsewhere);
    let held: BTreeSet<_> = held.filter_map(|group| group.claim.clone()).collect();
    for group in groups.values_mut() {
        let mut claim = group.claim.iter();
        if claim.any(|claim| held.contains(claim)) {
            let a_part = if group.elsewhere { "" } else { "a part of " };
            group.ours = false;
            group.untouched = Some(format!(
                "another management cluster holds {a_part}it, so nothing of it is touched here"
            ));
        }
        group.settle(&around.systems);
    }
    groups.into_values().collect()
}

/// Puts what is orphaned of a resource where it belongs.
fn sort(around: &Around, place: &str, item: &Item, groups: &mut BTreeMap<Whom, Orphans>) {
    let resource = &item.resource;
    let carrier = resource.kind.carrier;
    let marks = item.marks();
    let named = mark::named(carrier, &resource.tags);
    let owner = named.iter().find(|named| named.owns);
    for mark in &marks {
        if is_known(around, &mark.claim, owner) {
            continue;
        }
        let group = group(around, groups, mark);
        if marks.len() > 1 {
            group.ours = false;
            let words = "another claim's mark is on it, too: take off the wrong one by hand";
            group.untouched = Some(words.to_owned());
        }
        group.name(owner);
        let called = words::called(&item.target(), &resource.name);
        let mut users = around.claimants.iter();
        if let Some(user) = users.find(|user| user.uses.contains_key(&resource.id)) {
            let user = &user.object;
            group.ours = false;
            group.untouched = Some(format!(
                "{user} uses {called}, as its record or its fields say: it must let go first"
            ));
        }
        group.add(place, format!("{called} (slot {})", mark.slot));
        for (inner, key) in item.parts_of(&mark.claim) {
            let noun = resource.kind.inner(inner).map_or(inner, |inner| inner.noun);
            group.add(place, format!("{noun} {key} in {}", resource.name));
        }
    }
    // What a claim added to what is not its own.
    for mark in on_parts(item) {
        let claim = &mark.claim;
        let owned = marks.iter().any(|mark| mark.claim == *claim);
        if owned || is_known(around, claim, None) {
            continue;
        }
        let group = group(around, groups, &mark);
        for trace in item.traces(claim) {
            let on = words::called(&trace.on, &resource.name);
            group.add(place, format!("{} in {on}", words::trace(&trace)));
        }
    }
    // A served system's mark alone proves nothing: shown, never touched.
    let served = |owner: &&Named| around.systems.contains(&owner.system);
    let Some(owner) = owner.filter(served).filter(|_| marks.is_empty()) else {
        return;
    };
    let lives = |name: &str| {
        around
            .claimants
            .iter()
            .any(|claimant| claimant.cluster == name)
    };
    if !lives(&owner.name) {
        let group = groups.entry(Whom::Named(owner.to_string()));
        let group = group.or_insert_with(|| Orphans {
            claim: None,
            object: Some(owner.to_string()),
            holder: None,
            ours: false,
            parts: BTreeMap::new(),
            untouched: Some(
                "without a Freehold mark nobody can prove whose it is: delete it by hand"
                    .to_owned(),
            ),
            named: Some(owner.clone()),
            elsewhere: false,
        });
        group.add(place, words::called(&item.target(), &resource.name));
    }
}

/// The group of a mark's claim and holder.
fn group<'g>(
    around: &Around,
    groups: &'g mut BTreeMap<Whom, Orphans>,
    mark: &OwnershipMark,
) -> &'g mut Orphans {
    let whom = Whom::Claim(mark.claim.clone(), mark.holder.to_string());
    let group = groups.entry(whom).or_insert_with(|| Orphans {
        claim: Some(mark.claim.to_string()),
        object: None,
        holder: Some(mark.holder.to_string()),
        ours: true,
        parts: BTreeMap::new(),
        untouched: None,
        named: None,
        elsewhere: false,
    });
    group.elsewhere |= !around.holds(&mark.holder, mark.generation);
    group
}

/// Whether a claim's object is here.
fn is_known(around: &Around, claim: &ClaimHash, owner: Option<&Named>) -> bool {
    claimant(around, claim, owner).is_some()
}

/// A claim's object; where nobody can tell which claim an object is, whatever names it counts as its
/// own.
fn claimant<'a>(
    around: &'a Around,
    claim: &ClaimHash,
    owner: Option<&Named>,
) -> Option<&'a Claimant> {
    around
        .claimants
        .iter()
        .find(|claimant| match &claimant.claim {
            Some(other) => other == claim,
            None => owner.is_none_or(|owner| owner.name == claimant.cluster),
        })
}

/// The marks of claims on parts inside a resource, and those that name parts of it: of each claim and
/// holder the one of the highest generation.
pub(super) fn on_parts(item: &Item) -> Vec<OwnershipMark> {
    let carrier = item.resource.kind.carrier;
    let parts = item.inside.iter();
    let marks = parts.flat_map(|(_, part)| OwnershipMark::all(carrier, &part.tags));
    let named = mark::part_marks(carrier, &item.resource.tags);
    let mut marks: Vec<_> = marks.chain(named).collect();
    marks.sort_by_key(|mark| {
        let generation = Reverse(mark.generation);
        (mark.claim.clone(), mark.holder.clone(), generation)
    });
    marks.dedup_by_key(|mark| (mark.claim.clone(), mark.holder.clone()));
    marks
}

impl Orphans {
    fn name(&mut self, owner: Option<&Named>) {
        if self.object.is_none() {
            self.object = owner.map(ToString::to_string);
            self.named = owner.cloned();
        }
    }

    /// Whoever does not know the system's objects cannot say that one of them is gone: they may be
    /// served by a newer build.
    fn settle(&mut self, systems: &[&str]) {
        let named = self.named.as_ref();
        let known = named.is_some_and(|named| systems.contains(&named.system));
        if self.ours && !known {
            self.ours = false;
            let words = "its marks name no system whose objects are known here, so nobody here can \
                         say that its object is gone";
            self.untouched = Some(words.to_owned());
        }
    }

    /// Whether it may still be ended as it was shown, where `now` is there and `around` claims.
    ///
    /// # Errors
    /// What has changed.
    fn check(&self, claim: &ClaimHash, around: &Around, now: &[Stock]) -> Result<(), String> {
        if let Some(claimant) = claimant(around, claim, self.named.as_ref()) {
            let object = &claimant.object;
            return Err(match claimant.claim {
                Some(_) => format!("{object} is this claim: it was restored meanwhile"),
                None => format!(
                    "{object} is there again, and nobody can tell which claim it is: freehold \
                     explain says why"
                ),
            });
        }
        let all = sorted(around, now);
        let mut all = all.iter();
        let same = |other: &&Self| other.claim == self.claim && other.holder == self.holder;
        let Some(left) = all.find(same) else {
            return Ok(());
        };
        if let Some(words) = &left.untouched {
            return Err(words.clone());
        }
        for (place, parts) in &left.parts {
            let shown = self.parts.get(place);
            let new = |part: &&String| !shown.is_some_and(|shown| shown.contains(part));
            if let Some(part) = parts.iter().find(new) {
                return Err(format!("{part} has come since it was shown: look again"));
            }
        }
        Ok(())
    }

    fn add(&mut self, place: &str, part: String) {
        self.parts.entry(place.to_owned()).or_default().push(part);
    }

    /// Whose it was, in words.
    pub(super) fn whose(&self) -> String {
        let object = self.object.as_deref().unwrap_or("an object without a name");
        match (&self.claim, &self.holder) {
            (Some(claim), Some(holder)) => {
                format!("{object}: the claim {claim}, held by {holder}")
            }
            _ => format!("{object}, by a served system's mark alone"),
        }
    }
}

impl Found {
    /// For people.
    pub(super) fn text(&self) -> String {
        let mut text = String::new();
        // Writing to a string cannot fail.
        for orphans in &self.orphans {
            let _ = writeln!(text, "{}", orphans.whose());
            for (place, parts) in &orphans.parts {
                for part in parts {
                    let _ = writeln!(text, "  {part} in {place}");
                }
            }
            if let Some(words) = &orphans.untouched {
                let _ = writeln!(text, "  {words}");
            }
        }
        for words in &self.unseen {
            let _ = writeln!(text, "could not be looked at: {words}");
        }
        let looked = words::count(self.looked, "resource");
        let looked = format!("{looked} in {}", self.places.join(", "));
        let _ = match self.orphans.len() {
            0 => writeln!(text, "no orphans among {looked}"),
            claims => writeln!(text, "{} among {looked}", words::count(claims, "claim")),
        };
        text
    }
}

/// Ends a claim whose object is gone, wherever something of it is.
///
/// # Guarantees
/// Only what this management cluster holds, and only what was shown. Who claims is read again before
/// each try, and everything before it is deleted.
///
/// # Errors
/// Nobody can look around.
pub(super) async fn end(
    again: &Again<'_>,
    stocks: &[Stock],
    orphans: &Orphans,
) -> anyhow::Result<Vec<String>> {
    let claim = orphans.claim.as_deref().and_then(ClaimHash::parse);
    let Some(claim) = claim.filter(|_| orphans.ours) else {
        return Ok(vec![
            "it is not this management cluster's to end".to_owned(),
        ]);
    };
    let around = again().await?;
    let now = around.stock(&|_| true).await;
    let places = now.iter();
    let places = places.filter(|stock| orphans.parts.contains_key(&stock.place));
    let unseen: Vec<_> = places.flat_map(unseen).collect();
    if !unseen.is_empty() {
        // Whoever else has a part of it may be among that.
        let unseen = unseen.join("; ");
        return Ok(vec![format!(
            "nothing was done: could not be looked at: {unseen}"
        )]);
    }
    if let Err(why) = orphans.check(&claim, &around, &now) {
        return Ok(vec![why]);
    }
    let name = orphans.object.as_deref().unwrap_or("unknown");
    let Ok(gone) = Claim::gone("Gone.freehold.dev", name, &claim) else {
        return Ok(vec!["it cannot be named".to_owned()]);
    };
    let identity = Identity {
        claim: gone,
        holder: around.whose.holder.clone(),
        taken_over: around.whose.taken_over.clone(),
        dialect: Dialect::Plain,
    };
    let (claim, now) = (&claim, &now);
    let may = || -> Future<'_, Result<(), String>> {
        Box::pin(async move {
            let around = again().await.map_err(|error| format!("{error:#}"))?;
            orphans.check(claim, &around, now)
        })
    };
    let mut left = Vec::new();
    for place in orphans.parts.keys() {
        let land = around.lands.iter().find(|land| land.place() == place);
        let stock = stocks.iter().find(|stock| stock.place == *place);
        let (Some(land), Some(stock)) = (land, stock) else {
            left.push(format!("{place} cannot be entered any more"));
            continue;
        };
        if let Ended::NotAll(why) = land.end(&identity, stock, &may).await {
            left.extend(why);
        }
    }
    Ok(left)
}
