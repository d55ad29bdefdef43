//! A vendor's SDK, as it is, through the proxy: Python's, which moto brings along. It keeps its
//! connections open, and reads answers and refusals in its own way.

use std::process::Command;

use moto_server::proxy::{Fault, Proxy, Settings, When};

use crate::lab::{self, REGION};

const SCRIPT: &str = r#"
import sys, boto3
from botocore.config import Config
from botocore.exceptions import ClientError

url, region, account = sys.argv[1:]
config = Config(max_pool_connections=1, retries={"max_attempts": 2, "mode": "standard"})
def client(service, **keys):
    return boto3.client(service, endpoint_url=url, region_name=region, config=config, **keys)
sts = client("sts", aws_access_key_id="AKIAIOSFODNN7EXAMPLE", aws_secret_access_key="any")
keys = sts.assume_role(RoleArn=f"arn:aws:iam::{account}:role/sdk", RoleSessionName="sdk")["Credentials"]
ec2 = client(
    "ec2",
    aws_access_key_id=keys["AccessKeyId"],
    aws_secret_access_key=keys["SecretAccessKey"],
    aws_session_token=keys["SessionToken"],
)
vpc = ec2.create_vpc(CidrBlock="10.0.0.0/16")["Vpc"]["VpcId"]
tables = [ec2.create_route_table(VpcId=vpc, ClientToken="one")["RouteTable"]["RouteTableId"] for _ in range(2)]
assert tables[0] == tables[1], tables
ec2.delete_route_table(RouteTableId=tables[0])
group = ec2.create_security_group(VpcId=vpc, GroupName="one", Description="of a test")["GroupId"]
try:
    ec2.delete_vpc(VpcId=vpc)
    raise AssertionError("deleted")
except ClientError as error:
    assert error.response["Error"]["Code"] == "DependencyViolation", error
# The connection is cut the first time, and the SDK asks again.
ec2.delete_security_group(GroupId=group)
"#;

#[tokio::test]
async fn a_vendors_sdk_is_content() {
    let Some(server) = lab::moto().await else {
        return;
    };
    let proxy = Proxy::start(server.url(), Settings::default()).await;
    let proxy = proxy.expect("it starts");
    let delete = When::operation("DeleteSecurityGroup");
    let cut = proxy.faults().next(delete, Fault::Cut);
    let moto = moto_server::install(|_| ()).expect("moto");
    let mut python = Command::new(moto.program().with_file_name("python"));
    let account = server.new_account();
    python.args(["-c", SCRIPT, proxy.url(), REGION, &account]);
    let output = tokio::task::spawn_blocking(move || python.output()).await;
    let output = output.expect("no panic").expect("it runs");
    let words = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{words}");
    assert_eq!(cut.times(), 1);
    assert_eq!(proxy.calls().of("DeleteSecurityGroup"), 2);
    assert_eq!(proxy.trouble(), [] as [String; 0]);
}
