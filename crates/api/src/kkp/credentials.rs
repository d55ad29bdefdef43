//! The AWS credentials of a cluster: from its spec, else from the Secret that it names.
//!
//! Each value stands in the spec or, if it is empty there, under its own fixed key in the Secret.

use k8s_openapi::api::core::v1::Secret;
use ownership::input::InputError;

use super::{AwsCloud, SecretReference};
use crate::Sensitive;

/// The keys of a credentials Secret, as the original reads them.
pub mod secret_key {
    /// The id of the access key.
    pub const ACCESS_KEY_ID: &str = "accessKeyId";
    /// The access key's secret.
    pub const SECRET_ACCESS_KEY: &str = "secretAccessKey";
    /// The role to assume; optional.
    pub const ASSUME_ROLE_ARN: &str = "assumeRoleARN";
    /// The external id to assume it with; optional.
    pub const ASSUME_ROLE_EXTERNAL_ID: &str = "assumeRoleExternalID";
}

/// The fields that credentials come from.
pub mod field {
    /// The id of an access key.
    pub const ACCESS_KEY_ID: &str = "spec.cloud.aws.accessKeyID";
    /// A Secret.
    pub const REFERENCE: &str = "spec.cloud.aws.credentialsReference";
    /// A role to take on.
    pub const ASSUME_ROLE_ARN: &str = "spec.cloud.aws.assumeRoleARN";
}

const SECRET_ACCESS_KEY: &str = "spec.cloud.aws.secretAccessKey";
const REFERENCE_NAME: &str = "spec.cloud.aws.credentialsReference.name";
const REFERENCE_NAMESPACE: &str = "spec.cloud.aws.credentialsReference.namespace";

/// How to sign in to a cluster's AWS account.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AwsCredentials {
    /// Static keys; without them, what the process itself runs with.
    pub keys: Option<AwsKeys>,
    /// The role to assume with them.
    pub assume_role_arn: Option<String>,
    /// The external id to assume it with.
    pub assume_role_external_id: Option<String>,
}

/// A static access key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AwsKeys {
    /// Its id.
    pub id: String,
    /// Its secret.
    pub secret: Sensitive,
}

impl SecretReference {
    /// Namespace and name of the Secret.
    ///
    /// # Errors
    /// The part that is not there: unlike a reference inside a namespace, this one needs both.
    pub fn target(&self) -> Result<(&str, &str), InputError> {
        Ok((
            given(REFERENCE_NAMESPACE, self.namespace.as_deref())?,
            given(REFERENCE_NAME, self.name.as_deref())?,
        ))
    }
}

impl AwsCloud {
    /// The credentials that the spec and the Secret of its reference give, if that exists.
    ///
    /// # Expected flow
    /// 1. If there is a `credentials_reference`, read the Secret that its
    ///    [`target`](SecretReference::target) names.
    /// 2. Ask here.
    ///
    /// # Errors
    /// The field or key that is missing. A Secret need not exist if nothing is wanted from it.
    pub fn credentials(&self, secret: Option<&Secret>) -> Result<AwsCredentials, InputError> {
        let source = Source {
            reference: self.credentials_reference.as_ref(),
            secret,
        };
        let secret_access_key = self.secret_access_key.as_ref().map(Sensitive::reveal);
        Ok(AwsCredentials {
            keys: source.keys(set(self.access_key_id.as_deref()), set(secret_access_key))?,
            assume_role_arn: source
                .optional(self.assume_role_arn.as_deref(), secret_key::ASSUME_ROLE_ARN)?,
            assume_role_external_id: source.optional(
                self.assume_role_external_id.as_deref(),
                secret_key::ASSUME_ROLE_EXTERNAL_ID,
            )?,
        })
    }
}

/// Where values that the spec lacks come from.
struct Source<'a> {
    reference: Option<&'a SecretReference>,
    secret: Option<&'a Secret>,
}

impl Source<'_> {
    fn keys(&self, id: Option<&str>, secret: Option<&str>) -> Result<Option<AwsKeys>, InputError> {
        let half = |field, other| {
            let rule = format!("must be set where {other} is, or credentialsReference with it");
            Err(InputError::new(field, "", rule))
        };
        let (id, secret) = match (id, secret, self.reference) {
            (None, None, None) => return Ok(None),
            (None, Some(_), None) => return half(field::ACCESS_KEY_ID, "secretAccessKey"),
            (Some(_), None, None) => return half(SECRET_ACCESS_KEY, "accessKeyID"),
            (id, secret, _) => (
                self.required(id, secret_key::ACCESS_KEY_ID)?,
                self.required(secret, secret_key::SECRET_ACCESS_KEY)?,
            ),
        };
        let secret = Sensitive::new(secret);
        Ok(Some(AwsKeys { id, secret }))
    }

    fn required(&self, given: Option<&str>, key: &str) -> Result<String, InputError> {
        if let Some(value) = self.optional(given, key)? {
            return Ok(value);
        }
        let rule = match self.secret {
            None => format!("must name a Secret that exists, with the key {key}"),
            Some(_) => {
                format!("must name a Secret with the key {key}, which has none or an empty one")
            }
        };
        Err(InputError::new(field::REFERENCE, &self.shown(), rule))
    }

    fn optional(&self, given: Option<&str>, key: &str) -> Result<Option<String>, InputError> {
        if let Some(value) = set(given) {
            return Ok(Some(value.to_owned()));
        }
        let data = self.secret.and_then(|secret| secret.data.as_ref());
        let Some(bytes) = data.and_then(|data| data.get(key)) else {
            return Ok(None);
        };
        let text = std::str::from_utf8(&bytes.0).map_err(|_| {
            let rule = format!("must name a Secret whose key {key} holds text");
            InputError::new(field::REFERENCE, &self.shown(), rule)
        })?;
        Ok(set(Some(text)).map(str::to_owned))
    }

    fn shown(&self) -> String {
        let reference = self.reference.and_then(|reference| reference.target().ok());
        reference.map_or_else(String::new, |(namespace, name)| {
            format!("{namespace}/{name}")
        })
    }
}

/// An empty field is one that is not set.
fn set(value: Option<&str>) -> Option<&str> {
    value.filter(|text| !text.is_empty())
}

fn given<'a>(field: &'static str, value: Option<&'a str>) -> Result<&'a str, InputError> {
    set(value).ok_or_else(|| InputError::new(field, "", "must not be empty"))
}

#[cfg(test)]
mod tests {
    use k8s_openapi::ByteString;

    use super::*;

    fn secret(entries: &[(&str, &str)]) -> Secret {
        let bytes = |text: &str| ByteString(text.as_bytes().to_vec());
        Secret {
            data: Some(
                entries
                    .iter()
                    .map(|(key, value)| ((*key).to_owned(), bytes(value)))
                    .collect(),
            ),
            ..Secret::default()
        }
    }

    fn referring() -> AwsCloud {
        AwsCloud {
            credentials_reference: Some(SecretReference {
                namespace: Some("kubermatic".to_owned()),
                name: Some("credentials-aws".to_owned()),
                ..SecretReference::default()
            }),
            ..AwsCloud::default()
        }
    }

    fn keys(id: &str, secret: &str) -> AwsKeys {
        AwsKeys {
            id: id.to_owned(),
            secret: Sensitive::new(secret),
        }
    }

    #[test]
    fn nothing_given_means_what_the_process_runs_with() {
        let found = AwsCloud::default().credentials(None).unwrap();
        assert_eq!(found, AwsCredentials::default());
    }

    #[test]
    fn the_spec_comes_first_value_by_value() {
        let aws = AwsCloud {
            access_key_id: Some("spec-id".to_owned()),
            assume_role_arn: Some(String::new()),
            ..referring()
        };
        let secret = secret(&[
            ("accessKeyId", "secret-id"),
            ("secretAccessKey", "secret-key"),
            ("assumeRoleARN", "arn:aws:iam::123456789012:role/r"),
        ]);
        let found = aws.credentials(Some(&secret)).unwrap();
        assert_eq!(found.keys, Some(keys("spec-id", "secret-key")));
        assert_eq!(
            found.assume_role_arn.as_deref(),
            Some("arn:aws:iam::123456789012:role/r")
        );
        assert_eq!(found.assume_role_external_id, None);
    }

    #[test]
    fn a_secret_from_which_nothing_is_wanted_need_not_exist() {
        let aws = AwsCloud {
            access_key_id: Some("id".to_owned()),
            secret_access_key: Some(Sensitive::new("key")),
            ..referring()
        };
        assert_eq!(aws.credentials(None).unwrap().keys, Some(keys("id", "key")));
    }

    #[test]
    fn what_is_missing_is_named_with_the_cure() {
        let text = |aws: &AwsCloud, secret: Option<&Secret>| {
            aws.credentials(secret).unwrap_err().to_string()
        };
        assert_eq!(
            text(&referring(), None),
            "spec.cloud.aws.credentialsReference: \"kubermatic/credentials-aws\" must name a Secret \
             that exists, with the key accessKeyId"
        );
        let half = secret(&[("accessKeyId", "id"), ("secretAccessKey", "")]);
        assert_eq!(
            text(&referring(), Some(&half)),
            "spec.cloud.aws.credentialsReference: \"kubermatic/credentials-aws\" must name a Secret \
             with the key secretAccessKey, which has none or an empty one"
        );
        let alone = AwsCloud {
            access_key_id: Some("id".to_owned()),
            ..AwsCloud::default()
        };
        assert_eq!(
            text(&alone, None),
            "spec.cloud.aws.secretAccessKey: \"\" must be set where accessKeyID is, or \
             credentialsReference with it"
        );
    }

    #[test]
    fn a_value_that_is_no_text_is_refused_without_showing_it() {
        let mut broken = secret(&[("accessKeyId", "id")]);
        let data = broken.data.as_mut().unwrap();
        data.insert("secretAccessKey".to_owned(), ByteString(vec![0xff, 0xfe]));
        let error = referring().credentials(Some(&broken)).unwrap_err();
        assert_eq!(
            error.rule,
            "must name a Secret whose key secretAccessKey holds text"
        );
    }

    #[test]
    fn a_reference_needs_namespace_and_name() {
        let aws = referring();
        let whole = aws.credentials_reference.unwrap();
        assert_eq!(whole.target().unwrap(), ("kubermatic", "credentials-aws"));
        let nameless = SecretReference {
            name: None,
            ..whole.clone()
        };
        assert_eq!(nameless.target().unwrap_err().field, REFERENCE_NAME);
        let homeless = SecretReference {
            namespace: Some(String::new()),
            ..whole
        };
        assert_eq!(homeless.target().unwrap_err().field, REFERENCE_NAMESPACE);
    }
}
