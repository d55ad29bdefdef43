//! What the environment says. A process has one environment, so each case runs in one of its own:
//! this very program, told to run that one test.

use std::process::Command;

use cloud_aws::{ClientSets, Settings};
use cloud_port::Cloud as _;
use cloud_port::aws::{Access, Credentials};
use ownership::Class;

use crate::server::{Reply, Server};
use crate::{access, page, vpcs};

/// Says that this is the process of its own.
const INSIDE: &str = "FREEHOLD_TEST_INSIDE";

/// Runs a test of this program in a process of its own, with these variables. Not on this thread: it
/// may have to serve what the other asks for.
async fn in_a_process_of_its_own(test: &str, variables: &[(&str, &str)]) {
    let mut command = Command::new(std::env::current_exe().expect("this program"));
    command.args(["--exact", &format!("environment::{test}"), "--nocapture"]);
    for (name, _) in std::env::vars_os() {
        if name.to_str().is_some_and(|name| name.starts_with("AWS_")) {
            command.env_remove(name);
        }
    }
    command.env(INSIDE, "1").envs(variables.iter().copied());
    let output = tokio::task::spawn_blocking(move || command.output()).await;
    let output = output.expect("not cancelled").expect("it runs");
    let words = String::from_utf8_lossy(&output.stdout);
    assert!(
        output.status.success(),
        "{words}{}",
        String::from_utf8_lossy(&output.stderr)
    );
    assert!(words.contains("1 passed"), "{words}");
}

fn is_inside() -> bool {
    std::env::var_os(INSIDE).is_some()
}

async fn assert_two_vpcs() {
    let sets = ClientSets::new(Settings::from_env());
    let set = sets.get(&access()).await.expect("legal");
    let answer = set.read(&vpcs()).await.expect("an answer");
    assert_eq!(answer.resources.len(), 2);
}

async fn server() -> Server {
    Server::start(vec![Reply::Say(200, page(&["vpc-1", "vpc-2"], ""))]).await
}

#[tokio::test]
async fn the_endpoint_is_the_environments() {
    if is_inside() {
        return assert_two_vpcs().await;
    }
    let server = server().await;
    let variables = [("AWS_ENDPOINT_URL", server.url.as_str())];
    in_a_process_of_its_own("the_endpoint_is_the_environments", &variables).await;
    assert_eq!(server.seen().len(), 1);
}

#[tokio::test]
async fn a_bundle_of_certificates_breaks_nothing() {
    if is_inside() {
        return assert_two_vpcs().await;
    }
    let file = |name: &str, text: &str| {
        let name = format!("freehold-bundle-{name}-{}.pem", std::process::id());
        let path = std::env::temp_dir().join(name);
        std::fs::write(&path, text).expect("a temporary file");
        path
    };
    let broken =
        "-----BEGIN CERTIFICATE-----\nbm90IGEgY2VydGlmaWNhdGU=\n-----END CERTIFICATE-----\n";
    let paths = [
        file("broken", broken),
        file("empty", ""),
        file("text", "# no certificate at all\n-----BEGIN"),
        file("good", include_str!("authority.pem")),
        "/nowhere/at/all.pem".into(),
    ];
    for path in &paths {
        let server = server().await;
        let path = path.to_str().expect("a plain path");
        let variables = [
            ("AWS_ENDPOINT_URL", server.url.as_str()),
            ("AWS_CA_BUNDLE", path),
        ];
        in_a_process_of_its_own("a_bundle_of_certificates_breaks_nothing", &variables).await;
    }
    for path in &paths[..4] {
        std::fs::remove_file(path).expect("the temporary file");
    }
}

#[tokio::test]
async fn the_default_chain_finds_the_environments_key_or_says_what_is_missing() {
    let access = Access {
        credentials: Credentials::Default,
        ..access()
    };
    let test = "the_default_chain_finds_the_environments_key_or_says_what_is_missing";
    if is_inside() {
        let sets = ClientSets::new(Settings::from_env());
        let set = sets.get(&access).await.expect("legal");
        let answer = set.read(&vpcs()).await;
        if std::env::var_os("AWS_ACCESS_KEY_ID").is_some() {
            assert_eq!(answer.expect("an answer").resources.len(), 2);
        } else {
            let error = answer.expect_err("no credentials");
            assert_eq!(error.class, Class::Fatal, "{}", error.message);
            assert!(
                error.message.contains("there are no credentials"),
                "{}",
                error.message
            );
        }
        return;
    }
    let server = server().await;
    let url = ("AWS_ENDPOINT_URL", server.url.as_str());
    let keys = [
        ("AWS_ACCESS_KEY_ID", "AKIAIOSFODNN7EXAMPLE"),
        ("AWS_SECRET_ACCESS_KEY", "x"),
    ];
    in_a_process_of_its_own(test, &[url, keys[0], keys[1]]).await;
    // Nothing in files, and no instance to ask.
    let without = [
        url,
        ("AWS_EC2_METADATA_DISABLED", "true"),
        ("AWS_CONFIG_FILE", "/nowhere"),
        ("AWS_SHARED_CREDENTIALS_FILE", "/nowhere"),
    ];
    in_a_process_of_its_own(test, &without).await;
}
