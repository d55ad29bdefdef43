//! Operators, and what holds for values of all types.
#![expect(
    clippy::unnecessary_wraps,
    reason = "functions of one table have one type, and most can fail"
)]

use std::cmp::Ordering;

use super::super::budget;
use super::super::value::{Fault, Moment, Outcome, Val};
use super::{Row, count};

pub(super) const ROWS: &[Row] = &[
    ("!_(bool) bool", not),
    ("-_(int) int", negate),
    ("-_(double) double", negate),
    ("_==_(A,A) bool", equal),
    ("_!=_(A,A) bool", unequal),
    ("_+_(bytes,bytes) bytes", add),
    ("_+_(double,double) double", add),
    ("_+_(duration,duration) duration", add),
    ("_+_(duration,timestamp) timestamp", add),
    ("_+_(timestamp,duration) timestamp", add),
    ("_+_(int,int) int", add),
    ("_+_(list<A>,list<A>) list<A>", add),
    ("_+_(string,string) string", add),
    ("_+_(uint,uint) uint", add),
    ("_-_(double,double) double", subtract),
    ("_-_(duration,duration) duration", subtract),
    ("_-_(int,int) int", subtract),
    ("_-_(timestamp,duration) timestamp", subtract),
    ("_-_(timestamp,timestamp) duration", subtract),
    ("_-_(uint,uint) uint", subtract),
    ("_*_(double,double) double", multiply),
    ("_*_(int,int) int", multiply),
    ("_*_(uint,uint) uint", multiply),
    ("_/_(double,double) double", divide),
    ("_/_(int,int) int", divide),
    ("_/_(uint,uint) uint", divide),
    ("_%_(int,int) int", modulo),
    ("_%_(uint,uint) uint", modulo),
    ("_<_(bool,bool) bool", less),
    ("_<_(int,int) bool", less),
    ("_<_(int,double) bool", less),
    ("_<_(int,uint) bool", less),
    ("_<_(uint,uint) bool", less),
    ("_<_(uint,double) bool", less),
    ("_<_(uint,int) bool", less),
    ("_<_(double,double) bool", less),
    ("_<_(double,int) bool", less),
    ("_<_(double,uint) bool", less),
    ("_<_(string,string) bool", less),
    ("_<_(bytes,bytes) bool", less),
    ("_<_(timestamp,timestamp) bool", less),
    ("_<_(duration,duration) bool", less),
    ("_<=_(bool,bool) bool", at_most),
    ("_<=_(int,int) bool", at_most),
    ("_<=_(int,double) bool", at_most),
    ("_<=_(int,uint) bool", at_most),
    ("_<=_(uint,uint) bool", at_most),
    ("_<=_(uint,double) bool", at_most),
    ("_<=_(uint,int) bool", at_most),
    ("_<=_(double,double) bool", at_most),
    ("_<=_(double,int) bool", at_most),
    ("_<=_(double,uint) bool", at_most),
    ("_<=_(string,string) bool", at_most),
    ("_<=_(bytes,bytes) bool", at_most),
    ("_<=_(timestamp,timestamp) bool", at_most),
    ("_<=_(duration,duration) bool", at_most),
    ("_>_(bool,bool) bool", greater),
    ("_>_(int,int) bool", greater),
    ("_>_(int,double) bool", greater),
    ("_>_(int,uint) bool", greater),
    ("_>_(uint,uint) bool", greater),
    ("_>_(uint,double) bool", greater),
    ("_>_(uint,int) bool", greater),
    ("_>_(double,double) bool", greater),
    ("_>_(double,int) bool", greater),
    ("_>_(double,uint) bool", greater),
    ("_>_(string,string) bool", greater),
    ("_>_(bytes,bytes) bool", greater),
    ("_>_(timestamp,timestamp) bool", greater),
    ("_>_(duration,duration) bool", greater),
    ("_>=_(bool,bool) bool", at_least),
    ("_>=_(int,int) bool", at_least),
    ("_>=_(int,double) bool", at_least),
    ("_>=_(int,uint) bool", at_least),
    ("_>=_(uint,uint) bool", at_least),
    ("_>=_(uint,double) bool", at_least),
    ("_>=_(uint,int) bool", at_least),
    ("_>=_(double,double) bool", at_least),
    ("_>=_(double,int) bool", at_least),
    ("_>=_(double,uint) bool", at_least),
    ("_>=_(string,string) bool", at_least),
    ("_>=_(bytes,bytes) bool", at_least),
    ("_>=_(timestamp,timestamp) bool", at_least),
    ("_>=_(duration,duration) bool", at_least),
    ("_[_](list<A>,int) A", index),
    ("_[_](map<A,B>,A) B", index),
    ("_[_](optional<list<V>>,int) optional<V>", optional_index),
    ("_[_](optional<map<K,V>>,K) optional<V>", optional_index),
    ("_[?_](list<V>,int) optional<V>", optional_index),
    ("_[?_](optional<list<V>>,int) optional<V>", optional_index),
    ("_[?_](map<K,V>,K) optional<V>", optional_index),
    ("_[?_](optional<map<K,V>>,K) optional<V>", optional_index),
    ("@in(A,list<A>) bool", is_in),
    ("@in(A,map<A,B>) bool", is_in),
    ("size(bytes) int", size),
    ("bytes.size() int", size),
    ("size(list<A>) int", size),
    ("list<A>.size() int", size),
    ("size(map<A,B>) int", size),
    ("map<A,B>.size() int", size),
    ("size(string) int", size),
    ("string.size() int", size),
    ("optional:of(V) optional<V>", optional_of),
    ("optional:ofNonZeroValue(V) optional<V>", optional_non_zero),
    ("optional:none() optional<V>", optional_none),
    ("optional<V>.value() V", optional_value),
    ("optional<V>.hasValue() bool", optional_has_value),
    ("optional<V>.or(optional<V>) optional<V>", optional_or),
    ("optional<V>.orValue(V) V", optional_or_value),
    ("optional:unwrap(list<optional<V>>) list<V>", unwrap),
    ("list<optional<V>>.unwrapOpt() list<V>", unwrap),
];

fn not<'a>(args: &[Val<'a>]) -> Outcome<'a> {
    match args {
        [Val::Bool(flag)] => Ok(Val::Bool(!flag)),
        _ => Err(Fault::no_overload()),
    }
}

fn overflow() -> Fault {
    Fault::new("integer overflow")
}

fn unsigned_overflow() -> Fault {
    Fault::new("unsigned integer overflow")
}

fn negate<'a>(args: &[Val<'a>]) -> Outcome<'a> {
    match args {
        [Val::Int(number)] => number.checked_neg().map(Val::Int).ok_or_else(overflow),
        [Val::Double(number)] => Ok(Val::Double(-number)),
        _ => Err(Fault::no_overload()),
    }
}

fn equal<'a>(args: &[Val<'a>]) -> Outcome<'a> {
    args[0].equals(&args[1]).map(Val::Bool)
}

fn unequal<'a>(args: &[Val<'a>]) -> Outcome<'a> {
    args[0].equals(&args[1]).map(|same| Val::Bool(!same))
}

fn add<'a>(args: &[Val<'a>]) -> Outcome<'a> {
    match args {
        [Val::Int(a), Val::Int(b)] => a.checked_add(*b).map(Val::Int).ok_or_else(overflow),
        [Val::Uint(a), Val::Uint(b)] => a
            .checked_add(*b)
            .map(Val::Uint)
            .ok_or_else(unsigned_overflow),
        [Val::Double(a), Val::Double(b)] => Ok(Val::Double(a + b)),
        [Val::String(a), Val::String(b)] => {
            budget::pay_new_text(a.len() + b.len())?;
            Ok(Val::text([&**a, &**b].concat()))
        }
        [Val::Bytes(a), Val::Bytes(b)] => {
            budget::pay_new_text(a.len() + b.len())?;
            Ok(Val::Bytes([&a[..], &b[..]].concat().into()))
        }
        [Val::List(a), Val::List(b)] => Ok(Val::List(a.add(b)?.into())),
        [Val::Duration(a), Val::Duration(b)] => a
            .checked_add(*b)
            .map(Val::Duration)
            .ok_or_else(|| Fault::new("duration overflow")),
        [Val::Duration(by), Val::Timestamp(at)] | [Val::Timestamp(at), Val::Duration(by)] => {
            moved(*at, i128::from(*by))
        }
        _ => Err(Fault::no_overload()),
    }
}

fn moved<'a>(from: Moment, by: i128) -> Outcome<'a> {
    let nanos = from.at.as_nanosecond() + by;
    let at = jiff::Timestamp::from_nanosecond(nanos);
    let years = -62_135_596_800..=253_402_300_799;
    match at {
        Ok(at) if years.contains(&at.as_second()) => Ok(Val::Timestamp(Moment { at, ..from })),
        _ => Err(Fault::new("timestamp overflow")),
    }
}

fn subtract<'a>(args: &[Val<'a>]) -> Outcome<'a> {
    match args {
        [Val::Int(a), Val::Int(b)] => a.checked_sub(*b).map(Val::Int).ok_or_else(overflow),
        [Val::Uint(a), Val::Uint(b)] => a
            .checked_sub(*b)
            .map(Val::Uint)
            .ok_or_else(unsigned_overflow),
        [Val::Double(a), Val::Double(b)] => Ok(Val::Double(a - b)),
        [Val::Duration(a), Val::Duration(b)] => a
            .checked_sub(*b)
            .map(Val::Duration)
            .ok_or_else(|| Fault::new("duration overflow")),
        [Val::Timestamp(at), Val::Duration(by)] => moved(*at, -i128::from(*by)),
        [Val::Timestamp(a), Val::Timestamp(b)] => {
            let nanos = a.at.as_nanosecond() - b.at.as_nanosecond();
            i64::try_from(nanos)
                .map(Val::Duration)
                .map_err(|_| Fault::new("timestamp overflow"))
        }
        _ => Err(Fault::no_overload()),
    }
}

fn multiply<'a>(args: &[Val<'a>]) -> Outcome<'a> {
    match args {
        [Val::Int(a), Val::Int(b)] => a.checked_mul(*b).map(Val::Int).ok_or_else(overflow),
        [Val::Uint(a), Val::Uint(b)] => a
            .checked_mul(*b)
            .map(Val::Uint)
            .ok_or_else(unsigned_overflow),
        [Val::Double(a), Val::Double(b)] => Ok(Val::Double(a * b)),
        _ => Err(Fault::no_overload()),
    }
}

fn divide<'a>(args: &[Val<'a>]) -> Outcome<'a> {
    let zero = || Fault::new("division by zero");
    match args {
        [Val::Int(_), Val::Int(0)] | [Val::Uint(_), Val::Uint(0)] => Err(zero()),
        [Val::Int(a), Val::Int(b)] => a.checked_div(*b).map(Val::Int).ok_or_else(overflow),
        [Val::Uint(a), Val::Uint(b)] => Ok(Val::Uint(a / b)),
        [Val::Double(a), Val::Double(b)] => Ok(Val::Double(a / b)),
        _ => Err(Fault::no_overload()),
    }
}

fn modulo<'a>(args: &[Val<'a>]) -> Outcome<'a> {
    let zero = || Fault::new("modulus by zero");
    match args {
        [Val::Int(_), Val::Int(0)] | [Val::Uint(_), Val::Uint(0)] => Err(zero()),
        [Val::Int(a), Val::Int(b)] => a.checked_rem(*b).map(Val::Int).ok_or_else(overflow),
        [Val::Uint(a), Val::Uint(b)] => Ok(Val::Uint(a % b)),
        _ => Err(Fault::no_overload()),
    }
}

fn ordered<'a>(args: &[Val<'a>], fits: fn(Ordering) -> bool) -> Outcome<'a> {
    args[0]
        .compare(&args[1])
        .map(|order| Val::Bool(fits(order)))
}

fn less<'a>(args: &[Val<'a>]) -> Outcome<'a> {
    ordered(args, Ordering::is_lt)
}

fn at_most<'a>(args: &[Val<'a>]) -> Outcome<'a> {
    ordered(args, Ordering::is_le)
}

fn greater<'a>(args: &[Val<'a>]) -> Outcome<'a> {
    ordered(args, Ordering::is_gt)
}

fn at_least<'a>(args: &[Val<'a>]) -> Outcome<'a> {
    ordered(args, Ordering::is_ge)
}

fn index<'a>(args: &[Val<'a>]) -> Outcome<'a> {
    args[0].index(&args[1])
}

fn optional_index<'a>(args: &[Val<'a>]) -> Outcome<'a> {
    let found = match &args[0] {
        Val::Optional(None) => None,
        Val::Optional(Some(inner)) => inner.find(&args[1])?,
        other => other.find(&args[1])?,
    };
    Ok(found.map_or(Val::Optional(None), Val::some))
}

fn is_in<'a>(args: &[Val<'a>]) -> Outcome<'a> {
    args[1].contains(&args[0]).map(Val::Bool)
}

fn size<'a>(args: &[Val<'a>]) -> Outcome<'a> {
    args[0].size().map(count).ok_or_else(Fault::no_overload)
}

fn optional_of<'a>(args: &[Val<'a>]) -> Outcome<'a> {
    Ok(Val::some(args[0].clone()))
}

fn optional_non_zero<'a>(args: &[Val<'a>]) -> Outcome<'a> {
    Ok(if args[0].is_zero() {
        Val::Optional(None)
    } else {
        Val::some(args[0].clone())
    })
}

fn optional_none<'a>(_: &[Val<'a>]) -> Outcome<'a> {
    Ok(Val::Optional(None))
}

fn optional_value<'a>(args: &[Val<'a>]) -> Outcome<'a> {
    match &args[0] {
        Val::Optional(Some(inner)) => Ok((**inner).clone()),
        Val::Optional(None) => Err(Fault::new("optional.none() dereference")),
        _ => Err(Fault::no_overload()),
    }
}

fn optional_has_value<'a>(args: &[Val<'a>]) -> Outcome<'a> {
    match &args[0] {
        Val::Optional(inner) => Ok(Val::Bool(inner.is_some())),
        _ => Err(Fault::no_overload()),
    }
}

fn optional_or<'a>(args: &[Val<'a>]) -> Outcome<'a> {
    Ok(match &args[0] {
        Val::Optional(None) => args[1].clone(),
        other => other.clone(),
    })
}

fn optional_or_value<'a>(args: &[Val<'a>]) -> Outcome<'a> {
    Ok(match &args[0] {
        Val::Optional(Some(inner)) => (**inner).clone(),
        _ => args[1].clone(),
    })
}

fn unwrap<'a>(args: &[Val<'a>]) -> Outcome<'a> {
    let mut items = Vec::new();
    for item in args[0].items()? {
        match item {
            Val::Optional(Some(inner)) => items.push((*inner).clone()),
            Val::Optional(None) => {}
            other => return Err(Fault::new(format!("value {other} is not optional"))),
        }
    }
    Ok(Val::list(items))
}
