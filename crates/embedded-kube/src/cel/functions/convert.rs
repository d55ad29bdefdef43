//! From one type to another, and what times are made of.

use super::super::time;
use super::super::value::{Fault, Moment, Outcome, Val};
use super::{Row, text};
use crate::schema::pattern;
use crate::text::go_float;

pub(super) const ROWS: &[Row] = &[
    ("type(A) type<A>", type_of),
    ("dyn(A) dyn", same),
    ("bool(bool) bool", same),
    ("bool(string) bool", to_bool),
    ("bytes(bytes) bytes", same),
    ("bytes(string) bytes", to_bytes),
    ("double(double) double", same),
    ("double(int) double", to_double),
    ("double(string) double", to_double),
    ("double(uint) double", to_double),
    ("duration(duration) duration", same),
    ("duration(int) duration", to_duration),
    ("duration(string) duration", to_duration),
    ("int(int) int", same),
    ("int(double) int", to_int),
    ("int(duration) int", to_int),
    ("int(string) int", to_int),
    ("int(timestamp) int", to_int),
    ("int(uint) int", to_int),
    ("string(string) string", same),
    ("string(bool) string", to_text),
    ("string(bytes) string", to_text),
    ("string(double) string", to_text),
    ("string(duration) string", to_text),
    ("string(int) string", to_text),
    ("string(timestamp) string", to_text),
    ("string(uint) string", to_text),
    ("string(ip) string", to_text),
    ("string(cidr) string", to_text),
    ("timestamp(timestamp) timestamp", same),
    ("timestamp(int) timestamp", to_time),
    ("timestamp(string) timestamp", to_time),
    ("uint(uint) uint", same),
    ("uint(double) uint", to_uint),
    ("uint(int) uint", to_uint),
    ("uint(string) uint", to_uint),
    ("timestamp.getFullYear() int", |args| {
        part("getFullYear", args)
    }),
    ("timestamp.getFullYear(string) int", |args| {
        part("getFullYear", args)
    }),
    ("timestamp.getMonth() int", |args| part("getMonth", args)),
    ("timestamp.getMonth(string) int", |args| {
        part("getMonth", args)
    }),
    ("timestamp.getDayOfYear() int", |args| {
        part("getDayOfYear", args)
    }),
    ("timestamp.getDayOfYear(string) int", |args| {
        part("getDayOfYear", args)
    }),
    ("timestamp.getDayOfMonth() int", |args| {
        part("getDayOfMonth", args)
    }),
    ("timestamp.getDayOfMonth(string) int", |args| {
        part("getDayOfMonth", args)
    }),
    ("timestamp.getDate() int", |args| part("getDate", args)),
    ("timestamp.getDate(string) int", |args| {
        part("getDate", args)
    }),
    ("timestamp.getDayOfWeek() int", |args| {
        part("getDayOfWeek", args)
    }),
    ("timestamp.getDayOfWeek(string) int", |args| {
        part("getDayOfWeek", args)
    }),
    ("timestamp.getHours() int", |args| part("getHours", args)),
    ("timestamp.getHours(string) int", |args| {
        part("getHours", args)
    }),
    ("duration.getHours() int", |args| part("getHours", args)),
    ("timestamp.getMinutes() int", |args| {
        part("getMinutes", args)
    }),
    ("timestamp.getMinutes(string) int", |args| {
        part("getMinutes", args)
    }),
    ("duration.getMinutes() int", |args| part("getMinutes", args)),
    ("timestamp.getSeconds() int", |args| {
        part("getSeconds", args)
    }),
    ("timestamp.getSeconds(string) int", |args| {
        part("getSeconds", args)
    }),
    ("duration.getSeconds() int", |args| part("getSeconds", args)),
    ("timestamp.getMilliseconds() int", |args| {
        part("getMilliseconds", args)
    }),
    ("timestamp.getMilliseconds(string) int", |args| {
        part("getMilliseconds", args)
    }),
    ("duration.getMilliseconds() int", |args| {
        part("getMilliseconds", args)
    }),
];

/// Whether a constant is what this function reads.
pub(in crate::cel) fn is_valid_literal(function: &str, constant: &str) -> bool {
    match function {
        "duration" => time::duration(constant).is_some(),
        "timestamp" => time::moment(constant).is_some(),
        "matches" => pattern::compile(constant).is_ok(),
        _ => true,
    }
}

fn same<'a>(args: &[Val<'a>]) -> Outcome<'a> {
    args.first().cloned().ok_or_else(Fault::no_overload)
}

fn type_of<'a>(args: &[Val<'a>]) -> Outcome<'a> {
    let value = args.first().ok_or_else(Fault::no_overload)?;
    Ok(Val::Type(value.type_name()))
}

fn wrong(from: &Val<'_>, to: &str) -> Fault {
    Fault::new(format!(
        "type conversion error from '{}' to '{to}'",
        from.type_name()
    ))
}

fn to_bool<'a>(args: &[Val<'a>]) -> Outcome<'a> {
    match text(args, 0)? {
        "1" | "t" | "T" | "TRUE" | "true" | "True" => Ok(Val::Bool(true)),
        "0" | "f" | "F" | "FALSE" | "false" | "False" => Ok(Val::Bool(false)),
        _ => Err(wrong(&args[0], "bool")),
    }
}

fn to_bytes<'a>(args: &[Val<'a>]) -> Outcome<'a> {
    Ok(Val::Bytes(text(args, 0)?.as_bytes().into()))
}

#[expect(clippy::cast_precision_loss, reason = "that is what doubles do")]
fn to_double<'a>(args: &[Val<'a>]) -> Outcome<'a> {
    Ok(Val::Double(match &args[0] {
        Val::Int(number) => *number as f64,
        Val::Uint(number) => *number as f64,
        Val::String(text) => text
            .parse()
            .ok()
            .filter(|_| !text.is_empty())
            .ok_or_else(|| wrong(&args[0], "double"))?,
        other => return Err(wrong(other, "double")),
    }))
}

fn to_duration<'a>(args: &[Val<'a>]) -> Outcome<'a> {
    match &args[0] {
        Val::Int(nanos) => Ok(Val::Duration(*nanos)),
        Val::String(text) => time::duration(text)
            .map(Val::Duration)
            .ok_or_else(|| wrong(&args[0], "google.protobuf.Duration")),
        other => Err(wrong(other, "google.protobuf.Duration")),
    }
}

fn to_int<'a>(args: &[Val<'a>]) -> Outcome<'a> {
    Ok(Val::Int(match &args[0] {
        Val::Uint(number) => i64::try_from(*number).map_err(|_| Fault::new("integer overflow"))?,
        #[expect(
            clippy::cast_possible_truncation,
            reason = "what does not fit is refused before"
        )]
        Val::Double(number) if number.abs() < 9.223_372_036_854_776e18 => *number as i64,
        Val::Double(_) => return Err(Fault::new("integer overflow")),
        Val::Duration(nanos) => *nanos,
        Val::Timestamp(moment) => {
            let seconds = moment.at.as_nanosecond().div_euclid(1_000_000_000);
            i64::try_from(seconds).map_err(|_| Fault::new("integer overflow"))?
        }
        Val::String(text) => whole(text).ok_or_else(|| wrong(&args[0], "int"))?,
        other => return Err(wrong(other, "int")),
    }))
}

fn whole<T: TryFrom<i128>>(text: &str) -> Option<T> {
    let number: i128 = text.parse().ok()?;
    T::try_from(number).ok()
}

fn to_uint<'a>(args: &[Val<'a>]) -> Outcome<'a> {
    let overflow = || Fault::new("unsigned integer overflow");
    Ok(Val::Uint(match &args[0] {
        Val::Int(number) => u64::try_from(*number).map_err(|_| overflow())?,
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "what does not fit is refused before"
        )]
        Val::Double(number) if (0.0..1.844_674_407_370_955_2e19).contains(number) => *number as u64,
        Val::Double(_) => return Err(overflow()),
        Val::String(text) => Some(text)
            .filter(|text| !text.starts_with(['+', '-']))
            .and_then(|text| whole(text))
            .ok_or_else(|| wrong(&args[0], "uint"))?,
        other => return Err(wrong(other, "uint")),
    }))
}

fn to_text<'a>(args: &[Val<'a>]) -> Outcome<'a> {
    text_of(&args[0]).map(Val::text)
}

/// What `string()` makes of a value.
pub(super) fn text_of(value: &Val<'_>) -> Result<String, Fault> {
    Ok(match value {
        Val::String(text) => text.to_string(),
        Val::Bool(flag) => flag.to_string(),
        Val::Int(number) => number.to_string(),
        Val::Uint(number) => number.to_string(),
        Val::Double(number) => go_float(*number),
        Val::Duration(nanos) => time::duration_text(*nanos),
        Val::Timestamp(moment) => moment.text(),
        Val::Bytes(bytes) => std::str::from_utf8(bytes)
            .map_err(|_| Fault::new("invalid UTF-8 in bytes, cannot convert to string"))?
            .to_owned(),
        Val::Ip(address) => address.to_string(),
        Val::Cidr(cidr) => cidr.text(),
        Val::Type(name) => (*name).to_owned(),
        other => return Err(wrong(other, "string")),
    })
}

fn to_time<'a>(args: &[Val<'a>]) -> Outcome<'a> {
    match &args[0] {
        Val::Int(seconds) => {
            let years = -62_135_596_800..=253_402_300_799;
            let at = jiff::Timestamp::from_second(*seconds).ok();
            at.filter(|_| years.contains(seconds))
                .map(|at| Val::Timestamp(Moment { at, ahead: 0 }))
                .ok_or_else(|| Fault::new("timestamp overflow"))
        }
        Val::String(text) => time::moment(text)
            .map(Val::Timestamp)
            .ok_or_else(|| wrong(&args[0], "google.protobuf.Timestamp")),
        other => Err(wrong(other, "google.protobuf.Timestamp")),
    }
}

fn part<'a>(what: &str, args: &[Val<'a>]) -> Outcome<'a> {
    let zone = args.get(1).and_then(Val::as_str);
    match &args[0] {
        Val::Timestamp(moment) => moment.part(what, zone).map(Val::Int),
        Val::Duration(nanos) => Ok(Val::Int(match what {
            "getHours" => nanos / 3_600_000_000_000,
            "getMinutes" => nanos / 60_000_000_000,
            "getSeconds" => nanos / 1_000_000_000,
            _ => nanos / 1_000_000,
        })),
        _ => Err(Fault::no_overload()),
    }
}
