"""The program on a cluster that exists: it makes what the file names and nothing beside it; the pack, the bill and a
second stack know."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

import pytest

from policies.rules import RULES
from policies.stack_file import Declared, from_platform
from policies.stack_file import recorded as program_of
from slipway.render.evaluation import check
from slipway.render.monitor import looked_up
from slipway.render.program import record_platform
from slipway.render.recording import Recording
from spec.pricing import services
from spec.pricing.estimate import estimate
from spec.settings import ConfigurationError, Platform, load, read_stack
from tests.support.day import TODAY
from tests.support.stacks import FOLDER

STACK: Final = "existing"
FILE: Final[Mapping[str, Any]] = read_stack(STACK, FOLDER.parent / "examples/stacks")  # type: ignore[assignment]
PARTS: Final = ("pools", "addons", "teams", "storage", "cost", "notifications")
WHOLE: Final = ("aws:eks/cluster:", "aws:ec2/vpc:", "aws:ec2/subnet:", "aws:iam/openIdConnectProvider:")


def platform(name: str = STACK, cluster: Mapping[str, Any] | None = None, **parts: Any) -> Platform:
    """The example, or other parts on its cluster."""
    settings: dict[str, Any] = {key: value for key, value in FILE.items() if not parts or key not in PARTS}
    settings["environment"] = {**settings["environment"], "name": name}
    settings["cluster"] = {**settings["cluster"], **(cluster or {})}
    return load({**settings, **parts}, stack=name, today=TODAY).platform


def recorded(stack: Platform) -> Recording:
    return record_platform(stack, stack=stack.environment.name)


def made(recording: Recording) -> set[str]:
    """Types of the resources, without providers and components."""
    return {one.type for one in recording.resources.values() if not one.type.startswith(("pulumi:", "slipway:"))}


POOL: Final[dict[str, Any]] = {"pools": {"a100": {"preset": "a100"}}}
SHARE: Final[dict[str, Any]] = {"gpus": {"a100": {"nominalQuota": 8}}}
TEAM: Final[dict[str, Any]] = {**POOL, "teams": {"vision": {"project": "p", "costCenter": "c", "jobUsd": 999, **SHARE}}}
MAIL: Final[dict[str, Any]] = {"notifications": {"emails": ["ml@example.com"]}, "cost": {"monthlyBudgetUsd": 5}}


@pytest.mark.parametrize(
    ("parts", "there", "absent"),
    [
        (POOL, {"kubernetes:karpenter.sh/v1:NodePool", "aws:sqs/queue:Queue"}, {"aws:s3/bucket:Bucket"}),
        ({"addons": {"kueue": {}}}, {"kubernetes:helm.sh/v3:Release"}, {"aws:iam/role:Role"}),
        (TEAM, {"kubernetes:core/v1:Namespace"}, {"aws:s3/bucket:Bucket", "aws:eks/addon:Addon"}),
        ({"storage": {}}, {"aws:s3/bucket:Bucket"}, {"kubernetes:core/v1:Namespace", "aws:eks/addon:Addon"}),
        (MAIL, {"aws:budgets/budget:Budget", "aws:sns/topic:Topic"}, {"aws:s3/bucket:Bucket"}),
    ],
    ids=["pools", "add-ons", "teams of a pool", "storage", "cost guards"],
)
def test_a_part_alone_makes_nothing_that_is_not_its_own(
    parts: Mapping[str, Any], there: set[str], absent: set[str]
) -> None:
    recording = recorded(platform(**parts))
    found = made(recording)
    assert there <= found
    assert not absent & found
    assert not [one for one in found if one.startswith(WHOLE)]
    if "teams" not in parts:
        assert not {one for one in found if "PriorityClass" in one or "AdmissionPolicy" in one}


def test_an_eks_addon_that_is_named_overwrites_nothing_and_waits_for_no_system_pool() -> None:
    recording = recorded(platform(cluster={"addons": {"aws-ebs-csi-driver": {}}}, storage={}, **POOL))
    (addon,) = (one for one in recording if one.type == "aws:eks/addon:Addon")
    assert (addon.inputs.plain["clusterName"], addon.inputs.plain["resolveConflictsOnCreate"]) == ("ml-prod", "NONE")
    (block,) = (one for one in recording if one.type.endswith("StorageClass"))
    assert "annotations" not in block.inputs.plain["metadata"]
    values = [one.inputs.plain["values"] for one in recording if one.name == "karpenter-release"]
    assert [one["nodeSelector"] for one in values] == [{}]
    assert all(one.options.deleted_with is None for one in recording)


def test_schedules_run_on_nodes_of_the_cluster() -> None:
    nights = {"nights": {"stop": "0 20 * * mon-fri", "timezone": "UTC", "notebooks": True}}
    jobs = [one for one in recorded(platform(cost={"schedules": nights}, **TEAM)) if one.type.endswith(":CronJob")]
    assert jobs
    assert not any("nodeSelector" in str(job.inputs.plain) for job in jobs)


def test_what_the_cluster_has_is_used_and_not_installed() -> None:
    there = {"existing": {"name": "ml-prod", "installed": ["kueue", "gpuOperator"], "instanceProfile": "nodes"}}
    example = {key: FILE[key] for key in ("pools", "teams")}
    recording = recorded(platform(cluster=there, **example))
    assert not {"kubernetes:helm.sh/v3:Release", "aws:iam/role:Role"} & made(recording)
    (nodes,) = (one for one in recording if one.type.endswith("EC2NodeClass"))
    assert nodes.inputs.plain["spec"]["instanceProfile"] == "nodes"
    assert [one.name for one in recording if one.type.endswith("ClusterQueue")] == ["queue-vision-cluster-queue"]


def test_an_addon_that_keeps_data_needs_storage() -> None:
    with pytest.raises(ConfigurationError, match=r"storage: an add-on uses .*Add `storage: \{\}`"):
        recorded(platform(addons={"kubePrometheusStack": {}}))


def identities(recording: Recording) -> set[tuple[str, ...]]:
    """What can be there once: objects of the cluster, and names in AWS that the program chooses."""
    found = set[tuple[str, ...]]()
    for one in recording.resources.values():
        inputs = one.inputs.plain
        meta = inputs.get("metadata")
        if isinstance(meta, Mapping):
            found.add((one.type, str(meta.get("namespace")), str(meta["name"])))
        elif one.type.startswith("aws:") and isinstance(inputs.get("name"), str):
            found.add((one.type, inputs["name"]))
    return found


def test_two_stacks_on_one_cluster_do_not_collide() -> None:
    karpenter = {"existing": {"name": "ml-prod", "instanceProfile": "nodes"}}
    one = platform(storage={"registry": {"repositories": ["jobs"]}}, **POOL, **MAIL)
    more = {"blockClass": "other", "registry": {"repositories": ["jobs"]}}
    other = platform("other", karpenter, storage=more, pools={"h100": {"preset": "h100"}}, **MAIL)
    first, second = identities(recorded(one)), identities(recorded(other))
    assert {"aws:ecr/repository:Repository", "aws:kms/alias:Alias"} <= {each[0] for each in first}
    assert not first & second


def test_the_pack_evaluates_it_and_knows_another_cluster() -> None:
    levels = {rule.name: rule.levels.of("prod").value for rule in RULES}
    example = platform()
    recording = recorded(example)
    found = {one.id for one in check(recording, TODAY) if levels[one.rule] == "mandatory" and one.counts(TODAY)}
    # The file names no storage with its key, no release of the AMI, no limit and no budget.
    assert found == {
        "node-ebs-encrypted-cmk/key", "node-ami-pinned/pinned", "stack-cost-cap/bound", "budget-alarm-exists/budget",
    }  # fmt: skip
    (urn, provider) = next(
        item for item in recording.resources.items() if item[1].type == "pulumi:providers:kubernetes"
    )
    other = platform(cluster={"existing": {"name": "ml-dev"}})
    swapped = {one.id for one in check(replace(recording, platform=other), TODAY)}
    assert "provider-of-the-cluster/cluster" in swapped
    given = program_of(recording, looked_up(example))
    assert isinstance(given[urn], Declared)
    assert "compute" not in given[urn].outputs
    (endpoint,) = (text for text in given[urn].outputs if text.startswith("https://"))
    assert endpoint in str(provider.inputs.plain["kubeconfig"])
    assert from_platform(example).existing == ("ml-prod", "1.35")


def test_the_bill_has_no_part_of_what_others_made() -> None:
    whole = estimate(platform())
    assert {line.service for line in whole.lines} == {services.EC2, services.EBS, services.CLOUDWATCH}
    assert not [one for one in whole.unpriced if str(one).startswith(("S3", "KMS"))]
    assert services.KMS in {line.service for line in estimate(platform(storage={})).lines}
