//! The cases, by what they are about.

pub mod brought;
pub mod faults;
pub mod identities;
pub mod ids;
pub mod life;
pub mod people;
pub mod repair;

use serde_json::Value;

/// The names of the subnets that an object has.
fn subnets(network: &Value) -> Vec<&str> {
    let list = network["subnets"].as_array();
    let ids = list.into_iter().flatten();
    ids.map(|it| it["id"].as_str().unwrap()).collect()
}
