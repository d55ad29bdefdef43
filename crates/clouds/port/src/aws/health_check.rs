//! Health checks of load balancers, in the one spelling that two equal ones share.

use std::fmt;
use std::str::FromStr;

use ownership::Text;
use ownership::input::InputError;

/// How a load balancer finds out whether a target can be used.
///
/// As text: `tcp 6443 every 10 timeout 5 healthy 5 unhealthy 3`, or `https 6443/readyz every …`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct HealthCheck {
    /// What it asks.
    pub probe: Probe,
    /// At which port.
    pub port: u16,
    /// How often, in seconds.
    pub interval: u16,
    /// How long it waits for an answer, in seconds.
    pub timeout: u16,
    /// After how many good answers a target is used.
    pub healthy: u8,
    /// After how many bad ones it is not.
    pub unhealthy: u8,
}

/// What a health check asks.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Probe {
    /// Whether the port is open.
    Tcp,
    /// Whether the port is open and speaks TLS.
    Ssl,
    /// This path, which begins with a slash.
    Http(Text),
    /// This path by TLS.
    Https(Text),
}

const FIELD: &str = "health check";

impl HealthCheck {
    /// A check of nothing but the port, as often as load balancers check what does not say otherwise.
    pub const fn tcp(port: u16) -> Self {
        Self {
            probe: Probe::Tcp,
            port,
            interval: 10,
            timeout: 5,
            healthy: 5,
            unhealthy: 3,
        }
    }

    /// The canonical spelling.
    pub fn text(&self) -> Text {
        self.to_string().into()
    }

    /// Checks what Elastic Load Balancing refuses of every load balancer.
    ///
    /// # Errors
    /// The broken rule.
    pub fn check(&self) -> Result<(), InputError> {
        let rule = if !(5..=300).contains(&self.interval) {
            "must have an interval from 5 to 300 seconds"
        } else if !(2..=60).contains(&self.timeout) || self.timeout >= self.interval {
            "must have a timeout from 2 to 60 seconds that is shorter than the interval"
        } else if !(2..=10).contains(&self.healthy) || !(2..=10).contains(&self.unhealthy) {
            "must have thresholds from 2 to 10"
        } else if self.port == 0 {
            "must have a port from 1 to 65535"
        } else if self.probe.path().is_some_and(|path| !is_path(path)) {
            "must have a path that begins with / and has no blanks"
        } else {
            return Ok(());
        };
        Err(InputError::new(FIELD, &self.to_string(), rule))
    }
}

impl Probe {
    /// The protocol, as in `tcp`.
    pub const fn protocol(&self) -> &'static str {
        match self {
            Self::Tcp => "tcp",
            Self::Ssl => "ssl",
            Self::Http(_) => "http",
            Self::Https(_) => "https",
        }
    }

    /// The path, where there is one.
    pub fn path(&self) -> Option<&Text> {
        match self {
            Self::Http(path) | Self::Https(path) => Some(path),
            Self::Tcp | Self::Ssl => None,
        }
    }

    /// A probe by a protocol, whatever the case it is written in.
    pub fn of(protocol: &str, path: &str) -> Option<Self> {
        Some(match protocol.to_ascii_lowercase().as_str() {
            "tcp" => Self::Tcp,
            "ssl" => Self::Ssl,
            "http" => Self::Http(path.into()),
            "https" => Self::Https(path.into()),
            _ => return None,
        })
    }
}

fn is_path(path: &str) -> bool {
    path.starts_with('/') && !path.contains(char::is_whitespace)
}

impl fmt::Display for HealthCheck {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = self.probe.path().map_or("", |path| path);
        let (protocol, port) = (self.probe.protocol(), self.port);
        let (interval, timeout) = (self.interval, self.timeout);
        let (healthy, unhealthy) = (self.healthy, self.unhealthy);
        write!(
            f,
            "{protocol} {port}{path} every {interval} timeout {timeout} healthy {healthy} \
             unhealthy {unhealthy}"
        )
    }
}

impl FromStr for HealthCheck {
    type Err = InputError;

    fn from_str(text: &str) -> Result<Self, InputError> {
        read(text).ok_or_else(|| {
            let rule = "must have the form tcp 6443 every 10 timeout 5 healthy 5 unhealthy 3";
            InputError::new(FIELD, text, rule)
        })
    }
}

fn read(text: &str) -> Option<HealthCheck> {
    let words: Vec<&str> = text.split(' ').collect();
    let [
        protocol,
        target,
        "every",
        interval,
        "timeout",
        timeout,
        "healthy",
        healthy,
        "unhealthy",
        unhealthy,
    ] = words[..]
    else {
        return None;
    };
    let (port, path) = match target.find('/') {
        Some(at) => target.split_at(at),
        None => (target, ""),
    };
    let probe = Probe::of(protocol, path)?;
    let fits = probe.path().is_some_and(|path| is_path(path)) || path.is_empty();
    fits.then_some(())?;
    Some(HealthCheck {
        probe,
        port: port.parse().ok()?,
        interval: interval.parse().ok()?,
        timeout: timeout.parse().ok()?,
        healthy: healthy.parse().ok()?,
        unhealthy: unhealthy.parse().ok()?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_check_reads_back_as_what_was_meant() {
        let https = HealthCheck {
            probe: Probe::Https("/readyz".into()),
            ..HealthCheck::tcp(6443)
        };
        for check in [HealthCheck::tcp(6443), https] {
            assert_eq!(check.text().parse::<HealthCheck>().unwrap(), check);
            assert_eq!(check.check(), Ok(()));
        }
        assert_eq!(
            &*HealthCheck::tcp(6443).text(),
            "tcp 6443 every 10 timeout 5 healthy 5 unhealthy 3"
        );
        for bad in [
            "",
            "tcp 6443",
            "tcp x every 10 timeout 5 healthy 5 unhealthy 3",
        ] {
            assert!(bad.parse::<HealthCheck>().is_err(), "{bad}");
        }
    }

    #[test]
    fn what_no_load_balancer_takes_is_refused_with_the_rule() {
        let rule = |check: HealthCheck| check.check().unwrap_err().rule;
        let tcp = HealthCheck::tcp(6443);
        let slow = HealthCheck {
            timeout: 10,
            ..tcp.clone()
        };
        assert!(rule(slow).contains("shorter than the interval"));
        let often = HealthCheck {
            interval: 1,
            ..tcp.clone()
        };
        assert!(rule(often).contains("from 5 to 300"));
        let once = HealthCheck {
            healthy: 1,
            ..tcp.clone()
        };
        assert!(rule(once).contains("thresholds"));
        let probe = Probe::Http("readyz".into());
        assert!(rule(HealthCheck { probe, ..tcp }).contains("begins with /"));
    }
}
