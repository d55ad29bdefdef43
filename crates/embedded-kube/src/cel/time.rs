//! Times and durations as Go reads and writes them.

use jiff::Timestamp;
use jiff::tz::{Offset, TimeZone};

use super::value::{Fault, Moment};

/// A time of RFC 3339.
pub(super) fn moment(text: &str) -> Option<Moment> {
    let at: Timestamp = text.parse().ok()?;
    if !(10..=40).contains(&text.len()) || !text.contains(['t', 'T']) {
        return None;
    }
    let tail = text.len().checked_sub(6)?;
    let ahead = text.get(tail..).and_then(offset).unwrap_or(0);
    Some(Moment { at, ahead })
}

/// `+01:30` in seconds.
fn offset(text: &str) -> Option<i32> {
    let (sign, rest) = match text.split_at_checked(1)? {
        ("+", rest) => (1, rest),
        ("-", rest) => (-1, rest),
        _ => return None,
    };
    let (hours, minutes) = rest.split_once(':')?;
    let number = |text: &str| {
        (text.len() == 2)
            .then(|| text.parse::<i32>().ok())
            .flatten()
    };
    Some(sign * (number(hours)? * 3600 + number(minutes)? * 60))
}

impl Moment {
    /// The time as it is written.
    pub(super) fn text(self) -> String {
        let offset = Offset::from_seconds(self.ahead).unwrap_or(Offset::UTC);
        let zoned = self.at.to_zoned(TimeZone::fixed(offset));
        let local = zoned.datetime();
        let nanos = local.subsec_nanosecond();
        let fraction = if nanos == 0 {
            String::new()
        } else {
            format!(".{nanos:09}").trim_end_matches('0').to_owned()
        };
        let zone = if self.ahead == 0 {
            "Z".to_owned()
        } else {
            let sign = if self.ahead < 0 { '-' } else { '+' };
            let size = self.ahead.abs();
            format!("{sign}{:02}:{:02}", size / 3600, size / 60 % 60)
        };
        format!(
            "{:04}-{:02}-{:02}T{:02}:{:02}:{:02}{fraction}{zone}",
            local.year(),
            local.month(),
            local.day(),
            local.hour(),
            local.minute(),
            local.second()
        )
    }

    /// A part of the time, in UTC or in a zone that is given as an offset.
    pub(super) fn part(self, what: &str, zone: Option<&str>) -> Result<i64, Fault> {
        let ahead = match zone {
            None | Some("UTC" | "") => 0,
            Some(zone) => {
                let signed = if zone.starts_with(['+', '-']) {
                    zone.to_owned()
                } else {
                    format!("+{zone}")
                };
                offset(&signed).ok_or_else(|| Fault::new(format!("unknown time zone {zone}")))?
            }
        };
        let offset = Offset::from_seconds(ahead).unwrap_or(Offset::UTC);
        let local = self.at.to_zoned(TimeZone::fixed(offset)).datetime();
        Ok(match what {
            "getFullYear" => i64::from(local.year()),
            "getMonth" => i64::from(local.month()) - 1,
            "getDayOfYear" => i64::from(local.day_of_year()) - 1,
            "getDayOfMonth" => i64::from(local.day()) - 1,
            "getDate" => i64::from(local.day()),
            "getDayOfWeek" => i64::from(local.weekday().to_sunday_zero_offset()),
            "getHours" => i64::from(local.hour()),
            "getMinutes" => i64::from(local.minute()),
            "getSeconds" => i64::from(local.second()),
            _ => i64::from(local.millisecond()),
        })
    }
}

/// A duration such as `1h30m`.
pub(super) fn duration(text: &str) -> Option<i64> {
    let (negative, mut rest) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    if rest == "0" {
        return Some(0);
    }
    if rest.is_empty() {
        return None;
    }
    let mut nanos: i128 = 0;
    while !rest.is_empty() {
        let after = rest.trim_start_matches(|c: char| c.is_ascii_digit() || c == '.');
        let number = &rest[..rest.len() - after.len()];
        let next = after.trim_start_matches(|c: char| !c.is_ascii_digit() && c != '.');
        let unit: i128 = match &after[..after.len() - next.len()] {
            "ns" => 1,
            "us" | "µs" | "μs" => 1_000,
            "ms" => 1_000_000,
            "s" => 1_000_000_000,
            "m" => 60_000_000_000,
            "h" => 3_600_000_000_000,
            _ => return None,
        };
        let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
        if whole.is_empty() && fraction.is_empty() || fraction.contains('.') {
            return None;
        }
        let digits = |text: &str| {
            if text.is_empty() {
                Some(0)
            } else {
                text.parse().ok()
            }
        };
        let whole: i128 = digits(whole).filter(|whole: &i128| *whole <= i128::from(i64::MAX))?;
        let fraction = &fraction[..fraction.len().min(18)];
        let scale = 10_i128.pow(u32::try_from(fraction.len()).ok()?);
        nanos += whole.checked_mul(unit)? + digits(fraction)? * unit / scale;
        rest = next;
    }
    i64::try_from(if negative { -nanos } else { nanos }).ok()
}

/// A duration as schemas take it: also with long units and blanks.
pub(super) fn loose_duration(text: &str) -> Option<i64> {
    if let Some(found) = duration(text) {
        return Some(found);
    }
    let mut nanos: i64 = 0;
    let mut known = false;
    let mut rest = text;
    while let Some(start) = rest.find(|c: char| c.is_ascii_digit()) {
        rest = &rest[start..];
        let after = rest.trim_start_matches(|c: char| c.is_ascii_digit());
        let number: i64 = rest[..rest.len() - after.len()].parse().ok()?;
        let unit = after.trim_start();
        let next = unit.trim_start_matches(|c: char| c.is_ascii_alphabetic() || c == 'µ');
        let name = unit[..unit.len() - next.len()].to_lowercase();
        rest = next;
        let long = [
            ("nano", 1),
            ("micro", 1_000),
            ("milli", 1_000_000),
            ("sec", 1_000_000_000),
            ("min", 60_000_000_000),
            ("hour", 3_600_000_000_000),
            ("day", 86_400_000_000_000),
            ("week", 604_800_000_000_000),
        ];
        let factor = match name.as_str() {
            "ns" => 1,
            "us" | "µs" => 1_000,
            "ms" => 1_000_000,
            "s" => 1_000_000_000,
            "m" => 60_000_000_000,
            "h" | "hr" => 3_600_000_000_000,
            "d" => 86_400_000_000_000,
            "w" | "wk" => 604_800_000_000_000,
            name => match long.iter().find(|(start, _)| name.starts_with(start)) {
                Some((_, factor)) => *factor,
                None => continue,
            },
        };
        known = true;
        nanos = nanos.checked_add(number.checked_mul(factor)?)?;
    }
    known.then_some(nanos)
}

/// A duration in seconds, as it is written.
pub(super) fn duration_text(nanos: i64) -> String {
    let sign = if nanos < 0 { "-" } else { "" };
    let size = nanos.unsigned_abs();
    let fraction = format!("{:09}", size % 1_000_000_000);
    let fraction = fraction.trim_end_matches('0');
    let point = if fraction.is_empty() { "" } else { "." };
    format!("{sign}{}{point}{fraction}s", size / 1_000_000_000)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations() {
        for (text, nanos) in [
            ("1h30m", 5_400_000_000_000),
            ("-1.5s", -1_500_000_000),
            ("0", 0),
            ("1us", 1_000),
        ] {
            assert_eq!(duration(text), Some(nanos), "{text}");
        }
        for wrong in ["", "1", "1x", ".s", "1d", "9999999h"] {
            assert_eq!(duration(wrong), None, "{wrong}");
        }
        assert_eq!(loose_duration("2 days"), Some(172_800_000_000_000));
        assert_eq!(duration_text(-1_500_000_000), "-1.5s");
    }

    #[test]
    fn times() {
        let moment = moment("2026-01-02T03:04:05.5+01:30").unwrap();
        assert_eq!(moment.text(), "2026-01-02T03:04:05.5+01:30");
        assert_eq!(moment.part("getHours", None), Ok(1));
        assert_eq!(moment.part("getHours", Some("02:00")), Ok(3));
        assert_eq!(moment.part("getDayOfWeek", None), Ok(5));
        assert!(moment.part("getHours", Some("Mars")).is_err());
    }
}
