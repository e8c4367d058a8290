"""What the author of a pull request opens in networks, and grants to the data."""

from typing import Any, Final

from tests.adversary.changes import FOREIGN, grants
from tests.adversary.probe import Change

INGRESS: Final = "aws:vpc/securityGroupIngressRule:SecurityGroupIngressRule"


def opens(network: str, key: str = "cidrIpv4", **more: Any) -> Change:
    rule = {"securityGroupId": "sg-1", "ipProtocol": "tcp", "fromPort": 443, "toPort": 443, key: network, **more}
    return Change(f"opens a group to {network}", type=INGRESS, props=rule)


def edits(act: str, name: str, *path: Any, to: Any) -> Change:
    return Change(act, name=name, edits={path: to})


def adds(act: str, kind: str, /, **props: Any) -> Change:
    return Change(act, type=kind, props=props)


NETWORK: Final = (
    opens("::/1", "cidrIpv6"),
    opens("8000::/1", "cidrIpv6"),
    opens("2000::/3", "cidrIpv6"),
    opens("0:0::/0", "cidrIpv6"),
    opens("64.0.0.0/2"),
    opens("3.0.0.0/8"),
    opens("9.9.9.9/0"),
    opens("999999999999/sg-0123456789abcdef0", "referencedSecurityGroupId"),
    edits("lets an endpoint reach buckets of others", "network-endpoint-ecr-api", "policy",
          to=grants("*", Principal="*")),
)  # fmt: skip

DATA: Final = (
    edits("gives a bucket to every network", "storage-models-policy", "policy", to=grants(
        "s3:GetObject", Principal={"AWS": "*"}, Condition={"StringLike": {"aws:SourceVpce": "vpce-*"}})),
    edits("gives a bucket to everybody from half of the internet", "storage-models-policy", "policy", to=grants(
        "s3:GetObject", Principal="*", Condition={"IpAddress": {"aws:SourceIp": "0.0.0.0/1"}})),
    edits("gives a bucket to every load balancer", "storage-models-policy", "policy", to=grants(
        "s3:*", Principal={"Service": ["cloudfront.amazonaws.com"]})),
    adds("makes an access point of a bucket", "aws:s3/accessPoint:AccessPoint", bucket="b",
         policy=grants("s3:*", Principal="*")),
    edits("gives a key to any caller of an account", "storage-key", "policy", to=grants(
        "kms:*", Principal={"AWS": "*"}, Condition={"StringLike": {"kms:CallerAccount": "*"}})),
    edits("gives a key to all through a service", "storage-key", "policy", to=grants("kms:Decrypt",
            Principal={"AWS": "*"}, Condition={"StringEquals": {"kms:ViaService": "s3.us-east-1.amazonaws.com"}})),
    edits("lets another account share a key", "storage-key", "policy", to=grants(
        "kms:CreateGrant", Principal={"AWS": FOREIGN}, Condition={"Bool": {"kms:GrantIsForAWSResource": "true"}})),
    edits("lets files be read without TLS", "storage-efs-policy", "policy", to=grants("elasticfilesystem:ClientMount",
            Principal={"AWS": "*"}, Condition={"Bool": {"aws:SecureTransport": "false"}})),
    adds("gives images to everybody", "aws:ecr/repositoryPolicy:RepositoryPolicy", repository="r",
         policy=grants("ecr:*", Principal="*")),
    edits("lets everybody write alarms", "notices-topic-policy", "policy", to=grants("sns:Publish", Principal="*")),
    edits("lets everybody write into Karpenter's queue", "karpenter-queue-policy", "policy", to=grants(
        "sqs:*", Principal={"AWS": "*"}, Condition={"ArnLike": {"aws:SourceArn": "arn:aws:*:*:*:*"}})),
)  # fmt: skip

CLOUD: Final = (*NETWORK, *DATA)
