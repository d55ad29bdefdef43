//! Functions of lists and sets.

use super::super::budget;
use super::super::value::{Fault, Outcome, Val};
use super::{Row, count, int};

pub(super) const ROWS: &[Row] = &[
    ("list<int>.isSorted() bool", is_sorted),
    ("list<uint>.isSorted() bool", is_sorted),
    ("list<double>.isSorted() bool", is_sorted),
    ("list<bool>.isSorted() bool", is_sorted),
    ("list<duration>.isSorted() bool", is_sorted),
    ("list<timestamp>.isSorted() bool", is_sorted),
    ("list<string>.isSorted() bool", is_sorted),
    ("list<bytes>.isSorted() bool", is_sorted),
    ("list<int>.sum() int", |args| sum(args, Val::Int(0))),
    ("list<uint>.sum() uint", |args| sum(args, Val::Uint(0))),
    ("list<double>.sum() double", |args| {
        sum(args, Val::Double(0.0))
    }),
    ("list<duration>.sum() duration", |args| {
        sum(args, Val::Duration(0))
    }),
    ("list<int>.min() int", min),
    ("list<uint>.min() uint", min),
    ("list<double>.min() double", min),
    ("list<bool>.min() bool", min),
    ("list<duration>.min() duration", min),
    ("list<timestamp>.min() timestamp", min),
    ("list<string>.min() string", min),
    ("list<bytes>.min() bytes", min),
    ("list<int>.max() int", max),
    ("list<uint>.max() uint", max),
    ("list<double>.max() double", max),
    ("list<bool>.max() bool", max),
    ("list<duration>.max() duration", max),
    ("list<timestamp>.max() timestamp", max),
    ("list<string>.max() string", max),
    ("list<bytes>.max() bytes", max),
    ("list<A>.indexOf(A) int", index_of),
    ("list<A>.lastIndexOf(A) int", last_index_of),
    ("list<T>.slice(int,int) list<T>", slice),
    ("list<list<T>>.flatten() list<T>", |args| flatten(args, 1)),
    ("list<dyn>.flatten(int) list<dyn>", |args| {
        flatten(args, int(args, 1)?)
    }),
    ("list<int>.sort() list<int>", sort),
    ("list<uint>.sort() list<uint>", sort),
    ("list<double>.sort() list<double>", sort),
    ("list<bool>.sort() list<bool>", sort),
    ("list<duration>.sort() list<duration>", sort),
    ("list<timestamp>.sort() list<timestamp>", sort),
    ("list<string>.sort() list<string>", sort),
    ("list<bytes>.sort() list<bytes>", sort),
    ("list<T>.reverse() list<T>", reverse),
    ("list<T>.distinct() list<T>", distinct),
    ("list<V>.first() optional<V>", |args| {
        Ok(Val::Optional(
            args[0].items()?.into_iter().next().map(Into::into),
        ))
    }),
    ("list<V>.last() optional<V>", |args| {
        Ok(Val::Optional(args[0].items()?.pop().map(Into::into)))
    }),
    ("lists:range(int) list<int>", range),
    ("sets:contains(list<T>,list<T>) bool", |args| {
        contains(&args[0], &args[1]).map(Val::Bool)
    }),
    ("sets:equivalent(list<T>,list<T>) bool", |args| {
        let both = contains(&args[0], &args[1])? && contains(&args[1], &args[0])?;
        Ok(Val::Bool(both))
    }),
    ("sets:intersects(list<T>,list<T>) bool", intersects),
];

/// How many numbers `lists.range` makes at most.
const MAX_RANGE: i64 = 100_000;

fn is_sorted<'a>(args: &[Val<'a>]) -> Outcome<'a> {
    let items = args[0].items()?;
    for pair in items.windows(2) {
        if pair[0].compare(&pair[1])?.is_gt() {
            return Ok(Val::Bool(false));
        }
    }
    Ok(Val::Bool(true))
}

fn sum<'a>(args: &[Val<'a>], zero: Val<'a>) -> Outcome<'a> {
    let mut total = zero;
    let add = super::overloads("_+_");
    for item in args[0].items()? {
        total = super::call(add, &[total, item])?;
    }
    Ok(total)
}

fn extreme<'a>(
    args: &[Val<'a>],
    name: &str,
    better: fn(std::cmp::Ordering) -> bool,
) -> Outcome<'a> {
    let mut items = args[0].items()?.into_iter();
    let Some(mut best) = items.next() else {
        return Err(Fault::new(format!("{name} called on empty list")));
    };
    for item in items {
        if better(item.compare(&best)?) {
            best = item;
        }
    }
    Ok(best)
}

fn min<'a>(args: &[Val<'a>]) -> Outcome<'a> {
    extreme(args, "min", std::cmp::Ordering::is_lt)
}

fn max<'a>(args: &[Val<'a>]) -> Outcome<'a> {
    extreme(args, "max", std::cmp::Ordering::is_gt)
}

fn positions(args: &[Val<'_>]) -> Result<Vec<usize>, Fault> {
    let mut found = Vec::new();
    for (index, item) in args[0].items()?.iter().enumerate() {
        if item.equals(&args[1])? {
            found.push(index);
        }
    }
    Ok(found)
}

fn index_of<'a>(args: &[Val<'a>]) -> Outcome<'a> {
    let found = positions(args)?;
    Ok(found.first().map_or(Val::Int(-1), |index| count(*index)))
}

fn last_index_of<'a>(args: &[Val<'a>]) -> Outcome<'a> {
    let found = positions(args)?;
    Ok(found.last().map_or(Val::Int(-1), |index| count(*index)))
}

fn slice<'a>(args: &[Val<'a>]) -> Outcome<'a> {
    let items = args[0].items()?;
    let (start, end) = (int(args, 1)?, int(args, 2)?);
    let wrong = |why: &str| Fault::new(format!("cannot slice({start}, {end}), {why}"));
    let (Ok(from), Ok(to)) = (usize::try_from(start), usize::try_from(end)) else {
        return Err(wrong("negative indexes not supported"));
    };
    if from > to {
        return Err(wrong("start index must be less than or equal to end index"));
    }
    match items.get(from..to) {
        Some(part) => Ok(Val::list(part.to_vec())),
        None => Err(wrong(&format!("list is length {}", items.len()))),
    }
}

fn flatten<'a>(args: &[Val<'a>], depth: i64) -> Outcome<'a> {
    if depth < 0 {
        return Err(Fault::new("level must be non-negative"));
    }
    let mut flat = Vec::new();
    spread(&args[0], depth, &mut flat)?;
    Ok(Val::list(flat))
}

fn spread<'a>(list: &Val<'a>, depth: i64, flat: &mut Vec<Val<'a>>) -> Result<(), Fault> {
    for item in list.items()? {
        if depth > 0 && matches!(item, Val::List(_)) {
            spread(&item, depth - 1, flat)?;
        } else {
            flat.push(item);
        }
    }
    Ok(())
}

fn sort<'a>(args: &[Val<'a>]) -> Outcome<'a> {
    let items = args[0].items()?;
    by_keys(&items, &items)
}

/// The items in the order of their keys.
pub(in crate::cel) fn by_keys<'a>(items: &[Val<'a>], keys: &[Val<'a>]) -> Outcome<'a> {
    let kind = keys.first().map(Val::type_name);
    if keys.iter().any(|key| Some(key.type_name()) != kind) {
        return Err(Fault::new("list elements must have the same type"));
    }
    // A sort wants one order from its first comparison to its last: so it is paid for before, and
    // keys that have no order are found before.
    let rounds = usize::BITS - keys.len().leading_zeros();
    let rounds = usize::try_from(rounds).unwrap_or(0);
    for key in keys {
        budget::pay(rounds * (1 + key.length() / 64))?;
        if keys.len() > 1 {
            key.order(key)?;
        }
    }
    let mut order: Vec<usize> = (0..items.len()).collect();
    let mut fault = None;
    order.sort_by(|a, b| {
        keys[*a].order(&keys[*b]).unwrap_or_else(|found| {
            fault = Some(found);
            std::cmp::Ordering::Equal
        })
    });
    match fault {
        Some(fault) => Err(fault),
        None => Ok(Val::list(
            order
                .into_iter()
                .map(|index| items[index].clone())
                .collect(),
        )),
    }
}

fn reverse<'a>(args: &[Val<'a>]) -> Outcome<'a> {
    let mut items = args[0].items()?;
    items.reverse();
    Ok(Val::list(items))
}

fn distinct<'a>(args: &[Val<'a>]) -> Outcome<'a> {
    let mut kept: Vec<Val<'a>> = Vec::new();
    for item in args[0].items()? {
        let mut known = false;
        for other in &kept {
            known |= item.equals(other)?;
        }
        if !known {
            kept.push(item);
        }
    }
    Ok(Val::list(kept))
}

fn range<'a>(args: &[Val<'a>]) -> Outcome<'a> {
    let end = int(args, 0)?;
    if end > MAX_RANGE {
        return Err(budget::cancel());
    }
    budget::pay(usize::try_from(end).unwrap_or(0))?;
    Ok(Val::list((0..end).map(Val::Int).collect()))
}

fn contains<'a>(list: &Val<'a>, part: &Val<'a>) -> Result<bool, Fault> {
    for item in part.items()? {
        if !list.contains(&item)? {
            return Ok(false);
        }
    }
    Ok(true)
}

fn intersects<'a>(args: &[Val<'a>]) -> Outcome<'a> {
    for item in args[0].items()? {
        if args[1].contains(&item)? {
            return Ok(Val::Bool(true));
        }
    }
    Ok(Val::Bool(false))
}
