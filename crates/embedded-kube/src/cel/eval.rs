//! What an expression is worth.

use std::collections::BTreeMap;

use super::ast::{Call, Expr, How, Literal, Loop, LoopKind, Node, Select};
use super::budget;
use super::check::type_named;
use super::functions;
use super::value::{Fault, Key, Outcome, Val};
use crate::deep;

/// How many levels an evaluation may put around what is in the document: there is room for so many
/// more.
const MAX_MADE: usize = deep::SHALLOW;

/// Where the variables of an expression come from.
pub(crate) trait Variables<'a> {
    /// The value of a variable, if there is one of this name.
    fn get(&self, name: &str) -> Option<Outcome<'a>>;
}

/// The value of an expression.
pub(super) fn eval<'a>(expr: &'a Expr, variables: &dyn Variables<'a>) -> Outcome<'a> {
    let _running = budget::Evaluation::begin(expr.depth)?;
    let mut run = Run {
        variables,
        scope: Vec::new(),
    };
    run.expr(expr)
}

struct Run<'v, 'a> {
    variables: &'v dyn Variables<'a>,
    /// The variables of the loops around.
    scope: Vec<(&'a str, Val<'a>)>,
}

impl<'a> Run<'_, 'a> {
    fn expr(&mut self, expr: &'a Expr) -> Outcome<'a> {
        budget::pay(1)?;
        let value = self.value(expr)?;
        if value.made() > MAX_MADE {
            return Err(budget::cancel());
        }
        Ok(value)
    }

    fn value(&mut self, expr: &'a Expr) -> Outcome<'a> {
        match &expr.node {
            Node::Literal(literal) => {
                if let Literal::Bytes(bytes) = literal {
                    budget::pay_text(bytes.len())?;
                }
                Ok(constant(literal))
            }
            Node::Name(name) => self.name(name),
            Node::Select(select) => self.select(select),
            Node::Logic(all, terms) => self.logic(*all, terms),
            Node::Choice(parts) => {
                let [condition, yes, no] = &**parts;
                match self.expr(condition)? {
                    Val::Bool(true) => self.expr(yes),
                    Val::Bool(false) => self.expr(no),
                    _ => Err(Fault::no_overload()),
                }
            }
            Node::Call(call) => self.call(call),
            Node::List(items) => {
                let mut list = Vec::with_capacity(items.len());
                for (item, optional) in items {
                    let value = self.expr(item)?;
                    list.extend(kept(value, *optional)?);
                }
                Ok(Val::list(list))
            }
            Node::Map(entries) => {
                let mut map = BTreeMap::new();
                for (key, value, optional) in entries {
                    let key = Key::of(&self.expr(key)?)?;
                    let value = self.expr(value)?;
                    if let Some(value) = kept(value, *optional)? {
                        map.insert(key, value);
                    }
                }
                Ok(Val::map(map))
            }
            Node::Struct(_) => Err(Fault::no_overload()),
            Node::Loop(body) => self.repeat(body),
        }
    }

    fn name(&self, name: &'a str) -> Outcome<'a> {
        let local = self.scope.iter().rev().find(|(known, _)| *known == name);
        if let Some((_, value)) = local {
            return Ok(value.clone());
        }
        if let Some(value) = self.variables.get(name) {
            return value;
        }
        type_named(name)
            .map(Val::Type)
            .ok_or_else(|| Fault::new(format!("no such attribute(s): {name}")))
    }

    fn select(&mut self, select: &'a Select) -> Outcome<'a> {
        let operand = self.expr(&select.operand)?;
        budget::pay_text(select.field.len())?;
        let key = Val::text(select.field.as_str());
        let (operand, optional) = match operand {
            Val::Optional(None) if select.how == How::Has => return Ok(Val::Bool(false)),
            Val::Optional(None) => return Ok(Val::Optional(None)),
            Val::Optional(Some(inner)) => ((*inner).clone(), true),
            other => (other, select.how == How::Optional),
        };
        if matches!(operand, Val::List(_)) {
            return Err(Fault::no_overload());
        }
        match select.how {
            How::Has => Ok(Val::Bool(operand.has(&key)?)),
            _ if optional => Ok(operand.find(&key)?.map_or(Val::Optional(None), Val::some)),
            _ => operand.index(&key),
        }
    }

    /// `&&` and `||`: what decides counts, even if something else has no value.
    fn logic(&mut self, all: bool, terms: &'a [Expr]) -> Outcome<'a> {
        let mut fault = None;
        for term in terms {
            match self.expr(term) {
                Ok(Val::Bool(flag)) if flag != all => return Ok(Val::Bool(flag)),
                Ok(Val::Bool(_)) => {}
                Ok(_) => fault = fault.or_else(|| Some(Fault::no_overload())),
                Err(other) if budget::is_over() => return Err(other),
                Err(other) => fault = fault.or(Some(other)),
            }
        }
        fault.map_or(Ok(Val::Bool(all)), Err)
    }

    fn call(&mut self, call: &'a Call) -> Outcome<'a> {
        let mut args = Vec::with_capacity(call.args.len() + 1);
        if let Some(target) = &call.target {
            let value = self.expr(target)?;
            // The other side is looked at only if it is needed.
            match (call.function.as_str(), &value) {
                ("or", Val::Optional(Some(_))) => return Ok(value),
                ("orValue", Val::Optional(Some(inner))) => return Ok((**inner).clone()),
                _ => args.push(value),
            }
        }
        for arg in &call.args {
            args.push(self.expr(arg)?);
        }
        let work: usize = args
            .iter()
            .map(|arg| arg.size().unwrap_or(0) / 10)
            .fold(0, usize::saturating_add);
        budget::pay(work)?;
        functions::call(&call.overloads, &args)
    }

    fn repeat(&mut self, body: &'a Loop) -> Outcome<'a> {
        let range = self.expr(&body.range)?;
        if matches!(body.kind, LoopKind::OptMap | LoopKind::OptFlatMap) {
            return self.optional(body, range);
        }
        let items = range.items()?;
        let scope = self.scope.len();
        let result = self.items(body, &range, items);
        self.scope.truncate(scope);
        result
    }

    fn optional(&mut self, body: &'a Loop, range: Val<'a>) -> Outcome<'a> {
        let inner = match range {
            Val::Optional(Some(inner)) => (*inner).clone(),
            Val::Optional(None) => return Ok(Val::Optional(None)),
            _ => return Err(Fault::no_overload()),
        };
        self.scope.push((&body.variable, inner));
        let result = self.expr(&body.body);
        self.scope.pop();
        Ok(match body.kind {
            LoopKind::OptMap => Val::some(result?),
            _ => result?,
        })
    }

    fn items(&mut self, body: &'a Loop, range: &Val<'a>, items: Vec<Val<'a>>) -> Outcome<'a> {
        let scope = self.scope.len();
        let is_list = matches!(range, Val::List(_));
        let mut fault = None;
        let mut list = Vec::new();
        let mut map = BTreeMap::new();
        let mut matching = 0;
        let all = items.clone();
        for (index, item) in items.into_iter().enumerate() {
            self.scope.truncate(scope);
            match &body.second {
                Some(second) => {
                    let (key, value) = if is_list {
                        (Val::Int(i64::try_from(index).unwrap_or(i64::MAX)), item)
                    } else {
                        (item.clone(), range.index(&item)?)
                    };
                    self.scope.push((&body.variable, key));
                    self.scope.push((second, value));
                }
                None => self.scope.push((&body.variable, item)),
            }
            if let Some(filter) = &body.filter
                && !boolean(&self.expr(filter)?)?
            {
                continue;
            }
            let value = self.expr(&body.body);
            match body.kind {
                LoopKind::All | LoopKind::Exists => {
                    let decisive = body.kind == LoopKind::Exists;
                    match value.and_then(|value| boolean(&value)) {
                        Ok(flag) if flag == decisive => return Ok(Val::Bool(decisive)),
                        Ok(_) => {}
                        Err(other) if budget::is_over() => return Err(other),
                        Err(other) => fault = fault.or(Some(other)),
                    }
                }
                LoopKind::ExistsOne => matching += usize::from(boolean(&value?)?),
                LoopKind::Filter => {
                    if boolean(&value?)? {
                        list.push(all[index].clone());
                    }
                }
                LoopKind::TransformMap => {
                    let key = Key::of(&self.scope[scope].1)?;
                    insert(&mut map, key, value?)?;
                }
                LoopKind::TransformMapEntry => match value? {
                    Val::Map(entries) => {
                        budget::pay(entries.len())?;
                        for (key, value) in entries.iter() {
                            insert(&mut map, key.clone(), value.clone())?;
                        }
                    }
                    _ => return Err(Fault::no_overload()),
                },
                _ => list.push(value?),
            }
        }
        if let Some(fault) = fault {
            return Err(fault);
        }
        match body.kind {
            LoopKind::All => Ok(Val::Bool(true)),
            LoopKind::Exists => Ok(Val::Bool(false)),
            LoopKind::ExistsOne => Ok(Val::Bool(matching == 1)),
            LoopKind::TransformMap | LoopKind::TransformMapEntry => Ok(Val::map(map)),
            LoopKind::SortBy => functions::by_keys(&all, &list),
            _ => Ok(Val::list(list)),
        }
    }
}

fn insert<'a>(map: &mut BTreeMap<Key, Val<'a>>, key: Key, value: Val<'a>) -> Result<(), Fault> {
    if map.contains_key(&key) {
        let shown = match &key {
            Key::Bool(flag) => flag.to_string(),
            Key::Int(number) => number.to_string(),
            Key::Uint(number) => number.to_string(),
            Key::String(text) => text.to_string(),
        };
        return Err(Fault::new(format!(
            "insert failed: key {shown} already exists"
        )));
    }
    map.insert(key, value);
    Ok(())
}

fn boolean(value: &Val<'_>) -> Result<bool, Fault> {
    value.as_bool().ok_or_else(Fault::no_overload)
}

/// An item of a literal: one that is optional is there only if it has a value.
fn kept(value: Val<'_>, optional: bool) -> Result<Option<Val<'_>>, Fault> {
    match value {
        Val::Optional(inner) if optional => Ok(inner.map(|inner| (*inner).clone())),
        _ if optional => Err(Fault::no_overload()),
        value => Ok(Some(value)),
    }
}

/// The value of a constant.
pub(super) fn constant(literal: &Literal) -> Val<'_> {
    match literal {
        Literal::Null => Val::Null,
        Literal::Bool(flag) => Val::Bool(*flag),
        Literal::Int(number) => Val::Int(*number),
        Literal::Magnitude(number) => Val::Int(i64::try_from(*number).unwrap_or(i64::MAX)),
        Literal::Uint(number) => Val::Uint(*number),
        Literal::Double(number) => Val::Double(*number),
        Literal::String(text) => Val::text(text.as_str()),
        Literal::Bytes(bytes) => Val::Bytes(bytes.as_slice().into()),
    }
}
