//! What the operator must be allowed to do in the management cluster. The roles are made of this, and
//! a replica asks for it at its start.

use std::fmt;

use api::manifests::PROTECTION;
use controllers::registry::{Entry, Right};

use crate::operator::LEASE;
use crate::take_over;

/// A right, and where it is needed.
#[derive(Clone, Debug)]
pub struct Needed {
    /// The right.
    pub right: Right,
    /// The objects of these names; all of them without any.
    pub names: Vec<String>,
    /// Only in the operator's own namespace.
    pub own: bool,
}

/// Everything that an operator in this namespace needs for these systems.
pub fn needed(entries: &[&Entry], namespace: &str) -> Vec<Needed> {
    let everywhere = |right: Right| Needed {
        right,
        names: Vec::new(),
        own: false,
    };
    let mut all: Vec<Needed> = entries
        .iter()
        .flat_map(|entry| entry.rights())
        .map(everywhere)
        .collect();
    // Two systems may ask for the same kind.
    let mut seen = Vec::new();
    all.retain(|needed| {
        let is_new = !seen.contains(&needed.right);
        seen.push(needed.right);
        is_new
    });
    let core = |plural, verbs| Right::new("", "v1", plural, verbs);
    let leases = |verbs| Right::new("coordination.k8s.io", "v1", "leases", verbs);
    let policies = "validatingadmissionpolicies";
    let policies = Right::new("admissionregistration.k8s.io", "v1", policies, &["get"]);
    all.extend([
        // Whether an original is at work.
        everywhere(leases(&["list"])),
        // Which management cluster this is, and whether there is a place for the Lease.
        named(
            core("namespaces", &["get"]),
            &["kube-system", namespace],
            false,
        ),
        // Whom the policy trusts.
        named(policies, &[PROTECTION], false),
        Needed {
            own: true,
            ..everywhere(leases(&["create"]))
        },
        named(leases(&["get", "update"]), &[LEASE], true),
        named(core("configmaps", &["get"]), &[take_over::CONFIG_MAP], true),
    ]);
    all
}

/// What finding out takes which of these systems can be served: whether a provider of Crossplane does it
/// already.
pub fn to_choose(entries: &[&Entry]) -> Vec<Needed> {
    let (group, plural) = ("apiextensions.k8s.io", "customresourcedefinitions");
    let definitions: Vec<String> = entries.iter().map(|entry| entry.definition()).collect();
    let definitions = Needed {
        right: Right::new(group, "v1", plural, &["get"]),
        names: definitions,
        own: false,
    };
    let providers = Right::new("pkg.crossplane.io", "v1", "providerrevisions", &["get"]);
    vec![definitions, named(providers, &[], false)]
}

fn named(right: Right, names: &[&str], own: bool) -> Needed {
    let names = names.iter().map(|&name| name.to_owned()).collect();
    Needed { right, names, own }
}

impl fmt::Display for Needed {
    /// As a rule of a role.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Right { group, verbs, .. } = self.right;
        let resource = self.right.resource();
        write!(f, "- {{apiGroups: [\"{group}\"], resources: [{resource}]")?;
        if !self.names.is_empty() {
            write!(f, ", resourceNames: {:?}", self.names)?;
        }
        write!(f, ", verbs: [{}]}}", verbs.join(", "))
    }
}
