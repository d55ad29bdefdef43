//! The suite of Cluster API on AWS, from manifest to cloud and back, on the adapter: an embedded API server
//! in front, moto behind.

use std::sync::Arc;

use capa_suite::{Lab, Plain};
use cloud_aws::Place;
use cloud_sim::VirtualClock;
use embedded_kube::{Cluster, TokioClock};
use moto_server::MotoServer;

use crate::clouds::{self, Moto};

/// Where AWS is for these cases, and what of AWS is missing there.
fn endpoint(server: &MotoServer) -> Endpoint {
    Endpoint {
        url: server.url().to_owned(),
        // See the rows `client-token`, `nat-gateway-token` and `vpc-with-gateway` of docs/aws.md.
        knows_tokens: false,
        keeps_used: false,
    }
}

struct Endpoint {
    url: String,
    knows_tokens: bool,
    keeps_used: bool,
}

async fn lab(case: &str) -> Option<Lab<Place>> {
    seen(case).await.map(|(lab, _)| lab)
}

/// A laboratory, with the account: only the controller calls by its client set.
pub(crate) async fn seen(case: &str) -> Option<(Lab<Place>, Moto)> {
    let server = clouds::server().await?;
    let endpoint = endpoint(server);
    let moto = clouds::account(server, &endpoint.url).await;
    let began = "2026-01-01T00:00:00Z".parse().expect("a time");
    let client = Cluster::new(Arc::new(TokioClock::starting_at(began))).client();
    capa_suite::install(&client).await;
    let place = Place::open(moto.set.clone()).await.expect("an account");
    let hands = Place::open(moto.hands.clone()).await.expect("an account");
    let mut lab = Lab::new(client, place, hands, VirtualClock::new(), case).await;
    lab.knows_tokens = endpoint.knows_tokens;
    lab.keeps_used = endpoint.keeps_used;
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
