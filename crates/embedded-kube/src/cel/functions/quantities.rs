//! Amounts with units.

use super::super::value::{Fault, Outcome, Val};
use super::{Row, int, text};
use crate::quantity::{self, Amount};

pub(super) const ROWS: &[Row] = &[
    ("quantity(string) quantity", parse),
    ("isQuantity(string) bool", |args| {
        Ok(Val::Bool(quantity::is_quantity(text(args, 0)?)))
    }),
    ("sign(quantity) int", |args| {
        Ok(Val::Int(i64::from(amount(args, 0)?.sign())))
    }),
    ("quantity.isGreaterThan(quantity) bool", |args| {
        Ok(Val::Bool(amount(args, 0)? > amount(args, 1)?))
    }),
    ("quantity.isLessThan(quantity) bool", |args| {
        Ok(Val::Bool(amount(args, 0)? < amount(args, 1)?))
    }),
    ("quantity.compareTo(quantity) int", |args| {
        Ok(Val::Int(amount(args, 0)?.cmp(&amount(args, 1)?) as i64))
    }),
    ("quantity.asApproximateFloat() double", |args| {
        Ok(Val::Double(amount(args, 0)?.float()))
    }),
    ("quantity.asInteger() int", |args| {
        amount(args, 0)?
            .integer()
            .map(Val::Int)
            .ok_or_else(|| Fault::new("cannot convert value to integer"))
    }),
    ("quantity.isInteger() bool", |args| {
        Ok(Val::Bool(amount(args, 0)?.integer().is_some()))
    }),
    ("quantity.add(quantity) quantity", |args| {
        moved(amount(args, 0)?, amount(args, 1)?, 1)
    }),
    ("quantity.add(int) quantity", |args| {
        moved(amount(args, 0)?, Amount::whole(int(args, 1)?), 1)
    }),
    ("quantity.sub(quantity) quantity", |args| {
        moved(amount(args, 0)?, amount(args, 1)?, -1)
    }),
    ("quantity.sub(int) quantity", |args| {
        moved(amount(args, 0)?, Amount::whole(int(args, 1)?), -1)
    }),
];

fn parse<'a>(args: &[Val<'a>]) -> Outcome<'a> {
    let given = text(args, 0)?;
    let amount = quantity::is_quantity(given)
        .then(|| Amount::parse(given))
        .flatten();
    amount.map(Val::Quantity).ok_or_else(|| {
        Fault::new(
            "quantities must match the regular expression \
             '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'",
        )
    })
}

fn amount(args: &[Val<'_>], index: usize) -> Result<Amount, Fault> {
    match args.get(index) {
        Some(Val::Quantity(amount)) => Ok(*amount),
        _ => Err(Fault::no_overload()),
    }
}

fn moved<'a>(amount: Amount, by: Amount, sign: i128) -> Outcome<'a> {
    let moved = amount.moved(by, sign);
    moved
        .map(Val::Quantity)
        .ok_or_else(|| Fault::new("integer overflow"))
}
