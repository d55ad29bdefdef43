//! A real Kubernetes control plane for tests: etcd, kube-apiserver and kube-controller-manager, built
//! once per machine from their Go modules, started on loopback, and stopped whatever happens.
//!
//! ```text
//! tools/control-plane (go.mod, go.sum, tools.go) ──► tools() ──► Binaries ──► ControlPlane
//! ```
//!
//! Nothing here reads a virtual clock: these are real processes, and waiting for one of them to be
//! ready takes real time. Do not use it under a paused tokio clock.

mod plane;
mod tools;

pub use plane::{ControlPlane, StartError, USER_TOKEN};
pub use tools::{Binaries, KUBERNETES_VERSION, ToolsError, tools};
