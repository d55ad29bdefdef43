//! What a machine is told at its first start, as EC2 takes it.

use std::io::Write as _;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use flate2::{Compression, GzBuilder};

/// Bootstrap data as user data: compressed, unless told otherwise, in base64. Equal data give equal text: a
/// create that is sent again says the same.
pub fn encode(data: &[u8], compressed: bool) -> String {
    if !compressed {
        return STANDARD.encode(data);
    }
    // Without a time and a name in it.
    let mut gzip = GzBuilder::new()
        .mtime(0)
        .operating_system(255)
        .write(Vec::new(), Compression::best());
    let written = gzip.write_all(data).and_then(|()| gzip.finish());
    STANDARD.encode(written.expect("memory takes everything"))
}
