"""DaemonSets that select nodes whose taints they don't tolerate."""

from __future__ import annotations

from typing import Any

import pytest

from slipway.cli.reach import Unreached, selects, unreached

TAINT = {"key": "nvidia.com/gpu", "value": "present", "effect": "NoSchedule"}


def node(name: str, *taints: dict[str, str], **labels: str) -> dict[str, Any]:
    return {"metadata": {"name": name, "labels": labels}, "spec": {"taints": list(taints)}}


def daemon_set(*tolerations: dict[str, str], **spec: Any) -> dict[str, Any]:
    template = {"spec": {"tolerations": list(tolerations), **spec}}
    return {"metadata": {"namespace": "ns", "name": "agent"}, "spec": {"template": template}}


NODES = [
    node("cpu-0", **{"platform.slipway/pool": "cpu"}),
    node("gpu-0", TAINT, **{"platform.slipway/pool": "a100", "gpu-count": "8"}),
    node("gpu-1", TAINT, **{"platform.slipway/pool": "a100", "gpu-count": "8"}),
]


def test_a_daemon_set_without_a_toleration_does_not_reach_the_tainted_pool() -> None:
    assert unreached([daemon_set()], NODES) == [
        Unreached("ns/agent", ("a100",), ("nvidia.com/gpu=present:NoSchedule",))
    ]


def test_a_daemon_set_that_the_stack_keeps_off_gpu_nodes_is_not_reported() -> None:
    dcgm = daemon_set() | {"metadata": {"namespace": "kube-system", "name": "dcgm-server"}}
    assert unreached([dcgm, daemon_set()], NODES) == unreached([daemon_set()], NODES)


@pytest.mark.parametrize(
    "toleration",
    [
        {"operator": "Exists"},
        {"key": "nvidia.com/gpu", "operator": "Exists"},
        {"key": "nvidia.com/gpu", "value": "present"},
        {"key": "nvidia.com/gpu", "operator": "Equal", "value": "present", "effect": "NoSchedule"},
    ],
)
def test_a_toleration_of_the_taint_reaches_it(toleration: dict[str, str]) -> None:
    assert unreached([daemon_set(toleration)], NODES) == []


@pytest.mark.parametrize(
    "toleration",
    [
        {"key": "nvidia.com/gpus", "operator": "Exists"},
        {"key": "nvidia.com/gpu", "value": "true"},
        {"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoExecute"},
    ],
)
def test_another_toleration_does_not(toleration: dict[str, str]) -> None:
    assert unreached([daemon_set(toleration)], NODES)


def test_nodes_that_it_does_not_select_are_not_missed() -> None:
    assert unreached([daemon_set(nodeSelector={"platform.slipway/pool": "cpu"})], NODES) == []


def test_taints_that_the_controller_tolerates_and_preferences_keep_nothing_away() -> None:
    taints = (
        {"key": "node.kubernetes.io/not-ready", "effect": "NoSchedule"},
        {"key": "spot", "effect": "PreferNoSchedule"},
    )
    assert unreached([daemon_set()], [node("new", *taints)]) == []


@pytest.mark.parametrize(
    ("key", "operator", "values", "expected"),
    [
        ("platform.slipway/pool", "In", ["a100"], True),
        ("platform.slipway/pool", "NotIn", ["a100"], False),
        ("absent", "NotIn", ["a100"], True),
        ("gpu-count", "Exists", [], True),
        ("gpu-count", "DoesNotExist", [], False),
        ("gpu-count", "Gt", ["4"], True),
        ("gpu-count", "Lt", ["4"], False),
        ("absent", "Gt", ["0"], False),
    ],
)
def test_operators_of_node_affinity(key: str, operator: str, values: list[str], expected: bool) -> None:
    expression = {"key": key, "operator": operator, "values": values}
    terms = [{"matchExpressions": [expression]}]
    required = {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": terms}}
    assert selects({"affinity": {"nodeAffinity": required}}, NODES[1]) is expected


def test_one_of_several_terms_is_enough_and_fields_name_the_node() -> None:
    fields = [{"key": "metadata.name", "operator": "In", "values": ["gpu-0"]}]
    terms = [{"matchExpressions": [{"key": "absent", "operator": "Exists"}]}, {"matchFields": fields}]
    spec = {
        "affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": terms}}}
    }
    assert [selects(spec, each) for each in NODES] == [False, True, False]
