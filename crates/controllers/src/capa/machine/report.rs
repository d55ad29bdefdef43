//! What is told in the status besides conditions: the state of the instance, and where it is reached.

use api::Change;
use api::capa::AwsMachine;
use blueprints::capa::machine::MACHINE;
use cloud_port::aws::instance::{PRIVATE_DNS, PRIVATE_IP, PUBLIC_DNS, PUBLIC_IP};
use cloud_port::driver::Report;
use ownership::Finding;
use ownership::decide::Filled;
use serde_json::{Value, json};

use crate::reconcile::Told;

/// The word for a machine that is gone and is not made again.
const TERMINATED: &str = "InstanceTerminated";

/// The instance, where it runs.
pub(super) fn instance(report: &Report) -> Option<&Filled> {
    let mut filled = report.filled.iter();
    filled.find(|filled| filled.slot.as_str() == MACHINE)
}

/// Tells the status. What was not looked at says nothing.
pub(super) fn tell(change: &mut Change<AwsMachine>, object: &AwsMachine, told: &Told<'_>) {
    let Some(report) = told.report else {
        let was_ready = object.status.as_ref().is_some_and(|status| status.ready);
        change.tell(&["ready"], json!(was_ready));
        return;
    };
    // Who has lost its record knows by its spec that there was one.
    let lost = report.findings.iter().any(|finding| match finding {
        Finding::Lost { slot, .. } | Finding::Missing { slot, .. } => slot.as_str() == MACHINE,
        _ => false,
    });
    let failed = report.findings.iter().any(|finding| match finding {
        Finding::Failed { slot, .. } => slot.as_str() == MACHINE,
        _ => false,
    });
    let filled = instance(report);
    let ends = object.metadata.deletion_timestamp.is_some();
    let is_made = object.spec.instance_id.is_some();
    // What a read does not show may still be there.
    let may_be_there = told.conditions.is_ready() && filled.is_none();
    if !may_be_there {
        let state = match filled {
            _ if ends => is_made.then_some("shutting-down"),
            Some(_) => Some("running"),
            None if lost => Some("terminated"),
            None if failed => Some("stopped"),
            None => is_made.then_some("pending"),
        };
        change.tell(&["instanceState"], json!(state));
        change.tell(&["ready"], json!(filled.is_some() && !ends));
    }
    let (reason, message) = if lost {
        let id = object.spec.instance_id.as_deref().unwrap_or_default();
        let cure = "delete the Machine, and Cluster API makes another";
        let message = format!("the instance {id} is gone, and is not made again: {cure}");
        (json!(TERMINATED), json!(message))
    } else {
        (Value::Null, Value::Null)
    };
    change.tell(&["failureReason"], reason);
    change.tell(&["failureMessage"], message);
    if let Some(filled) = filled {
        change.tell(&["addresses"], addresses(filled));
    }
}

fn addresses(filled: &Filled) -> Value {
    let all = [
        (PRIVATE_DNS, "InternalDNS"),
        (PRIVATE_IP, "InternalIP"),
        (PUBLIC_DNS, "ExternalDNS"),
        (PUBLIC_IP, "ExternalIP"),
    ];
    let said = all.into_iter().filter_map(|(prop, kind)| {
        let address = filled.props.get(prop).filter(|text| !text.is_empty())?;
        Some(json!({"type": kind, "address": &**address}))
    });
    said.collect()
}
