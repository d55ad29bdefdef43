//! Kinds that no cloud has: one for every combination of capabilities that the catalogue admits.

use cloud_port::Sample;
use ownership::kind::{BirthProof, Change, CreateMode, Ids, Kind, Marking, Naming};
use ownership::life::Course;
use ownership::name::{Alphabet, NameRule};
use ownership::time::Millis;

/// A sample of a Kind for every combination of capabilities that the catalogue admits.
pub(crate) fn synthetic_all() -> Vec<&'static Sample> {
    let mut kinds = Vec::new();
    let births = [
        BirthProof::Marks,
        BirthProof::Token,
        BirthProof::Nonce,
        BirthProof::Circumstantial,
    ];
    let flags = [false, true];
    for birth in births {
        for token in flags {
            for create in [CreateMode::Insert, CreateMode::Upsert] {
                for marking in [Marking::Mutable, Marking::CreateOnly, Marking::Never] {
                    for naming in [Naming::Account, Naming::Free] {
                        for has_creation_time in flags {
                            let kind =
                                synthetic(birth, token, create, marking, naming, has_creation_time);
                            if kind.check().is_ok() {
                                kinds.push(sample(kind));
                            }
                        }
                    }
                }
            }
        }
    }
    kinds
}

/// The sample of a synthetic Kind.
pub(crate) fn sample(kind: Kind) -> &'static Sample {
    let sample = Sample {
        nests: Some("parent"),
        props: &[("size", "3")],
        changed: &[("size", "4")],
        moved: &[("parent", "somewhere-else")],
        ..Sample::of(Box::leak(Box::new(kind)))
    };
    Box::leak(Box::new(sample))
}

/// A Kind like most: marks ride on its create, and names are only labels.
pub(crate) fn plain() -> Kind {
    synthetic(
        BirthProof::Marks,
        false,
        CreateMode::Insert,
        Marking::Mutable,
        Naming::Free,
        true,
    )
}

pub(crate) fn synthetic(
    birth: BirthProof,
    token: bool,
    create: CreateMode,
    marking: Marking,
    naming: Naming,
    has_creation_time: bool,
) -> Kind {
    use ownership::kind::PropRule;
    let name = format!(
        "synthetic/{birth:?}{}{}{}{}{}",
        if token { "-token" } else { "" },
        if create == CreateMode::Upsert {
            "-upsert"
        } else {
            ""
        },
        match marking {
            Marking::Mutable => "",
            Marking::CreateOnly => "-create-only",
            Marking::Never => "-never",
        },
        if naming == Naming::Free {
            "-free"
        } else {
            "-named"
        },
        if has_creation_time { "-timed" } else { "" },
    );
    Kind {
        name: Box::leak(name.to_lowercase().into_boxed_str()),
        noun: "thing",
        carrier: ownership::mark::Carrier::AwsTags,
        birth,
        token: token.then_some(Millis::seconds(24 * 3600)),
        create,
        marking,
        tags_together: true,
        naming,
        names: NameRule::longest(255),
        ids: match create {
            CreateMode::Upsert => Ids::Names(&["parent"]),
            CreateMode::Insert => Ids::Unique,
        },
        has_creation_time,
        lists_marks: true,
        recorded: true,
        valuable: false,
        settling: Millis::seconds(15),
        course: Course::PLAIN,
        props: &[
            PropRule {
                name: "size",
                change: Change::InPlace,
            },
            PropRule {
                name: "parent",
                change: Change::Never,
            },
        ],
        inner: &[],
    }
}

/// Kinds whose names are short and of few characters, as those of a storage account: with a nonce in
/// them, and without.
pub(crate) fn narrow() -> [&'static Sample; 2] {
    let names = NameRule {
        longest: 24,
        alphabet: Alphabet::LowerAlphanumeric,
    };
    let kind = |name, birth, create| Kind {
        name,
        names,
        ..synthetic(
            birth,
            false,
            create,
            Marking::Mutable,
            Naming::Account,
            true,
        )
    };
    [
        sample(kind(
            "synthetic/narrow-nonce",
            BirthProof::Nonce,
            CreateMode::Upsert,
        )),
        sample(kind(
            "synthetic/narrow",
            BirthProof::Marks,
            CreateMode::Insert,
        )),
    ]
}
