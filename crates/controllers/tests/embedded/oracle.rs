//! What must hold, judged by hidden provenance and by what the API server has.

use cloud_sim::{Account, Actor, Harm};

/// Law 1: what others made is still as they made it, but for what we added to it.
pub(crate) fn no_theft(account: &Account) {
    let us = |actor: Actor| matches!(actor, Actor::Engine(_));
    for deed in account.deeds() {
        if !us(deed.by) || us(deed.made_by) {
            continue;
        }
        let ours = match &deed.harm {
            Harm::TagRemoved { was } => us(was.by),
            Harm::InnerRemoved { was, .. } | Harm::InnerOverwritten { was, .. } => us(was.by),
            _ => false,
        };
        assert!(ours, "law 1: theft: {deed:#?}");
    }
}

/// Laws 3 and 7: nothing of ours is left, and no trace of ours on what others have.
pub(crate) fn nothing_left(account: &Account) {
    for life in account.lives().filter(|life| life.is_alive()) {
        assert!(
            !matches!(life.by, Actor::Engine(_)),
            "law 3: an orphan: {life:#?}"
        );
        let tag = life
            .tags
            .iter()
            .find(|tag| matches!(tag.by, Actor::Engine(_)));
        assert_eq!(tag, None, "law 7: a trace on {}", life.target);
        let inner = life
            .inner
            .iter()
            .find(|part| matches!(part.by, Actor::Engine(_)));
        assert_eq!(inner, None, "law 7: a trace in {}", life.target);
    }
}

/// Law 2: of each name there is one, for each live cluster; and nothing besides.
pub(crate) fn exactly(account: &Account, wanted: &[String]) {
    let mut alive: Vec<String> = account
        .lives()
        .filter(|life| life.is_alive() && matches!(life.by, Actor::Engine(_)))
        .map(|life| format!("{} {}", life.target.kind, life.name))
        .collect();
    alive.sort();
    let mut wanted = wanted.to_vec();
    wanted.sort();
    assert_eq!(alive, wanted, "laws 2 and 3: one of each, and no other");
}
