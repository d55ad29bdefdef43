//! The values of expressions.

use std::borrow::Cow;
use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::net::IpAddr;
use std::rc::Rc;

use jiff::Timestamp;
use serde_json::Value;

use super::budget;
use super::functions::{Cidr, NamedFormat, Url, Version};
use super::object::Object;
use super::text::Text;
use super::types::Type;
use crate::quantity::Amount;
use crate::text::go_float;

/// Why an expression has no value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Fault(pub(crate) Cow<'static, str>);

impl Fault {
    pub(super) fn new(message: impl Into<Cow<'static, str>>) -> Self {
        Self(message.into())
    }

    pub(super) fn no_overload() -> Self {
        Self::new("no such overload")
    }
}

pub(crate) type Outcome<'a> = Result<Val<'a>, Fault>;

/// A value.
#[derive(Clone, Debug)]
pub(crate) enum Val<'a> {
    Null,
    Bool(bool),
    Int(i64),
    Uint(u64),
    Double(f64),
    String(Text<'a>),
    Bytes(Rc<[u8]>),
    /// In nanoseconds.
    Duration(i64),
    Timestamp(Moment),
    List(Rc<List<'a>>),
    Map(Rc<Entries<'a>>),
    Object(Object<'a>),
    Optional(Option<Rc<Val<'a>>>),
    /// A type, by its name.
    Type(&'static str),
    /// What a schema keeps without knowing it: it can only be compared.
    Preserved(&'a Value),
    Url(Rc<Url>),
    Ip(IpAddr),
    Cidr(Cidr),
    Quantity(Amount),
    Semver(Rc<Version>),
    Format(&'static NamedFormat),
}

/// A time, and how many seconds the clock it was read from is ahead of UTC.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Moment {
    pub(super) at: Timestamp,
    pub(super) ahead: i32,
}

/// A list, and how lists like it are compared and added.
#[derive(Clone, Debug)]
pub(crate) struct List<'a> {
    pub(super) items: Vec<Val<'a>>,
    pub(super) order: Order<'a>,
    /// How many levels an evaluation has put around what is in the document.
    pub(super) made: usize,
}

/// What is in a map.
#[derive(Debug)]
pub(crate) struct Entries<'a> {
    map: BTreeMap<Key, Val<'a>>,
    made: usize,
}

impl<'a> std::ops::Deref for Entries<'a> {
    type Target = BTreeMap<Key, Val<'a>>;

    fn deref(&self) -> &Self::Target {
        &self.map
    }
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum Order<'a> {
    /// As a sequence.
    Kept,
    /// As a set.
    Set,
    /// As a map with these fields for a key.
    Keyed(&'a [Box<str>]),
}

/// The key of a map.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Key {
    Bool(bool),
    Int(i64),
    Uint(u64),
    String(Rc<str>),
}

impl<'a> Val<'a> {
    pub(super) fn text(text: impl Into<Text<'a>>) -> Self {
        Self::String(text.into())
    }

    pub(super) fn list(items: Vec<Val<'a>>) -> Self {
        let order = Order::Kept;
        let made = deepest(items.iter()) + 1;
        Self::List(Rc::new(List { items, order, made }))
    }

    pub(super) fn map(map: BTreeMap<Key, Val<'a>>) -> Self {
        let made = deepest(map.values()) + 1;
        Self::Map(Rc::new(Entries { map, made }))
    }

    /// How many levels an evaluation has put around what is in the document.
    pub(super) fn made(&self) -> usize {
        match self {
            Self::List(list) => list.made,
            Self::Map(map) => map.made,
            Self::Optional(Some(inner)) => inner.made() + 1,
            _ => 0,
        }
    }

    pub(super) fn some(value: Val<'a>) -> Self {
        Self::Optional(Some(Rc::new(value)))
    }

    pub(crate) fn as_bool(&self) -> Option<bool> {
        match self {
            Self::Bool(flag) => Some(*flag),
            _ => None,
        }
    }

    pub(crate) fn as_str(&self) -> Option<&str> {
        match self {
            Self::String(text) => Some(text),
            _ => None,
        }
    }

    pub(super) fn type_name(&self) -> &'static str {
        match self {
            Self::Null => "null_type",
            Self::Bool(_) => "bool",
            Self::Int(_) => "int",
            Self::Uint(_) => "uint",
            Self::Double(_) => "double",
            Self::String(_) => "string",
            Self::Bytes(_) => "bytes",
            Self::Duration(_) => "google.protobuf.Duration",
            Self::Timestamp(_) => "google.protobuf.Timestamp",
            Self::List(_) => "list",
            Self::Map(_) | Self::Object(_) => "map",
            Self::Optional(_) => "optional_type",
            Self::Type(_) => "type",
            Self::Preserved(_) => "unknown",
            Self::Url(_) => "kubernetes.URL",
            Self::Ip(_) => "net.IP",
            Self::Cidr(_) => "net.CIDR",
            Self::Quantity(_) => "kubernetes.Quantity",
            Self::Semver(_) => "kubernetes.Semver",
            Self::Format(_) => "kubernetes.NamedFormat",
        }
    }

    /// Whether it is of this type, as far as one sees from outside.
    pub(super) fn is_of(&self, kind: &Type) -> bool {
        match kind {
            Type::Dyn | Type::Param(_) => true,
            Type::Type(_) => matches!(self, Self::Type(_)),
            Type::Object(_) => matches!(self, Self::Object(_)),
            kind => kind.name() == self.type_name(),
        }
    }

    /// The items of a list, or the keys of a map.
    pub(super) fn items(&self) -> Result<Vec<Val<'a>>, Fault> {
        let size = match self {
            Self::List(_) | Self::Map(_) | Self::Object(_) => self.size(),
            _ => None,
        };
        budget::pay(size.unwrap_or(0))?;
        match self {
            Self::List(list) => Ok(list.items.clone()),
            Self::Map(map) => Ok(map.keys().map(Key::value).collect()),
            Self::Object(object) => object.keys(),
            _ => Err(Fault::no_overload()),
        }
    }

    pub(super) fn size(&self) -> Option<usize> {
        match self {
            Self::String(text) => Some(text.chars().count()),
            Self::Bytes(bytes) => Some(bytes.len()),
            Self::List(list) => Some(list.items.len()),
            Self::Map(map) => Some(map.len()),
            Self::Object(object) => Some(object.len()),
            _ => None,
        }
    }

    /// The value at a key or an index, if there is one.
    pub(super) fn find(&self, key: &Val<'a>) -> Result<Option<Val<'a>>, Fault> {
        match self {
            Self::Object(object) => match key {
                Val::String(key) => object.find(key),
                _ => Err(Fault::no_overload()),
            },
            Self::Map(map) => {
                let key = Key::of(key)?;
                let same = |key: &Key| match key {
                    Key::Int(number) => u64::try_from(*number).ok().map(Key::Uint),
                    Key::Uint(number) => i64::try_from(*number).ok().map(Key::Int),
                    _ => None,
                };
                let found = map.get(&key);
                let found = found.or_else(|| same(&key).and_then(|key| map.get(&key)));
                Ok(found.cloned())
            }
            Self::List(list) => {
                let index = match key {
                    Val::Int(index) => *index,
                    Val::Uint(index) => i64::try_from(*index).unwrap_or(-1),
                    #[expect(clippy::cast_possible_truncation, reason = "it is whole")]
                    Val::Double(index) if index.fract() == 0.0 => *index as i64,
                    other => return Err(Fault::new(format!("unsupported index: {other}"))),
                };
                let index = usize::try_from(index).ok();
                Ok(index.and_then(|index| list.items.get(index)).cloned())
            }
            _ => Err(Fault::no_overload()),
        }
    }

    /// Whether there is a value at a key.
    pub(super) fn has(&self, key: &Val<'a>) -> Result<bool, Fault> {
        match (self, key) {
            (Self::Object(object), Val::String(key)) => Ok(object.has(key)),
            _ => Ok(self.find(key)?.is_some()),
        }
    }

    pub(super) fn index(&self, key: &Val<'a>) -> Outcome<'a> {
        match self.find(key)? {
            Some(found) => Ok(found),
            None if matches!(self, Self::List(_)) => {
                Err(Fault::new(format!("index out of bounds: {key}")))
            }
            None => Err(Fault::new(format!("no such key: {key}"))),
        }
    }

    pub(super) fn contains(&self, wanted: &Val<'a>) -> Result<bool, Fault> {
        match self {
            Self::List(list) => {
                let mut fault = None;
                for item in &list.items {
                    match item.equals(wanted) {
                        Ok(true) => return Ok(true),
                        Ok(false) => {}
                        Err(other) if budget::is_over() => return Err(other),
                        Err(other) => fault = fault.or(Some(other)),
                    }
                }
                fault.map_or(Ok(false), Err)
            }
            Self::Map(_) | Self::Object(_) => self.has(wanted),
            _ => Err(Fault::no_overload()),
        }
    }

    pub(super) fn equals(&self, other: &Val<'a>) -> Result<bool, Fault> {
        budget::pay(1)?;
        Ok(match (self, other) {
            (Self::Null, Self::Null) => true,
            (Self::Bool(a), Self::Bool(b)) => a == b,
            (Self::String(a), Self::String(b)) => {
                budget::pay_text(a.len().min(b.len()))?;
                **a == **b
            }
            (Self::Bytes(a), Self::Bytes(b)) => {
                budget::pay_text(a.len().min(b.len()))?;
                a == b
            }
            (Self::Duration(a), Self::Duration(b)) => a == b,
            (Self::Timestamp(a), Self::Timestamp(b)) => a.at == b.at,
            (Self::Type(a), Self::Type(b)) => a == b,
            (Self::Ip(a), Self::Ip(b)) => a == b,
            (Self::Cidr(a), Self::Cidr(b)) => a == b,
            (Self::Quantity(a), Self::Quantity(b)) => a.cmp(b).is_eq(),
            (Self::Semver(a), Self::Semver(b)) => a.cmp(b).is_eq(),
            (Self::Url(a), Self::Url(b)) => a.text == b.text,
            (Self::Format(a), Self::Format(b)) => a.name == b.name,
            (Self::Preserved(a), Self::Preserved(b)) => {
                budget::pay(size_of_json(a))?;
                a == b
            }
            (Self::Optional(a), Self::Optional(b)) => match (a, b) {
                (Some(a), Some(b)) => a.equals(b)?,
                (a, b) => a.is_none() && b.is_none(),
            },
            (Self::List(a), Self::List(b)) => return a.equals(b),
            (Self::Object(a), Self::Object(b)) => return a.equals(b),
            (Self::Object(_) | Self::Map(_), Self::Object(_) | Self::Map(_)) => {
                if self.size() != other.size() {
                    return Ok(false);
                }
                for key in self.items()? {
                    let (Some(a), Some(b)) = (self.find(&key)?, other.find(&key)?) else {
                        return Ok(false);
                    };
                    if !a.equals(&b)? {
                        return Ok(false);
                    }
                }
                true
            }
            (a, b) if a.is_number() && b.is_number() => a.order(b).is_ok_and(Ordering::is_eq),
            _ => false,
        })
    }

    fn is_number(&self) -> bool {
        matches!(self, Self::Int(_) | Self::Uint(_) | Self::Double(_))
    }

    pub(super) fn compare(&self, other: &Val<'a>) -> Result<Ordering, Fault> {
        budget::pay(1 + self.length().min(other.length()) / 64)?;
        self.order(other)
    }

    /// How many bytes a comparison may have to look at.
    pub(super) fn length(&self) -> usize {
        match self {
            Self::String(text) => text.len(),
            Self::Bytes(bytes) => bytes.len(),
            _ => 0,
        }
    }

    /// The same as `compare`, for those who have paid before.
    pub(super) fn order(&self, other: &Val<'a>) -> Result<Ordering, Fault> {
        let whole = |value: &Val<'_>| match value {
            Val::Int(number) => Some(i128::from(*number)),
            Val::Uint(number) => Some(i128::from(*number)),
            _ => None,
        };
        #[expect(
            clippy::cast_precision_loss,
            reason = "beyond 2^53 doubles have neighbours only"
        )]
        let float = |value: &Val<'_>| match value {
            Val::Int(number) => Some(*number as f64),
            Val::Uint(number) => Some(*number as f64),
            Val::Double(number) => Some(*number),
            _ => None,
        };
        if let (Some(a), Some(b)) = (whole(self), whole(other)) {
            return Ok(a.cmp(&b));
        }
        if let (Some(a), Some(b)) = (float(self), float(other)) {
            let order = a.partial_cmp(&b);
            return order.ok_or_else(|| Fault::new("NaN values cannot be ordered"));
        }
        Ok(match (self, other) {
            (Self::Bool(a), Self::Bool(b)) => a.cmp(b),
            (Self::String(a), Self::String(b)) => (**a).cmp(&**b),
            (Self::Bytes(a), Self::Bytes(b)) => a.cmp(b),
            (Self::Duration(a), Self::Duration(b)) => a.cmp(b),
            (Self::Timestamp(a), Self::Timestamp(b)) => a.at.cmp(&b.at),
            _ => return Err(Fault::no_overload()),
        })
    }

    /// Whether it is the least that its type has.
    pub(super) fn is_zero(&self) -> bool {
        match self {
            Self::Null => true,
            Self::Bool(flag) => !flag,
            Self::Int(number) | Self::Duration(number) => *number == 0,
            Self::Uint(number) => *number == 0,
            Self::Double(number) => *number == 0.0,
            Self::Optional(inner) => inner.is_none(),
            _ => self.size() == Some(0),
        }
    }
}

fn deepest<'v, 'a: 'v>(values: impl Iterator<Item = &'v Val<'a>>) -> usize {
    values.map(Val::made).max().unwrap_or(0)
}

/// How much there is to look at in a value: the values in it, and what is long in them.
pub(super) fn size_of_json(value: &Value) -> usize {
    match value {
        Value::Array(items) => 1 + items.iter().map(size_of_json).sum::<usize>(),
        Value::Object(map) => 1 + map.values().map(size_of_json).sum::<usize>(),
        Value::String(text) => 1 + text.len() / 64,
        _ => 1,
    }
}

/// As the messages quote it.
impl std::fmt::Display for Val<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Null => f.write_str("null"),
            Self::Bool(flag) => write!(f, "{flag}"),
            Self::Int(number) => write!(f, "{number}"),
            Self::Uint(number) => write!(f, "{number}"),
            Self::Double(number) => f.write_str(&go_float(*number)),
            Self::String(text) => f.write_str(text),
            other => f.write_str(other.type_name()),
        }
    }
}

impl<'a> List<'a> {
    fn equals(&self, other: &List<'a>) -> Result<bool, Fault> {
        if self.items.len() != other.items.len() {
            return Ok(false);
        }
        for (index, item) in other.items.iter().enumerate() {
            let own = match self.order {
                Order::Kept => self.items.get(index),
                Order::Set => self.position(item)?.map(|index| &self.items[index]),
                Order::Keyed(_) => self.position(item)?.map(|index| &self.items[index]),
            };
            match own {
                Some(own) if own.equals(item)? => {}
                _ => return Ok(false),
            }
        }
        Ok(true)
    }

    /// Where an item is that counts as the same.
    fn position(&self, item: &Val<'a>) -> Result<Option<usize>, Fault> {
        let Order::Keyed(keys) = self.order else {
            for (index, own) in self.items.iter().enumerate() {
                if own.equals(item)? {
                    return Ok(Some(index));
                }
            }
            return Ok(None);
        };
        let field = |item: &Val<'a>, key: &str| match item {
            Val::Object(object) => object.raw(key),
            _ => None,
        };
        let weight = keys.iter().filter_map(|key| field(item, key));
        let weight = 1 + weight.map(size_of_json).sum::<usize>();
        let same = |own: &Val<'a>| keys.iter().all(|key| field(own, key) == field(item, key));
        for (index, own) in self.items.iter().enumerate() {
            budget::pay(weight)?;
            if same(own) {
                return Ok(Some(index));
            }
        }
        Ok(None)
    }

    /// Both lists in one, by the rules of the first.
    pub(super) fn add(&self, other: &List<'a>) -> Result<List<'a>, Fault> {
        budget::pay(self.items.len().saturating_add(other.items.len()))?;
        let mut sum = self.clone();
        sum.made = sum.made.max(other.made);
        for item in &other.items {
            match self.order {
                Order::Kept => sum.items.push(item.clone()),
                Order::Set if sum.position(item)?.is_some() => {}
                Order::Set => sum.items.push(item.clone()),
                Order::Keyed(_) => match self.position(item)? {
                    Some(index) => sum.items[index] = item.clone(),
                    None => sum.items.push(item.clone()),
                },
            }
        }
        Ok(sum)
    }
}

impl Key {
    pub(super) fn of(value: &Val<'_>) -> Result<Self, Fault> {
        Ok(match value {
            Val::Bool(flag) => Self::Bool(*flag),
            Val::Int(number) => Self::Int(*number),
            Val::Uint(number) => Self::Uint(*number),
            #[expect(clippy::cast_possible_truncation, reason = "it is whole")]
            Val::Double(number) if number.fract() == 0.0 => Self::Int(*number as i64),
            Val::String(text) => {
                budget::pay_text(text.len())?;
                Self::String(text.shared())
            }
            other => {
                let message = format!("unsupported key type: {}", other.type_name());
                return Err(Fault::new(message));
            }
        })
    }

    fn value<'a>(&self) -> Val<'a> {
        match self {
            Self::Bool(flag) => Val::Bool(*flag),
            Self::Int(number) => Val::Int(*number),
            Self::Uint(number) => Val::Uint(*number),
            Self::String(text) => Val::text(Rc::clone(text)),
        }
    }
}
