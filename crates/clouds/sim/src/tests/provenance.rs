//! What the oracle sees.

use cloud_port::aws::role::INLINE_POLICY;
use ownership::mark::OwnershipMark;

use super::*;
use crate::{End, Harm, InnerFact, TagFact};

fn harms(account: &Account) -> Vec<&Harm> {
    account.deeds().iter().map(|deed| &deed.harm).collect()
}

#[test]
fn every_life_tells_who_made_it_and_for_which_slot() {
    let mut account = account();
    let ours = new_group(&mut account, "ours");
    let theirs = account
        .plant(
            Actor::Stranger,
            GROUP,
            "theirs",
            &in_default_vpc(&account),
            &Tags::new(),
        )
        .unwrap();
    let life = account.life(&ours).unwrap();
    assert_eq!((life.by, life.attempt, life.end), (ENGINE, 1, None));
    assert_eq!(life.slot.as_ref().map(SlotName::as_str), Some("slot"));
    let life = account.life(&theirs).unwrap();
    assert_eq!((life.by, life.slot.clone()), (Actor::Stranger, None));
    let born = account.clock().now();
    account.clock().advance(Millis(5));
    account.delete(Actor::Stranger, &ours).unwrap();
    let life = account.life(&ours).unwrap();
    let end = End {
        by: Actor::Stranger,
        at: account.clock().now(),
    };
    assert_eq!((life.born, life.end), (born, Some(end)));
    assert!(
        account
            .lives()
            .all(|l| l.target == ours || l.target == theirs || l.by == Actor::Cloud)
    );
}

#[test]
fn a_theft_can_be_told_from_the_log_alone() {
    let mut account = account();
    let mark = marks(&cloud_port::aws::security_group::SECURITY_GROUP);
    let forged = account
        .plant(
            Actor::Stranger,
            GROUP,
            "forged",
            &in_default_vpc(&account),
            &mark,
        )
        .unwrap();
    account.delete(ENGINE, &forged).unwrap();
    let deed = account.deeds().last().unwrap();
    assert_eq!(
        (deed.by, deed.made_by, deed.slot.clone()),
        (ENGINE, Actor::Stranger, None)
    );
    assert_eq!(deed.harm, Harm::Deleted);
    assert_eq!(deed.victim.id, forged.id);
    let claim = identity().claim;
    let mut on_it = OwnershipMark::all(Carrier::AwsTags, &deed.victim.tags);
    assert!(
        on_it.any(|mark| mark.claim == *claim.hash()),
        "it carried our mark, and was not ours"
    );
}

#[test]
fn each_tag_remembers_its_writer_and_what_it_replaced() {
    let mut account = account();
    let table = main_route_table(&account);
    let on = [table.clone()];
    account
        .tag(Actor::Stranger, &on, &pairs(&[("k", "theirs")]))
        .unwrap();
    account
        .tag(ENGINE, &on, &pairs(&[("k", "theirs")]))
        .unwrap();
    let fact =
        |account: &Account, value: &str| account.life(&table).unwrap().tag("k", value).cloned();
    assert_eq!(
        fact(&account, "theirs").unwrap().by,
        Actor::Stranger,
        "the same value changes nothing"
    );
    assert!(account.deeds().is_empty());

    account.tag(ENGINE, &on, &pairs(&[("k", "ours")])).unwrap();
    let ours = fact(&account, "ours").unwrap();
    assert_eq!(
        (ours.by, ours.replaced.clone()),
        (ENGINE, Some((text("theirs"), Actor::Stranger)))
    );
    assert_eq!(fact(&account, "theirs"), None);
    account
        .untag(Actor::Stranger, &on, &pairs(&[("k", "ours")]))
        .unwrap();
    assert!(account.life(&table).unwrap().tags.is_empty());

    let was = TagFact {
        key: text("k"),
        value: text("theirs"),
        by: Actor::Stranger,
        replaced: None,
    };
    let overwritten = Harm::TagOverwritten {
        was,
        to: text("ours"),
    };
    assert_eq!(
        harms(&account),
        [&overwritten, &Harm::TagRemoved { was: ours }]
    );
    assert_eq!(
        account.deeds()[0].victim.tags,
        tags(&[("k", "theirs")]),
        "as it was"
    );
}

#[test]
fn each_part_remembers_who_added_it() {
    let mut account = account();
    let role = new_role(&mut account, "r");
    account
        .add_parts(
            Actor::Stranger,
            &role,
            INLINE_POLICY,
            &[part("p", "theirs")],
        )
        .unwrap();
    account
        .add_parts(ENGINE, &role, INLINE_POLICY, &[part("p", "ours")])
        .unwrap();
    let fact = account
        .life(&role)
        .unwrap()
        .inner(INLINE_POLICY, "p")
        .unwrap()
        .clone();
    assert_eq!(
        (fact.by, fact.replaced.clone()),
        (ENGINE, Some((text("theirs"), Actor::Stranger)))
    );
    account
        .remove_parts(Actor::Engine(1), &role, INLINE_POLICY, &[text("p")])
        .unwrap();
    assert!(account.life(&role).unwrap().inner.is_empty());
    let was = InnerFact {
        inner: INLINE_POLICY,
        key: text("p"),
        by: Actor::Stranger,
        replaced: None,
        tagged: Vec::new(),
    };
    let overwritten = Harm::InnerOverwritten {
        was,
        part: part("p", "theirs"),
    };
    let removed = Harm::InnerRemoved {
        was: fact,
        part: part("p", "ours"),
    };
    assert_eq!(harms(&account), [&overwritten, &removed]);
    assert_eq!(account.deeds()[1].by, Actor::Engine(1));
}

#[test]
fn a_changed_property_is_a_deed() {
    let mut account = account();
    let role = new_role(&mut account, "r");
    account
        .update(Actor::Stranger, &role, &props(&[("trust", TRUST)]))
        .unwrap();
    assert!(account.deeds().is_empty(), "nothing changed");
    account
        .update(Actor::Stranger, &role, &props(&[("trust", "{}")]))
        .unwrap();
    let changed = Harm::Changed {
        prop: "trust",
        from: Some(text(TRUST)),
        to: text("{}"),
    };
    assert_eq!(harms(&account), [&changed]);
}

#[test]
fn refused_calls_do_no_deeds() {
    let mut account = account();
    let table = main_route_table(&account);
    account.delete(ENGINE, &table).unwrap_err();
    let tags = pairs(&[("aws:x", "")]);
    account.tag(ENGINE, &[table], &tags).unwrap_err();
    assert!(account.deeds().is_empty());
}
