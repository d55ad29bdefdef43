//! Whether a value fits its shape, and the set of all its fields.

use serde_json::{Map as Object, Value};

use super::element::Element;
use super::set::{Node, Set};
use super::shape::{Form, List, Map, Ref, Scalar};
use crate::text::{go_format, go_number, go_quote};

/// How many complaints about one value are told.
const MAX_COMPLAINTS: usize = 100;

/// Why a value does not fit, and where.
#[derive(Debug, Default)]
struct Complaints(Vec<(String, String)>);

impl Complaints {
    fn add(&mut self, place: &Place<'_>, why: impl Into<String>) {
        if self.0.len() < MAX_COMPLAINTS {
            self.0.push((place.path(), why.into()));
        }
    }

    /// All of them as one text, if there are any.
    fn into_result(self) -> Result<(), String> {
        let one = |(path, why): &(String, String)| {
            if path.is_empty() {
                why.clone()
            } else {
                format!("{path}: {why}")
            }
        };
        match self.0.as_slice() {
            [] => Ok(()),
            [only] => Err(one(only)),
            several => {
                let lines: Vec<String> = several.iter().map(|c| format!("  {}", one(c))).collect();
                Err(format!("errors:\n{}", lines.join("\n")))
            }
        }
    }
}

/// Where a walk is; it is written down only where something is wrong.
struct Place<'p> {
    above: Option<&'p Place<'p>>,
    step: Step<'p>,
}

enum Step<'p> {
    Root,
    Field(&'p str),
    Item(&'p Element),
    Index(usize),
}

impl<'p> Place<'p> {
    fn below(&'p self, step: Step<'p>) -> Self {
        Self {
            above: Some(self),
            step,
        }
    }

    fn path(&self) -> String {
        let above = self.above.map(Place::path).unwrap_or_default();
        match self.step {
            Step::Root => above,
            Step::Field(name) => format!("{above}.{name}"),
            Step::Item(element) => format!("{above}{element}"),
            Step::Index(index) => format!("{above}[{index}]"),
        }
    }
}

/// Whether a value fits; items of sets and of lists with keys may come twice only if so allowed.
pub(super) fn check(at: Ref<'_>, value: &Value, duplicates: bool) -> Result<(), String> {
    let mut check = Check {
        duplicates,
        found: Complaints::default(),
    };
    let root = Place {
        above: None,
        step: Step::Root,
    };
    check.value(at, value, &root);
    check.found.into_result()
}

struct Check {
    duplicates: bool,
    found: Complaints,
}

impl Check {
    fn value(&mut self, at: Ref<'_>, value: &Value, place: &Place<'_>) {
        let atom = at.atom();
        match atom.form(atom.deduce(Some(value))) {
            Err(why) => self.found.add(place, why),
            Ok(Form::Scalar(scalar)) => {
                if let Err(why) = fits(scalar, Some(value), "") {
                    self.found.add(place, why);
                }
            }
            Ok(Form::Map(map)) => self.map(map, value, place),
            Ok(Form::List(list)) => self.list(list, value, place),
        }
    }

    fn map(&mut self, map: &Map<'_>, value: &Value, place: &Place<'_>) {
        let fields = match value {
            Value::Null => return,
            Value::Object(fields) => fields,
            other => {
                let why = format!("expected map, got &{{{}}}", go_format(other));
                return self.found.add(place, why);
            }
        };
        for (key, value) in fields {
            let below = place.below(Step::Field(key));
            let Some(at) = map.at(key) else {
                return self.found.add(&below, "field not declared in schema");
            };
            self.value(at, value, &below);
        }
    }

    fn list(&mut self, list: &List<'_>, value: &Value, place: &Place<'_>) {
        let items = match value {
            Value::Null => return,
            Value::Array(items) => items,
            other => {
                let why = format!("expected list, got &{{{}}}", go_format(other));
                return self.found.add(place, why);
            }
        };
        if list.is_atomic() {
            for (index, item) in items.iter().enumerate() {
                self.value(list.item, item, &place.below(Step::Index(index)));
            }
            return;
        }
        let sorted = match list.sorted(items) {
            Ok(sorted) => sorted,
            Err(why) => return self.found.add(place, why),
        };
        if !self.duplicates {
            for pair in sorted.windows(2) {
                if let [(one, _), (other, _)] = pair
                    && one == other
                {
                    let why = format!("duplicate entries for key {one}");
                    self.found.add(place, why);
                }
            }
        }
        for (element, item) in &sorted {
            self.value(list.item, item, &place.below(Step::Item(element)));
        }
    }
}

/// Whether a value is of a simple type; nothing and null are of all of them.
pub(super) fn fits(scalar: Scalar, value: Option<&Value>, prefix: &str) -> Result<(), String> {
    let Some(value) = value else {
        return Ok(());
    };
    let wrong = match scalar {
        _ if value.is_null() => return Ok(()),
        Scalar::Number if !value.is_number() => {
            format!("expected numeric (int or float), got {}", go_type(value))
        }
        Scalar::Text if !value.is_string() => {
            let shown = go_syntax(value);
            format!("expected string, got &value.valueUnstructured{{Value:{shown}}}")
        }
        Scalar::Flag if !value.is_boolean() => {
            format!("expected boolean, got &{{{}}}", go_format(value))
        }
        Scalar::Any if value.is_array() || value.is_object() => {
            format!("expected any scalar, got &{{{}}}", go_format(value))
        }
        _ => return Ok(()),
    };
    Err(format!("{prefix}{wrong}"))
}

/// The type that Go decodes a value to.
fn go_type(value: &Value) -> &'static str {
    match value {
        Value::Null => "<nil>",
        Value::Bool(_) => "bool",
        Value::Number(number) if number.is_f64() => "float64",
        Value::Number(_) => "int64",
        Value::String(_) => "string",
        Value::Array(_) => "[]interface {}",
        Value::Object(_) => "map[string]interface {}",
    }
}

/// A value as Go source.
fn go_syntax(value: &Value) -> String {
    match value {
        Value::Null => "interface {}(nil)".to_owned(),
        Value::Bool(flag) => flag.to_string(),
        Value::Number(number) => go_number(number),
        Value::String(text) => go_quote(text),
        Value::Array(items) => {
            let items: Vec<String> = items.iter().map(go_syntax).collect();
            format!("[]interface {{}}{{{}}}", items.join(", "))
        }
        Value::Object(map) => {
            let mut fields: Vec<String> = map
                .iter()
                .map(|(key, value)| format!("{}:{}", go_quote(key), go_syntax(value)))
                .collect();
            fields.sort();
            format!("map[string]interface {{}}{{{}}}", fields.join(", "))
        }
    }
}

/// All fields that a value names.
pub(super) fn fields_of(at: Ref<'_>, value: &Value) -> Result<Set, String> {
    let mut node = Node::default();
    collect(Some(at), value, &mut node)?;
    Ok(node.below)
}

fn collect(at: Option<Ref<'_>>, value: &Value, node: &mut Node) -> Result<(), String> {
    let atom = at.map(Ref::atom).unwrap_or_default();
    match atom.form(atom.deduce(Some(value)))? {
        Form::Scalar(_) => node.member = true,
        Form::Map(map) if map.atomic => node.member = true,
        Form::List(list) if list.is_atomic() => node.member = true,
        Form::Map(map) => {
            for (key, value) in value.as_object().into_iter().flatten() {
                let mut below = Node::default();
                collect(map.at(key), value, &mut below)?;
                let nothing = value.is_null() || value.as_object().is_some_and(Object::is_empty);
                below.member |= nothing || map.field(key).is_none();
                node.below.attach(Element::field(key), below);
            }
        }
        Form::List(list) => {
            let items = value.as_array().map_or(&[][..], Vec::as_slice);
            let sorted = list.sorted(items)?;
            for same in sorted.chunk_by(|(a, _), (b, _)| a == b) {
                let mut below = Node::default();
                // What comes more than once is one field, whatever is in it.
                if let [(_, only)] = same {
                    collect(Some(list.item), only, &mut below)?;
                }
                below.member = true;
                node.below.attach(same[0].0.clone(), below);
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema::compile;
    use serde_json::json;

    #[test]
    fn what_does_not_fit_is_told_with_its_place() {
        let schema = compile(&json!({"type": "object", "properties": {
            "spec": {"type": "object", "properties": {
                "size": {"type": "integer"}, "name": {"type": "string"},
                "tags": {"type": "array", "x-kubernetes-list-type": "set",
                    "items": {"type": "string"}}}}}}));
        let at = Ref::of_schema(&schema);
        let complaint = |spec: Value| check(at, &json!({"spec": spec}), false).unwrap_err();
        assert_eq!(
            complaint(json!({"size": "x"})),
            ".spec.size: expected numeric (int or float), got string"
        );
        assert_eq!(
            complaint(json!({"name": 1})),
            ".spec.name: expected string, got &value.valueUnstructured{Value:1}"
        );
        assert_eq!(
            complaint(json!({"nope": 1})),
            ".spec.nope: field not declared in schema"
        );
        assert_eq!(
            complaint(json!({"tags": ["a", "a"]})),
            ".spec.tags: duplicate entries for key [=\"a\"]"
        );
        assert!(check(at, &json!({"spec": {"tags": ["a", "a"]}}), true).is_ok());
        assert!(
            check(
                at,
                &json!({"kind": "X", "metadata": {"labels": null}}),
                false
            )
            .is_ok()
        );
    }
}
