//! What the error codes of EC2, IAM and STS mean: one table a service.
//!
//! A code says what went wrong; its [`Class`] says what to do about it. Adapter and simulation read
//! the same tables, so what the explorer proved holds for the real account.

use ownership::error::Blocker;
use ownership::{Class, CloudError};

/// The AWS service that answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Service {
    /// Networks and what is in them.
    Ec2,
    /// Identities.
    Iam,
    /// Who is calling, and as whom.
    Sts,
}

/// The class of an error code that `operation` was answered with; `None` if the tables lack it.
pub fn classify(service: Service, operation: &str, code: &str) -> Option<Class> {
    common(code).or_else(|| match service {
        Service::Ec2 => ec2(code),
        Service::Iam => iam(operation, code),
        Service::Sts => sts(code),
    })
}

/// The error for an answer of AWS.
///
/// A code that is in no table is retryable and says so. Unless the server failed: then nobody knows
/// whether the call took effect, so its class is [`Class::Unknown`].
pub fn error(
    service: Service,
    operation: &str,
    status: u16,
    code: &str,
    message: &str,
) -> CloudError {
    if let Some(class) = classify(service, operation, code) {
        return match cure(code) {
            Some(cure) => CloudError::new(class, code, format!("{message} ({cure})")),
            None => CloudError::new(class, code, message),
        };
    }
    let (class, meaning) = if status >= 500 {
        (Class::Unknown, "the call may have taken effect")
    } else {
        (Class::Retryable, "it will be tried again")
    };
    let message = format!("{message} (Freehold does not know the code {code}: {meaning})");
    CloudError::new(class, code, message)
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
        "InvalidGroup.InUse" => Class::Blocked(Vec::new()),
        "InvalidGroup.Duplicate" | "InvalidPermission.Duplicate" => Class::Exists,
        "CannotDelete"
        | "InvalidGroup.Reserved"
        | "InvalidPermission.Malformed"
        | "InvalidVpc.Range"
        | "InvalidSubnet.Range"
        | "InvalidSubnet.Conflict"
        | "InvalidParameter"
        | "InvalidInput"
        | "InvalidAvailabilityZone"
        | "InvalidZone.NotFound"
        | "OperationNotPermitted"
        | "InvalidID"
        | "UnsupportedOperation"
        | "VPCIdNotSpecified"
        | "DefaultVpcAlreadyExists" => Class::Fatal,
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

fn iam(operation: &str, code: &str) -> Option<Class> {
    Some(match (operation, code) {
        // A profile holds one role. The one that is there may be the very one we wanted, put there
        // by a call whose answer was lost: look again.
        ("AddRoleToInstanceProfile", "LimitExceeded") => Class::Exists,
        // The resource that is marked already holds as many tags as it can.
        ("TagRole" | "TagInstanceProfile", "LimitExceeded") => Class::Blocked(Vec::new()),
        (_, "EntityAlreadyExists") => Class::Exists,
        (_, "NoSuchEntity") => Class::NotFound,
        (_, "DeleteConflict") => Class::Blocked(Vec::new()),
        (
            _,
            "LimitExceeded"
            | "InvalidInput"
            | "MalformedPolicyDocument"
            | "PolicyNotAttachable"
            | "UnmodifiableEntity"
            | "InvalidUserType",
        ) => Class::Fatal,
        (_, "ConcurrentModification" | "EntityTemporarilyUnmodifiable") => Class::Retryable,
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
    fn an_unknown_code_is_retryable_and_says_so() {
        let error = error(Service::Ec2, "CreateVpc", 400, "Novelty", "Something new.");
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
            error(Service::Ec2, "DescribeVpcs", 401, code, "No.")
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
        let unknown = error(Service::Iam, "CreateRole", 500, "Novelty", "Oops.");
        assert_eq!(unknown.class, Class::Unknown);
        assert!(!unknown.is_refusal());
        let throttled = error(
            Service::Ec2,
            "CreateVpc",
            503,
            "RequestLimitExceeded",
            "Slow.",
        );
        assert_eq!(throttled.class, Class::Throttled);
    }
}
