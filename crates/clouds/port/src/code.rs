//! Error codes: what each means, and what a person can do about it.

use ownership::Class;

/// What an error code means that belongs to one Kind.
#[derive(Clone, Debug)]
pub struct Code {
    pub(crate) text: &'static str,
    pub(crate) class: Class,
    pub(crate) operation: Option<&'static str>,
    pub(crate) advice: Option<&'static str>,
    pub(crate) quota: Option<&'static str>,
}

impl Code {
    /// A code that means the same whichever operation was called.
    pub(crate) const fn new(code: &'static str, class: Class) -> Self {
        Self {
            text: code,
            class,
            operation: None,
            advice: None,
            quota: None,
        }
    }

    /// A quota is used up: this one, by its name in the vendor's list. Only a person can get more.
    pub(crate) const fn quota(code: &'static str, quota: &'static str) -> Self {
        let mut known = Self::new(code, Class::Fatal);
        known.quota = Some(quota);
        known
    }

    /// It means this only as an answer to this operation.
    pub(crate) const fn to(mut self, operation: &'static str) -> Self {
        self.operation = Some(operation);
        self
    }

    /// What a person can do about it.
    pub(crate) const fn advice(mut self, advice: &'static str) -> Self {
        self.advice = Some(advice);
        self
    }

    /// Whether this answer to an operation is meant.
    pub(crate) fn means(&self, operation: &str, code: &str) -> bool {
        self.text == code && self.operation.is_none_or(|known| known == operation)
    }
}
