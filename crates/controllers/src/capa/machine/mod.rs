//! Machines of Cluster API on AWS as a served system: a kind of its own, served together with clusters.

mod facts;
mod report;

use api::capa::{
    self as served, AwsCluster, AwsMachine, ControllerIdentity, OwnerCluster, OwnerMachine,
    RoleIdentity, StaticIdentity,
};
use api::{Change, Status};
use blueprints::capa::machine::{MACHINE, Machine, Volume};
use blueprints::capa::slot;
use cloud_port::Places;
use cloud_port::aws::errors::{self, Culprit};
use cloud_port::aws::{self, Accounts, AwsPlace as _};
use cloud_port::driver::Report;
use jiff::Timestamp;
use kube::ResourceExt as _;
use ownership::decide::Evidence;
use ownership::input::InputError;
use ownership::{CloudError, Kind, SlotName};

use super::WATCHED;
use crate::reconcile::{Ask, Ids, Sources, System, Told, Trouble, Unserved, Wants, Watches};
use crate::registry::{Entry, Original, Right, Served};
use crate::resources::Resources;

pub use facts::Facts;

/// Its entry in the registry.
pub const ENTRY: Entry = Entry {
    name: "capa-machines",
    part_of: Some("capa"),
    about: "machines of Cluster API on AWS",
    kind: Served {
        plural: "awsmachines",
        singular: "awsmachine",
        group: served::GROUP,
        version: served::VERSION,
    },
    definitions: &api::manifests::CAPA_MACHINE_DEFINITIONS,
    policies: &[],
    asks: &[
        Right::new(
            served::GROUP,
            served::VERSION,
            "awsclusters",
            &["get", "list", "watch", "patch"],
        ),
        Right::new(
            served::OWNER_GROUP,
            served::OWNER_VERSION,
            "clusters",
            WATCHED,
        ),
        Right::new(
            served::OWNER_GROUP,
            served::OWNER_VERSION,
            "machines",
            WATCHED,
        ),
        Right::new(
            served::GROUP,
            served::VERSION,
            "awsclustercontrolleridentities",
            WATCHED,
        ),
        Right::new(
            served::GROUP,
            served::VERSION,
            "awsclusterstaticidentities",
            WATCHED,
        ),
        Right::new(
            served::GROUP,
            served::VERSION,
            "awsclusterroleidentities",
            WATCHED,
        ),
        Right::new("", "v1", "namespaces", &["get"]),
        Right::new("", "v1", "secrets", &["get"]).in_parts(),
    ],
    resources: RESOURCES,
    original: Original {
        name: "Cluster API's provider for AWS",
        lease: "controller-leader-elect-capa",
    },
};

/// Machines of Cluster API on AWS.
#[derive(Clone, Debug)]
pub struct CapaMachines<A> {
    /// The accounts.
    pub accounts: A,
}

/// What a machine may own.
static OWNED: [&Kind; 1] = [&aws::instance::INSTANCE];

/// What it may own or use.
static KINDS: [&Kind; 3] = [
    &aws::instance::INSTANCE,
    &aws::classic_load_balancer::CLASSIC_LOAD_BALANCER,
    &aws::target_group::TARGET_GROUP,
];

/// What machines have to do with the resources of AWS.
const RESOURCES: Resources = Resources {
    owns: &OWNED,
    uses: &KINDS,
    adds: &[aws::instance::GROUP],
    adds_in: &[
        (
            &aws::classic_load_balancer::CLASSIC_LOAD_BALANCER,
            aws::classic_load_balancer::INSTANCE,
        ),
        (&aws::target_group::TARGET_GROUP, aws::target_group::TARGET),
    ],
};

const fn other(field: &'static [&'static str], default: &'static str) -> Unserved {
    Unserved {
        field,
        default: Some(default),
    }
}

/// What the API has and we do not serve: where one asks for something, nothing is made.
const UNSERVED: &[Unserved] = &[
    Unserved::new(&["spec", "spotMarketOptions"]),
    other(&["spec", "marketType"], "OnDemand"),
    Unserved::new(&["spec", "capacityReservationId"]),
    other(&["spec", "capacityReservationPreference"], "Open"),
    Unserved::new(&["spec", "publicIP"]),
    Unserved::new(&["spec", "elasticIpPool"]),
    other(&["spec", "assignPrimaryIPv6"], "disabled"),
    Unserved::new(&["spec", "networkInterfaces"]),
    other(&["spec", "networkInterfaceType"], "interface"),
    Unserved::new(&["spec", "nonRootVolumes"]),
    Unserved::new(&["spec", "subnet", "filters"]),
    Unserved::new(&["spec", "additionalSecurityGroups", "[]", "filters"]),
    Unserved::new(&["spec", "securityGroupOverrides"]),
    Unserved::new(&["spec", "ami", "eksLookupType"]),
    Unserved::new(&["spec", "cloudInit", "secureSecretsBackend"]),
    Unserved::new(&["spec", "cloudInit", "secretPrefix"]),
    Unserved::new(&["spec", "cloudInit", "secretCount"]),
    Unserved::new(&["spec", "ignition"]),
    Unserved::new(&["spec", "placementGroupName"]),
    Unserved::new(&["spec", "placementGroupPartition"]),
    other(&["spec", "tenancy"], "default"),
    other(&["spec", "hostAffinity"], "default"),
    Unserved::new(&["spec", "hostID"]),
    Unserved::new(&["spec", "dynamicHostAllocation"]),
    Unserved::new(&["spec", "cpuOptions"]),
    Unserved::new(&["spec", "privateDnsName"]),
    other(
        &["spec", "instanceMetadataOptions", "httpEndpoint"],
        "enabled",
    ),
    other(
        &["spec", "instanceMetadataOptions", "httpProtocolIpv6"],
        "disabled",
    ),
    other(
        &["spec", "instanceMetadataOptions", "httpPutResponseHopLimit"],
        "1",
    ),
    other(
        &["spec", "instanceMetadataOptions", "httpTokens"],
        "optional",
    ),
    other(
        &["spec", "instanceMetadataOptions", "instanceMetadataTags"],
        "disabled",
    ),
];

/// A machine as the object and the facts have it.
fn machine(object: &AwsMachine, facts: &Facts) -> Machine {
    let spec = &object.spec;
    let root = spec.root_volume.clone().unwrap_or_default();
    let own = |field: &Option<String>, other: &Option<String>| {
        let own = field.clone().filter(|text| !text.is_empty());
        own.or_else(|| other.clone())
    };
    let mut tags = facts.tags.clone();
    tags.extend(spec.additional_tags.clone().unwrap_or_default());
    let more = spec.additional_security_groups.iter().flatten();
    Machine {
        is_control_plane: facts.is_control_plane,
        machine: spec.instance_type.clone().unwrap_or_default(),
        image: own(&image(object), &facts.image),
        subnet: own(&subnet(object), &facts.subnet),
        groups: facts.groups.clone(),
        more_groups: more.filter_map(|group| group.id.clone()).collect(),
        profile: spec.iam_instance_profile.clone(),
        key: own(&spec.ssh_key_name, &facts.key),
        root: Volume {
            size: root.size,
            kind: root.kind,
            iops: root.iops,
            throughput: root.throughput,
            encrypted: root.encrypted,
            key: root.encryption_key,
        },
        tags,
        user_data: facts.data.clone().map(|data| data.0),
        registry: facts.registry.clone(),
        ends: object.metadata.deletion_timestamp.is_some(),
        ..named(object, &facts.cluster)
    }
}

/// What the object says without being asked for anything else.
fn named(object: &AwsMachine, cluster: &str) -> Machine {
    Machine {
        instance_id: object.spec.instance_id.clone(),
        provider_id: object.spec.provider_id.clone(),
        ..Machine::new(cluster, &object.name_any())
    }
}

fn image(object: &AwsMachine) -> Option<String> {
    object.spec.ami.as_ref().and_then(|image| image.id.clone())
}

fn subnet(object: &AwsMachine) -> Option<String> {
    object.spec.subnet.as_ref().and_then(|it| it.id.clone())
}

impl<A: Accounts> System for CapaMachines<A> {
    type Object = AwsMachine;
    type Facts = Facts;
    type Cloud = A::Cloud;

    const CLAIM_KIND: &'static str = "AWSMachine.infrastructure.cluster.x-k8s.io";
    const FINALIZER: &'static str = served::MACHINE_FINALIZER;
    const STATUS: Status = served::STATUS;
    const IDS_IN: Option<&'static str> = Some("spec.instanceID and spec.providerID");
    const UNSERVED: &'static [Unserved] = UNSERVED;

    fn owns(&self) -> &'static [&'static Kind] {
        &OWNED
    }

    fn kinds(&self) -> &'static [&'static Kind] {
        &KINDS
    }

    fn pause(object: &AwsMachine) -> Option<&'static str> {
        let is_paused = object.annotations().contains_key(served::PAUSED);
        is_paused.then_some("the annotation cluster.x-k8s.io/paused is set")
    }

    fn wants(object: &AwsMachine, facts: &Facts) -> Result<Wants, InputError> {
        let machine = machine(object, facts);
        Ok(Wants {
            blueprint: machine.blueprint()?,
            dialect: machine.dialect(),
            evidence: Evidence::default(),
        })
    }

    fn keeps(slot: &SlotName) -> bool {
        slot.as_str() == MACHINE
    }

    /// A mistake in a field must not keep one that ends: its instance is found by its mark.
    fn ids(object: &AwsMachine) -> Result<Ids, InputError> {
        let ids = named(object, "").ids();
        if object.metadata.deletion_timestamp.is_some() {
            return Ok(ids.unwrap_or_default());
        }
        ids
    }

    /// What was chosen for a machine stays chosen: it is written with its pin.
    fn record(
        _: &A::Cloud,
        facts: &Facts,
        change: &mut Change<AwsMachine>,
        object: &AwsMachine,
        ids: &Ids,
    ) {
        let is_none = |id: Option<String>| id.is_none_or(|id| id.is_empty());
        if let Some(chosen) = facts.image.as_ref().filter(|_| is_none(image(object))) {
            change.image(chosen);
        }
        if let Some(chosen) = facts.subnet.as_ref().filter(|_| is_none(subnet(object))) {
            change.subnet(chosen);
        }
        let id = ids.get(&slot(MACHINE)).map_or("", |id| id.as_str());
        if id != object.spec.instance_id.as_deref().unwrap_or_default() {
            change.instance(id);
        }
    }

    fn publish(_: &Facts, change: &mut Change<AwsMachine>, object: &AwsMachine, report: &Report) {
        let is_none = object.spec.provider_id.as_deref().is_none_or(str::is_empty);
        let filled = report::instance(report).filter(|_| is_none);
        let zone = filled.and_then(|filled| filled.props.get(aws::instance::ZONE));
        if let (Some(filled), Some(zone)) = (filled, zone.filter(|zone| !zone.is_empty())) {
            change.provider_id(&format!("aws:///{zone}/{}", filled.target.id));
        }
    }

    fn place(cloud: &A::Cloud) -> String {
        cloud.place()
    }

    fn misplaced(_: &AwsMachine, was: &str, is: &str) -> InputError {
        let rule = format!(
            "lead to {is}, but the machine is in {was}, and does not move: put back what led there"
        );
        InputError::new(
            "spec.region and spec.identityRef of the AWSCluster",
            "",
            rule,
        )
    }

    fn blames(_: &AwsMachine, error: &CloudError) -> Option<InputError> {
        let (field, rule) = match errors::culprit(error)? {
            Culprit::Region => (
                "spec.region of the AWSCluster",
                "must be a region that the account can use",
            ),
            Culprit::Role => (
                "spec.identityRef of the AWSCluster",
                "must name an identity whose role may be taken on",
            ),
            Culprit::Credentials => (
                "spec.identityRef of the AWSCluster",
                "must name an identity with credentials that AWS accepts; without one the operator's own \
                 are used",
            ),
        };
        let rule = format_args!("{rule}; AWS says {error}");
        Some(InputError::new(field, "", rule))
    }

    fn status(change: &mut Change<AwsMachine>, object: &AwsMachine, told: &Told<'_>, _: Timestamp) {
        report::tell(change, object, told);
    }
}

impl<A: Accounts> Sources for CapaMachines<A> {
    fn watches(watches: Watches<Self>) -> Watches<Self> {
        watches
            .on_hosts::<AwsCluster>()
            .on::<OwnerCluster>()
            .on::<OwnerMachine>()
            .on::<ControllerIdentity>()
            .on::<StaticIdentity>()
            .on::<RoleIdentity>()
    }

    async fn facts(&self, ask: &Ask<'_>, object: &AwsMachine) -> Result<Facts, Trouble> {
        facts::ask(&self.accounts, ask, object).await
    }

    async fn open(&self, facts: &Facts) -> Result<Places<A::Cloud>, CloudError> {
        Ok(self.accounts.open(&facts.access).await?.into())
    }
}
