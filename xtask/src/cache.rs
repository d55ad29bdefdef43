//! The cache folder: builds and downloaded tools that outlive a clone.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use anyhow::Context as _;

/// Where builds and tools go.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Cache {
    folder: PathBuf,
    target: Option<PathBuf>,
    ci: bool,
}

impl Cache {
    /// Finds the folders in the environment, which `var` reads.
    ///
    /// The folder is `$FREEHOLD_CACHE`, else `freehold` in `$XDG_CACHE_HOME` or `~/.cache`. Builds
    /// go to `$CARGO_TARGET_DIR`, else into the cache under `CI=true`, else where cargo puts them.
    pub(crate) fn locate(var: impl Fn(&str) -> Option<OsString>) -> anyhow::Result<Self> {
        let set = |name| var(name).filter(|value| !value.is_empty());
        let folder = set("FREEHOLD_CACHE")
            .map(PathBuf::from)
            .or_else(|| Some(Path::new(&set("XDG_CACHE_HOME")?).join("freehold")))
            .or_else(|| Some(Path::new(&set("HOME")?).join(".cache").join("freehold")))
            .context("no cache folder: set FREEHOLD_CACHE, XDG_CACHE_HOME or HOME")?;
        let ci = set("CI").is_some_and(|value| value == "true");
        let target = match set("CARGO_TARGET_DIR") {
            Some(_) => None,
            None => ci.then(|| folder.join("target")),
        };
        Ok(Self { folder, target, ci })
    }

    /// The folder that tools are installed in; their programs are in its `bin`.
    pub(crate) fn tools(&self) -> PathBuf {
        self.folder.join("tools")
    }

    /// The target folder that cargo must be told about; `None` where it knows by itself.
    pub(crate) fn target(&self) -> Option<&Path> {
        self.target.as_deref()
    }

    /// Whether this is a continuous-integration run, in which nothing may be skipped.
    pub(crate) fn is_ci(&self) -> bool {
        self.ci
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn locate(vars: &[(&str, &str)]) -> anyhow::Result<Cache> {
        Cache::locate(|name| {
            let found = vars.iter().find(|(known, _)| *known == name);
            found.map(|(_, value)| OsString::from(value))
        })
    }

    #[test]
    fn the_cache_folder_is_the_first_that_is_set() {
        let home = ("HOME", "/h");
        let xdg = ("XDG_CACHE_HOME", "/x");
        let own = ("FREEHOLD_CACHE", "/f");
        let tools = |vars: &[_]| locate(vars).unwrap().tools();
        assert_eq!(tools(&[home]), Path::new("/h/.cache/freehold/tools"));
        assert_eq!(tools(&[home, xdg]), Path::new("/x/freehold/tools"));
        assert_eq!(tools(&[home, xdg, own]), Path::new("/f/tools"));
        assert_eq!(tools(&[home, ("XDG_CACHE_HOME", "")]), tools(&[home]));
        let error = locate(&[]).unwrap_err();
        assert!(error.to_string().contains("FREEHOLD_CACHE"), "{error}");
    }

    #[test]
    fn builds_go_to_the_cache_only_in_ci_and_only_unless_told_otherwise() {
        let own = ("FREEHOLD_CACHE", "/f");
        let ci = ("CI", "true");
        assert_eq!(locate(&[own]).unwrap().target(), None);
        let cache = locate(&[own, ci]).unwrap();
        assert_eq!(cache.target(), Some(Path::new("/f/target")));
        let told = ("CARGO_TARGET_DIR", "/t");
        assert_eq!(locate(&[own, ci, told]).unwrap().target(), None);
        assert!(!locate(&[own, ("CI", "false")]).unwrap().is_ci());
    }
}
