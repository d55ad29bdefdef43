//! The second system on a real API server.
//!
//! Runs only where `FREEHOLD_TIER_CONTROL_PLANE=1` says that a control plane can be had.

use std::io::Write as _;
use std::sync::OnceLock;
use std::time::Duration;

use control_plane::ControlPlane;
use kube::api::{Api, ListParams};

use crate::lab::{Lab, around};
use crate::object::{Gate, Yard, install};

async fn real(case: &str) -> Option<Lab> {
    if std::env::var_os("FREEHOLD_TIER_CONTROL_PLANE").is_none_or(|value| value != "1") {
        say(
            "SKIPPED: the second system on a real API server (FREEHOLD_TIER_CONTROL_PLANE is not 1)",
        );
        return None;
    }
    let client = plane().client().await.unwrap();
    Some(around(client, case).await)
}

laboratory::cases!(crate::control_plane::real);

#[tokio::test]
async fn what_a_gate_needs_stays_until_it_has_ended() {
    if let Some(lab) = real("needs").await {
        crate::guests::what_a_gate_needs_stays(&lab).await;
    }
}

/// One for all cases. A static is never dropped; the programs end when this process does.
fn plane() -> &'static ControlPlane {
    static PLANE: OnceLock<Option<ControlPlane>> = OnceLock::new();
    let plane = PLANE.get_or_init(|| std::thread::spawn(start).join().ok());
    plane.as_ref().expect("the control plane starts")
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
        let client = plane.client().await.unwrap();
        install(&client).await;
        let gates: Api<Gate> = Api::all(client.clone());
        let yards: Api<Yard> = Api::all(client);
        let all = ListParams::default();
        let asking = async {
            while gates.list(&all).await.is_err() || yards.list(&all).await.is_err() {
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
        };
        tokio::time::timeout(Duration::from_mins(1), asking)
            .await
            .expect("the kinds are served");
        plane
    })
}

/// Not `eprintln!`, which the test harness hides.
fn say(line: &str) {
    writeln!(std::io::stderr(), "{line}").expect("standard error");
}
