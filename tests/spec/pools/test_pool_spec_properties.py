"""Properties of every pool that passes the checks."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from hypothesis import given, settings

from components.pools.autoscaling import group_tags
from components.pools.nodepool import limits, node_pool, requirements
from components.pools.overlay import node_overlay, wants_overlay
from spec.pools import PoolSpec
from spec.pools.facts import facts
from spec.pools.taints import Taint, all_tolerated
from tests.components.pools.samples import spec
from tests.components.pools.strategies import pools


@given(pools())
@settings(deadline=None, max_examples=150)
def test_labels_taints_resources_tags_and_manifests_of_a_pool_agree(pool: dict[str, Any]) -> None:
    pool_spec = spec(**pool)
    check_labels(pool_spec)
    check_taints(pool_spec)
    check_resources(pool_spec)
    check_tags(pool_spec)
    check_manifests(pool_spec)
    assert facts(pool_spec)["resources"] == pool_spec.resources


def check_labels(pool_spec: PoolSpec) -> None:
    assert list(pool_spec.labels) == sorted(pool_spec.labels)
    assert pool_spec.labels["platform.slipway/pool"] == pool_spec.name
    is_gpu = pool_spec.gpu is not None
    assert ("nvidia.com/gpu" in pool_spec.labels) == is_gpu
    assert ("accelerator" in pool_spec.labels) == is_gpu
    assert ("nvidia.com/mig.config" in pool_spec.labels) == (pool_spec.mig is not None)
    assert ("nvidia.com/device-plugin.config" in pool_spec.labels) == (pool_spec.sharing is not None)
    assert all(len(value) <= 63 for value in pool_spec.labels.values())


def check_taints(pool_spec: PoolSpec) -> None:
    assert list(pool_spec.taints) == sorted(pool_spec.taints)
    assert all_tolerated(pool_spec.taints, pool_spec.tolerations)
    own = Taint("platform.slipway/pool", pool_spec.name, "NoSchedule")
    assert (own in pool_spec.taints) == (pool_spec.gpu is not None)
    for missing in pool_spec.tolerations:
        assert not all_tolerated(pool_spec.taints, [other for other in pool_spec.tolerations if other != missing])


def check_resources(pool_spec: PoolSpec) -> None:
    assert all(count > 0 for count in pool_spec.resources.values())
    whole = pool_spec.resources.get("nvidia.com/gpu", 0)
    partitioned = {name: count for name, count in pool_spec.resources.items() if name.startswith("nvidia.com/mig-")}
    shares = pool_spec.gpu_count * (pool_spec.sharing.replicas if pool_spec.sharing else 1)
    assert whole in {0, shares}
    assert not (whole and partitioned)
    assert bool(whole or partitioned) == (pool_spec.gpu is not None)
    assert all(count % shares == 0 for count in partitioned.values())
    assert pool_spec.resources.get("vpc.amazonaws.com/efa", 0) == pool_spec.efa_count


def check_tags(pool_spec: PoolSpec) -> None:
    tags = {tag.key: tag.value for tag in group_tags(pool_spec, "ml")}
    assert bool(tags) == pool_spec.scales
    assert len(tags) <= 40  # EKS uses some of the 50 that AWS allows (EC2 Auto Scaling User Guide, "Tag ... groups")
    if tags:
        prefix = "k8s.io/cluster-autoscaler/node-template"
        assert all(tags[f"{prefix}/label/{key}"] == value for key, value in pool_spec.labels.items())
        assert all(tags[f"{prefix}/taint/{t.key}"] == f"{t.value}:{t.effect}" for t in pool_spec.taints)


def check_manifests(pool_spec: PoolSpec) -> None:
    template = node_pool(pool_spec)["template"]
    assert template["metadata"]["labels"] == pool_spec.labels
    assert template["spec"].get("taints", []) == [taint.manifest for taint in pool_spec.taints]
    values = {each["key"]: each["values"] for each in requirements(pool_spec)}
    assert values["node.kubernetes.io/instance-type"] == sorted(kind.name for kind in pool_spec.instance_types)
    assert list(values) == sorted(values)
    bounds = limits(pool_spec)
    assert all(int(bounds["cpu"]) >= pool_spec.settings.max * kind.vcpus for kind in pool_spec.instance_types)
    assert ("nvidia.com/gpu" in bounds) == (pool_spec.gpu is not None)
    unknown = {
        name: str(count)
        for name, count in pool_spec.resources.items()
        if name.startswith("nvidia.com/mig-") or (name == "nvidia.com/gpu" and pool_spec.sharing)
    }
    assert wants_overlay(pool_spec) == bool(unknown)
    if unknown:
        assert node_overlay(pool_spec)["capacity"] == unknown
        assert {f"resources/{name}": count for name, count in unknown.items()}.items() <= roles(pool_spec).items()


def roles(pool_spec: PoolSpec) -> dict[str, str]:
    """Tags of a group that scales and has the settings of this one."""
    scaling = replace(pool_spec, settings=pool_spec.settings.model_copy(update={"min": 0}))
    return {tag.role: tag.value for tag in group_tags(scaling, "ml")}
