//! KKP clusters as a served system: the object's fields in, ids and conditions out.

mod blame;
mod spelling;

use std::collections::{BTreeMap, BTreeSet};

use api::kkp::{
    AWS_REGION, AwsCredentials, CLEANUP_AWS, Cluster as Object, Id, STATUS, Seed, field,
    old_finalizers,
};
use api::{Change, Status};
use blueprints::kkp::{
    CONTROL_PLANE_ROLE, Cluster, INSTANCE_PROFILE, IpFamily, ROUTE_TABLE, SECURITY_GROUP, VPC,
    WORKER_ROLE, slot,
};
use cloud_port::Places;
use cloud_port::aws::{self, Access, Accounts, AssumeRole, AwsPlace as _, Credentials};
use jiff::Timestamp;
use k8s_openapi::api::core::v1::Secret;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use kube::ResourceExt as _;
use ownership::decide::Evidence;
use ownership::input::InputError;
use ownership::{CloudError, Kind, SlotName};

use crate::reconcile::{Ask, Ids, Sources, System, Told, Trouble, Wants, Watches};
use crate::registry::{Entry, Original, Right, Served};
use crate::resources::Resources;

/// KKP's entry in the registry.
pub const ENTRY: Entry = Entry {
    name: "kkp",
    part_of: None,
    about: "clusters of the Kubermatic Kubernetes Platform on AWS",
    kind: Served {
        plural: "clusters",
        singular: "cluster",
        group: "kubermatic.k8c.io",
        version: "v1",
    },
    definitions: &api::manifests::DEFINITIONS,
    policies: &api::manifests::KKP_POLICIES,
    asks: &[
        Right::new("kubermatic.k8c.io", "v1", "seeds", &["list", "watch"]),
        Right::new("", "v1", "secrets", &["get"]).in_parts(),
    ],
    resources: RESOURCES,
    original: Original {
        name: "KKP's seed-controller-manager",
        lease: "kkp-seed-controller-manager-leader-election",
    },
};

/// The KKP system on AWS.
#[derive(Clone, Debug)]
pub struct Kkp<A> {
    /// The accounts.
    pub accounts: A,
}

/// What a cluster may own: networks are only ever used.
static OWNED: [&Kind; 3] = [
    &aws::security_group::SECURITY_GROUP,
    &aws::role::ROLE,
    &aws::instance_profile::INSTANCE_PROFILE,
];

/// What a cluster may own or use.
static KINDS: [&Kind; 6] = [
    &aws::vpc::VPC,
    &aws::route_table::ROUTE_TABLE,
    &aws::subnet::SUBNET,
    &aws::security_group::SECURITY_GROUP,
    &aws::role::ROLE,
    &aws::instance_profile::INSTANCE_PROFILE,
];

/// What clusters have to do with the resources of AWS.
const RESOURCES: Resources = Resources {
    owns: &OWNED,
    uses: &KINDS,
    adds: &[
        aws::security_group::RULE,
        aws::role::INLINE_POLICY,
        aws::instance_profile::PROFILE_ROLE,
    ],
    adds_in: &[],
};

/// The slots whose ids the object records, and where.
const RECORDED: [(&str, Id); 5] = [
    (VPC, Id::Vpc),
    (ROUTE_TABLE, Id::RouteTable),
    (SECURITY_GROUP, Id::SecurityGroup),
    (CONTROL_PLANE_ROLE, Id::Role),
    (INSTANCE_PROFILE, Id::InstanceProfile),
];

/// The original's finalizers, and the slots that they say are the cluster's own.
const VOUCHED: [(&str, &[&str]); 3] = [
    (old_finalizers::SECURITY_GROUP, &[SECURITY_GROUP]),
    (
        old_finalizers::INSTANCE_PROFILE,
        &[WORKER_ROLE, INSTANCE_PROFILE],
    ),
    (old_finalizers::CONTROL_PLANE_ROLE, &[CONTROL_PLANE_ROLE]),
];

impl<A: Accounts> System for Kkp<A> {
    type Object = Object;
    /// As whom the account is entered, and where.
    type Facts = Access;
    type Cloud = A::Cloud;

    const CLAIM_KIND: &'static str = "Cluster.kubermatic.k8c.io";
    const FINALIZER: &'static str = CLEANUP_AWS;
    const OLD_FINALIZERS: &'static [&'static str] = &old_finalizers::ALL;
    const STATUS: Status = STATUS;

    const IDS_IN: Option<&'static str> = Some("spec.cloud.aws");

    fn owns(&self) -> &'static [&'static Kind] {
        &OWNED
    }

    fn kinds(&self) -> &'static [&'static Kind] {
        &KINDS
    }

    /// One that says that it is on AWS, and not how, is told so.
    fn is_ours(object: &Object) -> bool {
        let cloud = &object.spec.cloud;
        let provider = cloud.rest.get("providerName");
        cloud.aws.is_some() || provider.is_some_and(|name| name == "aws")
    }

    fn almost_ours(object: &Object) -> Option<InputError> {
        spelling::almost(object)
    }

    fn was_reconciled(object: &Object) -> bool {
        let status = object.status.as_ref();
        status.is_some_and(|status| status.last_provider_reconciliation.is_some())
    }

    fn migrated(object: &Object) -> Vec<&'static str> {
        // While IAM is somebody else's business, what vouches for roles and profile stays.
        let off = read(object).is_ok_and(|cluster| cluster.disable_iam);
        let waits = |name: &&str| {
            [
                old_finalizers::INSTANCE_PROFILE,
                old_finalizers::CONTROL_PLANE_ROLE,
            ]
            .contains(name)
        };
        let old = old_finalizers::ALL.into_iter();
        old.filter(|name| !(off && waits(name))).collect()
    }

    fn pause(object: &Object) -> Option<&'static str> {
        object.is_paused().then_some("spec.pause is set")
    }

    fn wants(object: &Object, _: &Access) -> Result<Wants, InputError> {
        let cluster = read(object)?;
        // No field records the worker role, but the profile that it is in.
        let in_profile = cluster.records_own_profile().then(|| slot(WORKER_ROLE));
        Ok(Wants {
            blueprint: cluster.blueprint()?,
            dialect: cluster.dialect(),
            evidence: Evidence {
                adopt: BTreeSet::new(),
                vouched: vouched_slots(object),
                inside: BTreeMap::from([(slot(WORKER_ROLE), slot(INSTANCE_PROFILE))]),
                adopt_marked: in_profile.into_iter().collect(),
                sweep: true,
                ..Evidence::default()
            },
        })
    }

    fn keeps(slot: &SlotName) -> bool {
        RECORDED.iter().any(|(name, _)| slot.as_str() == *name)
    }

    fn ids(object: &Object) -> Result<Ids, InputError> {
        read(object)?.ids()
    }

    fn record(
        cloud: &A::Cloud,
        _: &Access,
        change: &mut Change<Object>,
        object: &Object,
        ids: &Ids,
    ) {
        change.annotate(AWS_REGION, cloud.region());
        let before = Self::ids(object).unwrap_or_default();
        for (name, id) in RECORDED {
            let (old, new) = (before.get(&slot(name)), ids.get(&slot(name)));
            match new {
                None if old.is_some() => change.record(id, ""),
                // A plain name from an older cluster becomes an ARN, too.
                Some(role) if id == Id::Role && (old != new || !has_arn(object)) => {
                    change.record(id, &cloud.role_arn(role.as_str()));
                }
                Some(value) if old != new => change.record(id, value.as_str()),
                _ => {}
            }
        }
    }

    fn place(cloud: &A::Cloud) -> String {
        cloud.place()
    }

    fn misplaced(object: &Object, was: &str, is: &str) -> InputError {
        blame::misplaced(object, was, is)
    }

    fn check(object: &Object, cloud: &A::Cloud) -> Result<(), InputError> {
        read(object)?.check_account(cloud.account())
    }

    fn blames(object: &Object, error: &CloudError) -> Option<InputError> {
        blame::field(object, error)
    }

    fn status(change: &mut Change<Object>, _: &Object, told: &Told<'_>, now: Timestamp) {
        if told.conditions.reconciled {
            change.reconciled(&Time(now));
        }
    }
}

impl<A: Accounts> Sources for Kkp<A> {
    fn watches(watches: Watches<Self>) -> Watches<Self> {
        watches.on::<Seed>()
    }

    async fn facts(&self, ask: &Ask<'_>, object: &Object) -> Result<Access, Trouble> {
        let Some(aws) = &object.spec.cloud.aws else {
            let rule = "must be set: the cluster is one on AWS, by spec.cloud.providerName or by what \
                        it has there already";
            return Err(InputError::new("spec.cloud.aws", "", rule).into());
        };
        let secret: Option<Secret> = match &aws.credentials_reference {
            None => None,
            Some(reference) => {
                let (namespace, name) = reference.target()?;
                ask.peek(Some(namespace), name).await?
            }
        };
        let credentials = aws.credentials(secret.as_ref()).map_err(of_the_secret)?;
        let written = object.annotations().get(AWS_REGION);
        let region = if let Some(region) = written.filter(|region| !region.is_empty()) {
            region.clone()
        } else {
            region_of(&object.spec.cloud.dc, &ask.list::<Seed>().await?)?
        };
        Ok(access(credentials, region))
    }

    async fn open(&self, access: &Access) -> Result<Places<A::Cloud>, CloudError> {
        Ok(self.accounts.open(access).await?.into())
    }
}

/// What is wrong with a Secret is put right there: it is not watched, because that would take the right
/// to read all Secrets.
fn of_the_secret(error: InputError) -> Trouble {
    if error.field != field::REFERENCE {
        return error.into();
    }
    let rule = format!("{}; the Secret is looked at again within 30 s", error.rule);
    Trouble::Unwatched(InputError { rule, ..error })
}

/// A cluster's credentials, as every system on AWS has them.
fn access(credentials: AwsCredentials, region: String) -> Access {
    let AwsCredentials {
        keys,
        assume_role_arn,
        assume_role_external_id: external_id,
    } = credentials;
    Access {
        credentials: keys.map_or(Credentials::Default, |keys| Credentials::Keys {
            id: keys.id,
            secret: aws::Secret::new(keys.secret.reveal()),
        }),
        assume: assume_role_arn.map(|arn| AssumeRole { arn, external_id }),
        region,
    }
}

/// The slots that an original's finalizer says are the cluster's own.
fn vouched_slots(object: &Object) -> BTreeSet<SlotName> {
    let stands = |finalizer: &str| object.finalizers().iter().any(|name| name == finalizer);
    let vouched = VOUCHED.iter().filter(|(finalizer, _)| stands(finalizer));
    vouched
        .flat_map(|(_, slots)| slots.iter().map(|name| slot(name)))
        .collect()
}

fn has_arn(object: &Object) -> bool {
    let aws = object.spec.cloud.aws.as_ref();
    aws.is_some_and(|aws| aws.role_arn.starts_with("arn:"))
}

/// The region of a datacenter.
fn region_of(datacenter: &str, seeds: &[Seed]) -> Result<String, InputError> {
    let field = blame::DATACENTER;
    let found = seeds
        .iter()
        .find_map(|seed| seed.spec.datacenters.get(datacenter));
    let Some(found) = found else {
        let rule = format!(
            "must name a datacenter of a Seed, or the annotation {AWS_REGION} must name the region"
        );
        return Err(InputError::new(field, datacenter, rule));
    };
    match found.spec.aws.as_ref().map(|aws| aws.region.as_str()) {
        Some(region) if !region.is_empty() => Ok(region.to_owned()),
        _ => Err(InputError::new(
            field,
            datacenter,
            "must name a datacenter on AWS with a region",
        )),
    }
}

/// What the object says about its infrastructure; of one that ends, only what is legal.
fn read(object: &Object) -> Result<Cluster, InputError> {
    let ends = object.metadata.deletion_timestamp.is_some();
    if !ends {
        spelling::check(object)?;
    }
    let family = object.ip_family().and_then(IpFamily::parse);
    let aws = object.spec.cloud.aws.clone().unwrap_or_default();
    let set = |text: String| Some(text).filter(|text| !text.is_empty());
    let ranges = aws
        .node_ports_allowed_ip_ranges
        .map(|ranges| ranges.cidr_blocks);
    let components = object.spec.components_override.as_ref();
    let api_server = components.and_then(|components| components.apiserver.as_ref());
    let cluster = Cluster {
        name: object.name_any(),
        vpc_id: set(aws.vpc_id),
        route_table_id: set(aws.route_table_id),
        security_group_id: set(aws.security_group_id),
        role: set(aws.role_arn),
        instance_profile: set(aws.instance_profile_name),
        ip_family: if ends {
            family.unwrap_or_default()
        } else {
            family?
        },
        node_port_range: api_server
            .and_then(|server| server.node_port_range.clone())
            .and_then(set),
        node_ports_allowed_one: aws.node_ports_allowed_ip_range.and_then(set),
        node_ports_allowed: ranges.unwrap_or_default(),
        disable_iam: aws.disable_iam_reconciling.unwrap_or(false),
    };
    Ok(if ends { cluster.at_its_end() } else { cluster })
}
