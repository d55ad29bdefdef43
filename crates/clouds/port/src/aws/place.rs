//! Where in AWS a [`Cloud`](crate::Cloud) is.

use std::future::Future;

use ownership::{CloudError, Text};

use super::image::ImageQuery;
use crate::Survey;

/// A cloud that is one account and region of AWS.
pub trait AwsPlace: Survey {
    /// `aws`, `aws-cn`, `aws-us-gov`, …
    fn partition(&self) -> &str;

    /// The account's twelve digits.
    fn account(&self) -> &str;

    /// The region.
    fn region(&self) -> &str;

    /// The names of the region's zones in which subnets can be made.
    ///
    /// # Errors
    /// AWS could not be asked.
    fn zones(&self) -> impl Future<Output = Result<Vec<Text>, CloudError>> + Send;

    /// The id of the newest image that is available; `None` if there is none.
    ///
    /// # Errors
    /// AWS could not be asked, or knows no such type of machine.
    fn image(
        &self,
        query: &ImageQuery,
    ) -> impl Future<Output = Result<Option<Text>, CloudError>> + Send;

    /// What resources cannot be moved from: account and region.
    fn place(&self) -> String {
        format!("{}/{}", self.account(), self.region())
    }

    /// The path of a role that has been read; it begins and ends with a slash.
    fn role_path(&self, _name: &str) -> String {
        "/".to_owned()
    }

    /// The ARN of a role of this account that has been read.
    fn role_arn(&self, name: &str) -> String {
        format!(
            "arn:{}:iam::{}:role{}{name}",
            self.partition(),
            self.account(),
            self.role_path(name)
        )
    }
}
