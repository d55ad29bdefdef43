//! Runs a script against a server; the answer is the script with what was written.

use std::fmt::Write as _;
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, LazyLock};
use std::time::Duration;
use std::{fs, thread};

use regex::Regex;

use crate::folder;
use crate::servers::Served;

/// How long anything may take.
const PATIENCE: Duration = Duration::from_secs(20);

/// Plays a script in a namespace and a folder of its own.
pub(crate) fn play(script: &str, served: &Served) -> String {
    let shell = Shell::new(served);
    shell.set_up();
    let mut out = String::new();
    let mut background: Option<Background> = None;
    for line in script.lines() {
        let command = line.get(2..).unwrap_or_default();
        match line.get(..1) {
            Some("#") => {
                let _ = writeln!(out, "{line}");
            }
            Some("$") => {
                let _ = writeln!(out, "{line}");
                out.push_str(&shell.run(command));
            }
            Some("&") => {
                let _ = writeln!(out, "{line}");
                background = Some(Background::start(shell.command(&format!("exec {command}"))));
            }
            Some("|") => {
                let _ = writeln!(out, "{line}");
                let background = background.as_mut().expect("something in the background");
                let count = command.parse().expect("how many lines");
                out.push_str(&normal(&background.lines(count)));
            }
            _ => {}
        }
    }
    out
}

struct Shell {
    folder: PathBuf,
    kubectl: PathBuf,
}

impl Shell {
    fn new(served: &Served) -> Self {
        let folder = test_programs::temporary_folder("kubectl").expect("a folder");
        let mut kubeconfig = served.kubeconfig.clone();
        kubeconfig["contexts"][0]["context"]["namespace"] = "scripts".into();
        fs::write(folder.join("kubeconfig"), kubeconfig.to_string()).expect("a file");
        for file in fs::read_dir(crate::folder("manifests")).expect("the manifests") {
            let file = file.expect("a file").path();
            let name = file.file_name().expect("a name");
            fs::copy(&file, folder.join(name)).expect("a copy");
        }
        Self {
            folder,
            kubectl: served.kubectl.clone(),
        }
    }

    fn set_up(&self) {
        self.expect("kubectl apply -f definition.yaml");
        self.expect(
            "kubectl wait --for=condition=Established crd/gizmos.kubectl.freehold.dev --timeout=60s",
        );
        self.expect("kubectl get ns scripts || kubectl create namespace scripts");
        // What an earlier script left.
        self.expect("kubectl delete configmaps,secrets,gizmos,events,serviceaccounts --all");
        // The real server tells of a new kind late.
        let found = "kubectl explain gizmos.spec >/dev/null 2>&1 && \
                     kubectl get --raw /openapi/v2 | grep -q dev.freehold.kubectl.v1.Gizmo";
        for _ in 0..600 {
            if self.command(found).status().expect("sh runs").success() {
                return;
            }
            pause();
        }
        panic!("the kind of the scripts is never explained");
    }

    fn command(&self, line: &str) -> Command {
        let path = std::env::var("PATH").unwrap_or_default();
        let programs = self.kubectl.parent().unwrap_or(Path::new("/"));
        let mut command = Command::new("sh");
        command
            .args(["-c", line])
            .current_dir(&self.folder)
            .env("PATH", format!("{}:{path}", programs.display()))
            .env("KUBECONFIG", self.folder.join("kubeconfig"))
            .env("HOME", &self.folder)
            .env("LC_ALL", "C")
            .env_remove("EDITOR")
            .env_remove("KUBE_EDITOR")
            .stdin(Stdio::null());
        command
    }

    fn expect(&self, line: &str) {
        let output = self.command(line).output().expect("sh runs");
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{line}: {said}");
    }

    fn run(&self, line: &str) -> String {
        // Both streams as they come, as in a terminal.
        let output = self.command(&format!("exec 2>&1; {line}")).output();
        let output = output.expect("sh runs");
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let text = text.replace(&self.folder.display().to_string(), "<folder>");
        let mut text = normal(&text);
        match output.status.code() {
            Some(0) => {}
            Some(code) => {
                let _ = writeln!(text, "? {code}");
            }
            None => text.push_str("? killed\n"),
        }
        text
    }
}

impl Drop for Shell {
    fn drop(&mut self) {
        // What stays behind is in the folder for temporary files.
        let _ = fs::remove_dir_all(&self.folder);
    }
}

#[allow(
    clippy::disallowed_methods,
    reason = "waits for a program, whose time is the real one"
)]
fn pause() {
    thread::sleep(Duration::from_millis(100));
}

/// A program that goes on while others run.
struct Background {
    child: Child,
    lines: Receiver<String>,
    seen: usize,
}

impl Background {
    fn start(mut command: Command) -> Self {
        let child = command.stdout(Stdio::piped()).spawn();
        let mut child = child.expect("sh runs");
        let output = child.stdout.take().expect("it is piped");
        let (tell, lines) = channel();
        thread::spawn(move || {
            for line in BufReader::new(output).lines().map_while(Result::ok) {
                if tell.send(line).is_err() {
                    return;
                }
            }
        });
        Self {
            child,
            lines,
            seen: 0,
        }
    }

    /// Waits until there are this many lines; the answer is the new ones.
    fn lines(&mut self, count: usize) -> String {
        let mut text = String::new();
        while self.seen < count {
            let line = self.lines.recv_timeout(PATIENCE);
            let line = line.unwrap_or_else(|_| format!("<silence after {} lines>", self.seen));
            self.seen += 1;
            text.push_str(&line);
            text.push('\n');
        }
        text
    }
}

impl Drop for Background {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// What no two runs agree on, and words that are not ours.
static MASKS: LazyLock<Arc<[(Regex, &'static str)]>> = LazyLock::new(|| {
    [
        (
            "[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}",
            "<uid>",
        ),
        (r"20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z", "<time>"),
        (r"(?m)( )\d+[smhd](\d+[smh])?( *)$", "${1}<age>"),
        (r"( )\d+[smhd](\d+[smh])?( {2,})", "${1}<age>${3}"),
        (r#"(resourceVersion"?: ?)"\d+""#, r#"${1}"<version>""#),
        (
            r"(resourceVersion=|Resource Version: +)\d+",
            "${1}<version>",
        ),
        (r"(/tmp/)[A-Za-z0-9./_-]+", "${1}<file>"),
        (
            r"(?s)(DESCRIPTION:\n)    [^\n]*?(\n    [^\n]*)*\n",
            "${1}    <words>\n",
        ),
    ]
    .into_iter()
    .map(|(pattern, mask)| (Regex::new(pattern).expect("a regex"), mask))
    .collect()
});

fn normal(text: &str) -> String {
    let mut text = text.to_owned();
    for (pattern, mask) in MASKS.iter() {
        text = pattern.replace_all(&text, *mask).into_owned();
    }
    // A line of a script is a line.
    if !text.is_empty() && !text.ends_with('\n') {
        text.push_str("<no end of line>\n");
    }
    text
}

/// The folder that a script finds its manifests in is a copy of this one.
#[test]
fn there_are_manifests() {
    assert!(folder("manifests").join("definition.yaml").exists());
}
