//! The cloud in bad weather: calls that are refused, slow, lost, or late, within assumption A3.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use api::kkp::AwsCredentials;
use cloud_port::aws::AwsPlace;
use cloud_port::driver::Clock as _;
use cloud_port::{Cloud, Effect};
use cloud_sim::{SharedAccount, VirtualClock};
use controllers::kkp::Accounts;
use controllers::reconcile::TokioClock;
use ownership::time::REQUEST_TIMEOUT;
use ownership::{Answer, Class, CloudError, Query, Step};
use tokio::time::sleep;

use crate::random::Random;

const TIMEOUT: Duration = Duration::from_millis(REQUEST_TIMEOUT.0);

/// An account behind bad weather.
#[derive(Clone, Debug)]
pub(crate) struct Weather {
    account: SharedAccount,
    virtual_clock: VirtualClock,
    clock: TokioClock,
    random: Random,
    calm: Arc<AtomicBool>,
    calls: Arc<Mutex<Vec<String>>>,
    /// How many calls in a hundred go wrong.
    badness: u64,
}

impl Weather {
    pub(crate) fn new(
        account: SharedAccount,
        virtual_clock: VirtualClock,
        clock: TokioClock,
        random: Random,
    ) -> Self {
        let badness = random.below(20);
        Self {
            account,
            virtual_clock,
            clock,
            random,
            calm: Arc::default(),
            calls: Arc::default(),
            badness,
        }
    }

    /// From now on nothing goes wrong.
    pub(crate) fn calm(&self) {
        self.calm.store(true, Ordering::Relaxed);
    }

    /// The account, at this time.
    pub(crate) fn account(&self) -> &SharedAccount {
        self.keep_time();
        &self.account
    }

    /// What was called, in order.
    pub(crate) fn calls(&self) -> Vec<String> {
        self.calls.lock().unwrap().clone()
    }

    /// The account's clock shows what tokio's does.
    fn keep_time(&self) {
        let behind = self.clock.now() - self.virtual_clock.now();
        self.virtual_clock.advance(behind);
    }

    fn is_bad(&self) -> bool {
        !self.calm.load(Ordering::Relaxed) && self.random.chance(self.badness)
    }

    fn note(&self, call: &str) {
        let at = self.clock.now().0;
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
        self.account().read(query).await
    }

    async fn perform(&self, step: &Step) -> Result<Effect, CloudError> {
        self.note(&format!("{} {:?}", step.verb(), step.targets()));
        if !self.is_bad() {
            return self.account().perform(step).await;
        }
        match self.random.below(4) {
            0 => Err(refused()),
            // It never arrives.
            1 => {
                sleep(TIMEOUT).await;
                Err(lost())
            }
            // The answer takes its time; a crash meanwhile loses it.
            2 => {
                let done = self.account().perform(step).await;
                sleep(self.random.span(TIMEOUT)).await;
                done
            }
            // It arrives late, whatever becomes of the caller, and the answer not at all.
            _ => {
                let (weather, step) = (self.clone(), step.clone());
                let delay = self.random.span(TIMEOUT);
                tokio::spawn(async move {
                    sleep(delay).await;
                    let done = weather.account().perform(&step).await;
                    weather.note(&format!("late {}: {}", step.verb(), done.is_ok()));
                });
                sleep(TIMEOUT).await;
                Err(lost())
            }
        }
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
}

impl Accounts for Weather {
    type Cloud = Self;

    async fn open(&self, _: &AwsCredentials, _: &str) -> Result<Self, CloudError> {
        if self.is_bad() {
            return Err(refused());
        }
        Ok(self.clone())
    }
}
