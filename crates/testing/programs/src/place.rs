//! Where a program runs: a port that nobody else has, a folder of its own.

use std::{
    fs, io,
    net::{Ipv4Addr, TcpListener},
    path::PathBuf,
    sync::atomic::{AtomicU32, Ordering},
};

/// A port on loopback that was free when it was asked for. Somebody else may take it before it is
/// used: then try again with another.
///
/// # Errors
/// What the system said.
pub fn free_port() -> io::Result<u16> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
    Ok(listener.local_addr()?.port())
}

/// A new folder for temporary files, with `name` in its name.
///
/// # Errors
/// What the system said.
pub fn temporary_folder(name: &str) -> io::Result<PathBuf> {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    let name = format!("freehold-{name}-{}-{number}", std::process::id());
    let folder = std::env::temp_dir().join(name);
    // A killed run with the same process id may have left one.
    if folder.exists() {
        fs::remove_dir_all(&folder)?;
    }
    fs::create_dir_all(&folder)?;
    Ok(folder)
}
