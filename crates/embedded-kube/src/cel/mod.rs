//! The Common Expression Language, as the real server speaks it.
//!
//! ```text
//! text ──lex──► words ──parse──► tree ──check──► tree with types known ──eval──► value
//! ```
//!
//! An expression is checked against the types of its variables before it is taken, and its
//! complaints are those of the real server's checker, word for word; `docs/decisions` says why it is
//! our own. Costs are not estimated: an evaluation that makes too much work is cancelled.

mod ast;
pub(crate) mod budget;
mod check;
mod eval;
mod functions;
mod lex;
mod names;
mod object;
mod parse;
mod source;
mod text;
mod time;
mod types;
mod value;

pub(crate) use check::{Env, VARIABLES};
pub(crate) use eval::Variables;
pub(crate) use object::{free, type_of, typed};
pub(crate) use types::{ObjectType, Type};
pub(crate) use value::{Fault, Outcome, Val};

use ast::{Expr, Node};
use check::Refused;

/// An optional with a value.
pub(crate) fn some(value: Val<'_>) -> Val<'_> {
    Val::some(value)
}

/// An optional without one.
pub(crate) fn none<'a>() -> Val<'a> {
    Val::Optional(None)
}

use crate::deep;

/// An expression that can be evaluated.
#[derive(Debug)]
pub(crate) struct Program {
    expr: Option<Expr>,
    result: Type,
    depth: usize,
}

impl Program {
    /// Reads and checks an expression; an error is the text of all complaints.
    pub(crate) fn compile(text: &str, env: &Env) -> Result<Self, String> {
        let refused = |issues| format!("compilation failed: {}", source::show(issues, text));
        let mut expr = parse::parse(text).map_err(refused)?;
        let depth = expr.depth;
        let (expr, checked) = deep::with_more(depth, move || {
            let checked = check::check(&mut expr, env, text.len());
            (expr, checked)
        });
        let mut program = Self {
            expr: Some(expr),
            result: Type::Dyn,
            depth,
        };
        program.result = checked.map_err(|why| match why {
            Refused::Issues(issues) => refused(issues),
            Refused::Unusable(why) => format!("instantiation failed: {why}"),
        })?;
        Ok(program)
    }

    /// The type of its values.
    pub(crate) fn result(&self) -> &Type {
        &self.result
    }

    /// Whether it refers to a variable.
    pub(crate) fn uses(&self, variable: &str) -> bool {
        deep::with_room(self.depth, || {
            self.expr.as_ref().is_some_and(|expr| uses(expr, variable))
        })
    }

    /// Its value with these variables.
    pub(crate) fn eval<'a>(&'a self, variables: &dyn Variables<'a>) -> Outcome<'a> {
        let Some(expr) = &self.expr else {
            return Err(Fault::no_overload());
        };
        deep::with_more(self.depth, || eval::eval(expr, variables))
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        let expr = self.expr.take();
        deep::with_room(self.depth, || drop(expr));
    }
}

fn uses(expr: &Expr, variable: &str) -> bool {
    let any = |parts: &[Expr]| parts.iter().any(|part| uses(part, variable));
    match &expr.node {
        Node::Literal(_) | Node::Struct(_) => false,
        Node::Name(name) => name == variable,
        Node::Select(select) => uses(&select.operand, variable),
        Node::Logic(_, terms) => any(terms),
        Node::Choice(parts) => any(&**parts),
        Node::Call(call) => {
            any(&call.args) || call.target.as_ref().is_some_and(|t| uses(t, variable))
        }
        Node::List(items) => items.iter().any(|(item, _)| uses(item, variable)),
        Node::Map(entries) => entries
            .iter()
            .any(|(key, value, _)| uses(key, variable) || uses(value, variable)),
        // A variable of a loop hides others of its name.
        Node::Loop(body) => {
            uses(&body.range, variable)
                || (body.variable != variable
                    && body.second.as_deref() != Some(variable)
                    && (uses(&body.body, variable)
                        || body.filter.as_ref().is_some_and(|f| uses(f, variable))))
        }
    }
}

#[cfg(test)]
mod tests;
