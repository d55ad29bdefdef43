//! Functions of texts.

use std::fmt::Write as _;

use super::super::budget;
use super::super::time;
use super::super::types::Type;
use super::super::value::{Fault, Outcome, Val};
use super::convert::text_of;
use super::{Row, count, int, text};
use crate::text::{go_float, go_quote};

pub(super) const ROWS: &[Row] = &[
    ("string.contains(string) bool", |args| {
        Ok(Val::Bool(text(args, 0)?.contains(text(args, 1)?)))
    }),
    ("string.startsWith(string) bool", |args| {
        Ok(Val::Bool(text(args, 0)?.starts_with(text(args, 1)?)))
    }),
    ("string.endsWith(string) bool", |args| {
        Ok(Val::Bool(text(args, 0)?.ends_with(text(args, 1)?)))
    }),
    ("string.charAt(int) string", char_at),
    ("string.indexOf(string) int", index_of),
    ("string.indexOf(string,int) int", index_of),
    ("string.lastIndexOf(string) int", last_index_of),
    ("string.lastIndexOf(string,int) int", last_index_of),
    ("string.lowerAscii() string", |args| {
        Ok(Val::text(text(args, 0)?.to_ascii_lowercase()))
    }),
    ("string.upperAscii() string", |args| {
        Ok(Val::text(text(args, 0)?.to_ascii_uppercase()))
    }),
    ("string.trim() string", |args| {
        Ok(Val::text(text(args, 0)?.trim().to_owned()))
    }),
    ("string.replace(string,string) string", replace),
    ("string.replace(string,string,int) string", replace),
    ("string.split(string) list<string>", split),
    ("string.split(string,int) list<string>", split),
    ("string.substring(int) string", substring),
    ("string.substring(int,int) string", substring),
    ("list<string>.join() string", join),
    ("list<string>.join(string) string", join),
    ("string.format(list<dyn>) string", format),
    ("strings:quote(string) string", quote),
];

fn chars(text: &str) -> Vec<char> {
    text.chars().collect()
}

fn out_of_range(index: i64) -> Fault {
    Fault::new(format!("index out of range: {index}"))
}

/// An index that may be at most this.
fn bounded(index: i64, most: usize) -> Result<usize, Fault> {
    usize::try_from(index)
        .ok()
        .filter(|index| *index <= most)
        .ok_or_else(|| out_of_range(index))
}

fn char_at<'a>(args: &[Val<'a>]) -> Outcome<'a> {
    let characters = chars(text(args, 0)?);
    let index = bounded(int(args, 1)?, characters.len())?;
    let found = characters.get(index).map(ToString::to_string);
    Ok(Val::text(found.unwrap_or_default()))
}

fn index_of<'a>(args: &[Val<'a>]) -> Outcome<'a> {
    let (own, part) = (text(args, 0)?, text(args, 1)?);
    let offset = if args.len() > 2 { int(args, 2)? } else { 0 };
    if part.is_empty() {
        return Ok(Val::Int(offset));
    }
    let start = usize::try_from(offset).map_err(|_| out_of_range(offset))?;
    let (_, rest) = own.split_at(byte_of(own, start));
    let found = rest.split_once(part);
    Ok(found.map_or(Val::Int(-1), |(before, _)| {
        count(start + before.chars().count())
    }))
}

/// Where a character begins; those that are not there begin at the end.
fn byte_of(text: &str, index: usize) -> usize {
    let found = text.char_indices().nth(index);
    found.map_or(text.len(), |(at, _)| at)
}

fn last_index_of<'a>(args: &[Val<'a>]) -> Outcome<'a> {
    let (own, part) = (text(args, 0)?, text(args, 1)?);
    let length = own.chars().count();
    let last = i64::try_from(length).unwrap_or(i64::MAX);
    if part.is_empty() {
        let offset = if args.len() > 2 { int(args, 2)? } else { last };
        return Ok(Val::Int(offset));
    }
    let offset = if args.len() > 2 {
        int(args, 2)?
    } else {
        last - 1
    };
    if args.len() == 2 && own.len() < part.len() {
        return Ok(Val::Int(-1));
    }
    let start = usize::try_from(offset).map_err(|_| out_of_range(offset))?;
    if start >= length {
        return Ok(Val::Int(-1));
    }
    // What begins there at the latest ends here at the latest.
    let mut end = own.len().min(byte_of(own, start) + part.len());
    while !own.is_char_boundary(end) {
        end -= 1;
    }
    let found = own.split_at(end).0.rsplit_once(part);
    Ok(found.map_or(Val::Int(-1), |(before, _)| count(before.chars().count())))
}

fn replace<'a>(args: &[Val<'a>]) -> Outcome<'a> {
    let (own, from, to) = (text(args, 0)?, text(args, 1)?, text(args, 2)?);
    let limit = if args.len() > 3 { int(args, 3)? } else { -1 };
    let limit = usize::try_from(limit).unwrap_or(usize::MAX);
    let places = own.matches(from).count().min(limit);
    budget::pay_new_text(own.len().saturating_add(places.saturating_mul(to.len())))?;
    Ok(Val::text(own.replacen(from, to, limit)))
}

fn split<'a>(args: &[Val<'a>]) -> Outcome<'a> {
    let (own, separator) = (text(args, 0)?, text(args, 1)?);
    let limit = if args.len() > 2 { int(args, 2)? } else { -1 };
    let limit = usize::try_from(limit).unwrap_or(usize::MAX);
    budget::pay(own.matches(separator).count().min(limit))?;
    let parts: Vec<String> = if limit == 0 {
        Vec::new()
    } else if separator.is_empty() {
        let mut characters = own.chars();
        let mut parts: Vec<String> = characters
            .by_ref()
            .take(limit.saturating_sub(1))
            .map(|c| c.to_string())
            .collect();
        let rest = characters.as_str();
        if !rest.is_empty() {
            parts.push(rest.to_owned());
        }
        parts
    } else {
        own.splitn(limit, separator).map(str::to_owned).collect()
    };
    Ok(Val::list(parts.into_iter().map(Val::text).collect()))
}

fn substring<'a>(args: &[Val<'a>]) -> Outcome<'a> {
    let characters = chars(text(args, 0)?);
    let start = int(args, 1)?;
    let end = if args.len() > 2 {
        int(args, 2)?
    } else {
        i64::try_from(characters.len()).unwrap_or(i64::MAX)
    };
    if start > end && args.len() > 2 {
        return Err(Fault::new(format!(
            "invalid substring range. start: {start}, end: {end}"
        )));
    }
    let from = bounded(start, characters.len())?;
    let to = bounded(end, characters.len())?;
    Ok(Val::text(characters[from..to].iter().collect::<String>()))
}

fn join<'a>(args: &[Val<'a>]) -> Outcome<'a> {
    let separator = if args.len() > 1 { text(args, 1)? } else { "" };
    let items = args[0].items()?;
    let mut parts = Vec::with_capacity(items.len());
    let mut length = items.len().saturating_mul(separator.len());
    for item in &items {
        let Some(part) = item.as_str() else {
            return Err(Fault::new(format!("join: invalid input: {item}")));
        };
        length = length.saturating_add(part.len());
        parts.push(part);
    }
    budget::pay_new_text(length)?;
    Ok(Val::text(parts.join(separator)))
}

fn quote<'a>(args: &[Val<'a>]) -> Outcome<'a> {
    let plain = text(args, 0)?;
    budget::pay_new_text(plain.len())?;
    let mut quoted = String::from("\"");
    for c in plain.chars() {
        match c {
            '\u{7}' => quoted.push_str("\\a"),
            '\u{8}' => quoted.push_str("\\b"),
            '\u{c}' => quoted.push_str("\\f"),
            '\n' => quoted.push_str("\\n"),
            '\r' => quoted.push_str("\\r"),
            '\t' => quoted.push_str("\\t"),
            '\u{b}' => quoted.push_str("\\v"),
            '\\' => quoted.push_str("\\\\"),
            '"' => quoted.push_str("\\\""),
            c => quoted.push(c),
        }
    }
    quoted.push('"');
    Ok(Val::text(quoted))
}

/// A part of a pattern: text, or what becomes of the next argument.
enum Piece {
    Text(String),
    Clause(char, Option<usize>),
}

fn pieces(pattern: &str) -> Result<Vec<Piece>, String> {
    let mut found = Vec::new();
    let mut plain = String::new();
    let mut rest = pattern.chars().peekable();
    while let Some(c) = rest.next() {
        if c != '%' {
            plain.push(c);
            continue;
        }
        let mut next = rest.next().ok_or("unexpected end of string")?;
        if next == '%' {
            plain.push('%');
            continue;
        }
        let mut precision = None;
        if next == '.' {
            let mut digits = String::new();
            while let Some(digit) = rest.next_if(char::is_ascii_digit) {
                digits.push(digit);
            }
            let number: usize = digits
                .parse()
                .map_err(|_| "error while parsing precision".to_owned())?;
            if number > 300 {
                return Err("error while parsing precision".to_owned());
            }
            precision = Some(number);
            next = rest
                .next()
                .ok_or("could not find end of precision specifier")?;
        }
        if !"sdfebxXo".contains(next) {
            return Err(format!("unrecognized formatting clause \"{next}\""));
        }
        found.push(Piece::Text(std::mem::take(&mut plain)));
        found.push(Piece::Clause(next, precision));
    }
    found.push(Piece::Text(plain));
    Ok(found)
}

/// What is wrong with a pattern for these arguments, of which places and some types are known; and at
/// which place, if it is not the call itself.
pub(in crate::cel) fn check_format(
    pattern: &str,
    args: &[(usize, Option<Type>)],
) -> Result<(), (Option<usize>, String)> {
    let pieces = pieces(pattern)
        .map_err(|error| (None, format!("could not parse formatting clause: {error}")))?;
    let clauses = pieces.iter().filter_map(|piece| match piece {
        Piece::Clause(kind, _) => Some(*kind),
        Piece::Text(_) => None,
    });
    let mut used = 0;
    for kind in clauses {
        let Some((place, given)) = args.get(used) else {
            return Err((None, format!("index {used} out of range")));
        };
        used += 1;
        let Some(given) = given else { continue };
        let (fits, what): (&[Type], &str) = match kind {
            'd' | 'o' => (&[Type::Int, Type::Uint], "integers"),
            'f' | 'e' => (&[Type::Double, Type::String], "doubles"),
            'b' => (&[Type::Int, Type::Uint, Type::Bool], ""),
            'x' | 'X' => (&[Type::Int, Type::Uint, Type::String, Type::Bytes], ""),
            _ => continue,
        };
        if !fits.contains(given) {
            let why = refusal(kind, what);
            let message = format!("error during formatting: {why}, was given {given}");
            return Err((Some(*place), message));
        }
    }
    if used < args.len() {
        let message = format!(
            "too many arguments supplied to string.format (expected {used}, got {})",
            args.len()
        );
        return Err((None, message));
    }
    Ok(())
}

/// What a clause says of an argument that it cannot show.
fn refusal(kind: char, of: &str) -> String {
    let name = match kind {
        'd' => "decimal",
        'f' => "fixed-point",
        'e' => "scientific",
        'o' => "octal",
        'b' => return "only integers and bools can be formatted as binary".to_owned(),
        _ => {
            return "only integers, byte buffers, and strings can be formatted as hex".to_owned();
        }
    };
    format!("{name} clause can only be used on {of}")
}

fn format<'a>(args: &[Val<'a>]) -> Outcome<'a> {
    let values = args[1].items()?;
    let mut values = values.iter().enumerate();
    let mut out = Page::default();
    let pieces = pieces(text(args, 0)?)
        .map_err(|error| Fault::new(format!("could not parse formatting clause: {error}")))?;
    let mut used = 0;
    for piece in pieces {
        match piece {
            Piece::Text(plain) => out.write(&plain)?,
            Piece::Clause(kind, precision) => {
                let Some((_, value)) = values.next() else {
                    return Err(Fault::new(format!("index {used} out of range")));
                };
                used += 1;
                budget::pay_new_text(value.length())?;
                let done = if kind == 's' {
                    out.show(value, false)
                } else {
                    clause(kind, precision, value).and_then(|shown| out.write(&shown))
                };
                done.map_err(|fault| {
                    // What is cancelled is no matter of formatting.
                    if budget::is_over() {
                        return fault;
                    }
                    Fault::new(format!("error during formatting: {}", fault.0))
                })?;
            }
        }
    }
    Ok(Val::text(out.0))
}

fn clause(kind: char, precision: Option<usize>, value: &Val<'_>) -> Result<String, Fault> {
    let given = value.type_name();
    let refuse = |of: &str| {
        let why = refusal(kind, of);
        Err(Fault::new(format!("{why}, was given {given}")))
    };
    let digits = precision.unwrap_or(6);
    let float = match value {
        Val::Double(number) => Some(*number),
        Val::String(text) if matches!(&**text, "NaN" | "Infinity" | "-Infinity") => {
            text.parse().ok()
        }
        _ => None,
    };
    match (kind, value) {
        ('d', Val::Int(number)) => Ok(number.to_string()),
        ('d', Val::Uint(number)) => Ok(number.to_string()),
        ('d', _) => refuse("integers"),
        ('f', _) => match float {
            Some(number) => Ok(grouped(&format!("{number:.digits$}"))),
            None => refuse("doubles"),
        },
        ('e', _) => match float {
            Some(number) => Ok(scientific(number, digits)),
            None => refuse("doubles"),
        },
        ('b', Val::Int(number)) => Ok(signed(*number, |size| format!("{size:b}"))),
        ('b', Val::Uint(number)) => Ok(format!("{number:b}")),
        ('b', Val::Bool(flag)) => Ok(u8::from(*flag).to_string()),
        ('b', _) => refuse(""),
        ('o', Val::Int(number)) => Ok(signed(*number, |size| format!("{size:o}"))),
        ('o', Val::Uint(number)) => Ok(format!("{number:o}")),
        ('o', _) => refuse("integers"),
        ('x' | 'X', value) => {
            let lower = match value {
                Val::Int(number) => signed(*number, |size| format!("{size:x}")),
                Val::Uint(number) => format!("{number:x}"),
                Val::String(text) => hex(text.as_bytes()),
                Val::Bytes(bytes) => hex(bytes),
                _ => return refuse(""),
            };
            Ok(if kind == 'X' {
                lower.to_uppercase()
            } else {
                lower
            })
        }
        _ => Err(Fault::no_overload()),
    }
}

fn signed(number: i64, write: fn(u64) -> String) -> String {
    let sign = if number < 0 { "-" } else { "" };
    format!("{sign}{}", write(number.unsigned_abs()))
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut out, byte| {
        // Writing to a string cannot fail.
        let _ = write!(out, "{byte:02x}");
        out
    })
}

/// A number with its thousands apart.
fn grouped(number: &str) -> String {
    let (sign, size) = match number.strip_prefix('-') {
        Some(size) => ("-", size),
        None => ("", number),
    };
    let (whole, fraction) = size.split_at(size.find('.').unwrap_or(size.len()));
    let mut out = String::from(sign);
    for (index, digit) in whole.chars().enumerate() {
        if index > 0 && (whole.len() - index).is_multiple_of(3) && digit.is_ascii_digit() {
            out.push(',');
        }
        out.push(digit);
    }
    out + fraction
}

/// A number with an exponent, as an American writes it.
fn scientific(number: f64, digits: usize) -> String {
    let text = format!("{number:.digits$e}");
    let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let (sign, size) = match exponent.strip_prefix('-') {
        Some(size) => ("\u{2212}", size),
        None => ("", exponent),
    };
    let high: String = format!("{size:0>2}")
        .chars()
        .map(|digit| match digit {
            '0' => '⁰',
            '1' => '¹',
            '2' => '²',
            '3' => '³',
            '4' => '⁴',
            '5' => '⁵',
            '6' => '⁶',
            '7' => '⁷',
            '8' => '⁸',
            _ => '⁹',
        })
        .collect();
    let sign = if sign.is_empty() { "" } else { "⁻" };
    format!("{mantissa}\u{202f}×\u{202f}10{sign}{high}")
}

/// What a format writes on, as long as there is something left to pay for it.
#[derive(Default)]
struct Page(String);

impl Page {
    fn write(&mut self, text: &str) -> Result<(), Fault> {
        if self.0.len().saturating_add(text.len()) > budget::MAX_TEXT {
            return Err(budget::cancel());
        }
        budget::pay(1 + text.len() / 10)?;
        self.0.push_str(text);
        Ok(())
    }

    /// What `%s` makes of a value; inside of lists and maps it is written as an expression would.
    fn show(&mut self, value: &Val<'_>, inside: bool) -> Result<(), Fault> {
        budget::pay_new_text(value.length())?;
        match value {
            Val::List(list) => {
                self.write("[")?;
                for (index, item) in list.items.iter().enumerate() {
                    if index > 0 {
                        self.write(", ")?;
                    }
                    self.show(item, true)?;
                }
                self.write("]")
            }
            Val::Map(_) | Val::Object(_) => {
                let mut entries = Vec::new();
                for key in value.items()? {
                    let found = value.index(&key)?;
                    let (mut left, mut right) = (Self::default(), Self::default());
                    left.show(&key, true)?;
                    right.show(&found, true)?;
                    entries.push((left.0, right.0));
                }
                entries.sort();
                self.write("{")?;
                for (index, (key, value)) in entries.iter().enumerate() {
                    if index > 0 {
                        self.write(", ")?;
                    }
                    self.write(key)?;
                    self.write(":")?;
                    self.write(value)?;
                }
                self.write("}")
            }
            other => self.write(&plain(other, inside)?),
        }
    }
}

/// A value that holds no others, as `%s` shows it.
fn plain(value: &Val<'_>, inside: bool) -> Result<String, Fault> {
    Ok(match value {
        Val::Null => "null".to_owned(),
        Val::String(text) if inside => go_quote(text),
        Val::Bytes(_) if inside => format!("b{}", go_quote(&text_of(value)?)),
        Val::Timestamp(moment) if inside => format!("timestamp({})", go_quote(&moment.text())),
        Val::Duration(nanos) if inside => {
            format!("duration({})", go_quote(&time::duration_text(*nanos)))
        }
        Val::Double(number) if inside => format!("{number:.6}"),
        Val::Double(number) => go_float(*number),
        Val::Bool(_)
        | Val::Int(_)
        | Val::Uint(_)
        | Val::String(_)
        | Val::Bytes(_)
        | Val::Timestamp(_)
        | Val::Duration(_)
        | Val::Type(_) => text_of(value)?,
        other => {
            let given = other.type_name();
            return Err(Fault::new(if inside {
                format!("no formatting function for {given}")
            } else {
                format!(
                    "string clause can only be used on strings, bools, bytes, ints, doubles, maps, \
                     lists, types, durations, and timestamps, was given {given}"
                )
            }));
        }
    })
}
