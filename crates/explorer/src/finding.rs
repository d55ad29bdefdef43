//! Scenarios of slots that are only looked up: by properties and tags, one among several.

use cloud_port::Sample;
use cloud_sim::{Account, Actor, Settings, VirtualClock};
use ownership::blueprint::{Expr, Slot, Source};
use ownership::kind::Kind;
use ownership::{Blueprint, Text};

use crate::kinds;
use crate::scenario::{
    CLUSTER, Expect, Scenario, UUID, base, identity, kkp, named, slot_name, text,
};

/// A thing of ours lies in somebody's, which is found by a property and a tag.
pub(crate) fn scenarios() -> Vec<Scenario> {
    let plain = kinds::plain();
    let sample = kinds::sample(Kind {
        name: "synthetic/found",
        ..plain
    });
    let team = |name: &str| vec![("team".into(), text(name))];
    let of = |what: &str, others: &[&str], by, tags| Scenario {
        account: account(sample, others),
        blueprint: blueprint(sample, by, tags),
        ..named(&alone(sample), what)
    };
    let size = || vec![("size", text("9"))];
    vec![
        of("by-tag", &["blue", "red"], size(), team("blue")),
        of("by-tag-alone", &["blue", "red"], Vec::new(), team("blue")),
        Scenario {
            expect: Expect::Conflict,
            ..of("two", &["blue", "blue"], size(), team("blue"))
        },
        Scenario {
            expect: Expect::Conflict,
            ..of("two-by-property", &["blue", "red"], size(), Vec::new())
        },
    ]
}

fn alone(sample: &'static Sample) -> Scenario {
    Scenario {
        identity: identity(UUID, CLUSTER, "management-a", kkp()),
        ..base(sample)
    }
}

/// Somebody's things, each with the tag of its team.
fn account(sample: &Sample, teams: &[&str]) -> Account {
    let account = Account::new(Settings::default(), VirtualClock::new());
    let mut account = account.with_kinds(&[sample.kind]);
    let props = [("size", "9".into())].into_iter().collect();
    for team in teams {
        let tags = [("team".into(), (*team).into())].into_iter().collect();
        let made = account.plant(Actor::Stranger, sample.kind, "somebodys", &props, &tags);
        made.expect("room for it");
    }
    account
}

fn blueprint(sample: &Sample, by: Vec<(&'static str, Expr)>, tags: Vec<(Text, Expr)>) -> Blueprint {
    let home = Slot {
        source: Source::Find {
            by,
            tags,
            all: false,
        },
        cluster_mark: true,
        ..Slot::find(slot_name("home"), sample.kind, Vec::new())
    };
    let thing = Slot {
        cluster_mark: true,
        props: vec![
            ("size", text("3")),
            ("parent", Expr::Slot(slot_name("home"))),
        ],
        ..Slot::own(slot_name("thing"), sample.kind, "prod-thing")
    };
    Blueprint::new(vec![home, thing]).expect("a legal blueprint")
}
