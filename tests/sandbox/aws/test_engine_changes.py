"""Changes in place of a platform that is up, under a real engine: each is previewed, then made."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pulumi
import pulumi_aws as aws_sdk
import pytest

from sandbox.aws.client import Clients, World
from sandbox.aws.provider import AwsProvider
from sandbox.rpc.provider import serve
from tests.sandbox.aws.samples.world import OTHER_TRUST, TRUST
from tests.sandbox.rpc.engine import Engine, changes

# Importing the SDK's service modules warns about deprecated types in them.
pytestmark = [pytest.mark.sandbox, pytest.mark.filterwarnings("ignore::DeprecationWarning")]

CHANGES: list[dict[str, tuple[Any, Any]]] = [
    {
        "cluster.version": ("1.34", "1.35"),
        "nodes.scaling_config": (
            {"min_size": 0, "max_size": 4, "desired_size": 2}, {"min_size": 1, "max_size": 8, "desired_size": 2},
        ),
        "files.throughput_mode": ("bursting", "elastic"),
        "queue.message_retention_seconds": (300, 600),
        "key.deletion_window_in_days": (30, 7),
        "versions.versioning_configuration": ({"status": "Suspended"}, {"status": "Enabled"}),
        "budget.limit_amount": ("100", "200"),
        "https.cidr_ipv4": ("10.0.0.0/8", "10.1.0.0/16"),
        "logs.retention_in_days": (30, 90),
        "images.image_tag_mutability": ("MUTABLE", "IMMUTABLE"),
        "topic.display_name": ("alerts", "alarms"),
    },
    {
        "cluster.vpc_config": ({"endpoint_public_access": True}, {"public_access_cidrs": ["192.0.2.0/24"]}),
        "nodes.labels": ({"pool": "cpu"}, {"pool": "gpu"}),
        "nodes.update_config": ({"max_unavailable": 1}, {"max_unavailable": 2}),
        "lustre.per_unit_storage_throughput": (125, 250),
        "queue.visibility_timeout_seconds": (30, 60),
        "key.enable_key_rotation": (False, True),
        "role.assume_role_policy": (TRUST, OTHER_TRUST),
        "vpc.enable_dns_hostnames": (False, True),
        "entry.kubernetes_groups": (["a"], ["a", "b"]),
        "private.block_public_acls": (False, True),
    },
    {
        "cluster.enabled_cluster_log_types": (["api"], ["api", "audit"]),
        "cluster.access_config": ({"authentication_mode": "API_AND_CONFIG_MAP"}, {"authentication_mode": "API"}),
        "files.lifecycle_policies": ([], [{"transition_to_ia": "AFTER_30_DAYS"}]),
        "key.description": ("one", "two"),
        "https.description": ("one", "two"),
    },
]  # fmt: skip
"""Batches of changes: `resource.argument` with the value before and after."""


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


@pytest.fixture
def engine(clients: Clients, tmp_path: Path) -> Iterator[Engine]:
    served = serve(AwsProvider(World(clients)))
    try:
        yield Engine(tmp_path, {"aws": served.port})
    finally:
        served.stop()


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
