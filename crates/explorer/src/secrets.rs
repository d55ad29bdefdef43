//! Scenarios of secret wishes: the secret changes while a create is announced, and changes back.

use cloud_port::Sample;
use ownership::kind::{BirthProof, Change, CreateMode, Kind, Marking, Naming, PropRule};
use ownership::secret::Secrets;
use ownership::{Blueprint, Secret, Slot};

use crate::changes::FEW;
use crate::fault::Fault;
use crate::kinds;
use crate::scenario::{Expect, MACHINERY, Scenario, base, named};

const PASSWORD: &str = "password";

/// Every birth proof, with and without a client token.
const BIRTHS: [(&str, BirthProof, bool); 5] = [
    ("synthetic/secret-marks-token", BirthProof::Marks, true),
    ("synthetic/secret-marks", BirthProof::Marks, false),
    ("synthetic/secret-token", BirthProof::Token, true),
    ("synthetic/secret-nonce", BirthProof::Nonce, false),
    ("synthetic/secret-alike", BirthProof::Circumstantial, false),
];

/// Everything with secrets.
pub(crate) fn scenarios() -> Vec<Scenario> {
    let all = BIRTHS.into_iter().flat_map(|(name, birth, token)| {
        let changing = changing(sample(name, birth, token));
        [
            Scenario {
                faults: FEW,
                depth: 2,
                ..named(&changing, "spec")
            },
            Scenario {
                writers: 2,
                ..named(&changing, "two-writers")
            },
            named(&changing, "alone"),
        ]
    });
    all.collect()
}

/// A Kind with a secret property.
fn sample(name: &'static str, birth: BirthProof, token: bool) -> &'static Sample {
    let naming = match birth {
        BirthProof::Nonce => Naming::Account,
        _ => Naming::Free,
    };
    let (create, marking) = (CreateMode::Insert, Marking::Mutable);
    let plain = kinds::synthetic(birth, token, create, marking, naming, true);
    let secret = PropRule {
        name: PASSWORD,
        change: Change::Secret,
    };
    let rules = plain.props.iter().copied().chain([secret]);
    let rules: Vec<PropRule> = rules.collect();
    kinds::sample(Kind {
        name,
        props: rules.leak(),
        ..plain
    })
}

/// The author takes another secret, and then the first one again.
fn changing(sample: &'static Sample) -> Scenario {
    let scenario = base(sample);
    let with = |password| {
        let slot = Slot {
            secrets: secrets(password),
            ..scenario.blueprint.slots()[0].clone()
        };
        Blueprint::new(vec![slot]).expect("a legal blueprint")
    };
    let (first, second) = (with("canary-one"), with("canary-two"));
    let expect = match sample.kind.birth {
        // Of what only its token shows, nobody can tell what came when the secret is another.
        BirthProof::Token => Expect::AtMostOne,
        _ => Expect::Filled,
    };
    Scenario {
        blueprint: first.clone(),
        changes: vec![second, first],
        faults: MACHINERY.or(Fault::SpecChange.bit()),
        expect,
        ..scenario
    }
}

fn secrets(password: &str) -> Secrets {
    let uid = "5b1f1c0e-0d6a-4f0b-8a57-1d9f0c2e7a33";
    let secret = Secret::new(password, uid);
    [(PASSWORD, secret)].into_iter().collect()
}
