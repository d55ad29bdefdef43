//! AWS: how each of its Kinds appears in the real account, and what it does there. A file per Kind, and
//! a row in one table.
//!
//! Everything that a Kind's declaration says is followed from there. The rows and models hold the rest;
//! a synthetic Kind gets the row [`OTHER`].

mod classic_load_balancer;
mod elastic_ip;
pub(crate) mod instance;
mod instance_profile;
mod internet_gateway;
mod load_balancer;
mod nat_gateway;
mod network;
mod network_load_balancer;
mod role;
mod route_table;
mod security_group;
mod subnet;
mod target_group;
mod vpc;

use cloud_port::aws::image::ImageQuery;
use cloud_port::aws::{self as kinds, AwsPlace, KINDS, errors};
use ownership::time::Millis;
use ownership::{CloudError, Kind, Text};

use crate::provider::{InnerRow, Plain, Provider, Row, Service, Told};
use crate::settings::Pace;
use crate::shared::SharedAccount;

/// AWS, as a new account finds it.
pub static AWS: Provider = Provider {
    rows: &ROWS,
    other: &OTHER,
    furnish: |account| account.make_default_vpc(),
    foreign_id: |noun| match noun {
        "network interface" => "eni-",
        _ => "use-",
    },
};

/// The rows of the Kinds of AWS.
static ROWS: [(&Kind, &Row); KINDS.len()] = [
    (&kinds::vpc::VPC, &vpc::ROW),
    (&kinds::route_table::ROUTE_TABLE, &route_table::ROW),
    (&kinds::subnet::SUBNET, &subnet::ROW),
    (
        &kinds::internet_gateway::INTERNET_GATEWAY,
        &internet_gateway::ROW,
    ),
    (&kinds::elastic_ip::ELASTIC_IP, &elastic_ip::ROW),
    (&kinds::nat_gateway::NAT_GATEWAY, &nat_gateway::ROW),
    (&kinds::security_group::SECURITY_GROUP, &security_group::ROW),
    (&kinds::role::ROLE, &role::ROW),
    (
        &kinds::instance_profile::INSTANCE_PROFILE,
        &instance_profile::ROW,
    ),
    (
        &kinds::classic_load_balancer::CLASSIC_LOAD_BALANCER,
        &classic_load_balancer::ROW,
    ),
    (&kinds::target_group::TARGET_GROUP, &target_group::ROW),
    (
        &kinds::network_load_balancer::NETWORK_LOAD_BALANCER,
        &network_load_balancer::ROW,
    ),
    (&kinds::instance::INSTANCE, &instance::ROW),
];

/// How long what takes its time takes in a real account, for [`Settings::paces`](crate::Settings).
pub fn paces() -> Vec<(&'static Kind, Pace)> {
    let pace = |comes, goes| Pace {
        comes: Millis::seconds(comes),
        goes: Millis::seconds(goes),
        ..Pace::default()
    };
    vec![
        (&kinds::nat_gateway::NAT_GATEWAY, pace(100, 50)),
        (
            &kinds::network_load_balancer::NETWORK_LOAD_BALANCER,
            pace(120, 0),
        ),
        (&kinds::instance::INSTANCE, pace(20, 40)),
    ]
}

/// Where quotas are used up.
const REGION: &str = "the region";

/// How many items one page of a long listing holds: as many as the adapter asks for.
const PAGE: usize = 1000;
/// And where it does not say.
const SHORT_PAGE: usize = 100;

static EC2: Service = Service {
    name: "ec2",
    is_global: false,
    finds_names: false,
    filters: true,
    tags_by_key: false,
    folds_case: false,
    error: |operation, code, message| {
        errors::error(errors::Service::Ec2, REGION, operation, 400, code, message)
    },
    throttled: "RequestLimitExceeded",
    invalid: "InvalidParameterValue",
    missing: "MissingParameter",
    unknown: "UnknownParameter",
    unsupported: "UnsupportedOperation",
    not_together: "InvalidParameterCombination",
    token_mismatch: "IdempotentParameterMismatch",
};

static IAM: Service = Service {
    name: "iam",
    is_global: true,
    finds_names: true,
    filters: false,
    tags_by_key: true,
    folds_case: true,
    error: |operation, code, message| {
        errors::error(errors::Service::Iam, REGION, operation, 400, code, message)
    },
    throttled: "Throttling",
    invalid: "ValidationError",
    ..EC2
};

/// Classic load balancers.
static ELB: Service = Service {
    name: "elasticloadbalancing",
    finds_names: true,
    filters: false,
    tags_by_key: true,
    error: |operation, code, message| {
        errors::error(errors::Service::Elb, REGION, operation, 400, code, message)
    },
    throttled: "Throttling",
    invalid: "ValidationError",
    ..EC2
};

/// Network load balancers.
static ELBV2: Service = Service {
    error: |operation, code, message| {
        errors::error(
            errors::Service::Elbv2,
            REGION,
            operation,
            400,
            code,
            message,
        )
    },
    ..ELB
};

impl AwsPlace for SharedAccount {
    fn partition(&self) -> &'static str {
        "aws"
    }

    fn account(&self) -> &'static str {
        self.number
    }

    fn region(&self) -> &'static str {
        self.region
    }

    async fn zones(&self) -> Result<Vec<Text>, CloudError> {
        Ok(self.lock().zones())
    }

    async fn image(&self, query: &ImageQuery) -> Result<Option<Text>, CloudError> {
        self.lock().image(query)
    }
}

static OTHER: Row = Row {
    model: &Plain,
    service: &EC2,
    prefix: "res-",
    unique: "UNIQUE",
    not_found: "InvalidResourceID.NotFound",
    duplicate: "InvalidResource.Duplicate",
    over_quota: "ResourceLimitExceeded",
    blocked: "DependencyViolation",
    tags_full: "TagLimitExceeded",
    get: EC2.reads("GetResource"),
    list: EC2.lists("ListResources", PAGE),
    create: EC2.writes("CreateResource"),
    update: EC2.writes("UpdateResource"),
    delete: EC2.writes("DeleteResource"),
    tag: EC2.writes("TagResource"),
    untag: EC2.writes("UntagResource"),
    shows_tags: None,
    forgives: false,
    quota: usize::MAX,
    quota_within: None,
    inner: &[],
    other_inner: &OTHER_PART,
};

static OTHER_PART: InnerRow = InnerRow {
    prefix: "",
    list: EC2.lists("ListParts", PAGE),
    list_calls: 1,
    get: None,
    add: EC2.writes("AddPart"),
    remove: EC2.writes("RemovePart"),
    duplicate: "InvalidPart.Duplicate",
    not_found: "InvalidPart.NotFound",
    id_not_found: "InvalidPart.NotFound",
    full: "InvalidPart.Duplicate",
    quota: usize::MAX,
    told: Told::Never,
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_and_inner_kind_has_a_row() {
        for kind in KINDS {
            assert!(AWS.kinds().any(|known| known == kind), "{}", kind.name);
            assert_eq!(AWS.row(kind).inner.len(), kind.inner.len(), "{}", kind.name);
        }
    }
}
