//! A JSON reader that takes what the real server takes and says what it says.
//!
//! It differs from `serde_json` where the wire shows it: duplicate keys are reported with their
//! path, broken UTF-8 becomes U+FFFD, integers stay integers, the depth is bounded, and syntax
//! errors carry the texts that clients of the real server see.

use std::fmt::Write as _;

use serde_json::{Map, Number, Value};

use crate::deep::{self, MAX_DEPTH};

/// How many keys that come twice are told.
const MAX_DUPLICATES: usize = 100;

/// A document with the keys that it has twice.
#[derive(Debug)]
pub(crate) struct Document {
    pub(crate) value: Value,
    /// The paths of keys that came more than once, as in `spec.a[0].b`.
    pub(crate) duplicates: Vec<String>,
    /// The complaint about a number that is too large for any type, if there is one.
    pub(crate) overflow: Option<String>,
}

impl From<Value> for Document {
    fn from(value: Value) -> Self {
        Self {
            value,
            duplicates: Vec::new(),
            overflow: None,
        }
    }
}

/// Reads one JSON document.
pub(crate) fn parse(input: &[u8]) -> Result<Document, String> {
    let mut reader = Reader {
        input,
        at: 0,
        path: String::new(),
        duplicates: Vec::new(),
        overflow: None,
    };
    let value = reader.value(0)?;
    reader.blank();
    if let Some(byte) = reader.peek() {
        return Err(format!(
            "invalid character {} after top-level value",
            quote(byte)
        ));
    }
    Ok(Document {
        value,
        duplicates: reader.duplicates,
        overflow: reader.overflow,
    })
}

/// Reads a document that is written inside of another one, and not deep: it is read, kept and dropped
/// where there may be no more room than usual.
pub(crate) fn parse_inner(input: &[u8]) -> Result<Document, String> {
    if deep::of(input) > deep::SHALLOW {
        return Err("exceeded max depth".to_owned());
    }
    parse(input)
}

struct Reader<'a> {
    input: &'a [u8],
    at: usize,
    path: String,
    duplicates: Vec<String>,
    overflow: Option<String>,
}

fn quote(byte: u8) -> String {
    match byte {
        b'\'' => "'\\''".to_owned(),
        b'"' => "'\"'".to_owned(),
        b'\n' => "'\\n'".to_owned(),
        b'\t' => "'\\t'".to_owned(),
        b'\r' => "'\\r'".to_owned(),
        0x20..=0x7e => format!("'{}'", char::from(byte)),
        0x80..=0x9f => format!("'\\u{byte:04x}'"),
        0xa0.. => format!("'{}'", char::from(byte)),
        0..=0x1f | 0x7f => format!("'\\x{byte:02x}'"),
    }
}

const END: &str = "unexpected end of JSON input";

impl Reader<'_> {
    fn peek(&self) -> Option<u8> {
        self.input.get(self.at).copied()
    }

    fn blank(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            self.at += 1;
        }
    }

    fn unexpected(&self, context: &str) -> String {
        match self.peek() {
            Some(byte) => format!("invalid character {} {context}", quote(byte)),
            None => END.to_owned(),
        }
    }

    fn value(&mut self, depth: usize) -> Result<Value, String> {
        self.blank();
        match self.peek() {
            Some(b'{' | b'[') if depth >= MAX_DEPTH => Err(self.unexpected("exceeded max depth")),
            Some(b'{') => self.object(depth),
            Some(b'[') => self.array(depth),
            Some(b'"') => Ok(Value::String(self.string()?)),
            Some(b'-' | b'0'..=b'9') => self.number(),
            Some(b't') => self.literal("true", Value::Bool(true)),
            Some(b'f') => self.literal("false", Value::Bool(false)),
            Some(b'n') => self.literal("null", Value::Null),
            _ => Err(self.unexpected("looking for beginning of value")),
        }
    }

    fn object(&mut self, depth: usize) -> Result<Value, String> {
        self.at += 1;
        let mut map = Map::new();
        self.blank();
        if self.peek() == Some(b'}') {
            self.at += 1;
            return Ok(Value::Object(map));
        }
        loop {
            self.blank();
            if self.peek() != Some(b'"') {
                return Err(self.unexpected("looking for beginning of object key string"));
            }
            let key = self.string()?;
            self.blank();
            if self.peek() != Some(b':') {
                return Err(self.unexpected("after object key"));
            }
            self.at += 1;
            let length = self.path.len();
            if length > 0 {
                self.path.push('.');
            }
            self.path.push_str(&key);
            if map.contains_key(&key)
                && self.duplicates.len() < MAX_DUPLICATES
                && !self.duplicates.contains(&self.path)
            {
                self.duplicates.push(self.path.clone());
            }
            let value = self.value(depth + 1)?;
            self.path.truncate(length);
            map.insert(key, value);
            self.blank();
            match self.peek() {
                Some(b',') => self.at += 1,
                Some(b'}') => {
                    self.at += 1;
                    return Ok(Value::Object(map));
                }
                _ => return Err(self.unexpected("after object key:value pair")),
            }
        }
    }

    fn array(&mut self, depth: usize) -> Result<Value, String> {
        self.at += 1;
        let mut items = Vec::new();
        self.blank();
        if self.peek() == Some(b']') {
            self.at += 1;
            return Ok(Value::Array(items));
        }
        loop {
            let length = self.path.len();
            // Writing to a string cannot fail.
            let _ = write!(self.path, "[{}]", items.len());
            items.push(self.value(depth + 1)?);
            self.path.truncate(length);
            self.blank();
            match self.peek() {
                Some(b',') => self.at += 1,
                Some(b']') => {
                    self.at += 1;
                    return Ok(Value::Array(items));
                }
                _ => return Err(self.unexpected("after array element")),
            }
        }
    }

    fn literal(&mut self, text: &str, value: Value) -> Result<Value, String> {
        for expected in text.bytes() {
            if self.peek() != Some(expected) {
                let wanted = char::from(expected);
                return Err(self.unexpected(&format!("in literal {text} (expecting '{wanted}')")));
            }
            self.at += 1;
        }
        Ok(value)
    }

    fn digits(&mut self, context: &str) -> Result<(), String> {
        if !matches!(self.peek(), Some(b'0'..=b'9')) {
            return Err(self.unexpected(context));
        }
        while matches!(self.peek(), Some(b'0'..=b'9')) {
            self.at += 1;
        }
        Ok(())
    }

    fn number(&mut self) -> Result<Value, String> {
        let start = self.at;
        if self.peek() == Some(b'-') {
            self.at += 1;
        }
        if self.peek() == Some(b'0') {
            self.at += 1;
        } else {
            self.digits("in numeric literal")?;
        }
        let mut whole = true;
        if self.peek() == Some(b'.') {
            whole = false;
            self.at += 1;
            self.digits("after decimal point in numeric literal")?;
        }
        if matches!(self.peek(), Some(b'e' | b'E')) {
            whole = false;
            self.at += 1;
            if matches!(self.peek(), Some(b'+' | b'-')) {
                self.at += 1;
            }
            self.digits("in exponent of numeric literal")?;
        }
        let text = std::str::from_utf8(&self.input[start..self.at]).unwrap_or_default();
        if whole && let Ok(integer) = text.parse::<i64>() {
            return Ok(Value::Number(integer.into()));
        }
        let float: f64 = text.parse().unwrap_or(f64::INFINITY);
        Ok(Number::from_f64(float).map_or_else(
            || {
                let message =
                    format!("json: cannot unmarshal number {text} into Go value of type float64");
                self.overflow.get_or_insert(message);
                Value::Null
            },
            Value::Number,
        ))
    }

    fn string(&mut self) -> Result<String, String> {
        self.at += 1;
        let start = self.at;
        // The usual case: no escapes, so that the text can be taken as it is.
        loop {
            match self.peek() {
                Some(b'"') => {
                    let text = String::from_utf8_lossy(&self.input[start..self.at]).into_owned();
                    self.at += 1;
                    return Ok(text);
                }
                Some(b'\\') => break,
                Some(0..0x20) => return Err(self.unexpected("in string literal")),
                Some(_) => self.at += 1,
                None => return Err(END.to_owned()),
            }
        }
        let mut bytes = self.input[start..self.at].to_vec();
        loop {
            match self.peek() {
                Some(b'"') => {
                    self.at += 1;
                    return Ok(String::from_utf8(bytes)
                        .unwrap_or_else(|e| String::from_utf8_lossy(e.as_bytes()).into_owned()));
                }
                Some(b'\\') => {
                    self.at += 1;
                    let mut buffer = [0; 4];
                    let character = self.escape()?;
                    bytes.extend_from_slice(character.encode_utf8(&mut buffer).as_bytes());
                }
                Some(0..0x20) => return Err(self.unexpected("in string literal")),
                Some(byte) => {
                    bytes.push(byte);
                    self.at += 1;
                }
                None => return Err(END.to_owned()),
            }
        }
    }

    fn escape(&mut self) -> Result<char, String> {
        let character = match self.peek() {
            Some(b'"') => '"',
            Some(b'\\') => '\\',
            Some(b'/') => '/',
            Some(b'b') => '\u{8}',
            Some(b'f') => '\u{c}',
            Some(b'n') => '\n',
            Some(b'r') => '\r',
            Some(b't') => '\t',
            Some(b'u') => {
                self.at += 1;
                return self.unicode_escape();
            }
            _ => return Err(self.unexpected("in string escape code")),
        };
        self.at += 1;
        Ok(character)
    }

    fn unicode_escape(&mut self) -> Result<char, String> {
        let first = self.hex4()?;
        if (0xd800..0xdc00).contains(&first) && self.input[self.at..].starts_with(b"\\u") {
            let before = self.at;
            self.at += 2;
            let second = self.hex4()?;
            if (0xdc00..0xe000).contains(&second) {
                let code = 0x10000 + ((first - 0xd800) << 10) + (second - 0xdc00);
                return Ok(char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER));
            }
            self.at = before;
        }
        Ok(char::from_u32(first).unwrap_or(char::REPLACEMENT_CHARACTER))
    }

    fn hex4(&mut self) -> Result<u32, String> {
        let mut code = 0;
        for _ in 0..4 {
            let Some(digit) = self.peek().and_then(|b| char::from(b).to_digit(16)) else {
                return Err(self.unexpected("in \\u hexadecimal character escape"));
            };
            code = code * 16 + digit;
            self.at += 1;
        }
        Ok(code)
    }
}

/// Takes numbers as the real server does where no type says what they are: a whole float is an
/// integer while a float is exact.
pub(crate) fn whole_numbers(value: &mut Value) {
    match value {
        Value::Number(number) if number.is_f64() => {
            let float = number.as_f64().unwrap_or_default();
            #[expect(clippy::cast_possible_truncation, reason = "the range is checked")]
            if float.fract() == 0.0 && float.abs() < 9_007_199_254_740_992.0 {
                *number = (float as i64).into();
            }
        }
        Value::Array(items) => items.iter_mut().for_each(whole_numbers),
        Value::Object(map) => map.values_mut().for_each(whole_numbers),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn reads_what_serde_reads() {
        let text = r#" {"a": [1, -2.5, 1e3, true, null, "x\n\u00e9\ud83d\ude00"], "b": {}} "#;
        let mut value = parse(text.as_bytes()).unwrap().value;
        assert_eq!(value["a"][2], json!(1000.0));
        whole_numbers(&mut value);
        assert_eq!(
            value,
            json!({"a": [1, -2.5, 1000, true, null, "x\né😀"], "b": {}})
        );
    }

    #[test]
    fn reports_duplicates_with_their_path() {
        let document = parse(br#"{"spec":{"a":[{"b":1,"b":2}]},"spec":{}}"#).unwrap();
        assert_eq!(document.duplicates, ["spec.a[0].b", "spec"]);
    }

    #[test]
    fn broken_text_becomes_the_replacement_character() {
        assert_eq!(parse(b"\"a\xff\"").unwrap().value, json!("a\u{fffd}"));
        assert_eq!(parse(br#""\ud800""#).unwrap().value, json!("\u{fffd}"));
    }

    #[test]
    fn syntax_errors_have_the_known_texts() {
        for (text, message) in [
            ("", "unexpected end of JSON input"),
            ("{", "unexpected end of JSON input"),
            (
                "{\"a\":}",
                "invalid character '}' looking for beginning of value",
            ),
            (
                "{a}",
                "invalid character 'a' looking for beginning of object key string",
            ),
            ("[1 2]", "invalid character '2' after array element"),
            ("{} x", "invalid character 'x' after top-level value"),
            (
                "tru ",
                "invalid character ' ' in literal true (expecting 'e')",
            ),
        ] {
            assert_eq!(parse(text.as_bytes()).unwrap_err(), message, "{text}");
        }
    }

    #[test]
    fn depth_is_bounded() {
        let lists = |depth: usize| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
        crate::deep::with_room(MAX_DEPTH, || {
            assert!(parse(lists(MAX_DEPTH).as_bytes()).is_ok());
            for depth in [MAX_DEPTH + 1, 100_000] {
                let refused = parse(lists(depth).as_bytes());
                let message = "invalid character '[' exceeded max depth";
                assert_eq!(refused.unwrap_err(), message);
            }
        });
    }
}
