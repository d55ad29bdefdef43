//! `freehold orphans`: what carries marks of a claim that is no object's here.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use cloud_port::words;
use controllers::land::{Ended, Item, Stock};
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
    /// The system that its marks name.
    #[serde(skip)]
    system: Option<&'static str>,
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
}

/// Whom a group is about: a claim with its holder, or a name in a served system's words.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Whom {
    Claim(ClaimHash, String),
    Named(String),
}

/// Looks for them everywhere.
pub(super) async fn find(around: &Around) -> (Found, Vec<Stock>) {
    let stocks = around.stock(&|_| true).await;
    let mut groups: BTreeMap<Whom, Orphans> = BTreeMap::new();
    for stock in &stocks {
        for item in &stock.items {
            sort(around, &stock.place, item, &mut groups);
        }
    }
    for group in groups.values_mut() {
        group.settle(&around.systems);
    }
    let unseen = stocks.iter().flat_map(|stock| {
        let here = stock.unseen.iter();
        here.map(|words| format!("{}: {words}", stock.place))
    });
    let found = Found {
        orphans: groups.into_values().collect(),
        unseen: unseen.chain(around.closed.iter().cloned()).collect(),
        looked: stocks.iter().map(|stock| stock.items.len()).sum(),
    };
    (found, stocks)
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
            system: Some(owner.system),
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
    let held = around.holds(&mark.holder, mark.generation);
    groups.entry(whom).or_insert_with(|| Orphans {
        claim: Some(mark.claim.to_string()),
        object: None,
        holder: Some(mark.holder.to_string()),
        ours: held,
        parts: BTreeMap::new(),
        untouched: (!held).then(|| {
            "another management cluster holds it, so nothing of it is touched here".to_owned()
        }),
        system: None,
    })
}

/// Whether a claim's object is here; where nobody can tell which claim an object is, whatever names it
/// counts as its own.
fn is_known(around: &Around, claim: &ClaimHash, owner: Option<&Named>) -> bool {
    around
        .claimants
        .iter()
        .any(|claimant| match &claimant.claim {
            Some(other) => other == claim,
            None => owner.is_none_or(|owner| owner.name == claimant.cluster),
        })
}

/// The marks of claims on parts inside a resource, and those that name parts of it.
fn on_parts(item: &Item) -> Vec<OwnershipMark> {
    let carrier = item.resource.kind.carrier;
    let parts = item.inside.iter();
    let marks = parts.flat_map(|(_, part)| OwnershipMark::all(carrier, &part.tags));
    let named = mark::part_marks(carrier, &item.resource.tags);
    let mut marks: Vec<_> = marks.chain(named).collect();
    marks.sort_by_key(|mark| (mark.claim.clone(), mark.holder.clone()));
    marks.dedup_by_key(|mark| (mark.claim.clone(), mark.holder.clone()));
    marks
}

impl Orphans {
    fn name(&mut self, owner: Option<&Named>) {
        if self.object.is_none() {
            self.object = owner.map(ToString::to_string);
            self.system = owner.map(|owner| owner.system);
        }
    }

    /// Whoever does not know the system's objects cannot say that one of them is gone: they may be
    /// served by a newer build.
    fn settle(&mut self, systems: &[&str]) {
        let known = self.system.is_some_and(|system| systems.contains(&system));
        if self.ours && !known {
            self.ours = false;
            let words = "its marks name no system whose objects are known here, so nobody here can \
                         say that its object is gone";
            self.untouched = Some(words.to_owned());
        }
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
/// Only what this management cluster holds. Who claims is read again first, and everything before it
/// is deleted.
pub(super) async fn end(around: &Around, stocks: &[Stock], orphans: &Orphans) -> Vec<String> {
    let claim = orphans.claim.as_deref().and_then(ClaimHash::parse);
    let Some(claim) = claim.filter(|_| orphans.ours) else {
        return vec!["it is not this management cluster's to end".to_owned()];
    };
    if let Some(object) = around.object(&claim) {
        return vec![format!("{object} is this claim: it was restored meanwhile")];
    }
    let name = orphans.object.as_deref().unwrap_or("unknown");
    let Ok(gone) = Claim::gone("Gone.freehold.dev", name, &claim) else {
        return vec!["it cannot be named".to_owned()];
    };
    let identity = Identity {
        claim: gone,
        holder: around.whose.holder.clone(),
        taken_over: around.whose.taken_over.clone(),
        dialect: Dialect::Plain,
    };
    let mut left = Vec::new();
    for land in &around.lands {
        let here = stocks.iter().find(|stock| stock.place == land.place());
        let Some(stock) = here.filter(|stock| orphans.parts.contains_key(&stock.place)) else {
            continue;
        };
        if let Ended::NotAll(why) = land.end(&identity, stock).await {
            left.extend(why);
        }
    }
    left
}
