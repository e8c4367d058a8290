"""What holds of every pool that passes the checks, whatever its settings."""

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
def test_a_pool_agrees_with_itself(pool: dict[str, Any]) -> None:
    found = spec(**pool)
    check_labels(found)
    check_taints(found)
    check_resources(found)
    check_tags(found)
    check_manifests(found)
    assert facts(found)["resources"] == found.resources


def check_labels(found: PoolSpec) -> None:
    assert list(found.labels) == sorted(found.labels)
    assert found.labels["platform.slipway/pool"] == found.name
    is_gpu = found.gpu is not None
    assert ("nvidia.com/gpu" in found.labels) == is_gpu
    assert ("accelerator" in found.labels) == is_gpu
    assert ("nvidia.com/mig.config" in found.labels) == (found.mig is not None)
    assert ("nvidia.com/device-plugin.config" in found.labels) == (found.sharing is not None)
    assert all(len(value) <= 63 for value in found.labels.values())


def check_taints(found: PoolSpec) -> None:
    assert list(found.taints) == sorted(found.taints)
    assert all_tolerated(found.taints, found.tolerations)
    own = Taint("platform.slipway/pool", found.name, "NoSchedule")
    assert (own in found.taints) == (found.gpu is not None)
    for missing in found.tolerations:
        assert not all_tolerated(found.taints, [other for other in found.tolerations if other != missing])


def check_resources(found: PoolSpec) -> None:
    assert all(count > 0 for count in found.resources.values())
    whole = found.resources.get("nvidia.com/gpu", 0)
    cut = {name: count for name, count in found.resources.items() if name.startswith("nvidia.com/mig-")}
    shares = found.gpu_count * (found.sharing.replicas if found.sharing else 1)
    assert whole in {0, shares}
    assert not (whole and cut)
    assert bool(whole or cut) == (found.gpu is not None)
    assert all(count % shares == 0 for count in cut.values())
    assert found.resources.get("vpc.amazonaws.com/efa", 0) == found.efa_count


def check_tags(found: PoolSpec) -> None:
    tags = {tag.key: tag.value for tag in group_tags(found, "ml")}
    assert bool(tags) == found.scales
    assert len(tags) <= 40  # of the 50 that AWS allows, EKS takes some (EC2 Auto Scaling User Guide, "Tag ... groups")
    if tags:
        prefix = "k8s.io/cluster-autoscaler/node-template"
        assert all(tags[f"{prefix}/label/{key}"] == value for key, value in found.labels.items())
        assert all(tags[f"{prefix}/taint/{t.key}"] == f"{t.value}:{t.effect}" for t in found.taints)


def check_manifests(found: PoolSpec) -> None:
    template = node_pool(found)["template"]
    assert template["metadata"]["labels"] == found.labels
    assert template["spec"].get("taints", []) == [taint.manifest for taint in found.taints]
    values = {each["key"]: each["values"] for each in requirements(found)}
    assert values["node.kubernetes.io/instance-type"] == sorted(kind.name for kind in found.instance_types)
    assert list(values) == sorted(values)
    bounds = limits(found)
    assert all(int(bounds["cpu"]) >= found.settings.max * kind.vcpus for kind in found.instance_types)
    assert ("nvidia.com/gpu" in bounds) == (found.gpu is not None)
    unknown = {
        name: str(count)
        for name, count in found.resources.items()
        if name.startswith("nvidia.com/mig-") or (name == "nvidia.com/gpu" and found.sharing)
    }
    assert wants_overlay(found) == bool(unknown)
    if unknown:
        assert node_overlay(found)["capacity"] == unknown
        assert {f"resources/{name}": count for name, count in unknown.items()}.items() <= roles(found).items()


def roles(found: PoolSpec) -> dict[str, str]:
    """Tags of a group that scales and has the settings of this one."""
    scaling = replace(found, settings=found.settings.model_copy(update={"min": 0}))
    return {tag.role: tag.value for tag in group_tags(scaling, "ml")}
