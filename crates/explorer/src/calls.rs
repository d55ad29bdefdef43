//! Calls: every read, Step and ledger write is a point where something can happen.

use cloud_port::{Effect, LedgerError};
use cloud_sim::Staleness;
use ownership::error::{Class, CloudError};
use ownership::kind::{CreateMode, Naming};
use ownership::ledger::Edit;
use ownership::life::{Lost, Progress};
use ownership::time::{Millis, REQUEST_TIMEOUT};
use ownership::{Answer, Kind, Ledger, Phase, Query, Step};

use crate::fault::{Fault, Menu};
use crate::late::{Lands, Late};
use crate::laws::{self, Law};
use crate::upserts;
use crate::words;
use crate::world::World;

/// How a call comes out for the one who made it.
pub(crate) enum Call<T, E> {
    /// It is answered.
    Answer(Result<T, E>),
    /// The process dies here.
    Crash,
}

/// A question to the cloud.
#[derive(Clone, Copy)]
pub(crate) enum Ask<'q> {
    /// A read.
    Query(&'q Query),
    /// Everything of a Kind, for the inventory.
    Survey(&'static Kind),
}

/// How long a slow answer takes: longer than anything may rest on it.
const A_MINUTE: Millis = Millis::seconds(60);

const READ_FAULTS: Menu = Menu::of(&[
    Fault::CrashBefore,
    Fault::Fail,
    Fault::Throttle,
    Fault::StaleByOne,
    Fault::StaleByTwo,
    Fault::EndNow,
    Fault::SlowAndUnmarked,
    Fault::AnsweredThenUnmarked,
    Fault::Slow,
]);
const STEP_FAULTS: Menu = Menu::of(&[
    Fault::CrashBefore,
    Fault::CrashAfter,
    Fault::Fail,
    Fault::Throttle,
    Fault::LoseCall,
    Fault::LoseAnswer,
    Fault::LateByOne,
    Fault::LateByTwo,
    Fault::LateByThree,
    Fault::LateAtRestart,
    Fault::LateToTheLast,
    Fault::Slow,
    Fault::EndNow,
    Fault::UnmarkedInFlight,
]);
const WRITE_FAULTS: Menu = Menu::of(&[
    Fault::CrashBefore,
    Fault::CrashAfter,
    Fault::LoseCall,
    Fault::LoseAnswer,
    Fault::Conflict,
    Fault::Refuse,
    Fault::EndNow,
    Fault::SlowAndUnmarked,
    Fault::Slow,
]);
const STALE: Menu = Menu::of(&[Fault::StaleByOne, Fault::StaleByTwo]);
const LAG: Menu = Menu::of(&[Fault::NotFoundByLag, Fault::DuplicateByLag]);

impl World<'_> {
    /// A read of the cloud.
    pub(crate) fn read(&mut self, ask: Ask<'_>) -> Call<Answer, CloudError> {
        let mut menu = READ_FAULTS;
        if !self.may_be_stale() {
            menu = menu.without(STALE);
        }
        let fault = self.choose(menu);
        if fault == Some(Fault::SlowAndUnmarked) {
            self.slow_down(A_MINUTE);
        }
        let call = match fault {
            Some(Fault::CrashBefore) => self.crash(),
            Some(Fault::EndNow) => self.end_now(),
            Some(Fault::Fail) => Call::Answer(Err(failure())),
            Some(Fault::Throttle) => Call::Answer(Err(throttled())),
            Some(Fault::StaleByOne) => self.read_stale(ask, 1),
            Some(Fault::StaleByTwo) => self.read_stale(ask, 2),
            _ => Call::Answer(self.show(ask, Staleness::Settled)),
        };
        let asked = || match ask {
            Ask::Query(query) => words::query(query),
            Ask::Survey(kind) => format!("survey every {}", kind.noun),
        };
        self.note(
            || format!("{} -> {}", asked(), told(&call, words::answer)),
            fault,
        );
        match fault {
            Some(Fault::Slow) => self.pass_time(A_MINUTE),
            Some(Fault::AnsweredThenUnmarked) => self.slow_down(A_MINUTE),
            _ => {}
        }
        self.land();
        call
    }

    fn show(&mut self, ask: Ask<'_>, staleness: Staleness) -> Result<Answer, CloudError> {
        match ask {
            Ask::Query(query) => self.account.read(query, staleness),
            Ask::Survey(kind) => self.account.survey(kind, staleness),
        }
    }

    /// A stale read; one that shows what a fresh one would is no fault and does not count.
    fn read_stale(&mut self, ask: Ask<'_>, writes: u8) -> Call<Answer, CloudError> {
        let fresh = self.show(ask, Staleness::Settled);
        let stale = self.show(ask, Staleness::Before(writes));
        if same(&fresh, &stale) {
            self.chooser.fired.pop();
        }
        Call::Answer(stale)
    }

    /// A side effect.
    pub(crate) fn perform(&mut self, step: &Step) -> Call<Effect, CloudError> {
        let claim = self.acting;
        self.writes += 1;
        self.check_step(claim, step);
        self.check_course(claim, step);
        let mut menu = STEP_FAULTS.or(self.lag_faults(step));
        if matches!(step, Step::Create(_)) {
            menu = menu.or(Fault::Fails.bit());
        }
        let menu = menu.or(upserts::is_free(self, step));
        let fault = self.choose(menu);
        let due = self.clock.now() + REQUEST_TIMEOUT;
        let late = |lands| Late {
            step: step.clone(),
            claim,
            lands,
            due,
        };
        match fault {
            Some(Fault::UnmarkedInFlight) => self.strip_all(),
            Some(Fault::Fails) => self.account.fail_next("there is no room"),
            _ => {}
        }
        if fault == Some(Fault::TakenInFlight) {
            upserts::take(self, step);
        }
        let call = match fault {
            Some(Fault::CrashBefore) => self.crash(),
            Some(Fault::EndNow) => self.end_now(),
            Some(Fault::Fail) => Call::Answer(Err(failure())),
            Some(Fault::Throttle) => Call::Answer(Err(throttled())),
            Some(Fault::LoseCall) => Call::Answer(Err(lost())),
            Some(Fault::NotFoundByLag) => Call::Answer(Err(not_found())),
            Some(Fault::DuplicateByLag) => Call::Answer(Err(duplicate())),
            Some(Fault::LoseAnswer) => {
                let _ = self.take_effect(claim, step);
                Call::Answer(Err(lost()))
            }
            Some(Fault::CrashAfter) => {
                let _ = self.take_effect(claim, step);
                self.crash()
            }
            Some(Fault::LateAtRestart) => {
                self.late.push(late(Lands::AtRestart));
                self.crash()
            }
            Some(fault @ (Fault::LateByOne | Fault::LateByTwo | Fault::LateByThree)) => {
                // One more than the fault says: the call itself counts when effects land below.
                let calls = 2 + fault as u32 - Fault::LateByOne as u32;
                self.late.push(late(Lands::After(calls)));
                Call::Answer(Err(lost()))
            }
            Some(Fault::LateToTheLast) => {
                self.late.push(late(Lands::WhenDue));
                Call::Answer(Err(lost()))
            }
            _ => {
                let effect = self.take_effect(claim, step);
                let born = effect.as_ref().is_ok_and(|effect| effect.born.is_some());
                self.objects[claim].born_in_pass |= born;
                Call::Answer(effect)
            }
        };
        self.note(
            || format!("{} -> {}", words::step(step), told(&call, words::effect)),
            fault,
        );
        if fault == Some(Fault::Slow) {
            self.pass_time(A_MINUTE);
        }
        self.land();
        call
    }

    /// What no Step may do, whatever comes of it.
    fn check_step(&mut self, claim: usize, step: &Step) {
        if let Step::Create(create) = step {
            let judged = laws::one_token_one_secret(self, create);
            let judged = judged.and_then(|()| laws::after_what_it_needs(self, claim, create));
            let judged = judged.and_then(|()| laws::one_call_an_announcement(self, claim, create));
            if let Err(violation) = judged {
                self.broken.get_or_insert(violation);
            }
        }
        let Step::Delete(deletion) = step else { return };
        let object = &self.objects[claim];
        let target = deletion.target();
        let slot = deletion.owned().mark().map(|mark| &mark.slot);
        let stays = slot.is_some_and(|slot| self.claim(claim).keeps.contains(slot));
        if stays && object.phase == Phase::Live {
            let what = format!("{target} is ended, though nobody may tell that it is not wanted");
            self.breaks(Law::NoTheft, what);
            return;
        }
        if object.phase == Phase::Retaining {
            let what = format!("{target} was to be retained and is deleted");
            self.breaks(Law::NoTheft, what);
        } else if object.phase == Phase::Live
            && deletion.owned().mark().is_some()
            && !object.condemned.contains(target)
            && !self.account.has_failed(target)
            && !laws::may_be_unwanted(self, claim, deletion)
        {
            let what = format!("{target} is deleted as a twin, but not condemned");
            self.breaks(Law::NoTwins, what);
        }
    }

    /// What no Step may do to what takes its time.
    fn check_course(&mut self, claim: usize, step: &Step) {
        let old = [
            Fault::StaleByOne,
            Fault::StaleByTwo,
            Fault::LateByOne,
            Fault::LateByTwo,
            Fault::LateByThree,
            Fault::LateAtRestart,
            Fault::LateToTheLast,
            Fault::StrangerDeletes,
        ];
        match step {
            // Whoever read before it began to go may not know.
            Step::Delete(deletion)
                if self.scenario.all_writers() == 1
                    && self.account.is_going(deletion.target())
                    && !self.chooser.fired.iter().any(|it| old.contains(&it.fault)) =>
            {
                let what = format!(
                    "{} is being deleted, and is deleted again",
                    deletion.target()
                );
                self.breaks(Law::ErrorsHaveClasses, what);
            }
            Step::Create(create) if create.kind.course.lost == Lost::Reported => {
                let mut recorded = self.objects[claim].recorded.iter();
                let lost = recorded.find(|(slot, target)| {
                    *slot == create.slot && self.account.resource(target).is_none()
                });
                if let Some((_, target)) = lost {
                    let what = format!("{target} is gone for good, and another is made");
                    self.breaks(Law::NoTwins, what);
                }
            }
            _ => {}
        }
    }

    /// Whether the operation of this very create runs, and the ledger says so.
    fn is_running(&mut self, claim: usize, step: &Step) -> bool {
        let Step::Create(create) = step else {
            return false;
        };
        let intent = self.objects[claim].ledger.intents.get(&create.slot);
        let Some(name) = intent.and_then(|intent| intent.operation.clone()) else {
            return false;
        };
        let kind = create.kind;
        let answer = self.account.read(
            &Query::Operation {
                place: create.place.clone(),
                kind,
                name,
            },
            Staleness::Settled,
        );
        answer.is_ok_and(|answer| answer.progress == Some(Progress::Running))
    }

    /// What a replica that lags behind could answer to a Step.
    fn lag_faults(&mut self, step: &Step) -> Menu {
        if self.allowed.and(LAG).is_empty() || !self.may_be_stale() {
            return Menu::default();
        }
        let (query, fault) = match step {
            Step::Create(create) => {
                let within = match create.kind.naming {
                    Naming::Account => None,
                    Naming::Within(prop) => create.props.get(prop).map(|id| (prop, id.clone())),
                    Naming::Free => return Menu::default(),
                };
                if create.kind.create == CreateMode::Upsert {
                    return Menu::default();
                }
                let (kind, name) = (create.kind, create.name.clone());
                (
                    Query::Name {
                        place: create.place.clone(),
                        kind,
                        name,
                        within,
                    },
                    Fault::DuplicateByLag,
                )
            }
            step => match step.targets().first() {
                Some(target) => (Query::Id(target.clone()), Fault::NotFoundByLag),
                None => return Menu::default(),
            },
        };
        let mut there = |staleness| {
            let answer = self.account.read(&query, staleness);
            answer.is_ok_and(|answer| !answer.resources.is_empty())
        };
        let now = there(Staleness::Settled);
        let differs = [1, 2]
            .into_iter()
            .any(|n| there(Staleness::Before(n)) != now);
        // Not found: it is there by now. The name is taken: it is free by now.
        if differs && now == (fault == Fault::NotFoundByLag) {
            fault.bit()
        } else {
            Menu::default()
        }
    }

    /// The effect itself. Twins are reduced to one, never to none (law 2); what another claim counts
    /// on stays.
    pub(crate) fn take_effect(&mut self, claim: usize, step: &Step) -> Result<Effect, CloudError> {
        let counted_on = laws::counted_on(self, claim, step);
        let (is_running, before) = (self.is_running(claim, step), self.account.lives().count());
        let replaced = matches!(step, Step::Delete(it) if self.account.has_failed(it.target())
            || laws::may_be_unwanted(self, claim, it));
        let effect = self.account.perform(self.actor(claim), step)?;
        let judged = laws::still_there(self, &counted_on, step);
        if let Err(violation) = judged.and_then(|()| laws::gave(self, claim, step)) {
            self.broken.get_or_insert(violation);
        }
        if is_running && self.account.lives().count() > before {
            self.breaks(
                Law::NoTwins,
                "created again while its operation runs".to_owned(),
            );
        }
        if let (Step::Delete(deletion), Phase::Live) = (step, self.objects[claim].phase)
            && !replaced
        {
            let slot = deletion.owned().mark().map(|mark| &mark.slot);
            let target = deletion.target();
            if target.kind.valuable && slot.is_some() {
                let what = format!("{target} holds data and was deleted as a twin");
                self.breaks(Law::NoTwins, what);
            }
            if laws::emptied(self, claim, slot) && !self.disturbed {
                let what = format!("{target} was the last one of its slot");
                self.breaks(Law::NoTwins, what);
            }
        }
        Ok(effect)
    }

    /// A load of the object; a stale cache shows the version before the last write.
    pub(crate) fn load(&mut self, claim: usize) -> Call<(Ledger, u64), LedgerError> {
        self.acting = claim;
        self.objects[claim].born_in_pass = false;
        self.objects[claim].refused_records.clear();
        if self.objects[claim].gone {
            return Call::Answer(Err(LedgerError::Conflict));
        }
        let stale = self.objects[claim].previous.is_some() && self.may_be_stale();
        let menu = if stale {
            Menu::of(&[Fault::StaleByOne])
        } else {
            Menu::default()
        };
        let fault = self.choose(menu);
        self.note(|| "load the ledger".to_owned(), fault);
        let object = &self.objects[claim];
        match (fault, &object.previous) {
            (Some(_), Some(previous)) => Call::Answer(Ok((previous.clone(), object.version - 1))),
            _ => Call::Answer(Ok((object.ledger.clone(), object.version))),
        }
    }

    /// A write of the object, on top of `version`.
    pub(crate) fn write(
        &mut self,
        claim: usize,
        edits: &[Edit],
        version: u64,
    ) -> Call<u64, LedgerError> {
        self.acting = claim;
        // What held an end may be over at any time: that is no rest.
        if !edits.contains(&Edit::Finish) {
            self.writes += 1;
        }
        let lost = || LedgerError::Unknown("the connection was cut".into());
        let fault = self.choose(WRITE_FAULTS);
        if fault == Some(Fault::SlowAndUnmarked) {
            self.slow_down(A_MINUTE);
        }
        self.note(|| words::edits(edits), fault);
        let object = &mut self.objects[claim];
        match fault {
            Some(Fault::CrashBefore) => self.crash(),
            Some(Fault::EndNow) => self.end_now(),
            Some(Fault::LoseCall) => Call::Answer(Err(lost())),
            Some(Fault::LoseAnswer) => {
                let _ = object.commit(edits, version);
                Call::Answer(Err(lost()))
            }
            Some(Fault::CrashAfter) => {
                let _ = object.commit(edits, version);
                self.crash()
            }
            Some(Fault::Conflict) => {
                object.changed();
                Call::Answer(Err(LedgerError::Conflict))
            }
            Some(Fault::Refuse) => {
                object.note_refusal(edits);
                Call::Answer(Err(LedgerError::Refused("the schema says no".into())))
            }
            Some(Fault::Slow) => {
                let answer = object.commit(edits, version);
                self.pass_time(A_MINUTE);
                Call::Answer(answer)
            }
            _ => Call::Answer(object.commit(edits, version)),
        }
    }

    fn crash<T, E>(&mut self) -> Call<T, E> {
        self.crashed = true;
        Call::Crash
    }

    fn end_now<T, E>(&mut self) -> Call<T, E> {
        self.allowed = self.allowed.without(Fault::EndNow.bit());
        self.begin_end(self.acting);
        self.crash()
    }
}

/// An answer, for a person.
fn told<T>(call: &Call<T, CloudError>, words: fn(&T) -> String) -> String {
    match call {
        Call::Answer(Ok(answer)) => words(answer),
        Call::Answer(Err(error)) => words::failure(error),
        Call::Crash => "the process dies".to_owned(),
    }
}

fn failure() -> CloudError {
    CloudError::new(
        Class::Retryable,
        "InternalError",
        "the service is unavailable",
    )
}

fn throttled() -> CloudError {
    CloudError::new(Class::Throttled, "RequestLimitExceeded", "slow down")
}

fn lost() -> CloudError {
    CloudError::new(Class::Unknown, "RequestTimeout", "no answer came")
}

fn not_found() -> CloudError {
    CloudError::new(Class::NotFound, "NoSuchEntity", "there is no such thing")
}

fn duplicate() -> CloudError {
    CloudError::new(Class::Exists, "EntityAlreadyExists", "the name is taken")
}

fn same(fresh: &Result<Answer, CloudError>, stale: &Result<Answer, CloudError>) -> bool {
    match (fresh, stale) {
        (Ok(fresh), Ok(stale)) => fresh.resources == stale.resources && fresh.inner == stale.inner,
        _ => false,
    }
}
