//! `kubectl` on both servers: scripts whose output and exit codes must be the same, and as written down.
//!
//! A script is a file of `scripts`: what follows a `$` is run by `sh`, what follows a `&` in the
//! background, `| N` waits until the background has written N lines, and `? N` is an exit code. The
//! rest is what is written. `FREEHOLD_ACCEPT=1` writes down anew what the real server's `kubectl` says.
//! Like the differential suite it runs where `FREEHOLD_TIER_CONTROL_PLANE=1`.

#![allow(clippy::panic, reason = "all of it is a test")]

mod servers;
mod shell;

use std::fs;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use servers::Served;

macro_rules! scripts {
    ($($name:ident),* $(,)?) => {
        $(
            #[test]
            fn $name() {
                check(stringify!($name));
            }
        )*

        /// Every script is run.
        #[test]
        fn no_script_is_forgotten() {
            let mut known = vec![$(stringify!($name)),*];
            known.sort_unstable();
            let files = fs::read_dir(folder("scripts")).expect("the folder of scripts");
            let mut found: Vec<String> = files
                .map(|file| file.expect("a file").path())
                .map(|path| path.file_stem().expect("a name").to_string_lossy().into_owned())
                .collect();
            found.sort_unstable();
            assert_eq!(found, known);
        }
    };
}

scripts!(
    apply,
    api_resources,
    delete,
    describe,
    diff,
    edit,
    explain,
    get,
    patch,
    refusals,
    replace,
    rights,
    server_side_apply,
    token,
    wait,
    watch,
);

fn folder(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
        .join("tests/kubectl")
        .join(name)
}

/// They all work in one namespace of the real server, whose name is in what is written.
static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

fn check(name: &str) {
    if !servers::enabled(name) {
        return;
    }
    let _turn = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    let path = folder("scripts").join(format!("{name}.console"));
    let script = fs::read_to_string(&path).expect("the script");
    let on_real = shell::play(&script, &Served::real(name));
    if std::env::var_os("FREEHOLD_ACCEPT").is_some() {
        fs::write(&path, &on_real).expect("the script can be written");
    } else {
        assert_same(
            &format!("{name}: the real server has changed"),
            &script,
            &on_real,
        );
    }
    let on_embedded = shell::play(&script, &Served::embedded(name));
    assert_same(
        &format!("{name}: the embedded server differs"),
        &on_real,
        &on_embedded,
    );
}

/// Fails with the first line that differs, and what is around it.
fn assert_same(what: &str, expected: &str, found: &str) {
    if expected == found {
        return;
    }
    let (left, right): (Vec<&str>, Vec<&str>) =
        (expected.lines().collect(), found.lines().collect());
    let at = left.iter().zip(&right).take_while(|(a, b)| a == b).count();
    let around = |lines: &[&str]| {
        let (from, to) = (at.saturating_sub(6), (at + 8).min(lines.len()));
        lines.get(from..to).unwrap_or_default().join("\n")
    };
    panic!(
        "{what}, at line {}\n--- expected\n{}\n--- found\n{}\n",
        at + 1,
        around(&left),
        around(&right)
    );
}
