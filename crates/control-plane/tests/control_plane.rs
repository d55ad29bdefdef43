//! The real control plane starts, serves, collects garbage and leaves nothing behind.
//!
//! Runs only where `FREEHOLD_TIER_CONTROL_PLANE=1` says that it can be had.

use std::io::Write as _;

use control_plane::ControlPlane;

fn enabled() -> bool {
    let enabled = std::env::var_os("FREEHOLD_TIER_CONTROL_PLANE").is_some_and(|value| value == "1");
    if !enabled {
        // Not `eprintln!`, which the test harness hides.
        let line = "SKIPPED: the real control plane (FREEHOLD_TIER_CONTROL_PLANE is not 1)";
        writeln!(std::io::stderr(), "{line}").expect("standard error");
    }
    enabled
}

#[tokio::test]
async fn it_serves_and_stops() {
    if !enabled() {
        return;
    }
    let binaries = control_plane::tools(|_| ()).unwrap_or_else(|error| panic!("{error}"));
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

/// A folder with links to the programs of the cache, without those that are named.
fn assets(name: &str, without: &[&str]) -> std::path::PathBuf {
    let binaries = control_plane::tools(|_| ()).expect("the programs");
    let folder = std::env::temp_dir().join(format!("freehold-{name}-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a temporary folder");
    for entry in std::fs::read_dir(binaries.folder()).expect("the programs' folder") {
        let entry = entry.expect("a program");
        let program = entry.file_name();
        if !without.iter().any(|missing| program == *missing) {
            std::os::unix::fs::symlink(entry.path(), folder.join(program)).expect("a link");
        }
    }
    folder
}

/// Runs the test above in a process whose `KUBEBUILDER_ASSETS` is this folder, and which can neither
/// find nor build other programs.
fn serve_from(folder: &std::path::Path) -> std::process::Output {
    let program = std::env::current_exe().expect("this program");
    std::process::Command::new(program)
        .args(["--exact", "it_serves_and_stops", "--nocapture"])
        .env("KUBEBUILDER_ASSETS", folder)
        .env("FREEHOLD_CACHE", folder.join("no-cache"))
        .output()
        .expect("it runs")
}

#[test]
fn it_serves_from_a_given_folder() {
    if !enabled() {
        return;
    }
    let folder = assets("assets", &[]);
    let output = serve_from(&folder);
    let built = folder.join("no-cache").exists();
    std::fs::remove_dir_all(&folder).expect("the folder goes");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{errors}");
    assert!(String::from_utf8_lossy(&output.stdout).contains("1 passed"));
    assert!(!built, "the cache was asked");
}

#[test]
fn a_given_folder_must_hold_every_program() {
    if !enabled() {
        return;
    }
    let folder = assets("half-assets", &["kube-controller-manager"]);
    let output = serve_from(&folder);
    std::fs::remove_dir_all(&folder).expect("the folder goes");
    assert!(!output.status.success());
    let text = String::from_utf8_lossy(&output.stderr);
    let expected = format!(
        "KUBEBUILDER_ASSETS is {}, which holds no kube-controller-manager",
        folder.display()
    );
    assert!(text.contains(&expected), "{text}");
}
