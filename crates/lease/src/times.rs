//! How long things may take, and how these times belong together.

use ownership::input::InputError;
use ownership::time::{LONGEST_REQUEST_TIMEOUT, Millis, REQUEST_TIMEOUT, SHORTEST_REQUEST_TIMEOUT};

/// For how long a renewal is good, unless somebody sets it.
pub const DURATION: Millis = Millis::seconds(60);
/// The longest time that can be set: for so long nobody works after a crash.
pub const LONGEST_DURATION: Millis = Millis::seconds(600);
/// How often a holder renews.
pub const RENEW_EVERY: Millis = Millis::seconds(10);
/// How often a candidate looks, and how soon a failed call is repeated.
pub const RETRY_EVERY: Millis = Millis::seconds(2);
/// How long a call to the API server may take; then its outcome is unknown.
pub const CALL_TIMEOUT: Millis = Millis::seconds(8);

/// What a holder needs to renew its Lease if the first attempt fails and the second succeeds.
const TO_RENEW: Millis = Millis(RENEW_EVERY.0 + CALL_TIMEOUT.0 + RETRY_EVERY.0 + CALL_TIMEOUT.0);

const _: () = assert!(fit(DURATION, REQUEST_TIMEOUT));

/// Whether a holder may send delicate calls throughout, although a renewal fails now and then.
const fn fit(duration: Millis, request_timeout: Millis) -> bool {
    duration.0 > request_timeout.0 + TO_RENEW.0
}

/// How long a Lease is good, and how long a request to a cloud may take: they belong together.
///
/// # Guarantees
/// A leader whose renewals fail now and then may send delicate calls throughout: with less than T
/// left on its Lease it sends none (assumption A3).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Times {
    duration: Millis,
    request_timeout: Millis,
}

impl Times {
    /// A Lease of this duration where T is `request_timeout`.
    ///
    /// # Errors
    /// The flag, and the rule that its value breaks.
    pub fn new(duration: Millis, request_timeout: Millis) -> Result<Self, InputError> {
        let shown = |span: Millis| span.to_string();
        if !(SHORTEST_REQUEST_TIMEOUT..=LONGEST_REQUEST_TIMEOUT).contains(&request_timeout) {
            let rule = format!(
                "must be from {SHORTEST_REQUEST_TIMEOUT} to {LONGEST_REQUEST_TIMEOUT}: clouds need \
                 seconds for some calls, and forget client tokens that are waited for too long"
            );
            let (field, value) = ("--request-timeout", shown(request_timeout));
            return Err(InputError::new(field, &value, rule));
        }
        let (field, value) = ("--lease-duration", shown(duration));
        if !fit(duration, request_timeout) {
            let rule = format!(
                "must be more than {TO_RENEW} longer than --request-timeout ({request_timeout}): \
                 with less than the request timeout left on its Lease a leader sends nothing that \
                 cannot be repeated safely (assumption A3), and to renew it may take {TO_RENEW} if \
                 the first attempt fails"
            );
            return Err(InputError::new(field, &value, rule));
        }
        if duration > LONGEST_DURATION {
            let rule = format!(
                "must be at most {LONGEST_DURATION}: for so long nobody works after a crash"
            );
            return Err(InputError::new(field, &value, rule));
        }
        Ok(Self {
            duration,
            request_timeout,
        })
    }

    /// For how long a renewal is good.
    pub const fn duration(&self) -> Millis {
        self.duration
    }

    /// T of assumption A3.
    pub const fn request_timeout(&self) -> Millis {
        self.request_timeout
    }
}

impl Default for Times {
    fn default() -> Self {
        Self {
            duration: DURATION,
            request_timeout: REQUEST_TIMEOUT,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(duration: u64, request_timeout: u64) -> String {
        let times = Times::new(Millis::seconds(duration), Millis::seconds(request_timeout));
        times.unwrap_err().to_string()
    }

    #[test]
    fn a_lease_outlives_a_request_and_a_failed_renewal() {
        let times = Times::new(DURATION, REQUEST_TIMEOUT);
        assert_eq!(times, Ok(Times::default()));
        for (duration, request_timeout) in [(34, 5), (149, 120), (600, 30)] {
            let times = Times::new(Millis::seconds(duration), Millis::seconds(request_timeout));
            let times = times.unwrap();
            assert_eq!(times.duration(), Millis::seconds(duration));
            assert_eq!(times.request_timeout(), Millis::seconds(request_timeout));
        }
        assert_eq!(
            refused(58, 30),
            "--lease-duration: \"58 s\" must be more than 28 s longer than --request-timeout (30 s): \
             with less than the request timeout left on its Lease a leader sends nothing that cannot \
             be repeated safely (assumption A3), and to renew it may take 28 s if the first attempt \
             fails"
        );
        assert!(refused(601, 30).starts_with("--lease-duration: \"601 s\" must be at most 600 s"));
        for wrong in [0, 4, 121] {
            let said = refused(60, wrong);
            assert!(said.starts_with("--request-timeout: "), "{said}");
            assert!(said.contains("must be from 5 s to 120 s"), "{said}");
        }
    }
}
