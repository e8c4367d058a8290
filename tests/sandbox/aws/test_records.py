from typing import Any

import pytest

from sandbox.aws import records
from sandbox.aws.client import Aws, AwsError
from sandbox.aws.client import World as Shared
from sandbox.aws.coverage import coverage, recorded_updates
from sandbox.aws.provider import AwsProvider
from sandbox.aws.schema import Schema, schema, tokens
from sandbox.aws.types import MAPPINGS, RECORDS
from sandbox.rpc.errors import ProviderError
from sandbox.rpc.hooks import Resource
from tests.sandbox.aws.fakes import FakeNodes, attached
from tests.sandbox.aws.samples import World


def known(type_token: str) -> Schema:
    found = schema(type_token)
    assert found is not None
    return found


def make(aws: Aws, type_token: str, **inputs: Any) -> tuple[str, dict[str, Any]]:
    assert known(type_token).check(inputs) == []
    return records.create(aws, known(type_token), "thing", inputs)


def test_a_record_uses_only_inputs_and_outputs_of_its_type() -> None:
    for type_token, record in RECORDS.items():
        assert {path.split(".")[0] for path in record.force_new} <= set(known(type_token).inputs)
        assert set(record.computed) <= set(known(type_token).outputs)
        assert type_token not in MAPPINGS


def test_the_order_of_inputs_changes_neither_id_nor_outputs(aws: Aws) -> None:
    inputs, token = {"alias": "a", "kmsKeyArn": "k"}, "aws:amp/workspace:Workspace"
    assert make(aws, token, **inputs) == make(aws, token, **dict(reversed(inputs.items())))
    assert make(aws, token, **inputs) != make(aws, token, **{**inputs, "alias": "b"})


def test_a_record_of_a_missing_object_is_refused(aws: Aws) -> None:
    inputs = {"fileSystemId": "fs-0123456789abcdef0", "fileSystemPath": "/a", "dataRepositoryPath": "s3://b"}
    with pytest.raises(AwsError, match="fs-0123456789abcdef0"):
        make(aws, "aws:fsx/dataRepositoryAssociation:DataRepositoryAssociation", **inputs)


def test_a_tag_of_a_node_groups_auto_scaling_group_is_reported_to_the_nodes(world: World) -> None:
    aws, nodes, token = world.aws, FakeNodes(), "aws:autoscaling/tag:Tag"
    name = world.scaling_group()
    tag = {"key": "k", "value": "1", "propagateAtLaunch": True}
    inputs = {"autoscalingGroupName": name, "tag": tag}
    with attached(aws.clients, nodes=nodes):
        id, outputs = make(aws, token, **inputs)
        assert (id, nodes.tags) == (f"{name},k", {(name, "k"): "1"})
        changed = {**inputs, "tag": {**tag, "value": "2"}}
        outputs = records.update(aws, known(token), outputs, changed, inputs)
        assert nodes.tags == {(name, "k"): "2"}
        records.delete(aws, known(token), outputs)
        assert nodes.tags == {}
    with pytest.raises(AwsError, match="AutoScalingGroup name not found - eks-1"):
        make(aws, token, **{**inputs, "autoscalingGroupName": "eks-1"})
    records.delete(aws, known(token), {**outputs, "autoscalingGroupName": "eks-1"})


def test_made_up_values_survive_an_update(aws: Aws) -> None:
    token = "aws:ec2/placementGroup:PlacementGroup"
    _, outputs = make(aws, token, name="near", strategy="cluster")
    changed = {"name": "near", "strategy": "cluster", "tags": {"a": "b"}}
    updated = records.update(aws, known(token), outputs, changed, {"name": "near", "strategy": "cluster"})
    assert updated["placementGroupId"] == outputs["placementGroupId"]
    assert updated["tagsAll"] == {"a": "b"}


def test_any_other_type_gets_an_id_and_an_arn(aws: Aws) -> None:
    first = make(aws, "aws:amp/workspace:Workspace", alias="a")
    assert first == make(aws, "aws:amp/workspace:Workspace", alias="a"), "the same for the same inputs"
    assert first[1]["arn"] == f"arn:aws:amp:us-west-2:{aws.account}:workspace/{first[0]}"


def test_a_record_is_refreshed_unchanged_and_not_imported(aws: Aws) -> None:
    provider = AwsProvider(Shared(aws.clients))
    workspace = Resource("urn", "aws:amp/workspace:Workspace", "w")
    found = provider.read(aws, workspace, "w-1", {"alias": "a"}, {"alias": "a"})
    assert found is not None
    assert (found.outputs, found.inputs) == ({"alias": "a"}, {"alias": "a"})
    with pytest.raises(ProviderError, match="can't be imported"):
        provider.read(aws, workspace, "w-1", {}, {})


def test_coverage_lists_types_in_moto_and_records() -> None:
    found = coverage()
    assert found["moto"] == sorted(MAPPINGS)
    assert found["record"] == f"any other of {len(tokens())} types"
    updates = recorded_updates()
    assert "upgradePolicy" in updates["aws:eks/cluster:Cluster"]
    assert not {"version", "accessConfig"} & set(updates["aws:eks/cluster:Cluster"])
    assert "releaseVersion" in updates["aws:eks/nodeGroup:NodeGroup"]
    assert "launchTemplate" not in updates["aws:eks/nodeGroup:NodeGroup"]
    assert "scalingConfig" not in updates["aws:eks/nodeGroup:NodeGroup"]
