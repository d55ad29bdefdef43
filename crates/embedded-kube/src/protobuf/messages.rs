//! The fields of the messages that clients send, by their published numbers.

use super::Kind::{self, Bytes, Flag, List, Map, Message, MicroTime, Number, Raw, Text, Time};

/// A field: its number, its name in JSON, and what it holds.
pub(super) type Field = (u64, &'static str, Kind);

/// The fields of a message; none if it is not known.
pub(super) fn of(message: &str) -> &'static [Field] {
    match message {
        "authentication.BoundObjectReference" => &[
            (1, "kind", Text),
            (2, "apiVersion", Text),
            (3, "name", Text),
            (4, "uid", Text),
        ],
        "authentication.SelfSubjectReview" => &[
            (1, "metadata", Message("meta.ObjectMeta")),
            (
                2,
                "status",
                Message("authentication.SelfSubjectReviewStatus"),
            ),
        ],
        "authentication.SelfSubjectReviewStatus" => {
            &[(1, "userInfo", Message("authentication.UserInfo"))]
        }
        "authentication.TokenRequest" => &[
            (1, "metadata", Message("meta.ObjectMeta")),
            (2, "spec", Message("authentication.TokenRequestSpec")),
            (3, "status", Message("authentication.TokenRequestStatus")),
        ],
        "authentication.TokenRequestSpec" => &[
            (1, "audiences", List(&Text)),
            (4, "expirationSeconds", Number),
            (
                3,
                "boundObjectRef",
                Message("authentication.BoundObjectReference"),
            ),
        ],
        "authentication.TokenRequestStatus" => {
            &[(1, "token", Text), (2, "expirationTimestamp", Time)]
        }
        "authentication.TokenReview" => &[
            (1, "metadata", Message("meta.ObjectMeta")),
            (2, "spec", Message("authentication.TokenReviewSpec")),
            (3, "status", Message("authentication.TokenReviewStatus")),
        ],
        "authentication.TokenReviewSpec" => &[(1, "token", Text), (2, "audiences", List(&Text))],
        "authentication.TokenReviewStatus" => &[
            (1, "authenticated", Flag),
            (2, "user", Message("authentication.UserInfo")),
            (4, "audiences", List(&Text)),
            (3, "error", Text),
        ],
        "authentication.UserInfo" => &[
            (1, "username", Text),
            (2, "uid", Text),
            (3, "groups", List(&Text)),
            (4, "extra", Map(&Message("extra"))),
        ],
        "authorization.FieldSelectorAttributes" => &[
            (1, "rawSelector", Text),
            (
                2,
                "requirements",
                List(&Message("meta.FieldSelectorRequirement")),
            ),
        ],
        "authorization.LabelSelectorAttributes" => &[
            (1, "rawSelector", Text),
            (
                2,
                "requirements",
                List(&Message("meta.LabelSelectorRequirement")),
            ),
        ],
        "authorization.LocalSubjectAccessReview" => &[
            (1, "metadata", Message("meta.ObjectMeta")),
            (2, "spec", Message("authorization.SubjectAccessReviewSpec")),
            (
                3,
                "status",
                Message("authorization.SubjectAccessReviewStatus"),
            ),
        ],
        "authorization.NonResourceAttributes" => &[(1, "path", Text), (2, "verb", Text)],
        "authorization.NonResourceRule" => &[
            (1, "verbs", List(&Text)),
            (2, "nonResourceURLs", List(&Text)),
        ],
        "authorization.ResourceAttributes" => &[
            (1, "namespace", Text),
            (2, "verb", Text),
            (3, "group", Text),
            (4, "version", Text),
            (5, "resource", Text),
            (6, "subresource", Text),
            (7, "name", Text),
            (
                8,
                "fieldSelector",
                Message("authorization.FieldSelectorAttributes"),
            ),
            (
                9,
                "labelSelector",
                Message("authorization.LabelSelectorAttributes"),
            ),
        ],
        "authorization.ResourceRule" => &[
            (1, "verbs", List(&Text)),
            (2, "apiGroups", List(&Text)),
            (3, "resources", List(&Text)),
            (4, "resourceNames", List(&Text)),
        ],
        "authorization.SelfSubjectAccessReview" => &[
            (1, "metadata", Message("meta.ObjectMeta")),
            (
                2,
                "spec",
                Message("authorization.SelfSubjectAccessReviewSpec"),
            ),
            (
                3,
                "status",
                Message("authorization.SubjectAccessReviewStatus"),
            ),
        ],
        "authorization.SelfSubjectAccessReviewSpec" => &[
            (
                1,
                "resourceAttributes",
                Message("authorization.ResourceAttributes"),
            ),
            (
                2,
                "nonResourceAttributes",
                Message("authorization.NonResourceAttributes"),
            ),
        ],
        "authorization.SelfSubjectRulesReview" => &[
            (1, "metadata", Message("meta.ObjectMeta")),
            (
                2,
                "spec",
                Message("authorization.SelfSubjectRulesReviewSpec"),
            ),
            (
                3,
                "status",
                Message("authorization.SubjectRulesReviewStatus"),
            ),
        ],
        "authorization.SelfSubjectRulesReviewSpec" => &[(1, "namespace", Text)],
        "authorization.SubjectAccessReview" => &[
            (1, "metadata", Message("meta.ObjectMeta")),
            (2, "spec", Message("authorization.SubjectAccessReviewSpec")),
            (
                3,
                "status",
                Message("authorization.SubjectAccessReviewStatus"),
            ),
        ],
        "authorization.SubjectAccessReviewSpec" => &[
            (
                1,
                "resourceAttributes",
                Message("authorization.ResourceAttributes"),
            ),
            (
                2,
                "nonResourceAttributes",
                Message("authorization.NonResourceAttributes"),
            ),
            (3, "user", Text),
            (4, "groups", List(&Text)),
            (5, "extra", Map(&Message("extra"))),
            (6, "uid", Text),
        ],
        "authorization.SubjectAccessReviewStatus" => &[
            (1, "allowed", Flag),
            (4, "denied", Flag),
            (2, "reason", Text),
            (3, "evaluationError", Text),
        ],
        "authorization.SubjectRulesReviewStatus" => &[
            (
                1,
                "resourceRules",
                List(&Message("authorization.ResourceRule")),
            ),
            (
                2,
                "nonResourceRules",
                List(&Message("authorization.NonResourceRule")),
            ),
            (3, "incomplete", Flag),
            (4, "evaluationError", Text),
        ],
        "coordination.Lease" => &[
            (1, "metadata", Message("meta.ObjectMeta")),
            (2, "spec", Message("coordination.LeaseSpec")),
        ],
        "coordination.LeaseSpec" => &[
            (1, "holderIdentity", Text),
            (2, "leaseDurationSeconds", Number),
            (3, "acquireTime", MicroTime),
            (4, "renewTime", MicroTime),
            (5, "leaseTransitions", Number),
            (6, "strategy", Text),
            (7, "preferredHolder", Text),
        ],
        "core.ConfigMap" => &[
            (1, "metadata", Message("meta.ObjectMeta")),
            (4, "immutable", Flag),
            (2, "data", Map(&Text)),
            (3, "binaryData", Map(&Bytes)),
        ],
        "core.Event" => &[
            (1, "metadata", Message("meta.ObjectMeta")),
            (2, "involvedObject", Message("core.ObjectReference")),
            (3, "reason", Text),
            (4, "message", Text),
            (5, "source", Message("core.EventSource")),
            (6, "firstTimestamp", Time),
            (7, "lastTimestamp", Time),
            (8, "count", Number),
            (9, "type", Text),
            (10, "eventTime", MicroTime),
            (11, "series", Message("core.EventSeries")),
            (12, "action", Text),
            (13, "related", Message("core.ObjectReference")),
            (14, "reportingComponent", Text),
            (15, "reportingInstance", Text),
        ],
        "core.EventSeries" => &[(1, "count", Number), (2, "lastObservedTime", MicroTime)],
        "core.EventSource" => &[(1, "component", Text), (2, "host", Text)],
        "core.LocalObjectReference" => &[(1, "name", Text)],
        "core.Namespace" => &[
            (1, "metadata", Message("meta.ObjectMeta")),
            (2, "spec", Message("core.NamespaceSpec")),
            (3, "status", Message("core.NamespaceStatus")),
        ],
        "core.NamespaceCondition" => &[
            (1, "type", Text),
            (2, "status", Text),
            (4, "lastTransitionTime", Time),
            (5, "reason", Text),
            (6, "message", Text),
        ],
        "core.NamespaceSpec" => &[(1, "finalizers", List(&Text))],
        "core.NamespaceStatus" => &[
            (1, "phase", Text),
            (2, "conditions", List(&Message("core.NamespaceCondition"))),
        ],
        "core.ObjectReference" => &[
            (1, "kind", Text),
            (2, "namespace", Text),
            (3, "name", Text),
            (4, "uid", Text),
            (5, "apiVersion", Text),
            (6, "resourceVersion", Text),
            (7, "fieldPath", Text),
        ],
        "core.Secret" => &[
            (1, "metadata", Message("meta.ObjectMeta")),
            (5, "immutable", Flag),
            (2, "data", Map(&Bytes)),
            (4, "stringData", Map(&Text)),
            (3, "type", Text),
        ],
        "core.ServiceAccount" => &[
            (1, "metadata", Message("meta.ObjectMeta")),
            (2, "secrets", List(&Message("core.ObjectReference"))),
            (
                3,
                "imagePullSecrets",
                List(&Message("core.LocalObjectReference")),
            ),
            (4, "automountServiceAccountToken", Flag),
        ],
        "events.Event" => &[
            (1, "metadata", Message("meta.ObjectMeta")),
            (2, "eventTime", MicroTime),
            (3, "series", Message("events.EventSeries")),
            (4, "reportingController", Text),
            (5, "reportingInstance", Text),
            (6, "action", Text),
            (7, "reason", Text),
            (8, "regarding", Message("core.ObjectReference")),
            (9, "related", Message("core.ObjectReference")),
            (10, "note", Text),
            (11, "type", Text),
            (12, "deprecatedSource", Message("core.EventSource")),
            (13, "deprecatedFirstTimestamp", Time),
            (14, "deprecatedLastTimestamp", Time),
            (15, "deprecatedCount", Number),
        ],
        "events.EventSeries" => &[(1, "count", Number), (2, "lastObservedTime", MicroTime)],
        "meta.DeleteOptions" => &[
            (1, "gracePeriodSeconds", Number),
            (2, "preconditions", Message("meta.Preconditions")),
            (3, "orphanDependents", Flag),
            (4, "propagationPolicy", Text),
            (5, "dryRun", List(&Text)),
            (6, "ignoreStoreReadErrorWithClusterBreakingPotential", Flag),
        ],
        "meta.FieldSelectorRequirement" => &[
            (1, "key", Text),
            (2, "operator", Text),
            (3, "values", List(&Text)),
        ],
        "meta.LabelSelector" => &[
            (1, "matchLabels", Map(&Text)),
            (
                2,
                "matchExpressions",
                List(&Message("meta.LabelSelectorRequirement")),
            ),
        ],
        "meta.LabelSelectorRequirement" => &[
            (1, "key", Text),
            (2, "operator", Text),
            (3, "values", List(&Text)),
        ],
        "meta.ManagedFieldsEntry" => &[
            (1, "manager", Text),
            (2, "operation", Text),
            (3, "apiVersion", Text),
            (4, "time", Time),
            (6, "fieldsType", Text),
            (7, "fieldsV1", Raw),
            (8, "subresource", Text),
        ],
        "meta.ObjectMeta" => &[
            (1, "name", Text),
            (2, "generateName", Text),
            (3, "namespace", Text),
            (4, "selfLink", Text),
            (5, "uid", Text),
            (6, "resourceVersion", Text),
            (7, "generation", Number),
            (8, "creationTimestamp", Time),
            (9, "deletionTimestamp", Time),
            (10, "deletionGracePeriodSeconds", Number),
            (11, "labels", Map(&Text)),
            (12, "annotations", Map(&Text)),
            (13, "ownerReferences", List(&Message("meta.OwnerReference"))),
            (14, "finalizers", List(&Text)),
            (
                17,
                "managedFields",
                List(&Message("meta.ManagedFieldsEntry")),
            ),
        ],
        "meta.OwnerReference" => &[
            (5, "apiVersion", Text),
            (1, "kind", Text),
            (3, "name", Text),
            (4, "uid", Text),
            (6, "controller", Flag),
            (7, "blockOwnerDeletion", Flag),
        ],
        "meta.Preconditions" => &[(1, "uid", Text), (2, "resourceVersion", Text)],
        "rbac.AggregationRule" => &[(
            1,
            "clusterRoleSelectors",
            List(&Message("meta.LabelSelector")),
        )],
        "rbac.ClusterRole" => &[
            (1, "metadata", Message("meta.ObjectMeta")),
            (2, "rules", List(&Message("rbac.PolicyRule"))),
            (3, "aggregationRule", Message("rbac.AggregationRule")),
        ],
        "rbac.ClusterRoleBinding" => &[
            (1, "metadata", Message("meta.ObjectMeta")),
            (2, "subjects", List(&Message("rbac.Subject"))),
            (3, "roleRef", Message("rbac.RoleRef")),
        ],
        "rbac.PolicyRule" => &[
            (1, "verbs", List(&Text)),
            (2, "apiGroups", List(&Text)),
            (3, "resources", List(&Text)),
            (4, "resourceNames", List(&Text)),
            (5, "nonResourceURLs", List(&Text)),
        ],
        "rbac.Role" => &[
            (1, "metadata", Message("meta.ObjectMeta")),
            (2, "rules", List(&Message("rbac.PolicyRule"))),
        ],
        "rbac.RoleBinding" => &[
            (1, "metadata", Message("meta.ObjectMeta")),
            (2, "subjects", List(&Message("rbac.Subject"))),
            (3, "roleRef", Message("rbac.RoleRef")),
        ],
        "rbac.RoleRef" => &[(1, "apiGroup", Text), (2, "kind", Text), (3, "name", Text)],
        "rbac.Subject" => &[
            (1, "kind", Text),
            (2, "apiGroup", Text),
            (3, "name", Text),
            (4, "namespace", Text),
        ],
        // A list where a value is expected: a message around it.
        "extra" => &[(1, "", List(&Text))],
        _ => &[],
    }
}
