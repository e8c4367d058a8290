"""An account in which samples are created."""

import functools
import ipaddress
import itertools
import json
import re
from typing import Any

from sandbox.aws import client
from sandbox.aws.client import Aws, AwsError
from sandbox.aws.provider import AwsProvider
from sandbox.aws.schema import Schema, schema
from sandbox.aws.terraform.names import Type
from sandbox.aws.terraform.processes import Processes
from sandbox.rpc.diff import Diff
from sandbox.rpc.errors import ProviderError
from sandbox.rpc.hooks import ReadResult, Resource

Made = tuple[str, dict[str, Any]]


def known(type_token: str) -> Schema:
    """The schema of a type that pulumi-aws has."""
    found = schema(type_token)
    assert found is not None, type_token
    return found


_CODE = re.compile(r"(?:api error |RequestID: [^,]+, (?:HostID: [^,]+, )?|^)([A-Za-z]+(?:\.[A-Za-z]+)*): ")


def code_of(error: ProviderError) -> str:
    """The code with which a service refused a change of the provider."""
    if isinstance(error, AwsError):
        return error.code
    found = _CODE.findall(str(error))
    return str(found[-1]) if found else str(error)


PROCESSES = Processes()
"""Of all tests of a process; the session's end stops them."""


class Objects:
    """One type in an account, as the provider makes and changes its objects."""

    def __init__(self, aws: Aws, type_token: str) -> None:
        self.provider = AwsProvider(client.World(aws.clients, processes=PROCESSES))
        self.aws, self.schema = aws, known(type_token)
        self.resource = Resource(f"urn:pulumi:s::p::{type_token}::thing", type_token, "thing")

    @property
    def type(self) -> Type:
        found = PROCESSES.types.resource(self.resource.type)
        assert found is not None, self.resource.type
        return found

    def checked(self, inputs: dict[str, Any]) -> dict[str, Any]:
        found, failures = self.provider.check(self.aws, self.resource, inputs, {}, b"seed")
        assert failures == []
        return found

    def diff(self, id: str, olds: dict[str, Any], outputs: dict[str, Any], news: dict[str, Any]) -> Diff:
        return self.provider.diff(self.aws, self.resource, id, olds, outputs, news)

    def create(self, inputs: dict[str, Any]) -> Made:
        return self.provider.create(self.aws, self.resource, inputs)

    def read(self, id: str, outputs: dict[str, Any], inputs: dict[str, Any]) -> ReadResult | None:
        return self.provider.read(self.aws, self.resource, id, outputs, inputs)

    def update(self, id: str, outputs: dict[str, Any], news: dict[str, Any], olds: dict[str, Any]) -> dict[str, Any]:
        return self.provider.update(self.aws, self.resource, id, outputs, news, olds)

    def delete(self, id: str, outputs: dict[str, Any]) -> None:
        self.provider.delete(self.aws, self.resource, id, outputs, {})


class World:
    """An account in the test's moto, with helpers that create a new object for a sample at each call."""

    _count = itertools.count(1)

    def __init__(self, aws: Aws) -> None:
        self.aws = aws
        self._ranges = ipaddress.IPv4Network("10.1.0.0/16").subnets(new_prefix=26)

    def unique(self, name: str) -> str:
        return f"{name}-{next(self._count)}"

    def objects(self, type_token: str) -> Objects:
        return Objects(self.aws, type_token)

    def make(self, type_token: str, **inputs: Any) -> Made:
        return self.objects(type_token).create(inputs)

    def vpc(self) -> str:
        return self.make("aws:ec2/vpc:Vpc", cidrBlock="10.1.0.0/16")[0]

    @functools.cached_property
    def home(self) -> str:
        """The VPC of what has to be in one: subnets, groups, clusters."""
        vpc = self.vpc()
        self.make("aws:ec2/internetGateway:InternetGateway", vpcId=vpc)
        return vpc

    def subnets(self, count: int = 2, vpc: str = "") -> list[str]:
        zones = [f"{self.aws.region}{letter}" for letter in "abc"]
        ranges = itertools.islice(self._ranges, count)
        return [
            self.make("aws:ec2/subnet:Subnet", vpcId=vpc or self.home, cidrBlock=str(one), availabilityZone=zone)[0]
            for one, zone in zip(ranges, zones, strict=False)
        ]

    def subnet(self) -> str:
        return self.subnets(1)[0]

    def repository(self) -> str:
        return self.make("aws:ecr/repository:Repository", name=self.unique("serve"))[0]

    def locked(self) -> str:
        return self.bucket(objectLockEnabled=True)

    def address(self) -> str:
        return self.make("aws:ec2/eip:Eip", domain="vpc")[0]

    def flow_logs(self) -> dict[str, Any]:
        return self.make("aws:cloudwatch/logGroup:LogGroup", name=self.unique("/vpc/flow"))[1]

    def group(self) -> str:
        return self.make("aws:ec2/securityGroup:SecurityGroup", name=self.unique("group"), vpcId=self.home)[0]

    def table(self) -> str:
        return self.make("aws:ec2/routeTable:RouteTable", vpcId=self.home)[0]

    def gateway_of(self, table: str) -> str:
        found = self.aws.call("ec2", "describe_route_tables", RouteTableIds=[table])["RouteTables"][0]
        wanted = [{"Name": "attachment.vpc-id", "Values": [found["VpcId"]]}]
        gateways = self.aws.call("ec2", "describe_internet_gateways", Filters=wanted)["InternetGateways"]
        if gateways:
            return str(gateways[0]["InternetGatewayId"])
        return self.make("aws:ec2/internetGateway:InternetGateway", vpcId=found["VpcId"])[0]

    def nat(self) -> str:
        return self.make("aws:ec2/natGateway:NatGateway", allocationId=self.address(), subnetId=self.subnet())[0]

    def role(self) -> dict[str, Any]:
        return self.make("aws:iam/role:Role", name=self.unique("role"), assumeRolePolicy=TRUST)[1]

    def cluster(self) -> str:
        inputs = {
            "roleArn": self.role()["arn"], "vpcConfig": {"subnetIds": self.subnets()},
            "accessConfig": {"authenticationMode": "API"},
        }  # fmt: skip
        return self.make("aws:eks/cluster:Cluster", name=self.unique("cluster"), **inputs)[0]

    def scaling_group(self) -> str:
        """The Auto Scaling group of a node group."""
        inputs = {
            "nodeRoleArn": self.role()["arn"], "subnetIds": self.subnets(),
            "scalingConfig": {"minSize": 1, "desiredSize": 1, "maxSize": 2},
        }  # fmt: skip
        made = self.make(
            "aws:eks/nodeGroup:NodeGroup", clusterName=self.cluster(), nodeGroupName=self.unique("group"), **inputs
        )
        return str(made[1]["resources"][0]["autoscalingGroups"][0]["name"])

    def template(self) -> Made:
        inputs = {"name": self.unique("nodes"), "instanceType": "p5.48xlarge"}
        return self.make("aws:ec2/launchTemplate:LaunchTemplate", **inputs)

    def imaged(self) -> str:
        name = self.unique("imaged")
        return str(self.make("aws:ec2/launchTemplate:LaunchTemplate", name=name, imageId="ami-12345678")[1]["name"])

    def rule(self) -> str:
        pattern = json.dumps({"source": ["aws.ec2"]})
        return self.make("aws:cloudwatch/eventRule:EventRule", name=self.unique("rule"), eventPattern=pattern)[0]

    def secret(self) -> str:
        return self.make("aws:secretsmanager/secret:Secret", name=self.unique("secret"))[0]

    def topic(self) -> str:
        return self.make("aws:sns/topic:Topic", name=self.unique("topic"))[0]

    def bucket(self, **inputs: Any) -> str:
        return self.make("aws:s3/bucket:Bucket", bucket=self.unique("bucket"), **inputs)[0]

    def queue(self) -> dict[str, Any]:
        return self.make("aws:sqs/queue:Queue", name=self.unique("queue"))[1]

    def key(self) -> dict[str, Any]:
        return self.make("aws:kms/key:Key", description="key")[1]

    def file_system(self) -> str:
        return self.make("aws:efs/fileSystem:FileSystem", creationToken=self.unique("token"))[0]


def document(action: str, resource: str = "*", **more: Any) -> str:
    return json.dumps(
        {"Version": "2012-10-17", "Statement": [{"Effect": "Allow", "Action": action, "Resource": resource, **more}]}
    )


USERS = [f"{one}.amazonaws.com" for one in ("ec2", "eks", "pods.eks", "monitoring.rds", "events")]
"""Services that use the roles."""
TRUST = json.dumps(
    {
        "Version": "2012-10-17",
        "Statement": [{"Effect": "Allow", "Action": "sts:AssumeRole", "Principal": {"Service": USERS}}],
    }
)
OTHER_TRUST = TRUST.replace("ec2.amazonaws", "lambda.amazonaws")
