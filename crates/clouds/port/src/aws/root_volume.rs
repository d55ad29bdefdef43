//! The first volume of an instance, as a create call has it.

use std::fmt;
use std::str::FromStr;

use ownership::Text;
use ownership::input::InputError;

/// How the first volume of an instance is to be, where that is not as its image says.
///
/// As text: `size 30 type gp3 iops 3000 throughput 125 encrypted true key KEY`, without what is not said.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RootVolume {
    /// Its size, in GiB.
    pub size: Option<u32>,
    /// Its type, such as `gp3`.
    pub kind: Option<Text>,
    /// How many operations a second it is to serve.
    pub iops: Option<u32>,
    /// How many MiB a second.
    pub throughput: Option<u32>,
    /// Whether it is encrypted.
    pub encrypted: Option<bool>,
    /// By which key.
    pub key: Option<Text>,
}

const FIELD: &str = "root volume";

impl RootVolume {
    /// Checks it.
    ///
    /// # Errors
    /// The broken rule.
    pub(super) fn check(&self) -> Result<(), InputError> {
        let words = self.kind.iter().chain(&self.key);
        for word in words {
            if word.is_empty() || word.contains(char::is_whitespace) {
                return Err(InputError::new(FIELD, word, "must be one word"));
            }
        }
        Ok(())
    }
}

impl fmt::Display for RootVolume {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let number = |number: Option<u32>| number.map(|number| number.to_string());
        let said = [
            ("size", number(self.size)),
            ("type", self.kind.as_ref().map(ToString::to_string)),
            ("iops", number(self.iops)),
            ("throughput", number(self.throughput)),
            ("encrypted", self.encrypted.map(|it| it.to_string())),
            ("key", self.key.as_ref().map(ToString::to_string)),
        ];
        let mut space = "";
        for (name, value) in said {
            if let Some(value) = value {
                write!(f, "{space}{name} {value}")?;
                space = " ";
            }
        }
        Ok(())
    }
}

impl FromStr for RootVolume {
    type Err = InputError;

    fn from_str(text: &str) -> Result<Self, InputError> {
        let refuse = || InputError::new(FIELD, text, "must have the form size 30 type gp3");
        let mut volume = Self::default();
        let words: Vec<&str> = text.split_whitespace().collect();
        for pair in words.chunks(2) {
            let [name, value] = pair else {
                return Err(refuse());
            };
            let number = || value.parse().map(Some).map_err(|_| refuse());
            match *name {
                "size" => volume.size = number()?,
                "type" => volume.kind = Some((*value).into()),
                "iops" => volume.iops = number()?,
                "throughput" => volume.throughput = number()?,
                "encrypted" => volume.encrypted = Some(*value == "true"),
                "key" => volume.key = Some((*value).into()),
                _ => return Err(refuse()),
            }
        }
        Ok(volume)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_volume_reads_back_as_what_was_meant() {
        let volume = RootVolume {
            size: Some(30),
            kind: Some("gp3".into()),
            encrypted: Some(true),
            ..RootVolume::default()
        };
        let text = volume.to_string();
        assert_eq!(text, "size 30 type gp3 encrypted true");
        assert_eq!(text.parse::<RootVolume>().unwrap(), volume);
        assert!("size much".parse::<RootVolume>().is_err());
        assert!("colour".parse::<RootVolume>().is_err());
    }
}
