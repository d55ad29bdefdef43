//! Worlds: several accounts and regions on one clock.

use std::collections::BTreeMap;

use crate::account::Account;
use crate::clock::VirtualClock;
use crate::provenance::Actor;
use crate::settings::Settings;
use crate::shared::SharedAccount;

/// Several accounts, with several regions each, on one clock.
///
/// The regions of an account share what is global there, such as the identities of AWS, and nothing
/// else. Accounts share nothing.
#[derive(Debug)]
pub struct World {
    settings: Settings,
    clock: VirtualClock,
    accounts: BTreeMap<&'static str, SharedAccount>,
}

impl World {
    /// A world without accounts. Each that is opened is like these settings, but for number and region.
    pub fn new(settings: Settings, clock: VirtualClock) -> Self {
        Self {
            settings,
            clock,
            accounts: BTreeMap::new(),
        }
    }

    /// The account of that number as it is seen from a region, by `actor`. Who opens both again sees
    /// what was there.
    pub fn open(
        &mut self,
        number: &'static str,
        region: &'static str,
        actor: Actor,
    ) -> SharedAccount {
        let account = self.accounts.entry(number).or_insert_with(|| {
            let settings = Settings {
                number,
                region,
                // No id of one account is an id of another.
                seed: self.settings.seed ^ fingerprint(number),
                ..self.settings.clone()
            };
            SharedAccount::new(Account::new(settings, self.clock.clone()), actor)
        });
        account.in_region(region).as_actor(actor)
    }
}

/// A number for a text: FNV-1a.
fn fingerprint(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}
