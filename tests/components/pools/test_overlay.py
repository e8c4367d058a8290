"""NodeOverlays of pools with partitioned or shared GPUs."""

from __future__ import annotations

from components.pools.overlay import node_overlay, wants_overlay
from tests.components.pools.samples import ONE_ZONE, spec


def test_the_overlay_adds_the_mig_instances_of_one_pool() -> None:
    assert node_overlay(spec(preset="a100", mig={"layout": "all-balanced"})) == {
        "requirements": [{"key": "karpenter.sh/nodepool", "operator": "In", "values": ["work"]}],
        "capacity": {"nvidia.com/mig-1g.5gb": "16", "nvidia.com/mig-2g.10gb": "8", "nvidia.com/mig-3g.20gb": "8"},
    }


def test_the_overlay_counts_a_gpu_once_per_share() -> None:
    shared = {"mode": "time-slicing", "replicas": 4}
    assert node_overlay(spec(preset="gpu-spot", sharing=shared))["capacity"] == {"nvidia.com/gpu": "4"}
    partitioned = spec(preset="a100", role="inference", mig={"layout": "all-2g.10gb"}, sharing=shared)
    assert node_overlay(partitioned)["capacity"] == {"nvidia.com/mig-2g.10gb": "96"}


def test_whole_gpus_and_efa_need_none() -> None:
    assert not wants_overlay(spec(preset="a100", efa=True, zones=ONE_ZONE))
    assert not wants_overlay(spec(preset="a100", mig={"layout": "all-disabled"}))
    assert not wants_overlay(spec(preset="cpu"))
    assert wants_overlay(spec(preset="a100", mig={"layout": "all-1g.5gb"}))
