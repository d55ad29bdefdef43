//! The fields of the built-in kinds.

use std::sync::LazyLock;

use super::Builtin;
use super::access_fields as access;
use crate::meta::metadata_field;
use crate::typed::{Field, Struct, Type, always, field, list, map, object, pointer};

/// The fields of a kind.
pub(super) fn of(builtin: Builtin) -> &'static Struct {
    macro_rules! table {
        ($($variant:ident => $function:path),* $(,)?) => {
            match builtin {
                $(Builtin::$variant => {
                    static TABLE: LazyLock<Struct> = LazyLock::new($function);
                    &TABLE
                })*
            }
        };
    }
    table! {
        Namespace => namespace,
        Secret => secret,
        ConfigMap => config_map,
        Event => event,
        NewEvent => new_event,
        ServiceAccount => service_account,
        Volume => volume,
        Claim => claim,
        Lease => lease,
        Definition => definition,
        Role => access::role,
        ClusterRole => access::cluster_role,
        RoleBinding => access::role_binding,
        ClusterRoleBinding => access::cluster_role_binding,
        SubjectReview => access::subject_review,
        LocalReview => access::local_review,
        SelfReview => access::self_review,
        RulesReview => access::rules_review,
        TokenReview => access::token_review,
        WhoAmI => access::who_am_i,
        Policy => super::policies::policy,
        PolicyBinding => super::policies::binding,
    }
}

pub(super) fn kind(name: &'static str, mut fields: Vec<Field>) -> Struct {
    let mut all = vec![
        field("apiVersion", Type::String),
        field("kind", Type::String),
        metadata_field(),
    ];
    all.append(&mut fields);
    Struct { name, fields: all }
}

pub(super) fn texts() -> Type {
    list(Type::String)
}

fn condition(name: &'static str, mut more: Vec<Field>) -> Type {
    more.extend([
        always("type", Type::String),
        always("status", Type::String),
        field("reason", Type::String),
        field("message", Type::String),
        always("lastTransitionTime", Type::Time),
    ]);
    object(name, more)
}

fn namespace() -> Struct {
    kind(
        "Namespace",
        vec![
            always(
                "spec",
                object("NamespaceSpec", vec![field("finalizers", texts())]),
            ),
            always(
                "status",
                object(
                    "NamespaceStatus",
                    vec![
                        field("phase", Type::String),
                        field("conditions", list(condition("NamespaceCondition", vec![])))
                            .merged_by("type"),
                    ],
                ),
            ),
        ],
    )
}

fn secret() -> Struct {
    kind(
        "Secret",
        vec![
            pointer("immutable", Type::Bool),
            field("data", map(Type::Bytes)),
            field("stringData", map(Type::String)),
            field("type", Type::String),
        ],
    )
}

fn config_map() -> Struct {
    kind(
        "ConfigMap",
        vec![
            pointer("immutable", Type::Bool),
            field("data", map(Type::String)),
            field("binaryData", map(Type::Bytes)),
        ],
    )
}

fn object_reference() -> Vec<Field> {
    [
        "kind",
        "namespace",
        "name",
        "uid",
        "apiVersion",
        "resourceVersion",
        "fieldPath",
    ]
    .map(|name| field(name, Type::String))
    .into()
}

fn reference() -> Type {
    object("ObjectReference", object_reference())
}

fn event_source() -> Type {
    object(
        "EventSource",
        vec![
            field("component", Type::String),
            field("host", Type::String),
        ],
    )
}

fn series() -> Type {
    object(
        "EventSeries",
        vec![
            field("count", Type::Int32),
            always("lastObservedTime", Type::MicroTime),
        ],
    )
}

fn event() -> Struct {
    kind(
        "Event",
        vec![
            always("involvedObject", reference()),
            field("reason", Type::String),
            field("message", Type::String),
            always("source", event_source()),
            always("firstTimestamp", Type::Time),
            always("lastTimestamp", Type::Time),
            field("count", Type::Int32),
            field("type", Type::String),
            always("eventTime", Type::MicroTime),
            pointer("series", series()),
            field("action", Type::String),
            pointer("related", reference()),
            always("reportingComponent", Type::String),
            always("reportingInstance", Type::String),
        ],
    )
}

fn new_event() -> Struct {
    kind(
        "Event",
        vec![
            always("eventTime", Type::MicroTime),
            pointer("series", series()),
            field("reportingController", Type::String),
            field("reportingInstance", Type::String),
            field("action", Type::String),
            field("reason", Type::String),
            always("regarding", reference()),
            pointer("related", reference()),
            field("note", Type::String),
            field("type", Type::String),
            always("deprecatedSource", event_source()),
            always("deprecatedFirstTimestamp", Type::Time),
            always("deprecatedLastTimestamp", Type::Time),
            field("deprecatedCount", Type::Int32),
        ],
    )
}

fn service_account() -> Struct {
    kind(
        "ServiceAccount",
        vec![
            field("secrets", list(reference())).merged_by("name"),
            field(
                "imagePullSecrets",
                list(object(
                    "LocalObjectReference",
                    vec![field("name", Type::String)],
                )),
            ),
            pointer("automountServiceAccountToken", Type::Bool),
        ],
    )
}

fn lease() -> Struct {
    kind(
        "Lease",
        vec![always(
            "spec",
            object(
                "LeaseSpec",
                vec![
                    pointer("holderIdentity", Type::String),
                    pointer("leaseDurationSeconds", Type::Int32),
                    pointer("acquireTime", Type::MicroTime),
                    pointer("renewTime", Type::MicroTime),
                    pointer("leaseTransitions", Type::Int32),
                    pointer("strategy", Type::String),
                    pointer("preferredHolder", Type::String),
                ],
            ),
        )],
    )
}

fn secret_reference() -> Type {
    object(
        "SecretReference",
        vec![
            field("name", Type::String),
            field("namespace", Type::String),
        ],
    )
}

fn volume_sources() -> Vec<Field> {
    let text = |name| field(name, Type::String);
    let typed = [
        (
            "nfs",
            object(
                "NFSVolumeSource",
                vec![
                    always("server", Type::String),
                    always("path", Type::String),
                    field("readOnly", Type::Bool),
                ],
            ),
        ),
        (
            "hostPath",
            object(
                "HostPathVolumeSource",
                vec![always("path", Type::String), pointer("type", Type::String)],
            ),
        ),
        (
            "local",
            object(
                "LocalVolumeSource",
                vec![
                    always("path", Type::String),
                    pointer("fsType", Type::String),
                ],
            ),
        ),
        (
            "csi",
            object(
                "CSIPersistentVolumeSource",
                vec![
                    always("driver", Type::String),
                    always("volumeHandle", Type::String),
                    field("readOnly", Type::Bool),
                    text("fsType"),
                    field("volumeAttributes", map(Type::String)),
                    pointer("controllerPublishSecretRef", secret_reference()),
                    pointer("nodeStageSecretRef", secret_reference()),
                    pointer("nodePublishSecretRef", secret_reference()),
                    pointer("controllerExpandSecretRef", secret_reference()),
                    pointer("nodeExpandSecretRef", secret_reference()),
                ],
            ),
        ),
        (
            "awsElasticBlockStore",
            object(
                "AWSElasticBlockStoreVolumeSource",
                vec![
                    always("volumeID", Type::String),
                    text("fsType"),
                    field("partition", Type::Int32),
                    field("readOnly", Type::Bool),
                ],
            ),
        ),
        (
            "gcePersistentDisk",
            object(
                "GCEPersistentDiskVolumeSource",
                vec![
                    always("pdName", Type::String),
                    text("fsType"),
                    field("partition", Type::Int32),
                    field("readOnly", Type::Bool),
                ],
            ),
        ),
        (
            "azureFile",
            object(
                "AzureFilePersistentVolumeSource",
                vec![
                    always("secretName", Type::String),
                    always("shareName", Type::String),
                    field("readOnly", Type::Bool),
                    pointer("secretNamespace", Type::String),
                ],
            ),
        ),
    ];
    let mut fields: Vec<Field> = typed
        .into_iter()
        .map(|(name, kind)| pointer(name, kind))
        .collect();
    // Sources that nothing here uses: kept as they come.
    for name in super::volume::OTHER_SOURCES {
        fields.push(pointer(name, Type::Any));
    }
    fields
}

fn volume() -> Struct {
    let mut spec = vec![
        field("capacity", map(Type::Quantity)),
        field("accessModes", texts()),
        pointer("claimRef", reference()),
        field("persistentVolumeReclaimPolicy", Type::String),
        field("storageClassName", Type::String),
        field("mountOptions", texts()),
        pointer("volumeMode", Type::String),
        pointer("nodeAffinity", Type::Any),
        pointer("volumeAttributesClassName", Type::String),
    ];
    spec.extend(volume_sources());
    kind(
        "PersistentVolume",
        vec![
            always("spec", object("PersistentVolumeSpec", spec)),
            always(
                "status",
                object(
                    "PersistentVolumeStatus",
                    vec![
                        field("phase", Type::String),
                        field("message", Type::String),
                        field("reason", Type::String),
                        pointer("lastPhaseTransitionTime", Type::Time),
                    ],
                ),
            ),
        ],
    )
}

pub(super) fn label_selector() -> Type {
    object(
        "LabelSelector",
        vec![
            field("matchLabels", map(Type::String)),
            field(
                "matchExpressions",
                list(object(
                    "LabelSelectorRequirement",
                    vec![
                        always("key", Type::String),
                        always("operator", Type::String),
                        field("values", texts()),
                    ],
                )),
            ),
        ],
    )
}

fn claim() -> Struct {
    let data_source = |name, namespaced: bool| {
        let mut fields = vec![
            pointer("apiGroup", Type::String),
            always("kind", Type::String),
            always("name", Type::String),
        ];
        if namespaced {
            fields.push(pointer("namespace", Type::String));
        }
        object(name, fields)
    };
    kind(
        "PersistentVolumeClaim",
        vec![
            always(
                "spec",
                object(
                    "PersistentVolumeClaimSpec",
                    vec![
                        field("accessModes", texts()),
                        pointer("selector", label_selector()),
                        always(
                            "resources",
                            object(
                                "VolumeResourceRequirements",
                                vec![
                                    field("limits", map(Type::Quantity)),
                                    field("requests", map(Type::Quantity)),
                                ],
                            ),
                        ),
                        field("volumeName", Type::String),
                        pointer("storageClassName", Type::String),
                        pointer("volumeMode", Type::String),
                        pointer(
                            "dataSource",
                            data_source("TypedLocalObjectReference", false),
                        ),
                        pointer("dataSourceRef", data_source("TypedObjectReference", true)),
                        pointer("volumeAttributesClassName", Type::String),
                    ],
                ),
            ),
            always(
                "status",
                object(
                    "PersistentVolumeClaimStatus",
                    vec![
                        field("phase", Type::String),
                        field("accessModes", texts()),
                        field("capacity", map(Type::Quantity)),
                        field(
                            "conditions",
                            list(condition(
                                "PersistentVolumeClaimCondition",
                                vec![always("lastProbeTime", Type::Time)],
                            )),
                        )
                        .merged_by("type"),
                        field("allocatedResources", map(Type::Quantity)),
                        field("allocatedResourceStatuses", map(Type::String)),
                        pointer("currentVolumeAttributesClassName", Type::String),
                        pointer("modifyVolumeStatus", Type::Any),
                    ],
                ),
            ),
        ],
    )
}

fn names(structure: &'static str) -> Type {
    object(
        structure,
        vec![
            always("plural", Type::String),
            field("singular", Type::String),
            field("shortNames", texts()),
            always("kind", Type::String),
            field("listKind", Type::String),
            field("categories", texts()),
        ],
    )
}

fn definition() -> Struct {
    let version = object(
        "CustomResourceDefinitionVersion",
        vec![
            always("name", Type::String),
            always("served", Type::Bool),
            always("storage", Type::Bool),
            field("deprecated", Type::Bool),
            pointer("deprecationWarning", Type::String),
            pointer(
                "schema",
                object(
                    "CustomResourceValidation",
                    vec![pointer("openAPIV3Schema", Type::Any)],
                ),
            ),
            pointer(
                "subresources",
                object(
                    "CustomResourceSubresources",
                    vec![
                        pointer("status", object("CustomResourceSubresourceStatus", vec![])),
                        pointer(
                            "scale",
                            object(
                                "CustomResourceSubresourceScale",
                                vec![
                                    always("specReplicasPath", Type::String),
                                    always("statusReplicasPath", Type::String),
                                    pointer("labelSelectorPath", Type::String),
                                ],
                            ),
                        ),
                    ],
                ),
            ),
            field(
                "additionalPrinterColumns",
                list(object(
                    "CustomResourceColumnDefinition",
                    vec![
                        always("name", Type::String),
                        always("type", Type::String),
                        field("format", Type::String),
                        field("description", Type::String),
                        field("priority", Type::Int32),
                        always("jsonPath", Type::String),
                    ],
                )),
            ),
            field(
                "selectableFields",
                list(object(
                    "SelectableField",
                    vec![always("jsonPath", Type::String)],
                )),
            ),
        ],
    );
    kind(
        "CustomResourceDefinition",
        vec![
            always(
                "spec",
                object(
                    "CustomResourceDefinitionSpec",
                    vec![
                        always("group", Type::String),
                        always("names", names("CustomResourceDefinitionNames")),
                        always("scope", Type::String),
                        always("versions", list(version)),
                        pointer(
                            "conversion",
                            object(
                                "CustomResourceConversion",
                                vec![
                                    always("strategy", Type::String),
                                    pointer("webhook", Type::Any),
                                ],
                            ),
                        ),
                        field("preserveUnknownFields", Type::Bool),
                    ],
                ),
            ),
            always(
                "status",
                object(
                    "CustomResourceDefinitionStatus",
                    vec![
                        always(
                            "conditions",
                            list(condition(
                                "CustomResourceDefinitionCondition",
                                vec![field("observedGeneration", Type::Int64)],
                            )),
                        ),
                        always("acceptedNames", names("CustomResourceDefinitionNames")),
                        always("storedVersions", texts()),
                        field("observedGeneration", Type::Int64),
                    ],
                ),
            ),
        ],
    )
}
