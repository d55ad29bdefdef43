//! One child process that cannot outlive us.
//!
//! Each program runs under a small supervising shell in a process group of its own. The shell's
//! standard input is a pipe whose other end only this process holds. The kernel closes it when we
//! close it, when we panic, exit or are killed with SIGKILL; the shell then ends the program: SIGTERM,
//! and SIGKILL after a grace. A process group of its own keeps Ctrl-C from reaching the programs
//! directly, which would end etcd before the API server that needs it to shut down.

use std::{
    fs,
    io::{self, Read as _, Seek as _},
    os::unix::process::CommandExt as _,
    path::Path,
    process::{Child, ChildStdin, Command, Stdio},
};

/// Arguments: the folder to remove at the end, then the program and its own arguments.
///
/// The reader is a background job, and the shell gives those no standard input: hence descriptor 3.
const SUPERVISOR: &str = r#"
folder=$1; shift
exec 3<&0
"$@" </dev/null 3<&- &
program=$!
{
    read -r _ <&3
    kill -TERM "$program"
    tries=0
    while kill -0 "$program" && [ "$tries" -lt 50 ]; do sleep 0.1; tries=$((tries + 1)); done
    kill -KILL "$program"
} 2>/dev/null &
reader=$!
wait "$program"
code=$?
kill -KILL "$reader"
rm -rf "$folder"
rmdir "$(dirname "$folder")" 2>/dev/null
exit "$code"
"#;

/// A running program with a folder of its own.
#[derive(Debug)]
pub struct Process {
    name: &'static str,
    supervisor: Child,
    lifeline: Option<ChildStdin>,
    /// Open, because the supervisor removes the folder of a program that ended by itself.
    log: fs::File,
}

impl Process {
    /// Starts `program`; `folder` exists, is its working folder, holds its log and is removed when it
    /// has ended, together with the parent folder once that is empty.
    ///
    /// # Errors
    /// What the system said.
    pub fn start(
        name: &'static str,
        program: &Path,
        arguments: &[String],
        folder: &Path,
    ) -> io::Result<Self> {
        let output = fs::File::create(folder.join("log"))?;
        let log = fs::File::open(folder.join("log"))?;
        let mut supervisor = Command::new("sh")
            .args(["-c", SUPERVISOR, name])
            .arg(folder)
            .arg(program)
            .args(arguments)
            .current_dir(folder)
            .stdin(Stdio::piped())
            .stdout(output.try_clone()?)
            .stderr(output)
            .process_group(0)
            .spawn()?;
        let lifeline = supervisor.stdin.take();
        Ok(Self {
            name,
            supervisor,
            lifeline,
            log,
        })
    }

    /// What it was called when it was started.
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// Whether it has ended by itself.
    ///
    /// # Errors
    /// What the system said.
    pub fn has_ended(&mut self) -> io::Result<bool> {
        Ok(self.supervisor.try_wait()?.is_some())
    }

    /// The end of what it wrote, for the person who asks why it did not start.
    pub fn last_words(&self) -> String {
        let mut text = Vec::new();
        let mut log = &self.log;
        let read = log
            .seek(io::SeekFrom::Start(0))
            .and_then(|_| log.read_to_end(&mut text));
        if let Err(error) = read {
            return format!("(its log cannot be read: {error})");
        }
        let text = String::from_utf8_lossy(&text);
        let lines: Vec<&str> = text.lines().collect();
        lines[lines.len().saturating_sub(20)..].join("\n")
    }

    /// Ends it and waits until it is gone; the supervisor's grace bounds the wait.
    pub fn stop(&mut self) {
        self.lifeline = None;
        // An error here means that there is nothing to wait for.
        let _ = self.supervisor.wait();
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.stop();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::PathBuf;

    fn folder(test: &str) -> PathBuf {
        let folder = std::env::temp_dir()
            .join(format!("freehold-{test}-{}", std::process::id()))
            .join("p");
        fs::create_dir_all(&folder).expect("a temporary folder");
        folder
    }

    fn start(test: &str, script: &str) -> (Process, PathBuf) {
        let folder = folder(test);
        let arguments = ["-c".to_owned(), script.to_owned()];
        let process =
            Process::start("test", Path::new("sh"), &arguments, &folder).expect("sh runs");
        (process, folder)
    }

    /// Blocks until the program has written its process id, without sleeping: the FIFO's reader waits.
    fn pid_from(folder: &Path) -> String {
        fs::read_to_string(folder.join("pid")).expect("the FIFO has a writer")
    }

    fn is_running(pid: &str) -> bool {
        Path::new("/proc").join(pid.trim()).exists()
    }

    fn with_fifo(test: &str, script: &str) -> (Process, PathBuf, String) {
        let folder = folder(test);
        assert!(
            Command::new("mkfifo")
                .arg(folder.join("pid"))
                .status()
                .expect("mkfifo")
                .success()
        );
        let (process, folder) = start(test, script);
        let pid = pid_from(&folder);
        (process, folder, pid)
    }

    #[test]
    fn dropping_ends_the_program_and_removes_its_folder() {
        let (process, folder, pid) = with_fifo("drop", "echo $$ > pid; exec sleep 600");
        assert!(is_running(&pid));
        drop(process);
        assert!(!is_running(&pid));
        assert!(!folder.exists());
        assert!(!folder.parent().expect("it has one").exists());
    }

    #[test]
    fn a_program_that_ignores_sigterm_is_killed() {
        let (process, _, pid) =
            with_fifo("stubborn", "trap '' TERM; echo $$ > pid; exec sleep 600");
        drop(process);
        assert!(!is_running(&pid));
    }

    #[test]
    fn the_death_of_its_parent_ends_the_program() {
        // A shell stands for a test that is killed with SIGKILL: it holds the only other end.
        let folder = folder("orphan");
        let fifo = |name: &str| {
            let path = folder.join(name);
            assert!(
                Command::new("mkfifo")
                    .arg(&path)
                    .status()
                    .expect("mkfifo")
                    .success()
            );
            path
        };
        let (line, _) = (fifo("line"), fifo("pid"));
        let mut parent = Command::new("sh")
            .args(["-c", "exec sleep 600 > \"$0\""])
            .arg(&line)
            .spawn()
            .expect("sh runs");
        let mut supervisor = Command::new("sh")
            .args(["-c", SUPERVISOR, "test"])
            .arg(&folder)
            .args(["sh", "-c", "echo $$ > pid; exec sleep 600"])
            .current_dir(&folder)
            .stdin(fs::File::open(&line).expect("the parent writes"))
            .process_group(0)
            .spawn()
            .expect("sh runs");
        let pid = pid_from(&folder);
        assert!(is_running(&pid));
        parent.kill().expect("it runs");
        parent.wait().expect("it ran");
        supervisor.wait().expect("it ran");
        assert!(!is_running(&pid));
    }

    #[test]
    fn a_program_that_ends_by_itself_is_noticed() {
        let (mut process, _) = start("short", "echo because; exit 3");
        let status = process.supervisor.wait().expect("it ran");
        assert_eq!(status.code(), Some(3));
        assert!(process.has_ended().expect("it can be asked"));
        assert_eq!(process.last_words(), "because");
    }
}
