//! What must hold of secrets: each client token stands for one, and each resource was born with one
//! that was wished for.

use cloud_sim::Life;
use ownership::Slot;
use ownership::step::Create;

use super::{Law, Violation, broken};
use crate::world::World;

/// Before a create is sent: its client token was never sent with another secret.
pub(crate) fn one_token_one_secret(
    world: &mut World<'_>,
    create: &Create,
) -> Result<(), Violation> {
    let Some(token) = create.token else {
        return Ok(());
    };
    let first = world.sent.entry(token.as_u128());
    if *first.or_insert_with(|| create.secrets.clone()) == create.secrets {
        return Ok(());
    }
    let what = format!(
        "the client token of attempt {} at {} is sent with another secret",
        create.attempt, create.slot
    );
    broken(Law::NoTwins, what)
}

/// What we made was born with secrets that were wished for by then.
pub(crate) fn born_as_wished(world: &World<'_>, claim: usize) -> Result<(), Violation> {
    let (us, scenario) = (world.actor(claim), world.claim(claim));
    let wished = |life: &Life| {
        let specs = (0..=world.objects[claim].spec).map(|changes| scenario.spec(changes));
        let slots = specs.filter_map(|spec| spec.slot(life.slot.as_ref()?));
        let mut slots = slots.filter(|slot| slot.kind == life.target.kind);
        slots.any(|slot: &Slot| slot.secrets == life.secrets)
    };
    let secret = |slot: &Slot| !slot.secrets.is_empty();
    if !world.blueprint(claim).slots().iter().any(secret) {
        return Ok(());
    }
    let ours = world.account.lives().filter(|life| life.by == us);
    match ours.into_iter().find(|life| !wished(life)) {
        Some(life) => broken(
            Law::RestIsReached,
            format!(
                "{} was born with a secret that nobody wished for",
                life.target
            ),
        ),
        None => Ok(()),
    }
}
