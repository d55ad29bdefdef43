//! Paths into objects, as the columns of a definition name them (`.status.conditions[0].type`).

use std::borrow::Cow;
use std::cmp::Ordering;

use serde_json::{Value, json};

/// How many nodes a path may have, and how many values it may find on its way: a definition can ask
/// for everything below everything.
const MAX_NODES: usize = 1000;
const MAX_FOUND: usize = 100_000;

/// A path, ready to be walked.
#[derive(Debug)]
pub(crate) struct Path {
    nodes: Vec<Node>,
}

#[derive(Debug)]
enum Node {
    Field(String),
    /// Start, end and step; a missing end that was derived from the start takes one item.
    Slice {
        start: Option<i64>,
        end: Option<i64>,
        derived: bool,
        step: Option<i64>,
    },
    Wildcard,
    Recursive,
    Union(Vec<Path>),
    Filter {
        left: Path,
        operator: String,
        right: Path,
    },
    Literal(Value),
    /// A word that means something in templates only.
    Word,
}

/// What a walk comes to: the values, or nothing because the path does not fit the object.
type Found<'a> = Option<Vec<Cow<'a, Value>>>;

impl Path {
    /// Reads a path; none if the real server would not understand it either.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        Self::read(text, 0)
    }

    fn read(text: &str, depth: usize) -> Option<Self> {
        if depth > 10 {
            return None;
        }
        let mut reader = Reader {
            rest: text,
            nodes: Vec::new(),
            depth,
        };
        reader.all()?;
        (reader.nodes.len() <= MAX_NODES).then_some(Self {
            nodes: reader.nodes,
        })
    }

    /// The first value that it leads to.
    pub(crate) fn first<'a>(&self, object: &'a Value) -> Option<Cow<'a, Value>> {
        let found = self.walk(vec![Cow::Borrowed(object)])?;
        found.into_iter().next()
    }

    fn walk<'a>(&self, start: Vec<Cow<'a, Value>>) -> Found<'a> {
        self.nodes
            .iter()
            .try_fold(start, |values, node| step(node, values))
    }
}

fn step<'a>(node: &Node, input: Vec<Cow<'a, Value>>) -> Found<'a> {
    let mut output = Vec::new();
    match node {
        Node::Word => return None,
        Node::Literal(value) => {
            output.extend(input.iter().map(|_| Cow::Owned(value.clone())));
        }
        Node::Field(name) => {
            for value in input {
                output.extend(child(value, name));
            }
        }
        Node::Wildcard => {
            for value in input {
                output.extend(children(value));
            }
        }
        Node::Recursive => {
            for value in input {
                below(value, &mut output)?;
            }
        }
        Node::Union(paths) => {
            for path in paths {
                output.extend(path.walk(input.clone())?);
                if output.len() > MAX_FOUND {
                    return None;
                }
            }
        }
        Node::Slice { .. } => {
            for value in input {
                match &*value {
                    Value::Null => {}
                    Value::Array(items) => {
                        let picked = pick(node, items.len())?;
                        let items = children(value);
                        let mut kept = vec![None; items.len()];
                        for (place, item) in items.into_iter().enumerate() {
                            kept[place] = Some(item);
                        }
                        output.extend(picked.into_iter().filter_map(|at| kept[at].take()));
                    }
                    _ => return None,
                }
            }
        }
        Node::Filter {
            left,
            operator,
            right,
        } => {
            for value in input {
                if !value.is_array() {
                    return None;
                }
                for item in children(value) {
                    if passes(&item, left, operator, right)? {
                        output.push(item);
                    }
                }
            }
        }
    }
    (output.len() <= MAX_FOUND).then_some(output)
}

fn child<'a>(value: Cow<'a, Value>, name: &str) -> Option<Cow<'a, Value>> {
    match value {
        Cow::Borrowed(value) => value.get(name).map(Cow::Borrowed),
        Cow::Owned(mut value) => value.get_mut(name).map(|v| Cow::Owned(v.take())),
    }
}

fn children(value: Cow<'_, Value>) -> Vec<Cow<'_, Value>> {
    match value {
        Cow::Borrowed(Value::Array(items)) => items.iter().map(Cow::Borrowed).collect(),
        Cow::Borrowed(Value::Object(map)) => map.values().map(Cow::Borrowed).collect(),
        Cow::Owned(Value::Array(items)) => items.into_iter().map(Cow::Owned).collect(),
        Cow::Owned(Value::Object(map)) => map.into_iter().map(|(_, v)| Cow::Owned(v)).collect(),
        _ => Vec::new(),
    }
}

/// A value and everything below it, as far as it has anything below.
fn below<'a>(value: Cow<'a, Value>, output: &mut Vec<Cow<'a, Value>>) -> Option<()> {
    let inner = children(value.clone());
    if inner.is_empty() || output.len() > MAX_FOUND {
        return (output.len() <= MAX_FOUND).then_some(());
    }
    output.push(value);
    inner.into_iter().try_for_each(|item| below(item, output))
}

/// The places of a list that a slice takes; none if it reaches beyond the list.
fn pick(node: &Node, length: usize) -> Option<Vec<usize>> {
    let Node::Slice {
        start,
        end,
        derived,
        step,
    } = node
    else {
        return None;
    };
    let length = i64::try_from(length).ok()?;
    let mut from = start.unwrap_or(0);
    if from < 0 {
        from += length;
    }
    let mut to = end.unwrap_or(length);
    if to < 0 || (to == 0 && *derived) {
        to += length;
    }
    if from == to {
        return Some(Vec::new());
    }
    let inside = (0..length).contains(&from) && (0..=length).contains(&to) && from <= to;
    let step = step.unwrap_or(1);
    if !inside || step <= 0 {
        return None;
    }
    let places = (from..to).step_by(usize::try_from(step).ok()?);
    places.map(|place| usize::try_from(place).ok()).collect()
}

/// Whether an item fulfils a condition; none if the two sides cannot be compared.
fn passes(item: &Value, left: &Path, operator: &str, right: &Path) -> Option<bool> {
    let side = |path: &Path| path.walk(vec![Cow::Borrowed(item)]);
    let lefts = side(left);
    if operator == "exists" {
        return Some(lefts.is_some_and(|found| !found.is_empty()));
    }
    let (lefts, rights) = (lefts?, side(right)?);
    let (left, right) = match (lefts.as_slice(), rights.as_slice()) {
        ([left], [right]) => (left, right),
        ([], _) | (_, []) => return Some(false),
        _ => return None,
    };
    let order = match (&**left, &**right) {
        (Value::String(a), Value::String(b)) => a.cmp(b),
        (Value::Number(a), Value::Number(b)) => match (a.as_i64(), b.as_i64()) {
            (Some(a), Some(b)) => a.cmp(&b),
            (None, None) => a.as_f64()?.partial_cmp(&b.as_f64()?)?,
            _ => return None,
        },
        (Value::Bool(a), Value::Bool(b)) if matches!(operator, "==" | "!=") => a.cmp(b),
        _ => return None,
    };
    match operator {
        "<" => Some(order == Ordering::Less),
        ">" => Some(order == Ordering::Greater),
        "==" => Some(order == Ordering::Equal),
        "!=" => Some(order != Ordering::Equal),
        "<=" => Some(order != Ordering::Greater),
        ">=" => Some(order != Ordering::Less),
        _ => None,
    }
}

struct Reader<'a> {
    rest: &'a str,
    nodes: Vec<Node>,
    depth: usize,
}

fn ends_word(c: char) -> bool {
    matches!(
        c,
        ' ' | '\t' | '\r' | '\n' | '.' | ',' | '[' | ']' | '$' | '@' | '{' | '}'
    )
}

impl<'a> Reader<'a> {
    fn all(&mut self) -> Option<()> {
        while let Some(first) = self.rest.chars().next() {
            if let Some(rest) = self.rest.strip_prefix("[?(") {
                self.rest = rest;
                self.filter()?;
            } else if let Some(rest) = self.rest.strip_prefix("..") {
                if matches!(self.nodes.last(), Some(Node::Recursive)) {
                    return None;
                }
                self.rest = rest;
                self.nodes.push(Node::Recursive);
                if rest.starts_with(|c: char| c == '_' || c.is_alphanumeric()) {
                    self.field();
                }
            } else {
                match first {
                    ' ' | '@' | '$' => self.skip(first),
                    '[' => self.list()?,
                    '"' | '\'' => self.quoted(first)?,
                    '.' => {
                        self.skip('.');
                        self.field();
                    }
                    c if c == '+' || c == '-' || c.is_ascii_digit() => self.number()?,
                    c if c == '_' || c.is_alphanumeric() => self.word(),
                    _ => return None,
                }
            }
            if self.nodes.len() > MAX_NODES {
                return None;
            }
        }
        Some(())
    }

    fn skip(&mut self, c: char) {
        self.rest = &self.rest[c.len_utf8()..];
    }

    fn take(&mut self, length: usize) -> &'a str {
        let (taken, rest) = self.rest.split_at(length);
        self.rest = rest;
        taken
    }

    fn field(&mut self) {
        let mut escaped = false;
        let end = self.rest.char_indices().find(|(_, c)| {
            if std::mem::take(&mut escaped) {
                return false;
            }
            escaped = *c == '\\';
            ends_word(*c)
        });
        let name = self.take(end.map_or(self.rest.len(), |(at, _)| at));
        self.nodes.push(match name {
            "*" => Node::Wildcard,
            name => Node::Field(name.replace('\\', "")),
        });
    }

    fn word(&mut self) {
        let end = self.rest.find(ends_word).unwrap_or(self.rest.len());
        let node = match self.take(end) {
            "true" => Node::Literal(json!(true)),
            "false" => Node::Literal(json!(false)),
            _ => Node::Word,
        };
        self.nodes.push(node);
    }

    fn number(&mut self) -> Option<()> {
        let digits = self.rest[1..].find(|c: char| c != '.' && !c.is_ascii_digit());
        let text = self.take(digits.map_or(self.rest.len(), |at| at + 1));
        let text = text.strip_prefix('+').unwrap_or(text);
        let value = match text.parse::<i64>() {
            Ok(number) => json!(number),
            Err(_) => json!(text.parse::<f64>().ok()?),
        };
        self.nodes.push(Node::Literal(value));
        Some(())
    }

    fn quoted(&mut self, quote: char) -> Option<()> {
        let mut text = String::new();
        let mut chars = self.rest.char_indices().skip(1);
        loop {
            match chars.next()? {
                (at, c) if c == quote => {
                    self.rest = &self.rest[at + 1..];
                    self.nodes.push(Node::Literal(json!(text)));
                    return Some(());
                }
                (_, '\n') => return None,
                (_, '\\') => match chars.next()?.1 {
                    'n' => text.push('\n'),
                    't' => text.push('\t'),
                    'r' => text.push('\r'),
                    c if c == quote || c == '\\' => text.push(c),
                    _ => return None,
                },
                (_, c) => text.push(c),
            }
        }
    }

    fn list(&mut self) -> Option<()> {
        let end = self.rest.find([']', '\n'])?;
        let text = self
            .rest
            .get(1..end)
            .filter(|_| self.rest[end..].starts_with(']'))?;
        self.rest = &self.rest[end + 1..];
        let text = if text == "*" { ":" } else { text };
        if text.contains(',') {
            let parts = text.split(',').map(|part| {
                let part = format!("[{}]", part.trim_matches(' '));
                Path::read(&part, self.depth + 1)
            });
            self.nodes.push(Node::Union(parts.collect::<Option<_>>()?));
            return Some(());
        }
        let key = text
            .strip_prefix('\'')
            .and_then(|text| text.strip_suffix('\''));
        if let Some(key) = key.filter(|key| !key.contains('\'')) {
            let path = Path::read(&format!(".{key}"), self.depth + 1)?;
            self.nodes.extend(path.nodes);
            return Some(());
        }
        self.nodes.push(slice(text)?);
        Some(())
    }

    fn filter(&mut self) -> Option<()> {
        let (mut open, mut closed) = (None, false);
        let mut before = '(';
        let end = self.rest.char_indices().find_map(|(at, c)| {
            let last = std::mem::replace(&mut before, c);
            match c {
                '\n' => Some(None),
                '"' | '\'' => {
                    match open {
                        None => open = Some(c),
                        Some(quote) if quote == c && last != '\\' => closed = true,
                        Some(_) => {}
                    }
                    None
                }
                ')' if open.is_some() == closed => Some(Some(at)),
                _ => None,
            }
        });
        let text = self.take(end??);
        self.rest = self.rest.strip_prefix(")]")?;
        let sign = |c: char| matches!(c, '!' | '<' | '>' | '=');
        let start = text.find(sign).filter(|start| *start > 0);
        let stop = start.and_then(|start| {
            let length = text[start..].find(|c| !sign(c))?;
            Some((start, start + length))
        });
        let read = |text: &str| Path::read(text, self.depth + 1);
        let node = match stop {
            None => Node::Filter {
                left: read(text)?,
                operator: "exists".to_owned(),
                right: Path { nodes: Vec::new() },
            },
            Some((start, stop)) => Node::Filter {
                left: read(&text[..start])?,
                operator: text[start..stop].to_owned(),
                right: read(&text[stop..])?,
            },
        };
        self.nodes.push(node);
        Some(())
    }
}

/// `start:end:step`, each of them optional; a start alone is one item.
fn slice(text: &str) -> Option<Node> {
    let parts: Vec<&str> = text.split(':').collect();
    let number = |text: &str| match text {
        "" => Some(None),
        text => {
            let digits = text.strip_prefix('-').unwrap_or(text);
            let sound = !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit());
            text.parse::<i64>().ok().filter(|_| sound).map(Some)
        }
    };
    let start = number(parts[0])?;
    match parts.as_slice() {
        [_] => Some(Node::Slice {
            start,
            end: Some(start.unwrap_or(0).saturating_add(1)),
            derived: true,
            step: None,
        }),
        [_, end] => Some(Node::Slice {
            start,
            end: number(end)?,
            derived: false,
            step: None,
        }),
        [_, end, step] => Some(Node::Slice {
            start,
            end: number(end)?,
            derived: false,
            step: number(step)?,
        }),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_lead_to_values() {
        let object = json!({
            "a": {"b": [{"c": 1, "t": "x"}, {"c": 2, "t": "y"}], "d.e": "dot", "n": null},
            "list": [10, 20, 30],
        });
        for (path, expected) in [
            (".a.b[0].c", json!(1)),
            (".a.b[-1].c", json!(2)),
            (".a.b[1:].c", json!(2)),
            (".a.b[*].c", json!(1)),
            (".a.b[?(@.t==\"y\")].c", json!(2)),
            (".a.b[?(@.c>1)].t", json!("y")),
            (".a.b[?(@.t)].c", json!(1)),
            (".a['d\\.e']", json!("dot")),
            (".a.d\\.e", json!("dot")),
            ("..t", json!("x")),
            (".list[2,0]", json!(30)),
            (".list[::2]", json!(10)),
            (".a.n", json!(null)),
            (".a.*", json!([{"c": 1, "t": "x"}, {"c": 2, "t": "y"}])),
        ] {
            let parsed = Path::parse(path).unwrap_or_else(|| panic!("{path}"));
            assert_eq!(parsed.first(&object).as_deref(), Some(&expected), "{path}");
        }
        for path in [
            ".x",
            ".a.b[5]",
            ".list[3]",
            ".a[0]",
            ".list.x",
            ".a.b[?(@.t>1)].c",
        ] {
            let parsed = Path::parse(path).unwrap_or_else(|| panic!("{path}"));
            assert_eq!(parsed.first(&object), None, "{path}");
        }
        for path in [".a[", ".a[x]", ".a[?(@.b]", ".a#", "....a", ".a}"] {
            let parsed = Path::parse(path);
            let found = parsed.and_then(|path| path.first(&object).map(Cow::into_owned));
            assert_eq!(found, None, "{path}");
        }
    }
}
