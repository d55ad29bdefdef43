//! Label and field selectors.

use serde_json::Value;

use crate::meta::Facts;
use crate::names;
use crate::resource::{Resource, Rules, at_path};
use crate::status::ApiError;
use crate::storage::Stored;
use crate::text::go_quote;

/// What a request selects.
#[derive(Clone, Debug, Default)]
pub(crate) struct Selector {
    labels: Vec<LabelTerm>,
    fields: Vec<FieldTerm>,
}

#[derive(Clone, Debug)]
struct LabelTerm {
    key: String,
    test: LabelTest,
}

#[derive(Clone, Debug)]
enum LabelTest {
    Exists,
    Missing,
    In(Vec<String>),
    NotIn(Vec<String>),
    Greater(i64),
    Less(i64),
}

#[derive(Clone, Debug)]
struct FieldTerm {
    field: String,
    value: String,
    equal: bool,
}

impl Selector {
    /// Reads both selectors of a request.
    pub(crate) fn parse(resource: &Resource, labels: &str, fields: &str) -> Result<Self, ApiError> {
        Ok(Self {
            labels: parse_labels(labels)?,
            fields: parse_fields(resource, fields)?,
        })
    }

    /// Whether it selects everything.
    pub(crate) fn is_everything(&self) -> bool {
        self.labels.is_empty() && self.fields.is_empty()
    }

    /// Adds the demand for one name, as a watch of a single object has.
    pub(crate) fn and_name(mut self, name: &str) -> Self {
        let field = "metadata.name".to_owned();
        self.fields.push(FieldTerm {
            field,
            value: name.to_owned(),
            equal: true,
        });
        self
    }

    /// The name that is demanded, if exactly one is.
    pub(crate) fn name(&self) -> Option<&str> {
        self.fields
            .iter()
            .find(|term| term.equal && term.field == "metadata.name")
            .map(|term| term.value.as_str())
    }

    /// Whether there are field terms at all.
    pub(crate) fn has_fields(&self) -> bool {
        !self.fields.is_empty()
    }

    /// Whether an object is selected. `resource` is how the request sees it.
    pub(crate) fn matches(
        &self,
        resource: &Resource,
        object: &Stored,
        view: impl Fn(&Stored) -> Value,
    ) -> bool {
        self.labels.iter().all(|term| term.matches(&object.facts))
            && self
                .fields
                .iter()
                .all(|term| term.matches(resource, object, &view))
    }
}

impl LabelTerm {
    fn matches(&self, facts: &Facts) -> bool {
        let value = facts.label(&self.key);
        match &self.test {
            LabelTest::Exists => value.is_some(),
            LabelTest::Missing => value.is_none(),
            LabelTest::In(values) => value.is_some_and(|v| values.iter().any(|w| w == v)),
            LabelTest::NotIn(values) => !value.is_some_and(|v| values.iter().any(|w| w == v)),
            LabelTest::Greater(limit) => value
                .and_then(|v| v.parse::<i64>().ok())
                .is_some_and(|v| v > *limit),
            LabelTest::Less(limit) => value
                .and_then(|v| v.parse::<i64>().ok())
                .is_some_and(|v| v < *limit),
        }
    }
}

impl FieldTerm {
    fn matches(
        &self,
        resource: &Resource,
        object: &Stored,
        view: impl Fn(&Stored) -> Value,
    ) -> bool {
        let equal = match (self.field.as_str(), &resource.rules) {
            ("metadata.name", _) => *object.facts.name == *self.value,
            ("metadata.namespace", _) => *object.facts.namespace == *self.value,
            (field, Rules::Builtin(builtin)) => {
                let fields = builtin.selectable(&object.value()).unwrap_or_default();
                let found = fields.iter().find(|(name, _)| *name == field);
                found.map_or("", |(_, value)| value.as_str()) == self.value
            }
            (field, Rules::Custom(_)) => {
                let object = view(object);
                let found = match at_path(&object, field) {
                    None | Some(Value::Null) => String::new(),
                    Some(Value::String(text)) => text.clone(),
                    Some(other) => other.to_string(),
                };
                found == self.value
            }
        };
        equal == self.equal
    }
}

fn unparsable(detail: &str) -> ApiError {
    ApiError::bad_request(format!("unable to parse requirement: {detail}"))
}

fn unexpected(token: &Token, expected: &str) -> ApiError {
    ApiError::bad_request(format!("found '{}', expected: {expected}", shown(token)))
}

/// The pieces of a label selector.
#[derive(Debug, PartialEq, Eq)]
enum Token {
    Word(String),
    Sign(&'static str),
    End,
}

struct Lexer<'a> {
    rest: &'a str,
}

impl Lexer<'_> {
    const SIGNS: [&'static str; 9] = ["!=", "==", "=", "!", ",", "(", ")", ">", "<"];

    fn next(&mut self) -> Token {
        self.rest = self.rest.trim_start_matches([' ', '\t', '\r', '\n']);
        for sign in Self::SIGNS {
            if let Some(rest) = self.rest.strip_prefix(sign) {
                self.rest = rest;
                return Token::Sign(sign);
            }
        }
        let end = self
            .rest
            .find(|c: char| " \t\r\n!=,()<>".contains(c))
            .unwrap_or(self.rest.len());
        if end == 0 {
            return Token::End;
        }
        let (word, rest) = self.rest.split_at(end);
        self.rest = rest;
        Token::Word(word.to_owned())
    }

    fn peek(&mut self) -> Token {
        let rest = self.rest;
        let token = self.next();
        self.rest = rest;
        token
    }
}

fn shown(token: &Token) -> String {
    match token {
        Token::Word(word) => word.clone(),
        Token::Sign(sign) => (*sign).to_owned(),
        Token::End => String::new(),
    }
}

fn parse_labels(text: &str) -> Result<Vec<LabelTerm>, ApiError> {
    let mut lexer = Lexer { rest: text };
    let mut terms = Vec::new();
    if lexer.peek() == Token::End {
        return Ok(terms);
    }
    loop {
        terms.push(parse_term(&mut lexer)?);
        match lexer.next() {
            Token::End => return Ok(terms),
            Token::Sign(",") => match lexer.peek() {
                Token::Word(_) | Token::Sign("!") => {}
                other => return Err(unexpected(&other, "identifier after ','")),
            },
            other => return Err(unexpected(&other, "',' or 'end of string'")),
        }
    }
}

fn parse_term(lexer: &mut Lexer<'_>) -> Result<LabelTerm, ApiError> {
    let mut missing = false;
    let mut token = lexer.next();
    if token == Token::Sign("!") {
        missing = true;
        token = lexer.next();
    }
    let Token::Word(key) = token else {
        return Err(if missing {
            unparsable(&format!("found '{}', expected: identifier", shown(&token)))
        } else {
            unexpected(&token, "!, identifier, or 'end of string'")
        });
    };
    if let Some(complaint) = names::qualified_name(&key).into_iter().next() {
        return Err(unparsable(&format!(
            "<nil>: Invalid value: {}: {complaint}",
            go_quote(&key)
        )));
    }
    if missing {
        return Ok(LabelTerm {
            key,
            test: LabelTest::Missing,
        });
    }
    if matches!(lexer.peek(), Token::End | Token::Sign(",")) {
        return Ok(LabelTerm {
            key,
            test: LabelTest::Exists,
        });
    }
    let operator = lexer.next();
    let test = match &operator {
        Token::Sign("=" | "==") => LabelTest::In(vec![one_value(lexer)?]),
        Token::Sign("!=") => LabelTest::NotIn(vec![one_value(lexer)?]),
        Token::Sign(sign @ (">" | "<")) => {
            let value = one_value(lexer)?;
            let Ok(limit) = value.parse() else {
                return Err(unparsable(&format!(
                    "values[0]: Invalid value: {}: for 'Gt', 'Lt' operators, the value must \
                     be an integer",
                    go_quote(&value)
                )));
            };
            if *sign == ">" {
                LabelTest::Greater(limit)
            } else {
                LabelTest::Less(limit)
            }
        }
        Token::Word(word) if word == "in" => LabelTest::In(values(lexer)?),
        Token::Word(word) if word == "notin" => LabelTest::NotIn(values(lexer)?),
        other => {
            return Err(unparsable(&format!(
                "found '{}', expected: in, notin, =, ==, !=, gt, lt",
                shown(other)
            )));
        }
    };
    if let LabelTest::In(values) | LabelTest::NotIn(values) = &test {
        for value in values {
            if let Some(complaint) = names::label_value(value).into_iter().next() {
                return Err(unparsable(&format!(
                    "values[0][{key}]: Invalid value: {}: {complaint}",
                    go_quote(value)
                )));
            }
        }
    }
    Ok(LabelTerm { key, test })
}

fn one_value(lexer: &mut Lexer<'_>) -> Result<String, ApiError> {
    match lexer.peek() {
        Token::End | Token::Sign(",") => Ok(String::new()),
        Token::Word(_) => Ok(shown(&lexer.next())),
        other @ Token::Sign(_) => Err(unparsable(&format!(
            "found '{}', expected: identifier",
            shown(&other)
        ))),
    }
}

fn values(lexer: &mut Lexer<'_>) -> Result<Vec<String>, ApiError> {
    let open = lexer.next();
    if open != Token::Sign("(") {
        return Err(unparsable(&format!(
            "found '{}' expected: '('",
            shown(&open)
        )));
    }
    let mut values = Vec::new();
    loop {
        match lexer.next() {
            Token::Word(word) => {
                values.push(word);
                match lexer.next() {
                    Token::Sign(",") => {
                        if lexer.peek() == Token::Sign(")") {
                            values.push(String::new());
                        }
                    }
                    Token::Sign(")") => return Ok(values),
                    other => {
                        return Err(unparsable(&format!(
                            "found '{}', expected: ',' or ')'",
                            shown(&other)
                        )));
                    }
                }
            }
            Token::Sign(")") if values.is_empty() => {
                values.push(String::new());
                return Ok(values);
            }
            Token::Sign(")") => return Ok(values),
            Token::Sign(",") => values.push(String::new()),
            other => {
                return Err(unparsable(&format!(
                    "found '{}', expected: ',', ')' or identifier",
                    shown(&other)
                )));
            }
        }
    }
}

fn parse_fields(resource: &Resource, text: &str) -> Result<Vec<FieldTerm>, ApiError> {
    let mut terms = Vec::new();
    for part in split_escaped(text) {
        if part.is_empty() {
            continue;
        }
        let (field, value, equal) = if let Some((field, value)) = part.split_once("!=") {
            (field, value, false)
        } else if let Some((field, value)) = part.split_once("==") {
            (field, value, true)
        } else if let Some((field, value)) = part.split_once('=') {
            (field, value, true)
        } else {
            return Err(ApiError::bad_request(format!(
                "invalid selector: '{text}'; can't understand '{part}'"
            )));
        };
        if !is_selectable(resource, field) {
            return Err(unsupported_field(resource, field));
        }
        terms.push(FieldTerm {
            field: field.to_owned(),
            value: unescape(value),
            equal,
        });
    }
    Ok(terms)
}

fn is_selectable(resource: &Resource, field: &str) -> bool {
    match (field, &resource.rules) {
        ("metadata.name", _) => true,
        ("metadata.namespace", rules) => resource.namespaced || matches!(rules, Rules::Builtin(_)),
        (field, Rules::Builtin(builtin)) => builtin
            .selectable(&Value::Null)
            .is_some_and(|fields| fields.iter().any(|(name, _)| *name == field)),
        (field, Rules::Custom(custom)) => custom.selectable.iter().any(|f| &**f == field),
    }
}

fn unsupported_field(resource: &Resource, field: &str) -> ApiError {
    let quoted = go_quote(field);
    ApiError::bad_request(match &resource.rules {
        Rules::Custom(_) => format!("field label not supported: {field}"),
        Rules::Builtin(builtin) if builtin.selectable(&Value::Null).is_some() => {
            format!("field label not supported: {field}")
        }
        Rules::Builtin(_) => format!(
            "{quoted} is not a known field selector: only \"metadata.name\", \"metadata.namespace\""
        ),
    })
}

fn split_escaped(text: &str) -> Vec<&str> {
    let mut parts = Vec::new();
    let (mut start, mut escaped) = (0, false);
    for (at, c) in text.char_indices() {
        match c {
            '\\' if !escaped => escaped = true,
            ',' if !escaped => {
                parts.push(&text[start..at]);
                start = at + 1;
            }
            _ => escaped = false,
        }
    }
    parts.push(&text[start..]);
    parts
}

fn unescape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut escaped = false;
    for c in text.chars() {
        if c == '\\' && !escaped {
            escaped = true;
        } else {
            out.push(c);
            escaped = false;
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn facts(labels: &[(&str, &str)]) -> Facts {
        Facts {
            labels: labels
                .iter()
                .map(|(k, v)| ((*k).into(), (*v).into()))
                .collect(),
            ..Facts::default()
        }
    }

    fn matches(selector: &str, labels: &[(&str, &str)]) -> bool {
        let facts = facts(labels);
        parse_labels(selector)
            .unwrap()
            .iter()
            .all(|term| term.matches(&facts))
    }

    #[test]
    fn label_selectors() {
        let labels = [("a", "1"), ("b", "x")];
        for (selector, expected) in [
            ("", true),
            ("a=1", true),
            ("a==1,b!=y", true),
            ("a=2", false),
            ("c!=1", true),
            ("a", true),
            ("!a", false),
            ("!c", true),
            ("a in (1, 2)", true),
            ("a notin (1,2)", false),
            ("b in (x),a", true),
            ("a>0", true),
            ("a<1", false),
            ("c=", false),
        ] {
            assert_eq!(matches(selector, &labels), expected, "{selector}");
        }
    }

    #[test]
    fn broken_label_selectors_are_refused() {
        for selector in [
            "a in 1", "a=b=c", ",", "a,", "=x", "a in (1", "a!!b", "a>x", "-=1",
        ] {
            assert!(parse_labels(selector).is_err(), "{selector}");
        }
    }

    #[test]
    fn field_selectors_can_escape() {
        assert_eq!(split_escaped("a=1,b=x\\,y"), ["a=1", "b=x\\,y"]);
        assert_eq!(unescape("x\\,y"), "x,y");
    }
}
