//! Failures: what went wrong with a call, as the port tells it.
//!
//! | what happened | class |
//! | --- | --- |
//! | AWS answered with an error | as the port's tables say |
//! | no connection was made, so nothing was sent | retryable |
//! | the name of the region's servers does not exist | fatal |
//! | there are no credentials, or they cannot be had | fatal; as AWS says, if it was asked for them |
//! | anything else: no answer in time, a connection that broke, an answer that cannot be read | unknown |

use std::error::Error;

use aws_credential_types::provider::error::CredentialsError;
use aws_sdk_ec2::error::{ProvideErrorMetadata, SdkError};
use aws_sdk_sts::operation::assume_role::AssumeRoleError;
use aws_sdk_sts::operation::assume_role_with_web_identity::AssumeRoleWithWebIdentityError as WebIdentityError;
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

    /// For `map_err`: a failed call of this operation of classic load balancing.
    pub(crate) fn elb_failure<E>(
        &self,
        operation: &'static str,
    ) -> impl Fn(SdkError<E>) -> CloudError
    where
        E: ProvideErrorMetadata + Error + Send + Sync + 'static,
    {
        move |error| self.failure(Service::Elb, operation, error)
    }

    /// For `map_err`: a failed call of this operation of network load balancing.
    pub(crate) fn elbv2_failure<E>(
        &self,
        operation: &'static str,
    ) -> impl Fn(SdkError<E>) -> CloudError
    where
        E: ProvideErrorMetadata + Error + Send + Sync + 'static,
    {
        move |error| self.failure(Service::Elbv2, operation, error)
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
        let address = self.address(service);
        if let SdkError::ServiceError(answer) = &error {
            let status = answer.raw().status().as_u16();
            // The SDK also calls it an error of the service when it cannot read that all went well.
            if status >= 400 {
                let place = (self.access().region.as_str(), address.as_str());
                return answered(service, place, operation, status, answer.err());
            }
        }
        if let Some(cause) = cause::<CredentialsError>(&error) {
            return no_credentials(cause);
        }
        let words = words_of(&error);
        if matches!(error, SdkError::ConstructionFailure(_)) {
            let words = format!("{operation}: {words}");
            return CloudError::new(Class::Fatal, "InvalidRequest", words);
        }
        if cause::<legacy::Error>(&error).is_none_or(|error| !error.is_connect()) {
            let words = match &error {
                SdkError::TimeoutError(_) => {
                    format!("{operation}: no answer from {address} in time")
                }
                _ => format!("{operation}: no answer from {address}: {words}"),
            };
            let words = format!("{words} (the call may have taken effect)");
            return CloudError::new(Class::Unknown, "NoAnswer", words);
        }
        let region = &self.access().region;
        if is_unknown_host(&words) && address.contains(region.as_str()) {
            let words = format!(
                "there is no {address}: check the name of the region, {region}, and whether names \
                 can be looked up here"
            );
            return CloudError::new(Class::Fatal, "UnknownRegion", words);
        }
        // The TLS library says what is wrong in words only.
        let trouble = if words.contains("certificate") {
            "is not trusted"
        } else {
            "cannot be reached"
        };
        let words = format!("{address} {trouble}: {words} ({operation})");
        let words = match self.trust_complaint() {
            Some(complaint) => format!("{words} ({complaint})"),
            None => words,
        };
        CloudError::new(Class::Retryable, "NoConnection", words)
    }

    /// Where a service was called.
    fn address(&self, service: Service) -> String {
        let name = match service {
            Service::Ec2 => "EC2",
            Service::Elb => "Elastic Load Balancing",
            Service::Elbv2 => "Elastic Load Balancing v2",
            Service::Iam => "IAM",
            Service::Sts => "STS",
        };
        self.calls()
            .address(name)
            .unwrap_or_else(|| name.to_owned())
    }
}

/// AWS answered with an error.
fn answered(
    service: Service,
    (region, address): (&str, &str),
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
    let silent = format!("{address} answered without a message");
    let message = error.message().unwrap_or(&silent);
    errors::error(service, region, operation, status, code, message)
}

/// The call was not sent, because there was nothing to sign it with.
fn no_credentials(error: &CredentialsError) -> CloudError {
    if let Some(SdkError::ServiceError(refusal)) = cause::<SdkError<AssumeRoleError>>(error) {
        let status = refusal.raw().status().as_u16();
        return not_assumed("AssumeRole", status, refusal.err());
    }
    if let Some(SdkError::ServiceError(refusal)) = cause::<SdkError<WebIdentityError>>(error) {
        let status = refusal.raw().status().as_u16();
        return not_assumed("AssumeRoleWithWebIdentity", status, refusal.err());
    }
    let words = words_of(error);
    match error {
        // What was tried is a list of what is not set.
        CredentialsError::CredentialsNotLoaded(_) => {
            let message = "there are no credentials: give the operator's environment an identity, or the \
                 object an access key";
            CloudError::new(Class::Fatal, "NoCredentials", message)
        }
        CredentialsError::InvalidConfiguration(_) => {
            let message = format!("the credentials are configured wrongly ({words})");
            CloudError::new(Class::Fatal, "InvalidCredentials", message)
        }
        _ => {
            let message = match std::env::var(TOKEN_FILE) {
                Ok(path) if is_file_missing(error) => {
                    format!("the credentials cannot be had now ({TOKEN_FILE} is {path}: {words})")
                }
                _ => format!("the credentials cannot be had now ({words})"),
            };
            CloudError::new(Class::Retryable, "CredentialsUnavailable", message)
        }
    }
}

/// STS did not hand out the credentials of a role.
fn not_assumed(operation: &str, status: u16, refusal: &impl ProvideErrorMetadata) -> CloudError {
    let mut told = answered(Service::Sts, ("", "STS"), operation, status, refusal);
    told.message = format!("the role cannot be taken on: {}", told.message).into();
    told.code = format!("{}{}", errors::ASSUME_ROLE, told.code).into();
    // Nothing was sent but the question who we are.
    if told.class == Class::Unknown {
        told.class = Class::Retryable;
    }
    told
}

/// Whether a file could not be read.
fn is_file_missing(error: &(dyn Error + 'static)) -> bool {
    use std::io::ErrorKind::{NotFound, PermissionDenied};
    let kind = cause::<std::io::Error>(error).map(std::io::Error::kind);
    matches!(kind, Some(NotFound | PermissionDenied))
}

/// The variable that names the file of a web identity, which the SDK leaves unnamed where it fails.
const TOKEN_FILE: &str = "AWS_WEB_IDENTITY_TOKEN_FILE";

/// What the SDK and the HTTP client say of themselves, on the way to what happened.
const NOISE: [&str; 8] = [
    "an error occurred while loading credentials: ",
    "client error (Connect): ",
    "client error (SendRequest): ",
    "dispatch failure: ",
    "dns error: ",
    "io error: ",
    "tcp connect error: ",
    "TLS handshake failed: ",
];

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
    for noise in NOISE {
        words = words.replace(noise, "");
    }
    // `Connection refused (os error 111)`
    while let Some((before, after)) = words.split_once(" (os error ") {
        words = match after.split_once(')') {
            Some((_, after)) => format!("{before}{after}"),
            None => before.to_owned(),
        };
    }
    words.split_whitespace().collect::<Vec<_>>().join(" ")
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
    fn nothing_is_said_for_programmers() {
        let refused = std::io::Error::from_raw_os_error(111);
        let words = words_of(&CredentialsError::provider_error(refused));
        assert_eq!(words, "Connection refused");
        let lines = words_of(&CredentialsError::invalid_configuration("one:\n  two\n"));
        assert!(lines.ends_with("one: two"), "{lines}");
    }

    #[test]
    fn credentials_that_are_not_there_are_fatal_and_name_the_cure() {
        let error = no_credentials(&CredentialsError::not_loaded("nothing found"));
        assert_eq!(error.class, Class::Fatal);
        assert!(
            error.message.contains("the object an access key"),
            "{error}"
        );
    }

    #[test]
    fn credentials_that_cannot_be_had_now_are_asked_for_again() {
        let error = no_credentials(&CredentialsError::provider_error("the server is away"));
        assert_eq!(error.class, Class::Retryable);
        assert!(error.message.contains("the server is away"), "{error}");
    }
}
