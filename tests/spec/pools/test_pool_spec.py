"""Resolved pools, case by case."""

from __future__ import annotations

from typing import Any

import pytest

from spec.settings.capacity import Market
from tests.components.pools.samples import BLOCK, MANAGED_A100, ONE_ZONE, ZONES, platform, spec

GPU_TAINTS = ["nvidia.com/gpu=true:NoSchedule", "platform.slipway/pool=work:NoSchedule"]


def taints(pool: dict[str, Any]) -> list[str]:
    return [str(taint) for taint in spec(**pool).taints]


def test_a_cpu_pool_has_labels_for_name_and_role_and_no_taint() -> None:
    pool_spec = spec(preset="cpu")
    assert pool_spec.labels == {"platform.slipway/pool": "work", "platform.slipway/role": "general"}
    assert pool_spec.taints == ()
    assert pool_spec.resources == {}
    assert pool_spec.gpu is None


@pytest.mark.parametrize(
    ("pool", "accelerator", "count"),
    [
        ({"preset": "a100"}, "nvidia-a100", "8"),
        ({"preset": "a100", "instanceTypes": ["p4de.24xlarge"]}, "nvidia-a100", "8"),
        ({"preset": "h100"}, "nvidia-h100", "8"),
        ({"preset": "h100", "instanceTypes": ["p5.4xlarge"]}, "nvidia-h100", "1"),
        ({"preset": "gpu-spot"}, "nvidia-l4", "1"),
    ],
)
def test_a_gpu_pool_has_labels_for_its_gpus_and_taints_against_other_pods(
    pool: dict[str, Any], accelerator: str, count: str
) -> None:
    pool_spec = spec(**pool)
    assert pool_spec.labels["nvidia.com/gpu"] == "true"
    assert pool_spec.labels["accelerator"] == accelerator
    assert pool_spec.labels["gpu-count"] == count
    assert pool_spec.resources["nvidia.com/gpu"] == int(count)
    assert taints(pool) == GPU_TAINTS


def test_a_dedicated_pool_has_one_more_taint() -> None:
    assert taints({"preset": "h100", "dedicated": True}) == ["dedicated=ml-workloads:NoSchedule", *GPU_TAINTS]
    assert taints({"preset": "cpu", "dedicated": True}) == ["dedicated=ml-workloads:NoSchedule"]


def test_labels_and_taints_of_the_file_are_added() -> None:
    own: dict[str, Any] = {
        "labels": {"example.com/rack": "7"},
        "taints": {"example.com/team": {"value": "vision", "effect": "NoExecute"}},
    }
    pool_spec = spec(preset="h100", **own)
    assert pool_spec.labels["example.com/rack"] == "7"
    assert "example.com/team=vision:NoExecute" in taints({"preset": "h100", **own})


def test_the_system_pool_has_no_taint_by_default() -> None:
    assert taints({"preset": "system"}) == []
    asked = {"CriticalAddonsOnly": {"value": "true", "effect": "NoSchedule"}}
    assert taints({"preset": "system", "taints": asked}) == ["CriticalAddonsOnly=true:NoSchedule"]


@pytest.mark.parametrize(
    ("mig", "config", "resources"),
    [
        ({"layout": "all-1g.5gb"}, "all-1g.5gb", {"nvidia.com/mig-1g.5gb": 56}),
        (
            {"layout": "all-balanced"},
            "all-balanced",
            {"nvidia.com/mig-1g.5gb": 16, "nvidia.com/mig-2g.10gb": 8, "nvidia.com/mig-3g.20gb": 8},
        ),
        ({"layout": "all-1g.5gb.me"}, "all-1g.5gb.me", {"nvidia.com/mig-1g.5gb.me": 8}),
        ({"layout": "all-disabled"}, "all-disabled", {"nvidia.com/gpu": 8}),
        (
            {"profiles": {"3g.20gb": 1, "1g.5gb": 3}},
            "slipway-3x1g.5gb-1x3g.20gb",
            {"nvidia.com/mig-1g.5gb": 24, "nvidia.com/mig-3g.20gb": 8},
        ),
    ],
)
def test_a_mig_layout_is_a_label_and_its_instances_are_counted_over_all_gpus(
    mig: dict[str, Any], config: str, resources: dict[str, int]
) -> None:
    pool_spec = spec(preset="a100", mig=mig)
    assert pool_spec.mig is not None
    assert pool_spec.mig.config == config
    assert pool_spec.labels["nvidia.com/mig.config"] == config
    assert pool_spec.resources == resources
    assert pool_spec.labels["gpu-count"] == "8"


def test_a_pool_without_mig_has_no_layout_label() -> None:
    assert "nvidia.com/mig.config" not in spec(preset="a100").labels


def test_only_managed_groups_with_whole_gpus_have_the_label_of_cluster_autoscaler() -> None:
    key = "k8s.amazonaws.com/accelerator"
    assert spec(**MANAGED_A100).labels[key] == "nvidia-a100"
    assert key not in spec(**MANAGED_A100, mig={"layout": "all-2g.10gb"}).labels
    assert key in spec(**MANAGED_A100, mig={"layout": "all-disabled"}).labels
    assert key not in spec(preset="a100").labels
    assert key not in spec(preset="system").labels


def test_efa_counts_every_adapter_of_the_machine() -> None:
    assert spec(preset="a100", efa=True, zones=ONE_ZONE).resources["vpc.amazonaws.com/efa"] == 4
    assert spec(preset="h100", efa=True, zones=ONE_ZONE).resources["vpc.amazonaws.com/efa"] == 32
    assert "vpc.amazonaws.com/efa" not in spec(preset="h100").resources


def test_a_placement_group_is_for_efa_on_capacity_that_is_not_reserved() -> None:
    assert spec(preset="h100", efa=True, zones=ONE_ZONE).placement_group
    assert not spec(preset="h100").placement_group
    assert not spec(**BLOCK).placement_group
    odcr = {"market": "reserved", "reservation": {"kind": "odcr", "id": "cr-0a1b2c3d4e5f67890"}}
    assert not spec(**{**BLOCK, "capacity": odcr}).placement_group


def test_only_a_capacity_block_counts_as_one() -> None:
    assert spec(**BLOCK).capacity_block
    assert spec(**BLOCK).market is Market.RESERVED
    assert not spec(preset="h100").capacity_block


def test_zones_are_the_networks_unless_the_pool_names_some() -> None:
    assert spec(preset="cpu").zones == ZONES
    assert spec(preset="cpu", zones=[ZONES[2], ZONES[0]]).zones == (ZONES[0], ZONES[2])
    assert spec(preset="cpu", zones=[ZONES[2], ZONES[0]]).zone_letters == ("a", "c")


def test_nodes_have_the_clusters_version_unless_the_pool_has_its_own() -> None:
    assert spec(preset="system", version="1.34").kubernetes == "1.34"
    assert spec(preset="system").kubernetes == platform({}).cluster.version


def test_scratch_space_is_on_the_local_disks_if_they_are_one_array() -> None:
    assert spec(preset="a100").scratch_gib == 7450  # 8000 GB
    assert spec(preset="a100", localNvme="none", disk={"sizeGib": 300}).scratch_gib == 300


def test_types_keep_the_order_of_the_file() -> None:
    order = ["m7i.xlarge", "m6i.xlarge", "m7a.xlarge"]
    assert [kind.name for kind in spec(preset="system", instanceTypes=order).instance_types] == order


def test_a_pod_selects_the_pool_by_its_name() -> None:
    assert spec(preset="h100").node_selector == {"platform.slipway/pool": "work"}
