"""The NodePool of an elastic pool."""

from __future__ import annotations

from components.pools.nodepool import limits, node_pool, requirements
from tests.components.pools.samples import ZONES, spec

SPOT = {"preset": "gpu-spot"}
RESERVED = {
    "preset": "h100",
    "capacity": {"market": "reserved", "reservation": {"kind": "odcr", "id": "cr-0a1b2c3d4e5f67890"}},
}


def test_requirements_have_types_zones_and_capacity_type() -> None:
    assert requirements(spec(**SPOT, zones=[ZONES[1], ZONES[0]])) == [
        {"key": "karpenter.sh/capacity-type", "operator": "In", "values": ["spot"]},
        {"key": "kubernetes.io/arch", "operator": "In", "values": ["amd64"]},
        {"key": "kubernetes.io/os", "operator": "In", "values": ["linux"]},
        {
            "key": "node.kubernetes.io/instance-type",
            "operator": "In",
            "values": ["g6.2xlarge", "g6.4xlarge", "g6.8xlarge", "g6.xlarge"],
        },
        {"key": "topology.kubernetes.io/zone", "operator": "In", "values": [ZONES[0], ZONES[1]]},
    ]


def test_reserved_pools_use_only_their_reservation() -> None:
    assert requirements(spec(**RESERVED))[0]["values"] == ["reserved"]
    assert requirements(spec(preset="cpu"))[0]["values"] == ["on-demand"]


def test_limits_are_max_times_the_largest_type() -> None:
    # g6.8xlarge, the largest type: 32 vCPU, 128 GiB, one L4.
    assert limits(spec(**SPOT, max=3)) == {
        "cpu": "96",
        "memory": f"{3 * 128 * 1024}Mi",
        "nodes": "3",
        "nvidia.com/gpu": "3",
    }


def test_limits_count_a_gpu_once_per_share() -> None:
    """Karpenter compares limits with the capacity of nodes, which overlay and device plugin multiply."""
    shared = {"mode": "time-slicing", "replicas": 4}
    assert limits(spec(preset="gpu-spot", max=2, sharing=shared))["nvidia.com/gpu"] == "8"


def test_limits_count_gpus_and_not_mig_instances() -> None:
    assert limits(spec(preset="a100", max=2, mig={"layout": "all-1g.5gb"}))["nvidia.com/gpu"] == "16"


def test_a_cpu_pool_has_no_gpu_limit() -> None:
    assert sorted(limits(spec(preset="cpu"))) == ["cpu", "memory", "nodes"]


def test_disruption_is_as_configured_with_budgets_sorted_by_key() -> None:
    budgets = {
        "nights": {"nodes": "2", "schedule": "0 20 * * *", "duration": "10h", "reasons": ["Drifted"]},
        "always": {"nodes": "10%"},
    }
    disruption = {"consolidationPolicy": "WhenEmptyOrUnderutilized", "consolidateAfter": "5m", "budgets": budgets}
    pool = {"role": "general", "provisioner": "karpenter", "instanceTypes": ["m7i.xlarge"], "max": 2}
    assert node_pool(spec(**pool, disruption=disruption))["disruption"] == {
        "consolidationPolicy": "WhenEmptyOrUnderutilized",
        "consolidateAfter": "5m",
        "budgets": [
            {"nodes": "10%"},
            {"nodes": "2", "schedule": "0 20 * * *", "duration": "10h", "reasons": ["Drifted"]},
        ],
    }


def test_without_budgets_karpenters_default_applies() -> None:
    pool = {"role": "general", "provisioner": "karpenter", "instanceTypes": ["m7i.xlarge"], "max": 2}
    assert "budgets" not in node_pool(spec(**pool))["disruption"]


def test_expiry_and_grace_period_are_as_configured() -> None:
    template = node_pool(spec(preset="cpu", disruption={"expireAfter": "Never", "terminationGracePeriod": "2h"}))[
        "template"
    ]
    assert template["spec"]["expireAfter"] == "Never"
    assert template["spec"]["terminationGracePeriod"] == "2h"


def test_the_node_class_has_the_pools_name() -> None:
    assert node_pool(spec(preset="cpu"))["template"]["spec"]["nodeClassRef"] == {
        "group": "karpenter.k8s.aws",
        "kind": "EC2NodeClass",
        "name": "work",
    }


def test_without_taints_the_field_is_omitted() -> None:
    assert "taints" not in node_pool(spec(preset="cpu"))["template"]["spec"]
    assert "startupTaints" not in node_pool(spec(**SPOT))["template"]["spec"]
