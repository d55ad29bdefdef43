//! The words of an expression.

use super::ast::Literal;
use super::source::Issue;

/// A word, and where it begins.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Token {
    pub(super) at: usize,
    pub(super) kind: Kind,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Kind {
    Literal(Literal),
    Name(String),
    /// An operator or a bracket.
    Sign(&'static str),
    End,
}

const SIGNS: [&str; 27] = [
    "&&", "||", "==", "!=", "<=", ">=", "<", ">", "!", "+", "-", "*", "/", "%", "(", ")", "[", "]",
    "{", "}", ".", ",", ":", "?", "=", "&", "|",
];

/// Splits a text into words; the last one is the end.
pub(super) fn tokens(source: &str) -> Result<Vec<Token>, Issue> {
    let mut found = Vec::new();
    let mut at = 0;
    loop {
        at += blank(&source[at..]);
        let rest = &source[at..];
        let Some(first) = rest.chars().next() else {
            found.push(Token {
                at,
                kind: Kind::End,
            });
            return Ok(found);
        };
        let (kind, length) = if let Some((prefix, quote)) = string_start(rest) {
            string(rest, prefix, quote).map_err(|message| Issue::new(at, message))?
        } else if first.is_ascii_digit()
            || (first == '.' && rest[1..].starts_with(|c: char| c.is_ascii_digit()))
        {
            number(rest).map_err(|message| Issue::new(at, message))?
        } else if first == '_' || first.is_ascii_alphabetic() {
            let length = rest
                .find(|c: char| c != '_' && !c.is_ascii_alphanumeric())
                .unwrap_or(rest.len());
            (word(&rest[..length]), length)
        } else {
            let sign = SIGNS.iter().find(|sign| rest.starts_with(**sign));
            let sign = sign.ok_or_else(|| {
                let message = format!("Syntax error: token recognition error at: '{first}'");
                Issue::new(at, message)
            })?;
            (Kind::Sign(sign), sign.len())
        };
        found.push(Token { at, kind });
        at += length;
    }
}

/// How much of the beginning means nothing.
fn blank(text: &str) -> usize {
    let mut at = 0;
    loop {
        let rest = &text[at..];
        let trimmed = rest.trim_start_matches([' ', '\t', '\n', '\r', '\u{c}']);
        at += rest.len() - trimmed.len();
        if !trimmed.starts_with("//") {
            return at;
        }
        at += trimmed.find('\n').unwrap_or(trimmed.len());
    }
}

fn word(text: &str) -> Kind {
    match text {
        "true" => Kind::Literal(Literal::Bool(true)),
        "false" => Kind::Literal(Literal::Bool(false)),
        "null" => Kind::Literal(Literal::Null),
        "in" => Kind::Sign("in"),
        name => Kind::Name(name.to_owned()),
    }
}

/// The letters before a string (`r`, `b`, both or none) and its quotes.
fn string_start(text: &str) -> Option<(&str, &'static str)> {
    let letters = text
        .find(|c: char| !matches!(c, 'r' | 'R' | 'b' | 'B'))
        .unwrap_or(text.len());
    if letters > 2 {
        return None;
    }
    let prefix = &text[..letters];
    let lower = prefix.to_ascii_lowercase();
    if !matches!(lower.as_str(), "" | "r" | "b" | "rb" | "br") {
        return None;
    }
    let quotes = ["\"\"\"", "'''", "\"", "'"];
    let quote = quotes
        .into_iter()
        .find(|quote| text[letters..].starts_with(quote))?;
    Some((prefix, quote))
}

fn string(text: &str, prefix: &str, quote: &str) -> Result<(Kind, usize), String> {
    let lower = prefix.to_ascii_lowercase();
    let (raw, bytes) = (lower.contains('r'), lower.contains('b'));
    let start = prefix.len() + quote.len();
    let mut out = Vec::new();
    let mut at = start;
    loop {
        let rest = &text[at..];
        if rest.starts_with(quote) {
            at += quote.len();
            break;
        }
        let Some(c) = rest.chars().next() else {
            return Err(format!(
                "Syntax error: token recognition error at: '{}'",
                &text[..1]
            ));
        };
        if quote.len() == 1 && matches!(c, '\n' | '\r') {
            return Err("Syntax error: token recognition error at: '\\n'".to_owned());
        }
        if c == '\\' && !raw {
            let (value, length) = escape(rest, bytes)?;
            out.extend(value);
            at += length;
        } else {
            out.extend(c.encode_utf8(&mut [0; 4]).bytes());
            at += c.len_utf8();
        }
    }
    let literal = if bytes {
        Literal::Bytes(out)
    } else {
        let text = String::from_utf8(out).map_err(|_| "invalid unicode code point".to_owned())?;
        Literal::String(text)
    };
    Ok((Kind::Literal(literal), at))
}

/// What the escape at the beginning means, and how long it is.
fn escape(text: &str, bytes: bool) -> Result<(Vec<u8>, usize), String> {
    let wrong = || "Syntax error: token recognition error at: '\\'".to_owned();
    let c = text[1..].chars().next().ok_or_else(wrong)?;
    let plain = match c {
        'a' => 7,
        'b' => 8,
        'f' => 12,
        'n' => 10,
        'r' => 13,
        't' => 9,
        'v' => 11,
        '\\' | '\'' | '"' | '`' | '?' => u8::try_from(c).map_err(|_| wrong())?,
        _ => 0,
    };
    if plain != 0 {
        return Ok((vec![plain], 2));
    }
    let (digits, radix, start) = match c {
        'x' | 'X' => (2, 16, 2),
        'u' => (4, 16, 2),
        'U' => (8, 16, 2),
        '0'..='3' => (3, 8, 1),
        _ => return Err(wrong()),
    };
    let code = text.get(start..start + digits).ok_or_else(wrong)?;
    let code = u32::from_str_radix(code, radix).map_err(|_| wrong())?;
    let long = matches!(c, 'u' | 'U');
    let value = if bytes && !long {
        vec![u8::try_from(code).map_err(|_| wrong())?]
    } else {
        let c = char::from_u32(code).ok_or_else(|| "invalid unicode code point".to_owned())?;
        c.encode_utf8(&mut [0; 4]).bytes().collect()
    };
    Ok((value, start + digits))
}

fn number(text: &str) -> Result<(Kind, usize), String> {
    let digits = |text: &str| {
        text.find(|c: char| !c.is_ascii_digit())
            .unwrap_or(text.len())
    };
    if let Some(rest) = text.strip_prefix("0x") {
        let length = rest
            .find(|c: char| !c.is_ascii_hexdigit())
            .unwrap_or(rest.len());
        if length > 0 {
            return whole(&rest[..length], 16, &rest[length..], length + 2);
        }
    }
    let mut length = digits(text);
    let mut float = false;
    if let Some(rest) = text[length..].strip_prefix('.')
        && rest.starts_with(|c: char| c.is_ascii_digit())
    {
        float = true;
        length += 1 + digits(rest);
    }
    if let Some(rest) = text[length..].strip_prefix(['e', 'E']) {
        let sign = usize::from(rest.starts_with(['+', '-']));
        let exponent = digits(&rest[sign..]);
        if exponent > 0 {
            float = true;
            length += 1 + sign + exponent;
        }
    }
    if float {
        let value: f64 = text[..length]
            .parse()
            .map_err(|_| "invalid double literal".to_owned())?;
        return Ok((Kind::Literal(Literal::Double(value)), length));
    }
    whole(&text[..length], 10, &text[length..], length)
}

fn whole(
    digits: &str,
    radix: u32,
    after: &str,
    mut length: usize,
) -> Result<(Kind, usize), String> {
    let literal = if after.starts_with(['u', 'U']) {
        length += 1;
        let value = u64::from_str_radix(digits, radix);
        Literal::Uint(value.map_err(|_| "invalid uint literal".to_owned())?)
    } else {
        // The least number has no positive counterpart: the sign is read with the digits.
        let value =
            u64::from_str_radix(digits, radix).map_err(|_| "invalid int literal".to_owned())?;
        if value > i64::MAX as u64 + 1 {
            return Err("invalid int literal".to_owned());
        }
        Literal::Magnitude(value)
    };
    Ok((Kind::Literal(literal), length))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kinds(source: &str) -> Vec<Kind> {
        let found = tokens(source).unwrap();
        found.into_iter().map(|token| token.kind).collect()
    }

    #[test]
    fn texts_and_numbers() {
        let text = |text: &str| Kind::Literal(Literal::String(text.to_owned()));
        assert_eq!(
            kinds(r#"'a\n\x41' r'\d' """q"x""""#)[..3],
            [text("a\nA"), text(r"\d"), text("q\"x"),]
        );
        assert_eq!(
            kinds("0x1fu 1.5e2 .5 7")[..4],
            [
                Kind::Literal(Literal::Uint(31)),
                Kind::Literal(Literal::Double(150.0)),
                Kind::Literal(Literal::Double(0.5)),
                Kind::Literal(Literal::Magnitude(7)),
            ]
        );
        assert_eq!(kinds("a // c\n in")[1], Kind::Sign("in"));
        for wrong in ["'a", "'\\q'", "9223372036854775809", "#", "'a\nb'"] {
            assert!(tokens(wrong).is_err(), "{wrong}");
        }
    }
}
