//! What the answers of IBM Cloud's services mean: one table per service, and one per Kind in its file.
//!
//! Few services have codes for all of their refusals. Where one has none, its HTTP status stands for it, as
//! the adapter writes it: `HTTP 404`.

use ownership::{Class, CloudError};

use super::CATALOGUE;
use crate::code::Code;

/// The service that answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Service {
    /// Instances of services: workspaces, COS instances.
    ResourceController,
    /// Power Virtual Server: networks and DHCP servers.
    Power,
    /// VPCs and what is in them.
    Vpc,
    /// Transit gateways.
    TransitGateway,
    /// Buckets.
    ObjectStorage,
    /// Tags.
    Tagging,
    /// What is there, by its tags.
    Search,
    /// Who is calling.
    Iam,
}

fn of_kind(service: Service, operation: &str, code: &str) -> Option<&'static Code> {
    let entries = CATALOGUE.iter().filter(|entry| entry.service == service);
    let mut codes = entries.flat_map(|entry| entry.codes);
    codes.find(|known| known.means(operation, code))
}

/// The class of an error code that `operation` was answered with; `None` if the tables lack it.
pub fn classify(service: Service, operation: &str, code: &str) -> Option<Class> {
    let known = of_kind(service, operation, code).map(|known| known.class.clone());
    known
        .or_else(|| match service {
            Service::Vpc | Service::TransitGateway => network(code),
            Service::Power => power(code),
            Service::ObjectStorage => storage(code),
            Service::Iam => iam(code),
            // They have no codes of their own.
            Service::ResourceController | Service::Tagging | Service::Search => None,
        })
        .or_else(|| status(code))
}

/// The error for an answer of IBM Cloud, with the id of the transaction that its support asks for.
///
/// A code that is in no table counts as its HTTP status does. Where that says nothing either, it is
/// retryable and says so.
pub fn error(
    service: Service,
    operation: &str,
    status: u16,
    code: &str,
    message: &str,
    transaction: Option<&str>,
) -> CloudError {
    let message = match transaction {
        Some(id) => format!("{message} (transaction {id})"),
        None => message.to_owned(),
    };
    if let Some(class) = classify(service, operation, code) {
        let known = of_kind(service, operation, code);
        let cure = match known.and_then(|known| known.quota) {
            Some(quota) => Some(format!(
                "the quota '{quota}' is used up: delete what nobody needs, or ask IBM for more"
            )),
            None => known
                .and_then(|known| known.advice)
                .or_else(|| cure(code))
                .map(ToOwned::to_owned),
        };
        let message = match cure {
            Some(cure) => format!("{message} ({cure})"),
            None => message,
        };
        return CloudError::new(class, code, message);
    }
    let by_status = self::status(&format!("HTTP {status}"));
    let class = by_status.unwrap_or(Class::Retryable);
    let unknown = format!("Freehold does not know the code {code}");
    CloudError::new(class, code, format!("{message} ({unknown})"))
}

/// What keeps us out, if an error says that we are not let in at all: the API key.
pub fn is_refused_key(error: &CloudError) -> bool {
    let codes = ["BXNIM0415E", "BXNIM0462E", "BXNIM0109E", "HTTP 401"];
    error.class == Class::Fatal && codes.contains(&&*error.code)
}

/// What a person can do about an answer that IBM Cloud gives to everybody whom it does not trust.
fn cure(code: &str) -> Option<&'static str> {
    Some(match code {
        "BXNIM0415E" => "check the API key: IBM Cloud knows none like it",
        "BXNIM0462E" | "BXNIM0109E" => "check that the API key is not disabled or locked",
        "HTTP 401" | "token_invalid" | "token_missing" => "check the API key",
        "HTTP 403" | "not_authorized" => {
            "give the identity of the API key an access policy which allows it"
        }
        _ => return None,
    })
}

/// What the status of an answer says where nothing else does.
fn status(code: &str) -> Option<Class> {
    let status: u16 = code.strip_prefix("HTTP ")?.parse().ok()?;
    Some(match status {
        404 | 410 => Class::NotFound,
        408 | 500..=599 => Class::Unknown,
        // Something else is being done there.
        409 | 412 | 423 => Class::Retryable,
        429 => Class::Throttled,
        400..=499 => Class::Fatal,
        _ => return None,
    })
}

/// VPC and the transit gateways answer with codes of one style.
fn network(code: &str) -> Option<Class> {
    Some(match code {
        "validation_unique_failed" | "name_not_unique" => Class::Exists,
        "not_found" => Class::NotFound,
        "vpc_in_use" | "vpc_not_empty" => Class::Blocked(Vec::new()),
        "over_quota" | "bad_field" | "not_authorized" | "token_invalid" | "token_missing" => {
            Class::Fatal
        }
        "service_error" | "internal_error" => Class::Unknown,
        "rate_limit_exceeded" | "too_many_requests" => Class::Throttled,
        _ if code.ends_with("_not_found") => Class::NotFound,
        _ if code.contains("_in_use") || code.contains("_not_empty") => Class::Blocked(Vec::new()),
        _ if code.ends_with("_over_quota") || code.ends_with("_exceeded") => Class::Fatal,
        _ if code.starts_with("validation_") => Class::Fatal,
        _ => return None,
    })
}

/// The Power API answers with the words of its status.
fn power(code: &str) -> Option<Class> {
    Some(match code {
        "Not Found" | "Gone" => Class::NotFound,
        // Machines are in the network, or something else is being done to it.
        "Conflict" => Class::Blocked(Vec::new()),
        "Bad Request" | "Unauthorized" | "Forbidden" | "Unprocessable Entity" => Class::Fatal,
        "Too Many Requests" => Class::Throttled,
        "Internal Server Error" | "Gateway Timeout" | "Service Unavailable" => Class::Unknown,
        _ => return None,
    })
}

fn storage(code: &str) -> Option<Class> {
    Some(match code {
        "BucketNotEmpty" => Class::Retryable,
        "AccessDenied" | "InvalidBucketName" => Class::Fatal,
        "SlowDown" => Class::Throttled,
        _ => return None,
    })
}

fn iam(code: &str) -> Option<Class> {
    // Keys that there are none of, that are disabled, and that are locked.
    code.starts_with("BXNIM").then_some(Class::Fatal)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn law_9_each_code_has_the_class_of_what_it_means() {
        let blocked = || Class::Blocked(vec![]);
        let cases = [
            (
                Service::Vpc,
                "CreateVpc",
                "validation_unique_failed",
                Class::Exists,
            ),
            (Service::Vpc, "DeleteVpc", "vpc_in_use", blocked()),
            (
                Service::Vpc,
                "DeleteSubnet",
                "subnet_in_use_network_interface_exists",
                blocked(),
            ),
            (
                Service::Vpc,
                "DeleteSubnet",
                "subnet_not_empty_loadbalancer_exists",
                blocked(),
            ),
            (
                Service::Vpc,
                "CreateLoadBalancerPool",
                "load_balancer_update_conflict",
                Class::Retryable,
            ),
            (Service::Vpc, "GetVpc", "not_found", Class::NotFound),
            (Service::Power, "CreateDhcp", "Conflict", Class::Exists),
            (Service::Power, "DeleteDhcp", "Conflict", blocked()),
            (
                Service::ResourceController,
                "GetResourceInstance",
                "HTTP 404",
                Class::NotFound,
            ),
            (
                Service::ResourceController,
                "CreateResourceInstance",
                "HTTP 503",
                Class::Unknown,
            ),
            (Service::Tagging, "AttachTag", "HTTP 429", Class::Throttled),
            (Service::Tagging, "AttachTag", "HTTP 400", Class::Fatal),
            (
                Service::TransitGateway,
                "CreateTransitGateway",
                "HTTP 409",
                Class::Exists,
            ),
            (
                Service::TransitGateway,
                "DeleteTransitGateway",
                "HTTP 409",
                blocked(),
            ),
            (
                Service::TransitGateway,
                "CreateTransitGatewayConnection",
                "HTTP 409",
                Class::Exists,
            ),
            (Service::Iam, "GetToken", "BXNIM0415E", Class::Fatal),
        ];
        for (service, operation, code, class) in cases {
            let error = error(service, operation, 409, code, "no", None);
            assert_eq!(error.class, class, "{operation}: {code}");
        }
    }

    #[test]
    fn an_error_names_the_transaction_and_the_cure() {
        let error = error(
            Service::Iam,
            "GetToken",
            400,
            "BXNIM0415E",
            "Provided API key could not be found.",
            Some("iam-1"),
        );
        assert!(is_refused_key(&error));
        let words = error.to_string();
        assert!(words.contains("(transaction iam-1)") && words.contains("check the API key"));
        let quota = super::error(Service::Vpc, "CreateVpc", 400, "vpc_over_quota", "no", None);
        assert!(quota.to_string().contains("'VPCs per region' is used up"));
    }

    #[test]
    fn a_code_that_nobody_knows_counts_as_its_status() {
        let of = |status| error(Service::Vpc, "CreateVpc", status, "new_words", "no", None);
        assert_eq!(of(500).class, Class::Unknown);
        assert_eq!(of(429).class, Class::Throttled);
        assert_eq!(of(422).class, Class::Fatal);
        assert_eq!(of(302).class, Class::Retryable);
        assert!(
            of(500)
                .to_string()
                .contains("does not know the code new_words")
        );
    }
}
