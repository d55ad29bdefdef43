//! Which known name a misspelt one stands for.

/// The known name that a misspelt one stands for: the same but for case and separators, or with one
/// letter wrong.
pub(crate) fn meant(name: &str, known: &[&'static str]) -> Option<&'static str> {
    if known.contains(&name) {
        return None;
    }
    // With three letters, one letter away is another word.
    let near =
        |known: &&str| plain(name) == plain(known) || (known.len() > 3 && is_near(name, known));
    known.iter().copied().find(near)
}

/// Whether two names are the same but for case and separators, or one letter.
pub(crate) fn is_near(one: &str, other: &str) -> bool {
    let (one, other) = (plain(one), plain(other));
    one == other || is_one_edit(&one, &other)
}

fn plain(name: &str) -> Vec<char> {
    let letters = name.chars().filter(|c| c.is_alphanumeric());
    letters.flat_map(char::to_lowercase).collect()
}

/// Whether one letter more, less or otherwise makes one word of the other, or two that have changed
/// places.
fn is_one_edit(one: &[char], other: &[char]) -> bool {
    let same = one.iter().zip(other).take_while(|(a, b)| a == b).count();
    let (one, other) = (&one[same..], &other[same..]);
    match (one, other) {
        ([_, rest @ ..], _) if rest == other => true,
        (_, [_, rest @ ..]) if rest == one => true,
        ([_, one @ ..], [_, other @ ..]) if one == other => true,
        ([a, b, one @ ..], [c, d, other @ ..]) => (a, b, one) == (d, c, other),
        _ => false,
    }
}
