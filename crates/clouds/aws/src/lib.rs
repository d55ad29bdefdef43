//! The cloud port on AWS, by the vendor's own SDK.
//!
//! ```text
//! Access ──► ClientSets ──► ClientSet: one account, role and region
//!                              │ Cloud::read, Cloud::perform, Survey::survey
//!                              ├──► ec2: the network, from VPCs to NAT gateways
//!                              ├──► elb: classic and network load balancers, target groups
//!                              └──► iam: roles and their policies, instance profiles and their role
//! ```
//!
//! # Guarantees
//! - One Step is one call that changes something, sent once: the SDK's own retries are off
//!   (assumption A3), and every call ends within [`ownership::time::REQUEST_TIMEOUT`].
//! - Whatever AWS answers has the class that the port's tables give it. A call that may have taken
//!   effect is [`ownership::Class::Unknown`]; one that certainly never left is not.
//! - Rules, documents and properties are in the port's canonical spelling.
//!
//! *Invariant:* nothing here knows Kubernetes.

mod blocked;
mod by_key;
mod client_set;
mod client_sets;
mod ec2;
mod elb;
mod failure;
mod handler;
mod iam;
mod observe;
mod permissions;
mod place;
mod resource;
mod trust;

pub use client_set::ClientSet;
pub use client_sets::{ClientSets, Settings};
pub use observe::{Calls, Ended};
pub use permissions::{PASS_ROLE, Resources, UNRESTRICTED, permissions};
pub use place::Place;
