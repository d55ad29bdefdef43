//! moto's server starts, serves and leaves nothing behind.
//!
//! Runs only where `FREEHOLD_TIER_AWS=1` says that it can be had.

use std::io::Write as _;

use moto_server::MotoServer;

#[tokio::test]
async fn it_serves_and_stops() {
    if std::env::var_os("FREEHOLD_TIER_AWS").is_none_or(|value| value != "1") {
        // Not `eprintln!`, which the test harness hides.
        let line = "SKIPPED: moto's server (FREEHOLD_TIER_AWS is not 1)";
        writeln!(std::io::stderr(), "{line}").expect("standard error");
        return;
    }
    let moto = moto_server::install(|_| ()).expect("moto");
    let server = MotoServer::start(&moto).await.expect("it starts");
    assert_ne!(server.new_account(), server.new_account());
    let address = server.url().trim_start_matches("http://").to_owned();
    assert!(std::net::TcpStream::connect(&address).is_ok());
    drop(server);
    assert!(
        std::net::TcpStream::connect(&address).is_err(),
        "somebody still listens"
    );
}
