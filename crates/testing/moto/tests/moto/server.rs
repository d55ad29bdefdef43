//! moto's server starts, serves and leaves nothing behind.

use moto_server::MotoServer;

use crate::lab;

#[tokio::test]
async fn it_serves_and_stops() {
    if lab::moto().await.is_none() {
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
