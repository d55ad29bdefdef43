//! Names and tokens that can be computed again: from the claim, never from a random source.

use uuid::Uuid;

use crate::blueprint::SlotName;
use crate::claim::Claim;
use crate::input::{self, InputError};
use crate::text::Text;

const HASH: usize = 8;

/// How many characters a [`nonce`] has.
pub const NONCE: usize = 16;

/// What the names of a Kind may be.
///
/// A name that would not do is written so that it does, the same way every time: what is illegal is
/// replaced, what is too long is cut, and a hash of the whole tells two such names apart. A name that
/// does is left as it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NameRule {
    /// How many characters a name may have.
    pub longest: usize,
    /// Which.
    pub alphabet: Alphabet,
}

/// Which characters a name may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Alphabet {
    /// Whatever the service takes: nothing is replaced.
    Any,
    /// Lower-case letters, digits and `-`; a letter first, no `-` last.
    Label,
    /// Lower-case letters and digits.
    LowerAlphanumeric,
}

impl NameRule {
    /// A rule that asks for nothing but a length.
    pub const fn longest(longest: usize) -> Self {
        Self {
            longest,
            alphabet: Alphabet::Any,
        }
    }

    /// Whether a name is long enough to hold a nonce, or a hash, beside something recognisable.
    pub(crate) fn has_room(self, for_nonce: bool) -> bool {
        let hash = if for_nonce { NONCE } else { HASH };
        self.longest >= hash + 5
    }

    /// Whether this can be a name.
    pub fn accepts(self, name: &str) -> bool {
        let fits = name.chars().count() <= self.longest;
        fits && match self.alphabet {
            Alphabet::Any => true,
            Alphabet::Label => {
                name.chars().all(input::is_label_char)
                    && name.starts_with(|c: char| c.is_ascii_lowercase())
                    && !name.ends_with('-')
            }
            Alphabet::LowerAlphanumeric => {
                !name.is_empty() && name.chars().all(|c| c != '-' && input::is_label_char(c))
            }
        }
    }

    /// The name that a resource gets which is to be called so.
    pub fn fit(self, name: &str) -> Text {
        if self.accepts(name) {
            return name.into();
        }
        let hash = Uuid::new_v5(&Uuid::NAMESPACE_OID, name.as_bytes()).simple();
        self.with_end(name, &hash.to_string()[..HASH])
    }

    /// The same, ending in a [`nonce`], which is never cut.
    pub fn fit_with_nonce(self, name: &str, nonce: &str) -> Text {
        self.with_end(name, nonce)
    }

    /// As much of a name as there is room for before what must not be cut.
    fn with_end(self, name: &str, end: &str) -> Text {
        let between = match self.alphabet {
            Alphabet::Any | Alphabet::Label => "-",
            Alphabet::LowerAlphanumeric => "",
        };
        let legal = |c: char| match self.alphabet {
            Alphabet::Any => Some(c),
            _ if c.is_ascii_alphanumeric() => Some(c.to_ascii_lowercase()),
            Alphabet::Label => Some('-'),
            Alphabet::LowerAlphanumeric => None,
        };
        let room = self.longest.saturating_sub(end.len() + between.len());
        let mut head: String = name.chars().filter_map(legal).collect();
        if self.alphabet == Alphabet::Label && !head.starts_with(|c: char| c.is_ascii_lowercase()) {
            head.insert(0, 'x');
        }
        let whole = head.chars().count() <= room;
        let mut head: &str = &head.chars().take(room).collect::<String>();
        if !whole || self.alphabet != Alphabet::Any {
            head = head.trim_end_matches(['-', '.', '_']);
        }
        format!("{head}{between}{end}").into()
    }
}

/// Fits `name` into `longest` characters; what does not fit is cut and gets a stable hash, so that
/// two long names with one beginning stay apart.
///
/// # Errors
/// When `longest` leaves no room for a recognisable beginning and the hash.
pub fn fit(field: &'static str, name: &str, longest: usize) -> Result<String, InputError> {
    if name.chars().count() <= longest {
        return Ok(name.to_owned());
    }
    if longest < HASH + 4 {
        return Err(InputError::new(
            field,
            name,
            format_args!("cannot be shortened to {longest} characters"),
        ));
    }
    let hash = Uuid::new_v5(&Uuid::NAMESPACE_OID, name.as_bytes())
        .simple()
        .to_string();
    let head: String = name.chars().take(longest - HASH - 1).collect();
    Ok(format!(
        "{}-{}",
        head.trim_end_matches(['-', '.', '_']),
        &hash[..HASH]
    ))
}

/// The client token of one attempt to fill one slot. The same attempt always sends the same token,
/// so the cloud answers a repetition with the first one's resource.
pub fn client_token(claim: &Claim, slot: &SlotName, attempt: u32) -> Uuid {
    Uuid::new_v5(
        claim.uuid(),
        format!("{}\n{slot}\n{attempt}", claim.hash()).as_bytes(),
    )
}

/// What makes a name recognisable as ours: a hash of claim, slot and attempt, in hexadecimal.
pub fn nonce(claim: &Claim, slot: &SlotName, attempt: u32) -> String {
    client_token(claim, slot, attempt).simple().to_string()[..16].to_owned()
}
