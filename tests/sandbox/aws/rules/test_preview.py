"""What AWS refuses of the inputs alone is refused at preview, with the service's code; what it accepts is not."""

import json
from typing import Any

import pytest

from sandbox.aws import rules
from sandbox.aws.client import Aws, Clients
from sandbox.aws.client import World as Shared
from sandbox.aws.provider import AwsProvider
from sandbox.aws.rules.rule import Case, Moment
from sandbox.aws.schema import schema
from sandbox.rpc.hooks import Failure, Resource
from sandbox.rpc.wire import UNKNOWN
from tests.sandbox.aws import wrong
from tests.sandbox.aws.samples import World
from tests.sandbox.aws.samples.world import TRUST, document

VPC, SUBNET, ENDPOINT = "aws:ec2/vpc:Vpc", "aws:ec2/subnet:Subnet", "aws:ec2/vpcEndpoint:VpcEndpoint"
CLUSTER, NODES, ADDON = "aws:eks/cluster:Cluster", "aws:eks/nodeGroup:NodeGroup", "aws:eks/addon:Addon"
ENTRY, KEY, LUSTRE = "aws:eks/accessEntry:AccessEntry", "aws:kms/key:Key", "aws:fsx/lustreFileSystem:LustreFileSystem"
ROLE, POLICY, INLINE = "aws:iam/role:Role", "aws:iam/policy:Policy", "aws:iam/rolePolicy:RolePolicy"
LOGS, QUEUE, TOPIC = "aws:cloudwatch/logGroup:LogGroup", "aws:sqs/queue:Queue", "aws:sns/topic:Topic"
BUCKET, GROUP = "aws:s3/bucket:Bucket", "aws:ec2/securityGroup:SecurityGroup"
LIFECYCLE = "aws:s3/bucketLifecycleConfiguration:BucketLifecycleConfiguration"
PLACEMENT = "aws:ec2/placementGroup:PlacementGroup"
_ARN = "arn:aws:iam::123456789012:role/r"
_PUBLIC = ["198.51.100.0/24"]

GOOD: dict[str, dict[str, Any]] = {
    VPC: {"cidrBlock": "10.0.0.0/16"},
    SUBNET: {"vpcId": "vpc-1", "cidrBlock": "10.0.0.0/28", "availabilityZone": "us-west-2a"},
    CLUSTER: {"name": "main", "roleArn": _ARN, "version": "1.35", "vpcConfig": {"subnetIds": ["subnet-1", "subnet-2"],
            "endpointPublicAccess": True, "publicAccessCidrs": _PUBLIC},
        "kubernetesNetworkConfig": {"serviceIpv4Cidr": "172.20.0.0/16"}},
    NODES: {"clusterName": "main", "nodeGroupName": "gpu", "nodeRoleArn": _ARN, "subnetIds": ["subnet-1"],
        "scalingConfig": {"minSize": 0, "desiredSize": 1, "maxSize": 2}, "amiType": "AL2023_x86_64_STANDARD",
        "instanceTypes": ["m7i.2xlarge"], "labels": {"nvidia.com/gpu": "true", "pool": "a_b.c"},
        "taints": [{"key": "nvidia.com/gpu", "value": "", "effect": "NO_SCHEDULE"}]},
    ADDON: {"clusterName": "main", "addonName": "vpc-cni"},
    ENTRY: {"clusterName": "main", "principalArn": _ARN, "kubernetesGroups": ["slipway:vision"]},
    KEY: {"deletionWindowInDays": 7, "policy": document("kms:*", Principal={"AWS": "arn:aws:iam::123456789012:root"})},
    LUSTRE: {"subnetIds": "subnet-12345678", "storageCapacity": 4800, "deploymentType": "PERSISTENT_2",
        "perUnitStorageThroughput": 250},
    LIFECYCLE: {"bucket": "models", "rules": [{
        "id": "a", "status": "Enabled", "filter": {}, "abortIncompleteMultipartUpload": {"daysAfterInitiation": 3}}]},
    ROLE: {"name": "node", "assumeRolePolicy": TRUST},
    POLICY: {"name": "read", "policy": document("s3:GetObject")},
    INLINE: {"name": "read", "role": "node", "policy": document("s3:GetObject")},
    LOGS: {"name": "/aws/eks/main", "retentionInDays": 30},
    QUEUE: {"name": "events", "messageRetentionSeconds": 300},
    TOPIC: {"name": "alerts"},
    BUCKET: {"bucket": "models"},
    PLACEMENT: {"name": "near", "strategy": "cluster"},
    GROUP: {"name": "web", "vpcId": "vpc-1", "description": "web"},
}  # fmt: skip


def _taints(count: int) -> list[dict[str, str]]:
    return [{"key": f"k{index}", "effect": "NO_SCHEDULE"} for index in range(count)]


def _long(size: int) -> str:
    """A policy with a size, without white space."""
    short = document("s3:GetObject", "")
    return document("s3:GetObject", "x" * (size - len(json.dumps(json.loads(short), separators=(",", ":")))))


_TAGGED = {"and": {"prefix": "a/", "tags": {"a": "b"}}}
BAD: list[tuple[str, dict[str, Any], str, str]] = [
    (
        LIFECYCLE, {"rules": [{**GOOD[LIFECYCLE]["rules"][0], "filter": _TAGGED}]}, "rules",
        "InvalidRequest: AbortIncompleteMultipartUpload cannot be specified with Tags",
    ),
    # -- KMS
    (KEY, {"policy": document("kms:Decrypt", Principal={"AWS": "*"})}, "policy", "MalformedPolicyDocumentException"),
    (KEY, {"policy": document("kms:*", Principal={"Service": "logs.amazonaws.com"})}, "policy", "MalformedPolicyDoc"),
    # -- node groups
    (NODES, {"scalingConfig": {"minSize": 5, "desiredSize": 2, "maxSize": 2}}, "scalingConfig", "InvalidParameterExc"),
    (NODES, {"scalingConfig": {"minSize": 2, "desiredSize": 1, "maxSize": 4}}, "scalingConfig", "InvalidParameterExc"),
    (NODES, {"instanceTypes": ["m7i.2xlarge", "q1.huge"]}, "instanceTypes", "InvalidRequestException"),
    (NODES, {"amiType": "AL2023_ARM_64_STANDARD"}, "amiType", "InvalidParameterException: [m7i.2xlarge] is not"),
    (NODES, {"instanceTypes": ["m7g.2xlarge"]}, "amiType", "InvalidParameterException: [m7g.2xlarge] is not a valid"),
    (NODES, {"taints": _taints(51)}, "taints", "InvalidParameterException"),
    (NODES, {"labels": {"pool": "no spaces"}}, "labels", "InvalidParameterException"),
    (NODES, {"labels": {"-pool": "a"}}, "labels", "InvalidParameterException"),
    (NODES, {"labels": {"Upper.com/pool": "a"}}, "labels", "InvalidParameterException"),
    (NODES, {"taints": [{"key": "a b", "effect": "NO_SCHEDULE"}]}, "taints", "InvalidParameterException"),
    (NODES, {"nodeGroupName": "g" * 64}, "nodeGroupName", "InvalidParameterException"),
    # -- clusters
    (CLUSTER, {"version": "1.99"}, "version", "InvalidParameterException: unsupported Kubernetes version 1.99"),
    (CLUSTER, {"roleArn": ""}, "roleArn", "InvalidParameterException"),
    (CLUSTER, {"vpcConfig": {"subnetIds": ["a", "b"], "endpointPublicAccess": False}},
     "vpcConfig.endpointPublicAccess", "InvalidParameter"),
    (
        CLUSTER, {"vpcConfig": {"subnetIds": ["a", "b"], "publicAccessCidrs": ["198.51.100.0/24", "10.1.0.0/16"]}},
        "vpcConfig.publicAccessCidrs", "InvalidParameterException: The following CIDRs are not allowed in",
    ),
    (CLUSTER, {"kubernetesNetworkConfig": {"serviceIpv4Cidr": "8.8.0.0/16"}},
     "kubernetesNetworkConfig.serviceIpv4Cidr", "InvalidParameterException"),
    (CLUSTER, {"kubernetesNetworkConfig": {"serviceIpv4Cidr": "10.0.0.0/28"}},
     "kubernetesNetworkConfig.serviceIpv4Cidr", "InvalidParameterException"),
    (CLUSTER, {"name": "a b"}, "name", "InvalidParameterException"),
    # -- in a cluster
    (ADDON, {"addonName": "vpc-cnii"}, "addonName", "InvalidParameterException: Addon specified is not supported"),
    # -- IAM
    (POLICY, {"policy": _long(6145)}, "policy", "LimitExceeded: Cannot exceed quota for PolicySize: 6144"),
    (INLINE, {"policy": _long(10_241)}, "policy", "LimitExceeded: Maximum policy size of 10240 bytes exceeded"),
    (ROLE, {"assumeRolePolicy": _long(2049)}, "assumeRolePolicy", "LimitExceeded: Cannot exceed quota for ACLSize"),
    (ROLE, {"name": "n" * 65}, "name", "ValidationError"),
    # -- FSx, logs, queues, topics
    (LUSTRE, {"storageCapacity": 1300}, "storageCapacity", "BadRequest"),
    (LUSTRE, {"perUnitStorageThroughput": 333}, "perUnitStorageThroughput", "BadRequest"),
    (LUSTRE, {"deploymentType": "SCRATCH_2"}, "perUnitStorageThroughput", "BadRequest"),
    (LOGS, {"name": "a b"}, "name", "InvalidParameterException"),
    (QUEUE, {"name": "q" * 81}, "name", "InvalidParameterValue"),
    (TOPIC, {"name": "a b"}, "name", "InvalidParameter"),
    # -- S3
    (BUCKET, {"bucket": "Bad_Name"}, "bucket", "InvalidBucketName"),
    (BUCKET, {"bucket": "192.168.5.4"}, "bucket", "InvalidBucketName"),
    (BUCKET, {"bucket": "a..b"}, "bucket", "InvalidBucketName"),
    # -- network
    (PLACEMENT, {"name": "n\u00e4he"}, "name", "InvalidParameterValue"),
    (GROUP, {"name": "sg-web"}, "name", "InvalidParameterValue"),
    (SUBNET, {"cidrBlock": "10.0.0.0/29"}, "cidrBlock", "InvalidSubnet.Range"),
    (SUBNET, {"availabilityZone": "eu-west-1a"}, "availabilityZone", "InvalidParameterValue"),
    (SUBNET, {"availabilityZone": "us-west-2z"}, "availabilityZone", "InvalidParameterValue"),
    (VPC, {"cidrBlock": "10.0.0.0/8"}, "cidrBlock", "InvalidVpc.Range"),
    # -- tags
    (VPC, {"tags": {"aws:team": "a"}}, "tags", "InvalidParameterValue"),
    (VPC, {"tags": {"k" * 129: "a"}}, "tags", "InvalidParameterValue"),
    (BUCKET, {"tags": {"team": "v" * 300}}, "tags", "InvalidTag"),
    (BUCKET, {"tags": {f"k{index}": "v" for index in range(51)}}, "tags", "InvalidTag"),
    (QUEUE, {"tags": {"AWS:team": "a"}}, "tags", "InvalidParameterValue"),
]  # fmt: skip


@pytest.fixture
def provider(clients: Clients) -> AwsProvider:
    return AwsProvider(Shared(clients))


def check(provider: AwsProvider, aws: Aws, type_token: str, inputs: dict[str, Any]) -> list[Failure]:
    resource = Resource(f"urn:pulumi:s::p::{type_token}::thing", type_token, "thing")
    return provider.check(aws, resource, inputs, {}, b"seed")[1]


@pytest.mark.parametrize("type_token", sorted(GOOD))
def test_what_aws_accepts_is_accepted(provider: AwsProvider, aws: Aws, type_token: str) -> None:
    assert check(provider, aws, type_token, GOOD[type_token]) == []


@pytest.mark.parametrize(("type_token", "change", "at", "words"), BAD)
def test_what_aws_refuses_is_refused_at_preview(
    provider: AwsProvider, aws: Aws, type_token: str, change: dict[str, Any], at: str, words: str
) -> None:
    failures = check(provider, aws, type_token, {**GOOD[type_token], **change})
    assert [one.property.split("[")[0] for one in failures] == [at]
    assert failures[0].reason.startswith(words)


def test_the_default_tags_count(provider: AwsProvider, clients: Clients) -> None:
    aws = Aws(clients, "us-west-2", default_tags={f"k{index}": "v" for index in range(50)})
    assert check(provider, aws, VPC, GOOD[VPC]) == []
    failures = check(provider, aws, VPC, {**GOOD[VPC], "tags": {"one": "more"}})
    assert [one.reason.split(":")[0] for one in failures] == ["TagLimitExceeded"]
    route = {"routeTableId": "rtb-1", "destinationCidrBlock": "0.0.0.0/0", "gatewayId": "igw-1"}
    too_many = Aws(clients, "us-west-2", default_tags={f"k{index}": "v" for index in range(51)})
    assert check(provider, too_many, "aws:ec2/route:Route", route) == [], "a route has no tags"


@pytest.mark.parametrize(("type_token", "change", "at", "words"), BAD)
def test_an_unknown_is_not_evaluated(
    provider: AwsProvider, aws: Aws, type_token: str, change: dict[str, Any], at: str, words: str
) -> None:
    unknown = dict.fromkeys(change, UNKNOWN)
    assert check(provider, aws, type_token, {**GOOD[type_token], **unknown}) == []


def test_what_is_known_beside_an_unknown_is_evaluated(provider: AwsProvider, aws: Aws) -> None:
    """At the first preview of a stack no subnet has an id."""
    closed = {"subnetIds": [UNKNOWN, UNKNOWN], "endpointPublicAccess": False}
    failures = check(provider, aws, CLUSTER, {**GOOD[CLUSTER], "vpcConfig": closed})
    assert [one.property for one in failures] == ["vpcConfig.endpointPublicAccess"]


def test_an_update_to_a_minimum_above_the_maximum_is_refused_like_a_creation(provider: AwsProvider, aws: Aws) -> None:
    resource, sizes = Resource("urn", NODES, "gpu"), {"minSize": 5, "desiredSize": 2, "maxSize": 2}
    _, failures = provider.check(aws, resource, {**GOOD[NODES], "scalingConfig": sizes}, GOOD[NODES], b"seed")
    assert failures[0].reason.startswith("InvalidParameterException: Minimum capacity 5")


def test_every_rule_of_the_inputs_finds_one_of_the_cases(aws: Aws, world: World) -> None:
    cases = [Case(token, aws, {**GOOD[token], **change}) for token, change, _, _ in BAD]
    cases += [Case(row.type, aws, row.inputs(row.right(world), world)) for row in wrong.cases() if row.at]
    at_preview = [one for one in rules.ALL if Moment.PREVIEW in one.moments]
    finding = {one.name for one in at_preview for case in cases if case.type in one.types and one.found(case)}
    assert finding == {one.name for one in at_preview}


def test_rules_are_of_types_in_the_tables_with_a_source() -> None:
    for one in rules.ALL:
        assert None not in map(schema, one.types)
        assert len(one.source) > 20
