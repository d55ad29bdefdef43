//! What goes wrong on the way to moto and back, when a test says so.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::watch;

use super::call::Call;
use super::refusal::Refusal;

/// What happens to a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fault {
    /// It is refused; moto does not hear of it.
    Refuse(Refusal),
    /// The connection is closed; moto does not hear of it.
    Cut,
    /// moto does it; the connection is closed in place of the answer.
    LoseAnswer,
    /// moto hears of it only after this time, whether somebody still waits for the answer or not.
    DelayRequest(Duration),
    /// moto does it at once; the answer takes this time.
    DelayAnswer(Duration),
}

impl Fault {
    /// Its name in the record of calls.
    pub(crate) fn name(&self) -> &'static str {
        match self {
            Self::Refuse(_) => "refused",
            Self::Cut => "cut",
            Self::LoseAnswer => "answer lost",
            Self::DelayRequest(_) => "request delayed",
            Self::DelayAnswer(_) => "answer delayed",
        }
    }
}

/// Which calls are meant.
#[derive(Clone, Debug, Default)]
pub struct When {
    operation: Option<String>,
    writes: bool,
    with: Vec<(String, String)>,
}

impl When {
    /// Every call.
    pub fn any() -> Self {
        Self::default()
    }

    /// Every call that may change something.
    pub fn writes() -> Self {
        Self {
            writes: true,
            ..Self::default()
        }
    }

    /// The calls of an operation, `CreateVpc` for example.
    pub fn operation(name: &str) -> Self {
        Self {
            operation: Some(name.to_owned()),
            ..Self::default()
        }
    }

    /// Of these only those with this parameter, as the query protocol names it: `SubnetId`, or
    /// `InstanceId.1`.
    #[must_use]
    pub fn with(mut self, name: &str, value: &str) -> Self {
        self.with.push((name.to_owned(), value.to_owned()));
        self
    }

    fn means(&self, call: &Call) -> bool {
        let operation = self.operation.as_ref();
        operation.is_none_or(|operation| *operation == call.operation)
            && (!self.writes || call.writes())
            && self
                .with
                .iter()
                .all(|(name, value)| call.param(name) == Some(value))
    }
}

/// Faults by chance. The same seed strikes the same calls: the fifth `CreateVpc` is struck or
/// spared, however many other calls there were before it.
#[derive(Clone, Debug)]
pub struct Weather {
    /// What decides.
    pub seed: u64,
    /// The calls that may be struck.
    pub when: When,
    /// Of a thousand of these calls, how many get which fault.
    pub odds: Vec<(u32, Fault)>,
}

impl Weather {
    fn strike(&self, call: &Call, nth: u64) -> Option<Fault> {
        let mix = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        let seed = call.operation.bytes().fold(self.seed, mix);
        let seed = nth.to_le_bytes().into_iter().fold(seed, mix);
        let mut left = fastrand::Rng::with_seed(seed).u32(..1000);
        for (of_thousand, fault) in &self.odds {
            if left < *of_thousand {
                return Some(fault.clone());
            }
            left -= of_thousand;
        }
        None
    }
}

/// The faults to come. Of several that are meant for a call the first that was asked for strikes.
#[derive(Debug, Default)]
pub struct Faults {
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    planned: Vec<Plan>,
    weather: Option<Weather>,
    /// How many calls of an operation the weather could have struck.
    seen: BTreeMap<String, u64>,
}

#[derive(Debug)]
struct Plan {
    when: When,
    fault: Fault,
    once: bool,
    struck: watch::Sender<usize>,
}

/// A fault that was asked for, and whether it has struck.
#[derive(Clone, Debug)]
pub struct Planned {
    struck: watch::Receiver<usize>,
}

impl Planned {
    /// How many calls it has struck.
    pub fn times(&self) -> usize {
        *self.struck.borrow()
    }

    /// Waits until it has struck for the first time: the call has come in, and its fault begins.
    ///
    /// # Caveats
    /// It waits for ever if the fault was called off before.
    pub async fn struck(&mut self) {
        if self.struck.wait_for(|times| *times > 0).await.is_err() {
            std::future::pending::<()>().await;
        }
    }
}

impl Faults {
    /// The next call that is meant gets this fault, once.
    pub fn next(&self, when: When, fault: Fault) -> Planned {
        self.plan(when, fault, true)
    }

    /// Every call that is meant gets this fault, until [`Faults::clear`].
    pub fn always(&self, when: When, fault: Fault) -> Planned {
        self.plan(when, fault, false)
    }

    /// From now on, faults by chance; those that were asked for come first. It takes the place of
    /// the weather before.
    pub fn weather(&self, weather: Weather) {
        let mut state = self.state();
        state.seen.clear();
        state.weather = Some(weather);
    }

    /// No faults any more. What is under way gets those that it has.
    pub fn clear(&self) {
        *self.state() = State::default();
    }

    fn plan(&self, when: When, fault: Fault, once: bool) -> Planned {
        let (sender, receiver) = watch::channel(0);
        self.state().planned.push(Plan {
            when,
            fault,
            once,
            struck: sender,
        });
        Planned { struck: receiver }
    }

    /// What happens to this call.
    pub(crate) fn strike(&self, call: &Call) -> Option<Fault> {
        let mut state = self.state();
        let first = state.planned.iter().position(|plan| plan.when.means(call));
        if let Some(at) = first {
            let plan = &state.planned[at];
            plan.struck.send_modify(|times| *times += 1);
            let fault = plan.fault.clone();
            if plan.once {
                state.planned.remove(at);
            }
            return Some(fault);
        }
        let State { weather, seen, .. } = &mut *state;
        let weather = weather
            .as_ref()
            .filter(|weather| weather.when.means(call))?;
        let nth = seen.entry(call.operation.clone()).or_default();
        *nth += 1;
        weather.strike(call, *nth)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // Nothing here panics half way.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::proxy::call::Api;

    fn call(operation: &str) -> Call {
        let vpc = ("VpcId".to_owned(), "vpc-1".to_owned());
        Call {
            operation: operation.to_owned(),
            api: Api::Ec2,
            signer: None,
            params: [vpc].into(),
        }
    }

    #[test]
    fn a_fault_strikes_the_next_call_that_is_meant_and_no_other() {
        let faults = Faults::default();
        let planned = faults.next(
            When::operation("DeleteVpc").with("VpcId", "vpc-1"),
            Fault::Cut,
        );
        let other = faults.next(When::operation("DeleteVpc").with("VpcId", "x"), Fault::Cut);
        assert_eq!(faults.strike(&call("CreateVpc")), None);
        assert_eq!(planned.times(), 0);
        assert_eq!(faults.strike(&call("DeleteVpc")), Some(Fault::Cut));
        assert_eq!(faults.strike(&call("DeleteVpc")), None);
        assert_eq!((planned.times(), other.times()), (1, 0));
    }

    #[test]
    fn an_outage_lasts_until_it_is_cleared() {
        let faults = Faults::default();
        let planned = faults.always(When::writes(), Fault::LoseAnswer);
        for operation in ["CreateVpc", "DeleteVpc"] {
            assert_eq!(faults.strike(&call(operation)), Some(Fault::LoseAnswer));
        }
        assert_eq!(faults.strike(&call("DescribeVpcs")), None);
        assert_eq!(planned.times(), 2);
        faults.clear();
        assert_eq!(faults.strike(&call("CreateVpc")), None);
    }

    #[test]
    fn a_seed_strikes_the_same_calls_again_whatever_comes_between() {
        let run = |seed, between: bool| {
            let faults = Faults::default();
            let odds = vec![(100, Fault::Cut), (100, Fault::LoseAnswer)];
            let when = When::writes();
            faults.weather(Weather { seed, when, odds });
            let strikes = (0..1000).map(|_| {
                if between {
                    faults.strike(&call("CreateSubnet"));
                }
                faults.strike(&call("CreateVpc"))
            });
            strikes.collect::<Vec<_>>()
        };
        let first = run(1, false);
        assert_eq!(first, run(1, true));
        assert_ne!(first, run(2, false));
        for fault in [Fault::Cut, Fault::LoseAnswer] {
            let struck = first.iter().filter(|f| **f == Some(fault.clone())).count();
            assert!((60..140).contains(&struck), "{fault:?}: {struck}");
        }
    }
}
