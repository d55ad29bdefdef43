//! Freehold's own annotations and finalizers, the same on every kind that is served.

/// The pinned UUID of the claim.
pub const CLAIM_UUID: &str = "freehold.dev/claim-uuid";
/// The `metadata.uid` that the UUID was pinned for: tells an object from its copy.
pub const CLAIM_PINNED_FOR: &str = "freehold.dev/claim-pinned-for";
/// `manage`, or `observe`: plan only.
pub const MANAGEMENT: &str = "freehold.dev/management";
/// `delete`, or `retain`: give the resources back instead of deleting them.
pub const DELETION: &str = "freehold.dev/deletion";
/// `exclusive`: what others put into resources of ours is removed, instead of being left to them.
pub const RULES: &str = "freehold.dev/rules";
/// `conflict`: a resource of our name that has no mark is not used; `use`: it is.
pub const UNMARKED: &str = "freehold.dev/unmarked";
/// `delete`: what controllers inside the cluster left behind in resources of ours ends with the object;
/// `keep`: it is only told.
pub const LEFT_BEHIND: &str = "freehold.dev/left-behind";
/// The slots whose resources a person has told us to adopt; taken away when that is done.
pub const ADOPT: &str = "freehold.dev/adopt";
/// The ledger: intents, ids that we wrote, condemned ids, traces.
pub const LEDGER: &str = "freehold.dev/ledger";

/// What every key of ours begins with.
pub const DOMAIN: &str = "freehold.dev/";
/// The annotations that an object may have under it, besides those of [`guest_finalizer`]: a test holds
/// the list to this file.
pub const ANNOTATIONS: [&str; 9] = [
    ADOPT,
    CLAIM_PINNED_FOR,
    CLAIM_UUID,
    DELETION,
    LEDGER,
    LEFT_BEHIND,
    MANAGEMENT,
    RULES,
    UNMARKED,
];

/// Where the operator is installed.
pub const OPERATOR_NAMESPACE: &str = "freehold-system";
/// As whom it calls the API server there: the admission policy lets it repair recorded ids.
pub const OPERATOR_ACCOUNT: &str = "freehold";

/// The name under which the API server knows a service account.
pub fn user_of_account(namespace: &str, account: &str) -> String {
    format!("system:serviceaccount:{namespace}:{account}")
}

/// What our own finalizer begins with; the rest is a copy of the claim's UUID.
const CLAIM_FINALIZER: &str = "freehold.dev/claim-";

/// Our own finalizer for a claim: it holds the object, and a copy of the UUID.
pub fn claim_finalizer(uuid: &str) -> String {
    format!("{CLAIM_FINALIZER}{uuid}")
}

/// The UUID in a finalizer of ours; `None` for everybody else's.
pub fn uuid_in_finalizer(finalizer: &str) -> Option<&str> {
    finalizer.strip_prefix(CLAIM_FINALIZER)
}

/// What a finalizer that guests put on their host begins with; the rest is the guests' kind.
const GUEST: &str = "freehold.dev/guest-";

/// The finalizer that holds what objects of this kind need, until the last of them is gone. On the
/// host the annotation of the same name says who they are, while its deletion waits for them.
pub fn guest_finalizer(kind: &str) -> String {
    format!("{GUEST}{kind}")
}

/// The kind in a finalizer of guests; `None` for every other finalizer.
pub fn guests_in_finalizer(finalizer: &str) -> Option<&str> {
    finalizer.strip_prefix(GUEST)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_finalizer_of_guests_names_their_kind() {
        let kind = "IBMPowerVSCluster.infrastructure.cluster.x-k8s.io";
        let finalizer = guest_finalizer(kind);
        assert_eq!(guests_in_finalizer(&finalizer), Some(kind));
        assert_eq!(guests_in_finalizer("freehold.dev/claim-1"), None);
        let name = finalizer.split_once('/').unwrap().1;
        assert!(name.len() <= 63, "Kubernetes allows no longer name");
    }

    #[test]
    fn every_annotation_is_in_the_list() {
        let text = include_str!("names.rs");
        let (text, _) = text.split_once("#[cfg(test)]").unwrap();
        let keys = text.split('"').filter_map(|text| text.strip_prefix(DOMAIN));
        let keys: Vec<_> = keys
            .filter(|key| !key.is_empty() && !key.ends_with('-'))
            .collect();
        assert_eq!(keys.len(), ANNOTATIONS.len());
        for key in keys {
            let key = format!("{DOMAIN}{key}");
            assert!(ANNOTATIONS.contains(&key.as_str()), "{key}");
        }
    }

    #[test]
    fn the_finalizer_holds_a_copy_of_the_uuid() {
        let uuid = "7f6a2f2e-58b5-4c1f-9d0e-0a3f4f1f2b11";
        let finalizer = claim_finalizer(uuid);
        assert_eq!(uuid_in_finalizer(&finalizer), Some(uuid));
        assert_eq!(uuid_in_finalizer("kubermatic.k8c.io/cleanup-aws"), None);
        let name = finalizer.split_once('/').unwrap().1;
        assert!(name.len() <= 63, "Kubernetes allows no longer name");
    }
}
