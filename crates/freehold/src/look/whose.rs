//! `freehold whose`: whose a resource is, and by which marks.

use std::fmt::Write as _;

use cloud_port::words;
use controllers::land::{Item, Stock};
use ownership::mark::{self, OwnershipMark};
use ownership::part::Resource;
use serde::{Deserialize, Serialize};

use super::around::Around;

/// What there is to say of something that was asked for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Told {
    /// What was asked for.
    pub(super) asked: String,
    /// What it is: `security group sg-1 kubernetes-demo`; none where there is nothing of that id or
    /// name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) resource: Option<String>,
    /// The account and region.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) place: Option<String>,
    /// Whose it is, in one word: `Owned`, `Used`, `Foreign`, `Disputed`, `Unmarked`, `Absent`.
    pub(super) verdict: String,
    /// Whose it is, by which marks, and what can be done.
    pub(super) because: Vec<String>,
}

impl Told {
    /// For people.
    pub(super) fn text(&self) -> String {
        let mut text = String::new();
        let what = self.resource.as_deref().unwrap_or(&self.asked);
        let place = self.place.as_deref().map(|place| format!(" in {place}"));
        let place = place.unwrap_or_default();
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{what}{place}: {}", self.verdict);
        for line in &self.because {
            let _ = writeln!(text, "  {line}");
        }
        text
    }
}

/// Answers for everything that was asked for.
pub(super) async fn ask(around: &Around, asked: &[String]) -> Vec<Told> {
    let is_meant = |resource: &Resource| asked.iter().any(|word| means(word, resource));
    let stocks = around.stock(&is_meant).await;
    asked
        .iter()
        .flat_map(|word| tell(around, &stocks, word))
        .collect()
}

/// Whether a word means a resource: its id, its name, what the cloud calls it besides, or an ARN that
/// ends in one of them.
fn means(word: &str, resource: &Resource) -> bool {
    let end = word.rsplit(['/', ':']).next().unwrap_or(word);
    let word = if word.starts_with("arn:") { end } else { word };
    if word.is_empty() {
        return false;
    }
    let unique = resource.unique.as_deref();
    *resource.id.as_str() == *word || *resource.name == *word || unique == Some(word)
}

fn tell(around: &Around, stocks: &[Stock], word: &str) -> Vec<Told> {
    let mut told = Vec::new();
    for stock in stocks {
        let meant = |item: &&Item| means(word, &item.resource);
        for item in stock.items.iter().filter(meant) {
            told.push(one(around, stock, word, item));
        }
        for item in &stock.items {
            let parts = item.inside.iter();
            let mut parts = parts.filter(|(_, part)| part.id.as_deref() == Some(word));
            if let Some((inner, part)) = parts.next() {
                let mut whole = one(around, stock, word, item);
                let parent = whole.resource.take().unwrap_or_default();
                whole.resource = Some(format!("{} {} in {parent}", inner.noun, part.key));
                let marks = OwnershipMark::all(item.resource.kind.carrier, &part.tags);
                let marks: Vec<_> = marks.map(|mark| owned(around, &mark)).collect();
                if !marks.is_empty() {
                    whole.verdict = "Owned".into();
                    whole.because = marks;
                }
                told.push(whole);
            }
        }
    }
    if !told.is_empty() {
        return told;
    }
    let places: Vec<_> = stocks.iter().map(|stock| stock.place.as_str()).collect();
    let mut because = vec![format!(
        "there is nothing of this id or name among the kinds that Freehold knows in {}",
        places.join(", ")
    )];
    let unseen = stocks.iter().flat_map(|stock| &stock.unseen);
    because.extend(unseen.map(|words| format!("could not be looked at: {words}")));
    let closed = around.closed.iter();
    because.extend(closed.map(|words| format!("could not be entered: {words}")));
    vec![Told {
        asked: word.to_owned(),
        resource: None,
        place: None,
        verdict: "Absent".to_owned(),
        because,
    }]
}

fn one(around: &Around, stock: &Stock, word: &str, item: &Item) -> Told {
    let resource = &item.resource;
    let marks = item.marks();
    let (verdict, because) = match &marks[..] {
        [] => unmarked(around, item),
        [mark] => {
            let known = around.object(&mark.claim).is_some();
            let held = around.holds(&mark.holder, mark.generation);
            let verdict = if known && held { "Owned" } else { "Foreign" };
            (
                verdict,
                vec![owned(around, mark), way_out(around, item, mark)],
            )
        }
        several => {
            let mut because: Vec<_> = several.iter().map(|mark| owned(around, mark)).collect();
            because.push(
                "two claims' marks are on it, so neither touches it: take off the one that is \
                 wrong, by hand"
                    .to_owned(),
            );
            ("Disputed", because)
        }
    };
    let because = because.into_iter().filter(|line| !line.is_empty());
    Told {
        asked: word.to_owned(),
        resource: Some(words::called(&item.target(), &resource.name)),
        place: Some(stock.place.clone()),
        verdict: verdict.to_owned(),
        because: because.collect(),
    }
}

/// Whose a resource is by an ownership mark.
fn owned(around: &Around, mark: &OwnershipMark) -> String {
    let object = around.object(&mark.claim);
    let object = object.map_or_else(
        || format!("the claim {}, which is no object's here", mark.claim),
        str::to_owned,
    );
    let holder = if mark.holder == around.whose.holder {
        "this management cluster".to_owned()
    } else {
        format!("the management cluster {}", mark.holder)
    };
    format!(
        "belongs to {object}, held by {holder}: its mark freehold.dev/{} says slot {}, attempt {}",
        mark.claim, mark.slot, mark.attempt
    )
}

/// What can be done about something whose object is not here.
fn way_out(around: &Around, item: &Item, mark: &OwnershipMark) -> String {
    let resource = &item.resource;
    let named = mark::named(resource.kind.carrier, &resource.tags);
    let owner = named.iter().find(|named| named.owns);
    let named = owner.map(|named| format!("its marks name the {named}; "));
    let named = named.unwrap_or_default();
    let held = around.holds(&mark.holder, mark.generation);
    match (around.object(&mark.claim), held) {
        (Some(_), true) => String::new(),
        (None, true) => format!("{named}freehold orphans shows all that is left of it"),
        (_, false) => format!(
            "{named}ask there; if that management cluster is gone for good: freehold take-over \
             --from {}",
            mark.holder
        ),
    }
}

/// What is to be said of a resource without an ownership mark.
fn unmarked(around: &Around, item: &Item) -> (&'static str, Vec<String>) {
    let resource = &item.resource;
    let named = mark::named(resource.kind.carrier, &resource.tags);
    let mut because = Vec::new();
    let mut lost = around.claimants.iter().filter_map(|claimant| {
        let slot = claimant.made.get(&resource.id)?;
        let object = &claimant.object;
        Some(format!(
            "{object} made it for its slot {slot}, as its record says, but Freehold's mark on it is \
             gone: set the annotation freehold.dev/adopt to {slot} there, and it is marked again; or \
             delete it, and another is made"
        ))
    });
    if let Some(words) = lost.next() {
        return ("Unmarked", vec![words]);
    }
    let users = around.claimants.iter().filter_map(|claimant| {
        let slot = claimant.uses.get(&resource.id)?;
        let slot = slot.as_ref().map(|slot| format!(" for its slot {slot}"));
        let slot = slot.unwrap_or_default();
        Some(format!(
            "{} uses it{slot}, as its record says",
            claimant.object
        ))
    });
    because.extend(users);
    let used = !because.is_empty() || named.iter().any(|named| !named.owns);
    for named in &named {
        let known = around.claimants.iter();
        let mut known = known.filter(|claimant| claimant.cluster == named.name);
        let here = known.next().map_or_else(
            || "no object here has that name".to_owned(),
            |claimant| format!("{} has that name here", claimant.object),
        );
        because.push(if named.owns {
            format!("it is marked as the {named}'s, without a Freehold mark; {here}")
        } else {
            format!("it is marked as used by the {named}; {here}")
        });
    }
    if named.iter().any(|named| named.owns) {
        return ("Foreign", because);
    }
    if used {
        because.insert(
            0,
            "it has no owner's mark: it is used, and never deleted".to_owned(),
        );
        return ("Used", because);
    }
    let words = "nobody of ours knows it: no mark of Freehold's or of a served system's is on it, \
                 and no object records it";
    ("Unmarked", vec![words.to_owned()])
}
