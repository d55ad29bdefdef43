//! The cloud in bad weather: calls that are refused, slow, lost, or late, within assumption A3.

use std::collections::BTreeSet;
use std::io::Write as _;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use cloud_port::aws::image::ImageQuery;
use cloud_port::aws::{Access, Accounts, AwsPlace, Credentials};
use cloud_port::driver::Clock as _;
use cloud_port::{Cloud, Deadline, Effect, Inventory, Survey};
use cloud_sim::{SharedAccount, VirtualClock};
use controllers::reconcile::TokioClock;
use ownership::time::REQUEST_TIMEOUT;
use ownership::{Answer, Class, CloudError, Kind, Query, Step, Text};
use tokio::time::sleep;

use super::claims::Claims;
use super::operators::Lease;
use super::random::Random;
use super::switches::EARLY_UNKNOWN;
use crate::one::{One, wrong_key};

const TIMEOUT: Duration = Duration::from_millis(REQUEST_TIMEOUT.0);

/// More calls than any run needs: somebody asks the same again and again.
const MOST_CALLS: usize = 30_000;

/// Whether calls are shown as they come.
static TRACES: AtomicBool = AtomicBool::new(false);

/// Shows calls as they come from now on, if somebody asked for it.
pub(super) fn trace() {
    let asked = std::env::var_os("FREEHOLD_TRACE").is_some();
    TRACES.store(asked, Ordering::Relaxed);
}

/// An account behind bad weather.
#[derive(Clone, Debug)]
pub struct Weather {
    account: SharedAccount,
    virtual_clock: VirtualClock,
    clock: TokioClock,
    random: Random,
    claims: Claims,
    /// The Lease of the process that looks at the account, if it is one.
    lease: Option<Lease>,
    calm: Arc<AtomicBool>,
    calls: Arc<Mutex<Vec<String>>>,
    /// What a call says by itself: a panic would only end the operator.
    complaints: Arc<Mutex<Vec<String>>>,
    /// The access keys that are good no more.
    revoked: Arc<Mutex<BTreeSet<String>>>,
    /// How many calls in a hundred go wrong.
    badness: u64,
}

impl Weather {
    pub(super) fn new(
        account: SharedAccount,
        virtual_clock: VirtualClock,
        clock: TokioClock,
        random: Random,
    ) -> Self {
        let badness = random.below(9);
        Self {
            account,
            virtual_clock,
            clock,
            random,
            claims: Claims::default(),
            lease: None,
            calm: Arc::default(),
            calls: Arc::default(),
            complaints: Arc::default(),
            revoked: Arc::default(),
            badness,
        }
    }

    /// The same account, as the process with this Lease sees it.
    pub(super) fn of(&self, lease: Lease) -> Self {
        Self {
            lease: Some(lease),
            ..self.clone()
        }
    }

    /// From now on nothing goes wrong; or it does again.
    pub fn calm(&self, calm: bool) {
        self.calm.store(calm, Ordering::Relaxed);
    }

    /// The claims that have done something.
    pub(super) fn claims(&self) -> &Claims {
        &self.claims
    }

    /// The account, at this time.
    pub fn account(&self) -> &SharedAccount {
        self.keep_time();
        &self.account
    }

    /// Nobody signs in with this access key from now on.
    pub fn revoke(&self, key: &str) {
        self.revoked.lock().unwrap().insert(key.to_owned());
    }

    fn is_revoked(&self, access: &Access) -> bool {
        let revoked = self.revoked.lock().unwrap();
        matches!(&access.credentials, Credentials::Keys { id, .. } if revoked.contains(id))
    }

    /// What was called, in order.
    pub(super) fn calls(&self) -> Vec<String> {
        self.calls.lock().unwrap().clone()
    }

    /// No call was wrong by itself.
    pub(super) fn assert_blameless(&self) {
        let complaints = self.complaints.lock().unwrap();
        assert!(complaints.is_empty(), "{complaints:#?}");
    }

    fn complain(&self, words: String) {
        self.complaints.lock().unwrap().push(words);
    }

    /// The account's clock shows what tokio's does.
    fn keep_time(&self) {
        let behind = self.clock.now() - self.virtual_clock.now();
        self.virtual_clock.advance(behind);
    }

    fn is_bad(&self) -> bool {
        !self.calm.load(Ordering::Relaxed) && self.random.chance(self.badness)
    }

    /// What a read meets on its way.
    async fn weather_a_read(&self) -> Result<(), CloudError> {
        if self.calls.lock().unwrap().len() > MOST_CALLS {
            // The run goes on, so that it comes to an end.
            self.complain("law 8: the calls come without end".to_owned());
            std::future::pending::<()>().await;
        }
        if self.is_bad() {
            match self.random.below(3) {
                0 => return Err(refused()),
                1 => {
                    sleep(TIMEOUT).await;
                    return Err(lost());
                }
                _ => sleep(self.random.span(TIMEOUT)).await,
            }
        }
        Ok(())
    }

    fn may_send(&self, step: &Step) -> bool {
        self.lease.as_ref().is_none_or(|lease| lease.allows(step))
    }

    /// Takes note of a call, or of what else happens.
    pub fn note(&self, call: &str) {
        let at = self.clock.now().0;
        if TRACES.load(Ordering::Relaxed) {
            let _ = writeln!(std::io::stderr(), "{at} {call}");
        }
        self.calls.lock().unwrap().push(format!("{at} {call}"));
    }
}

fn refused() -> CloudError {
    CloudError::new(Class::Throttled, "RequestLimitExceeded", "slow down")
}

fn lost() -> CloudError {
    CloudError::new(Class::Unknown, "Timeout", "no answer")
}

impl Cloud for Weather {
    async fn read(&self, query: &Query) -> Result<Answer, CloudError> {
        self.note(&format!("{query:?}"));
        self.weather_a_read().await?;
        self.account().read(query).await
    }

    async fn perform(&self, step: &Step, by: Deadline<'_>) -> Result<Effect, CloudError> {
        let actor = self.claims.current();
        // The process is paused between its decision and the call.
        if self.is_bad() && self.random.chance(20) {
            sleep(self.random.span(Duration::from_mins(1))).await;
        }
        by.check()?;
        if !self.may_send(step) {
            self.complain(format!("A3: the Lease does not allow {step:?}"));
        }
        let name = self
            .claims
            .who(actor)
            .map_or_else(String::new, |who| who.name);
        self.note(&format!("{name} {} {:?}", step.verb(), step.targets()));
        let account = self.account().as_actor(actor);
        if !self.is_bad() {
            return account.perform(step, Deadline::never()).await;
        }
        // Whoever waits for the answer may be told at once that none will come.
        let told_early = EARLY_UNKNOWN && self.random.chance(50);
        let patience = if told_early { Duration::ZERO } else { TIMEOUT };
        match self.random.below(4) {
            0 => Err(refused()),
            // It never arrives.
            1 => {
                sleep(patience).await;
                Err(lost())
            }
            // The answer takes its time; a crash meanwhile loses it.
            2 => {
                let done = account.perform(step, Deadline::never()).await;
                sleep(self.random.span(TIMEOUT)).await;
                done
            }
            // It arrives late, whatever becomes of the caller, and the answer not at all.
            _ => {
                let (weather, step) = (self.clone(), step.clone());
                let delay = self.random.span(TIMEOUT);
                tokio::spawn(async move {
                    sleep(delay).await;
                    weather.keep_time();
                    let done = account.perform(&step, Deadline::never()).await;
                    let outcome = done.is_ok();
                    weather.note(&format!("{name} late {}: {outcome}", step.verb()));
                });
                sleep(patience).await;
                Err(lost())
            }
        }
    }
}

impl Survey for Weather {
    async fn survey(&self, kind: &'static Kind) -> Result<Answer, CloudError> {
        self.note(&format!("survey {}", kind.name));
        self.weather_a_read().await?;
        self.account().survey(kind).await
    }
}

impl AwsPlace for Weather {
    fn partition(&self) -> &str {
        self.account.partition()
    }

    fn account(&self) -> &str {
        AwsPlace::account(&self.account)
    }

    fn region(&self) -> &str {
        self.account.region()
    }

    async fn zones(&self) -> Result<Vec<Text>, CloudError> {
        self.note("zones");
        self.weather_a_read().await?;
        self.account.zones().await
    }

    async fn image(&self, query: &ImageQuery) -> Result<Option<Text>, CloudError> {
        self.note("image");
        self.weather_a_read().await?;
        self.account.image(query).await
    }
}

/// What one process sees of the account.
#[derive(Debug)]
pub struct SignedIn {
    weather: Weather,
    one: One<Weather>,
}

impl SignedIn {
    pub(super) fn new(weather: &Weather) -> Self {
        let (weather, one) = (weather.clone(), One::new(weather.clone()));
        Self { weather, one }
    }
}

impl Accounts for SignedIn {
    type Cloud = Weather;

    async fn open(&self, access: &Access) -> Result<Arc<Inventory<Weather>>, CloudError> {
        if self.weather.is_bad() {
            return Err(refused());
        }
        if self.weather.is_revoked(access) {
            return Err(wrong_key());
        }
        self.one.open(access).await
    }
}
