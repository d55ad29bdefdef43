//! The rules for names, labels and keys, each giving the complaints about a text.

const LABEL: &str = "[a-z0-9]([-a-z0-9]*[a-z0-9])?";
const SUBDOMAIN: &str = "[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*";
const DNS1035: &str = "[a-z]([-a-z0-9]*[a-z0-9])?";
const QUALIFIED: &str = "([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]";

/// A rule for names: it gets the text and whether something will be appended to it.
pub(crate) type NameRule = fn(&str, bool) -> Vec<String>;

fn regex_complaint(what: &str, regex: &str, examples: &[&str]) -> String {
    if examples.is_empty() {
        return format!("{what} (regex used for validation is '{regex}')");
    }
    // One more comma than one would write: so does the real server.
    let examples: Vec<String> = examples.iter().map(|e| format!("'{e}', ")).collect();
    format!(
        "{what} (e.g. {}regex used for validation is '{regex}')",
        examples.join(" or ")
    )
}

/// How old rules count; newer ones (for labels) say what they mean: bytes.
fn length_complaint(length: usize) -> String {
    format!("must be no more than {length} characters")
}

fn bytes_complaint(length: usize) -> String {
    format!("must be no more than {length} bytes")
}

fn is_lower_alnum(byte: u8) -> bool {
    byte.is_ascii_lowercase() || byte.is_ascii_digit()
}

fn is_label(text: &str) -> bool {
    let bytes = text.as_bytes();
    matches!((bytes.first(), bytes.last()), (Some(&a), Some(&z)) if is_lower_alnum(a) && is_lower_alnum(z))
        && bytes.iter().all(|&b| is_lower_alnum(b) || b == b'-')
}

fn is_subdomain(text: &str) -> bool {
    text.split('.').all(is_label)
}

fn is_qualified(text: &str) -> bool {
    let bytes = text.as_bytes();
    matches!((bytes.first(), bytes.last()), (Some(a), Some(z)) if a.is_ascii_alphanumeric() && z.is_ascii_alphanumeric())
        && bytes
            .iter()
            .all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b'.'))
}

/// What a prefix is checked as: a trailing dash is fine, since letters follow.
pub(crate) fn masked(name: &str, prefix: bool) -> String {
    if prefix && name.len() > 1 && name.ends_with('-') {
        let mut end = name.len() - 2;
        while !name.is_char_boundary(end) {
            end -= 1;
        }
        return format!("{}a", &name[..end]);
    }
    name.to_owned()
}

/// A DNS label (RFC 1123), as namespaces have.
pub(crate) fn dns_label(name: &str, prefix: bool) -> Vec<String> {
    let name = masked(name, prefix);
    let mut complaints = Vec::new();
    if name.len() > 63 {
        complaints.push(length_complaint(63));
    }
    if !is_label(&name) {
        if is_subdomain(&name) {
            complaints.push("must not contain dots".to_owned());
        } else {
            let what = "a lowercase RFC 1123 label must consist of lower case alphanumeric \
                        characters or '-', and must start and end with an alphanumeric character";
            complaints.push(regex_complaint(what, LABEL, &["my-name", "123-abc"]));
        }
    }
    complaints
}

/// A DNS subdomain (RFC 1123), as most objects have.
pub(crate) fn dns_subdomain(name: &str, prefix: bool) -> Vec<String> {
    let name = masked(name, prefix);
    let mut complaints = Vec::new();
    if name.len() > 253 {
        complaints.push(length_complaint(253));
    }
    if !is_subdomain(&name) {
        let what = "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric \
                    characters, '-' or '.', and must start and end with an alphanumeric character";
        complaints.push(regex_complaint(what, SUBDOMAIN, &["example.com"]));
    }
    complaints
}

/// A DNS label (RFC 1035), as the names of a CRD are.
pub(crate) fn dns1035_label(name: &str) -> Vec<String> {
    let mut complaints = Vec::new();
    if name.len() > 63 {
        complaints.push(length_complaint(63));
    }
    if !(is_label(name) && name.as_bytes()[0].is_ascii_lowercase()) {
        let what = "a DNS-1035 label must consist of lower case alphanumeric characters or '-', \
                    start with an alphabetic character, and end with an alphanumeric character";
        complaints.push(regex_complaint(what, DNS1035, &["my-name", "abc-123"]));
    }
    complaints
}

/// A name that can stand in a URL.
pub(crate) fn path_segment(name: &str, prefix: bool) -> Vec<String> {
    if !prefix && (name == "." || name == "..") {
        return vec![format!("may not be '{name}'")];
    }
    ['/', '%']
        .into_iter()
        .filter(|&c| name.contains(c))
        .map(|c| format!("may not contain '{c}'"))
        .collect()
}

/// The key of a label, annotation or finalizer.
pub(crate) fn qualified_name(text: &str) -> Vec<String> {
    let what = "must consist of alphanumeric characters, '-', '_' or '.', and must start and end \
                with an alphanumeric character";
    let examples = ["MyName", "my.name", "123-abc"];
    let mut complaints = Vec::new();
    let parts: Vec<&str> = text.split('/').collect();
    let name =
        match parts.as_slice() {
            [name] => *name,
            [prefix, name] => {
                if prefix.is_empty() {
                    complaints.push("prefix part must be non-empty".to_owned());
                } else {
                    let wrong = dns_subdomain(prefix, false);
                    let in_bytes = |c: String| c.replace(" characters", " bytes");
                    let long = |c: &String| c.starts_with("must be no more");
                    complaints.extend(wrong.into_iter().map(|c| {
                        format!("prefix part {}", if long(&c) { in_bytes(c) } else { c })
                    }));
                }
                *name
            }
            _ => {
                return vec![format!(
                    "a valid label key {} with an optional DNS subdomain prefix and '/' (e.g. \
                 'example.com/MyName')",
                    regex_complaint(what, QUALIFIED, &examples)
                )];
            }
        };
    if name.is_empty() {
        complaints.push("name part must be non-empty".to_owned());
    } else if name.len() > 63 {
        complaints.push(format!("name part {}", bytes_complaint(63)));
    }
    if !is_qualified(name) {
        complaints.push(format!(
            "name part {}",
            regex_complaint(what, QUALIFIED, &examples)
        ));
    }
    complaints
}

/// The value of a label.
pub(crate) fn label_value(text: &str) -> Vec<String> {
    let mut complaints = Vec::new();
    if text.len() > 63 {
        complaints.push(bytes_complaint(63));
    }
    if !text.is_empty() && !is_qualified(text) {
        let what = "a valid label must be an empty string or consist of alphanumeric characters, \
                    '-', '_' or '.', and must start and end with an alphanumeric character";
        let regex = format!("({QUALIFIED})?");
        complaints.push(regex_complaint(
            what,
            &regex,
            &["MyValue", "my_value", "12345"],
        ));
    }
    complaints
}

/// A key of a config map or secret.
pub(crate) fn config_key(text: &str) -> Vec<String> {
    let mut complaints = Vec::new();
    if text.len() > 253 {
        complaints.push(length_complaint(253));
    }
    let fine = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'.' | b'_');
    if text.is_empty() || !text.bytes().all(fine) {
        let what = "a valid config key must consist of alphanumeric characters, '-', '_' or '.'";
        complaints.push(regex_complaint(
            what,
            "[-._a-zA-Z0-9]+",
            &["key.name", "KEY_NAME", "key-name"],
        ));
    }
    match text {
        "." => complaints.push("must not be '.'".to_owned()),
        ".." => complaints.push("must not be '..'".to_owned()),
        _ if text.starts_with("..") => complaints.push("must not start with '..'".to_owned()),
        _ => {}
    }
    complaints
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_judged_as_the_rules_say() {
        assert!(dns_subdomain("a.b-c.d1", false).is_empty());
        assert!(dns_subdomain("prefix-", true).is_empty());
        assert!(!dns_subdomain("prefix-", false).is_empty());
        assert_eq!(dns_label("a.b", false), ["must not contain dots"]);
        assert!(qualified_name("example.com/My_Name").is_empty());
        assert!(qualified_name("kubernetes").is_empty());
        assert!(!qualified_name("a/b/c").is_empty());
        assert!(label_value("").is_empty());
        assert!(!label_value("-a").is_empty());
        assert!(!config_key("../x").is_empty());
        assert_eq!(path_segment("..", false), ["may not be '..'"]);
    }

    #[test]
    fn complaints_name_the_regex() {
        assert_eq!(
            dns_subdomain("A", false)[0],
            "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, \
             '-' or '.', and must start and end with an alphanumeric character (e.g. \
             'example.com', regex used for validation is \
             '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')"
        );
    }
}
