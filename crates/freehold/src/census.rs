//! The census: what really happened in a simulated account, by its hidden provenance.
//!
//! It counts parts: resources, what is inside them, and tags on resources that are somebody else's.
//! It does not ask the engine, and it reads no marks.

use cloud_sim::{Account, Actor, Deed, Harm, Life};

/// What engines did in an account.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Census {
    /// Parts that an engine made.
    pub(crate) created: usize,
    /// Those of them that are gone.
    pub(crate) deleted: usize,
    /// Those of them that are left.
    pub(crate) orphans: usize,
    /// What an engine did to parts that it had not made.
    pub(crate) thefts: usize,
}

impl Census {
    /// Counts, once every claim has ended.
    pub(crate) fn take(account: &Account) -> Self {
        let mut census = Self::default();
        for life in account.lives() {
            census.count(parts_of(life), life.is_alive());
        }
        for deed in account.deeds().iter().filter(|deed| is_engine(deed.by)) {
            match whose(deed) {
                Some(Part::Ours) => census.count(1, false),
                Some(Part::Anothers) => census.thefts += 1,
                None => {}
            }
        }
        census
    }

    fn count(&mut self, parts: usize, alive: bool) {
        self.created += parts;
        if alive {
            self.orphans += parts;
        } else {
            self.deleted += parts;
        }
    }
}

/// The part that a deed was done to.
enum Part {
    Ours,
    Anothers,
}

/// Whose part a deed destroyed or changed; `None` where that is no theft and the part is counted
/// elsewhere: with its resource, whose end or whose parts its life tells.
fn whose(deed: &Deed) -> Option<Part> {
    match &deed.harm {
        Harm::InnerRemoved { was, .. } if is_engine(was.by) => Some(Part::Ours),
        // What is inside something of ours is ours to change, whoever put it there.
        _ if is_engine(deed.made_by) => None,
        Harm::TagRemoved { was } if is_engine(was.by) => Some(Part::Ours),
        Harm::TagOverwritten { was, .. } if is_engine(was.by) => None,
        Harm::InnerOverwritten { was, .. } if is_engine(was.by) => None,
        _ => Some(Part::Anothers),
    }
}

/// How many parts of ours a life tells of: those that it has, or had when it ended.
fn parts_of(life: &Life) -> usize {
    let inner = life.inner.iter().filter(|fact| is_engine(fact.by)).count();
    let rest = if is_engine(life.by) {
        1
    } else {
        life.tags.iter().filter(|fact| is_engine(fact.by)).count()
    };
    inner + rest
}

fn is_engine(actor: Actor) -> bool {
    matches!(actor, Actor::Engine(_))
}

#[cfg(test)]
mod tests {
    use cloud_port::aws::role::{INLINE_POLICY, ROLE};
    use cloud_sim::{Settings, VirtualClock};
    use ownership::mark::Tags;
    use ownership::part::{InnerPart, Props};
    use ownership::{Target, Text};

    use super::*;

    const ENGINE: Actor = Actor::Engine(0);

    fn role(account: &mut Account, by: Actor, name: &str) -> Target {
        let props: Props = [("trust", Text::from("{}"))].into_iter().collect();
        account
            .plant(by, &ROLE, name, &props, &Tags::new())
            .unwrap()
    }

    fn policy() -> InnerPart {
        InnerPart::new("policy", "{}", Tags::new())
    }

    #[test]
    fn what_an_engine_made_is_counted_with_its_parts_until_it_is_gone() {
        let mut account = Account::new(Settings::default(), VirtualClock::new());
        assert_eq!(Census::take(&account), Census::default());
        let ours = role(&mut account, ENGINE, "ours");
        account
            .add_parts(ENGINE, &ours, INLINE_POLICY, &[policy()])
            .unwrap();
        let left = Census {
            created: 2,
            orphans: 2,
            ..Census::default()
        };
        assert_eq!(Census::take(&account), left);
        account
            .remove_parts(ENGINE, &ours, INLINE_POLICY, &["policy".into()])
            .unwrap();
        let half = Census {
            created: 2,
            deleted: 1,
            orphans: 1,
            thefts: 0,
        };
        assert_eq!(Census::take(&account), half);
        account.delete(ENGINE, &ours).unwrap();
        let gone = Census {
            created: 2,
            deleted: 2,
            ..Census::default()
        };
        assert_eq!(Census::take(&account), gone);
    }

    #[test]
    fn what_a_stranger_puts_into_our_resource_is_neither_counted_nor_stolen() {
        let mut account = Account::new(Settings::default(), VirtualClock::new());
        let ours = role(&mut account, ENGINE, "ours");
        account
            .add_parts(Actor::Stranger, &ours, INLINE_POLICY, &[policy()])
            .unwrap();
        account
            .remove_parts(ENGINE, &ours, INLINE_POLICY, &["policy".into()])
            .unwrap();
        let left = Census {
            created: 1,
            orphans: 1,
            ..Census::default()
        };
        assert_eq!(Census::take(&account), left);
    }

    #[test]
    fn tags_on_somebodys_resource_are_parts_and_changing_theirs_is_theft() {
        let mut account = Account::new(Settings::default(), VirtualClock::new());
        let theirs = [role(&mut account, Actor::Stranger, "theirs")];
        let tag = |key: &str| [(Text::from(key), Text::from("1"))];
        account.tag(ENGINE, &theirs, &tag("ours")).unwrap();
        assert_eq!(Census::take(&account).orphans, 1);
        account.untag(ENGINE, &theirs, &tag("ours")).unwrap();
        let clean = Census {
            created: 1,
            deleted: 1,
            ..Census::default()
        };
        assert_eq!(Census::take(&account), clean);
        account
            .tag(Actor::Stranger, &theirs, &tag("theirs"))
            .unwrap();
        account.untag(ENGINE, &theirs, &tag("theirs")).unwrap();
        assert_eq!(Census::take(&account).thefts, 1);
        account.delete(ENGINE, &theirs[0]).unwrap();
        assert_eq!(Census::take(&account).thefts, 2);
    }
}
