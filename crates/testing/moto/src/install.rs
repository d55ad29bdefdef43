//! Installs moto into a virtual environment in the cache folder, once per machine.

use std::{
    io,
    path::{Path, PathBuf},
    process::{Command, ExitStatus},
};

use test_programs::{Installation, cache_folder};

/// The pinned packages.
const REQUIREMENTS: &str = include_str!("../../../../tools/moto/requirements.txt");

/// What Python is called where it may be.
const PYTHON: &str = "python3";

/// An installed moto.
#[derive(Clone, Debug)]
pub struct Moto {
    program: PathBuf,
}

impl Moto {
    /// The server's program.
    pub fn program(&self) -> &Path {
        &self.program
    }
}

/// Why there is no moto to run.
#[derive(Debug, thiserror::Error)]
pub enum InstallError {
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
    /// There is no Python.
    #[error("cannot run `{PYTHON}`, which runs moto; install Python 3 with its `venv`")]
    NoPython(#[source] io::Error),
    /// A command failed; its own words are on standard error.
    #[error("{doing} failed ({status})")]
    Failed {
        /// What was being done.
        doing: &'static str,
        /// How it ended.
        status: ExitStatus,
    },
}

impl From<(PathBuf, io::Error)> for InstallError {
    fn from((path, source): (PathBuf, io::Error)) -> Self {
        Self::Cache { path, source }
    }
}

/// Returns moto, installing it first where the cache has none of these very packages.
///
/// # Expected flow
/// 1. The virtual environment is `moto/venv` in the cache folder.
/// 2. Where its stamp (the packages, and the version of Python) is this one's, nothing is done.
///
/// `progress` is told what is being done. A first installation takes a minute or two.
///
/// # Guarantees
/// Of several processes that ask at once one installs and the others wait. One that was interrupted
/// leaves no stamp.
///
/// # Errors
/// See [`InstallError`].
pub fn install(mut progress: impl FnMut(&str)) -> Result<Moto, InstallError> {
    let base = cache_folder().ok_or(InstallError::NoCache)?.join("moto");
    let installation = Installation::lock(&base)?;
    let stamp = format!("{}\n{REQUIREMENTS}", python_version()?);
    let venv = base.join("venv");
    let moto = Moto {
        program: venv.join("bin/moto_server"),
    };
    if moto.program.is_file() && installation.is_for(&stamp) {
        return Ok(moto);
    }
    installation.begin()?;
    progress("installing moto (a minute or two, once per machine)");
    let list = base.join("requirements.txt");
    std::fs::write(&list, REQUIREMENTS).map_err(|error| (list.clone(), error))?;
    let mut make = Command::new(PYTHON);
    make.args(["-m", "venv", "--clear"]).arg(&venv);
    run("making a virtual environment", &mut make)?;
    let mut fill = Command::new(venv.join("bin/pip"));
    fill.args(["install", "--quiet", "--disable-pip-version-check"]);
    // All that is needed is listed, so that nothing comes in by itself.
    fill.args(["--no-deps", "--requirement"]).arg(&list);
    run("installing moto", &mut fill)?;
    installation.finish(&stamp)?;
    Ok(moto)
}

fn python_version() -> Result<String, InstallError> {
    let output = Command::new(PYTHON).arg("--version").output();
    let output = output.map_err(InstallError::NoPython)?;
    Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

fn run(doing: &'static str, command: &mut Command) -> Result<(), InstallError> {
    let status = command.status().map_err(InstallError::NoPython)?;
    if status.success() {
        return Ok(());
    }
    Err(InstallError::Failed { doing, status })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_package_is_pinned() {
        let lines = REQUIREMENTS.lines().filter(|line| !line.starts_with('#'));
        let mut packages = 0;
        for line in lines {
            let (name, version) = line.split_once("==").expect(line);
            assert!(!name.is_empty() && version.starts_with(|c: char| c.is_ascii_digit()));
            packages += 1;
        }
        assert!(packages > 20, "{packages}");
        for needed in ["moto==", "Flask==", "flask-cors==", "boto3=="] {
            assert!(REQUIREMENTS.contains(&format!("\n{needed}")), "{needed}");
        }
    }
}
