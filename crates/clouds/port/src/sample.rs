//! Samples: an example of each Kind, for whoever tries out all of them.

use ownership::Kind;
use ownership::kind::Change;

/// Properties by name, as a create call has them.
pub type Values = &'static [(&'static str, &'static str)];

/// An example of a Kind. The explorer walks every Kind that has one.
#[derive(Clone, Copy, Debug)]
pub struct Sample {
    /// The Kind.
    pub kind: &'static Kind,
    /// What it lies in.
    pub parent: Option<Parent>,
    /// What it takes for itself: no two can have the same one.
    pub takes: Option<Parent>,
    /// The property by which one can lie in another of the same Kind.
    pub nests: Option<&'static str>,
    /// The properties of a create call, without the parent.
    pub props: Values,
    /// What differs in a second one, so that both can be there at the same time.
    pub beside: Values,
    /// What differs in another parent: in the one that its sample's `beside` makes, if it has one.
    pub moved: Values,
    /// Other values for what can be changed in place.
    pub changed: Values,
    /// What can be inside it. A sort of part of which a resource holds only one needs no sample.
    pub parts: &'static [PartSample],
    /// The sorts of parts that are other resources of ours: they are walked with a blueprint that has
    /// these.
    pub refers: &'static [&'static str],
    /// What can keep one from being deleted though it is not of our Kinds: "network interface".
    pub blocked_by: Option<&'static str>,
}

/// What a resource lies in.
#[derive(Clone, Copy, Debug)]
pub struct Parent {
    /// The property that names it.
    pub prop: &'static str,
    /// The sort of part that it becomes, where the property is only one of the create call.
    pub part: Option<&'static str>,
    /// Its own example.
    pub sample: &'static Sample,
}

/// Examples of one sort of part.
#[derive(Clone, Copy, Debug)]
pub struct PartSample {
    /// The inner Kind's name.
    pub inner: &'static str,
    /// Those that are wanted, by key and value.
    pub wanted: Values,
    /// Those that three others put there, each their own.
    pub others: [(&'static str, &'static str); 3],
}

impl Sample {
    /// A Kind that can be created without any property; parts inside are added to it.
    pub const fn of(kind: &'static Kind) -> Self {
        Self {
            kind,
            parent: None,
            takes: None,
            nests: None,
            props: &[],
            beside: &[],
            moved: &[],
            changed: &[],
            parts: &[],
            refers: &[],
            blocked_by: None,
        }
    }

    /// The examples of one sort of part.
    pub fn part(&self, inner: &str) -> Option<&'static PartSample> {
        self.parts.iter().find(|part| part.inner == inner)
    }

    /// What is wrong with it, in words: a sample says something about every property and every part
    /// that needs it, and nothing else.
    ///
    /// # Errors
    /// The first thing that is wrong.
    pub fn check(&self) -> Result<(), String> {
        let kind = self.kind;
        let rule = |name: &str| kind.props.iter().find(|rule| rule.name == name);
        let parent = self.parent.map(|parent| parent.prop);
        let named = [self.props, self.beside, self.moved, self.changed];
        let named = named.into_iter().flatten().map(|(name, _)| *name);
        if let Some(name) = named
            .chain(parent)
            .chain(self.takes.map(|taken| taken.prop))
            .chain(self.nests)
            .find(|name| rule(name).is_none())
        {
            return Err(format!("a {} has no property {name}", kind.noun));
        }
        for rule in kind.props {
            let in_place = rule.change == Change::InPlace;
            let changed = self.changed.iter().any(|(name, _)| *name == rule.name);
            if in_place != changed {
                let name = rule.name;
                return Err(format!(
                    "{name}: another value is for what changes in place"
                ));
            }
        }
        for inner in kind.inner {
            if !inner.single
                && !self.refers.contains(&inner.name)
                && self
                    .part(inner.name)
                    .is_none_or(|part| part.wanted.is_empty())
            {
                return Err(format!("there is no sample of a {}", inner.noun));
            }
        }
        let named = self.parts.iter().map(|part| part.inner);
        let becomes = self.parent.and_then(|parent| parent.part);
        let unknown = named
            .chain(becomes)
            .chain(self.refers.iter().copied())
            .find(|inner| kind.inner(inner).is_none());
        match unknown {
            Some(inner) => Err(format!("a {} has no {inner} inside", kind.noun)),
            None => Ok(()),
        }
    }
}
