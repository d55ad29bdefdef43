//! The suite of Cluster API on AWS, and what every system's asks.

use capa_suite::{Lab, Plain};
use cloud_sim::{Settings, SharedAccount};

use crate::plane;

async fn lab(case: &str) -> Option<Lab<SharedAccount>> {
    let client = plane::client().await?;
    // All clusters have one name and one API server here: who has the same ids besides is a namesake.
    let mix = |seed: u64, byte: u8| seed.wrapping_mul(31).wrapping_add(byte.into());
    let settings = Settings {
        seed: case.bytes().fold(0, mix),
        ..Settings::default()
    };
    Some(Lab::simulated(client, settings, case).await)
}

capa_suite::cases!(lab);

/// The same laboratory without what is this system's own.
async fn plain(case: &str) -> Option<Plain<SharedAccount>> {
    Some(lab(case).await?.plain())
}

laboratory::cases!(plain);
