"""The aws provider under a real engine."""

# Annotations that name the SDK's types would import its modules at collection, before the filter below is in force.
from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final, cast

import pulumi
import pulumi_aws as aws_sdk
import pytest
from moto.ec2.responses.vpcs import VPCs
from pulumi import automation as auto

from components.base.outputs import ClusterOutputs, NetworkOutputs
from components.storage.database import Database, DatabaseArgs
from components.storage.key import key_policy, make_key
from sandbox.aws.client import Aws, Clients, World
from sandbox.aws.moto.judged import Refused
from sandbox.aws.provider import AwsProvider
from sandbox.rpc.provider import serve
from spec.catalog import regions
from spec.settings import storage as settings
from tests.sandbox.aws.samples.world import OTHER_TRUST, PROCESSES, TRUST
from tests.sandbox.rpc.engine import Engine, changes, resources
from tests.support.cases import beside

# Importing the SDK's service modules warns about deprecated types in them.
pytestmark = [pytest.mark.sandbox, pytest.mark.filterwarnings("ignore::DeprecationWarning")]


@pytest.fixture
def engine(clients: Clients, tmp_path: Path) -> Iterator[Engine]:
    served = serve(AwsProvider(World(clients, processes=PROCESSES)))
    try:
        yield Engine(tmp_path, {"aws": served.port})
    finally:
        served.stop()


def provider(account: str) -> pulumi.ResourceOptions:
    own = aws_sdk.Provider("aws", region="us-west-2", allowed_account_ids=[account])
    return pulumi.ResourceOptions(provider=own)


def test_an_incomplete_object_is_kept_and_completed(
    engine: Engine, clients: Clients, account: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def program() -> None:
        aws_sdk.ec2.Vpc("vpc", provider(account), cidr_block="10.0.0.0/16", enable_dns_hostnames=True)

    def failing(_: VPCs) -> None:
        msg = "OperationNotPermitted"
        raise Refused(msg, "slow down")

    monkeypatch.setattr(VPCs, "modify_vpc_attribute", failing)
    stack = engine.stack(program)
    with pytest.raises(auto.CommandError, match="slow down"):
        stack.up()
    vpc = resources(stack)["vpc"]["id"]
    monkeypatch.undo()
    assert changes(stack.up()) == {"updated": 1}
    aws = Aws(clients, "us-west-2", account)
    answer = aws.call("ec2", "describe_vpc_attribute", VpcId=vpc, Attribute="enableDnsHostnames")
    assert answer["EnableDnsHostnames"]["Value"]
    assert len(aws.call("ec2", "describe_vpcs")["Vpcs"]) == 2, "the default one and ours, no orphan"


def test_an_imported_object_is_unchanged(engine: Engine, clients: Clients, account: str) -> None:
    aws = Aws(clients, "us-west-2", account)
    vpc = aws.call("ec2", "create_vpc", CidrBlock="10.0.0.0/16")["Vpc"]["VpcId"]
    subnet = aws.call("ec2", "create_subnet", VpcId=vpc, CidrBlock="10.0.1.0/24")["Subnet"]["SubnetId"]

    def program() -> None:
        opts = pulumi.ResourceOptions.merge(provider(account), pulumi.ResourceOptions(import_=subnet))
        aws_sdk.ec2.Subnet("subnet", opts, vpc_id=vpc, cidr_block="10.0.1.0/24")

    stack = engine.stack(program)
    assert changes(stack.up()) == {"imported": 1, "created": 2}
    assert changes(stack.up()) == {}


# Changes in place of a platform that is up, under a real engine: each is previewed, then made.


CASES: Final = beside(__file__)
CHANGES: list[dict[str, tuple[Any, Any]]] = CASES["changes"]
"""Batches of changes: `resource.argument` with the value before and after."""
CHANGES[1]["role.assume_role_policy"] = (TRUST, OTHER_TRUST)


def program(account: str, batches: int) -> None:
    """A cluster with what refers to what EKS makes for it, and one resource of each kind that the stacks have."""
    now = {path: pair[index < batches] for index, batch in enumerate(CHANGES) for path, pair in batch.items()}
    provider = aws_sdk.Provider("aws", region="us-west-2", allowed_account_ids=[account])
    opts = pulumi.ResourceOptions(provider=provider)

    def make(kind: Any, name: str, /, **fixed: Any) -> Any:
        given = {path.partition(".")[2]: value for path, value in now.items() if path.startswith(f"{name}.")}
        nested = {key: {**value, **fixed[key]} for key, value in given.items() if key in fixed}
        return kind(name, opts, **{**fixed, **given, **nested})

    vpc = make(aws_sdk.ec2.Vpc, "vpc", cidr_block="10.0.0.0/16")
    subnets = [
        aws_sdk.ec2.Subnet(
            zone, opts, vpc_id=vpc.id, cidr_block=f"10.0.{index}.0/24", availability_zone=f"us-west-2{zone}"
        ).id
        for index, zone in enumerate("ab")
    ]
    role = make(aws_sdk.iam.Role, "role")
    cluster = make(aws_sdk.eks.Cluster, "cluster", role_arn=role.arn, vpc_config={"subnet_ids": subnets})
    make(
        aws_sdk.eks.NodeGroup, "nodes", cluster_name=cluster.name, node_role_arn=role.arn, subnet_ids=subnets,
        version="1.34",
    )  # fmt: skip
    make(aws_sdk.eks.AccessEntry, "entry", cluster_name=cluster.name, principal_arn=role.arn)
    own = cluster.vpc_config.cluster_security_group_id
    make(aws_sdk.vpc.SecurityGroupIngressRule, "https", security_group_id=own, ip_protocol="-1")
    group = aws_sdk.ec2.SecurityGroup("storage", opts, vpc_id=cluster.vpc_config.vpc_id)
    aws_sdk.vpc.SecurityGroupIngressRule(
        "from-nodes", opts, security_group_id=group.id, referenced_security_group_id=own, ip_protocol="-1"
    )
    files = make(aws_sdk.efs.FileSystem, "files")
    aws_sdk.efs.MountTarget("target", opts, file_system_id=files.id, subnet_id=subnets[0], security_groups=[own])
    make(
        aws_sdk.fsx.LustreFileSystem, "lustre", subnet_ids=subnets[0], storage_capacity=1200,
        deployment_type="PERSISTENT_2", security_group_ids=[group.id],
    )  # fmt: skip
    key = make(aws_sdk.kms.Key, "key")
    aws_sdk.kms.Alias("alias", opts, name="alias/key", target_key_id=key.key_id)
    bucket = aws_sdk.s3.Bucket("bucket", opts)
    make(aws_sdk.s3.BucketVersioning, "versions", bucket=bucket.id)
    make(aws_sdk.s3.BucketPublicAccessBlock, "private", bucket=bucket.id)
    make(aws_sdk.sqs.Queue, "queue")
    make(aws_sdk.sns.Topic, "topic")
    make(aws_sdk.cloudwatch.LogGroup, "logs")
    make(aws_sdk.ecr.Repository, "images", name="images")
    make(aws_sdk.budgets.Budget, "budget", budget_type="COST", time_unit="MONTHLY", limit_unit="USD")


def updated(text: str) -> set[str]:
    """Names of the resources that a run updates, or would update."""
    return set(re.findall(r"^ ~ +\S+ (\S+) updated? ", text, re.MULTILINE))


def test_each_change_is_previewed_and_made_and_nothing_else_is(engine: Engine, account: str) -> None:
    assert sum(map(len, CHANGES)) > 20
    engine.stack(lambda: program(account, 0)).up()
    for done, batch in enumerate(CHANGES, 1):
        names = {path.partition(".")[0] for path in batch}
        stack = engine.stack(lambda done=done: program(account, done))  # type: ignore[misc]
        preview = stack.preview()
        assert (updated(preview.stdout), set(preview.change_summary)) == (names, {"update", "same"}), preview.stdout
        up = stack.up()
        assert (updated(up.stdout), changes(up)) == (names, {"updated": len(names)}), up.stdout
    again = engine.stack(lambda: program(account, len(CHANGES))).preview(expect_no_changes=True)
    assert set(again.change_summary) == {"same"}


# A database that is created and deleted again and again, under a real engine: its final snapshots stay readable.


REGION = "us-west-2"


def outputs(
    account: str, vpc: aws_sdk.ec2.Vpc, subnets: dict[str, pulumi.Output[str]], nodes: aws_sdk.ec2.SecurityGroup
) -> tuple[ClusterOutputs, NetworkOutputs]:
    """What a database reads of a cluster and a network."""
    nothing = pulumi.Output.from_input("")
    cluster = ClusterOutputs(
        name="slipway-test", resource=cast("Any", nodes), endpoint=nothing, certificate_authority=nothing,
        kubeconfig=nothing, version="1.35", security_group_id=nodes.id,
        oidc_issuer=nothing, service_cidr="172.20.0.0/16", account_id=account, region=REGION, tags={},
    )  # fmt: skip
    zones = {letter: f"{REGION}{letter}" for letter in subnets}
    return cluster, NetworkOutputs(
        vpc_id=vpc.id, vpc_cidr="10.0.0.0/16", zones=zones, private_subnets=subnets, public_subnets={}, pod_subnets={}
    )


def snapshot_program(account: str, *, database: bool = True) -> Callable[[], None]:
    """The key and the database of `Storage`, with the network that they need."""

    def build() -> None:
        provider = aws_sdk.Provider("aws", region=REGION, allowed_account_ids=[account])
        own = pulumi.ResourceOptions(provider=provider)
        vpc = aws_sdk.ec2.Vpc("vpc", own, cidr_block="10.0.0.0/16")
        subnets = {
            letter: aws_sdk.ec2.Subnet(
                letter, own, vpc_id=vpc.id, cidr_block=f"10.0.{n}.0/24", availability_zone=f"{REGION}{letter}"
            ).id
            for n, letter in enumerate("ab")
        }
        nodes = aws_sdk.ec2.SecurityGroup("nodes", own, vpc_id=vpc.id, description="Nodes")
        cluster, network = outputs(account, vpc, subnets, nodes)
        parent = pulumi.ComponentResource(
            "test:index:Storage", "storage", None, pulumi.ResourceOptions(providers=[provider])
        )
        policy = key_policy(regions.get(REGION), account, lustre=False, logs=["/aws/rds/instance/*"])
        key = make_key(
            "key", cluster="slipway-test", policy=policy, deletion_days=7, protect=False, retain=True, parent=parent
        )
        if database:
            args = DatabaseArgs(
                settings=settings.Database(), database="mlflow", key_arn=key.arn, log_days=7, cluster=cluster,
                network=network, protect=False,
            )  # fmt: skip
            Database("mlflow", args, pulumi.ResourceOptions(parent=parent))

    return build


def test_every_final_snapshot_has_a_name_of_its_own_and_a_key_that_works(
    engine: Engine, clients: Clients, account: str
) -> None:
    engine.stack(snapshot_program(account)).up()
    engine.stack(snapshot_program(account, database=False)).up()
    stack = engine.stack(snapshot_program(account))
    stack.up()
    stack.destroy()
    stack.up()
    stack.destroy()

    aws = Aws(clients, REGION, account)
    found = aws.call("rds", "describe_db_snapshots", SnapshotType="manual")["DBSnapshots"]
    names = {one["DBSnapshotIdentifier"] for one in found}
    assert len(names) == 3
    assert {name.rpartition("-final-")[0] for name in names} == {"slipway-test-mlflow"}
    keys = {one["KmsKeyId"] for one in found}
    assert len(keys) == 2, "one of each time that the stack existed"
    states = [aws.call("kms", "describe_key", KeyId=key)["KeyMetadata"]["KeyState"] for key in keys]
    assert states == ["Enabled", "Enabled"]
    aliases = {one["AliasName"] for one in aws.call("kms", "list_aliases")["Aliases"]}
    assert not {alias for alias in aliases if not alias.startswith("alias/aws/")}
