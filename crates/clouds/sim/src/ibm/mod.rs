//! IBM Cloud: how each of its Kinds appears in the real account, and what it does there. A file per Kind,
//! and a row in one table.
//!
//! Tags are not the services': all of them are written by global tagging and told by global search, which
//! lag behind. VPC is in a region; everything else is in the whole account.

mod cos_instance;
mod crn;
mod power_network;
mod transit_gateway;
mod vpc;
mod vpc_load_balancer;
mod vpc_security_group;
mod vpc_subnet;
mod workspace;

use cloud_port::ibm::{self as kinds, IbmPlace, KINDS, errors};
use ownership::time::Millis;
use ownership::{CloudError, Kind, Text};

use crate::op::Op;
use crate::provider::{InnerRow, Plain, Provider, Row, Service, Told};
use crate::settings::{Pace, Settings};
use crate::shared::SharedAccount;

/// IBM Cloud, as a new account finds it.
pub static IBM: Provider = Provider {
    rows: &ROWS,
    other: &OTHER,
    furnish: |_| {},
    foreign_id: |noun| match noun {
        "public gateway" => "r006-pgw-",
        "network interface" => "0717-vnic-",
        _ => "use-",
    },
};

/// The rows of the Kinds of IBM Cloud.
static ROWS: [(&Kind, &Row); KINDS.len()] = [
    (&kinds::workspace::WORKSPACE, &workspace::ROW),
    (&kinds::power_network::POWER_NETWORK, &power_network::ROW),
    (&kinds::vpc::VPC, &vpc::ROW),
    (&kinds::vpc_subnet::VPC_SUBNET, &vpc_subnet::ROW),
    (
        &kinds::vpc_security_group::VPC_SECURITY_GROUP,
        &vpc_security_group::ROW,
    ),
    (
        &kinds::vpc_load_balancer::VPC_LOAD_BALANCER,
        &vpc_load_balancer::ROW,
    ),
    (
        &kinds::transit_gateway::TRANSIT_GATEWAY,
        &transit_gateway::ROW,
    ),
    (&kinds::cos_instance::COS_INSTANCE, &cos_instance::ROW),
];

impl Settings {
    /// A fresh account of IBM Cloud that answers at once and never lags or throttles.
    pub fn ibm() -> Self {
        Self {
            provider: &IBM,
            number: "7f75c7b025e54bc5635f754b2f888665",
            region: "us-south",
            ..Self::default()
        }
    }
}

/// The regions of VPC that there are.
const REGIONS: [&str; 4] = ["eu-de", "us-east", "us-south", "jp-tok"];

/// The resource groups of every account: name and id, the default one first.
const GROUPS: [(&str, &str); 2] = [
    ("Default", "2f1c3d4e5a6b47c8"),
    ("platform", "9b8a7c6d5e4f4321"),
];

impl IbmPlace for SharedAccount {
    fn account_id(&self) -> &'static str {
        self.number
    }

    async fn vpc_zones(&self, region: &str) -> Result<Vec<Text>, CloudError> {
        let known = REGIONS.contains(&region);
        let zones = (1..=3).filter(|_| known);
        Ok(zones
            .map(|number| format!("{region}-{number}").into())
            .collect())
    }

    async fn resource_group(&self, name: Option<&str>) -> Result<Option<Text>, CloudError> {
        let mut groups = GROUPS.iter();
        let found = groups.find(|(known, _)| name.is_none_or(|name| name == *known));
        Ok(found.map(|(_, id)| (*id).into()))
    }
}

/// How long what takes its time takes in a real account, for [`Settings::paces`].
pub fn paces() -> Vec<(&'static Kind, Pace)> {
    let pace = |comes, goes| Pace {
        comes: Millis::seconds(comes),
        goes: Millis::seconds(goes),
        ..Pace::default()
    };
    let network = Pace {
        hides: true,
        names_operations: true,
        ..pace(240, 60)
    };
    vec![
        (&kinds::workspace::WORKSPACE, pace(150, 90)),
        (&kinds::power_network::POWER_NETWORK, network),
        (&kinds::vpc_load_balancer::VPC_LOAD_BALANCER, pace(200, 90)),
        (&kinds::transit_gateway::TRANSIT_GATEWAY, pace(40, 30)),
        (&kinds::cos_instance::COS_INSTANCE, pace(10, 20)),
    ]
}

/// How many items one page of a listing of VPC holds, and of a search.
const PAGE: usize = 100;

/// Tags are attached and detached by one service, for the resources of all.
const ATTACH: Op = Op::new("global-tagging", "AttachTag", false, 1);
const DETACH: Op = Op::new("global-tagging", "DetachTag", false, 1);
/// And told by another one.
const SEARCH: Op = Op::new("global-search", "Search", true, PAGE);

static VPC: Service = Service {
    name: "is",
    is_global: false,
    finds_names: false,
    filters: true,
    tags_by_key: false,
    folds_case: false,
    error: |operation, code, message| refuse(errors::Service::Vpc, operation, code, message),
    throttled: "HTTP 429",
    invalid: "HTTP 400",
    missing: "HTTP 400",
    unknown: "HTTP 400",
    unsupported: "HTTP 405",
    not_together: "HTTP 400",
    token_mismatch: "HTTP 400",
};

static POWER: Service = Service {
    name: "power-iaas",
    is_global: true,
    error: |operation, code, message| refuse(errors::Service::Power, operation, code, message),
    ..VPC
};

static TRANSIT: Service = Service {
    name: "transit",
    is_global: true,
    error: |operation, code, message| {
        refuse(errors::Service::TransitGateway, operation, code, message)
    },
    ..VPC
};

static CONTROLLER: Service = Service {
    name: "resource-controller",
    is_global: true,
    error: |operation, code, message| {
        refuse(
            errors::Service::ResourceController,
            operation,
            code,
            message,
        )
    },
    ..VPC
};

static STORAGE: Service = Service {
    error: |operation, code, message| {
        refuse(errors::Service::ObjectStorage, operation, code, message)
    },
    ..CONTROLLER
};

fn refuse(service: errors::Service, operation: &str, code: &str, message: &str) -> CloudError {
    errors::error(service, operation, 400, code, message, Some("simulated"))
}

static OTHER: Row = Row {
    model: &Plain,
    service: &VPC,
    prefix: "r006-",
    unique: "UNIQUE",
    not_found: "HTTP 404",
    duplicate: "validation_unique_failed",
    over_quota: "over_quota",
    blocked: "vpc_in_use",
    tags_full: "HTTP 400",
    get: VPC.reads("GetResource"),
    list: VPC.lists("ListResources", PAGE),
    create: VPC.writes("CreateResource"),
    update: VPC.writes("UpdateResource"),
    delete: VPC.writes("DeleteResource"),
    tag: ATTACH,
    untag: DETACH,
    shows_tags: Some(SEARCH),
    forgives: false,
    quota: usize::MAX,
    quota_within: None,
    inner: &[],
    other_inner: &OTHER_PART,
};

static OTHER_PART: InnerRow = InnerRow {
    list: VPC.lists("ListParts", PAGE),
    list_calls: 1,
    prefix: "",
    get: None,
    add: VPC.writes("CreatePart"),
    remove: VPC.writes("DeletePart"),
    duplicate: "validation_unique_failed",
    not_found: "HTTP 404",
    id_not_found: "HTTP 404",
    full: "over_quota",
    quota: usize::MAX,
    told: Told::Never,
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_and_inner_kind_has_a_row() {
        for kind in KINDS {
            assert!(IBM.kinds().any(|known| known == kind), "{}", kind.name);
            assert_eq!(IBM.row(kind).inner.len(), kind.inner.len(), "{}", kind.name);
        }
    }
}
