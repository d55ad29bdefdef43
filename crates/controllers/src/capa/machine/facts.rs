//! What must be known of a machine besides its object: its `Machine`, its `Cluster`, what that stands on,
//! what it is told at its first start, and which image it starts from.

use std::collections::BTreeMap;
use std::fmt;
use std::hash::{Hash, Hasher};

use api::capa::{
    AwsCluster, AwsMachine, CLUSTER_NAME, CONTROL_PLANE, OWNER_GROUP, OwnerCluster, OwnerMachine,
};
use blueprints::capa::Role;
use blueprints::capa::machine::{Lookup, Registry, choose_subnet, encode};
use cloud_port::aws::image::ImageQuery;
use cloud_port::aws::{Access, Accounts, AwsPlace as _};
use k8s_openapi::api::core::v1::Secret as KubeSecret;
use kube::ResourceExt as _;
use ownership::input::InputError;
use ownership::secret::Secret;

use super::super::{blame, identity, read};
use super::{image, subnet};
use crate::reconcile::{Ask, Made, Trouble, hosts_of};

/// What must be known of a machine besides its object.
#[derive(Clone, Debug, Hash)]
pub struct Facts {
    /// As whom the account is entered, and where.
    pub(super) access: Access,
    /// The name of its cluster.
    pub(super) cluster: String,
    /// Whether it is one of the control plane.
    pub(super) is_control_plane: bool,
    /// The image that was found, where one had to be looked for.
    pub(super) image: Option<String>,
    /// The subnet that was chosen, where none is given.
    pub(super) subnet: Option<String>,
    /// The security groups that the cluster gives it.
    pub(super) groups: Vec<String>,
    /// Where machines of the control plane are registered.
    pub(super) registry: Option<Registry>,
    /// The cluster's tags.
    pub(super) tags: BTreeMap<String, String>,
    /// The cluster's SSH key.
    pub(super) key: Option<String>,
    /// What it is told at its first start, until it has started.
    pub(super) data: Option<Data>,
}

/// A secret whose change makes a fact another one.
#[derive(Clone, PartialEq, Eq)]
pub(super) struct Data(pub(super) Secret);

impl Hash for Data {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.reveal().hash(state);
    }
}

impl fmt::Debug for Data {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.0, f)
    }
}

/// Asks for all of it. An object that lives waits for what is missing; one that ends needs only what leads
/// to its account.
pub(super) async fn ask<A: Accounts>(
    accounts: &A,
    ask: &Ask<'_>,
    object: &AwsMachine,
) -> Result<Facts, Trouble> {
    let ends = object.metadata.deletion_timestamp.is_some();
    let owner = owner(ask, object, ends).await?;
    let (name, cluster) = cluster(ask, object, owner.as_ref(), ends).await?;
    let host = host(ask, object, cluster.as_ref()).await?;
    let access = access(ask, &host).await?;
    let named = read::given(&host, Made::default());
    let control_plane = |machine: &OwnerMachine| machine.is_control_plane();
    let labelled = object.labels().contains_key(CONTROL_PLANE);
    let is_control_plane = labelled || owner.as_ref().is_some_and(control_plane);
    let mut facts = Facts {
        access,
        cluster: name,
        is_control_plane,
        image: None,
        subnet: None,
        groups: Vec::new(),
        registry: None,
        tags: host.spec.additional_tags.clone().unwrap_or_default(),
        key: host.spec.ssh_key_name.clone(),
        data: None,
    };
    if is_control_plane {
        facts.registry = named.registry()?;
    }
    let Some(owner) = owner.filter(|_| !ends) else {
        return Ok(facts);
    };
    let is_made =
        is_set(object.spec.instance_id.as_ref()) || is_set(object.spec.provider_id.as_ref());
    let is_ready = host.status.as_ref().is_some_and(|status| status.ready);
    if !is_made && !is_ready {
        let what = format!("the AWSCluster {} to be ready", host.name_any());
        return Err(Trouble::Waits(what));
    }
    facts.groups = groups(&host, is_control_plane)?;
    if is_made {
        return Ok(facts);
    }
    if !is_set(subnet(object).as_ref()) {
        let zone = owner.spec.failure_domain.as_deref();
        let zone = zone.filter(|zone| !zone.is_empty());
        facts.subnet = Some(choose_subnet(&named.subnets, zone)?.to_owned());
    }
    facts.data = Some(data(ask, object, &owner).await?);
    if !is_set(image(object).as_ref()) {
        let query = lookup(object, &host);
        let machine = object.spec.instance_type.as_deref().unwrap_or_default();
        let query = query.query(owner.spec.version.as_deref(), machine)?;
        facts.image = Some(newest(accounts, &facts.access, &query).await?);
    }
    Ok(facts)
}

fn is_set(text: Option<&String>) -> bool {
    text.is_some_and(|text| !text.is_empty())
}

/// The `Machine` that owns the object. One that ends may have outlived it.
async fn owner(
    ask: &Ask<'_>,
    object: &AwsMachine,
    ends: bool,
) -> Result<Option<OwnerMachine>, Trouble> {
    let owners = object.metadata.owner_references.iter().flatten();
    let mut machines = owners.filter(|owner| {
        let group = owner.api_version.split('/').next();
        owner.kind == "Machine" && group == Some(OWNER_GROUP)
    });
    let Some(reference) = machines.next() else {
        if ends {
            return Ok(None);
        }
        let what = "its owner: Cluster API says which Machine it belongs to";
        return Err(Trouble::Waits(what.to_owned()));
    };
    let machine: Option<OwnerMachine> = ask
        .get(object.namespace().as_deref(), &reference.name)
        .await?;
    if machine.is_none() && !ends {
        return Err(Trouble::Waits(format!("the Machine {}", reference.name)));
    }
    Ok(machine)
}

/// The name of its cluster, and the `Cluster`, if that is there.
async fn cluster(
    ask: &Ask<'_>,
    object: &AwsMachine,
    owner: Option<&OwnerMachine>,
    ends: bool,
) -> Result<(String, Option<OwnerCluster>), Trouble> {
    let labelled = object.labels().get(CLUSTER_NAME);
    let named = owner.map(|owner| &owner.spec.cluster_name);
    let name = named.filter(|name| !name.is_empty()).or(labelled);
    let Some(name) = name.filter(|name| !name.is_empty()) else {
        let what = "the name of its cluster, in its Machine or in its label";
        return Err(Trouble::Waits(format!("{what} {CLUSTER_NAME}")));
    };
    let cluster: Option<OwnerCluster> = ask.get(object.namespace().as_deref(), name).await?;
    match cluster {
        Some(cluster) if cluster.is_paused() => Err(Trouble::Paused(format!(
            "spec.paused of the Cluster {name} is set"
        ))),
        None if !ends => Err(Trouble::Waits(format!("the Cluster {name}"))),
        cluster => Ok((name.clone(), cluster)),
    }
}

/// What the cluster stands on, which stays until the machine has ended: what is asked of the account is
/// asked in its name.
async fn host(
    ask: &Ask<'_>,
    object: &AwsMachine,
    cluster: Option<&OwnerCluster>,
) -> Result<AwsCluster, Trouble> {
    let recorded = || {
        hosts_of(&object.metadata, read::CLAIM_KIND)
            .into_iter()
            .next()
    };
    let named = cluster.and_then(OwnerCluster::aws_cluster);
    let Some(name) = named.map(str::to_owned).or_else(recorded) else {
        let what = "its Cluster to name the AWSCluster that it stands on";
        return Err(Trouble::Waits(what.to_owned()));
    };
    let namespace = object.namespace();
    let host: Option<AwsCluster> = ask.host(namespace.as_deref(), &name).await?;
    host.ok_or_else(|| Trouble::Waits(format!("the AWSCluster {name}")))
}

async fn access(ask: &Ask<'_>, host: &AwsCluster) -> Result<Access, Trouble> {
    let Some(region) = host.spec.region.as_ref().filter(|it| !it.is_empty()) else {
        let field = format!("{} of the AWSCluster {}", blame::REGION, host.name_any());
        return Err(InputError::new(field, "", "must be set").into());
    };
    identity::access(ask, host, region).await
}

/// The security groups of a machine by its role, as the cluster tells them.
fn groups(host: &AwsCluster, is_control_plane: bool) -> Result<Vec<String>, Trouble> {
    let status = host.status.as_ref();
    let told = status.and_then(|status| status.rest.get("networkStatus")?.get("securityGroups"));
    let of = |role: Role| {
        let id = told.and_then(|told| told.get(role.name())?.get("id")?.as_str());
        id.map(str::to_owned).ok_or_else(|| {
            let (host, role) = (host.name_any(), role.name());
            Trouble::Waits(format!(
                "the AWSCluster {host} to tell its security group {role}"
            ))
        })
    };
    let mut roles = vec![Role::Node, Role::Lb];
    if is_control_plane {
        roles.push(Role::ControlPlane);
    }
    roles.into_iter().map(of).collect()
}

/// What the machine is told at its first start: the Secret is named once it is there.
async fn data(ask: &Ask<'_>, object: &AwsMachine, owner: &OwnerMachine) -> Result<Data, Trouble> {
    let Some(name) = owner.data_secret() else {
        let what = format!(
            "the Machine {} to have its bootstrap data",
            owner.name_any()
        );
        return Err(Trouble::Waits(what));
    };
    let refuse = |rule: &str| {
        let field = "spec.bootstrap.dataSecretName of the Machine";
        Trouble::Unwatched(InputError::new(field, name, rule))
    };
    let namespace = object.namespace();
    let found: Option<KubeSecret> = ask.peek(namespace.as_deref(), name).await?;
    let Some(secret) = found else {
        return Err(refuse("must name a Secret that is there"));
    };
    let uid = secret.uid().unwrap_or_default();
    let value = secret.data.as_ref().and_then(|data| data.get("value"));
    let Some(value) = value.filter(|value| !value.0.is_empty()) else {
        return Err(refuse("must name a Secret with a value"));
    };
    let compressed = !object.spec.uncompressed_user_data.unwrap_or(false);
    Ok(Data(Secret::new(encode(&value.0, compressed), uid)))
}

fn lookup(object: &AwsMachine, host: &AwsCluster) -> Lookup {
    let (own, clusters) = (&object.spec, &host.spec);
    Lookup {
        format: [
            own.image_lookup_format.clone(),
            clusters.image_lookup_format.clone(),
        ],
        organisation: [
            own.image_lookup_org.clone(),
            clusters.image_lookup_org.clone(),
        ],
        base: [
            own.image_lookup_base_os.clone(),
            clusters.image_lookup_base_os.clone(),
        ],
    }
}

/// The newest image. That there is none is told with all that it was looked for by.
async fn newest<A: Accounts>(
    accounts: &A,
    access: &Access,
    query: &ImageQuery,
) -> Result<String, Trouble> {
    let place = accounts.open(access).await?;
    let found = place.cloud().image(query).await?;
    found.map(|id| id.to_string()).ok_or_else(|| {
        let rule = format!(
            "must be set: the account {} has no image {} for {} in {}; or change imageLookupFormat, \
             imageLookupOrg or imageLookupBaseOS",
            query.owner, query.name, query.machine, access.region
        );
        Trouble::Unwatched(InputError::new("spec.ami.id", "", rule))
    })
}
