//! Failures: what went wrong with a call, as the port tells it.
//!
//! | what happened | class |
//! | --- | --- |
//! | AWS answered with an error | as the port's tables say |
//! | no connection was made, so nothing was sent | retryable |
//! | the region's servers do not exist | fatal |
//! | there are no credentials, or they cannot be had | fatal; as AWS says, if it was asked for them |
//! | anything else: no answer in time, a connection that broke, an answer that cannot be read | unknown |

use std::error::Error;

use aws_credential_types::provider::error::CredentialsError;
use aws_sdk_ec2::error::{ProvideErrorMetadata, SdkError};
use aws_sdk_sts::operation::assume_role::AssumeRoleError;
use cloud_port::aws::errors::{self, Service};
use hyper_util::client::legacy;
use ownership::{Class, CloudError};

use crate::client_set::ClientSet;

impl ClientSet {
    /// For `map_err`: a failed call of this operation of EC2.
    pub(crate) fn ec2_failure<E>(
        &self,
        operation: &'static str,
    ) -> impl Fn(SdkError<E>) -> CloudError
    where
        E: ProvideErrorMetadata + Error + Send + Sync + 'static,
    {
        move |error| self.failure(Service::Ec2, operation, error)
    }

    /// For `map_err`: a failed call of this operation of IAM.
    pub(crate) fn iam_failure<E>(
        &self,
        operation: &'static str,
    ) -> impl Fn(SdkError<E>) -> CloudError
    where
        E: ProvideErrorMetadata + Error + Send + Sync + 'static,
    {
        move |error| self.failure(Service::Iam, operation, error)
    }

    pub(crate) fn failure<E>(
        &self,
        service: Service,
        operation: &'static str,
        error: SdkError<E>,
    ) -> CloudError
    where
        E: ProvideErrorMetadata + Error + Send + Sync + 'static,
    {
        if let SdkError::ServiceError(answer) = &error {
            let status = answer.raw().status().as_u16();
            // The SDK also calls it an error of the service when it cannot read that all went well.
            if status >= 400 {
                return answered(service, operation, status, answer.err());
            }
        }
        if let Some(cause) = cause::<CredentialsError>(&error) {
            return no_credentials(cause);
        }
        let words = format!("{operation}: {}", words_of(&error));
        let region = &self.access().region;
        if matches!(error, SdkError::ConstructionFailure(_)) {
            return CloudError::new(Class::Fatal, "InvalidRequest", words);
        }
        if cause::<legacy::Error>(&error).is_none_or(|error| !error.is_connect()) {
            let words = format!("{words} (the call may have taken effect)");
            return CloudError::new(Class::Unknown, "NoAnswer", words);
        }
        if is_unknown_host(&words) {
            let words =
                format!("there are no servers for the region {region}: check its name ({words})");
            return CloudError::new(Class::Fatal, "UnknownRegion", words);
        }
        let words = match self.trust_complaint() {
            Some(complaint) => format!("{words} ({complaint})"),
            None => words,
        };
        CloudError::new(Class::Retryable, "NoConnection", words)
    }
}

/// AWS answered with an error.
fn answered(
    service: Service,
    operation: &str,
    status: u16,
    error: &impl ProvideErrorMetadata,
) -> CloudError {
    // Whatever stands between us and AWS may answer without a code.
    let http = format!("HTTP {status}");
    let code = error
        .code()
        .filter(|code| !code.is_empty())
        .unwrap_or(&http);
    let message = error.message().unwrap_or("no message");
    errors::error(service, operation, status, code, message)
}

/// The call was not sent, because there was nothing to sign it with.
fn no_credentials(error: &CredentialsError) -> CloudError {
    if let Some(SdkError::ServiceError(refusal)) = cause::<SdkError<AssumeRoleError>>(error) {
        let status = refusal.raw().status().as_u16();
        let mut told = answered(Service::Sts, "AssumeRole", status, refusal.err());
        told.message = format!("the role cannot be taken on: {}", told.message).into();
        told.code = format!("{}{}", errors::ASSUME_ROLE, told.code).into();
        // Nothing was sent but the question who we are.
        if told.class == Class::Unknown {
            told.class = Class::Retryable;
        }
        return told;
    }
    let words = words_of(error);
    match error {
        CredentialsError::CredentialsNotLoaded(_) => {
            let message = format!(
                "there are no credentials: give an access key, or the environment an identity ({words})"
            );
            CloudError::new(Class::Fatal, "NoCredentials", message)
        }
        CredentialsError::InvalidConfiguration(_) => {
            let message = format!("the credentials are configured wrongly ({words})");
            CloudError::new(Class::Fatal, "InvalidCredentials", message)
        }
        _ => {
            let message = format!("the credentials cannot be had now ({words})");
            CloudError::new(Class::Retryable, "CredentialsUnavailable", message)
        }
    }
}

/// An error and its causes in words: nothing that differs from call to call, and nothing for
/// programmers, since people read it in a condition.
fn words_of(error: &(dyn Error + 'static)) -> String {
    let mut words = error.to_string();
    let mut next = error.source();
    while let Some(error) = next {
        let more = error.to_string();
        if !words.ends_with(&more) {
            words = format!("{words}: {more}");
        }
        next = error.source();
    }
    words
}

/// The first error of a type in a chain of causes.
fn cause<'a, T: Error + 'static>(error: &'a (dyn Error + 'static)) -> Option<&'a T> {
    let mut next = Some(error);
    while let Some(error) = next {
        if let Some(found) = error.downcast_ref() {
            return Some(found);
        }
        next = error.source();
    }
    None
}

/// Whether the name service answered that there is no such name. It says so only in words, and in
/// others where it could not be asked.
fn is_unknown_host(words: &str) -> bool {
    let told = [
        "Name or service not known",
        "Name does not resolve",
        "nodename nor servname provided",
        "No address associated with hostname",
    ];
    told.iter().any(|known| words.contains(known))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_that_does_not_exist_is_told_from_a_name_service_that_fails() {
        let lookup = "dns error: failed to lookup address information: ";
        assert!(is_unknown_host(&format!(
            "{lookup}Name or service not known"
        )));
        assert!(is_unknown_host(&format!(
            "{lookup}nodename nor servname provided, or not known"
        )));
        assert!(!is_unknown_host(&format!(
            "{lookup}Temporary failure in name resolution"
        )));
    }

    #[test]
    fn credentials_that_are_not_there_are_fatal_and_name_the_cure() {
        let error = no_credentials(&CredentialsError::not_loaded("nothing found"));
        assert_eq!(error.class, Class::Fatal);
        assert!(error.message.contains("give an access key"), "{error}");
    }

    #[test]
    fn credentials_that_cannot_be_had_now_are_asked_for_again() {
        let error = no_credentials(&CredentialsError::provider_error("the server is away"));
        assert_eq!(error.class, Class::Retryable);
        assert!(error.message.contains("the server is away"), "{error}");
    }
}
