//! Fields whose names are no names in expressions.

use super::parse::RESERVED;

/// Words with a meaning of their own, besides those that are reserved for one.
const WORDS: [&str; 4] = ["true", "false", "null", "in"];

fn is_word(name: &str) -> bool {
    WORDS.contains(&name) || RESERVED.contains(&name)
}

/// How expressions name a field; none if they cannot.
pub(super) fn escape(name: &str) -> Option<String> {
    if name.is_empty() || name.starts_with(|c: char| c.is_ascii_digit()) {
        return None;
    }
    if is_word(name) {
        return Some(format!("__{name}__"));
    }
    let mut out = String::with_capacity(name.len());
    let mut rest = name;
    while let Some(c) = rest.chars().next() {
        let (text, length) = match c {
            '_' if rest.starts_with("__") => ("__underscores__", 2),
            '.' => ("__dot__", 1),
            '-' => ("__dash__", 1),
            '/' => ("__slash__", 1),
            c if c == '_' || c.is_ascii_alphanumeric() => (&rest[..1], 1),
            _ => return None,
        };
        out.push_str(text);
        rest = &rest[length..];
    }
    Some(out)
}

/// The field that expressions name so; none if there cannot be one.
pub(super) fn unescape(name: &str) -> Option<String> {
    let mut out = String::with_capacity(name.len());
    let mut rest = name;
    while !rest.is_empty() {
        let inner = rest.strip_prefix("__").and_then(|after| {
            let end = after.find('_').filter(|end| *end > 0)?;
            after[end..].starts_with("__").then(|| &after[..end])
        });
        match inner {
            Some("underscores") => out.push_str("__"),
            Some("dot") => out.push('.'),
            Some("dash") => out.push('-'),
            Some("slash") => out.push('/'),
            Some(word) if is_word(word) && word.len() + 4 == name.len() => {
                out.push_str(word);
            }
            Some(_) => return None,
            None => {
                let length = rest.chars().next().map_or(1, char::len_utf8);
                out.push_str(&rest[..length]);
                rest = &rest[length..];
                continue;
            }
        }
        rest = &rest[inner.map_or(0, str::len) + 4..];
    }
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_come_back() {
        for (name, escaped) in [
            ("namespace", "__namespace__"),
            ("a-b", "a__dash__b"),
            ("x.y/z", "x__dot__y__slash__z"),
            ("a__b", "a__underscores__b"),
            ("a_b", "a_b"),
            ("_", "_"),
        ] {
            assert_eq!(escape(name).as_deref(), Some(escaped));
            assert_eq!(unescape(escaped).as_deref(), Some(name), "{escaped}");
        }
        assert_eq!(escape("a b"), None);
        assert_eq!(escape("1a"), None);
        assert_eq!(unescape("a__what__b"), None);
    }
}
