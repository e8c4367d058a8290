"""The aws provider under a real engine."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pulumi
import pulumi_aws as aws_sdk
import pytest
from pulumi import automation as auto

from sandbox.aws.client import Aws, AwsError, Clients, World
from sandbox.aws.provider import AwsProvider
from sandbox.rpc.provider import serve
from tests.sandbox.aws.fakes import FakeClusters, FakeNodes, attached
from tests.sandbox.aws.samples.world import TRUST
from tests.sandbox.rpc.engine import Engine, changes, resources

# Importing the SDK's service modules warns about deprecated types in them.
pytestmark = [pytest.mark.sandbox, pytest.mark.filterwarnings("ignore::DeprecationWarning")]

CANARY = "canary-91c2"


@dataclass(frozen=True)
class Sandbox:
    engine: Engine
    clusters: FakeClusters
    nodes: FakeNodes


@pytest.fixture
def sandbox(clients: Clients, tmp_path: Path) -> Iterator[Sandbox]:
    clusters, nodes = FakeClusters(), FakeNodes()
    served = serve(AwsProvider(World(clients, None, clusters)))
    try:
        with attached(clients, clusters, nodes):
            yield Sandbox(Engine(tmp_path, {"aws": served.port}), clusters, nodes)
    finally:
        served.stop()


def provider(account: str, **more: Any) -> pulumi.ResourceOptions:
    args = {"region": "us-west-2", "allowed_account_ids": [account], **more}
    return pulumi.ResourceOptions(provider=aws_sdk.Provider("aws", **args))


def workload(
    opts: pulumi.ResourceOptions, role: aws_sdk.iam.Role, subnets: list[pulumi.Output[str]], instance: str
) -> None:
    """A cluster with one node group."""
    cluster = aws_sdk.eks.Cluster(
        "cluster", opts, name="main", role_arn=role.arn, version="1.34", vpc_config={"subnet_ids": subnets},
        access_config={"authentication_mode": "API"},
    )  # fmt: skip
    template = aws_sdk.ec2.LaunchTemplate(
        "template", opts, instance_type=instance,
        network_interfaces=[{"device_index": 0, "interface_type": "efa"}],
    )  # fmt: skip
    group = aws_sdk.eks.NodeGroup(
        "nodes", opts, cluster_name=cluster.name, node_group_name="gpu", node_role_arn=role.arn,
        subnet_ids=subnets, scaling_config={"min_size": 0, "max_size": 4, "desired_size": 2},
        launch_template={"id": template.id, "version": template.latest_version.apply(str)},
    )  # fmt: skip
    aws_sdk.autoscaling.Tag(
        "tag", opts, autoscaling_group_name=group.resources[0].autoscaling_groups[0].name,
        tag={"key": "k8s.io/pool", "value": "gpu", "propagate_at_launch": True},
    )  # fmt: skip
    aws_sdk.eks.AccessEntry("entry", opts, cluster_name=cluster.name, principal_arn=role.arn)
    pulumi.export("issuer", cluster.identities[0].oidcs[0].issuer)
    pulumi.export("endpoint", cluster.endpoint)
    pulumi.export("group", cluster.vpc_config.cluster_security_group_id)


def platform(account: str, instance: str = "p5.48xlarge", team: str = "ml") -> Callable[[], None]:
    """A small platform: network, cluster, one node group, a queue and logs."""

    def program() -> None:
        opts = provider(account, default_tags={"tags": {"team": team}})
        vpc = aws_sdk.ec2.Vpc(
            "vpc", opts, cidr_block="10.0.0.0/16", tags={"Name": "vpc", "note": pulumi.Output.secret(CANARY)}
        )
        subnets = [
            aws_sdk.ec2.Subnet(
                f"subnet-{zone}", opts, vpc_id=vpc.id, cidr_block=f"10.0.{index}.0/24",
                availability_zone=f"us-west-2{zone}",
            ).id
            for index, zone in enumerate("ab")
        ]  # fmt: skip
        https = aws_sdk.ec2.SecurityGroupIngressArgs(
            protocol="tcp", from_port=443, to_port=443, cidr_blocks=["10.0.0.0/8"]
        )
        aws_sdk.ec2.SecurityGroup("group", opts, vpc_id=vpc.id, ingress=[https])
        role = aws_sdk.iam.Role("role", opts, assume_role_policy=TRUST)
        aws_sdk.sqs.Queue("queue", opts, message_retention_seconds=300)
        aws_sdk.cloudwatch.LogGroup("logs", opts, retention_in_days=30)
        workload(opts, role, subnets, instance)

    return program


def outputs_of(stack: auto.Stack) -> dict[str, dict[str, Any]]:
    return {name: {"id": item.get("id"), **item.get("outputs", {})} for name, item in resources(stack).items()}


def test_a_platform_is_created_drift_is_fixed_and_it_is_updated_and_destroyed(
    sandbox: Sandbox, clients: Clients, account: str
) -> None:
    stack, aws = sandbox.engine.stack(platform(account)), Aws(clients, "us-west-2", account)
    stack.up()
    assert CANARY not in sandbox.engine.state_text()
    state = outputs_of(stack)
    check_live(sandbox, account, state)
    assert changes(stack.refresh()) == {}
    spoil(aws, state)
    assert changes(stack.refresh()) == {"updated": 3, "deleted": 1}
    assert changes(stack.up()) == {"updated": 3, "created": 1}
    group = aws.call("eks", "describe_nodegroup", clusterName="main", nodegroupName="gpu")["nodegroup"]
    assert group["scalingConfig"]["desiredSize"] == 2

    stack = sandbox.engine.stack(platform(account, "p5e.48xlarge", team="research"))
    assert set(changes(stack.up())) == {"updated"}, "default tags and launch templates change in place"
    _, template = sandbox.nodes.groups["main", "gpu"]
    assert template is not None
    assert template["InstanceType"] == "p5e.48xlarge"
    tags = aws.call("ec2", "describe_vpcs", VpcIds=[state["vpc"]["id"]])["Vpcs"][0]["Tags"]
    assert {"Key": "team", "Value": "research"} in tags

    stack.destroy()
    assert [vpc["IsDefault"] for vpc in aws.call("ec2", "describe_vpcs")["Vpcs"]] == [True]
    assert (sandbox.clusters.running, sandbox.nodes.groups, sandbox.nodes.tags) == ({}, {}, {})


def check_live(sandbox: Sandbox, account: str, state: dict[str, dict[str, Any]]) -> None:
    assert account in state["role"]["arn"]
    assert state["cluster"]["endpoint"] == "https://127.0.0.1:40000"
    assert state["entry"]["accessEntryArn"].startswith(f"arn:aws:eks:us-west-2:{account}:access-entry/main/")
    inputs, template = sandbox.nodes.groups["main", "gpu"]
    assert inputs["scalingConfig"]["desiredSize"] == 2
    assert template is not None
    assert template["InstanceType"] == "p5.48xlarge"
    assert list(sandbox.nodes.tags.values()) == ["gpu"]


def spoil(aws: Aws, state: dict[str, dict[str, Any]]) -> None:
    """Changes three resources by hand, and deletes one."""
    renamed = [{"Key": "Name", "Value": "changed"}]
    aws.call("ec2", "create_tags", Resources=[state["vpc"]["id"]], Tags=renamed)
    aws.call("logs", "put_retention_policy", logGroupName=state["logs"]["id"], retentionInDays=1)
    aws.call("sqs", "delete_queue", QueueUrl=state["queue"]["id"])
    sizes = {"minSize": 0, "maxSize": 4, "desiredSize": 3}
    aws.call("eks", "update_nodegroup_config", clusterName="main", nodegroupName="gpu", scalingConfig=sizes)


def test_provider_instances_of_two_regions_are_separate(sandbox: Sandbox, clients: Clients, account: str) -> None:
    def program() -> None:
        for region in ("us-west-2", "eu-central-1"):
            instance = aws_sdk.Provider(region, region=region, allowed_account_ids=[account])
            opts = pulumi.ResourceOptions(provider=instance)
            zones = aws_sdk.get_availability_zones(opts=pulumi.InvokeOptions(provider=instance))
            aws_sdk.sqs.Queue(f"queue-{region}", opts, name=f"queue-{zones.names[0]}")

    stack = sandbox.engine.stack(program)
    stack.up()
    for region in ("us-west-2", "eu-central-1"):
        urls = Aws(clients, region, account).call("sqs", "list_queues")["QueueUrls"]
        assert [url.rsplit("/", 1)[-1] for url in urls] == [f"queue-{region}a"]


def test_an_incomplete_object_is_kept_and_completed(
    sandbox: Sandbox, clients: Clients, account: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def program() -> None:
        aws_sdk.ec2.Vpc("vpc", provider(account), cidr_block="10.0.0.0/16", enable_dns_hostnames=True)

    honest = Aws.call

    def failing(self: Aws, service: str, operation: str, **parameters: Any) -> dict[str, Any]:
        if operation == "modify_vpc_attribute":
            code = "RequestLimitExceeded"
            raise AwsError(operation, code, "slow down")
        return honest(self, service, operation, **parameters)

    monkeypatch.setattr(Aws, "call", failing)
    stack = sandbox.engine.stack(program)
    with pytest.raises(auto.CommandError, match="slow down"):
        stack.up()
    vpc = resources(stack)["vpc"]["id"]
    monkeypatch.setattr(Aws, "call", honest)
    assert changes(stack.up()) == {"updated": 1}
    aws = Aws(clients, "us-west-2", account)
    answer = aws.call("ec2", "describe_vpc_attribute", VpcId=vpc, Attribute="enableDnsHostnames")
    assert answer["EnableDnsHostnames"]["Value"]
    assert len(aws.call("ec2", "describe_vpcs")["Vpcs"]) == 2, "the default one and ours, no orphan"


def test_an_imported_object_is_unchanged(sandbox: Sandbox, clients: Clients, account: str) -> None:
    aws = Aws(clients, "us-west-2", account)
    vpc = aws.call("ec2", "create_vpc", CidrBlock="10.0.0.0/16")["Vpc"]["VpcId"]
    subnet = aws.call("ec2", "create_subnet", VpcId=vpc, CidrBlock="10.0.1.0/24")["Subnet"]["SubnetId"]

    def program() -> None:
        opts = pulumi.ResourceOptions.merge(provider(account), pulumi.ResourceOptions(import_=subnet))
        aws_sdk.ec2.Subnet("subnet", opts, vpc_id=vpc, cidr_block="10.0.1.0/24")

    stack = sandbox.engine.stack(program)
    assert changes(stack.up()) == {"imported": 1, "created": 2}
    assert changes(stack.up()) == {}


def test_what_aws_would_refuse_is_found_at_preview(sandbox: Sandbox, account: str) -> None:
    def program() -> None:
        opts = provider(account)
        vpc = aws_sdk.ec2.Vpc("vpc", opts, cidr_block="10.0.0.0/16")
        aws_sdk.eks.NodeGroup(
            "nodes", opts, cluster_name=vpc.id, node_role_arn="arn:aws:iam::1:role/r", subnet_ids=[vpc.id],
            scaling_config={"min_size": -1, "max_size": 4, "desired_size": 2}, ami_type="AL2023_x86_64_NVIDEA",
        )  # fmt: skip

    with pytest.raises(auto.CommandError) as raised:
        sandbox.engine.stack(program).preview()
    assert "did you mean 'AL2023_x86_64_NVIDIA'?" in str(raised.value)
    assert "scalingConfig" in str(raised.value)


def test_another_account_than_the_sandboxs_is_refused(clients: Clients, tmp_path: Path, account: str) -> None:
    def program() -> None:
        aws_sdk.sqs.Queue("queue", provider(account))

    served = serve(AwsProvider(World(clients, account="999999999999")))
    try:
        stack = Engine(tmp_path, {"aws": served.port}).stack(program)
        with pytest.raises(auto.CommandError, match="AWS account ID not allowed: 999999999999"):
            stack.preview()
    finally:
        served.stop()
