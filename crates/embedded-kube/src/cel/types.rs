//! The types of expressions, and when one can stand for another.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::sync::Arc;

/// A type.
#[derive(Clone, Debug, PartialEq)]
#[expect(clippy::enum_variant_names, reason = "types have a type")]
pub(crate) enum Type {
    Dyn,
    /// That of an expression which was complained about already.
    Error,
    Null,
    Bool,
    Int,
    Uint,
    Double,
    String,
    Bytes,
    Duration,
    Timestamp,
    List(Arc<Type>),
    Map(Arc<(Type, Type)>),
    Optional(Arc<Type>),
    /// The type of a type.
    Type(Arc<Type>),
    Object(Arc<ObjectType>),
    /// A type that only functions know, by its name.
    Named(&'static str),
    /// A type that is still to be found out.
    Param(usize),
}

/// An object with known fields.
#[derive(Debug)]
pub(crate) struct ObjectType {
    pub(crate) name: String,
    pub(crate) fields: BTreeMap<String, Type>,
}

impl PartialEq for ObjectType {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl Type {
    pub(crate) fn list(item: Type) -> Self {
        Self::List(Arc::new(item))
    }

    pub(crate) fn map(key: Type, value: Type) -> Self {
        Self::Map(Arc::new((key, value)))
    }

    pub(crate) fn optional(inner: Type) -> Self {
        Self::Optional(Arc::new(inner))
    }

    fn is_wild(&self) -> bool {
        matches!(self, Self::Dyn | Self::Error)
    }

    /// The name that `type()` gives to values of it.
    pub(super) fn name(&self) -> &str {
        match self {
            Self::Dyn | Self::Param(_) => "dyn",
            Self::Error => "error",
            Self::Null => "null_type",
            Self::Bool => "bool",
            Self::Int => "int",
            Self::Uint => "uint",
            Self::Double => "double",
            Self::String => "string",
            Self::Bytes => "bytes",
            Self::Duration => "google.protobuf.Duration",
            Self::Timestamp => "google.protobuf.Timestamp",
            Self::List(_) => "list",
            Self::Map(_) => "map",
            Self::Optional(_) => "optional_type",
            Self::Type(_) => "type",
            Self::Object(object) => &object.name,
            Self::Named(name) => name,
        }
    }
}

impl std::fmt::Display for Type {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Error => f.write_str("!error!"),
            Self::Null => f.write_str("null"),
            Self::Duration => f.write_str("duration"),
            Self::Timestamp => f.write_str("timestamp"),
            Self::Param(index) => write!(f, "_var{index}"),
            Self::List(item) => write!(f, "list({item})"),
            Self::Map(entry) => write!(f, "map({}, {})", entry.0, entry.1),
            Self::Optional(inner) => write!(f, "optional_type({inner})"),
            Self::Type(inner) => write!(f, "type({inner})"),
            other => f.write_str(other.name()),
        }
    }
}

/// What is known of the types that are still to be found out.
pub(super) struct Mapping {
    found: BTreeMap<usize, Type>,
    count: usize,
    /// What the present trial has replaced, to be put back if it fails.
    replaced: Vec<(usize, Option<Type>)>,
    /// How many more parts of types may be looked at: types double with each loop around a loop.
    left: Cell<usize>,
}

impl Mapping {
    /// One for so much work.
    pub(super) fn new(work: usize) -> Self {
        Self {
            found: BTreeMap::new(),
            count: 0,
            replaced: Vec::new(),
            left: Cell::new(work),
        }
    }

    /// Whether too much was asked of it: what it says from then on means nothing.
    pub(super) fn is_exhausted(&self) -> bool {
        self.left.get() == 0
    }

    fn step(&self) -> bool {
        self.left.set(self.left.get().saturating_sub(1));
        !self.is_exhausted()
    }

    /// Counts what one look at a type takes that is not counted elsewhere.
    pub(super) fn charge(&self, kind: &Type) {
        if !self.step() {
            return;
        }
        match kind {
            Type::List(inner) | Type::Optional(inner) | Type::Type(inner) => self.charge(inner),
            Type::Map(entry) => {
                self.charge(&entry.0);
                self.charge(&entry.1);
            }
            _ => {}
        }
    }

    pub(super) fn fresh(&mut self) -> Type {
        self.count += 1;
        Type::Param(self.count - 1)
    }

    /// The type with what is known filled in; the rest is dynamic if `settle` says so.
    pub(super) fn resolve(&self, kind: &Type, settle: bool) -> Type {
        if !self.step() {
            return Type::Dyn;
        }
        let inner = |kind: &Type| self.resolve(kind, settle);
        match kind {
            Type::Param(index) => match self.found.get(index) {
                Some(found) => inner(found),
                None if settle => Type::Dyn,
                None => kind.clone(),
            },
            Type::List(item) => Type::list(inner(item)),
            Type::Map(entry) => Type::map(inner(&entry.0), inner(&entry.1)),
            Type::Optional(value) => Type::optional(inner(value)),
            Type::Type(value) => Type::Type(Arc::new(inner(value))),
            other => other.clone(),
        }
    }

    /// Whether one type can stand for another; if so, what that says is kept.
    pub(super) fn fits(&mut self, a: &Type, b: &Type) -> bool {
        self.all_fit(std::slice::from_ref(a), std::slice::from_ref(b))
    }

    pub(super) fn all_fit(&mut self, a: &[Type], b: &[Type]) -> bool {
        self.replaced.clear();
        let fits = a.len() == b.len() && a.iter().zip(b).all(|(a, b)| self.unify(a, b));
        if !fits {
            for (index, before) in std::mem::take(&mut self.replaced).into_iter().rev() {
                match before {
                    Some(before) => self.found.insert(index, before),
                    None => self.found.remove(&index),
                };
            }
        }
        fits
    }

    fn set(&mut self, index: usize, kind: Type) {
        let before = self.found.insert(index, kind);
        self.replaced.push((index, before));
    }

    fn unify(&mut self, a: &Type, b: &Type) -> bool {
        if !self.step() {
            return false;
        }
        if let Type::Param(index) = b {
            let (valid, known) = self.substitute(a, *index);
            if valid || known {
                return valid;
            }
        }
        if let Type::Param(index) = a {
            return self.substitute(b, *index).0;
        }
        if a.is_wild() || b.is_wild() {
            return true;
        }
        match (a, b) {
            (Type::Null, other) | (other, Type::Null) => matches!(
                other,
                Type::Null
                    | Type::Optional(_)
                    | Type::Named(_)
                    | Type::Object(_)
                    | Type::Duration
                    | Type::Timestamp
            ),
            (Type::List(a), Type::List(b)) | (Type::Optional(a), Type::Optional(b)) => {
                self.unify(a, b)
            }
            (Type::Map(a), Type::Map(b)) => self.unify(&a.0, &b.0) && self.unify(&a.1, &b.1),
            (Type::Type(_), Type::Type(_)) => true,
            (a, b) => a == b,
        }
    }

    /// Whether a type can be that of a parameter, and whether that one was known before.
    fn substitute(&mut self, kind: &Type, index: usize) -> (bool, bool) {
        if *kind == Type::Param(index) {
            return (true, true);
        }
        if let Some(known) = self.found.get(&index).cloned() {
            self.charge(kind);
            if known == *kind {
                return (true, true);
            }
            if !self.unify(kind, &known) {
                return (false, true);
            }
            let general = more_general(kind, &known).clone();
            if !self.occurs(index, &general) {
                self.set(index, general);
            }
            return (true, true);
        }
        if self.occurs(index, kind) {
            return (false, false);
        }
        self.set(index, kind.clone());
        (true, false)
    }

    fn occurs(&self, index: usize, kind: &Type) -> bool {
        if !self.step() {
            return false;
        }
        match kind {
            Type::Param(other) => {
                *other == index
                    || self
                        .found
                        .get(other)
                        .is_some_and(|found| self.occurs(index, found))
            }
            Type::List(inner) | Type::Optional(inner) | Type::Type(inner) => {
                self.occurs(index, inner)
            }
            Type::Map(entry) => self.occurs(index, &entry.0) || self.occurs(index, &entry.1),
            _ => false,
        }
    }
}

/// The more general of two types that fit each other.
pub(super) fn more_general<'a>(a: &'a Type, b: &'a Type) -> &'a Type {
    if is_less_specific(a, b) { a } else { b }
}

fn is_less_specific(a: &Type, b: &Type) -> bool {
    match (a, b) {
        (Type::Dyn | Type::Param(_), _) => true,
        (_, Type::Dyn | Type::Param(_)) => false,
        (Type::List(a), Type::List(b)) | (Type::Optional(a), Type::Optional(b)) => {
            is_less_specific(a, b)
        }
        (Type::Map(a), Type::Map(b)) => {
            is_less_specific(&a.0, &b.0) && is_less_specific(&a.1, &b.1)
        }
        (Type::Type(_), Type::Type(_)) => true,
        (a, b) => a == b,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_are_found_out() {
        let mut mapping = Mapping::new(1_000);
        let a = mapping.fresh();
        assert!(mapping.fits(&Type::list(Type::Int), &Type::list(a.clone())));
        assert_eq!(mapping.resolve(&a, true), Type::Int);
        assert!(!mapping.fits(&Type::String, &a));
        assert!(mapping.fits(&Type::Dyn, &a));
        assert!(mapping.fits(&Type::Null, &Type::Timestamp));
        assert!(!mapping.fits(&Type::Null, &Type::Int));
        let b = mapping.fresh();
        assert!(!mapping.fits(&b, &Type::list(b.clone())));
    }

    #[test]
    fn no_type_is_too_large_to_be_given_up() {
        let mapping = Mapping::new(1_000);
        // As many parts as nobody can count, of which each level is there once.
        let large = (0..64).fold(Type::Int, |kind, _| {
            let half = Arc::new(kind);
            Type::map(Type::List(Arc::clone(&half)), Type::List(half))
        });
        assert!(!mapping.is_exhausted());
        drop(mapping.resolve(&large, true));
        assert!(mapping.is_exhausted());
        let mapping = Mapping::new(1_000);
        let small = (0..4).fold(Type::Int, |kind, _| Type::map(kind.clone(), kind));
        assert_eq!(mapping.resolve(&small, true), small);
        assert!(!mapping.is_exhausted());
    }
}
