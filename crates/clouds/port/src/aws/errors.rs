//! What the error codes of EC2, Elastic Load Balancing, IAM and STS mean: one table per service, and one
//! per Kind in its file.
//!
//! A code says what went wrong; its [`Class`] says what to do about it. Adapter and simulation read
//! the same tables, so what the explorer proved holds for the real account.

use ownership::error::Blocker;
use ownership::{Class, CloudError};

use super::CATALOGUE;
pub use crate::code::Code;

/// The AWS service that answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Service {
    /// Networks and what is in them.
    Ec2,
    /// Classic load balancers.
    Elb,
    /// Network and application load balancers.
    Elbv2,
    /// Identities.
    Iam,
    /// Who is calling, and as whom.
    Sts,
}

/// What a code means that belongs to one Kind of the service.
fn of_kind(service: Service, operation: &str, code: &str) -> Option<&'static Code> {
    let entries = CATALOGUE.iter().filter(|entry| entry.service == service);
    let mut codes = entries.flat_map(|entry| entry.codes);
    codes.find(|known| known.means(operation, code))
}

/// The class of an error code that `operation` was answered with; `None` if the tables lack it.
pub fn classify(service: Service, operation: &str, code: &str) -> Option<Class> {
    let known = of_kind(service, operation, code).map(|known| known.class.clone());
    known.or_else(|| common(code)).or_else(|| match service {
        Service::Ec2 => ec2(code),
        Service::Elb | Service::Elbv2 => elb(code),
        Service::Iam => iam(code),
        Service::Sts => sts(code),
    })
}

/// The quota that is used up, if a code says so: by its name in AWS' list of quotas.
pub fn quota(service: Service, operation: &str, code: &str) -> Option<&'static str> {
    of_kind(service, operation, code)?.quota
}

/// The error for an answer of AWS, which concerns this region.
///
/// A code that is in no table is retryable and says so. Unless the server failed: then nobody knows
/// whether the call took effect, so its class is [`Class::Unknown`].
pub fn error(
    service: Service,
    region: &str,
    operation: &str,
    status: u16,
    code: &str,
    message: &str,
) -> CloudError {
    if let Some(class) = classify(service, operation, code) {
        if let Some(quota) = quota(service, operation, code) {
            let message = format!(
                "{message} (the quota '{quota}' of {region} is used up: delete what nobody needs, or \
                 ask AWS for more)"
            );
            return CloudError::new(class, code, message);
        }
        let known = of_kind(service, operation, code);
        return match known.and_then(|known| known.advice).or_else(|| cure(code)) {
            Some(cure) => CloudError::new(class, code, format!("{message} ({cure})")),
            None => CloudError::new(class, code, message),
        };
    }
    let unknown = format!("Freehold does not know the code {code}");
    if status >= 500 {
        let message = format!("{message} ({unknown}: the call may have taken effect)");
        return CloudError::new(Class::Unknown, code, message);
    }
    CloudError::new(Class::Retryable, code, format!("{message} ({unknown})"))
}

/// The error for a deletion that AWS refused, with what must go first.
pub fn blocked(code: &str, message: &str, blockers: Vec<Blocker>) -> CloudError {
    CloudError::new(Class::Blocked(blockers), code, message)
}

/// What keeps us out of an account.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Culprit {
    /// The region: there is none of that name, or the account has not enabled it.
    Region,
    /// The role that is to be taken on.
    Role,
    /// The credentials.
    Credentials,
}

/// The adapter's code for a refusal of `AssumeRole`, before AWS's own.
pub const ASSUME_ROLE: &str = "AssumeRole.";

/// What keeps us out, if an error says that we are not let in at all.
pub fn culprit(error: &CloudError) -> Option<Culprit> {
    let (role, code) = match error.code.strip_prefix(ASSUME_ROLE) {
        Some(code) => (Some(Culprit::Role), code),
        None => (None, &*error.code),
    };
    match code {
        "InvalidRegion" | "UnknownRegion" | "OptInRequired" | "RegionDisabledException" => {
            Some(Culprit::Region)
        }
        "InvalidRoleArn" => Some(Culprit::Role),
        "AuthFailure"
        | "HTTP 401"
        | "HTTP 403"
        | "IncompleteSignature"
        | "InvalidAccessKey"
        | "InvalidClientTokenId"
        | "InvalidCredentials"
        | "MissingAuthenticationToken"
        | "NoCredentials"
        | "SignatureDoesNotMatch"
        | "UnrecognizedClientException" => Some(Culprit::Credentials),
        _ => role,
    }
    .filter(|_| error.class == Class::Fatal)
}

/// What a person can do about an answer that AWS gives to everybody whom it does not trust.
fn cure(code: &str) -> Option<&'static str> {
    Some(match code {
        "AuthFailure"
        | "InvalidClientTokenId"
        | "MissingAuthenticationToken"
        | "UnrecognizedClientException" => {
            "check the access key, and that the region is enabled for its account"
        }
        "SignatureDoesNotMatch" | "IncompleteSignature" => "check the secret access key",
        "HTTP 401" | "HTTP 403" => {
            "check the access key, and what stands between this operator and AWS"
        }
        "OptInRequired" | "RegionDisabledException" => {
            "enable the region for the account, or use another"
        }
        "AccessDenied" | "AccessDeniedException" | "NotAuthorized" | "UnauthorizedOperation" => {
            "give the identity that calls a policy which allows it"
        }
        _ => return None,
    })
}

/// Codes that every service answers with.
fn common(code: &str) -> Option<Class> {
    Some(match code {
        "Throttling"
        | "ThrottlingException"
        | "ThrottledException"
        | "RequestLimitExceeded"
        | "RequestThrottled"
        | "TooManyRequestsException"
        | "SlowDown"
        | "BandwidthLimitExceeded" => Class::Throttled,
        "InternalError"
        | "InternalFailure"
        | "ServiceFailure"
        | "ServiceUnavailable"
        | "ServiceUnavailableException"
        | "Unavailable"
        | "RequestTimeout"
        | "RequestTimeoutException" => Class::Unknown,
        // Cured by fresh credentials or a corrected clock, without anybody changing the object.
        "ExpiredToken"
        | "ExpiredTokenException"
        | "InvalidSecurity.RequestHasExpired"
        | "RequestExpired"
        | "RequestInTheFuture" => Class::Retryable,
        "AccessDenied"
        | "AccessDeniedException"
        | "AuthFailure"
        | "IncompleteSignature"
        | "InvalidClientTokenId"
        | "MissingAuthenticationToken"
        | "NotAuthorized"
        | "SignatureDoesNotMatch"
        | "UnrecognizedClientException"
        | "OptInRequired"
        | "PendingVerification"
        | "UnauthorizedOperation"
        | "ValidationError"
        | "InvalidAction"
        | "InvalidParameterCombination"
        | "InvalidParameterValue"
        | "MissingParameter"
        | "UnknownParameter"
        | "MalformedQueryString" => Class::Fatal,
        _ => return None,
    })
}

fn ec2(code: &str) -> Option<Class> {
    Some(match code {
        "IdempotentParameterMismatch" => Class::TokenMismatch,
        "DependencyViolation" | "TagLimitExceeded" => Class::Blocked(Vec::new()),
        "InvalidParameter"
        | "InvalidInput"
        | "OperationNotPermitted"
        | "InvalidID"
        | "UnsupportedOperation" => Class::Fatal,
        "IncorrectState" | "ConcurrentTagAccess" | "InsufficientAddressCapacity" => {
            Class::Retryable
        }
        // EC2 has hundreds of these, all alike: `Invalid<Resource>ID.NotFound` and so on.
        _ if code.ends_with(".NotFound") => Class::NotFound,
        _ if code.ends_with(".Duplicate") => Class::Exists,
        _ if code.ends_with(".Malformed") || code.ends_with("Malformed") => Class::Fatal,
        _ if code.ends_with("LimitExceeded") => Class::Fatal,
        _ => return None,
    })
}

/// Both APIs of Elastic Load Balancing have the same names for the same.
fn elb(code: &str) -> Option<Class> {
    Some(match code {
        "LoadBalancerNotFound" | "SubnetNotFound" => Class::NotFound,
        "ResourceInUse" | "TooManyTags" => Class::Blocked(Vec::new()),
        "AvailabilityZoneNotSupported"
        | "DuplicateTagKeys"
        | "InvalidConfigurationRequest"
        | "InvalidInput"
        | "InvalidSecurityGroup"
        | "InvalidSubnet"
        | "OperationNotPermitted"
        | "UnsupportedProtocol" => Class::Fatal,
        "DependencyThrottle" => Class::Throttled,
        _ => return None,
    })
}

fn iam(code: &str) -> Option<Class> {
    Some(match code {
        "EntityAlreadyExists" => Class::Exists,
        "NoSuchEntity" => Class::NotFound,
        "DeleteConflict" => Class::Blocked(Vec::new()),
        "LimitExceeded" | "InvalidInput" | "InvalidUserType" => Class::Fatal,
        "ConcurrentModification" | "EntityTemporarilyUnmodifiable" => Class::Retryable,
        _ => return None,
    })
}

fn sts(code: &str) -> Option<Class> {
    Some(match code {
        "InvalidIdentityToken"
        | "MalformedPolicyDocument"
        | "PackedPolicyTooLarge"
        | "RegionDisabledException" => Class::Fatal,
        // Refused without a word: who asks is not let in.
        "HTTP 401" | "HTTP 403" => Class::Fatal,
        "IDPCommunicationError" => Class::Retryable,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn law_9_each_code_has_the_class_of_what_it_means() {
        let cases = [
            (
                Service::Ec2,
                "DeleteVpc",
                "DependencyViolation",
                Class::Blocked(vec![]),
            ),
            (
                Service::Ec2,
                "CreateTags",
                "TagLimitExceeded",
                Class::Blocked(vec![]),
            ),
            (
                Service::Ec2,
                "CreateSecurityGroup",
                "InvalidGroup.Duplicate",
                Class::Exists,
            ),
            (
                Service::Ec2,
                "DescribeSecurityGroups",
                "InvalidGroup.NotFound",
                Class::NotFound,
            ),
            (
                Service::Ec2,
                "DeleteSubnet",
                "InvalidSubnetID.NotFound",
                Class::NotFound,
            ),
            (Service::Ec2, "CreateVpc", "VpcLimitExceeded", Class::Fatal),
            (
                Service::Ec2,
                "CreateRouteTable",
                "IdempotentParameterMismatch",
                Class::TokenMismatch,
            ),
            (
                Service::Ec2,
                "CreateVpc",
                "RequestLimitExceeded",
                Class::Throttled,
            ),
            (Service::Ec2, "CreateVpc", "InternalError", Class::Unknown),
            (
                Service::Ec2,
                "CreateVpc",
                "UnauthorizedOperation",
                Class::Fatal,
            ),
            (
                Service::Iam,
                "CreateRole",
                "EntityAlreadyExists",
                Class::Exists,
            ),
            (Service::Iam, "GetRole", "NoSuchEntity", Class::NotFound),
            (
                Service::Iam,
                "DeleteRole",
                "DeleteConflict",
                Class::Blocked(vec![]),
            ),
            (Service::Iam, "CreateRole", "LimitExceeded", Class::Fatal),
            (
                Service::Iam,
                "AddRoleToInstanceProfile",
                "LimitExceeded",
                Class::Exists,
            ),
            (
                Service::Iam,
                "DeleteRole",
                "ConcurrentModification",
                Class::Retryable,
            ),
            (Service::Iam, "GetRole", "Throttling", Class::Throttled),
            (
                Service::Iam,
                "TagRole",
                "LimitExceeded",
                Class::Blocked(vec![]),
            ),
            (Service::Iam, "GetRole", "NotAuthorized", Class::Fatal),
            (
                Service::Ec2,
                "CreateSubnet",
                "InvalidZone.NotFound",
                Class::Fatal,
            ),
            (Service::Sts, "AssumeRole", "AccessDenied", Class::Fatal),
            (
                Service::Sts,
                "GetCallerIdentity",
                "InvalidClientTokenId",
                Class::Fatal,
            ),
            (
                Service::Sts,
                "AssumeRole",
                "RegionDisabledException",
                Class::Fatal,
            ),
            (
                Service::Sts,
                "AssumeRole",
                "IDPCommunicationError",
                Class::Retryable,
            ),
            (
                Service::Sts,
                "AssumeRole",
                "ExpiredTokenException",
                Class::Retryable,
            ),
        ];
        for (service, operation, code, class) in cases {
            assert_eq!(
                classify(service, operation, code),
                Some(class),
                "{operation} {code}"
            );
        }
    }

    #[test]
    fn one_services_codes_mean_nothing_in_the_other() {
        assert_eq!(
            classify(Service::Iam, "GetRole", "DependencyViolation"),
            None
        );
        assert_eq!(classify(Service::Ec2, "DeleteVpc", "NoSuchEntity"), None);
    }

    #[test]
    fn no_two_kinds_give_one_answer_two_meanings() {
        for service in [
            Service::Ec2,
            Service::Elb,
            Service::Elbv2,
            Service::Iam,
            Service::Sts,
        ] {
            let entries = CATALOGUE.iter().filter(|entry| entry.service == service);
            let codes: Vec<&Code> = entries.flat_map(|entry| entry.codes).collect();
            for (at, known) in codes.iter().enumerate() {
                let same = |other: &&&Code| {
                    let one = (known.operation, other.operation);
                    known.text == other.text
                        && (known.operation == other.operation
                            || matches!(one, (None, _) | (_, None)))
                };
                assert!(
                    !codes[..at].iter().any(|other| same(&other)),
                    "{}",
                    known.text
                );
            }
        }
    }

    #[test]
    fn a_kinds_own_code_comes_with_its_advice() {
        let zone = error(
            Service::Ec2,
            "eu-central-1",
            "CreateSubnet",
            400,
            "InvalidZone.NotFound",
            "No.",
        );
        assert!(zone.message.contains("a zone of the region"), "{zone}");
    }

    #[test]
    fn a_quota_is_told_with_its_name_and_region() {
        let code = "VpcLimitExceeded";
        let full = error(Service::Ec2, "eu-central-1", "CreateVpc", 400, code, "No.");
        assert_eq!(full.class, Class::Fatal);
        let said = "the quota 'VPCs per Region' of eu-central-1 is used up";
        assert!(full.message.contains(said), "{full}");
        assert!(full.message.contains("ask AWS for more"), "{full}");
    }

    #[test]
    fn an_unknown_code_is_retryable_and_says_so() {
        let error = error(
            Service::Ec2,
            "",
            "CreateVpc",
            400,
            "Novelty",
            "Something new.",
        );
        assert_eq!(error.class, Class::Retryable);
        assert_eq!(&*error.code, "Novelty");
        assert!(
            error.message.contains("does not know the code Novelty"),
            "{}",
            error.message
        );
    }

    #[test]
    fn who_is_not_trusted_is_told_the_cure() {
        let words = |code| {
            error(Service::Ec2, "", "DescribeVpcs", 401, code, "No.")
                .message
                .to_string()
        };
        assert!(words("AuthFailure").contains("check the access key"));
        assert!(words("SignatureDoesNotMatch").contains("check the secret access key"));
        assert!(words("UnauthorizedOperation").contains("a policy which allows it"));
        assert!(words("OptInRequired").contains("enable the region"));
        assert_eq!(words("InvalidParameterValue"), "No.");
    }

    #[test]
    fn a_failed_server_leaves_the_outcome_unknown() {
        let unknown = error(Service::Iam, "", "CreateRole", 500, "Novelty", "Oops.");
        assert_eq!(unknown.class, Class::Unknown);
        assert!(!unknown.is_refusal());
        let throttled = error(
            Service::Ec2,
            "",
            "CreateVpc",
            503,
            "RequestLimitExceeded",
            "Slow.",
        );
        assert_eq!(throttled.class, Class::Throttled);
    }
}
