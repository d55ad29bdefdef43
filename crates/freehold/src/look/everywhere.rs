//! Looking at everything, whosever it is: `freehold whose`, `freehold orphans`.

use std::collections::BTreeMap;

use cloud_port::words;
use controllers::land::Stock;
use controllers::registry::{self, Clouds};
use http::Method;
use kube::{Client, Config};
use ownership::time::REQUEST_TIMEOUT;
use ownership::{Holder, mark};

use super::around::Around;
use super::orphans::{self, Again};
pub(crate) use super::orphans::{Found, Orphans};
use super::whose;
pub(crate) use super::whose::Told;
use super::{Output, Place, Whose, ask, runtime};
use crate::clock::ProcessClock;
use crate::{accounts, connect};

/// What `freehold whose` is told.
#[derive(clap::Args)]
pub(crate) struct WhoseOptions {
    /// Resources: ids, names or ARNs
    #[arg(value_name = "ID", required = true, value_parser = id)]
    ids: Vec<String>,
    #[command(flatten)]
    scope: Scope,
}

/// What a resource is called: something.
fn id(text: &str) -> Result<String, String> {
    let id = text.trim();
    if id.rsplit(['/', ':']).next().is_none_or(str::is_empty) {
        return Err("must be an id, a name or an ARN of a resource".to_owned());
    }
    Ok(id.to_owned())
}

/// What `freehold orphans` is told.
#[derive(clap::Args)]
pub(crate) struct OrphansOptions {
    /// Delete them: asks claim by claim, and reads again before each delete
    #[arg(long, conflicts_with = "output")]
    apply: bool,
    #[command(flatten)]
    scope: Scope,
}

/// Where is looked, besides the accounts of all objects, and how it is shown.
#[derive(clap::Args)]
struct Scope {
    /// A region of AWS to look in, too, with the credentials of the environment
    #[arg(long, value_name = "REGION")]
    region: Vec<String>,
    /// How it is printed
    #[arg(long, short, value_enum, default_value_t)]
    output: Output,
    #[command(flatten)]
    place: Place,
}

/// Where the commands look: this process has the cloud, or a running `freehold dev` has.
enum Ground {
    Here(Box<Here>),
    Dev(Box<Config>),
}

/// The management cluster and its clouds.
struct Here {
    accounts: accounts::Real,
    client: Client,
    clock: ProcessClock,
    whose: Whose,
    regions: Vec<String>,
}

impl Scope {
    async fn ground(&self) -> anyhow::Result<Ground> {
        let config = connect::config(&self.place.cluster).await?;
        if ask::is_dev(&config) {
            return Ok(Ground::Dev(Box::new(config)));
        }
        let clock = ProcessClock::real();
        let accounts = accounts::real(clock, REQUEST_TIMEOUT)?;
        let client = connect::client_of(config)?;
        let whose = Whose::ask(&client, &self.place).await?;
        Ok(Ground::Here(Box::new(Here {
            accounts,
            client,
            clock,
            whose,
            regions: self.region.clone(),
        })))
    }
}

impl Here {
    async fn around(&self) -> anyhow::Result<Around> {
        let whose = self.whose.clone();
        Around::look(
            &self.accounts,
            &self.client,
            self.clock,
            whose,
            &self.regions,
        )
        .await
    }
}

/// `freehold whose`.
pub(crate) fn whose(options: &WhoseOptions) -> anyhow::Result<()> {
    let told: Vec<Told> = runtime()?.block_on(async {
        match options.scope.ground().await? {
            Ground::Here(here) => Ok(whose::ask(&here.around().await?, &options.ids).await),
            Ground::Dev(config) => ask::ask(*config, Method::POST, "whose", &options.ids).await,
        }
    })?;
    let texts: Vec<String> = told.iter().map(Told::text).collect();
    options.scope.output.print(&told, &texts.concat())
}

/// `freehold orphans`.
pub(crate) fn orphans(options: &OrphansOptions) -> anyhow::Result<()> {
    runtime()?.block_on(async {
        let ground = options.scope.ground().await?;
        let (found, stocks) = match &ground {
            Ground::Here(here) => {
                let again = || -> registry::Future<'_, _> { Box::pin(here.around()) };
                orphans::find(&again).await?
            }
            Ground::Dev(config) => {
                let found = ask::ask(Config::clone(config), Method::GET, "orphans", &()).await?;
                (found, Vec::new())
            }
        };
        options.scope.output.print(&found, &found.text())?;
        let unseen = found.unseen.len();
        if !options.apply {
            anyhow::ensure!(unseen == 0, "not everything could be looked at from here");
            return Ok(());
        }
        let mut left = Vec::new();
        for one in found.orphans.iter().filter(|one| one.ours) {
            if !say::asked(&format!("delete what is left of {}? [y/N] ", one.whose()))? {
                continue;
            }
            let why = match &ground {
                Ground::Here(here) => {
                    let again = || -> registry::Future<'_, _> { Box::pin(here.around()) };
                    orphans::end(&again, &stocks, one).await?
                }
                Ground::Dev(config) => {
                    let claim = one.claim.as_deref().unwrap_or_default();
                    let path = format!("orphans/{claim}");
                    ask::ask(Config::clone(config), Method::POST, &path, &()).await?
                }
            };
            if why.is_empty() {
                say::line!("nothing of it is left")?;
            } else {
                say::line!("not all of it is gone: {}", why.join("; "))?;
                left.push(one.whose());
            }
        }
        anyhow::ensure!(left.is_empty(), "something is left of {}", left.join(", "));
        anyhow::ensure!(unseen == 0, "not everything could be looked at from here");
        Ok(())
    })
}

/// What a management cluster holds of what can be seen from here.
pub(crate) struct Held {
    /// A line for each claim.
    pub(crate) lines: Vec<String>,
    /// The highest generation of its marks, if that is beyond the one that was asked for.
    pub(crate) beyond: Option<u32>,
}

/// What a management cluster holds of what can be seen from here, up to a generation.
pub(crate) async fn held_by(around: &Around, holder: &Holder, upto: u32) -> Held {
    let mut held: BTreeMap<String, usize> = BTreeMap::new();
    let mut beyond = None;
    let kept = around.claimants.iter();
    for claimant in kept.filter(|claimant| claimant.kept_by == holder.as_str()) {
        held.insert(claimant.object.clone(), 0);
    }
    for stock in around.stock(&|_| true).await {
        for item in &stock.items {
            let resource = &item.resource;
            let mut marks = item.marks();
            // What a claim has put into somebody's resource tells, too.
            for mark in orphans::on_parts(item) {
                if !marks.iter().any(|known| known.claim == mark.claim) {
                    marks.push(mark);
                }
            }
            for mark in marks.into_iter().filter(|mark| mark.holder == *holder) {
                if mark.generation > upto {
                    beyond = beyond.max(Some(mark.generation));
                    continue;
                }
                let named = mark::named(resource.kind.carrier, &resource.tags);
                let named = named.into_iter().find(|named| named.owns);
                let object = around.object(&mark.claim).map(str::to_owned);
                let object = object.or_else(|| named.map(|named| named.to_string()));
                let object = object.unwrap_or_else(|| format!("the claim {}", mark.claim));
                *held.entry(object).or_default() += 1;
            }
        }
    }
    let line = |(object, resources): (String, usize)| {
        let resources = words::count(resources, "resource");
        format!("{object}: {resources} with its marks")
    };
    Held {
        lines: held.into_iter().map(line).collect(),
        beyond,
    }
}

/// What `freehold whose` says: for `freehold dev`, and for tests.
pub(crate) async fn tell(around: &Around, ids: &[String]) -> Vec<Told> {
    whose::ask(around, ids).await
}

/// What `freehold orphans` finds: for `freehold dev`, and for tests.
///
/// # Errors
/// Nobody can look around.
pub(crate) async fn find(again: &Again<'_>) -> anyhow::Result<Found> {
    Ok(orphans::find(again).await?.0)
}

/// What is left of a claim that is this management cluster's to end: for `freehold dev`, and for tests.
///
/// # Errors
/// Nobody can look around.
pub(crate) async fn orphan(
    again: &Again<'_>,
    claim: &str,
) -> anyhow::Result<Option<(Orphans, Vec<Stock>)>> {
    let (found, stocks) = orphans::find(again).await?;
    let mut all = found.orphans.into_iter();
    let one = all.find(|one| one.claim.as_deref() == Some(claim) && one.ours);
    Ok(one.map(|one| (one, stocks)))
}

/// What `freehold orphans --apply` does: for `freehold dev`, and for tests. Says what is left.
///
/// # Errors
/// Nobody can look around.
pub(crate) async fn end(
    again: &Again<'_>,
    orphan: Option<(Orphans, Vec<Stock>)>,
) -> anyhow::Result<Vec<String>> {
    match orphan {
        Some((one, stocks)) => orphans::end(again, &stocks, &one).await,
        None => Ok(vec![
            "nothing of it is this management cluster's to end".to_owned(),
        ]),
    }
}

/// What `freehold whose` prints: for tests.
///
/// # Errors
/// Nobody can look around.
pub async fn whose_text<C: Clouds>(
    clouds: &C,
    client: &Client,
    clock: ProcessClock,
    whose: Whose,
    ids: &[String],
) -> anyhow::Result<String> {
    let around = Around::look(clouds, client, clock, whose, &[]).await?;
    Ok(tell(&around, ids).await.iter().map(Told::text).collect())
}

/// What `freehold orphans` prints: for tests.
///
/// # Errors
/// Nobody can look around.
pub async fn orphans_text<C: Clouds>(
    clouds: &C,
    client: &Client,
    clock: ProcessClock,
    whose: Whose,
    regions: &[String],
) -> anyhow::Result<String> {
    let again = || -> registry::Future<'_, _> {
        Box::pin(Around::look(clouds, client, clock, whose.clone(), regions))
    };
    Ok(find(&again).await?.text())
}

/// What `freehold orphans --apply` does for one claim, when `answer` says yes: for tests. Says what is
/// left.
///
/// # Errors
/// Nobody can look around.
pub async fn end_orphan<C: Clouds>(
    clouds: &C,
    client: &Client,
    clock: ProcessClock,
    whose: Whose,
    regions: &[String],
    claim: &str,
    answer: impl Future<Output = ()>,
) -> anyhow::Result<Vec<String>> {
    let again = || -> registry::Future<'_, _> {
        Box::pin(Around::look(clouds, client, clock, whose.clone(), regions))
    };
    let orphan = orphan(&again, claim).await?;
    answer.await;
    end(&again, orphan).await
}
