//! The cache folder, and what is installed in it once per machine.

use std::{
    env, fs, io,
    path::{Path, PathBuf},
};

/// The cache folder: `$FREEHOLD_CACHE`, else `${XDG_CACHE_HOME:-$HOME/.cache}/freehold`. `None` if
/// none of these is set.
pub fn cache_folder() -> Option<PathBuf> {
    let set = |name| {
        env::var_os(name)
            .filter(|value| !value.is_empty())
            .map(PathBuf::from)
    };
    set("FREEHOLD_CACHE")
        .or_else(|| set("XDG_CACHE_HOME").map(|cache| cache.join("freehold")))
        .or_else(|| set("HOME").map(|home| home.join(".cache/freehold")))
}

/// A folder that is filled once, for what its stamp says.
///
/// # Guarantees
/// Of several processes that fill one at once one does it and the others wait. One that was
/// interrupted has no stamp, and is filled again.
#[derive(Debug)]
pub struct Installation {
    folder: PathBuf,
    _lock: fs::File,
}

impl Installation {
    /// Waits until nobody else fills this folder, and makes it if it is not there.
    ///
    /// # Errors
    /// The file or folder, and what the system said.
    pub fn lock(folder: &Path) -> Result<Self, (PathBuf, io::Error)> {
        fs::create_dir_all(folder).map_err(|error| (folder.to_owned(), error))?;
        let path = folder.join("lock");
        let lock = fs::File::create(&path).and_then(|file| file.lock().map(|()| file));
        Ok(Self {
            folder: folder.to_owned(),
            _lock: lock.map_err(|error| (path, error))?,
        })
    }

    /// Whether it was filled for exactly this.
    pub fn is_for(&self, stamp: &str) -> bool {
        fs::read_to_string(self.stamp()).is_ok_and(|found| found == stamp)
    }

    /// Takes the stamp away: from now on it is being filled.
    ///
    /// # Errors
    /// The stamp, and what the system said.
    pub fn begin(&self) -> Result<(), (PathBuf, io::Error)> {
        match fs::remove_file(self.stamp()) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err((self.stamp(), error)),
            _ => Ok(()),
        }
    }

    /// Says that it is filled.
    ///
    /// # Errors
    /// The stamp, and what the system said.
    pub fn finish(&self, stamp: &str) -> Result<(), (PathBuf, io::Error)> {
        fs::write(self.stamp(), stamp).map_err(|error| (self.stamp(), error))
    }

    fn stamp(&self) -> PathBuf {
        self.folder.join("stamp")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_interrupted_is_not_taken_for_finished() {
        let folder = crate::temporary_folder("installation").unwrap();
        let installation = Installation::lock(&folder).unwrap();
        assert!(!installation.is_for("one"));
        installation.begin().unwrap();
        installation.finish("one").unwrap();
        assert!(installation.is_for("one") && !installation.is_for("two"));
        installation.begin().unwrap();
        assert!(!installation.is_for("one"));
        fs::remove_dir_all(&folder).unwrap();
    }
}
