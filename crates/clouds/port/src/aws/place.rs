//! Where in AWS a [`Cloud`](crate::Cloud) is.

use crate::Survey;

/// A cloud that is one account and region of AWS.
pub trait AwsPlace: Survey {
    /// `aws`, `aws-cn`, `aws-us-gov`, …
    fn partition(&self) -> &str;

    /// The account's twelve digits.
    fn account(&self) -> &str;

    /// The region.
    fn region(&self) -> &str;

    /// The ARN of a role of this account, which has no path.
    fn role_arn(&self, name: &str) -> String {
        format!(
            "arn:{}:iam::{}:role/{name}",
            self.partition(),
            self.account()
        )
    }
}
