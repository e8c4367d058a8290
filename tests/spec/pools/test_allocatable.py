"""Allocatable resources of nodes."""

import pytest

from spec.catalog import instances
from spec.pools.allocatable import DAEMON_CPU_MILLIS, DAEMON_MEMORY_MIB, allocatable
from tests.components.pools.samples import BLOCK, MANAGED_A100, spec


def test_allocatable_is_without_kubelet_and_daemon_sets() -> None:
    (node,) = allocatable(spec(**MANAGED_A100))
    kind = instances.get("p4d.24xlarge")
    assert node.cpu_millis == kind.allocatable_cpu_millis - DAEMON_CPU_MILLIS
    assert node.memory_mib == kind.allocatable_memory_at(110) - DAEMON_MEMORY_MIB
    assert node.memory_mib < kind.memory_mib * 0.925


def test_more_pods_per_node_leave_less_memory() -> None:
    (many,), (few,) = allocatable(spec(**MANAGED_A100, maxPods=250)), allocatable(spec(**MANAGED_A100, maxPods=10))
    # 11 MiB for each possible pod.
    assert few.memory_mib - many.memory_mib == 240 * 11


def test_karpenter_chooses_among_all_types_and_a_managed_group_may_get_the_smallest() -> None:
    types = ["m7i.xlarge", "m7i.4xlarge", "m7a.2xlarge"]
    elastic = allocatable(spec(preset="cpu", instanceTypes=types))
    fixed = allocatable(spec(preset="cpu", provisioner="managed", instanceTypes=types))
    assert [node.instance_type for node in elastic] == types
    assert [node.instance_type for node in fixed] == ["m7i.xlarge"]
    assert fixed[0].memory_mib == min(node.memory_mib for node in elastic)


def test_a_pod_of_a_managed_group_must_fit_the_fewest_cpus_and_the_least_memory_of_any_type() -> None:
    # 8 vCPUs with 16 GiB, and 4 vCPUs with 32 GiB.
    types = ["c7i.2xlarge", "r7i.xlarge"]
    elastic = allocatable(spec(preset="cpu", instanceTypes=types))
    (fixed,) = allocatable(spec(preset="cpu", provisioner="managed", instanceTypes=types))
    by_type = {room.instance_type: room for room in elastic}
    assert fixed.cpu_millis == by_type["r7i.xlarge"].cpu_millis < by_type["c7i.2xlarge"].cpu_millis
    assert fixed.memory_mib == by_type["c7i.2xlarge"].memory_mib < by_type["r7i.xlarge"].memory_mib


@pytest.mark.parametrize(
    ("pool", "devices"),
    [
        (BLOCK, {"nvidia.com/gpu": 8, "vpc.amazonaws.com/efa": 32}),
        ({**MANAGED_A100, "mig": {"layout": "all-1g.5gb"}}, {"nvidia.com/mig-1g.5gb": 56}),
        ({"preset": "cpu"}, {}),
    ],
)
def test_devices_are_those_of_the_pool(pool: dict[str, object], devices: dict[str, int]) -> None:
    assert all(dict(node.devices) == devices for node in allocatable(spec(**pool)))
