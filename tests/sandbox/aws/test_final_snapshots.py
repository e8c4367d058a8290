"""A database that is created and deleted again and again, under a real engine: its final snapshots stay readable."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, cast

import pulumi
import pulumi_aws as aws_sdk
import pytest

from components.base.outputs import ClusterOutputs, NetworkOutputs
from components.storage.database import Database, DatabaseArgs
from components.storage.key import key_policy, make_key
from sandbox.aws.client import Aws, Clients, World
from sandbox.aws.provider import AwsProvider
from sandbox.rpc.provider import serve
from spec.catalog import regions
from spec.settings import storage as settings
from tests.sandbox.rpc.engine import Engine

pytestmark = [pytest.mark.sandbox, pytest.mark.filterwarnings("ignore::DeprecationWarning")]
REGION = "us-west-2"


@pytest.fixture
def engine(clients: Clients, tmp_path: Path) -> Iterator[Engine]:
    served = serve(AwsProvider(World(clients)))
    try:
        yield Engine(tmp_path, {"aws": served.port})
    finally:
        served.stop()


def outputs(
    account: str, vpc: aws_sdk.ec2.Vpc, subnets: dict[str, pulumi.Output[str]], nodes: aws_sdk.ec2.SecurityGroup
) -> tuple[ClusterOutputs, NetworkOutputs]:
    """What a database reads of a cluster and a network."""
    nothing = pulumi.Output.from_input("")
    cluster = ClusterOutputs(
        name="slipway-test", arn="", resource=cast("Any", nodes), endpoint=nothing, certificate_authority=nothing,
        kubeconfig=nothing, version="1.35", security_group_id=nodes.id, oidc_provider_arn=nothing,
        oidc_issuer=nothing, service_cidr="172.20.0.0/16", account_id=account, region=REGION, partition="aws", tags={},
    )  # fmt: skip
    zones = {letter: f"{REGION}{letter}" for letter in subnets}
    return cluster, NetworkOutputs(
        vpc_id=vpc.id, vpc_cidr="10.0.0.0/16", zones=zones, private_subnets=subnets, public_subnets={}, pod_subnets={}
    )


def program(account: str, *, database: bool = True) -> Callable[[], None]:
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
    engine.stack(program(account)).up()
    engine.stack(program(account, database=False)).up()
    stack = engine.stack(program(account))
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
