//! The cases on a real API server.
//!
//! Runs only where `FREEHOLD_TIER_CONTROL_PLANE=1` says that a control plane can be had.
#![allow(
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test stops at the first surprise, in its helpers too"
)]

mod cases;

use std::io::Write as _;
use std::sync::OnceLock;
use std::time::Duration;

use cases::lab::{Lab, definition};
use control_plane::ControlPlane;
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::api::{Api, PostParams};

const PATIENCE: Duration = Duration::from_mins(1);

cases::all_cases!(lab);

async fn lab(case: &str) -> Option<Lab> {
    if std::env::var_os("FREEHOLD_TIER_CONTROL_PLANE").is_none_or(|value| value != "1") {
        say("SKIPPED: objects on a real API server (FREEHOLD_TIER_CONTROL_PLANE is not 1)");
        return None;
    }
    let client = plane().client().await.unwrap();
    Some(Lab::new(client, case).await)
}

/// One for all cases. A static is never dropped; the programs end when this process does.
fn plane() -> &'static ControlPlane {
    static PLANE: OnceLock<Option<ControlPlane>> = OnceLock::new();
    // On a thread of its own, since the caller is inside a runtime already.
    let plane = PLANE.get_or_init(|| std::thread::spawn(start).join().ok());
    plane
        .as_ref()
        .expect("the control plane starts (see the first failure)")
}

fn start() -> ControlPlane {
    let binaries = control_plane::tools(say).expect("the programs of the control plane");
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build();
    runtime.unwrap().block_on(async {
        let plane = ControlPlane::start(&binaries)
            .await
            .expect("the control plane starts");
        let definitions: Api<CustomResourceDefinition> = Api::all(plane.client().await.unwrap());
        let params = PostParams::default();
        definitions.create(&params, &definition()).await.unwrap();
        established(&definitions).await;
        plane
    })
}

/// The server serves a new kind a moment later.
async fn established(definitions: &Api<CustomResourceDefinition>) {
    let is_established = |definition: CustomResourceDefinition| {
        let conditions = definition.status.and_then(|status| status.conditions);
        let mut conditions = conditions.into_iter().flatten();
        conditions.any(|it| it.type_ == "Established" && it.status == "True")
    };
    let asking = async {
        let name = definition().metadata.name.unwrap();
        while !is_established(definitions.get(&name).await.unwrap()) {
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    };
    tokio::time::timeout(PATIENCE, asking)
        .await
        .expect("the kind is served");
}

/// Not `eprintln!`, which the test harness hides.
fn say(line: &str) {
    writeln!(std::io::stderr(), "{line}").expect("standard error");
}
