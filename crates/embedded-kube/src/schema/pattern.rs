//! Regular expressions as Go reads them, in the words of our own library.
//!
//! Both are of one family, and differ in details: there `\\d`, `\\w`, `\\s` and `\\b` know ASCII
//! only, a bracket inside a class is a bracket, and braces that count nothing are braces.

use std::fmt::Write as _;

use regex::Regex;

/// How often something may be repeated.
const MAX_REPEAT: u32 = 1000;

/// Compiles an expression of Go's language.
pub(crate) fn compile(pattern: &str) -> Result<Regex, String> {
    let translated = translate(pattern)?;
    Regex::new(&translated).map_err(|error| error.to_string())
}

fn translate(pattern: &str) -> Result<String, String> {
    let mut out = String::with_capacity(pattern.len() + 8);
    let mut rest = pattern;
    let mut repeated = false;
    while let Some(c) = rest.chars().next() {
        let counted = if c == '{' { repetition(rest) } else { None };
        let repeats = matches!(c, '*' | '+' | '?') || counted.is_some();
        if repeats && repeated {
            return Err(format!("invalid nested repetition operator: `{rest}`"));
        }
        repeated = repeats;
        match c {
            '\\' if rest.starts_with("\\Q") => {
                let quoted = &rest[2..];
                let (text, after) = quoted.split_once("\\E").unwrap_or((quoted, ""));
                out.push_str(&regex::escape(text));
                rest = after;
                continue;
            }
            '\\' => {
                rest = escape(rest, false, &mut out)?;
                continue;
            }
            '[' => {
                rest = class(rest, &mut out)?;
                continue;
            }
            '*' | '+' | '?' | '{' if repeats => {
                let mut text = &rest[..1];
                if let Some((count, counts)) = counted {
                    if counts.iter().any(|count| *count > MAX_REPEAT) {
                        return Err(format!("invalid repeat count: `{count}`"));
                    }
                    text = count;
                }
                out.push_str(text);
                rest = &rest[text.len()..];
                if let Some(after) = rest.strip_prefix('?') {
                    out.push('?');
                    rest = after;
                }
                continue;
            }
            '{' => out.push_str("\\{"),
            '}' => out.push_str("\\}"),
            // Blanks and comments that mean nothing are not known there.
            '(' if rest.starts_with("(?") => {
                let flags = rest[2..].split([':', ')']).next().unwrap_or_default();
                let named = flags.starts_with(['P', '<']);
                if !named && flags.chars().any(|flag| !"imsU-".contains(flag)) {
                    return Err(format!("invalid or unsupported Perl syntax: `(?{flags}`"));
                }
                out.push('(');
            }
            c => out.push(c),
        }
        rest = &rest[c.len_utf8()..];
    }
    Ok(out)
}

/// `{2}`, `{2,}` or `{2,5}` at the beginning, with its numbers.
fn repetition(text: &str) -> Option<(&str, Vec<u32>)> {
    let end = text.find('}')?;
    let (least, most) = match text[1..end].split_once(',') {
        Some((least, most)) => (least, Some(most)),
        None => (&text[1..end], None),
    };
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    let most = most.filter(|most| !most.is_empty());
    if !digits(least) || most.is_some_and(|most| !digits(most)) {
        return None;
    }
    let number = |text: &str| text.parse().unwrap_or(u32::MAX);
    let counts = std::iter::once(least).chain(most).map(number).collect();
    Some((&text[..=end], counts))
}

/// Writes what the escape at the beginning means; the answer is what follows it.
fn escape<'a>(text: &'a str, in_class: bool, out: &mut String) -> Result<&'a str, String> {
    let Some(c) = text[1..].chars().next() else {
        return Err("trailing backslash at end of expression: ``".to_owned());
    };
    let rest = &text[1 + c.len_utf8()..];
    let (inner, negated) = match c {
        'd' | 'D' => ("0-9", c == 'D'),
        'w' | 'W' => ("0-9A-Za-z_", c == 'W'),
        's' | 'S' => ("\\t\\n\\f\\r ", c == 'S'),
        'b' | 'B' if !in_class => {
            // A negated boundary of ASCII can lie inside of a character, and then it is none.
            let _ = write!(out, "(?-u:\\{c})");
            return Ok(rest);
        }
        'p' | 'P' | 'x' | 'A' | 'z' | 'a' | 'f' | 't' | 'n' | 'r' | 'v' | '0'..='7' => {
            return copy_escape(c, rest, in_class, out);
        }
        c if c.is_ascii_alphanumeric() || !c.is_ascii() => {
            return Err(format!("invalid escape sequence: `\\{c}`"));
        }
        c => {
            // Writing to a string cannot fail.
            let _ = write!(out, "\\x{{{:x}}}", u32::from(c));
            return Ok(rest);
        }
    };
    match (in_class, negated) {
        (true, false) => out.push_str(inner),
        (_, true) => {
            let _ = write!(out, "[^{inner}]");
        }
        (false, false) => {
            let _ = write!(out, "[{inner}]");
        }
    }
    Ok(rest)
}

/// Escapes that both know, as they are.
fn copy_escape<'a>(
    c: char,
    rest: &'a str,
    in_class: bool,
    out: &mut String,
) -> Result<&'a str, String> {
    let octal = c.is_ascii_digit();
    if in_class && matches!(c, 'A' | 'z' | 'b') {
        return Err(format!("invalid escape sequence: `\\{c}`"));
    }
    if octal {
        // `\\0` begins an octal number; others are references, which there are not, unless two
        // digits follow.
        let digits: String = rest
            .chars()
            .take(2)
            .take_while(|c| ('0'..='7').contains(c))
            .collect();
        if c != '0' && digits.is_empty() {
            return Err(format!("invalid escape sequence: `\\{c}`"));
        }
        let code = u32::from_str_radix(&format!("{c}{digits}"), 8).unwrap_or(0);
        let _ = write!(out, "\\x{{{code:x}}}");
        return Ok(&rest[digits.len()..]);
    }
    out.push('\\');
    out.push(c);
    // A name or a number in braces belongs to it.
    let length = match (c, rest.find('}')) {
        ('p' | 'P' | 'x', Some(end)) if rest.starts_with('{') => end + 1,
        _ => 0,
    };
    out.push_str(&rest[..length]);
    Ok(&rest[length..])
}

/// Writes the class at the beginning; the answer is what follows it.
fn class<'a>(text: &'a str, out: &mut String) -> Result<&'a str, String> {
    let missing = || format!("missing closing ]: `{text}`");
    let mut rest = &text[1..];
    out.push('[');
    if let Some(after) = rest.strip_prefix('^') {
        out.push('^');
        rest = after;
    }
    let mut first = true;
    loop {
        let c = rest.chars().next().ok_or_else(missing)?;
        match c {
            ']' if !first => {
                out.push(']');
                return Ok(&rest[1..]);
            }
            '\\' => {
                rest = escape(rest, true, out)?;
                first = false;
                continue;
            }
            '[' if rest.starts_with("[:") && rest.contains(":]") => {
                let end = rest.find(":]").unwrap_or_default() + 2;
                out.push_str(&rest[..end]);
                rest = &rest[end..];
                first = false;
                continue;
            }
            '[' | ']' | '&' | '~' | '^' => {
                out.push('\\');
                out.push(c);
            }
            c => out.push(c),
        }
        rest = &rest[c.len_utf8()..];
        first = false;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_know_ascii_only() {
        for (pattern, text, expected) in [
            (r"^\d+$", "12", true),
            (r"^\d+$", "٣", false),
            (r"^\w$", "é", false),
            (r"^[^\w]$", "é", true),
            (r"^[\d\-x]+$", "1-x", true),
            (r"^[a-z[]+$", "a[", true),
            (r"^[]a]+$", "]a", true),
            (r"^[a&&b]+$", "&", true),
            ("^a{,5}$", "a{,5}", true),
            ("^a{2}$", "aa", true),
            (r"^\Qa.b\E$", "a.b", true),
            (r"^\Qa.b\E$", "axb", false),
            (r"^\_\-\/\ $", "_-/ ", true),
            (r"^\pL+$", "éa", true),
            (r"\bx", "éx", true),
            (r"x\B", "xy", true),
            (r"\<x*?", "<", true),
            (r"^\x{e9}\101$", "éA", true),
        ] {
            let regex = compile(pattern).unwrap();
            assert_eq!(regex.is_match(text), expected, "{pattern} {text}");
        }
    }

    #[test]
    fn what_go_does_not_know_is_refused() {
        for pattern in [
            "(", "a{1001}", "(?=x)", r"(a)\1", r"\h", "(?x) a", r"\u0041", "[a", "x**", "x{2}{3}",
            "x+?*", "a\\",
        ] {
            assert!(compile(pattern).is_err(), "{pattern}");
        }
    }
}
