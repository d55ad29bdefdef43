//! Images: the newest of those that a machine can start from.

use aws_sdk_ec2::types::{Filter, Image, InstanceType};
use cloud_port::aws::image::ImageQuery;
use ownership::{CloudError, Text};

use crate::client_set::ClientSet;

/// The actions that tell which image a machine is to start from.
pub(crate) const OPERATIONS: [&str; 2] = ["ec2:DescribeImages", "ec2:DescribeInstanceTypes"];

/// The newest image that a query means.
pub(crate) async fn newest(
    set: &ClientSet,
    query: &ImageQuery,
) -> Result<Option<Text>, CloudError> {
    let architecture = architecture(set, &query.machine).await?;
    // The name is a pattern, whose wildcards are EC2's own.
    let filter = |name: &str, value: &str| Filter::builder().name(name).values(value).build();
    let found = set
        .ec2
        .describe_images()
        .owners(&*query.owner)
        .filters(filter("name", &query.name))
        .filters(filter("state", "available"))
        .filters(filter("architecture", &architecture))
        .into_paginator()
        .items()
        .send()
        .collect::<Result<Vec<_>, _>>()
        .await
        .map_err(set.ec2_failure("DescribeImages"))?;
    let newest = found.iter().max_by_key(|image| date(image));
    Ok(newest.and_then(|image| image.image_id()).map(Text::from))
}

/// When it was made, in words that sort by time; of two of one moment the same one every time.
fn date(image: &Image) -> (&str, &str) {
    (
        image.creation_date().unwrap_or_default(),
        image.image_id().unwrap_or_default(),
    )
}

/// What the processors of a type of machine are called.
async fn architecture(set: &ClientSet, machine: &str) -> Result<String, CloudError> {
    let asked = set.ec2.describe_instance_types();
    let asked = asked.instance_types(InstanceType::from(machine));
    let found = Box::pin(asked.send()).await;
    let found = found.map_err(set.ec2_failure("DescribeInstanceTypes"))?;
    let processor = found.instance_types().first();
    let processor = processor.and_then(|found| found.processor_info());
    let known: Vec<&str> = processor
        .map(|processor| processor.supported_architectures())
        .unwrap_or_default()
        .iter()
        .map(|known| known.as_str())
        .collect();
    // Some can do with 32 bits, too.
    let best = known.iter().find(|name| !name.starts_with("i386"));
    Ok(best.map_or("x86_64", |name| name).to_owned())
}
