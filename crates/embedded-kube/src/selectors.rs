//! Label and field selectors.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::meta::Facts;
use crate::names;
use crate::resource::{Resource, Rules, at_path};
use crate::status::{ApiError, FieldError};
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
    In(BTreeSet<String>),
    NotIn(BTreeSet<String>),
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
    pub(crate) fn parse(labels: &str, fields: &str) -> Result<Self, ApiError> {
        Ok(Self {
            labels: parse_labels(labels)?,
            fields: parse_fields(fields)?,
        })
    }

    /// Refuses fields that objects of this resource cannot be selected by.
    pub(crate) fn check(&self, resource: &Resource) -> Result<(), ApiError> {
        let strange = |term: &&FieldTerm| !is_selectable(resource, &term.field);
        match self.fields.iter().find(strange) {
            Some(term) => Err(unsupported_field(resource, &term.field)),
            None => Ok(()),
        }
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

    /// The value that is demanded of a field, if there is one.
    pub(crate) fn equal(&self, field: &str) -> Option<&str> {
        self.fields
            .iter()
            .find(|term| term.equal && term.field == field)
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
            LabelTest::In(values) => value.is_some_and(|v| values.contains(v)),
            LabelTest::NotIn(values) => !value.is_some_and(|v| values.contains(v)),
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
    loop {
        match lexer.peek() {
            Token::Word(_) | Token::Sign("!") => {}
            Token::End => return Ok(terms),
            other @ Token::Sign(_) => {
                return Err(unexpected(&other, "!, identifier, or 'end of string'"));
            }
        }
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
        let found = shown(&token);
        return Err(unparsable(&format!(
            "found '{found}', expected: identifier"
        )));
    };
    let complaints = names::qualified_name(&key);
    if !complaints.is_empty() {
        let error = FieldError::invalid("<nil>", key.as_str(), complaints.join("; "));
        return Err(unparsable(&error.to_string()));
    }
    if missing {
        let test = LabelTest::Missing;
        return Ok(LabelTerm { key, test });
    }
    if matches!(lexer.peek(), Token::End | Token::Sign(",")) {
        let test = LabelTest::Exists;
        return Ok(LabelTerm { key, test });
    }
    let operator = lexer.next();
    let values = match &operator {
        Token::Sign("=" | "==" | "!=" | ">" | "<") => one_value(lexer)?,
        Token::Word(word) if word == "in" || word == "notin" => values(lexer)?,
        other => {
            return Err(unparsable(&format!(
                "found '{}', expected: in, notin, =, ==, !=, gt, lt",
                shown(other)
            )));
        }
    };
    let mut errors = Vec::new();
    let number = || -> Option<i64> { values.first()?.parse().ok() };
    let test = match shown(&operator).as_str() {
        ">" => number().map(LabelTest::Greater),
        "<" => number().map(LabelTest::Less),
        "=" | "==" | "in" => Some(LabelTest::In(values.clone())),
        _ => Some(LabelTest::NotIn(values.clone())),
    };
    if test.is_none() {
        let detail = "for 'Gt', 'Lt' operators, the value must be an integer";
        let value = values.iter().next().map_or("", String::as_str);
        errors.push(FieldError::invalid("values[0]", value, detail));
    }
    for (index, value) in values.iter().enumerate() {
        let complaints = names::label_value(value);
        if !complaints.is_empty() {
            let place = format!("values[{index}][{key}]");
            errors.push(FieldError::invalid(
                place,
                value.as_str(),
                complaints.join("; "),
            ));
        }
    }
    match test {
        Some(test) if errors.is_empty() => Ok(LabelTerm { key, test }),
        _ => Err(unparsable(&all_of(&errors))),
    }
}

/// Several errors as one text.
fn all_of(errors: &[FieldError]) -> String {
    match errors {
        [one] => one.to_string(),
        several => {
            let texts: Vec<String> = several.iter().map(ToString::to_string).collect();
            format!("[{}]", texts.join(", "))
        }
    }
}

fn one_value(lexer: &mut Lexer<'_>) -> Result<BTreeSet<String>, ApiError> {
    match lexer.peek() {
        Token::End | Token::Sign(",") => Ok(BTreeSet::from([String::new()])),
        Token::Word(_) => Ok(BTreeSet::from([shown(&lexer.next())])),
        other @ Token::Sign(_) => Err(unparsable(&format!(
            "found '{}', expected: identifier",
            shown(&other)
        ))),
    }
}

/// A list of values in parentheses; nothing between two commas is an empty value.
fn values(lexer: &mut Lexer<'_>) -> Result<BTreeSet<String>, ApiError> {
    let wrong = |token: &Token, expected: &str| {
        Err(unparsable(&format!("found '{}'{expected}", shown(token))))
    };
    let open = lexer.next();
    if open != Token::Sign("(") {
        return wrong(&open, " expected: '('");
    }
    let mut values = BTreeSet::new();
    match lexer.peek() {
        Token::Word(_) | Token::Sign(",") => {}
        Token::Sign(")") => {
            lexer.next();
            return Ok(BTreeSet::from([String::new()]));
        }
        other => return wrong(&other, ", expected: ',', ')' or identifier"),
    }
    loop {
        match lexer.next() {
            Token::Word(word) => {
                values.insert(word);
                match lexer.peek() {
                    Token::Sign(",") => {}
                    Token::Sign(")") => break,
                    other => return wrong(&other, ", expected: ',' or ')'"),
                }
            }
            Token::Sign(",") => {
                let next = lexer.peek();
                if values.is_empty() || matches!(next, Token::Sign("," | ")")) {
                    values.insert(String::new());
                }
                if next == Token::Sign(")") {
                    break;
                }
            }
            other => return wrong(&other, ", expected: ',', or identifier"),
        }
    }
    lexer.next();
    Ok(values)
}

fn parse_fields(text: &str) -> Result<Vec<FieldTerm>, ApiError> {
    let mut parts = split_escaped(text);
    parts.sort_unstable();
    let mut terms = Vec::new();
    for part in parts {
        if part.is_empty() {
            continue;
        }
        // The first sign counts, whichever it is.
        let found = (0..part.len()).find_map(|at| {
            let rest = part.get(at..)?;
            let sign = ["!=", "==", "="]
                .into_iter()
                .find(|s| rest.starts_with(s))?;
            Some((&part[..at], sign, &rest[sign.len()..]))
        });
        let Some((field, sign, value)) = found else {
            return Err(ApiError::bad_request(format!(
                "invalid selector: '{text}'; can't understand '{part}'"
            )));
        };
        let value = unescape(value)?;
        // Signs alone select everything.
        if !(field.is_empty() && value.is_empty()) {
            terms.push(FieldTerm {
                field: field.to_owned(),
                value,
                equal: sign != "!=",
            });
        }
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

/// The value of a field term: commas, equal signs and backslashes are escaped, nothing else is.
fn unescape(text: &str) -> Result<String, ApiError> {
    let mut out = String::with_capacity(text.len());
    let mut rest = text.chars();
    while let Some(c) = rest.next() {
        match c {
            '\\' => match rest.next() {
                Some(c @ ('\\' | ',' | '=')) => out.push(c),
                other => {
                    let sequence: String = std::iter::once('\\').chain(other).collect();
                    return Err(ApiError::bad_request(format!(
                        "invalid field selector: invalid escape sequence: {sequence}"
                    )));
                }
            },
            ',' | '=' => {
                // It is told by its number.
                return Err(ApiError::bad_request(format!(
                    "invalid field selector: unescaped character in value: {}",
                    u32::from(c)
                )));
            }
            c => out.push(c),
        }
    }
    Ok(out)
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
        assert_eq!(unescape("x\\,y").unwrap(), "x,y");
        assert!(unescape("x\\y").is_err());
        assert!(unescape("x\\").is_err());
    }
}
