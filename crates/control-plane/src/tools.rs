//! Builds the programs of the control plane into a cache folder, once per machine.

use std::{
    env, fs,
    io::{self, Write as _},
    path::{Path, PathBuf},
    process::Command,
};

use test_programs::Installation;

/// The Kubernetes release that is built; `go.mod` pins the same.
pub const KUBERNETES_VERSION: &str = "v1.36.3";

/// The Go module that pins every source of the control plane.
const MODULE: [(&str, &str); 3] = [
    (
        "go.mod",
        include_str!("../../../tools/control-plane/go.mod"),
    ),
    (
        "go.sum",
        include_str!("../../../tools/control-plane/go.sum"),
    ),
    (
        "tools.go",
        include_str!("../../../tools/control-plane/tools.go"),
    ),
];

/// Program and the Go package it is built from, the quickest first.
const PROGRAMS: [(&str, &str); 4] = [
    ("etcd", "go.etcd.io/etcd/server/v3"),
    ("kubectl", "k8s.io/kubernetes/cmd/kubectl"),
    (
        "kube-controller-manager",
        "k8s.io/kubernetes/cmd/kube-controller-manager",
    ),
    ("kube-apiserver", "k8s.io/kubernetes/cmd/kube-apiserver"),
];

/// Where the programs of the control plane are.
#[derive(Debug, Clone)]
pub struct Binaries {
    folder: PathBuf,
}

impl Binaries {
    /// The folder that holds them all.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The path of one program, such as `kubectl`.
    pub fn program(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }
}

/// Why there are no programs to run.
#[derive(Debug, thiserror::Error)]
pub enum ToolsError {
    /// `KUBEBUILDER_ASSETS` names a folder without one of the programs.
    #[error("KUBEBUILDER_ASSETS is {folder}, which holds no {program}")]
    Assets {
        /// What the variable says.
        folder: PathBuf,
        /// The first program that is missing.
        program: &'static str,
    },
    /// Neither `FREEHOLD_CACHE` nor `XDG_CACHE_HOME` nor `HOME` is set.
    #[error("no cache folder: set FREEHOLD_CACHE, XDG_CACHE_HOME or HOME")]
    NoCache,
    /// The cache folder cannot be used.
    #[error("cannot use the cache at {path}")]
    Cache {
        /// The file or folder.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// There is no Go to build with.
    #[error(
        "cannot run `go`, which builds the control plane; install Go or set KUBEBUILDER_ASSETS"
    )]
    NoGo(#[source] io::Error),
    /// A build failed; Go's own words are on standard error.
    #[error("building {program} failed ({status})")]
    Build {
        /// The program.
        program: &'static str,
        /// How `go build` ended.
        status: std::process::ExitStatus,
    },
}

impl From<(PathBuf, io::Error)> for ToolsError {
    fn from((path, source): (PathBuf, io::Error)) -> Self {
        Self::Cache { path, source }
    }
}

/// Returns the programs, building them first where the cache has none of this version.
///
/// # Expected flow
/// 1. If `KUBEBUILDER_ASSETS` is set, its programs are used and nothing is built.
/// 2. The cache folder is `$FREEHOLD_CACHE`, else `${XDG_CACHE_HOME:-$HOME/.cache}/freehold`; the
///    programs go to `control-plane/<version>/bin` below it.
/// 3. Where its stamp (the Go module's files and the build's flags) is this one's, nothing is done.
///
/// `progress` is told what is being built. A first build takes minutes.
///
/// # Guarantees
/// Of several processes that ask at once one builds and the others wait. A build that was interrupted
/// leaves no stamp, and programs appear by renaming, so no half-written one is ever run.
///
/// # Errors
/// See [`ToolsError`].
pub fn tools(mut progress: impl FnMut(&str)) -> Result<Binaries, ToolsError> {
    if let Some(folder) = env::var_os("KUBEBUILDER_ASSETS").filter(|value| !value.is_empty()) {
        return assets(PathBuf::from(folder));
    }
    let base = test_programs::cache_folder()
        .ok_or(ToolsError::NoCache)?
        .join("control-plane")
        .join(KUBERNETES_VERSION);
    let bin = base.join("bin");
    make_folder(&bin)?;
    let installation = Installation::lock(&base)?;
    let wanted = stamp_text();
    let complete = PROGRAMS
        .iter()
        .all(|(program, _)| bin.join(program).is_file());
    if !(complete && installation.is_for(&wanted)) {
        installation.begin()?;
        build(&base, &bin, &mut progress)?;
        installation.finish(&wanted)?;
    }
    Ok(Binaries { folder: bin })
}

fn assets(folder: PathBuf) -> Result<Binaries, ToolsError> {
    match PROGRAMS
        .iter()
        .find(|(program, _)| !folder.join(program).is_file())
    {
        // etcd, kube-apiserver and kubectl are all that such a folder usually has: without the
        // controller manager nothing is garbage-collected, so it is asked for here and not missed later.
        Some((program, _)) => Err(ToolsError::Assets { folder, program }),
        None => Ok(Binaries { folder }),
    }
}

fn build(base: &Path, bin: &Path, progress: &mut impl FnMut(&str)) -> Result<(), ToolsError> {
    let source = base.join("src");
    make_folder(&source)?;
    for (name, text) in MODULE {
        write(&source.join(name), text)?;
    }
    for (program, package) in PROGRAMS {
        progress(&format!(
            "building {program} {KUBERNETES_VERSION} (once per machine)"
        ));
        let fresh = bin.join(format!("{program}.new"));
        let status = Command::new("go")
            .args([
                "build",
                "-mod=readonly",
                "-buildvcs=false",
                "-trimpath",
                "-ldflags",
            ])
            .arg(linker_flags())
            .arg("-o")
            .arg(&fresh)
            .arg(package)
            .current_dir(&source)
            .envs([("CGO_ENABLED", "0"), ("GOWORK", "off")])
            .status()
            .map_err(ToolsError::NoGo)?;
        if !status.success() {
            return Err(ToolsError::Build { program, status });
        }
        let finished = bin.join(program);
        fs::rename(&fresh, &finished).map_err(cache_error(&finished))?;
    }
    Ok(())
}

/// kubectl refuses a server that does not say its version, and nothing but the linker sets it.
fn linker_flags() -> String {
    let version = "-X k8s.io/component-base/version.git";
    format!("-s -w {version}Version={KUBERNETES_VERSION} {version}Major=1 {version}Minor=36")
}

/// The files themselves rather than a hash of them: they cannot collide, and `diff` can say why a
/// rebuild was due.
fn stamp_text() -> String {
    let mut stamp = String::new();
    for (name, text) in MODULE
        .into_iter()
        .chain([("flags", linker_flags().as_str())])
    {
        stamp.extend(["== ", name, "\n", text, "\n"]);
    }
    stamp
}

fn make_folder(path: &Path) -> Result<(), ToolsError> {
    fs::create_dir_all(path).map_err(cache_error(path))
}

fn write(path: &Path, text: &str) -> Result<(), ToolsError> {
    fs::File::create(path)
        .and_then(|mut file| file.write_all(text.as_bytes()))
        .map_err(cache_error(path))
}

fn cache_error(path: &Path) -> impl FnOnce(io::Error) -> ToolsError {
    let path = path.to_owned();
    move |source| ToolsError::Cache { path, source }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn go_mod_pins_the_version_that_is_stamped_into_the_programs() {
        let (_, go_mod) = MODULE[0];
        assert!(go_mod.contains(&format!("k8s.io/kubernetes {KUBERNETES_VERSION}\n")));
        assert!(go_mod.contains("go.etcd.io/etcd/server/v3 v3.6.8\n"));
        assert!(
            !go_mod.contains("./staging"),
            "staging modules must be replaced by published ones"
        );
    }

    #[test]
    fn tools_go_imports_every_program() {
        let (_, tools_go) = MODULE[2];
        for (program, package) in PROGRAMS {
            assert!(tools_go.contains(&format!("\"{package}\"")), "{program}");
        }
    }

    #[test]
    fn every_module_of_go_mod_has_its_sum() {
        let (go_mod, go_sum) = (MODULE[0].1, MODULE[1].1);
        assert!(go_sum.contains(&format!("k8s.io/kubernetes {KUBERNETES_VERSION} h1:")));
        for line in go_mod.lines().filter(|line| line.contains(" => ")) {
            let published = line.split(" => ").nth(1).expect("it has an arrow");
            // A module that no program imports has no sum; each that has one has the pinned version.
            let module = published.split(' ').next().expect("a path");
            let other = go_sum
                .lines()
                .find(|sum| sum.starts_with(&format!("{module} ")) && !sum.starts_with(published));
            assert_eq!(
                other, None,
                "{module} is pinned to another version than go.sum says"
            );
        }
    }
}
