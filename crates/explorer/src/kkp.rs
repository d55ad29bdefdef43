//! The whole KKP blueprint as a scenario.

use crate::scenario::Scenario;

/// Every scenario of the KKP blueprint.
pub fn scenarios() -> Vec<Scenario> {
    Vec::new()
}
