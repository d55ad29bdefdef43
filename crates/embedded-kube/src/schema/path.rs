//! Paths to fields as rules write them: `.a.b['c']`.

use super::{Additional, Schema};

/// The path as errors write it, if the schema has such a field.
pub(crate) fn normal(path: &str, schema: &Schema) -> Option<String> {
    let mut schema = schema;
    let mut out = String::new();
    let mut rest = path;
    while !rest.is_empty() {
        let name;
        if let Some(after) = rest.strip_prefix('.') {
            let end = after.find(['.', '[', ']']).unwrap_or(after.len());
            if end == 0 {
                return None;
            }
            name = after[..end].to_owned();
            rest = &after[end..];
        } else {
            let (text, after) = quoted(rest.strip_prefix('[')?)?;
            name = text;
            rest = after.strip_prefix(']')?;
        }
        if schema.properties.is_empty() {
            schema = schema.additional.as_ref().and_then(Additional::schema)?;
            out = format!("{out}[{name}]");
        } else {
            schema = schema.properties.get(name.as_str())?;
            if !out.is_empty() {
                out.push('.');
            }
            out.push_str(&name);
        }
    }
    Some(out)
}

/// The text in single quotes at the beginning, and what follows it.
fn quoted(text: &str) -> Option<(String, &str)> {
    let mut out = String::new();
    let mut characters = text.strip_prefix('\'')?.chars();
    while let Some(c) = characters.next() {
        match c {
            '\'' => return Some((out, characters.as_str())),
            '\\' => out.push(match characters.next()? {
                'a' => '\u{7}',
                'b' => '\u{8}',
                'f' => '\u{c}',
                'n' => '\n',
                'r' => '\r',
                't' => '\t',
                'v' => '\u{b}',
                c @ ('\'' | '\\') => c,
                _ => return None,
            }),
            c => out.push(c),
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::super::compile;
    use super::*;
    use serde_json::json;

    #[test]
    fn paths_lead_to_fields() {
        let schema = compile(&json!({"type": "object", "properties": {
            "a": {"type": "object", "additionalProperties": {"type": "object", "properties": {
                "b.c": {"type": "string"}
            }}},
        }}));
        for (path, wanted) in [
            (".a", Some("a")),
            (".a.x['b.c']", Some("a[x].b.c")),
            ("['a']['x']", Some("a[x]")),
            ("a", None),
            (".b", None),
            (".a[0]", None),
            (".a['x'", None),
        ] {
            assert_eq!(normal(path, &schema).as_deref(), wanted, "{path}");
        }
    }
}
