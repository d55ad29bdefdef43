//! The expressions of a policy: compiled once per process, evaluated with a write.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use serde_json::Value;

use crate::cel::{self, Env, Fault, ObjectType, Outcome, Program, Type, Val, Variables};
use crate::status::FieldError;

/// How many policies are kept compiled, for all clusters together.
const KEPT: usize = 64;
/// How long a message can get that an expression computes.
const MAX_MESSAGE: usize = 5 * 1024;

/// A policy that can be asked.
pub(crate) struct Policy {
    ignore_errors: bool,
    conditions: Vec<(String, Expression)>,
    /// The variables, by the names that expressions use.
    variables: Vec<(String, Expression)>,
    /// Where each of them is.
    places: BTreeMap<String, usize>,
    validations: Vec<Validation>,
}

struct Expression {
    text: String,
    program: Result<Program, String>,
}

struct Validation {
    expression: Expression,
    message: String,
    computed: Option<Expression>,
    reason: String,
}

/// Why a write is not admitted.
pub(crate) struct Failure {
    pub(crate) message: String,
    pub(crate) reason: String,
}

static COMPILED: Mutex<BTreeMap<String, Arc<Policy>>> = Mutex::new(BTreeMap::new());

/// What expressions of policies can name, besides their own variables.
fn env() -> Env {
    let text = |name: &str| (name.to_owned(), Type::String);
    let object = |name: &str, fields: Vec<(String, Type)>| {
        let fields = fields.into_iter().collect();
        Type::Object(Arc::new(ObjectType {
            name: name.to_owned(),
            fields,
        }))
    };
    let kind = |last: &str| {
        let fields = vec![text("group"), text("version"), text(last)];
        object(&format!("kubernetes.{last}"), fields)
    };
    let texts = Type::list(Type::String);
    let user = object(
        "kubernetes.UserInfo",
        vec![
            text("username"),
            text("uid"),
            ("groups".to_owned(), texts.clone()),
            ("extra".to_owned(), Type::map(Type::String, texts.clone())),
        ],
    );
    let request = object(
        "kubernetes.AdmissionRequest",
        vec![
            ("kind".to_owned(), kind("kind")),
            ("resource".to_owned(), kind("resource")),
            ("requestKind".to_owned(), kind("kind")),
            ("requestResource".to_owned(), kind("resource")),
            text("subResource"),
            text("requestSubResource"),
            text("name"),
            text("namespace"),
            text("operation"),
            ("userInfo".to_owned(), user),
            ("dryRun".to_owned(), Type::Bool),
            ("options".to_owned(), Type::Dyn),
        ],
    );
    let labels = Type::map(Type::String, Type::String);
    let metadata = object(
        "kubernetes.NamespaceMetadata",
        vec![
            text("name"),
            text("generateName"),
            text("namespace"),
            text("UID"),
            text("resourceVersion"),
            ("labels".to_owned(), labels.clone()),
            ("annotations".to_owned(), labels),
            ("generation".to_owned(), Type::Int),
            ("creationTimestamp".to_owned(), Type::Timestamp),
            ("deletionTimestamp".to_owned(), Type::Timestamp),
            ("deletionGracePeriodSeconds".to_owned(), Type::Int),
            ("finalizers".to_owned(), texts.clone()),
        ],
    );
    let spec = object(
        "kubernetes.NamespaceSpec",
        vec![("finalizers".to_owned(), texts)],
    );
    let status = object("kubernetes.NamespaceStatus", vec![text("phase")]);
    let namespace = object(
        "kubernetes.Namespace",
        vec![
            ("metadata".to_owned(), metadata),
            ("spec".to_owned(), spec),
            ("status".to_owned(), status),
        ],
    );
    let variables = [
        ("object", Type::Dyn),
        ("oldObject", Type::Dyn),
        ("request", request),
        ("namespaceObject", namespace),
    ];
    Env {
        variables: variables
            .into_iter()
            .map(|(name, kind)| (name.to_owned(), kind))
            .collect(),
    }
}

/// Adds a variable of the policy: by its full name, which makes it a field of what holds them all.
fn declare(env: &mut Env, name: String, kind: Type) {
    env.variables.insert(name, kind);
    let all = || {
        Type::Object(Arc::new(ObjectType {
            name: cel::VARIABLES.to_owned(),
            fields: BTreeMap::new(),
        }))
    };
    let holder = env.variables.entry("variables".to_owned());
    holder.or_insert_with(all);
}

impl Expression {
    fn read(text: &str, env: &Env, wanted: Option<&Type>) -> Self {
        let program = Program::compile(text, env).and_then(|program| {
            let found = program.result();
            match wanted {
                Some(wanted) if found != wanted => {
                    Err(format!("must evaluate to {wanted} but got {found}"))
                }
                _ => Ok(program),
            }
        });
        Self {
            text: text.to_owned(),
            program,
        }
    }

    fn eval<'a>(&'a self, variables: &dyn Variables<'a>) -> Outcome<'a> {
        let outcome = match &self.program {
            Ok(program) => program.eval(variables),
            Err(why) => Err(Fault(why.clone().into())),
        };
        outcome.map_err(|fault| {
            let text = &self.text;
            Fault(format!("expression '{text}' resulted in error: {}", fault.0).into())
        })
    }
}

impl Policy {
    /// The policy of a `spec`.
    pub(crate) fn of(spec: &Value) -> Arc<Self> {
        let text = spec.to_string();
        let lock = || COMPILED.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(policy) = lock().get(&text) {
            return Arc::clone(policy);
        }
        // Other clusters do not wait for this.
        let policy = Arc::new(Self::read(spec));
        let mut known = lock();
        if known.len() >= KEPT {
            known.clear();
        }
        known.insert(text, Arc::clone(&policy));
        policy
    }

    fn read(spec: &Value) -> Self {
        let mut env = env();
        let list = |key: &str| spec[key].as_array().cloned().unwrap_or_default();
        let text = |value: &Value, key: &str| value[key].as_str().unwrap_or_default().to_owned();
        let conditions = list("matchConditions")
            .iter()
            .map(|condition| {
                let source = text(condition, "expression");
                let expression = Expression::read(&source, &env, Some(&Type::Bool));
                (text(condition, "name"), expression)
            })
            .collect();
        let mut variables = Vec::new();
        let mut places = BTreeMap::new();
        for variable in list("variables") {
            let expression = Expression::read(&text(&variable, "expression"), &env, None);
            let name = format!("variables.{}", text(&variable, "name"));
            let kind = expression
                .program
                .as_ref()
                .map_or(Type::Dyn, |p| p.result().clone());
            declare(&mut env, name.clone(), kind);
            places.entry(name.clone()).or_insert(variables.len());
            variables.push((name, expression));
        }
        let validations = list("validations")
            .iter()
            .map(|validation| {
                let computed = text(validation, "messageExpression");
                let computed = (!computed.is_empty())
                    .then(|| Expression::read(&computed, &env, Some(&Type::String)));
                let source = text(validation, "expression");
                Validation {
                    expression: Expression::read(&source, &env, Some(&Type::Bool)),
                    message: text(validation, "message"),
                    computed,
                    reason: text(validation, "reason"),
                }
            })
            .collect();
        Self {
            ignore_errors: spec["failurePolicy"] == "Ignore",
            conditions,
            variables,
            places,
            validations,
        }
    }

    /// The complaints about its expressions.
    pub(crate) fn errors(spec: &Value) -> Vec<FieldError> {
        let policy = Self::of(spec);
        let mut errors = Vec::new();
        let mut complain = |expression: &Expression, path: String| {
            if expression.text.trim().is_empty() {
                errors.push(FieldError::required(path, ""));
            } else if let Err(why) = &expression.program {
                errors.push(FieldError::invalid(
                    path,
                    expression.text.as_str(),
                    why.as_str(),
                ));
            }
        };
        for (index, (_, expression)) in policy.conditions.iter().enumerate() {
            complain(
                expression,
                format!("spec.matchConditions[{index}].expression"),
            );
        }
        for (index, (_, expression)) in policy.variables.iter().enumerate() {
            complain(expression, format!("spec.variables[{index}].expression"));
        }
        for (index, validation) in policy.validations.iter().enumerate() {
            let path = format!("spec.validations[{index}]");
            complain(&validation.expression, format!("{path}.expression"));
            if let Some(computed) = &validation.computed {
                complain(computed, format!("{path}.messageExpression"));
            }
        }
        errors
    }

    /// What is wrong with a write.
    pub(super) fn failures(
        &self,
        object: &Value,
        old: &Value,
        request: &Value,
        namespace: &Value,
    ) -> Vec<Failure> {
        cel::budget::renew();
        let given = Given {
            policy: self,
            values: [
                ("object", cel::free(object)),
                ("oldObject", cel::free(old)),
                ("request", cel::free(request)),
                ("namespaceObject", cel::free(namespace)),
            ],
            computed: RefCell::new(BTreeMap::new()),
        };
        let failure = |message: String| Failure {
            message,
            reason: String::new(),
        };
        let on_error = |fault: Fault| -> Vec<Failure> {
            if self.ignore_errors {
                return Vec::new();
            }
            vec![failure(fault.0.into_owned())]
        };
        let mut wrong = None;
        for (_, condition) in &self.conditions {
            match condition.eval(&given) {
                Ok(Val::Bool(true)) => {}
                // One that does not hold counts more than one that has no value.
                Ok(_) => return Vec::new(),
                Err(fault) => wrong = wrong.or(Some(fault)),
            }
        }
        if let Some(fault) = wrong {
            return on_error(fault);
        }
        let mut failures = Vec::new();
        for validation in &self.validations {
            match validation.expression.eval(&given) {
                Ok(Val::Bool(true)) => {}
                Ok(_) => failures.push(Failure {
                    message: validation.text(&given),
                    reason: validation.reason.clone(),
                }),
                Err(fault) => failures.extend(on_error(fault)),
            }
        }
        failures
    }
}

impl Validation {
    fn text<'a>(&'a self, given: &Given<'a>) -> String {
        let computed = self.computed.as_ref().and_then(|computed| {
            let value = computed.eval(given).ok()?;
            let text = value.as_str()?.trim();
            let fine = !text.is_empty() && text.len() <= MAX_MESSAGE && !text.contains('\n');
            fine.then(|| text.to_owned())
        });
        computed.unwrap_or_else(|| match self.message.trim() {
            "" => format!("failed expression: {}", self.expression.text.trim()),
            message => message.to_owned(),
        })
    }
}

/// The variables of an evaluation; those of the policy are computed when they are asked for.
struct Given<'a> {
    policy: &'a Policy,
    values: [(&'static str, Val<'a>); 4],
    computed: RefCell<BTreeMap<String, Outcome<'a>>>,
}

impl<'a> Variables<'a> for Given<'a> {
    fn get(&self, name: &str) -> Option<Outcome<'a>> {
        if let Some((_, value)) = self.values.iter().find(|(known, _)| *known == name) {
            return Some(Ok(value.clone()));
        }
        let place = self.policy.places.get(name)?;
        let (_, expression) = self.policy.variables.get(*place)?;
        if let Some(known) = self.computed.borrow().get(name) {
            return Some(known.clone());
        }
        let program = expression.program.as_ref().ok()?;
        let short = name.trim_start_matches("variables.");
        let outcome = program.eval(self).map_err(|fault| {
            let why = fault.0;
            Fault(format!("composited variable \"{short}\" fails to evaluate: {why}").into())
        });
        self.computed
            .borrow_mut()
            .insert(name.to_owned(), outcome.clone());
        Some(outcome)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::deep;

    /// A policy of variables `v0`, `v1` and so on, which asks for this.
    fn policy(variables: impl Iterator<Item = String>, validation: &str) -> Policy {
        let variables: Vec<Value> = variables
            .enumerate()
            .map(|(index, text)| json!({"name": format!("v{index}"), "expression": text}))
            .collect();
        Policy::read(&json!({
            "variables": variables,
            "validations": [{"expression": validation}],
        }))
    }

    fn ask(policy: &Policy, object: &Value, old: &Value) -> Vec<String> {
        let failures = policy.failures(object, old, &Value::Null, &Value::Null);
        failures
            .into_iter()
            .map(|failure| failure.message)
            .collect()
    }

    #[test]
    fn many_variables_take_no_more_than_each_of_them() {
        let many = (0..20_000).map(|_| "1".to_owned());
        let policy = policy(many, "variables.v19999 == 1 && has(variables.v0)");
        let refused = |(_, variable): &(String, Expression)| variable.program.is_err();
        assert!(!policy.variables.iter().any(refused));
        // As before: there is none before the first, and none that nobody declares.
        let text = "variables.nothing == 1";
        let policy = self::policy(["1".to_owned()].into_iter(), text);
        let wrong = policy.validations.first().map(|v| &v.expression.program);
        let wrong = wrong.and_then(|program| program.as_ref().err()).unwrap();
        assert!(wrong.contains("undefined field 'nothing'"), "{wrong}");
    }

    #[test]
    fn variables_of_variables_are_no_danger() {
        let chain = |count: usize, first: &str, step: fn(usize) -> String| {
            let first = std::iter::once(first.to_owned());
            first.chain((1..count).map(step)).collect::<Vec<String>>()
        };
        let next = |index: usize| format!("variables.v{} + 1", index - 1);
        let fine = policy(chain(500, "0", next).into_iter(), "variables.v499 == 499");
        assert_eq!(ask(&fine, &json!({}), &json!({})), [""; 0]);
        let cancelled = |policy: &Policy| {
            let messages = ask(policy, &json!({}), &json!({}));
            let why = "operation cancelled: actual cost limit exceeded";
            messages.len() == 1 && messages.iter().all(|message| message.ends_with(why))
        };
        let long = chain(5_000, "0", next).into_iter();
        assert!(cancelled(&policy(long, "variables.v4999 == 0")));
        // Here each has the one before already, and puts something around it.
        let around = |index: usize| {
            let steps = ".map(a, dyn([a]))".repeat(90);
            format!("dyn([variables.v{}]{steps})", index - 1)
        };
        let deep = chain(100, "dyn(object)", around).into_iter();
        assert!(cancelled(&policy(deep, "variables.v99 == 0")));
        let doubled = |index: usize| format!("{{variables.v{0}: variables.v{0}}}", index - 1);
        let doubled = policy(chain(40, "0", doubled).into_iter(), "true");
        let refused = |(_, variable): &(String, Expression)| variable.program.is_err();
        assert!(doubled.variables.iter().any(refused));
    }

    #[test]
    fn a_long_expression_compares_deep_documents() {
        deep::with_room(9_000, || {
            let around = |inner| Value::Object([("a".to_owned(), inner)].into_iter().collect());
            let document = || (0..8_990).fold(Value::Null, |inner, _| around(inner));
            let text = format!("object == oldObject && {} > 0", vec!["1"; 110].join(" + "));
            let policy = policy(std::iter::empty(), &text);
            assert_eq!(ask(&policy, &document(), &document()), [""; 0]);
        });
    }
}
