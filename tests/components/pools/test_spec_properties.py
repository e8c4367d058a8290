"""What holds of every pool that passes the checks, whatever its settings."""

from __future__ import annotations

from typing import Any, Final

from hypothesis import given, settings
from hypothesis import strategies as st

from components.pools import PoolSpec
from components.pools.autoscaling import group_tags
from components.pools.facts import facts
from components.pools.nodepool import limits, node_pool, requirements
from components.pools.overlay import node_overlay, wants_overlay
from components.pools.taints import Taint, all_tolerated
from infra.catalog import instances, mig
from infra.catalog.instances import InstanceType
from tests.components.pools.samples import ZONES, spec
from tests.support.mocks import REGION

OFFERED: Final = [kind for kind in instances.ALL.values() if kind.offered_in(REGION)]
"""Types that a stack in the region may use."""


def alike(kind: InstanceType) -> list[str]:
    """Types that may be in one pool with this one."""
    same = (kind.gpus, kind.gpu_name, kind.arch)
    return [other.name for other in OFFERED if (other.gpus, other.gpu_name, other.arch) == same]


@st.composite
def pools(draw: st.DrawFn) -> dict[str, Any]:
    """A pool in the words of a stack file, valid by construction."""
    kind = draw(st.sampled_from(OFFERED))
    managed = draw(st.booleans())
    most = draw(st.integers(1, 4))
    efa = kind.efa_interfaces > 0 and draw(st.booleans())
    chosen = [kind.name] if efa else draw(st.lists(st.sampled_from(alike(kind)), min_size=1, max_size=4, unique=True))
    pool: dict[str, Any] = {
        "role": draw(st.sampled_from(["general", "training", "inference", "interactive"])),
        "provisioner": "managed" if managed else "karpenter",
        "instanceTypes": chosen,
        "min": draw(st.integers(0, most)) if managed else 0,
        "max": most,
        "maxPods": 16,
        "zones": [draw(st.sampled_from(ZONES))] if efa else draw(st.lists(st.sampled_from(ZONES), unique=True)),
        "efa": efa,
        "dedicated": draw(st.booleans()),
        "os": draw(st.sampled_from(["al2023", "bottlerocket"])),
        "labels": draw(st.dictionaries(st.sampled_from(["example.com/a", "example.com/b"]), st.just("x"))),
        "taints": draw(st.dictionaries(st.just("example.com/t"), st.just({"effect": "NoExecute"}))),
    }
    if kind.gpu_name and mig.is_capable(kind.gpu_name) and draw(st.booleans()):
        pool["mig"] = {"layout": draw(st.sampled_from(mig.layout_names(kind.gpu_name)))}
    return pool


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
    assert whole in {0, found.gpu_count}
    assert not (whole and cut)
    assert bool(whole or cut) == (found.gpu is not None)
    assert all(count % found.gpu_count == 0 for count in cut.values())
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
    assert wants_overlay(found) == any(name.startswith("nvidia.com/mig-") for name in found.resources)
    if wants_overlay(found):
        capacity = node_overlay(found)["capacity"]
        assert {name: int(count) for name, count in capacity.items()} == {
            name: count for name, count in found.resources.items() if name.startswith("nvidia.com/mig-")
        }
