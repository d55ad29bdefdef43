//! Which field is to blame when AWS does not let us in.

use api::kkp::{AWS_REGION, Cluster as Object, field};
use cloud_port::aws::errors::{self, Culprit};
use kube::ResourceExt as _;
use ownership::CloudError;
use ownership::input::InputError;

/// Where a cluster names its datacenter.
pub(super) const DATACENTER: &str = "spec.cloud.dc";

/// The field that keeps us out of the account, and the cure. Where the object names no credentials it is
/// none of its fields: the operator's own are missing, or not accepted.
pub(super) fn field(object: &Object, error: &CloudError) -> Option<InputError> {
    let culprit = errors::culprit(error)?;
    let (field, value, rule) = match culprit {
        Culprit::Region => region(object),
        Culprit::Role => role(object),
        Culprit::Credentials => credentials(object)?,
    };
    let rule = format_args!("{rule}; AWS says {error}");
    Some(InputError::new(field, &value, rule))
}

/// The field that leads to another account or region than the one that the resources are in.
pub(super) fn misplaced(object: &Object, was: &str, is: &str) -> InputError {
    let account = |place: &str| place.split('/').next().map(str::to_owned);
    let (field, value, _) = if account(was) == account(is) {
        region(object)
    } else {
        let own = || (field::ACCESS_KEY_ID, String::new(), "");
        credentials(object).unwrap_or_else(own)
    };
    let rule = format!(
        "leads to {is}, but the cluster's resources are in {was}, and do not move: put back what \
         led there"
    );
    InputError::new(field, &value, rule)
}

type Blame = (&'static str, String, &'static str);

fn region(object: &Object) -> Blame {
    match object.annotations().get(AWS_REGION) {
        Some(region) if !region.is_empty() => {
            let rule = "must name a region that the account can use";
            (AWS_REGION, region.clone(), rule)
        }
        _ => {
            let rule = "must name a datacenter in a region that the account can use";
            (DATACENTER, object.spec.cloud.dc.clone(), rule)
        }
    }
}

fn role(object: &Object) -> Blame {
    let rule = "must name a role that the credentials may take on";
    let aws = object.spec.cloud.aws.as_ref();
    match aws.and_then(|aws| set(aws.assume_role_arn.as_ref())) {
        Some(arn) => (field::ASSUME_ROLE_ARN, arn, rule),
        None => (field::REFERENCE, secret(object).unwrap_or_default(), rule),
    }
}

fn credentials(object: &Object) -> Option<Blame> {
    let aws = object.spec.cloud.aws.as_ref();
    if let Some(id) = aws.and_then(|aws| set(aws.access_key_id.as_ref())) {
        let rule = "must be an access key that AWS accepts, with its own secretAccessKey";
        return Some((field::ACCESS_KEY_ID, id, rule));
    }
    let secret = secret(object)?;
    let rule = "must name a Secret with an access key that AWS accepts, and its own secret";
    Some((field::REFERENCE, secret, rule))
}

/// The Secret that the cluster refers to.
fn secret(object: &Object) -> Option<String> {
    let reference = object
        .spec
        .cloud
        .aws
        .as_ref()?
        .credentials_reference
        .as_ref()?;
    let (namespace, name) = reference.target().ok()?;
    Some(format!("{namespace}/{name}"))
}

fn set(text: Option<&String>) -> Option<String> {
    text.filter(|text| !text.is_empty()).cloned()
}

#[cfg(test)]
mod tests {
    use ownership::Class;
    use serde_json::{Value, json};

    use super::*;

    fn blamed(aws: Value, code: &str) -> String {
        let annotations = json!({AWS_REGION: "mars-north-1"});
        let object = json!({
            "apiVersion": "kubermatic.k8c.io/v1",
            "kind": "Cluster",
            "metadata": {"name": "c", "annotations": annotations},
            "spec": {"cloud": {"dc": "mars", "aws": aws}},
        });
        let object = serde_json::from_value(object).unwrap();
        let error = CloudError::new(Class::Fatal, code, "no");
        field(&object, &error).map_or_else(String::new, |error| error.to_string())
    }

    #[test]
    fn what_keeps_us_out_names_the_field_that_said_it() {
        let keys = json!({"accessKeyID": "AKIA1", "secretAccessKey": "hush"});
        let reference = json!({"credentialsReference": {"namespace": "ns", "name": "aws"}});
        let role = json!({"assumeRoleARN": "arn:aws:iam::123456789012:role/r"});
        for (aws, code, words) in [
            (
                &keys,
                "UnknownRegion",
                "kubermatic.io/aws-region: \"mars-north-1\" must",
            ),
            (
                &keys,
                "AuthFailure",
                "spec.cloud.aws.accessKeyID: \"AKIA1\" must",
            ),
            (
                &reference,
                "AuthFailure",
                "spec.cloud.aws.credentialsReference: \"ns/aws\" must",
            ),
            (
                &role,
                "AssumeRole.AccessDenied",
                "spec.cloud.aws.assumeRoleARN: \"arn:",
            ),
            (
                &reference,
                "AssumeRole.AccessDenied",
                "spec.cloud.aws.credentialsReference: \"ns",
            ),
        ] {
            let told = blamed(aws.clone(), code);
            assert!(told.starts_with(words), "{code}: {told}");
            assert!(!told.contains("hush"), "{told}");
        }
        assert_eq!(blamed(keys, "UnauthorizedOperation"), "");
        // The operator's own identity is no field of the object.
        for (aws, code) in [
            (json!({}), "NoCredentials"),
            (role, "AssumeRole.InvalidClientTokenId"),
        ] {
            assert_eq!(blamed(aws, code), "", "{code}");
        }
    }
}
