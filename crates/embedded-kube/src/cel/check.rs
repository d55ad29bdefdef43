//! The types of an expression, found out before it runs.

use std::collections::BTreeMap;

use super::ast::{Call, Expr, How, Literal, Loop, LoopKind, Node, Select};
use super::eval::constant;
use super::functions::{self, OVERLOADS};
use super::source::Issue;
use super::types::{Mapping, ObjectType, Type, more_general};

/// What an expression may refer to.
pub(crate) struct Env {
    pub(crate) variables: BTreeMap<String, Type>,
}

/// The name of the type whose fields are variables themselves: they become more with each that is
/// declared, so that nobody keeps a list of those before it.
pub(crate) const VARIABLES: &str = "kubernetes.variables";

/// How many parts of types are looked at, for an expression and for each byte of it.
const WORK: usize = 50_000;
const WORK_PER_BYTE: usize = 20;
/// How many parts the type of a value may have: others are made of it.
const MAX_RESULT: usize = 100;

/// Checks an expression, and notes which overloads its calls can mean.
pub(super) fn check(expr: &mut Expr, env: &Env, length: usize) -> Result<Type, Refused> {
    let work = WORK.saturating_add(length.saturating_mul(WORK_PER_BYTE));
    let mut checker = Checker {
        env,
        variables: Vec::new(),
        mapping: Mapping::new(work),
        issues: Vec::new(),
        exempt: false,
        aggregates: Vec::new(),
        late: Vec::new(),
        fatal: None,
    };
    let kind = checker.expr(expr);
    if checker.issues.is_empty() {
        checker.mixed();
        checker.issues = std::mem::take(&mut checker.late);
    }
    let result = checker.mapping.resolve(&kind, true);
    let size = Mapping::new(MAX_RESULT + 1);
    size.charge(&result);
    if checker.mapping.is_exhausted() || size.is_exhausted() {
        let message = "the types of the expression are too large";
        return Err(Refused::Issues(vec![Issue::new(0, message)]));
    }
    if !checker.issues.is_empty() {
        return Err(Refused::Issues(checker.issues));
    }
    match checker.fatal {
        Some(fatal) => Err(Refused::Unusable(fatal)),
        None => Ok(result),
    }
}

/// Why an expression is not taken.
pub(super) enum Refused {
    Issues(Vec<Issue>),
    /// Its types fit, but it can never run.
    Unusable(String),
}

/// The type of an expression that needs no look at others.
fn literal_type(expr: &Expr) -> Option<Type> {
    match &expr.node {
        Node::Literal(Literal::Int(_)) => Some(Type::Int),
        Node::Literal(Literal::Uint(_)) => Some(Type::Uint),
        Node::Literal(Literal::Double(_)) => Some(Type::Double),
        Node::Literal(Literal::String(_)) => Some(Type::String),
        Node::Literal(Literal::Bytes(_)) => Some(Type::Bytes),
        Node::Literal(Literal::Bool(_)) => Some(Type::Bool),
        Node::Literal(Literal::Null) => Some(Type::Null),
        _ => None,
    }
}

struct Checker<'e> {
    env: &'e Env,
    /// The variables of the loops around; the last of a name counts.
    variables: Vec<(String, Type)>,
    mapping: Mapping,
    issues: Vec<Issue>,
    /// Whether a list may hold what it likes: what is to be formatted.
    exempt: bool,
    /// The literals whose items must be of one type, each with the places and types of these.
    aggregates: Vec<Vec<(usize, Type)>>,
    /// Complaints that count only if there are no others.
    late: Vec<Issue>,
    /// Why the expression can never run.
    fatal: Option<String>,
}

/// The types that a program can name.
const TYPE_NAMES: [(&str, Type); 18] = [
    ("bool", Type::Bool),
    ("bytes", Type::Bytes),
    ("double", Type::Double),
    ("google.protobuf.Duration", Type::Duration),
    ("int", Type::Int),
    ("list", Type::Named("list")),
    ("map", Type::Named("map")),
    ("null_type", Type::Null),
    ("string", Type::String),
    ("google.protobuf.Timestamp", Type::Timestamp),
    ("type", Type::Named("type")),
    ("uint", Type::Uint),
    ("optional_type", Type::Named("optional_type")),
    ("net.IP", functions::IP),
    ("net.CIDR", functions::CIDR),
    ("kubernetes.URL", functions::URL),
    ("kubernetes.Quantity", functions::QUANTITY),
    ("kubernetes.Semver", functions::SEMVER),
];

/// Whether a name is that of a type.
pub(super) fn type_named(name: &str) -> Option<&'static str> {
    let found = TYPE_NAMES.iter().find(|(known, _)| *known == name);
    found.map(|(name, _)| *name)
}

impl Checker<'_> {
    fn complain(&mut self, at: usize, message: String) -> Type {
        self.issues.push(Issue::new(at, message));
        Type::Error
    }

    /// Complains about lists and maps whose items are of several types.
    fn mixed(&mut self) {
        for items in std::mem::take(&mut self.aggregates) {
            let mut kinds = items
                .iter()
                .map(|(at, kind)| (*at, self.mapping.resolve(kind, true)));
            let Some((_, first)) = kinds.next() else {
                continue;
            };
            if let Some((at, other)) = kinds.find(|(_, kind)| *kind != first) {
                let message = format!("expected type '{first}' but found '{other}'");
                self.late.push(Issue::new(at, message));
            }
        }
    }

    fn variable(&self, name: &str) -> Option<Type> {
        let found = self.variables.iter().rev().find(|(known, _)| known == name);
        let kind = || {
            let named = TYPE_NAMES.iter().find(|(known, _)| *known == name);
            named.map(|(_, kind)| Type::Type(kind.clone().into()))
        };
        let found = found.map(|(_, kind)| kind);
        let found = found.or_else(|| self.env.variables.get(name));
        found.cloned().or_else(kind)
    }

    /// The type of a field; one with the name of a reserved word may be named as it is.
    fn field_type(&self, object: &ObjectType, field: &str) -> Option<Type> {
        let own = |name: &str| match object.name.as_str() {
            VARIABLES => self.env.variables.get(&format!("variables.{name}")),
            _ => object.fields.get(name),
        };
        let found = own(field);
        found.or_else(|| own(&format!("__{field}__"))).cloned()
    }

    fn undeclared(&mut self, at: usize, name: &str) -> Type {
        let message = format!("undeclared reference to '{name}' (in container '')");
        self.complain(at, message)
    }

    fn expr(&mut self, expr: &mut Expr) -> Type {
        let at = expr.at;
        if self.mapping.is_exhausted() {
            return Type::Dyn;
        }
        // A qualified name can be a variable or a type.
        if let Node::Select(select) = &expr.node
            && select.how == How::Get
            && let Some(name) = expr.qualified()
            && let Some(kind) = self.variable(&name)
        {
            expr.node = Node::Name(name);
            return kind;
        }
        match &mut expr.node {
            Node::Literal(literal) => match literal {
                Literal::Null => Type::Null,
                Literal::Bool(_) => Type::Bool,
                Literal::Int(_) | Literal::Magnitude(_) => Type::Int,
                Literal::Uint(_) => Type::Uint,
                Literal::Double(_) => Type::Double,
                Literal::String(_) => Type::String,
                Literal::Bytes(_) => Type::Bytes,
            },
            Node::Name(name) => {
                let name = name.clone();
                let known = self.variable(&name);
                known.unwrap_or_else(|| self.undeclared(at, &name))
            }
            Node::Struct(name) => {
                let name = name.clone();
                if self.variable(&name).is_some() {
                    self.complain(at, format!("'{name}' is not a message type"))
                } else {
                    self.undeclared(at, &name)
                }
            }
            Node::Select(select) => self.select(select, at),
            Node::Logic(_, terms) => self.logic(terms),
            Node::Choice(parts) => {
                let kinds: Vec<Type> = parts.iter_mut().map(|part| self.expr(part)).collect();
                self.choice(at, &kinds)
            }
            Node::Call(call) => self.call(call, at),
            Node::List(items) => self.list(items),
            Node::Map(entries) => self.map(entries),
            Node::Loop(body) => self.repeat(body, at),
        }
    }

    fn logic(&mut self, terms: &mut [Expr]) -> Type {
        let mut result = Type::Bool;
        for term in terms {
            let kind = self.expr(term);
            if !self.boolean(&kind, term.at) {
                result = Type::Error;
            }
        }
        result
    }

    fn boolean(&mut self, kind: &Type, at: usize) -> bool {
        let fits = self.mapping.fits(kind, &Type::Bool);
        if !fits {
            self.mismatch(at, &Type::Bool, kind);
        }
        fits
    }

    fn mismatch(&mut self, at: usize, expected: &Type, found: &Type) -> Type {
        self.mapping.charge(expected);
        self.mapping.charge(found);
        if self.mapping.is_exhausted() {
            return Type::Error;
        }
        self.complain(
            at,
            format!("expected type '{expected}' but found '{found}'"),
        )
    }

    /// The type of `a ? b : c`.
    fn choice(&mut self, at: usize, kinds: &[Type]) -> Type {
        let result = self.mapping.fresh();
        let wanted = [Type::Bool, result.clone(), result.clone()];
        if self.mapping.all_fit(kinds, &wanted) {
            self.mapping.resolve(&result, false)
        } else {
            self.no_overload(at, "_?_:_", kinds, false)
        }
    }

    fn no_overload(&mut self, at: usize, name: &str, kinds: &[Type], member: bool) -> Type {
        let kinds: Vec<String> = kinds
            .iter()
            .map(|kind| self.mapping.resolve(kind, true).to_string())
            .collect();
        let shown = match kinds.split_first() {
            Some((target, args)) if member => format!("{target}.({})", args.join(", ")),
            _ => format!("({})", kinds.join(", ")),
        };
        self.complain(
            at,
            format!("found no matching overload for '{name}' applied to '{shown}'"),
        )
    }

    fn select(&mut self, select: &mut Select, at: usize) -> Type {
        let operand = self.expr(&mut select.operand);
        let operand = self.mapping.resolve(&operand, false);
        let (target, optional) = match &operand {
            Type::Optional(inner) => ((**inner).clone(), true),
            other => (other.clone(), false),
        };
        let field = match &target {
            Type::Map(entry) => entry.1.clone(),
            Type::Object(object) => {
                let known = self.field_type(object, &select.field);
                known.unwrap_or_else(|| {
                    let message = format!("undefined field '{}'", select.field);
                    self.complain(at, message)
                })
            }
            Type::Dyn | Type::Error => Type::Dyn,
            Type::Param(_) => {
                self.mapping.fits(&Type::Dyn, &target);
                Type::Dyn
            }
            other => {
                let message = format!("type '{other}' does not support field selection");
                self.complain(at, message);
                Type::Dyn
            }
        };
        match select.how {
            How::Has => Type::Bool,
            How::Get if !optional => field,
            _ => Type::optional(field),
        }
    }

    fn call(&mut self, call: &mut Call, at: usize) -> Type {
        let exempt = self.exempt;
        self.exempt |= call.function == "format";
        let mut kinds: Vec<Type> = call.args.iter_mut().map(|arg| self.expr(arg)).collect();
        self.exempt = exempt;
        if let Some(target) = &mut call.target {
            // `a.b()` can be the function `a.b`.
            let qualified = target
                .qualified()
                .map(|prefix| format!("{prefix}.{}", call.function));
            if let Some(name) = qualified.filter(|name| functions::is_known(name)) {
                call.function = name;
                call.target = None;
            } else {
                let kind = self.expr(target);
                kinds.insert(0, kind);
            }
        }
        if !functions::is_known(&call.function) {
            return self.undeclared(at, &call.function.clone());
        }
        let member = call.target.is_some();
        let mut result: Option<Type> = None;
        for index in functions::overloads(&call.function) {
            let overload = &OVERLOADS[*index];
            if overload.member != member {
                continue;
            }
            let fresh: Vec<Type> = (0..overload.params).map(|_| self.mapping.fresh()).collect();
            let wanted: Vec<Type> = overload.args.iter().map(|arg| fill(arg, &fresh)).collect();
            if !self.mapping.all_fit(&kinds, &wanted) {
                continue;
            }
            call.overloads.push(*index);
            let kind = self.mapping.resolve(&fill(&overload.result, &fresh), false);
            result = Some(match result {
                None => kind,
                Some(Type::Dyn) => Type::Dyn,
                Some(before) if before == kind => before,
                Some(_) => Type::Dyn,
            });
        }
        let Some(result) = result else {
            return self.no_overload(at, &call.function.clone(), &kinds, member);
        };
        self.literals(call, at, &kinds);
        result
    }

    /// What is constant in a call is looked at beforehand.
    fn literals(&mut self, call: &Call, at: usize, kinds: &[Type]) {
        let text = |expr: &Expr| match &expr.node {
            Node::Literal(Literal::String(text)) => Some(text.clone()),
            _ => None,
        };
        let literal = match (call.function.as_str(), call.args.as_slice()) {
            ("duration" | "timestamp", [arg]) => Some(arg),
            ("matches", [.., arg]) => Some(arg),
            _ => None,
        };
        // What converts a constant does so at once.
        let conversions = [
            "bool",
            "bytes",
            "double",
            "duration",
            "int",
            "string",
            "timestamp",
            "uint",
        ];
        if conversions.contains(&call.function.as_str())
            && let [
                Expr {
                    node: Node::Literal(literal),
                    ..
                },
            ] = call.args.as_slice()
            && let Err(fault) = functions::call(&call.overloads, &[constant(literal)])
        {
            self.fatal.get_or_insert(fault.0.into_owned());
        }
        if matches!(call.function.as_str(), "find" | "findAll")
            && let Some(pattern) = call.args.first().and_then(text)
            && let Err(error) = functions::compile_pattern(&pattern)
        {
            self.fatal
                .get_or_insert(format!("error parsing regexp: {error}"));
        }
        if let Some(arg) = literal
            && let Some(constant) = text(arg)
            && !functions::is_valid_literal(&call.function, &constant)
        {
            let message = format!("invalid {} argument", call.function);
            self.late.push(Issue::new(arg.at, message));
        }
        if call.function == "format"
            && let (Some(target), [arg]) = (&call.target, call.args.as_slice())
            && let Some(pattern) = text(target)
            && let (Node::List(items), Some(Type::List(_))) = (&arg.node, kinds.last())
        {
            let items: Vec<(usize, Option<Type>)> = items
                .iter()
                .map(|(item, _)| (item.at, literal_type(item)))
                .collect();
            if let Err((place, message)) = functions::check_format(&pattern, &items) {
                self.late.push(Issue::new(place.unwrap_or(at), message));
            }
        }
    }

    fn list(&mut self, items: &mut [(Expr, bool)]) -> Type {
        let mut item_kind = None;
        let mut kinds = Vec::with_capacity(items.len());
        for (item, optional) in items {
            let mut kind = self.expr(item);
            if *optional {
                kind = self.unwrapped(item.at, kind);
            }
            kinds.push((item.at, kind.clone()));
            item_kind = Some(self.join(item_kind, kind));
        }
        self.aggregate(kinds);
        Type::list(item_kind.unwrap_or_else(|| self.mapping.fresh()))
    }

    fn aggregate(&mut self, kinds: Vec<(usize, Type)>) {
        if !self.exempt && kinds.len() > 1 {
            self.aggregates.push(kinds);
        }
    }

    fn unwrapped(&mut self, at: usize, kind: Type) -> Type {
        match kind {
            Type::Optional(inner) => (*inner).clone(),
            Type::Dyn => Type::Dyn,
            other => {
                self.mismatch(at, &Type::optional(other.clone()), &other);
                other
            }
        }
    }

    /// The type that covers both.
    fn join(&mut self, before: Option<Type>, kind: Type) -> Type {
        self.mapping.charge(&kind);
        if self.mapping.is_exhausted() {
            return Type::Dyn;
        }
        match before {
            None => kind,
            Some(before) if self.mapping.fits(&before, &kind) => {
                more_general(&before, &kind).clone()
            }
            Some(_) => Type::Dyn,
        }
    }

    fn map(&mut self, entries: &mut [(Expr, Expr, bool)]) -> Type {
        let (mut key_kind, mut value_kind) = (None, None);
        let (mut keys, mut values) = (Vec::new(), Vec::new());
        for (key, value, optional) in entries {
            let kind = self.expr(key);
            keys.push((key.at, kind.clone()));
            key_kind = Some(self.join(key_kind, kind));
            let mut kind = self.expr(value);
            if *optional {
                kind = self.unwrapped(value.at, kind);
            }
            values.push((value.at, kind.clone()));
            value_kind = Some(self.join(value_kind, kind));
        }
        self.aggregate(keys);
        self.aggregate(values);
        let key = key_kind.unwrap_or_else(|| self.mapping.fresh());
        let value = value_kind.unwrap_or_else(|| self.mapping.fresh());
        Type::map(key, value)
    }

    fn repeat(&mut self, body: &mut Loop, at: usize) -> Type {
        if matches!(body.kind, LoopKind::OptMap | LoopKind::OptFlatMap) {
            return self.optional_loop(body, at);
        }
        let range = self.expr(&mut body.range);
        let range = self.mapping.resolve(&range, false);
        let (first, second) = match &range {
            Type::List(item) => (Type::Int, (**item).clone()),
            Type::Map(entry) => (entry.0.clone(), entry.1.clone()),
            Type::Dyn | Type::Error | Type::Param(_) => {
                self.mapping.fits(&Type::Dyn, &range);
                (Type::Dyn, Type::Dyn)
            }
            other => {
                let message = format!(
                    "expression of type '{other}' cannot be range of a comprehension (must be \
                     list, map, or dynamic)"
                );
                self.complain(body.range.at, message);
                (Type::Error, Type::Error)
            }
        };
        let scope = self.variables.len();
        let item = match (&body.second, &range) {
            (Some(name), _) => {
                self.variables.push((body.variable.clone(), first.clone()));
                self.variables.push((name.clone(), second));
                first.clone()
            }
            (None, Type::List(_)) => {
                self.variables.push((body.variable.clone(), second.clone()));
                second
            }
            (None, _) => {
                self.variables.push((body.variable.clone(), first.clone()));
                first.clone()
            }
        };
        let filter = body.filter.as_mut().map(|filter| self.expr(filter));
        let kind = self.expr(&mut body.body);
        let result = self.loop_result(body, at, &first, item, filter, kind);
        self.variables.truncate(scope);
        result
    }

    fn loop_result(
        &mut self,
        body: &Loop,
        at: usize,
        key: &Type,
        item: Type,
        filter: Option<Type>,
        kind: Type,
    ) -> Type {
        let result = match body.kind {
            LoopKind::All | LoopKind::Exists => {
                self.boolean(&kind, body.body.at);
                return Type::Bool;
            }
            LoopKind::ExistsOne => {
                self.choice(at, &[kind, Type::Int, Type::Int]);
                return Type::Bool;
            }
            LoopKind::Filter => {
                let list = Type::list(item);
                return self.choice(at, &[kind, list.clone(), list]);
            }
            LoopKind::SortBy => {
                let sortable = [
                    Type::Int,
                    Type::Uint,
                    Type::Double,
                    Type::Bool,
                    Type::Duration,
                    Type::Timestamp,
                    Type::String,
                    Type::Bytes,
                ];
                if !sortable
                    .iter()
                    .any(|wanted| self.mapping.fits(&kind, wanted))
                {
                    let kinds = [Type::list(item), Type::list(kind)];
                    return self.no_overload(at, "@sortByAssociatedKeys", &kinds, true);
                }
                return Type::list(item);
            }
            LoopKind::TransformMapEntry => {
                let (key, value) = (self.mapping.fresh(), self.mapping.fresh());
                let wanted = Type::map(key, value);
                if !self.mapping.fits(&kind, &wanted) {
                    return self.no_overload(at, "cel.@mapInsert", &[wanted, kind], false);
                }
                wanted
            }
            LoopKind::TransformMap => Type::map(key.clone(), kind),
            _ => Type::list(kind),
        };
        match filter {
            Some(filter) => self.choice(at, &[filter, result.clone(), result]),
            None => result,
        }
    }

    /// `optMap` and `optFlatMap`: the variable is what the optional holds.
    fn optional_loop(&mut self, body: &mut Loop, at: usize) -> Type {
        let range = self.expr(&mut body.range);
        let inner = self.mapping.fresh();
        if !self.mapping.fits(&range, &Type::optional(inner.clone())) {
            self.no_overload(at, "hasValue", std::slice::from_ref(&range), true);
            self.no_overload(at, "value", &[range], true);
        }
        let inner = self.mapping.resolve(&inner, false);
        self.variables.push((body.variable.clone(), inner));
        let kind = self.expr(&mut body.body);
        self.variables.pop();
        if body.kind == LoopKind::OptMap {
            return Type::optional(kind);
        }
        let none = Type::optional(self.mapping.fresh());
        self.choice(at, &[Type::Bool, kind, none])
    }
}

/// A declared type with the parameters of this call.
fn fill(kind: &Type, params: &[Type]) -> Type {
    let inner = |kind: &Type| fill(kind, params);
    match kind {
        Type::Param(index) => params.get(*index).cloned().unwrap_or(Type::Dyn),
        Type::List(item) => Type::list(inner(item)),
        Type::Map(entry) => Type::map(inner(&entry.0), inner(&entry.1)),
        Type::Optional(value) => Type::optional(inner(value)),
        Type::Type(value) => Type::Type(inner(value).into()),
        other => other.clone(),
    }
}
