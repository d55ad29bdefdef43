//! The functions and operators of expressions: what they take, what they give, what they do.

mod convert;
mod formats;
mod lists;
mod network;
mod operators;
mod quantities;
mod regex;
mod strings;
mod versions;

use std::collections::BTreeMap;
use std::sync::LazyLock;

use super::types::Type;
use super::value::{Fault, Outcome, Val};

pub(super) use convert::is_valid_literal;
pub(super) use formats::NamedFormat;
pub(super) use lists::by_keys;
pub(super) use network::{Cidr, Url};
pub(super) use regex::compiled as compile_pattern;
pub(super) use strings::check_format;
pub(super) use versions::Version;

pub(super) const IP: Type = Type::Named("net.IP");
pub(super) const CIDR: Type = Type::Named("net.CIDR");
pub(super) const URL: Type = Type::Named("kubernetes.URL");
pub(super) const QUANTITY: Type = Type::Named("kubernetes.Quantity");
pub(super) const SEMVER: Type = Type::Named("kubernetes.Semver");
const FORMAT: Type = Type::Named("kubernetes.NamedFormat");

/// What a function does with its arguments; the target of a method is the first.
type Run = for<'a> fn(&[Val<'a>]) -> Outcome<'a>;

/// A signature, as in `string.indexOf(string,int) int`, and what is done.
type Row = (&'static str, Run);

/// One meaning of a function.
pub(super) struct Overload {
    pub(super) name: String,
    pub(super) member: bool,
    pub(super) args: Vec<Type>,
    pub(super) result: Type,
    /// How many types it leaves open.
    pub(super) params: usize,
    run: Run,
}

pub(super) static OVERLOADS: LazyLock<Vec<Overload>> = LazyLock::new(|| {
    let rows: [&[Row]; 9] = [
        operators::ROWS,
        convert::ROWS,
        strings::ROWS,
        lists::ROWS,
        regex::ROWS,
        network::ROWS,
        quantities::ROWS,
        versions::ROWS,
        formats::ROWS,
    ];
    let rows = rows.into_iter().flatten();
    rows.map(|(signature, run)| declare(signature, *run))
        .collect()
});

static BY_NAME: LazyLock<BTreeMap<&'static str, Vec<usize>>> = LazyLock::new(|| {
    let mut names: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for (index, overload) in OVERLOADS.iter().enumerate() {
        names.entry(&overload.name).or_default().push(index);
    }
    names
});

pub(super) fn is_known(name: &str) -> bool {
    BY_NAME.contains_key(name)
}

/// All meanings of a function, whatever it is called on.
pub(super) fn overloads(name: &str) -> &'static [usize] {
    BY_NAME.get(name).map_or(&[], Vec::as_slice)
}

/// Calls the first of these meanings that fits the arguments.
pub(super) fn call<'a>(overloads: &[usize], args: &[Val<'a>]) -> Outcome<'a> {
    let fits = |overload: &&Overload| {
        overload.args.len() == args.len()
            && args
                .iter()
                .zip(&overload.args)
                .all(|(arg, kind)| arg.is_of(kind))
    };
    let mut meant = overloads.iter().map(|index| &OVERLOADS[*index]);
    match meant.find(fits) {
        Some(overload) => (overload.run)(args),
        None => Err(Fault::no_overload()),
    }
}

/// Reads `target.name(args) result`, or the same without a target. Operators have their own marks.
fn declare(signature: &str, run: Run) -> Overload {
    let open = signature.find('(').unwrap_or(signature.len());
    let close = signature.rfind(')').unwrap_or(signature.len());
    let (head, args, result) = (
        &signature[..open],
        &signature[open + 1..close],
        signature[close + 1..].trim(),
    );
    // A function of a family is written with a colon, so that the family is no target.
    let (target, name) = match head.rsplit_once('.') {
        Some((target, name)) if !head.starts_with(['_', '@', '!', '-']) => (Some(target), name),
        _ => (None, head),
    };
    let mut params = Vec::new();
    let mut types: Vec<Type> = target
        .into_iter()
        .map(|text| read(text, &mut params))
        .collect();
    types.extend(split(args).map(|text| read(text, &mut params)));
    let result = read(result, &mut params);
    Overload {
        name: name.replace(':', "."),
        member: target.is_some(),
        args: types,
        result,
        params: params.len(),
        run,
    }
}

/// The parts of a list with commas, those in angle brackets left together.
fn split(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = Some(text).filter(|text| !text.is_empty());
    std::iter::from_fn(move || {
        let text = rest?;
        let mut depth = 0;
        let end = text.find(|c: char| {
            match c {
                '<' => depth += 1,
                '>' => depth -= 1,
                _ => {}
            }
            c == ',' && depth == 0
        });
        let (part, after) = match end {
            Some(end) => (&text[..end], Some(&text[end + 1..])),
            None => (text, None),
        };
        rest = after;
        Some(part)
    })
}

fn read(text: &str, params: &mut Vec<String>) -> Type {
    if let Some((outer, inner)) = text.split_once('<') {
        let inner = inner.strip_suffix('>').unwrap_or(inner);
        let mut parts = split(inner).map(|part| read(part, params));
        let first = parts.next().unwrap_or(Type::Dyn);
        return match outer {
            "list" => Type::list(first),
            "map" => Type::map(first, parts.next().unwrap_or(Type::Dyn)),
            "optional" => Type::optional(first),
            _ => Type::Type(first.into()),
        };
    }
    match text {
        "bool" => Type::Bool,
        "int" => Type::Int,
        "uint" => Type::Uint,
        "double" => Type::Double,
        "string" => Type::String,
        "bytes" => Type::Bytes,
        "duration" => Type::Duration,
        "timestamp" => Type::Timestamp,
        "ip" => IP,
        "cidr" => CIDR,
        "url" => URL,
        "quantity" => QUANTITY,
        "semver" => SEMVER,
        "format" => FORMAT,
        name if name.len() == 1 => {
            let known = params.iter().position(|param| param == name);
            Type::Param(known.unwrap_or_else(|| {
                params.push(name.to_owned());
                params.len() - 1
            }))
        }
        _ => Type::Dyn,
    }
}

/// The text of an argument.
fn text<'v>(args: &'v [Val<'_>], index: usize) -> Result<&'v str, Fault> {
    args.get(index)
        .and_then(Val::as_str)
        .ok_or_else(Fault::no_overload)
}

fn int(args: &[Val<'_>], index: usize) -> Result<i64, Fault> {
    match args.get(index) {
        Some(Val::Int(number)) => Ok(*number),
        _ => Err(Fault::no_overload()),
    }
}

/// A size as a value.
fn count<'a>(size: usize) -> Val<'a> {
    Val::Int(i64::try_from(size).unwrap_or(i64::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signatures_are_read() {
        let find = |name: &str| &OVERLOADS[overloads(name)[0]];
        let index = find("indexOf");
        assert!(index.member);
        assert_eq!(index.args[0], Type::String);
        let range = find("lists.range");
        assert!(!range.member);
        assert_eq!(range.result, Type::list(Type::Int));
        let of = find("_[_]");
        assert_eq!((of.params, of.args.len()), (1, 2));
        assert!(is_known("optional.of") && !is_known("nonsense"));
    }
}
