//! Admission policies (`ValidatingAdmissionPolicy`): expressions that every write of what they match
//! must fulfil.

mod matching;
mod policy;

use serde_json::Value;

pub(crate) use policy::{Failure, Policy};

use crate::access::User;
use crate::api::Call;
use crate::builtin::string_list;
use crate::meta;
use crate::state::State;
use crate::status::{ApiError, ApiResult};

const POLICIES: &str = "validatingadmissionpolicies.admissionregistration.k8s.io";
const BINDINGS: &str = "validatingadmissionpolicybindings.admissionregistration.k8s.io";

/// Whether any policy is bound, so that it matters who writes.
pub(crate) fn is_active(state: &State) -> bool {
    let bindings = state.storage.get(BINDINGS);
    bindings.is_some_and(|bindings| !bindings.objects.is_empty())
}

/// Asks all policies about a write; what they only warn of is added to the call. The name is that of
/// the request: who deletes all objects names none.
pub(crate) fn check(
    state: &State,
    call: &mut Call<'_>,
    (operation, name): (&str, &str),
    object: Option<&Value>,
    old: Option<&Value>,
) -> ApiResult<()> {
    let exempt = |builtin: crate::builtin::Builtin| builtin.is_policy() || builtin.is_review();
    let Some(user) = call.asker else {
        return Ok(());
    };
    if !is_active(state) || call.resource.builtin().is_some_and(exempt) {
        return Ok(());
    }
    let mut warnings = Vec::new();
    let write = Write {
        state,
        call,
        user,
        operation,
        name,
        object,
        old,
    };
    let verdict = write.ask(&mut warnings);
    call.warnings.extend(warnings);
    verdict
}

/// A write that policies are asked about.
struct Write<'a> {
    state: &'a State,
    call: &'a Call<'a>,
    user: &'a User,
    operation: &'a str,
    name: &'a str,
    object: Option<&'a Value>,
    old: Option<&'a Value>,
}

impl Write<'_> {
    fn ask(&self, warnings: &mut Vec<String>) -> ApiResult<()> {
        let all = |store: &str| -> Vec<Value> {
            let collection = self.state.storage.get(store);
            let objects = collection
                .into_iter()
                .flat_map(|found| found.objects.values());
            objects.map(|stored| stored.value()).collect()
        };
        let bindings = all(BINDINGS);
        let mut denied = None;
        for stored in all(POLICIES) {
            let (name, spec) = (meta::text(&stored, "name"), &stored["spec"]);
            let bound = bindings.iter().filter(|b| b["spec"]["policyName"] == name);
            let mut bound = bound.peekable();
            if bound.peek().is_none() {
                continue;
            }
            let Some(version) = self.matched(&spec["matchConstraints"]) else {
                continue;
            };
            let policy = Policy::of(spec);
            for binding in bound {
                let limits = &binding["spec"]["matchResources"];
                if !limits.is_null() && self.matched(limits).is_none() {
                    continue;
                }
                let binding_name = meta::text(binding, "name");
                let actions = string_list(&binding["spec"]["validationActions"]);
                let has = |wanted: &str| actions.iter().any(|action| action == wanted);
                for failure in self.failures(&policy, &version) {
                    let message = &failure.message;
                    if has("Warn") {
                        warnings.push(format!(
                            "Validation failed for ValidatingAdmissionPolicy '{name}' with binding \
                             '{binding_name}': {message}"
                        ));
                    }
                    if has("Deny") && denied.is_none() {
                        let why = format!(
                            "ValidatingAdmissionPolicy '{name}' with binding '{binding_name}' \
                             denied request: {message}"
                        );
                        denied = Some(self.refusal(&failure, &why));
                    }
                }
            }
        }
        denied.map_or(Ok(()), Err)
    }

    fn refusal(&self, failure: &Failure, why: &str) -> ApiError {
        let name = match self.name {
            "" => "Unknown",
            name => name,
        };
        ApiError::denied(self.call.resource.about(), name, &failure.reason, why)
    }
}
