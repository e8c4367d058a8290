"""The platform's program as it is rendered: complete, reproducible, within AWS's limits."""

import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from difflib import unified_diff
from functools import cache
from pathlib import Path
from typing import Any

import pulumi_aws as aws
import pytest

from slipway.render import render
from slipway.render.layout import as_data, files_of
from slipway.render.program import record_platform
from slipway.render.recording import RecordedResource, Recording, RenderError
from spec.catalog import names
from spec.naming import physical_length
from spec.settings import Platform, load, read_stack, stacks_in
from spec.settings.checks.names import LONGEST
from tests.spec.settings.stack import changed
from tests.support import price_book
from tests.support.day import TODAY
from tests.support.mocks import UNKNOWN  # imports the parts of the SDK that emit warnings
from tests.support.patience import slowness
from tests.support.stacks import recorded

ROOT = Path(__file__).parents[3]
STACKS = ROOT / "stacks"


def of(settings: Mapping[str, Any], stack: str = "test") -> tuple[Platform, Recording]:
    platform = load(changed({"environment.name": stack, **settings}), stack=stack, today=TODAY).platform
    return platform, record_platform(platform, stack=stack)


def token(kind: type) -> str:
    return str(kind.pulumi_type)  # type: ignore[attr-defined]


@pytest.mark.parametrize("stack", stacks_in(STACKS))
def test_no_input_of_a_rendering_is_unknown(stack: str) -> None:
    """Otherwise a reviewer would see `[unknown]` for a value that follows from the settings and a sample."""
    assert [(one.urn, one.inputs.unknowns) for one in recorded(stack) if one.inputs.unknowns] == []
    assert UNKNOWN not in files_of(recorded(stack))["exports.json"]


@pytest.mark.parametrize("stack", stacks_in(STACKS))
def test_a_preview_has_the_same_resources(stack: str) -> None:
    assert recorded(stack, preview=True).resources.keys() == recorded(stack).resources.keys()


def test_two_renderings_have_the_same_files() -> None:
    again = record_platform(load(read_stack("prod", STACKS), stack="prod").platform, stack="prod")
    first, second = files_of(recorded("prod")), files_of(again)
    assert first.keys() == second.keys()
    changed = {name: [*unified_diff(first[name].splitlines(), second[name].splitlines(), n=0)] for name in first}
    assert {name: lines[:9] for name, lines in changed.items() if lines} == {}


def test_a_recording_with_other_prices_is_another() -> None:
    with price_book.fixed():
        other = recorded("prod")
    assert recorded("prod") is not other
    assert files_of(recorded("prod")) != files_of(other)


def test_a_rendering_has_manifests_and_values(tmp_path: Path) -> None:
    rendering = render("dev", tmp_path / "out", stacks=STACKS)
    written = {str(path.relative_to(tmp_path / "out")) for path in (tmp_path / "out").rglob("*") if path.is_file()}
    assert {*files_of(rendering.recording), ".slipway-render"} == written
    assert {"resources.json", "values/karpenter.yaml", "manifests/_cluster/nodepool-cpu.yaml"} <= written


def test_prod_is_rendered_in_less_than_ten_seconds_of_processor_time(tmp_path: Path) -> None:
    """Processor time, because tests share the processors; elapsed time is hardly longer on an idle machine."""
    code = (
        f"from pathlib import Path; from slipway.render import render; render('prod', Path({str(tmp_path / 'out')!r}))"
    )
    before = os.times()
    subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=True, capture_output=True)
    after = os.times()
    assert after.children_user + after.children_system - before.children_user - before.children_system < 10 * slowness()


def test_a_resource_without_an_explicit_provider_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    def build(_: Platform) -> dict[str, Any]:
        return {"id": aws.sqs.Queue("queue").id}

    monkeypatch.setattr("slipway.render.program.build", build)
    with pytest.raises(
        RenderError, match=r"aws:sqs/queue:Queue::queue: every resource must have an explicit provider, and 1 "
    ):
        record_platform(load(read_stack("dev", STACKS), stack="dev").platform, stack="dev")


@cache
def base() -> Recording:
    """The base stack of these tests; rendering it takes a second."""
    _, recording = of({})
    return recording


EXTRA = {"preset": "h100", "provisioner": "managed", "zones": ["us-east-1b"], "efa": True}


@pytest.mark.parametrize(
    ("extra", "agents"),
    [(EXTRA, {"efa-device-plugin-release", "gpu-operator-release"}), ({"preset": "cpu"}, set())],
    ids=["managed", "karpenter"],
)
def test_a_new_pool_adds_its_own_resources_and_changes_only_agents_and_the_parameters_of_admission(
    extra: dict[str, Any], agents: set[str]
) -> None:
    """Agents that must run on it tolerate its taints, and admission rules know the pools and their prices."""
    before = {one.urn: as_data(one) for one in base()}
    after = {one.urn: as_data(one) for one in of({"pools": {"b-first": extra, **changed({})["pools"]}})[1]}
    added = after.keys() - before.keys()
    assert added
    assert all("pool-b-first" in urn for urn in added), added
    assert before.keys() <= after.keys()
    touched = {urn.rpartition("::")[2] for urn in before if before[urn] != after[urn]}
    assert touched - {"admission-parameters"} == agents


LIMITS = {
    token(aws.iam.Role): "iam-role",
    token(aws.iam.RolePolicy): "iam-policy",
    token(aws.iam.InstanceProfile): "iam-instance-profile",
    token(aws.eks.NodeGroup): "eks-node-group",
    token(aws.eks.Cluster): "eks-cluster",
    token(aws.ec2.LaunchTemplate): "launch-template",
    token(aws.ec2.PlacementGroup): "placement-group",
    token(aws.ec2.SecurityGroup): "security-group",
    token(aws.cloudwatch.EventRule): "event-rule",
    token(aws.cloudwatch.LogGroup): "log-group",
    token(aws.sqs.Queue): "sqs-queue",
    token(aws.kms.Alias): "kms-alias",
}


@dataclass(frozen=True)
class Named:
    resource: RecordedResource
    kind: str
    name: str


def named(recording: Recording) -> Iterator[Named]:
    for resource in recording:
        name = resource.outputs.plain.get("nodeGroupName") or resource.outputs.plain.get("name")
        if resource.type in LIMITS and isinstance(name, str):
            yield Named(resource, LIMITS[resource.type], name)


def test_the_longest_names_that_pass_the_checks_are_within_awss_limits() -> None:
    stack, pool = "e" * 22, "p" * 8
    _, recording = of({f"pools.{pool}": EXTRA}, stack=stack)
    resources = list(named(recording))
    assert {one.kind for one in resources} == set(LIMITS.values()), "a kind without a resource is not tested"
    for one in resources:
        assert names.problem(one.kind, one.name) is None


@pytest.mark.parametrize("kind", sorted(LONGEST))
def test_the_longest_logical_names_in_the_checks_are_those_of_the_program(kind: str) -> None:
    recordings = [recorded(stack) for stack in stacks_in(STACKS)]
    logical = {one.resource.name for recording in recordings for one in named(recording) if one.kind == kind}
    # Names of teams vary in length: `spec.settings.checks.teams` checks each.
    logical = {name for name in logical if not name.startswith("space-")}
    assert LONGEST[kind] in logical
    assert len(max(logical, key=len)) == len(LONGEST[kind])
    assert physical_length("slipway", "e" * 22, LONGEST[kind]) <= names.limit(kind).longest
