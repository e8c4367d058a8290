"""Where pods of add-ons may run."""

from collections.abc import Mapping
from typing import Any

import pytest

from components.base.addon import AddOnContext
from components.base.placement import (
    every_toleration,
    gpu_tolerations,
    pool_tolerations,
)
from spec.pools import PoolSpec, resolve_all
from tests.components.pools.samples import SYSTEM, platform
from tests.support.context import POOLS, addon_context
from tests.support.mocks import run

CRITICAL = {"key": "CriticalAddonsOnly", "operator": "Exists"}


def resolved(pools: Mapping[str, Mapping[str, Any]] = POOLS) -> dict[str, PoolSpec]:
    return resolve_all(platform(pools))


def context_of(**parts: Any) -> AddOnContext:
    contexts: list[AddOnContext] = []
    run(lambda: contexts.append(addon_context(**parts)))
    return contexts[0]


def tolerated(pool: PoolSpec, tolerations: list[dict[str, str]]) -> bool:
    """The scheduler's rule (kubernetes.io, "Taints and Tolerations")."""
    return all(
        any(
            each["key"] == taint.key
            and each.get("effect", taint.effect) == taint.effect
            and (each["operator"] == "Exists" or each.get("value", "") == taint.value)
            for each in tolerations
        )
        for taint in pool.taints
    )


def test_controllers_run_only_on_system_pools() -> None:
    placement = context_of().placement
    assert placement["nodeSelector"] == {"platform.slipway/role": "system"}
    assert placement["tolerations"] == [CRITICAL]


def test_controllers_tolerate_every_taint_of_system_pools() -> None:
    taints = {"ours.example/quiet": {"effect": "NoExecute"}, "CriticalAddonsOnly": {"effect": "NoSchedule"}}
    context = context_of(pools={"system": {**SYSTEM, "taints": taints}})
    tolerations = context.placement["tolerations"]
    assert tolerated(context.pools["system"], tolerations)
    assert [each["key"] for each in tolerations] == ["CriticalAddonsOnly", "ours.example/quiet"]


def test_agents_of_gpu_nodes_tolerate_exactly_the_taints_of_gpu_pools() -> None:
    pools = resolved()
    tolerations = gpu_tolerations(pools)
    assert all(tolerated(spec, tolerations) for spec in pools.values() if spec.gpu)
    assert {each["key"] for each in tolerations} == {"nvidia.com/gpu", "platform.slipway/pool", "dedicated"}


def test_a_taint_of_many_pools_is_tolerated_once() -> None:
    tolerations = gpu_tolerations(resolved())
    assert len(tolerations) == len({tuple(sorted(each.items())) for each in tolerations})
    assert len([each for each in tolerations if each["key"] == "nvidia.com/gpu"]) == 1


def test_without_gpu_pools_there_is_no_toleration() -> None:
    assert gpu_tolerations(resolved({})) == []


def test_tolerations_of_named_pools_match_only_those() -> None:
    pools = resolved()
    tolerations = pool_tolerations(pools, ["a100"])
    assert tolerated(pools["a100"], tolerations)
    assert not tolerated(pools["gpu-spot"], tolerations)
    with pytest.raises(KeyError):
        pool_tolerations(pools, ["a101"])


def test_an_agent_of_every_node_tolerates_every_taint() -> None:
    pools = resolved()
    assert all(tolerated(spec, every_toleration(pools)) for spec in pools.values())


def test_the_order_of_pools_is_irrelevant() -> None:
    pools = resolved()
    assert gpu_tolerations(pools) == gpu_tolerations(dict(reversed(list(pools.items()))))
