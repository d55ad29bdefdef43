//! Which field is to blame when AWS does not let us in.

use api::capa::AwsCluster;
use cloud_port::aws::errors::{self, Culprit};
use ownership::CloudError;
use ownership::input::InputError;

/// Where a cluster names its region.
pub(super) const REGION: &str = "spec.region";
/// Where a cluster says as whom AWS is called.
pub(super) const IDENTITY: &str = "spec.identityRef.name";

/// The field that keeps us out of the account, and the cure.
pub(super) fn field(object: &AwsCluster, error: &CloudError) -> Option<InputError> {
    let (field, value, rule) = match errors::culprit(error)? {
        Culprit::Region => (
            REGION,
            region(object),
            "must be a region that the account can use",
        ),
        Culprit::Role => {
            let rule = "must name an identity whose role may be taken on";
            (IDENTITY, identity(object), rule)
        }
        Culprit::Credentials => {
            let rule = "must name an identity with credentials that AWS accepts; without one the \
                        operator's own are used";
            (IDENTITY, identity(object), rule)
        }
    };
    let rule = format_args!("{rule}; AWS says {error}");
    Some(InputError::new(field, &value, rule))
}

/// The field that leads to another account or region than the one that the resources are in.
pub(super) fn misplaced(object: &AwsCluster, was: &str, is: &str) -> InputError {
    let account = |place: &str| place.split('/').next().map(str::to_owned);
    let (field, value) = if account(was) == account(is) {
        (REGION, region(object))
    } else {
        (IDENTITY, identity(object))
    };
    let rule = format!(
        "leads to {is}, but the cluster's resources are in {was}, and do not move: put back what led \
         there"
    );
    InputError::new(field, &value, rule)
}

fn region(object: &AwsCluster) -> String {
    object.spec.region.clone().unwrap_or_default()
}

fn identity(object: &AwsCluster) -> String {
    let identity = object.spec.identity_ref.as_ref();
    identity
        .map(|identity| identity.name.clone())
        .unwrap_or_default()
}
