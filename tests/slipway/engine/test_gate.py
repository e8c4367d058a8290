"""The gate's verdict, over a recorded plan and over every type of the table."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pulumi_aws
import pulumi_kubernetes
import pytest

from slipway.engine.gate import check_names, evaluate, refusal
from slipway.engine.plan import Forced, Removal, removals
from slipway.engine.stateful import TABLE, among
from spec.errors import EXIT_REFUSED, SlipwayError
from tests.slipway.engine.test_plan import RECORDED, urn

CLUSTER = "aws:eks/cluster:Cluster"
GROUP = "aws:eks/nodeGroup:NodeGroup"
POOL = "kubernetes:karpenter.sh/v1:NodePool"
CUSTOM = (POOL,)
"""Types of custom resources."""


def removal(kind: str, operation: str = "replace", **more: Any) -> Removal:
    return Removal(urn=urn(kind), type=kind, operation=operation, **more)


def refused(loss: Removal, *allowed: str) -> bool:
    return bool(evaluate([loss], allowed).refused)


def test_of_a_recorded_plan_only_the_cluster_is_refused() -> None:
    with RECORDED.open() as lines:
        verdict = evaluate(removals(lines))
    assert [one.type for one in verdict.refused] == [CLUSTER]


@pytest.mark.parametrize("kind", sorted(set(TABLE) - {POOL}))
@pytest.mark.parametrize("operation", ["replace", "delete"])
def test_a_type_in_the_table_is_refused(kind: str, operation: str) -> None:
    assert refused(removal(kind, operation))


@pytest.mark.parametrize("kind", ["aws:iam/role:Role", "aws:ec2/subnet:Subnet", "kubernetes:apps/v1:Deployment"])
def test_a_type_outside_the_table_is_not_refused(kind: str) -> None:
    assert not refused(removal(kind))
    assert not among([kind])
    assert among([kind, CLUSTER])


def test_a_retained_resource_may_be_deleted_from_the_state_but_not_replaced() -> None:
    assert not refused(removal("aws:efs/fileSystem:FileSystem", "delete", retained=True))
    assert refused(removal("aws:efs/fileSystem:FileSystem", "replace", retained=True))


@pytest.mark.parametrize(
    ("inputs", "outputs", "refuses"),
    [
        ({}, {"scalingConfig": {"desiredSize": 2}}, True),
        ({}, {"scalingConfig": {"desiredSize": 0}}, False),
        ({"scalingConfig": {"desiredSize": 0}}, {"scalingConfig": {"desiredSize": 3}}, True),
        ({"scalingConfig": {"desiredSize": 0}}, {}, False),
        ({}, {}, True),
        ({"labels": {"platform.slipway/role": "system"}}, {"scalingConfig": {"desiredSize": 2}}, False),
        ({"labels": {"platform.slipway/role": "training"}}, {"scalingConfig": {"desiredSize": 2}}, True),
    ],
)
def test_a_node_group_counts_while_it_has_nodes_with_jobs(
    inputs: dict[str, Any], outputs: dict[str, Any], refuses: bool
) -> None:
    assert refused(removal(GROUP, inputs=inputs, outputs=outputs)) is refuses


@pytest.mark.parametrize(
    ("outputs", "refuses"),
    [
        ({"status": {"resources": {"nodes": "3"}}}, True),
        ({"status": {"resources": {"nodes": "0"}}}, False),
        ({"status": {}}, False),
        ({}, False),
    ],
)
def test_a_node_pool_counts_while_it_has_nodes(outputs: dict[str, Any], refuses: bool) -> None:
    assert refused(removal(POOL, outputs=outputs)) is refuses


def test_a_name_allows_that_resource_and_no_other() -> None:
    bucket = removal("aws:s3/bucket:Bucket")
    verdict = evaluate([bucket, removal(CLUSTER)], [bucket.urn, urn("aws:kms/key:Key")])
    assert [one.type for one in verdict.refused] == [CLUSTER]
    assert verdict.allowed == (bucket,)
    assert verdict.unused == (urn("aws:kms/key:Key"),)


@pytest.mark.parametrize("name", ["cluster", "*", "urn:pulumi:*", "urn:pulumi:dev::slipway"])
def test_a_name_that_is_not_a_urn_is_refused(name: str) -> None:
    with pytest.raises(SlipwayError, match="full URN") as caught:
        check_names([urn(CLUSTER), name])
    assert caught.value.exit_code == EXIT_REFUSED


def test_the_refusal_has_urn_operation_reason_and_fix() -> None:
    forced = (Forced(path="encrypted", old="false", new="true"),)
    text = refusal("prod", [removal(CLUSTER, forced=forced), removal("aws:kms/key:Key", "delete")])
    assert "2 resources that keep state would be replaced or deleted; nothing was changed" in text
    assert f"- replace {urn(CLUSTER)}" in text
    assert "encrypted can't be changed in place: false -> true" in text
    assert "the program no longer declares it" in text
    assert f"fix: {TABLE['aws:kms/key:Key'].fix}" in text
    assert text.endswith(f"--allow-replace '{urn('aws:kms/key:Key')}'")


@pytest.mark.parametrize(
    "kind",
    ["aws:fsx/lustreFileSystem:LustreFileSystem", "aws:efs/fileSystem:FileSystem", "aws:rds/instance:Instance"],
)
def test_the_fix_can_be_followed_with_the_settings_of_a_stack_which_has_one_such_resource(kind: str) -> None:
    fix = TABLE[kind].fix
    assert "second one" not in fix
    assert "to migrate, " in fix


def test_a_rehearsal_reports_what_would_have_been_refused_on_aws() -> None:
    text = refusal("dev", [removal(CLUSTER)], done=True)
    assert text.startswith("stack dev: on AWS this would have been refused: 1 resource that keeps state would be")
    assert "the engine names no property" in text


@pytest.mark.parametrize("kind", sorted(set(TABLE) - set(CUSTOM)))
def test_every_type_of_the_table_exists_in_the_pinned_sdk(kind: str) -> None:
    package, module, name = kind.split(":")
    if package == "aws":
        folder, file = module.split("/")
        path = Path(pulumi_aws.__file__).parent / folder / f"{_snake(file)}.py"
    else:
        folder = module.replace(".k8s.io", "").replace("/", "/")
        path = Path(pulumi_kubernetes.__file__).parent / folder / f"{name}.py"
    assert f"'{kind}'" in path.read_text()


def _snake(name: str) -> str:
    return "".join(f"_{letter.lower()}" if letter.isupper() else letter for letter in name)
