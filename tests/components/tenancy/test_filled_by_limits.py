"""No pod template of ours leaves a request or a memory limit to the LimitRange of the namespace that it runs in."""

from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from components.tenancy.namespace import DEFAULTS
from tests.components.workloads.samples import GOOD, bodies
from tests.support import stacks

CLUSTER_WIDE = ("ClusterTrainingRuntime", "ClusterServingRuntime")
"""Templates whose pods run in namespaces of teams."""
FILLED = (*(("requests", name) for name in DEFAULTS["defaultRequest"]), ("limits", "memory"))
"""What the LimitRange of a team fills in with less than a workload needs; its default CPU limit is the largest node."""


def containers(value: Any, path: str = "") -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Every container in an object, with its path."""
    if isinstance(value, Mapping):
        for key, below in value.items():
            here = f"{path}.{key}"
            if key in ("containers", "initContainers") and isinstance(below, list):
                yield from ((f"{here}.{each['name']}", each) for each in below)
            yield from containers(below, here)
    elif isinstance(value, list):
        for index, below in enumerate(value):
            yield from containers(below, f"{path}[{index}]")


def filled(manifest: Mapping[str, Any]) -> list[str]:
    """What a LimitRange would fill in, as paths. A limit counts as a request."""
    found = []
    for path, container in containers(manifest):
        resources = container.get("resources") or {}
        limits = resources.get("limits") or {}
        stated = {"limits": limits, "requests": {**limits, **(resources.get("requests") or {})}}
        found += [f"{path}.{part}.{name}" for part, name in FILLED if name not in stated[part]]
    return found


def in_reach(manifests: list[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Objects with pods in a namespace that has a LimitRange."""
    limited = {each["metadata"]["namespace"] for each in manifests if each.get("kind") == "LimitRange"}
    return [
        each
        for each in manifests
        if each.get("kind") in CLUSTER_WIDE or (each.get("metadata") or {}).get("namespace") in limited
    ]


def manifests_of(stack: str) -> list[Mapping[str, Any]]:
    resources = stacks.recorded(stack).resources.values()
    return [each.inputs.plain for each in resources if each.type.startswith("kubernetes:")]


@pytest.mark.parametrize("stack", stacks.NAMES)
def test_nothing_that_a_stack_creates_is_filled_in(stack: str) -> None:
    reached = in_reach(manifests_of(stack))
    assert {each["kind"] for each in reached} >= set(CLUSTER_WIDE)
    assert {each["metadata"]["name"]: lines for each in reached if (lines := filled(each))} == {}


@pytest.mark.parametrize("name", GOOD)
def test_nothing_in_a_typed_workload_is_filled_in(name: str) -> None:
    assert {each["kind"]: lines for each in bodies(GOOD[name]()).values() if (lines := filled(each))} == {}


def test_a_runtime_that_requests_only_gpus_is_found() -> None:
    gpus = {"nvidia.com/gpu": "8"}
    container = {"name": "node", "resources": {"requests": gpus, "limits": gpus}}
    runtime = {"kind": "ClusterTrainingRuntime", "spec": {"template": {"spec": {"containers": [container]}}}}
    assert filled(in_reach([runtime])[0]) == [
        ".spec.template.spec.containers.node.requests.cpu",
        ".spec.template.spec.containers.node.requests.memory",
        ".spec.template.spec.containers.node.limits.memory",
    ]
