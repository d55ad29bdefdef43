//! What each Kind is called in the real account: operations, ids, error codes.
//!
//! Everything that a Kind's declaration says is followed from there. These tables hold the rest; a
//! synthetic Kind gets the row [`OTHER`].

use cloud_port::aws::errors::Service;
use cloud_port::aws::{instance_profile, role, route_table, security_group, subnet, vpc};
use ownership::Kind;

use crate::op::Op;

/// How one Kind appears in the API.
#[derive(Debug)]
pub(crate) struct Row {
    pub(crate) model: Model,
    pub(crate) service: Service,
    /// What its ids begin with; empty where the id is the name.
    pub(crate) prefix: &'static str,
    /// What the account's own name for it begins with, where its id is only a name.
    pub(crate) unique: &'static str,
    pub(crate) not_found: &'static str,
    pub(crate) duplicate: &'static str,
    pub(crate) over_quota: &'static str,
    pub(crate) blocked: &'static str,
    pub(crate) tags_full: &'static str,
    pub(crate) get: Op,
    pub(crate) list: Op,
    pub(crate) create: Op,
    pub(crate) update: Op,
    pub(crate) delete: Op,
    pub(crate) tag: Op,
    pub(crate) untag: Op,
    pub(crate) inner: &'static [InnerRow],
}

/// How the parts of one inner Kind appear in the API.
#[derive(Debug)]
pub(crate) struct InnerRow {
    pub(crate) list: Op,
    /// What the ids of its parts begin with; empty where they have none.
    pub(crate) prefix: &'static str,
    /// Where the listing shows only keys: the call that shows one part.
    pub(crate) get: Option<Op>,
    pub(crate) add: Op,
    pub(crate) remove: Op,
    pub(crate) duplicate: &'static str,
    pub(crate) not_found: &'static str,
    pub(crate) full: &'static str,
    /// Which reads of the resource show them too.
    pub(crate) told: Told,
}

/// Which reads of a resource show its parts unasked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Told {
    Never,
    InList,
    Always,
}

/// Which Kinds have behaviour of their own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Model {
    Vpc,
    RouteTable,
    Subnet,
    SecurityGroup,
    Role,
    InstanceProfile,
    Other,
}

/// The row of a Kind.
pub(crate) fn row(kind: &Kind) -> &'static Row {
    let known = [
        (vpc::VPC.name, &VPC),
        (route_table::ROUTE_TABLE.name, &ROUTE_TABLE),
        (subnet::SUBNET.name, &SUBNET),
        (security_group::SECURITY_GROUP.name, &SECURITY_GROUP),
        (role::ROLE.name, &ROLE),
        (instance_profile::INSTANCE_PROFILE.name, &INSTANCE_PROFILE),
    ];
    known
        .into_iter()
        .find(|(name, _)| *name == kind.name)
        .map_or(&OTHER, |(_, row)| row)
}

impl Row {
    /// The row of a Kind's inner Kind, by its place in the declaration.
    pub(crate) fn inner(&self, at: usize) -> &'static InnerRow {
        self.inner.get(at).unwrap_or(&OTHER_PART)
    }

    /// The code of a throttled call.
    pub(crate) fn throttled(&self) -> &'static str {
        match self.service {
            Service::Ec2 => "RequestLimitExceeded",
            Service::Iam | Service::Sts => "Throttling",
        }
    }

    /// The code of a parameter that breaks a rule.
    pub(crate) fn invalid(&self) -> &'static str {
        match self.service {
            Service::Ec2 => "InvalidParameterValue",
            Service::Iam | Service::Sts => "ValidationError",
        }
    }
}

static OTHER: Row = Row {
    model: Model::Other,
    service: Service::Ec2,
    prefix: "res-",
    unique: "UNIQUE",
    not_found: "InvalidResourceID.NotFound",
    duplicate: "InvalidResource.Duplicate",
    over_quota: "ResourceLimitExceeded",
    blocked: "DependencyViolation",
    tags_full: "TagLimitExceeded",
    get: Op::GetResource,
    list: Op::ListResources,
    create: Op::CreateResource,
    update: Op::UpdateResource,
    delete: Op::DeleteResource,
    tag: Op::TagResource,
    untag: Op::UntagResource,
    inner: &[],
};

static OTHER_PART: InnerRow = InnerRow {
    prefix: "",
    list: Op::ListParts,
    get: None,
    add: Op::AddPart,
    remove: Op::RemovePart,
    duplicate: "InvalidPart.Duplicate",
    not_found: "InvalidPart.NotFound",
    full: "InvalidPart.Duplicate",
    told: Told::Never,
};

static VPC: Row = Row {
    model: Model::Vpc,
    prefix: "vpc-",
    not_found: "InvalidVpcID.NotFound",
    over_quota: "VpcLimitExceeded",
    get: Op::DescribeVpcs,
    list: Op::DescribeVpcs,
    create: Op::CreateVpc,
    delete: Op::DeleteVpc,
    tag: Op::CreateTags,
    untag: Op::DeleteTags,
    ..OTHER
};

static ROUTE_TABLE: Row = Row {
    model: Model::RouteTable,
    prefix: "rtb-",
    not_found: "InvalidRouteTableID.NotFound",
    over_quota: "RouteTableLimitExceeded",
    get: Op::DescribeRouteTables,
    list: Op::DescribeRouteTables,
    create: Op::CreateRouteTable,
    delete: Op::DeleteRouteTable,
    tag: Op::CreateTags,
    untag: Op::DeleteTags,
    ..OTHER
};

static SUBNET: Row = Row {
    model: Model::Subnet,
    prefix: "subnet-",
    not_found: "InvalidSubnetID.NotFound",
    over_quota: "SubnetLimitExceeded",
    get: Op::DescribeSubnets,
    list: Op::DescribeSubnets,
    create: Op::CreateSubnet,
    delete: Op::DeleteSubnet,
    tag: Op::CreateTags,
    untag: Op::DeleteTags,
    ..OTHER
};

static SECURITY_GROUP: Row = Row {
    model: Model::SecurityGroup,
    prefix: "sg-",
    not_found: "InvalidGroup.NotFound",
    duplicate: "InvalidGroup.Duplicate",
    over_quota: "SecurityGroupLimitExceeded",
    get: Op::DescribeSecurityGroups,
    list: Op::DescribeSecurityGroups,
    create: Op::CreateSecurityGroup,
    delete: Op::DeleteSecurityGroup,
    tag: Op::CreateTags,
    untag: Op::DeleteTags,
    inner: &[InnerRow {
        prefix: "sgr-",
        list: Op::DescribeSecurityGroupRules,
        add: Op::AuthorizeSecurityGroupIngress,
        remove: Op::RevokeSecurityGroupIngress,
        duplicate: "InvalidPermission.Duplicate",
        not_found: "InvalidPermission.NotFound",
        full: "RulesPerSecurityGroupLimitExceeded",
        ..OTHER_PART
    }],
    ..OTHER
};

static ROLE: Row = Row {
    model: Model::Role,
    service: Service::Iam,
    prefix: "",
    unique: "AROA",
    not_found: "NoSuchEntity",
    duplicate: "EntityAlreadyExists",
    over_quota: "LimitExceeded",
    blocked: "DeleteConflict",
    tags_full: "LimitExceeded",
    get: Op::GetRole,
    // `ListRoles` shows no tags.
    list: Op::GetAccountAuthorizationDetails,
    create: Op::CreateRole,
    update: Op::UpdateAssumeRolePolicy,
    delete: Op::DeleteRole,
    tag: Op::TagRole,
    untag: Op::UntagRole,
    inner: &[
        InnerRow {
            prefix: "",
            list: Op::ListRolePolicies,
            get: Some(Op::GetRolePolicy),
            add: Op::PutRolePolicy,
            remove: Op::DeleteRolePolicy,
            duplicate: "EntityAlreadyExists",
            not_found: "NoSuchEntity",
            full: "LimitExceeded",
            told: Told::InList,
        },
        InnerRow {
            list: Op::ListAttachedRolePolicies,
            add: Op::AttachRolePolicy,
            remove: Op::DetachRolePolicy,
            duplicate: "EntityAlreadyExists",
            not_found: "NoSuchEntity",
            full: "LimitExceeded",
            told: Told::InList,
            ..OTHER_PART
        },
    ],
};

static INSTANCE_PROFILE: Row = Row {
    model: Model::InstanceProfile,
    unique: "AIPA",
    get: Op::GetInstanceProfile,
    list: Op::ListInstanceProfiles,
    create: Op::CreateInstanceProfile,
    delete: Op::DeleteInstanceProfile,
    tag: Op::TagInstanceProfile,
    untag: Op::UntagInstanceProfile,
    inner: &[InnerRow {
        list: Op::GetInstanceProfile,
        add: Op::AddRoleToInstanceProfile,
        remove: Op::RemoveRoleFromInstanceProfile,
        duplicate: "LimitExceeded",
        not_found: "NoSuchEntity",
        full: "LimitExceeded",
        told: Told::Always,
        ..OTHER_PART
    }],
    ..ROLE
};
