//! Names and tokens that can be computed again: from the claim, never from a random source.

use uuid::Uuid;

use crate::blueprint::SlotName;
use crate::claim::Claim;
use crate::input::InputError;

const HASH: usize = 8;

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
