//! Kinds: what the engine must know about a sort of cloud resource, as a declaration.

use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};

use crate::life::{Course, Failed, Lost};
use crate::mark::Carrier;
use crate::name::NameRule;
use crate::time::{FRESH, Millis, REQUEST_TIMEOUT};

/// The declaration of one Kind of cloud resource.
///
/// # Guarantees
/// A Kind that passes [`Kind::check`] can be created, found again after a crash at any point, and
/// deleted, without guessing.
///
/// Two Kinds of one name are one: names are what ledgers and messages hold, and what a catalogue has
/// only once. So Kinds are compared, ordered, hashed and shown by their names.
#[derive(Clone)]
pub struct Kind {
    /// The Kind's name, for example `aws/security-group`. Unique in a catalogue.
    pub name: &'static str,
    /// What a person calls it: "security group".
    pub noun: &'static str,
    /// Where its marks are held.
    pub carrier: Carrier,
    /// What the create call itself carries that makes the result recognisable as ours.
    pub birth: BirthProof,
    /// For how long the cloud answers a repeated client token with the first one's resource.
    pub token: Option<Millis>,
    /// What a create over an existing name does.
    pub create: CreateMode,
    /// When marks can be written.
    pub marking: Marking,
    /// Whether one call tags several resources, or takes tags off them.
    pub tags_together: bool,
    /// Where its name is unique.
    pub naming: Naming,
    /// What its names may be.
    pub names: NameRule,
    /// What its ids are.
    pub ids: Ids,
    /// Whether the cloud tells when a resource was created.
    pub has_creation_time: bool,
    /// Whether the cloud's listing of all of them shows their marks; where it does not, each must be
    /// asked for.
    pub lists_marks: bool,
    /// Whether the ledger announces each create and lists each resource. Where it does not, the name that
    /// we give and the mark that rides on the create tell all there is to know: a second create of the
    /// name is refused, and reads show at once what is there. So the ledger does not grow with their
    /// number.
    pub recorded: bool,
    /// Whether it holds data, or is an address that others know: twins are reported, not reduced.
    pub valuable: bool,
    /// For how long after a write reads may still show the state before it.
    pub settling: Millis,
    /// How its resources come and go.
    pub course: Course,
    /// Its properties.
    pub props: &'static [PropRule],
    /// The parts that live inside it.
    pub inner: &'static [InnerKind],
}

/// What makes the result of a create call recognisable as ours.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum BirthProof {
    /// Marks ride on the create call.
    Marks,
    /// A client token: a repetition returns the first one's resource. Marks follow in a second call.
    Token,
    /// The name holds a hash of claim, slot and attempt. Marks follow in a second call.
    Nonce,
    /// Nothing but circumstances: absent before, created since, alike, and the only one (A1).
    Circumstantial,
}

/// What a create call does where the name is taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum CreateMode {
    /// It is refused, or makes a second one.
    Insert,
    /// It overwrites what is there.
    Upsert,
}

/// When marks can be written to a resource.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Marking {
    /// At any time.
    Mutable,
    /// Only by the create call.
    CreateOnly,
    /// Never.
    Never,
}

/// What the ids of a Kind are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Ids {
    /// The cloud's own: no later resource has the same.
    Unique,
    /// The resource's name: whoever makes another of that name has the same id. So the id proves no
    /// origin, and a call that is late may meet another resource. What tells two of them apart is
    /// [`Resource::unique`](crate::part::Resource::unique).
    ///
    /// A name is a word like any other. With it stand the properties and inner parts, of whichever Kind,
    /// in which it refers to such a resource.
    Names(&'static [&'static str]),
}

impl Ids {
    /// Whether whoever makes another of that name has the same id.
    pub fn are_names(self) -> bool {
        matches!(self, Self::Names(_))
    }
}

/// Where a Kind's names are unique.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Naming {
    /// In the whole account: a look-up by name finds the only one.
    Account,
    /// Within the resource that this property names.
    Within(&'static str),
    /// Nowhere: names are only labels, or there are none.
    Free,
}

/// What becomes of a property that is not as it is wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// The resource is given the wanted value.
    InPlace,
    /// It cannot be changed: the difference is reported.
    Never,
    /// It cannot be changed, and says nothing: a description. It is chosen at birth.
    Irrelevant,
    /// The cloud gives it (an address, an ARN): nobody can wish for it, but others can refer to it.
    Given,
    /// It is a secret (user data, a password): chosen at birth, wished for in
    /// [`Slot::secrets`](crate::Slot::secrets), and told by nobody, so a difference cannot be seen.
    Secret,
}

/// A property of a Kind and what becomes of a difference.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PropRule {
    /// The property's name.
    pub name: &'static str,
    /// What becomes of a value that is not as it is wanted.
    pub change: Change,
}

/// A sort of part that lives inside a resource: a rule, an inline policy, a role in a profile.
///
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InnerKind {
    /// Its name, unique within its parent's Kind.
    pub name: &'static str,
    /// What a person calls it: "rule".
    pub noun: &'static str,
    /// How one on a resource that is only used is told from the owner's.
    pub proof: InnerProof,
    /// Whether adding one whose key is taken overwrites it.
    pub create: CreateMode,
    /// Whether the parent cannot be deleted while it has one.
    pub blocks_deletion: bool,
    /// Whether one call adds or removes several.
    pub batch: bool,
    /// Whether a resource holds at most one: another must go before the next can come.
    pub single: bool,
    /// The keys of those that the cloud itself puts into every new resource: they are read, not assumed,
    /// and go with it.
    pub comes_along: &'static [&'static str],
    /// The property of the create call that says which of them it puts in: their keys, with commas between.
    /// Then a new resource is not empty, and what is inside is read.
    pub born_with: Option<&'static str>,
    /// Whether a listing of all resources of the Kind, or of all such parts, shows them; where none does,
    /// each resource must be asked for.
    pub is_listed: bool,
}

impl InnerKind {
    /// Whether a new resource surely has none inside.
    pub fn is_born_empty(&self) -> bool {
        self.comes_along.is_empty() && self.born_with.is_none()
    }
}

/// How an inner part of a resource that we only use is known to be ours.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum InnerProof {
    /// It carries a mark of its own.
    OwnMark,
    /// A mark on the parent names it, written before it and removed after it.
    ParentMark,
}

/// Why a Kind cannot be declared.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("kind {kind}: {rule}")]
pub struct KindError {
    /// The refused Kind.
    pub kind: &'static str,
    /// The rule it breaks.
    pub rule: &'static str,
}

impl Kind {
    /// Whether the laws can be kept for this Kind.
    ///
    /// # Errors
    /// The first rule it breaks.
    pub fn check(&self) -> Result<(), KindError> {
        let refuse = |rule| {
            Err(KindError {
                kind: self.name,
                rule,
            })
        };
        match self.marking {
            Marking::Never => {
                return refuse("it can carry no mark, so its owner could never be proved");
            }
            Marking::CreateOnly if self.birth != BirthProof::Marks => {
                return refuse("marks that can be written only on create must ride on create");
            }
            _ => {}
        }
        if self.birth == BirthProof::Token && self.token.is_none() {
            return refuse("its birth proof is a client token, but it takes none");
        }
        if self.birth == BirthProof::Circumstantial {
            if !self.has_creation_time {
                return refuse(
                    "without a birth proof it needs a creation time to be recognised by",
                );
            }
            if self.token.is_some() {
                return refuse("it takes a client token: that is its birth proof");
            }
        }
        if self.create == CreateMode::Upsert && self.birth != BirthProof::Nonce {
            return refuse(
                "its create overwrites: only a name that holds the claim's hash is safe",
            );
        }
        if self.create == CreateMode::Upsert && self.token.is_some() {
            return refuse(
                "its create overwrites, so a repetition does the same without a client token",
            );
        }
        if self.birth == BirthProof::Nonce && self.naming == Naming::Free {
            return refuse("a nonce in a name proves something only where names are unique");
        }
        if self.naming != Naming::Free && !self.names.has_room(self.birth == BirthProof::Nonce) {
            return refuse("its names have no room for what tells them apart");
        }
        if let Naming::Within(prop) = self.naming
            && self.is_secret(prop)
        {
            return refuse("its names are unique within a secret, which no look-up may send");
        }
        if self.ids.are_names() && self.naming == Naming::Free {
            return refuse("its ids are names, so a name must be unique somewhere");
        }
        if self
            .token
            .is_some_and(|lifetime| lifetime <= self.shows_after(FRESH + REQUEST_TIMEOUT))
        {
            return refuse("its client token may expire before its resource must have been seen");
        }
        if !self.recorded {
            self.check_unrecorded().map_err(|rule| KindError {
                kind: self.name,
                rule,
            })?;
        }
        let of_the_call = |prop: &str| {
            let mut rules = self.props.iter();
            rules.any(|rule| rule.name == prop && rule.change == Change::Irrelevant)
        };
        let mut born_with = self.inner.iter().filter_map(|inner| inner.born_with);
        if !born_with.all(of_the_call) {
            return refuse(
                "what its create puts inside must be told by a property of that call alone",
            );
        }
        if self.valuable && self.course.failed == Failed::Replaced {
            return refuse("what holds data is not replaced where it has failed");
        }
        Ok(())
    }

    /// Whether name and mark tell all that a ledger would.
    fn check_unrecorded(&self) -> Result<(), &'static str> {
        if self.birth != BirthProof::Marks {
            return Err("it is not recorded, so marks must ride on its create");
        }
        if self.naming == Naming::Free {
            return Err("it is not recorded, so a taken name must refuse a second one");
        }
        if self.ids.are_names() {
            return Err("it is not recorded, so its ids must be more than names");
        }
        if self.shows_after(Millis(0)) > Millis(0) {
            return Err("it is not recorded, so reads must show at once what is there");
        }
        if !self.inner.is_empty() {
            return Err("it is not recorded, so nobody could tell which parts inside are ours");
        }
        if self.course.lost == Lost::Reported {
            return Err("it is not recorded, so nobody could tell that one is gone");
        }
        Ok(())
    }

    /// Whether a look-up by name is also a look-up by marks: names are unique in the whole account, so
    /// whatever we created under the name is what the name finds. A name that is unique only within a
    /// parent finds nothing in the parent that was wanted yesterday; and where nothing is recorded, nobody
    /// knows yesterday's name. If the record is lost, nobody does either: then marks are looked up all the
    /// same.
    pub fn name_finds_marks(&self) -> bool {
        self.naming == Naming::Account && self.birth != BirthProof::Nonce && self.recorded
    }

    /// When a resource shows, if its create takes effect after this time at the latest.
    pub fn shows_after(&self, effect: Millis) -> Millis {
        effect + self.course.hidden_for + self.settling
    }

    /// Whether it has a secret property of that name.
    pub fn is_secret(&self, prop: &str) -> bool {
        let secret = |rule: &PropRule| rule.name == prop && rule.change == Change::Secret;
        self.props.iter().any(secret)
    }

    /// The inner Kind of that name.
    pub fn inner(&self, name: &str) -> Option<&'static InnerKind> {
        self.inner.iter().find(|inner| inner.name == name)
    }
}

impl PartialEq for Kind {
    fn eq(&self, other: &Self) -> bool {
        // Most are the same declaration.
        std::ptr::eq(self, other) || self.name == other.name
    }
}

impl Eq for Kind {}

impl PartialOrd for Kind {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Kind {
    fn cmp(&self, other: &Self) -> Ordering {
        if std::ptr::eq(self, other) {
            return Ordering::Equal;
        }
        self.name.cmp(other.name)
    }
}

impl Hash for Kind {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.name.hash(state);
    }
}

impl fmt::Debug for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self.name, f)
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use std::collections::BTreeSet;

    use super::*;

    /// A Kind like any other.
    pub(crate) static THING: Kind = Kind {
        name: "test/thing",
        noun: "thing",
        carrier: Carrier::AwsTags,
        birth: BirthProof::Marks,
        token: None,
        create: CreateMode::Insert,
        marking: Marking::Mutable,
        tags_together: true,
        naming: Naming::Free,
        names: NameRule::longest(255),
        ids: Ids::Unique,
        has_creation_time: false,
        lists_marks: true,
        recorded: true,
        valuable: false,
        settling: Millis::seconds(10),
        course: Course::PLAIN,
        props: &[],
        inner: &[],
    };

    #[test]
    fn names_are_not_unique_within_a_secret() {
        let rule = |change| PropRule {
            name: "parent",
            change,
        };
        for (change, legal) in [(Change::Secret, false), (Change::Never, true)] {
            let kind = Kind {
                naming: Naming::Within("parent"),
                props: Box::leak(Box::new([rule(change)])),
                ..THING.clone()
            };
            assert_eq!(kind.check().is_ok(), legal);
        }
    }

    #[test]
    fn what_is_not_recorded_tells_all_by_name_and_mark() {
        let object = Kind {
            recorded: false,
            naming: Naming::Account,
            settling: Millis(0),
            ..THING.clone()
        };
        assert_eq!(object.check(), Ok(()));
        assert!(!object.name_finds_marks());
        let with_birth = |birth| Kind {
            birth,
            ..object.clone()
        };
        let with_course = |course| Kind {
            course,
            ..object.clone()
        };
        let part = InnerKind {
            name: "part",
            noun: "part",
            proof: InnerProof::OwnMark,
            create: CreateMode::Insert,
            blocks_deletion: false,
            batch: false,
            single: false,
            comes_along: &[],
            born_with: None,
            is_listed: true,
        };
        let broken = [
            ("marks must ride", with_birth(BirthProof::Nonce)),
            (
                "a taken name",
                Kind {
                    naming: Naming::Free,
                    ..object.clone()
                },
            ),
            (
                "more than names",
                Kind {
                    ids: Ids::Names(&[]),
                    ..object.clone()
                },
            ),
            (
                "at once",
                Kind {
                    settling: Millis(1),
                    ..object.clone()
                },
            ),
            (
                "at once",
                with_course(Course {
                    hidden_for: Millis(1),
                    ..Course::PLAIN
                }),
            ),
            (
                "parts inside",
                Kind {
                    inner: Box::leak(Box::new([part])),
                    ..object.clone()
                },
            ),
            (
                "one is gone",
                with_course(Course {
                    lost: Lost::Reported,
                    ..Course::PLAIN
                }),
            ),
        ];
        for (rule, kind) in broken {
            let error = kind.check().unwrap_err();
            assert!(error.rule.contains(rule), "{error}");
        }
    }

    #[test]
    fn what_a_create_puts_inside_is_told_by_a_property_of_the_call() {
        let inner = InnerKind {
            name: "subnet",
            noun: "subnet",
            proof: InnerProof::ParentMark,
            create: CreateMode::Upsert,
            blocks_deletion: false,
            batch: true,
            single: false,
            comes_along: &[],
            born_with: Some("subnets"),
            is_listed: true,
        };
        let rule = |name, change| PropRule { name, change };
        for (rule, legal) in [
            (rule("subnets", Change::Irrelevant), true),
            (rule("subnets", Change::InPlace), false),
            (rule("networks", Change::Irrelevant), false),
        ] {
            let kind = Kind {
                props: Box::leak(Box::new([rule])),
                inner: Box::leak(Box::new([inner.clone()])),
                ..THING.clone()
            };
            assert_eq!(kind.check().is_ok(), legal, "{rule:?}");
        }
        assert!(!inner.is_born_empty());
    }

    #[test]
    fn two_kinds_of_one_name_are_one() {
        let again = Kind {
            valuable: true,
            ..THING.clone()
        };
        let other = Kind {
            name: "test/other",
            ..THING.clone()
        };
        assert_eq!(THING, again);
        assert_ne!(THING, other);
        let names: BTreeSet<&Kind> = BTreeSet::from([&THING, &again, &other]);
        assert_eq!(format!("{names:?}"), r#"{"test/other", "test/thing"}"#);
        assert_eq!(THING.to_string(), "test/thing");
    }
}
