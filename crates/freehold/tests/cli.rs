//! The command line as its users see it.
#![expect(
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test fails by panicking"
)]

use std::fmt::Write as _;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::time::Duration;

const PATIENCE: Duration = Duration::from_mins(1);

fn command(args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_freehold"));
    for variable in ["CLICOLOR", "CLICOLOR_FORCE", "COLUMNS", "NO_COLOR"] {
        command.env_remove(variable);
    }
    command.args(args);
    command
}

fn freehold(args: &[&str]) -> Output {
    command(args).output().unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

/// Ids are the simulation's business: each becomes its number, at the same width.
fn number_ids(output: &str) -> String {
    let mut seen: Vec<&str> = Vec::new();
    let mut numbered = String::new();
    let mut rest = output;
    while let Some((before, after)) = rest.split_once("-0") {
        numbered.push_str(before);
        let hex = after.chars().take_while(char::is_ascii_hexdigit).count();
        if hex == 16 {
            let id = &after[..hex];
            let at = seen
                .iter()
                .position(|known| *known == id)
                .unwrap_or_else(|| {
                    seen.push(id);
                    seen.len() - 1
                });
            write!(numbered, "-{:017}", at + 1).unwrap();
            rest = &after[hex..];
        } else {
            numbered.push_str("-0");
            rest = after;
        }
    }
    numbered + rest
}

/// Compares with a file; `FREEHOLD_ACCEPT=1` writes it instead.
fn assert_golden(name: &str, actual: &str) {
    let file = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/golden")
        .join(name);
    if std::env::var_os("FREEHOLD_ACCEPT").is_some() {
        std::fs::write(&file, actual).unwrap();
    }
    let expected = std::fs::read_to_string(&file).unwrap_or_default();
    assert!(
        actual == expected,
        "differs from tests/golden/{name}; read it, then accept it with FREEHOLD_ACCEPT=1:\n{actual}"
    );
}

#[test]
fn a_cluster_lives_and_leaves_nothing() {
    let output = freehold(&["dev", "--once"]);
    let shown = text(&output.stdout);
    assert!(output.status.success(), "{shown}{}", text(&output.stderr));
    assert_eq!(text(&output.stderr), "");
    let last = shown.lines().last().unwrap();
    let words: Vec<&str> = last
        .split([' ', ','])
        .filter(|word| !word.is_empty())
        .collect();
    let ["created", created, "deleted", deleted, "orphans", "0"] = words[..] else {
        panic!("{last}");
    };
    assert_eq!(created, deleted);
    assert!(created.parse::<usize>().unwrap() > 10, "{last}");
    assert_golden("dev-once.txt", &number_ids(&shown));
}

#[test]
fn without_a_terminal_there_is_no_colour_unless_it_is_asked_for() {
    assert!(!text(&freehold(&["dev", "--once"]).stdout).contains('\u{1b}'));
    let mut command = Command::new(env!("CARGO_BIN_EXE_freehold"));
    let output = command
        .args(["dev", "--once"])
        .env("CLICOLOR_FORCE", "1")
        .output()
        .unwrap();
    assert!(text(&output.stdout).contains('\u{1b}'));
}

#[test]
fn a_narrow_terminal_gets_narrow_tables_and_every_reason() {
    let output = command(&["dev", "--once"])
        .env("COLUMNS", "60")
        .output()
        .unwrap();
    let shown = number_ids(&text(&output.stdout));
    let (_, plan) = shown.split_once("1. Plan").unwrap();
    let (plan, rest) = plan.split_once("\n\n2. Create").unwrap();
    let (_, tree) = rest.split_once("3. Tree").unwrap();
    let (tree, _) = tree.split_once("\n\n4. Rest").unwrap();
    for line in plan.lines().chain(tree.lines()) {
        assert!(line.chars().count() <= 60, "{line}");
    }
    assert!(!tree.contains('…'), "{tree}");
    assert_golden(
        "dev-once-narrow.txt",
        &format!("1. Plan{plan}\n\n3. Tree{tree}\n"),
    );
    let nonsense = command(&["dev", "--once"]).env("COLUMNS", "wide").output();
    let usual = freehold(&["dev", "--once"]);
    assert_eq!(text(&nonsense.unwrap().stdout), text(&usual.stdout));
}

#[test]
fn a_reader_that_has_gone_ends_it_quietly() {
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let output = command(&["dev", "--once"]).stdout(writer).output().unwrap();
    assert!(output.status.success());
    assert_eq!(text(&output.stderr), "");
}

#[test]
fn a_full_disk_is_an_error_in_words() {
    let full = std::fs::OpenOptions::new().write(true).open("/dev/full");
    let output = command(&["dev", "--once"])
        .stdout(full.unwrap())
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(1));
    let said = text(&output.stderr);
    assert!(
        said.starts_with("error: cannot write to standard output: "),
        "{said}"
    );
    assert_eq!(said.lines().count(), 1, "{said}");
}

/// One answer of the API server that `freehold dev` serves.
fn get(url: &str, path: &str) -> String {
    request(url, "GET", path)
}

fn request(url: &str, method: &str, path: &str) -> String {
    // The same port speaks both.
    let (_, rest) = url.split_once("://").unwrap();
    let (address, prefix) = rest.split_once('/').unwrap();
    let mut stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    let request = format!(
        "{method} /{prefix}{path} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n"
    );
    stream.write_all(request.as_bytes()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer
}

/// A process that runs on; it does not outlive the test.
struct Running {
    child: Child,
    lines: Receiver<String>,
}

impl Running {
    fn start(args: &[&str]) -> Self {
        let mut child = command(args).stdout(Stdio::piped()).spawn().unwrap();
        let output = BufReader::new(child.stdout.take().unwrap());
        let (sender, lines) = mpsc::channel();
        std::thread::spawn(move || {
            for line in output.lines().map_while(Result::ok) {
                if sender.send(line).is_err() {
                    break;
                }
            }
        });
        Self { child, lines }
    }

    /// The rest of the next line that begins like this.
    fn line(&self, beginning: &str) -> String {
        loop {
            let line = self.lines.recv_timeout(PATIENCE);
            let line = line.unwrap_or_else(|late| panic!("no line {beginning:?}: {late}"));
            if let Some(rest) = line.trim_start().strip_prefix(beginning) {
                return rest.trim().to_owned();
            }
        }
    }

    /// What Ctrl-C does.
    fn interrupt(&self) {
        let pid = self.child.id().to_string();
        let sent = Command::new("kill").args(["-INT", &pid]).status();
        assert!(sent.unwrap().success());
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn dev_serves_until_it_is_interrupted() {
    let mut dev = Running::start(&["dev"]);
    let url = dev.line("Kubernetes API");
    let kubeconfig = PathBuf::from(dev.line("export KUBECONFIG="));
    let written = std::fs::read_to_string(&kubeconfig).unwrap();
    assert!(written.contains(&url), "{written}");
    // Without credentials kubectl asks for a name.
    assert!(written.contains("token:"), "{written}");
    // The controllers work.
    dev.line("demo ✓ create security group kubernetes-demo");
    dev.line("demo ✓ Ready");
    let cluster = get(&url, "/apis/kubermatic.k8c.io/v1/clusters/demo");
    assert!(cluster.contains("freehold.dev/claim-uuid"), "{cluster}");
    // The process itself is asked: it has the simulated cloud.
    let ask = |args: &[&str]| {
        let output = command(args).env("KUBECONFIG", &kubeconfig).output();
        output.unwrap()
    };
    let tree = ask(&["tree", "cluster/demo"]);
    assert!(tree.status.success(), "{}", text(&tree.stderr));
    assert!(
        text(&tree.stdout).contains("security group sg-"),
        "{}",
        text(&tree.stdout)
    );
    let json = ask(&["explain", "--all", "-o", "json"]);
    let json: serde_json::Value = serde_json::from_slice(&json.stdout).unwrap();
    assert_eq!(json[0]["object"], "Cluster demo");
    let yaml = ask(&["tree", "cluster/demo", "-o", "yaml"]);
    assert!(text(&yaml.stdout).contains("object: Cluster demo\n"));
    let whose = text(&ask(&["whose", "kubernetes-demo", "web-shop", "sg-0"]).stdout);
    for words in ["belongs to Cluster demo", ": Unmarked\n", "sg-0: Absent\n"] {
        assert!(whose.contains(words), "{whose}");
    }
    shows_a_whole_network(&ask);
    let orphans = text(&ask(&["orphans"]).stdout);
    assert!(orphans.starts_with("no orphans among"), "{orphans}");
    let rule = "ingress tcp 22-22 0.0.0.0/0";
    let drift = ask(&["sim", "remove", "kubernetes-demo", rule]);
    let drift = text(&drift.stdout);
    assert!(
        drift.starts_with(&format!("removed rule {rule} from")),
        "{drift}"
    );
    let slot = ask(&["explain", "cluster/demo", "--slot", "security-group"]);
    let would = format!("next: add rule {rule} to security group sg-");
    assert!(
        text(&slot.stdout).contains(&would),
        "{}",
        text(&slot.stdout)
    );
    assert!(text(&slot.stdout).contains("slot security-group"));
    for (args, words) in [
        (
            &["tree", "cluster/absent"][..],
            "there is no Cluster.kubermatic.k8c.io",
        ),
        (
            &["explain", "cluster/demo", "--slot", "roof"],
            "there is no slot roof",
        ),
    ] {
        let refused = ask(args);
        assert_eq!(refused.status.code(), Some(1));
        assert!(
            text(&refused.stderr).contains(words),
            "{}",
            text(&refused.stderr)
        );
    }
    let wrong = ask(&["sim", "untag", "web-shop", "team"]);
    let said = text(&wrong.stderr);
    assert!(said.contains("has no such thing; "), "{said}");
    let list = text(&ask(&["sim", "list"]).stdout);
    assert!(list.contains("  tag freehold.dev/"), "{list}");
    // What somebody has deleted by hand is waited for: it may still show.
    let group = list.lines().find_map(|line| {
        let group = line.strip_prefix("security group ")?;
        group.strip_suffix(" kubernetes-demo")
    });
    assert!(ask(&["sim", "delete", group.unwrap()]).status.success());
    let path = "/apis/kubermatic.k8c.io/v1/clusters/demo";
    let _ = request(&url, "DELETE", path);
    dev.line("demo … waits up to");
    dev.interrupt();
    dev.line("stopped:");
    assert!(dev.child.wait().unwrap().success());
    assert!(!kubeconfig.exists());
}

/// The second sample, in its namespace: every slot, what fills it, and what is in that.
#[expect(
    clippy::disallowed_methods,
    reason = "a real process is waited for in real time"
)]
fn shows_a_whole_network(ask: &impl Fn(&[&str]) -> Output) {
    let until = std::time::Instant::now() + PATIENCE;
    let show = |command: &str| {
        let shown = ask(&[command, "awscluster/demo", "-n", "default"]);
        assert!(shown.status.success(), "{}", text(&shown.stderr));
        text(&shown.stdout)
    };
    // Its load balancer comes last.
    while !show("tree").contains("listener tcp 6443 tcp 6443") {
        assert!(std::time::Instant::now() < until, "{}", show("tree"));
    }
    let (tree, explained) = (show("tree"), show("explain"));
    for words in [
        "AWSCluster default/demo\n",
        "VPC vpc-",
        "NAT gateway nat-",
        "demo-controlplane",
        "classic load balancer default-demo-apiserver",
        "by its mark: slot subnet-",
    ] {
        assert!(tree.contains(words), "{words}\n{tree}");
    }
    for words in [
        "AWSCluster default/demo is wanted\n",
        "slot vpc (VPC)\n",
        "slot api-lb (classic load balancer)\n",
        "default-demo-apiserver: Owned, by its mark: slot api-lb, attempt 1",
    ] {
        assert!(explained.contains(words), "{words}\n{explained}");
    }
    assert!(!tree.contains("Foreign"), "{tree}");
}

#[test]
fn dev_overwrites_nobodys_kubeconfig() {
    let name = format!("freehold-test-{}.kubeconfig", std::process::id());
    let path = std::env::temp_dir().join(name);
    std::fs::write(&path, "clusters: []\n").unwrap();
    let output = freehold(&["dev", "--kubeconfig", path.to_str().unwrap()]);
    assert!(!output.status.success());
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.contains("is there already"), "{said}");
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "clusters: []\n");
    std::fs::remove_file(&path).unwrap();
}

#[test]
fn crds_are_what_is_installed() {
    let kinds = |args: &[&str]| -> Vec<String> {
        let output = freehold(args);
        assert!(output.status.success());
        let documents: Vec<serde_json::Value> =
            serde_saphyr::from_multiple(&text(&output.stdout)).unwrap();
        let name = |document: &serde_json::Value| {
            format!("{} {}", document["kind"], document["metadata"]["name"]).replace('"', "")
        };
        documents.iter().map(name).collect()
    };
    let definitions = [
        "CustomResourceDefinition clusters.kubermatic.k8c.io",
        "CustomResourceDefinition seeds.kubermatic.k8c.io",
        "CustomResourceDefinition awsclusters.infrastructure.cluster.x-k8s.io",
        "CustomResourceDefinition awsclustercontrolleridentities.infrastructure.cluster.x-k8s.io",
        "CustomResourceDefinition awsclusterstaticidentities.infrastructure.cluster.x-k8s.io",
        "CustomResourceDefinition awsclusterroleidentities.infrastructure.cluster.x-k8s.io",
        "CustomResourceDefinition clusters.cluster.x-k8s.io",
    ];
    let policies = [
        "ValidatingAdmissionPolicy claims.freehold.dev",
        "ValidatingAdmissionPolicyBinding claims.freehold.dev",
        "ValidatingAdmissionPolicy clusters.kubermatic.k8c.io.freehold.dev",
        "ValidatingAdmissionPolicyBinding clusters.kubermatic.k8c.io.freehold.dev",
    ];
    let all = [&definitions[..], &policies].concat();
    assert_eq!(kinds(&["crds"]), all);
    assert_eq!(kinds(&["crds", "--no-policy"]), definitions);
    assert_eq!(kinds(&["crds", "--no-definitions"]), policies);
    let policies = freehold(&["crds", "--no-definitions"]).stdout;
    assert_golden("policies.yaml", &text(&policies));
}

#[test]
fn manifests_are_what_the_operator_is_run_with() {
    let with = |more: &[&str]| {
        let always = ["manifests", "--systems", "kkp", "--image", "freehold:1"];
        let output = freehold(&[&always, more].concat());
        assert!(output.status.success(), "{}", text(&output.stderr));
        text(&output.stdout)
    };
    assert_golden("manifests.yaml", &with(&[]));
    let elsewhere = with(&["--namespace", "infra", "--service-account", "123"]);
    for usual in ["freehold-system", "system:serviceaccount:infra:freehold"] {
        assert!(!elsewhere.contains(usual), "{elsewhere}");
    }
    let told = with(&["--unmarked", "conflict", "--resync", "10m", "--holder", "b"]);
    let given = r#"--log, json, "--unmarked", "conflict", "--resync", "10m", "--holder", "b"]"#;
    assert!(told.contains(given), "{told}");
    let documents: Vec<serde_json::Value> = serde_saphyr::from_multiple(&elsewhere).unwrap();
    let account = documents.iter().find(|it| it["kind"] == "ServiceAccount");
    assert_eq!(account.unwrap()["metadata"]["name"], "123");
}

#[test]
fn permissions_are_the_minimal_policy() {
    let output = freehold(&["permissions", "aws", "--systems", "kkp"]);
    if !cfg!(feature = "aws") {
        assert_eq!(output.status.code(), Some(1));
        let said = text(&output.stderr);
        let expected = "error: this freehold was built without a cloud: build it with";
        assert!(said.starts_with(expected), "{said}");
        return;
    }
    assert!(output.status.success(), "{}", text(&output.stderr));
    let policy = text(&output.stdout);
    assert_golden("permissions-aws.json", &policy);
    // Without systems: all that there are.
    let all = text(&freehold(&["permissions", "aws", "--systems", "kkp,capa"]).stdout);
    assert_eq!(text(&freehold(&["permissions", "aws"]).stdout), all);
    assert!(all.contains("ec2:CreateVpc") && !policy.contains("ec2:CreateVpc"));
    let role = "arn:aws:iam::123456789012:role/kubernetes";
    let assuming = freehold(&["permissions", "aws", "--assume", role]);
    let assuming: serde_json::Value = serde_json::from_slice(&assuming.stdout).unwrap();
    let statements = assuming["Statement"].as_array().unwrap();
    let last = statements.last().unwrap();
    assert_eq!(last["Action"][0], "sts:AssumeRole");
    assert_eq!(last["Resource"][0], role);
    let refused = freehold(&["permissions", "aws", "--assume", "kubernetes"]);
    let said = text(&refused.stderr);
    assert!(said.contains("must be the ARN of a role"), "{said}");
}

#[test]
fn without_a_cluster_it_is_said_what_is_missing() {
    for args in [
        &["run"][..],
        &["tree", "cluster/a"],
        &["explain", "cluster/a"],
    ] {
        let output = command(args)
            .env("KUBECONFIG", "/nowhere/kubeconfig")
            .env_remove("KUBERNETES_SERVICE_HOST")
            .output()
            .unwrap();
        assert_eq!(output.status.code(), Some(1), "{args:?}");
        let said = text(&output.stderr);
        // Who only looks may mean a `freehold dev`, which needs no cloud.
        let expected = if cfg!(feature = "aws") || args[0] != "run" {
            "error: no Kubernetes cluster to speak to: set KUBECONFIG, or run inside of one: "
        } else {
            "error: this freehold was built without a cloud"
        };
        assert!(said.starts_with(expected), "{said}");
        assert_eq!(said.lines().count(), 1, "{said}");
    }
}

/// What is wrong between us and the API server: one line, the address, no debug output.
#[test]
fn errors_from_below_are_in_our_words() {
    let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let refusing = format!("http://{}", free.local_addr().unwrap());
    drop(free);
    let config = |server: &str, user: &str| {
        format!(
            "{{apiVersion: v1, kind: Config, current-context: a, \
             clusters: [{{name: a, cluster: {{server: '{server}'}}}}], \
             users: [{{name: a, user: {user}}}], \
             contexts: [{{name: a, context: {{cluster: a, user: a}}}}]}}"
        )
    };
    let failing = "{exec: {apiVersion: client.authentication.k8s.io/v1, command: sh, \
                   interactiveMode: Never, args: ['-c', 'echo session expired >&2; exit 3']}}";
    let nowhere = "no Kubernetes cluster to speak to: set KUBECONFIG, or run inside of one";
    for (name, kubeconfig, words) in [
        (
            "refused",
            config(&refusing, "{token: x}"),
            format!("the API server: {refusing} cannot be reached: Connection refused"),
        ),
        (
            "unknown",
            config("http://kubernetes.invalid:6443", "{token: x}"),
            "the API server: http://kubernetes.invalid:6443 cannot be reached: failed to lookup \
             address information: "
                .to_owned(),
        ),
        (
            "expired",
            config(&refusing, failing),
            "the API server: the kubeconfig's own command for credentials failed (exit status: \
             3): session expired"
                .to_owned(),
        ),
        (
            "context",
            config(&refusing, "{}").replace("current-context: a", "current-context: b"),
            format!("{nowhere}: the kubeconfig has no context \"b\""),
        ),
        (
            "yaml",
            "clusters: [".to_owned(),
            format!("{nowhere}: the kubeconfig is not YAML: line 1 column 11"),
        ),
    ] {
        let file = format!("{}/{name}.kubeconfig", env!("CARGO_TARGET_TMPDIR"));
        std::fs::write(&file, kubeconfig).unwrap();
        let output = command(&["take-over", "--from", "0123456789"])
            .env("KUBECONFIG", &file)
            .env_remove("KUBERNETES_SERVICE_HOST")
            .output()
            .unwrap();
        assert_eq!(output.status.code(), Some(1), "{name}");
        let said = text(&output.stderr);
        assert!(
            said.starts_with(&format!("error: {words}")),
            "{name}: {said}"
        );
        assert_eq!(said.lines().count(), 1, "{name}: {said}");
    }
    let output = command(&["tree", "cluster/a"])
        .env("KUBECONFIG", "/nowhere/kubeconfig")
        .env_remove("KUBERNETES_SERVICE_HOST")
        .output()
        .unwrap();
    let words = "cannot read /nowhere/kubeconfig: No such file or directory";
    assert_eq!(text(&output.stderr), format!("error: {nowhere}: {words}\n"));
}

#[test]
fn times_that_do_not_belong_together_are_refused_in_words() {
    for (args, words) in [
        (
            &["--lease-duration", "40s"][..],
            "error: --lease-duration: \"40 s\" must be more than 28 s longer than \
             --request-timeout (30 s): with less than the request timeout left on its Lease",
        ),
        (
            &["--request-timeout", "45s"],
            "error: --lease-duration: \"60 s\" must be more than 28 s longer than \
             --request-timeout (45 s)",
        ),
        (
            &["--request-timeout", "1s"],
            "error: --request-timeout: \"1 s\" must be from 5 s to 120 s",
        ),
        (
            &["--request-timeout", "3m", "--lease-duration", "5m"],
            "error: --request-timeout: \"180 s\" must be from 5 s to 120 s",
        ),
        (
            &["--lease-duration", "1h"],
            "error: --lease-duration: \"3600 s\" must be at most 600 s",
        ),
    ] {
        let output = freehold(&[&["run"][..], args].concat());
        assert_eq!(output.status.code(), Some(1), "{args:?}");
        let said = text(&output.stderr);
        assert!(said.starts_with(words), "{said}");
        assert_eq!(said.lines().count(), 1, "{said}");
    }
}

#[test]
fn help_and_version_are_there() {
    assert_golden("help.txt", &text(&freehold(&["--help"]).stdout));
    for command in [
        "dev",
        "run",
        "crds",
        "manifests",
        "permissions",
        "explain",
        "tree",
        "take-over",
    ] {
        let help = freehold(&[command, "--help"]);
        assert_golden(&format!("help-{command}.txt"), &text(&help.stdout));
    }
    let version = text(&freehold(&["--version"]).stdout);
    assert_eq!(
        version,
        concat!("freehold ", env!("CARGO_PKG_VERSION"), "\n")
    );
}

#[test]
fn a_wrong_command_is_refused_with_what_there_is() {
    let output = freehold(&["dve"]);
    assert_eq!(output.status.code(), Some(2));
    let said = text(&output.stderr);
    assert!(said.contains("'dve'"), "{said}");
    assert!(
        said.ends_with(
            "There are: dev, sim, run, crds, manifests, permissions, explain, tree, whose, orphans, \
             take-over\n"
        ),
        "{said}"
    );
    assert!(!said.contains('\u{1b}'), "{said:?}");
    let output = freehold(&["dev", "--onec"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stderr).contains("--once"));
    for (args, word) in [
        (&["dev", "--once", "--port", "1"][..], "--port"),
        (
            &["run", "--resync", "soon"],
            "must be a time such as 90s or 5m",
        ),
        (
            &["run", "--listen", "8080"],
            "must be an IP address and a port, such as 127.0.0.1:8080",
        ),
        (
            &["run", "--log-filter", "a=loud"],
            "must be levels such as info",
        ),
        (&["run", "--log", "xml"], "[possible values: text, json]"),
        (
            &["run", "--systems", "moon"],
            "must be auto, or of these, with commas between: kkp",
        ),
        (&["explain", "demo"], "must be KIND/NAME"),
        (&["tree", "machine/demo"], "must be KIND/NAME"),
        (&["tree"], "<KIND/NAME>"),
        (&["run", "--request-timeout", "0s"], "must be at least 1s"),
        (
            &["run", "--holder", "The Clone"],
            "must consist of lower-case letters, digits, '-' and '.', but has 'T'",
        ),
        (
            &["tree", "cluster/a", "--holder", "-"],
            "must begin and end",
        ),
        (&["manifests", "--systems", "kkp"], "--image <IMAGE>"),
        (&["manifests", "--image", "a"], "--systems <SYSTEMS>"),
        (
            &["manifests", "--image", "a b"],
            "must be the name of an image",
        ),
        (&["manifests", "--namespace", "a.b"], "must not contain '.'"),
        (&["whose", ""], "must be an id, a name or an ARN"),
        (
            &["whose", "arn:aws:iam::1:role/"],
            "must be an id, a name or an ARN",
        ),
        (&["take-over"], "--from <HOLDER[@GENERATION]>"),
        (
            &["take-over", "--from", "x"],
            "must consist of digits and a-f",
        ),
        (&["take-over", "--from", "0123"], "must have 10 characters"),
        (
            &["take-over", "--from", "0123456789@latest"],
            "\"latest\" must be a number as a message names it",
        ),
    ] {
        let output = freehold(args);
        assert_eq!(output.status.code(), Some(2), "{args:?}");
        let said = text(&output.stderr);
        assert!(said.contains(word), "{args:?}: {said}");
    }
    // Nothing at all: what there is to choose from.
    assert!(text(&freehold(&[]).stderr).contains("Commands:"));
}
