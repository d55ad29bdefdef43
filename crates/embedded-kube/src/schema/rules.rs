//! The rules of a schema that are expressions (`x-kubernetes-validations`).

use std::sync::OnceLock;

use serde_json::Value;

use super::path;
use super::{Additional, ListKind, Schema};
use crate::cel::{self, Env, Fault, Outcome, Program, Type, Val, Variables};
use crate::status::FieldError;

/// How long a message can get that a rule computes.
const MAX_MESSAGE: usize = 5 * 1024;

/// The rules of one part of a schema; compiled when they are first needed.
#[derive(Debug)]
pub(crate) struct RuleSet {
    rules: Vec<Rule>,
    compiled: OnceLock<Vec<Compiled>>,
}

/// A rule as it is written.
#[derive(Debug, Default)]
pub(crate) struct Rule {
    expression: Box<str>,
    message: Box<str>,
    message_expression: Box<str>,
    reason: Box<str>,
    field_path: Box<str>,
    pub(crate) optional_old: Option<bool>,
}

/// A rule that can be evaluated, or why it cannot.
#[derive(Debug)]
pub(crate) struct Compiled {
    pub(crate) program: Result<Program, String>,
    pub(crate) message: Option<Result<Program, String>>,
    pub(crate) uses_old: bool,
    path: String,
}

impl RuleSet {
    pub(super) fn read(source: &Value) -> Option<Box<Self>> {
        let list = source["x-kubernetes-validations"].as_array()?;
        let rules: Vec<Rule> = list.iter().map(Rule::read).collect();
        (!rules.is_empty()).then(|| {
            Box::new(Self {
                rules,
                compiled: OnceLock::new(),
            })
        })
    }

    fn compiled(&self, schema: &Schema, resource: bool) -> &[Compiled] {
        self.compiled
            .get_or_init(|| compile(&self.rules, schema, resource).unwrap_or_default())
    }
}

impl Rule {
    pub(crate) fn read(source: &Value) -> Self {
        let text = |key: &str| source[key].as_str().unwrap_or_default().into();
        Self {
            expression: text("rule"),
            message: text("message"),
            message_expression: text("messageExpression"),
            reason: text("reason"),
            field_path: text("fieldPath"),
            optional_old: source["optionalOldSelf"].as_bool(),
        }
    }

    /// How the complaints call it.
    fn name(&self) -> &str {
        let message = self.message.trim();
        if self.message.is_empty() {
            self.expression.trim()
        } else {
            message
        }
    }

    fn default_message(&self) -> String {
        if self.message.is_empty() {
            format!("failed rule: {}", self.name())
        } else {
            self.name().to_owned()
        }
    }
}

/// Compiles the rules of a part of a schema; none if expressions do not see such parts.
pub(crate) fn compile(rules: &[Rule], schema: &Schema, resource: bool) -> Option<Vec<Compiled>> {
    let own = cel::type_of(schema, resource, "selfType")?;
    let env = |old: Type| Env {
        variables: [
            ("self".to_owned(), own.clone()),
            ("oldSelf".to_owned(), old),
        ]
        .into(),
    };
    let (plain, optional) = (env(own.clone()), env(Type::optional(own.clone())));
    let compiled = rules.iter().map(|rule| {
        let env = if rule.optional_old == Some(true) {
            &optional
        } else {
            &plain
        };
        let program = Program::compile(&rule.expression, env)
            .map_err(|why| match why.strip_prefix("inst") {
                Some(rest) => format!("program inst{rest}"),
                None => why,
            })
            .and_then(|program| match program.result() {
                Type::Bool => Ok(program),
                _ => Err("cel expression must evaluate to a bool".to_owned()),
            });
        let wanted = program.is_ok() && !rule.message_expression.is_empty();
        let message = wanted.then(|| {
            Program::compile(&rule.message_expression, env)
                .map_err(|why| format!("messageExpression {why}"))
                .and_then(|program| match program.result() {
                    Type::String => Ok(program),
                    _ => Err("messageExpression must evaluate to a string".to_owned()),
                })
        });
        Compiled {
            uses_old: program
                .as_ref()
                .is_ok_and(|program| program.uses("oldSelf")),
            program,
            message,
            path: path::normal(&rule.field_path, schema).unwrap_or_default(),
        }
    });
    Some(compiled.collect())
}

/// What the rules say of an object.
#[derive(Default)]
pub(crate) struct Verdict {
    pub(crate) errors: Vec<FieldError>,
    /// What is wrong, but was so before.
    pub(crate) warnings: Vec<String>,
}

/// Asks all rules of a resource.
pub(crate) fn judge(value: &Value, old: Option<&Value>, schema: &Schema) -> Verdict {
    cel::budget::renew();
    let mut walk = Walk {
        verdict: Verdict::default(),
        spent: false,
    };
    let current = old.map(|old| Pair {
        new: value,
        old,
        schema,
    });
    let ratchet = Ratchet {
        current,
        parent: None,
    };
    walk.part(value, old, schema, true, "", ratchet);
    walk.verdict
}

/// A value and what it was before.
#[derive(Clone, Copy)]
struct Pair<'a> {
    new: &'a Value,
    old: &'a Value,
    schema: &'a Schema,
}

impl Pair<'_> {
    fn key(self, key: &str) -> Option<Self> {
        Some(Self {
            new: self.new.as_object()?.get(key)?,
            old: self.old.as_object()?.get(key)?,
            schema: self.schema.field(key)?,
        })
    }

    fn index(self, index: usize) -> Option<Self> {
        let new = self.new.as_array()?.get(index)?;
        Some(Self {
            new,
            old: earlier(self.schema, Some(self.old), new)?,
            schema: self.schema.items.as_deref()?,
        })
    }

    /// Whether nothing has changed, as far as the schema knows what is there.
    fn same(self) -> bool {
        match (self.new, self.old) {
            (Value::Array(new), Value::Array(old)) => {
                let keyed = matches!(self.schema.list, ListKind::Map(_));
                let same = |index| self.index(index).is_some_and(Self::same);
                new.len() == old.len()
                    && if keyed {
                        (0..new.len()).all(same)
                    } else {
                        new == old
                    }
            }
            (Value::Object(new), Value::Object(old)) => {
                let same = |key: &String| self.key(key).is_some_and(Self::same);
                new.len() == old.len() && new.keys().all(same)
            }
            (new, old) => new == old,
        }
    }
}

/// The item of a list that had the same keys before.
fn earlier<'a>(schema: &Schema, old: Option<&'a Value>, item: &Value) -> Option<&'a Value> {
    let ListKind::Map(keys) = &schema.list else {
        return None;
    };
    let same = |other: &&Value| keys.iter().all(|key| other[&**key] == item[&**key]);
    old?.as_array()?.iter().find(same)
}

/// What decides whether a complaint is only a warning: the part itself, or else the nearest part
/// around it that can be compared, is as it was.
#[derive(Clone, Copy, Default)]
struct Ratchet<'a> {
    current: Option<Pair<'a>>,
    parent: Option<Pair<'a>>,
}

impl Ratchet<'_> {
    fn holds(self) -> bool {
        let decisive = self.current.or(self.parent);
        decisive.is_some_and(Pair::same)
    }

    fn key(self, key: &str) -> Self {
        let Some(current) = self.current else {
            return self;
        };
        if self.parent.is_none() && matches!(key, "apiVersion" | "kind") {
            return Self::default();
        }
        Self {
            current: current.key(key),
            parent: self.current,
        }
    }

    fn index(self, index: usize) -> Self {
        let Some(current) = self.current else {
            return self;
        };
        Self {
            current: current.index(index),
            parent: self.current,
        }
    }
}

struct Walk {
    verdict: Verdict,
    /// Whether a rule took so long that no more are asked.
    spent: bool,
}

impl Walk {
    fn part(
        &mut self,
        value: &Value,
        old: Option<&Value>,
        schema: &Schema,
        resource: bool,
        path: &str,
        ratchet: Ratchet<'_>,
    ) {
        if !schema.ruled || value.is_null() || self.spent {
            return;
        }
        let old = old.filter(|old| !old.is_null());
        if let Some(set) = &schema.rules {
            self.rules(set, value, old, schema, resource, path, ratchet);
        }
        match value {
            Value::Object(map) => {
                let entry = schema.additional.as_ref().and_then(Additional::schema);
                for (key, value) in map {
                    let before = old.and_then(|old| old.get(key));
                    if let Some(entry) = entry {
                        let path = format!("{path}[{key}]");
                        let ratchet = ratchet.key(key);
                        self.part(value, before, entry, entry.embedded, &path, ratchet);
                    }
                    if let Some(field) = schema.properties.get(key.as_str()) {
                        let path = child(path, key);
                        let ratchet = ratchet.key(key);
                        self.part(value, before, field, field.embedded, &path, ratchet);
                    }
                }
            }
            Value::Array(items) => {
                let Some(item_schema) = schema.items.as_deref() else {
                    return;
                };
                for (index, item) in items.iter().enumerate() {
                    let before = earlier(schema, old, item);
                    let path = format!("{path}[{index}]");
                    let ratchet = ratchet.index(index);
                    self.part(
                        item,
                        before,
                        item_schema,
                        item_schema.embedded,
                        &path,
                        ratchet,
                    );
                }
            }
            _ => {}
        }
    }

    #[expect(clippy::too_many_arguments, reason = "all of a part of an object")]
    fn rules(
        &mut self,
        set: &RuleSet,
        value: &Value,
        old: Option<&Value>,
        schema: &Schema,
        resource: bool,
        path: &str,
        ratchet: Ratchet<'_>,
    ) {
        let shown_path = if path.is_empty() { "<nil>" } else { path };
        let own = Own {
            now: cel::typed(value, schema, resource),
            old: old.map(|old| cel::typed(old, schema, resource)),
            optional: false,
        };
        for (rule, compiled) in set.rules.iter().zip(set.compiled(schema, resource)) {
            if self.spent {
                return;
            }
            if cel::budget::is_spent() {
                self.spent = true;
                let detail = "validation failed due to running out of cost budget, no further \
                              validation rules will be run";
                let error = FieldError::invalid(shown_path, schema.kind.name(), detail);
                self.verdict.errors.push(error);
                return;
            }
            let optional = rule.optional_old == Some(true);
            if compiled.uses_old && old.is_none() && !optional {
                continue;
            }
            let kind = schema.kind.name();
            let outcome = match &compiled.program {
                Ok(program) => program.eval(&own.with(optional)),
                Err(error) => Err(Fault(format!("rule compile error: {error}").into())),
            };
            match outcome {
                Ok(Val::Bool(true)) => continue,
                Ok(_) => {}
                Err(fault) => {
                    let (fault, name) = (fault.0, rule.name());
                    let detail = if fault.starts_with("no such overload") {
                        format!(
                            "'{fault}': call arguments did not match a supported operator, \
                             function or macro signature for rule: {name}"
                        )
                    } else if fault.starts_with("operation cancelled") {
                        self.spent = true;
                        format!(
                            "'{fault}': no further validation rules will be run due to call cost \
                             exceeds limit for rule: {name}"
                        )
                    } else {
                        format!("{fault} evaluating rule: {name}")
                    };
                    let error = FieldError::invalid(shown_path, kind, detail);
                    self.verdict.errors.push(error);
                    continue;
                }
            }
            let computed = match &compiled.message {
                Some(Ok(program)) => message(program.eval(&own)),
                _ => None,
            };
            let detail = computed.unwrap_or_else(|| rule.default_message());
            let field = match (path, &*compiled.path) {
                (_, "") => shown_path.to_owned(),
                (path, inner) => child(path, inner),
            };
            let error = complaint(rule, field, value, schema, detail);
            if !compiled.uses_old && ratchet.holds() {
                self.verdict.warnings.push(error.to_string());
            } else {
                self.verdict.errors.push(error);
            }
        }
    }
}

fn child(path: &str, key: &str) -> String {
    if path.is_empty() {
        key.to_owned()
    } else {
        format!("{path}.{key}")
    }
}

/// A message that a rule has computed, if it is one.
fn message(outcome: Outcome<'_>) -> Option<String> {
    let value = outcome.ok()?;
    let text = value.as_str()?.trim();
    let fine = !text.is_empty() && text.len() <= MAX_MESSAGE && !text.contains('\n');
    fine.then(|| text.to_owned())
}

fn complaint(
    rule: &Rule,
    field: String,
    value: &Value,
    schema: &Schema,
    detail: String,
) -> FieldError {
    let shown = !schema.kind.is_composite();
    let value = shown.then(|| value.clone());
    match &*rule.reason {
        "FieldValueForbidden" => FieldError::forbidden(field, detail),
        "FieldValueRequired" => FieldError::required(field, detail),
        "FieldValueDuplicate" => FieldError::duplicate_of(field, value),
        _ => FieldError::invalid_of(field, value, detail),
    }
}

/// The variables of a rule.
struct Own<'a> {
    now: Outcome<'a>,
    old: Option<Outcome<'a>>,
    /// Whether what was before is an optional.
    optional: bool,
}

impl Own<'_> {
    fn with(&self, optional: bool) -> Self {
        Self {
            now: self.now.clone(),
            old: self.old.clone(),
            optional,
        }
    }
}

impl<'a> Variables<'a> for Own<'a> {
    fn get(&self, name: &str) -> Option<Outcome<'a>> {
        match (name, &self.old) {
            ("self", _) => Some(self.now.clone()),
            ("oldSelf", Some(old)) if self.optional => Some(old.clone().map(cel::some)),
            ("oldSelf", None) if self.optional => Some(Ok(cel::none())),
            ("oldSelf", old) => old.clone(),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::compile;
    use super::*;
    use serde_json::json;

    fn texts(schema: &Value, value: &Value, old: Option<&Value>) -> (Vec<String>, Vec<String>) {
        let schema = compile(schema);
        let verdict = judge(value, old, &schema);
        let errors = verdict.errors.iter().map(ToString::to_string).collect();
        (errors, verdict.warnings)
    }

    #[test]
    fn rules_see_their_part_and_its_past() {
        let schema = json!({"type": "object", "properties": {"spec": {
            "type": "object",
            "x-kubernetes-validations": [
                {"rule": "self.min <= self.max", "messageExpression": "'%d is too much'.format([self.min])"},
                {"rule": "self.min >= oldSelf.min", "message": "min cannot fall", "fieldPath": ".min",
                 "reason": "FieldValueForbidden"},
            ],
            "properties": {
                "min": {"type": "integer"},
                "max": {"type": "integer", "x-kubernetes-validations": [{"rule": "self < 10"}]},
            }
        }}});
        let object = |min: i64, max: i64| json!({"spec": {"min": min, "max": max}});
        let (errors, _) = texts(&schema, &object(9, 12), None);
        assert_eq!(
            errors,
            ["spec.max: Invalid value: 12: failed rule: self < 10"]
        );
        let (errors, warnings) = texts(&schema, &object(13, 12), Some(&object(14, 12)));
        assert_eq!(
            errors,
            [
                "spec: Invalid value: 13 is too much",
                "spec.min: Forbidden: min cannot fall"
            ]
        );
        assert_eq!(
            warnings,
            ["spec.max: Invalid value: 12: failed rule: self < 10"]
        );
        let (errors, _) = texts(&schema, &json!({"spec": {"max": 1}}), None);
        assert_eq!(
            errors,
            [
                "spec: Invalid value: \"object\": no such key: min evaluating rule: self.min <= \
                 self.max"
            ]
        );
    }
}
