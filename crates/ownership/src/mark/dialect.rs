//! Dialects: how each served system writes its own marks.
//!
//! A dialect's mark is for the served system's users and tools. It names a cluster, not a claim, so
//! it never decides ownership alone: that is what Freehold's own mark beside it is for.

use crate::input::InputError;
use crate::kind::Kind;
use crate::mark::{Carrier, Tags};
use crate::text::Text;

/// A served system's marks, filled in for one object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Dialect {
    /// No served system's: Freehold's own marks stand alone.
    Plain,
    /// Kubermatic Kubernetes Platform.
    Kkp {
        /// The cluster's name.
        cluster: Text,
    },
    /// Cluster API provider AWS.
    Capa {
        /// The cluster's name.
        cluster: Text,
    },
    /// Cluster API provider IBM Cloud, PowerVS.
    PowerVs {
        /// The cluster's name.
        cluster: Text,
        /// The cluster's UUID.
        uuid: Text,
    },
    /// Wildlife's operators and the Crossplane kinds they rest on.
    Crossplane {
        /// The managed resource's name.
        name: Text,
        /// Its kind, in lower case with its group.
        kind: Text,
        /// The provider configuration it uses.
        provider_config: Text,
    },
    /// Kyma's cloud manager.
    Kyma {
        /// The control-cluster object's name.
        name: Text,
        /// Namespace and name in the remote cluster.
        remote_name: Text,
        /// The scope's name.
        scope: Text,
        /// The shoot's name.
        shoot: Text,
    },
}

/// What a dialect's mark on a resource says to one object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reading {
    /// No mark of this dialect.
    None,
    /// It names us.
    Ours,
    /// Some of its tags name us and the rest are gone.
    Partly,
    /// It names somebody else, in these words.
    Other(String),
}

/// What a resource with our name and no mark at all means in a dialect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unmarked {
    /// It is used, and stays its owner's.
    Use,
    /// It is somebody else's: a conflict.
    Conflict,
}

const KKP_OWNER: &str = "owned-by.kubermatic.k8c.io/";
const CLUSTER: &str = "kubernetes.io/cluster/";
const CAPA_CLUSTER: &str = "sigs.k8s.io/cluster-api-provider-aws/cluster/";
const CAPA_ROLE: &str = "sigs.k8s.io/cluster-api-provider-aws/role";
const POWERVS_OWNER: &str = "powervs.cluster.x-k8s.io/owner";
const POWERVS_UUID: &str = "powervs.cluster.x-k8s.io/cluster-uuid";
const SECURITY_GROUP: &str = "aws/security-group";
const TRANSIT_GATEWAY: &str = "ibm/transit-gateway";
const KYMA: &str = "cloud-manager.kyma-project.io/";

/// The keys of every dialect's marks; what ends in `/` is how several of them begin.
pub(super) const KEYS: [&str; 8] = [
    CLUSTER,
    KKP_OWNER,
    "sigs.k8s.io/cluster-api-provider-aws/",
    "powervs.cluster.x-k8s.io/",
    "crossplane-name",
    "crossplane-kind",
    "crossplane-providerconfig",
    KYMA,
];

impl Dialect {
    /// The ownership mark as this carrier writes it. `role` is CAPA's (`node`, `bastion`, …).
    ///
    /// # Errors
    /// What the carrier cannot hold, with the rule.
    pub fn ownership(&self, carrier: Carrier, role: Option<&str>) -> Result<Tags, InputError> {
        let mut pairs: Vec<(String, &str)> = Vec::with_capacity(4);
        match self {
            Self::Plain => {}
            Self::Kkp { cluster } => pairs.push((format!("{KKP_OWNER}{cluster}"), "")),
            Self::Capa { cluster } => {
                pairs.push((format!("{CLUSTER}{cluster}"), "owned"));
                pairs.push((format!("{CAPA_CLUSTER}{cluster}"), "owned"));
                pairs.extend(role.map(|role| (CAPA_ROLE.to_owned(), role)));
            }
            Self::PowerVs { cluster, uuid } => {
                pairs.push((POWERVS_OWNER.to_owned(), cluster));
                pairs.push((POWERVS_UUID.to_owned(), uuid));
            }
            Self::Crossplane {
                name,
                kind,
                provider_config,
            } => {
                pairs.push(("crossplane-name".to_owned(), name));
                pairs.push(("crossplane-kind".to_owned(), kind));
                pairs.push(("crossplane-providerconfig".to_owned(), provider_config));
            }
            Self::Kyma {
                name,
                remote_name,
                scope,
                shoot,
            } => {
                pairs.push((format!("{KYMA}name"), name));
                pairs.push((format!("{KYMA}remote-name"), remote_name));
                pairs.push((format!("{KYMA}scope"), scope));
                pairs.push((format!("{KYMA}shoot"), shoot));
            }
        }
        pairs
            .iter()
            .map(|(key, value)| carrier.encode(key, value))
            .collect()
    }

    /// The ownership mark as it is written on a resource of this Kind.
    ///
    /// The cloud controller inside a cluster of Cluster API fails where it finds two security groups with
    /// the cluster's short key. So only the one that is made for it, of the role `lb`, has that key.
    ///
    /// # Errors
    /// What the carrier cannot hold, with the rule.
    pub fn ownership_on(&self, kind: &Kind, role: Option<&str>) -> Result<Tags, InputError> {
        let all = self.ownership(kind.carrier, role)?;
        if kind.name != SECURITY_GROUP || role == Some("lb") {
            return Ok(all);
        }
        let Self::Capa { cluster } = self else {
            return Ok(all);
        };
        let short = format!("{CLUSTER}{cluster}");
        let short = kind.carrier.encode_key(&short);
        Ok(all
            .iter()
            .filter(|(key, _)| **key != *short)
            .cloned()
            .collect())
    }

    /// The name of the cluster that its marks name. Not every dialect names one.
    pub fn cluster_name(&self) -> Option<&str> {
        match self {
            Self::Kkp { cluster } | Self::Capa { cluster } | Self::PowerVs { cluster, .. } => {
                Some(cluster)
            }
            Self::Plain | Self::Crossplane { .. } | Self::Kyma { .. } => None,
        }
    }

    /// The cluster mark: "used by this cluster". Not every dialect has one.
    ///
    /// # Errors
    /// What the carrier cannot hold, with the rule.
    pub fn cluster(&self, carrier: Carrier) -> Result<Tags, InputError> {
        let pairs = match self {
            Self::Kkp { cluster } => vec![(format!("{CLUSTER}{cluster}"), "")],
            Self::Capa { cluster } => vec![
                (format!("{CLUSTER}{cluster}"), "shared"),
                (format!("{CAPA_CLUSTER}{cluster}"), "shared"),
            ],
            Self::Plain | Self::PowerVs { .. } | Self::Crossplane { .. } | Self::Kyma { .. } => {
                Vec::new()
            }
        };
        pairs
            .iter()
            .map(|(key, value)| carrier.encode(key, value))
            .collect()
    }

    /// The cluster mark as it is written on a resource of this Kind.
    ///
    /// PowerVS has one on transit gateways alone: which sorts of connections of a gateway that is only used
    /// are the cluster's. It is for people; which connections those are, Freehold's own marks say.
    ///
    /// # Errors
    /// What the carrier cannot hold, with the rule.
    pub fn cluster_on(&self, kind: &Kind) -> Result<Tags, InputError> {
        let Self::PowerVs { cluster, .. } = self else {
            return self.cluster(kind.carrier);
        };
        if kind.name != TRANSIT_GATEWAY {
            return Ok(Tags::new());
        }
        // The original writes TG; no carrier here keeps case.
        let key = format!("{POWERVS_OWNER}/{cluster}/tg");
        let sorts = ["vpcconnection", "powervsconnection"];
        let pairs = sorts.iter().map(|sort| kind.carrier.encode(&key, sort));
        pairs.collect()
    }

    /// What the tags of a resource say to this object in this dialect.
    pub fn read(&self, carrier: Carrier, tags: &Tags) -> Reading {
        match self {
            Self::Plain => Reading::None,
            Self::Kkp { cluster } => read_keyed(carrier, tags, KKP_OWNER, cluster, ""),
            Self::Capa { cluster } => {
                let long = read_keyed(carrier, tags, CAPA_CLUSTER, cluster, "owned");
                let short = read_keyed(carrier, tags, CLUSTER, cluster, "owned");
                match (long, short) {
                    (Reading::Ours, Reading::Ours) => Reading::Ours,
                    (Reading::Other(other), _) | (_, Reading::Other(other)) => {
                        Reading::Other(other)
                    }
                    (Reading::None, Reading::None) => Reading::None,
                    _ => Reading::Partly,
                }
            }
            Self::PowerVs { cluster, uuid } => read_valued(
                carrier,
                tags,
                &[(POWERVS_OWNER, cluster), (POWERVS_UUID, uuid)],
            ),
            Self::Crossplane { name, kind, .. } => read_valued(
                carrier,
                tags,
                &[("crossplane-name", name), ("crossplane-kind", kind)],
            ),
            Self::Kyma { name, scope, .. } => read_valued(
                carrier,
                tags,
                &[
                    ("cloud-manager.kyma-project.io/name", name),
                    ("cloud-manager.kyma-project.io/scope", scope),
                ],
            ),
        }
    }

    /// What a resource with our name and no mark at all means.
    pub fn unmarked(&self) -> Unmarked {
        match self {
            Self::Kkp { .. } => Unmarked::Use,
            _ => Unmarked::Conflict,
        }
    }
}

/// Whom a mark of a served system names, whichever system's it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Named {
    /// The system, by its name in the registry; empty where several write such a mark.
    pub system: &'static str,
    /// What is named, in the system's words: "KKP cluster".
    pub what: &'static str,
    /// Its name.
    pub name: String,
    /// Whether the mark says that the resource belongs to it; else it is only used.
    pub owns: bool,
}

impl std::fmt::Display for Named {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} {}", self.what, self.name)
    }
}

/// Whom the tags of a resource name in the words of any served system, owners first.
pub fn named(carrier: Carrier, tags: &Tags) -> Vec<Named> {
    let mut all: Vec<Named> = Vec::new();
    for (prefix, system, what) in [
        (KKP_OWNER, "kkp", "KKP cluster"),
        (CAPA_CLUSTER, "capa", "Cluster API cluster"),
        (CLUSTER, "", "cluster"),
    ] {
        let prefix = carrier.encode_key(prefix);
        for (key, value) in tags.with_prefix(&prefix) {
            let owns = system == "kkp" || &**value == "owned";
            let name = key[prefix.len()..].to_owned();
            // The short mark stands beside each system's own.
            if !system.is_empty() || !all.iter().any(|named| named.name == name) {
                all.push(Named {
                    system,
                    what,
                    name,
                    owns,
                });
            }
        }
    }
    for (key, system, what) in [
        (POWERVS_OWNER, "powervs", "PowerVS cluster"),
        ("crossplane-name", "crossplane", "Crossplane resource"),
        (
            "cloud-manager.kyma-project.io/name",
            "kyma",
            "Kyma resource",
        ),
    ] {
        if let Some(value) = tags.get(&carrier.encode_key(key)) {
            all.push(Named {
                system,
                what,
                name: carrier.decode(value),
                owns: true,
            });
        }
    }
    all.sort_by_key(|named| !named.owns);
    all
}

/// A mark whose key ends in the cluster's name.
fn read_keyed(carrier: Carrier, tags: &Tags, prefix: &str, cluster: &str, value: &str) -> Reading {
    // A key that this carrier cannot write is on no resource.
    let Ok((ours, value)) = carrier.encode(&format!("{prefix}{cluster}"), value) else {
        return Reading::None;
    };
    if tags.has(&ours, &value) {
        return Reading::Ours;
    }
    let stem = ours.len() - cluster.len();
    let other = tags
        .with_prefix(&ours[..stem])
        .find(|(key, found)| *key != ours && *found == value);
    other.map_or(Reading::None, |(key, _)| {
        Reading::Other(key[stem..].to_owned())
    })
}

/// A mark of several fixed keys, all of which must name us.
fn read_valued(carrier: Carrier, tags: &Tags, expected: &[(&str, &Text)]) -> Reading {
    let (mut ours, mut missing) = (0, 0);
    for (key, value) in expected {
        let Ok((key, value)) = carrier.encode(key, value) else {
            return Reading::None;
        };
        match tags.get(&key) {
            Some(found) if *found == value => ours += 1,
            Some(found) => return Reading::Other(format!("{key}={}", carrier.decode(found))),
            None => missing += 1,
        }
    }
    match (ours, missing) {
        (0, _) => Reading::None,
        (_, 0) => Reading::Ours,
        _ => Reading::Partly,
    }
}
