//! What must hold, judged by hidden provenance and by what the API server has.

use std::collections::BTreeSet;

use cloud_sim::{Account, Actor, Deed, Harm, InnerFact};
use ownership::mark::Tags;
use ownership::part::InnerPart;
use ownership::rules::Rules as _;
use ownership::{Freehold, Target, Text};

use super::claims::{Claims, Who};
use super::switches::SPARES_GUESTS;

/// What the keys of cluster marks begin with; the cluster's name is the rest.
const CLUSTER_MARKS: [&str; 2] = [
    "kubernetes.io/cluster/",
    "sigs.k8s.io/cluster-api-provider-aws/cluster/",
];

/// Law 1: nobody's part is deleted, changed or stripped by a claim that neither made nor marked it.
pub(super) fn no_theft(account: &Account, claims: &Claims) {
    for deed in account.deeds() {
        let Some(who) = claims.who(deed.by) else {
            continue;
        };
        let names = [deed.by, deed.made_by].map(|actor| claims.who(actor));
        assert!(
            is_right(deed, &who, claims),
            "law 1: theft by and from {names:?}: {deed:#?}"
        );
    }
}

/// Whether a claim did this to what is its own, or to what the laws let it.
fn is_right(deed: &Deed, who: &Who, claims: &Claims) -> bool {
    let inside_own = deed.made_by == deed.by;
    let is_other = |actor: Actor| actor != deed.by && matches!(actor, Actor::Engine(_));
    match &deed.harm {
        Harm::Deleted | Harm::Overwritten | Harm::Changed { .. } => {
            inside_own && !claims.others_marked(who, &deed.victim.tags)
        }
        Harm::TagOverwritten { was, .. } => inside_own && !is_other(was.by),
        // Law 7: cluster marks carry no UUID; those of an earlier life of the name go, too, and those
        // that a namesake has left.
        Harm::TagRemoved { was } if is_other(was.by) => {
            let name = who.name.rsplit('/').next().unwrap();
            let is_mark = CLUSTER_MARKS.contains(&was.key.strip_suffix(name).unwrap_or_default());
            let is_namesake = claims.who(was.by).is_some_and(|by| by.name != who.name);
            is_mark && (was.by < deed.by || is_namesake) && !is_other(deed.made_by)
        }
        Harm::TagRemoved { was } => inside_own || was.by == deed.by,
        // Parts that two claims want carry both marks, and go with the last.
        Harm::InnerRemoved { part, was } | Harm::InnerOverwritten { part, was }
            if claims.others_marked(who, &counted_on(deed, part, was)) =>
        {
            false
        }
        // Whoever was the last to take his mark off removes what all of them have left.
        Harm::InnerRemoved { was, part } if is_other(was.by) && part.tags.is_empty() => true,
        Harm::InnerRemoved { was, part } | Harm::InnerOverwritten { was, part } => {
            let spared = is_other(was.by) || SPARES_GUESTS && was.by != deed.by;
            was.by == deed.by || who.marked(&part.tags) || inside_own && !spared
        }
    }
}

/// The tags of a part but for those that are too new to be counted on: whoever joins waits until
/// nobody can be removing it on what was read before.
fn counted_on(deed: &Deed, part: &InnerPart, was: &InnerFact) -> Tags {
    let is_new = |key: &Text| {
        let mut tagged = was.tagged.iter();
        tagged.any(|(new, at)| {
            new == key && deed.at < Freehold.late_effects_over_at(deed.victim.kind, *at)
        })
    };
    let tags = part.tags.iter().filter(|(key, _)| !is_new(key));
    tags.map(|(key, value)| (key.clone(), value.clone()))
        .collect()
}

/// Laws 3 and 7: nothing of ours is left, and no trace of ours on what others have. Where the memory
/// of it was lost, a cluster mark stays.
pub(super) fn nothing_left(account: &Account, forgot: bool) {
    let is_cluster_mark = |key: &str| CLUSTER_MARKS.iter().any(|mark| key.starts_with(mark));
    for life in account.lives().filter(|life| life.is_alive()) {
        assert!(
            !matches!(life.by, Actor::Engine(_)),
            "law 3: an orphan: {life:#?}"
        );
        let tag = life
            .tags
            .iter()
            .filter(|tag| matches!(tag.by, Actor::Engine(_)))
            .find(|tag| !(forgot && is_cluster_mark(&tag.key)));
        assert_eq!(tag, None, "law 7: a trace on {}", life.target);
        let inner = life
            .inner
            .iter()
            .find(|part| matches!(part.by, Actor::Engine(_)));
        assert_eq!(inner, None, "law 7: a trace in {}", life.target);
    }
}

/// Law 2: of each name there is one, for each live object; and nothing besides, but for what may be.
pub(super) fn exactly(account: &Account, wanted: &[String], may_be: &[String]) {
    let mut alive: Vec<String> = account
        .lives()
        .filter(|life| life.is_alive() && matches!(life.by, Actor::Engine(_)))
        .map(|life| format!("{} {}", life.target.kind, life.name))
        .collect();
    for name in may_be {
        if let Some(at) = alive.iter().position(|there| there == name) {
            alive.remove(at);
        }
    }
    alive.sort();
    let mut wanted = wanted.to_vec();
    wanted.sort();
    assert_eq!(alive, wanted, "laws 2 and 3: one of each, and no other");
}

/// The parts of one inner Kind in a resource, with all that are wanted among them.
pub fn has(
    account: &Account,
    target: &Target,
    inner: &str,
    wanted: &BTreeSet<String>,
) -> BTreeSet<String> {
    let there = account.parts(target, inner).iter();
    let there: BTreeSet<String> = there.map(|part| part.key.to_string()).collect();
    let missing: Vec<_> = wanted.difference(&there).collect();
    assert!(missing.is_empty(), "law 1: {target} lacks {missing:?}");
    there
}

/// The parts of one inner Kind in a resource: all that are wanted, and besides only what others added.
pub fn has_no_other(account: &Account, target: &Target, inner: &str, wanted: &BTreeSet<String>) {
    let there = has(account, target, inner, wanted);
    let life = account.life(target).unwrap();
    for surplus in there.difference(wanted) {
        let by = life.inner(inner, surplus).unwrap().by;
        let is_others = !matches!(by, Actor::Engine(_));
        let stays = SPARES_GUESTS || life.by == Actor::Stranger;
        assert!(is_others && stays, "{target} has {surplus:?} of {by:?}");
    }
}
