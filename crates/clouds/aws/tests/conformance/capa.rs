//! The suite of Cluster API on AWS, from manifest to cloud and back, on the adapter: an embedded API server
//! in front, moto behind.
//!
//! It is not part of the tier yet: on moto a network does not come to rest, because a call is answered with
//! HTTP 500. `FREEHOLD_CAPA_ON_MOTO=1` runs it.

use std::io::Write as _;
use std::sync::Arc;

use capa_suite::{Lab, Plain};
use cloud_aws::Place;
use cloud_sim::VirtualClock;
use embedded_kube::{Cluster, TokioClock};
use moto_server::MotoServer;
use moto_server::proxy::{Proxy, Settings};

use crate::clouds::{self, Moto};

/// Where AWS is for these cases: a proxy before moto adds what moto lacks, see docs/aws.md.
async fn endpoint(server: &MotoServer) -> String {
    let proxy = Proxy::start(server.url(), Settings::default()).await;
    let proxy = proxy.expect("a free port");
    let url = proxy.url().to_owned();
    // It serves until the runtime of its case ends.
    std::mem::forget(proxy);
    url
}

async fn lab(case: &str) -> Option<Lab<Place>> {
    seen(case).await.map(|(lab, _)| lab)
}

/// A laboratory, with the account: only the controller calls by its client set.
pub(crate) async fn seen(case: &str) -> Option<(Lab<Place>, Moto)> {
    if std::env::var_os("FREEHOLD_CAPA_ON_MOTO").is_none_or(|value| value != "1") {
        // Not `eprintln!`, which the test harness hides.
        let line = "SKIPPED: AWSCluster on moto (FREEHOLD_CAPA_ON_MOTO is not 1)";
        writeln!(std::io::stderr(), "{line}").expect("standard error");
        return None;
    }
    let server = clouds::server().await?;
    let moto = clouds::account(server, &endpoint(server).await).await;
    let began = "2026-01-01T00:00:00Z".parse().expect("a time");
    let client = Cluster::new(Arc::new(TokioClock::starting_at(began))).client();
    capa_suite::install(&client).await;
    let place = Place::open(moto.set.clone()).await.expect("an account");
    let hands = Place::open(moto.hands.clone()).await.expect("an account");
    let lab = Lab::new(client, place, hands, VirtualClock::new(), case).await;
    Some((lab, moto))
}

capa_suite::cases!(lab);

/// The same laboratory without what is this system's own.
async fn plain(case: &str) -> Option<Plain<Place>> {
    Some(lab(case).await?.plain())
}

laboratory::cases! { plain:
    an_edit_is_followed
    a_host_waits_for_its_guests
    a_restored_object_finds_its_resources
    after_the_take_over_it_works_on
    retained_resources_stay
}
