//! KKP's suite.

use cloud_sim::{Settings, SharedAccount};
use kkp_suite::Lab;

use crate::plane;

async fn lab(case: &str) -> Option<Lab<SharedAccount>> {
    let client = plane::client().await?;
    Some(Lab::simulated(client, Settings::default(), case))
}

kkp_suite::cases!(lab);
