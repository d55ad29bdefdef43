//! The real control plane starts, serves, collects garbage and leaves nothing behind.
//!
//! Runs only where `FREEHOLD_TIER_CONTROL_PLANE=1` says that it can be had.

use std::io::Write as _;

use control_plane::ControlPlane;

#[tokio::test]
async fn it_serves_and_stops() {
    if std::env::var_os("FREEHOLD_TIER_CONTROL_PLANE").is_none_or(|value| value != "1") {
        // Not `eprintln!`, which the test harness hides.
        let line = "SKIPPED: the real control plane (FREEHOLD_TIER_CONTROL_PLANE is not 1)";
        writeln!(std::io::stderr(), "{line}").expect("standard error");
        return;
    }
    let binaries = control_plane::tools(|_| ()).expect("the programs");
    let plane = ControlPlane::start(&binaries).await.expect("it starts");

    let version = plane
        .client()
        .await
        .expect("a client")
        .apiserver_version()
        .await
        .expect("asked");
    assert_eq!(version.git_version, control_plane::KUBERNETES_VERSION);

    let output = plane
        .kubectl(["get", "namespaces", "-o", "name"])
        .expect("kubectl runs");
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    assert!(String::from_utf8_lossy(&output.stdout).contains("namespace/kube-system"));

    // Namespaces go only where the controller manager runs.
    for arguments in [
        ["create", "namespace", "short"],
        ["delete", "namespace", "short"],
    ] {
        let output = plane.kubectl(arguments).expect("kubectl runs");
        assert!(
            output.status.success(),
            "{}",
            String::from_utf8_lossy(&output.stderr)
        );
    }

    let folder = plane
        .kubeconfig()
        .ancestors()
        .nth(2)
        .expect("base folder")
        .to_owned();
    assert!(folder.exists());
    let url: http::Uri = plane.url().parse().expect("a URL");
    drop(plane);
    assert!(!folder.exists());
    let address = url.authority().expect("it has one").as_str();
    assert!(
        std::net::TcpStream::connect(address).is_err(),
        "somebody still listens"
    );
}
