//! Who asks, and what they may do.
//!
//! Without [`Access`] everybody may do everything, and nothing here runs.

mod bootstrap;
mod covers;
mod identity;
mod rbac;
pub(crate) mod reviews;

use std::collections::BTreeMap;

use serde_json::Value;

pub(crate) use bootstrap::install;
pub(crate) use covers::escalation;
pub(crate) use identity::identify;
pub(crate) use rbac::{Attributes, authorize};

/// The group whose members may do everything.
pub(crate) const MASTERS: &str = "system:masters";
/// The group of everybody who is known.
const AUTHENTICATED: &str = "system:authenticated";
/// The group of everybody else, and their name.
const UNAUTHENTICATED: &str = "system:unauthenticated";
const ANONYMOUS: &str = "system:anonymous";

/// Who may ask, and as whom: bearer tokens, as in the token file of a real server.
///
/// What they may do is what roles and bindings (`rbac.authorization.k8s.io`) say.
///
/// # Example
/// ```
/// let access = embedded_kube::Access::read("t0ken,alice,uid-1,\"dev,ops\"\n")?;
/// # let _ = access;
/// # Ok::<(), String>(())
/// ```
#[derive(Clone, Debug)]
pub struct Access {
    tokens: BTreeMap<String, User>,
    anonymous: bool,
}

impl Default for Access {
    fn default() -> Self {
        Self {
            tokens: BTreeMap::new(),
            anonymous: true,
        }
    }
}

/// Somebody who asks.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct User {
    /// The name, as bindings name it.
    pub name: String,
    /// What tells users of one name apart.
    pub uid: String,
    /// The groups that the user is in, besides those that everybody is in.
    pub groups: Vec<String>,
    /// What else is known, by key.
    pub extra: BTreeMap<String, Vec<String>>,
}

impl User {
    /// A user of this name in these groups.
    pub fn new(name: &str, groups: &[&str]) -> Self {
        Self {
            name: name.to_owned(),
            groups: groups.iter().map(|&group| group.to_owned()).collect(),
            ..Self::default()
        }
    }

    /// Who asks from inside the process, and where nobody is asked for a name.
    pub(crate) fn administrator() -> Self {
        Self {
            uid: "admin".to_owned(),
            ..Self::new("admin", &[MASTERS, AUTHENTICATED])
        }
    }

    pub(crate) fn is_master(&self) -> bool {
        self.groups.iter().any(|group| group == MASTERS)
    }

    /// As the API shows it.
    pub(crate) fn info(&self) -> Value {
        let mut info = serde_json::json!({"username": self.name});
        if !self.uid.is_empty() {
            info["uid"] = self.uid.clone().into();
        }
        if !self.groups.is_empty() {
            info["groups"] = self.groups.clone().into();
        }
        if !self.extra.is_empty() {
            info["extra"] = serde_json::json!(self.extra);
        }
        info
    }
}

impl Access {
    /// Nobody has a token; who has none is anonymous.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Whoever shows this token is this user.
    #[must_use]
    pub fn token(mut self, token: &str, user: User) -> Self {
        self.tokens.insert(token.to_owned(), user);
        self
    }

    /// Whether a request without a token is anonymous; otherwise it is refused.
    #[must_use]
    pub fn anonymous(mut self, allowed: bool) -> Self {
        self.anonymous = allowed;
        self
    }

    /// Reads a token file: a line for each token, with the user's name, uid and (in quotes, with
    /// commas) groups behind it.
    ///
    /// # Errors
    /// Names the line that has too few parts, or whose token is empty or comes twice.
    pub fn read(text: &str) -> Result<Self, String> {
        let mut access = Self::default();
        for (index, line) in text.lines().enumerate() {
            let line = line.trim();
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            let wrong = |why: &str| format!("line {} of the token file: {why}", index + 1);
            let columns = columns(line).ok_or_else(|| wrong("a quote is not closed"))?;
            let [token, name, uid, rest @ ..] = columns.as_slice() else {
                return Err(wrong("a token, a name and a uid are needed"));
            };
            if token.is_empty() {
                return Err(wrong("the token is empty"));
            }
            if access.tokens.contains_key(token) {
                return Err(wrong("the token was there before"));
            }
            let groups = rest.first().map(String::as_str).unwrap_or_default();
            let groups: Vec<&str> = groups
                .split(',')
                .map(str::trim)
                .filter(|group| !group.is_empty())
                .collect();
            let mut user = User::new(name, &groups);
            user.uid.clone_from(uid);
            access.tokens.insert(token.clone(), user);
        }
        Ok(access)
    }
}

/// The columns of a line with commas; those in double quotes may hold commas.
fn columns(line: &str) -> Option<Vec<String>> {
    let mut columns = vec![String::new()];
    let mut quoted = false;
    for c in line.chars() {
        match c {
            '"' => quoted = !quoted,
            ',' if !quoted => columns.push(String::new()),
            c => columns.last_mut()?.push(c),
        }
    }
    (!quoted).then(|| {
        columns
            .into_iter()
            .map(|column| column.trim().to_owned())
            .collect()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn token_files_are_read() {
        let access = Access::read("# users\n\nt1,alice,1,\"dev, ops\"\nt2,bob,2\n").unwrap();
        assert_eq!(access.tokens["t1"].groups, ["dev", "ops"]);
        assert_eq!(access.tokens["t2"].name, "bob");
        for wrong in ["a,b", ",b,c", "a,b,c\na,d,e", "a,b,c,\"d"] {
            assert!(Access::read(wrong).is_err(), "{wrong}");
        }
    }
}
