//! Amounts with a unit, such as `1.5Gi`.

use std::cmp::Ordering;

/// Whether a text is an amount such as `1.5Gi`; without digits it is nothing, but an amount.
pub(crate) fn is_quantity(text: &str) -> bool {
    let rest = text.strip_prefix(['+', '-']).unwrap_or(text);
    let digits = rest.trim_start_matches(|c: char| c.is_ascii_digit() || c == '.');
    let number = &rest[..rest.len() - digits.len()];
    if text.is_empty() || number.matches('.').count() > 1 {
        return false;
    }
    if matches!(
        digits,
        "" | "n"
            | "u"
            | "m"
            | "k"
            | "M"
            | "G"
            | "T"
            | "P"
            | "E"
            | "Ki"
            | "Mi"
            | "Gi"
            | "Ti"
            | "Pi"
            | "Ei"
    ) {
        return true;
    }
    let Some(exponent) = digits.strip_prefix(['e', 'E']) else {
        return false;
    };
    let exponent = exponent.strip_prefix(['+', '-']).unwrap_or(exponent);
    !exponent.is_empty() && exponent.bytes().all(|b| b.is_ascii_digit())
}

/// The canonical form: the largest unit of its family that needs no fraction.
pub(crate) fn canonical(text: &str) -> String {
    match Amount::parse(text) {
        Some(amount) => amount.write(),
        None => text.to_owned(),
    }
}

/// The amount as a number.
pub(crate) fn number(text: &str) -> f64 {
    Amount::parse(text).map_or(0.0, Amount::float)
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Family {
    Binary,
    Decimal,
    Exponent,
}

/// An amount in billionths, which is as fine as amounts get.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Amount {
    nanos: i128,
    family: Family,
}

/// The unit does not count.
impl Ord for Amount {
    fn cmp(&self, other: &Self) -> Ordering {
        self.nanos.cmp(&other.nanos)
    }
}

impl PartialOrd for Amount {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Amount {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Amount {}

const NANO: i128 = 1_000_000_000;
const BINARY: [&str; 7] = ["", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"];
const DECIMAL: [(&str, i128); 10] = [
    ("E", 1_000_000_000_000_000_000 * NANO),
    ("P", 1_000_000_000_000_000 * NANO),
    ("T", 1_000_000_000_000 * NANO),
    ("G", 1_000_000_000 * NANO),
    ("M", 1_000_000 * NANO),
    ("k", 1_000 * NANO),
    ("", NANO),
    ("m", NANO / 1_000),
    ("u", NANO / 1_000_000),
    ("n", 1),
];

impl Amount {
    /// An amount without a unit.
    pub(crate) fn whole(number: i64) -> Self {
        Self {
            nanos: i128::from(number) * NANO,
            family: Family::Exponent,
        }
    }

    pub(crate) fn sign(self) -> i8 {
        match self.nanos.cmp(&0) {
            Ordering::Less => -1,
            Ordering::Equal => 0,
            Ordering::Greater => 1,
        }
    }

    #[expect(
        clippy::cast_precision_loss,
        reason = "sizes are compared, not counted"
    )]
    pub(crate) fn float(self) -> f64 {
        self.nanos as f64 / 1e9
    }

    /// The amount, if it is a whole number.
    pub(crate) fn integer(self) -> Option<i64> {
        let whole = self.nanos % NANO == 0;
        whole
            .then(|| i64::try_from(self.nanos / NANO).ok())
            .flatten()
    }

    /// The amount and another one, which is added or taken away.
    pub(crate) fn moved(self, by: Self, sign: i128) -> Option<Self> {
        let nanos = self.nanos.checked_add(by.nanos.checked_mul(sign)?)?;
        Some(Self { nanos, ..self })
    }

    pub(crate) fn parse(text: &str) -> Option<Self> {
        let unit = text.trim_start_matches(|c: char| c.is_ascii_digit() || "+-.".contains(c));
        let digits = &text[..text.len() - unit.len()];
        let (negative, digits) = match digits.strip_prefix('-') {
            Some(rest) => (true, rest),
            None => (false, digits.strip_prefix('+').unwrap_or(digits)),
        };
        let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
        let mut mantissa: i128 = 0;
        for digit in whole.bytes().chain(fraction.bytes()) {
            mantissa = mantissa
                .checked_mul(10)?
                .checked_add(i128::from(char::from(digit).to_digit(10)?))?;
        }
        let (factor, family) = Self::factor(unit)?;
        let mut divisor: i128 = 1;
        for _ in 0..fraction.len() {
            divisor = divisor.checked_mul(10)?;
        }
        let product = mantissa.checked_mul(factor)?;
        // Anything finer than a billionth is rounded up.
        let nanos = product / divisor + i128::from(product % divisor != 0);
        Some(Self {
            nanos: if negative { -nanos } else { nanos },
            family,
        })
    }

    fn factor(unit: &str) -> Option<(i128, Family)> {
        if let Some(index) = BINARY.iter().skip(1).position(|name| *name == unit) {
            return Some((NANO << (10 * (index + 1)), Family::Binary));
        }
        if let Some((_, factor)) = DECIMAL.iter().find(|(name, _)| *name == unit) {
            return Some((*factor, Family::Decimal));
        }
        let exponent: i32 = unit.strip_prefix(['e', 'E'])?.parse().ok()?;
        let mut factor = NANO;
        for _ in 0..exponent.unsigned_abs() {
            // Finer than fine: no need to count to two billion.
            if factor == 0 {
                break;
            }
            factor = if exponent < 0 {
                factor / 10
            } else {
                factor.checked_mul(10)?
            };
        }
        Some((factor, Family::Exponent))
    }

    fn write(&self) -> String {
        if self.nanos == 0 {
            return "0".to_owned();
        }
        match self.family {
            Family::Binary if self.nanos % NANO == 0 => {
                let (mut value, mut unit) = (self.nanos / NANO, 0);
                if value.abs() < 1024 {
                    return Self {
                        nanos: self.nanos,
                        family: Family::Decimal,
                    }
                    .write();
                }
                while value % 1024 == 0 && unit + 1 < BINARY.len() {
                    value /= 1024;
                    unit += 1;
                }
                format!("{value}{}", BINARY[unit])
            }
            Family::Exponent => {
                let (mut value, mut exponent) = (self.nanos, -9);
                while value % 1000 == 0 && exponent < 18 {
                    value /= 1000;
                    exponent += 3;
                }
                if exponent == 0 {
                    value.to_string()
                } else {
                    format!("{value}e{exponent}")
                }
            }
            Family::Binary | Family::Decimal => {
                let (unit, factor) = DECIMAL
                    .iter()
                    .find(|(_, factor)| self.nanos % factor == 0)
                    .unwrap_or(&("n", 1));
                format!("{}{unit}", self.nanos / factor)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantities() {
        for fine in ["1", "1.5Gi", "-2m", "1e3", "10k", "Gi"] {
            assert!(is_quantity(fine), "{fine}");
        }
        for wrong in ["", "1.2.3", "1x", "1e"] {
            assert!(!is_quantity(wrong), "{wrong}");
        }
    }

    #[test]
    fn the_canonical_form() {
        for (text, wanted) in [
            ("1024Mi", "1Gi"),
            ("1.5Gi", "1536Mi"),
            ("1000", "1k"),
            ("0.5", "500m"),
            ("512Ki", "512Ki"),
            ("1e3", "1e3"),
            ("12", "12"),
            ("0Gi", "0"),
        ] {
            assert_eq!(canonical(text), wanted, "{text}");
        }
    }
}
