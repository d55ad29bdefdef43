//! The operations of the simulated APIs, and how often each was called.

/// How many items one page of a long listing holds: as many as the adapter asks for.
const PAGE: usize = 1000;
/// And where it does not say.
const IAM_PAGE: usize = 100;

macro_rules! operations {
    ($($(#[$doc:meta])* $name:ident: $read:expr, $page:expr;)*) => {
        /// An operation of the simulated APIs.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[allow(missing_docs, reason = "each is the operation of that name in the API's reference")]
        pub enum Op { $($(#[$doc])* $name),* }

        impl Op {
            /// Every operation.
            pub const ALL: [Self; [$(stringify!($name)),*].len()] = [$(Self::$name),*];

            /// Its name in the API.
            pub const fn name(self) -> &'static str {
                match self { $(Self::$name => stringify!($name)),* }
            }

            /// Whether it only reads.
            pub const fn is_read(self) -> bool {
                match self { $(Self::$name => $read),* }
            }

            /// How many items one of its pages holds.
            pub(crate) const fn page(self) -> usize {
                match self { $(Self::$name => $page),* }
            }
        }
    };
}

operations! {
    DescribeVpcs: true, PAGE;
    DescribeRouteTables: true, 100;
    DescribeSubnets: true, PAGE;
    DescribeSecurityGroups: true, PAGE;
    DescribeSecurityGroupRules: true, PAGE;
    CreateVpc: false, 1;
    DeleteVpc: false, 1;
    CreateRouteTable: false, 1;
    DeleteRouteTable: false, 1;
    CreateSubnet: false, 1;
    DeleteSubnet: false, 1;
    CreateSecurityGroup: false, 1;
    DeleteSecurityGroup: false, 1;
    AuthorizeSecurityGroupIngress: false, 1;
    RevokeSecurityGroupIngress: false, 1;
    CreateTags: false, 1;
    DeleteTags: false, 1;
    GetRole: true, 1;
    GetAccountAuthorizationDetails: true, PAGE;
    CreateRole: false, 1;
    DeleteRole: false, 1;
    UpdateAssumeRolePolicy: false, 1;
    TagRole: false, 1;
    UntagRole: false, 1;
    ListRolePolicies: true, IAM_PAGE;
    GetRolePolicy: true, 1;
    PutRolePolicy: false, 1;
    DeleteRolePolicy: false, 1;
    ListAttachedRolePolicies: true, IAM_PAGE;
    AttachRolePolicy: false, 1;
    DetachRolePolicy: false, 1;
    GetInstanceProfile: true, 1;
    ListInstanceProfiles: true, PAGE;
    CreateInstanceProfile: false, 1;
    DeleteInstanceProfile: false, 1;
    TagInstanceProfile: false, 1;
    UntagInstanceProfile: false, 1;
    AddRoleToInstanceProfile: false, 1;
    RemoveRoleFromInstanceProfile: false, 1;
    /// The operations of synthetic Kinds.
    GetResource: true, 1;
    ListResources: true, PAGE;
    CreateResource: false, 1;
    UpdateResource: false, 1;
    DeleteResource: false, 1;
    TagResource: false, 1;
    UntagResource: false, 1;
    ListParts: true, PAGE;
    AddPart: false, 1;
    RemovePart: false, 1;
}

/// How often an engine called each operation; a listing counts once a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Counters {
    calls: [u64; Op::ALL.len()],
    throttled: u64,
}

impl Counters {
    pub(crate) const ZERO: Self = Self {
        calls: [0; Op::ALL.len()],
        throttled: 0,
    };

    pub(crate) fn count(&mut self, op: Op, calls: usize) {
        self.calls[op as usize] += calls as u64;
    }

    pub(crate) fn throttle(&mut self) {
        self.throttled += 1;
    }

    /// How often that operation was called.
    pub fn calls(&self, op: Op) -> u64 {
        self.calls[op as usize]
    }

    /// How many calls only read.
    pub fn reads(&self) -> u64 {
        self.iter()
            .filter(|(op, _)| op.is_read())
            .map(|(_, n)| n)
            .sum()
    }

    /// How many calls were meant to change something, refused ones included.
    pub fn writes(&self) -> u64 {
        self.iter()
            .filter(|(op, _)| !op.is_read())
            .map(|(_, n)| n)
            .sum()
    }

    /// How many calls were throttled; they count as calls too.
    pub fn throttled(&self) -> u64 {
        self.throttled
    }

    /// The operations that were called, and how often.
    pub fn iter(&self) -> impl Iterator<Item = (Op, u64)> {
        Op::ALL.into_iter().zip(self.calls).filter(|(_, n)| *n > 0)
    }
}
