//! A newcomer's first hour, typed into a shell: a real API server, moto for AWS, the operator as the
//! account that its manifests make. What was typed and said stands in `docs/transcript.md`.
//!
//! Runs only where `FREEHOLD_TIER_AWS=1` says that moto can be had, and where there is a control plane
//! or Go to build one.
#![cfg(feature = "aws")]
#![allow(clippy::unwrap_used, reason = "a test stops at the first surprise")]

use std::collections::BTreeMap;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use control_plane::ControlPlane;
use moto_server::MotoServer;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::time::{Instant, sleep};

const PATIENCE: Duration = Duration::from_mins(2);
const DOCUMENT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/transcript.md");
const CLUSTER: &str = include_str!("transcript/cluster.yaml");

/// A shell in which a newcomer types.
struct Shell {
    path: String,
    kubeconfig: PathBuf,
    folder: PathBuf,
    aws: String,
    transcript: String,
}

impl Shell {
    fn command(&self, program: &str) -> Command {
        let mut command = Command::new(program);
        command
            .env("PATH", &self.path)
            .env("KUBECONFIG", &self.kubeconfig)
            .env("COLUMNS", "110")
            .env("AWS_ENDPOINT_URL", &self.aws)
            .env("AWS_ACCESS_KEY_ID", "example")
            .env("AWS_SECRET_ACCESS_KEY", "example")
            .current_dir(&self.folder);
        command
    }

    /// Types a line, and takes down what is said.
    fn types(&mut self, line: &str) -> String {
        let output = self.command("sh").args(["-c", line]).output().unwrap();
        let said = format!(
            "{}{}",
            String::from_utf8(output.stdout).unwrap(),
            String::from_utf8(output.stderr).unwrap()
        );
        assert!(output.status.success(), "{line}\n{said}");
        self.transcript += "$ ";
        self.transcript += line;
        self.transcript.push('\n');
        self.transcript += &said;
        if !said.is_empty() {
            self.transcript.push('\n');
        }
        said
    }

    /// Says what comes next.
    fn heading(&mut self, words: &str) {
        self.transcript += "```\n\n";
        self.transcript += words;
        self.transcript += "\n\n```console\n";
    }
}

/// The operator, which does not outlive the test.
struct Operator(Child);

impl Drop for Operator {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Calls EC2 past everything, as somebody else would.
async fn ec2(aws: &str, form: &str) -> String {
    let address = aws.trim_start_matches("http://");
    let mut stream = TcpStream::connect(address).await.unwrap();
    let body = format!("{form}&Version=2016-11-15");
    let request = format!(
        "POST / HTTP/1.1\r\nHost: ec2.eu-central-1.amazonaws.com\r\nConnection: close\r\n\
         Authorization: AWS4-HMAC-SHA256 Credential=example/20260101/eu-central-1/ec2/aws4_request, \
         SignedHeaders=host, Signature=0\r\n\
         Content-Type: application/x-www-form-urlencoded\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    );
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.unwrap();
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    answer
}

/// What stands between two tags.
fn between(text: &str, tag: &str) -> String {
    let (_, rest) = text.split_once(&format!("<{tag}>")).unwrap();
    rest.split_once('<').unwrap().0.to_owned()
}

/// Somebody's group, with these tags.
async fn plant(aws: &str, vpc: &str, name: &str, tags: &[(String, String)]) -> String {
    let mut form = format!(
        "Action=CreateSecurityGroup&GroupName={name}&GroupDescription={name}&VpcId={vpc}\
         &TagSpecification.1.ResourceType=security-group"
    );
    for (at, (key, value)) in (1..).zip(tags) {
        let tag = format!("&TagSpecification.1.Tag.{at}");
        form += &[&tag, ".Key=", key, &tag, ".Value=", value].concat();
    }
    if tags.is_empty() {
        form = form.replace("&TagSpecification.1.ResourceType=security-group", "");
    }
    between(&ec2(aws, &form).await, "groupId")
}

/// The marks of another claim, held by this management cluster.
fn marks(claim: &str, holder: &str, name: &str) -> [(String, String); 2] {
    [
        (
            format!("freehold.dev/{claim}"),
            format!("security-group_1_{holder}"),
        ),
        (format!("owned-by.kubermatic.k8c.io/{name}"), String::new()),
    ]
}

/// The same text with ids that are the same every time.
fn numbered(text: &str) -> String {
    let mut known: BTreeMap<String, String> = BTreeMap::new();
    let mut numbered = String::new();
    let is_word = |c: char| c.is_ascii_alphanumeric() || c == '-';
    let mut rest = text;
    while !rest.is_empty() {
        let end = rest.find(|c| !is_word(c)).unwrap_or(rest.len());
        let (word, after) = rest.split_at(end);
        numbered.push_str(&renamed(word, &mut known));
        let between = after.chars().next().map_or(0, char::len_utf8);
        numbered.push_str(&after[..between]);
        rest = &after[between..];
    }
    numbered
}

fn renamed(word: &str, known: &mut BTreeMap<String, String>) -> String {
    let hex = |text: &str| {
        text.chars()
            .all(|c| c.is_ascii_digit() || ('a'..='f').contains(&c))
    };
    let number = known.len() + 1;
    let made = match word.rsplit_once('-') {
        Some((prefix, id)) if id.len() == 17 && hex(id) => format!("{prefix}-{number:017}"),
        None if word.len() == 32 && hex(word) => format!("{number:032}"),
        None if word.len() == 10 && hex(word) => format!("{number:010}"),
        _ => return word.to_owned(),
    };
    known.entry(word.to_owned()).or_insert(made).clone()
}

async fn eventually(what: &str, mut holds: impl AsyncFnMut() -> bool) {
    let began = Instant::now();
    while !holds().await {
        assert!(began.elapsed() < PATIENCE, "{what}");
        sleep(Duration::from_millis(200)).await;
    }
}

#[tokio::test]
async fn the_transcript_in_the_docs_is_what_a_newcomer_sees() {
    let tier = std::env::var("FREEHOLD_TIER_AWS").is_ok_and(|value| value == "1");
    let go = Command::new("go").arg("version").output();
    let plane = std::env::var_os("KUBEBUILDER_ASSETS").is_some() || go.is_ok();
    if !tier || !plane {
        let line = "SKIPPED: the transcript (FREEHOLD_TIER_AWS is not 1, or there is neither Go nor \
                    KUBEBUILDER_ASSETS)";
        writeln!(std::io::stderr(), "{line}").unwrap();
        return;
    }
    let binaries = control_plane::tools(|_| ()).unwrap();
    let plane = ControlPlane::start(&binaries).await.unwrap();
    let moto = moto_server::install(|_| ()).unwrap();
    let moto = MotoServer::start(&moto).await.unwrap();
    let freehold = Path::new(env!("CARGO_BIN_EXE_freehold")).parent().unwrap();
    let folder =
        Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("transcript-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("cluster.yaml"), CLUSTER).unwrap();
    let mut shell = Shell {
        path: format!(
            "{}:{}:{}",
            freehold.display(),
            binaries.program("kubectl").parent().unwrap().display(),
            std::env::var("PATH").unwrap()
        ),
        kubeconfig: plane.kubeconfig().to_owned(),
        folder: folder.clone(),
        aws: moto.url().to_owned(),
        transcript: String::new(),
    };
    let aws = shell.aws.clone();

    shell.types("freehold crds --systems kkp --no-policy | kubectl create -f -");
    shell.types("freehold manifests --systems kkp --image freehold:1 | kubectl apply -f -");
    let operator = run(&shell);
    shell.heading("The Deployment runs the operator as its account. A cluster:");
    shell.types("kubectl create -f cluster.yaml");
    let ready = "--for=jsonpath='{.status.conditions.Ready.status}'=True --timeout=2m";
    shell.types(&format!("kubectl wait cluster/demo {ready}"));
    shell.types("freehold tree cluster/demo");
    shell.types("freehold explain cluster/demo --slot security-group");

    let of =
        |field: &str| format!("kubectl get cluster demo -o jsonpath='{{.spec.cloud.aws.{field}}}'");
    let quiet = |line: &str| {
        let output = shell.command("sh").args(["-c", line]).output().unwrap();
        String::from_utf8(output.stdout).unwrap()
    };
    let (group, vpc) = (quiet(&of("securityGroupID")), quiet(&of("vpcID")));
    let whose = quiet(&format!("freehold whose {group}"));
    assert!(whose.contains("belongs to Cluster demo"), "{whose}");
    let holder = quiet("freehold explain cluster/demo -o json");
    assert!(holder.contains("Cluster demo"), "{holder}");
    let tags = ec2(
        &aws,
        &format!("Action=DescribeSecurityGroups&GroupId.1={group}"),
    )
    .await;
    let (_, mark) = tags.split_once("<value>security-group_1_").unwrap();
    let holder = mark.split_once('<').unwrap().0.to_owned();

    shell.heading(
        "Somebody deletes the group by hand; the operator looks at it again within five minutes:",
    );
    ec2(&aws, &format!("Action=DeleteSecurityGroup&GroupId={group}")).await;
    shell.types("freehold explain cluster/demo --slot security-group");
    shell.types("kubectl annotate cluster demo example.com/look=now");
    // A glance may believe for half a minute what was seen before: whoever asks again is answered.
    let mut looks = 0;
    eventually("the group is there again", async || {
        looks += 1;
        let ask = format!("kubectl annotate --overwrite cluster demo example.com/look={looks}");
        shell.command("sh").args(["-c", &ask]).output().unwrap();
        let output = shell
            .command("sh")
            .args(["-c", &of("securityGroupID")])
            .output();
        let id = String::from_utf8(output.unwrap().stdout).unwrap();
        !id.is_empty() && id != group
    })
    .await;
    shell.types(&format!("kubectl wait cluster/demo {ready}"));
    let group = {
        let output = shell
            .command("sh")
            .args(["-c", &of("securityGroupID")])
            .output();
        String::from_utf8(output.unwrap().stdout).unwrap()
    };

    shell.heading("Another claim's mark on it:");
    let other = "0123456789abcdef0123456789abcdef";
    for (key, value) in marks(other, &holder, "other") {
        let tag = format!("ResourceId.1={group}&Tag.1.Key={key}&Tag.1.Value={value}");
        ec2(&aws, &format!("Action=CreateTags&{tag}")).await;
    }
    shell.types("freehold explain cluster/demo --slot security-group");
    for (key, value) in marks(other, &holder, "other") {
        let tag = format!("ResourceId.1={group}&Tag.1.Key={key}&Tag.1.Value={value}");
        ec2(&aws, &format!("Action=DeleteTags&{tag}")).await;
    }

    shell.heading("A field that is wrong:");
    let range = |value: &str| {
        format!(
            "kubectl patch cluster demo --type merge -p \
             '{{\"spec\":{{\"cloud\":{{\"aws\":{{\"nodePortsAllowedIPRange\":{value}}}}}}}}}'"
        )
    };
    shell.types(&range("\"10.0.0.0\""));
    shell.types("freehold tree cluster/demo");
    shell.types(&range("\"10.0.0.0/8\""));

    shell.heading("Paused, and observed:");
    shell.types("kubectl patch cluster demo --type merge -p '{\"spec\":{\"pause\":true}}'");
    shell.types("freehold explain cluster/demo --slot vpc | grep 'nothing is done'");
    shell.types("kubectl patch cluster demo --type merge -p '{\"spec\":{\"pause\":false}}'");
    shell.types("kubectl annotate cluster demo freehold.dev/management=observe");
    shell.types("freehold explain cluster/demo --slot vpc | grep 'nothing is done'");
    shell.types("kubectl annotate cluster demo freehold.dev/management-");

    shell.heading(
        "Six resources: ours, another claim's, another management cluster's, a stranger's, one that is \
         used, none:",
    );
    let theirs = plant(&aws, &vpc, "theirs", &marks(other, &holder, "other")).await;
    let far = "fedcba9876543210fedcba9876543210";
    plant(&aws, &vpc, "far", &marks(far, "0000000000", "far")).await;
    plant(&aws, &vpc, "web-shop", &[]).await;
    shell.types(&format!(
        "freehold whose {group} {theirs} far web-shop {vpc} sg-0"
    ));
    shell.types("freehold orphans");
    shell.types("yes | freehold orphans --apply");

    shell.heading("And it goes, with nothing of it left:");
    shell.types("kubectl delete cluster demo --timeout=2m");
    shell.types("freehold whose kubernetes-demo --region eu-central-1");
    drop(operator);

    let shown = numbered(&shell.transcript).replace(moto.url(), "https://aws.example");
    let text = format!(
        "# A first hour\n\n\
         What a newcomer types, and sees, on an empty cluster and account. A test types it, on a real \
         API\nserver and moto's server for AWS, and keeps this page as it is; ids are numbered.\n\n\
         `cluster.yaml`:\n\n```yaml\n{CLUSTER}```\n\n```console\n{shown}```\n"
    );
    let text = text.replace("\n\n```\n", "\n```\n");
    let lines: Vec<&str> = text.lines().map(str::trim_end).collect();
    let text = lines.join("\n") + "\n";
    if std::env::var_os("FREEHOLD_ACCEPT").is_some() {
        std::fs::write(DOCUMENT, &text).unwrap();
    }
    let kept = std::fs::read_to_string(DOCUMENT).unwrap();
    std::fs::remove_dir_all(folder).unwrap();
    assert_eq!(kept, text, "FREEHOLD_ACCEPT=1 writes it");
}

/// The operator, as the account of its manifests.
fn run(shell: &Shell) -> Operator {
    let sign_in = "kubectl -n freehold-system create token freehold";
    let token = shell.command("sh").args(["-c", sign_in]).output().unwrap();
    let token = String::from_utf8(token.stdout).unwrap();
    let admin = std::fs::read_to_string(&shell.kubeconfig).unwrap();
    let mut config: serde_json::Value = serde_saphyr::from_str(&admin).unwrap();
    config["users"][0]["user"] = serde_json::json!({"token": token.trim()});
    let file = shell.folder.join("operator.kubeconfig");
    std::fs::write(&file, config.to_string()).unwrap();
    let log = std::fs::File::create(shell.folder.join("operator.log")).unwrap();
    let mut command = shell.command("freehold");
    command
        .args(["run", "--systems", "kkp", "--listen", "127.0.0.1:0"])
        .env("KUBECONFIG", file)
        .stdout(Stdio::null())
        .stderr(log);
    Operator(command.spawn().unwrap())
}
