"""The resolved pool: labels, taints, volumes, guaranteed time of jobs, and that all of it agrees for any pool."""

from dataclasses import replace
from decimal import Decimal
from typing import Any, Final

import pytest
from hypothesis import given, settings

from components.pools.karpenter import limits, node_overlay, node_pool, requirements, wants_overlay
from components.pools.managed import group_tags
from components.queues import resource_flavor
from spec.catalog import instances
from spec.pools import PoolSpec, resolve_all
from spec.pools.allocatable import DAEMON_CPU_MILLIS, DAEMON_MEMORY_MIB, allocatable, nodes_of
from spec.pools.keys import config_name, replicas_of
from spec.pools.pool_spec import Effect, Taint, Toleration, facts, guaranteed_seconds, volumes
from spec.settings.capacity import Market
from spec.settings.queues import Queues
from tests.components.pools.samples import BLOCK, MANAGED_A100, ONE_ZONE, ZONES, platform, spec
from tests.components.pools.strategies import pools
from tests.support.cases import beside

CASES: Final = beside(__file__)

GPU_TAINTS = ["nvidia.com/gpu=true:NoSchedule", "platform.slipway/pool=work:NoSchedule"]


def taints(pool: dict[str, Any]) -> list[str]:
    return [str(taint) for taint in spec(**pool).taints]


def test_a_cpu_pool_has_labels_for_name_and_role_and_no_taint() -> None:
    pool_spec = spec(preset="cpu")
    assert pool_spec.labels == {"platform.slipway/pool": "work", "platform.slipway/role": "general"}
    assert pool_spec.taints == ()
    assert pool_spec.resources == {}
    assert pool_spec.gpu is None


@pytest.mark.parametrize(("pool", "accelerator", "count"), CASES["labels of a gpu pool"])
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


def test_an_arm64_pool_keeps_images_for_amd64_away() -> None:
    pool = {"preset": "cpu", "instanceTypes": ["m8g.xlarge", "m7g.xlarge"]}
    assert taints(pool) == ["kubernetes.io/arch=arm64:NoSchedule"]
    assert {"key": "kubernetes.io/arch", "operator": "In", "values": ["arm64"]} in requirements(spec(**pool))
    assert "toleration" not in str(resource_flavor(spec(**pool), Queues()))
    assert not spec(**pool).plain


def test_a_part_of_a_gpu_is_declared_to_the_autoscalers_which_count_whole_ones() -> None:
    pool = {"role": "inference", "provisioner": "karpenter", "instanceTypes": ["g6f.large", "g6f.xlarge"], "max": 2}
    assert spec(**pool).resources == {"nvidia.com/gpu": 1}
    assert node_overlay(spec(**pool))["capacity"] == {"nvidia.com/gpu": "1"}
    assert not wants_overlay(spec(**{**pool, "instanceTypes": ["g7e.2xlarge"]}))
    managed = group_tags(spec(**{**pool, "provisioner": "managed"}), "ml")
    assert "resources/nvidia.com/gpu" in str(managed)


def test_types_by_family_and_generation_are_those_of_the_catalog() -> None:
    wanted = {"families": ["m7i", "m8i"], "generations": [8], "sizes": ["xlarge"]}
    found = {one["key"]: one["values"] for one in requirements(spec(preset="cpu", instanceRequirements=wanted))}
    assert found["node.kubernetes.io/instance-type"] == ["m8i.xlarge"]
    assert found["karpenter.k8s.aws/instance-family"] == ["m7i", "m8i"]
    assert found["karpenter.k8s.aws/instance-generation"] == ["8"]
    graviton = {"categories": ["c", "m"], "generations": [8], "sizes": ["large"], "arch": "arm64"}
    found_types = spec(preset="cpu", instanceRequirements=graviton).instance_types
    assert [kind.name for kind in found_types] == ["c8g.large", "m8g.large"]


@pytest.mark.parametrize(("mig", "config", "resources"), CASES["mig layouts"])
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


def test_nodes_have_the_clusters_ami_if_it_is_of_their_system_and_version() -> None:
    pools = {
        "system": {"preset": "system"},
        "held": {"preset": "cpu", "provisioner": "managed", "version": "1.34"},
        "own": {"preset": "cpu", "amiRelease": "v20260801"},
        "small": {"preset": "cpu", "os": "bottlerocket"},
    }
    found = resolve_all(platform(pools, cluster={"amiRelease": "1.35.6-20260714"}))
    assert {name: each.ami_release for name, each in found.items()} == {
        "system": "1.35.6-20260714", "held": None, "own": "v20260801", "small": None,
    }  # fmt: skip


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
    tolerating = [[one for one in pool_spec.tolerations if one.tolerates(taint)] for taint in pool_spec.taints]
    assert all(tolerating)
    own = Taint("platform.slipway/pool", pool_spec.name, "NoSchedule")
    assert (own in pool_spec.taints) == (pool_spec.gpu is not None)
    assert all([missing] in tolerating for missing in pool_spec.tolerations), "each is needed"


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


GPU = Taint("nvidia.com/gpu", "true", "NoSchedule")


@pytest.mark.parametrize(
    ("effect", "eks"),
    [("NoSchedule", "NO_SCHEDULE"), ("PreferNoSchedule", "PREFER_NO_SCHEDULE"), ("NoExecute", "NO_EXECUTE")],
)
def test_effects_have_the_spelling_of_eks(effect: Effect, eks: str) -> None:
    assert Taint("team", "vision", effect).eks_effect == eks


def test_a_taint_is_written_as_kubectl_writes_it() -> None:
    assert str(GPU) == "nvidia.com/gpu=true:NoSchedule"


def test_a_taint_without_a_value_has_none_in_its_manifest() -> None:
    assert Taint("team", "", "NoExecute").manifest == {"key": "team", "effect": "NoExecute"}
    assert GPU.manifest == {"key": "nvidia.com/gpu", "value": "true", "effect": "NoSchedule"}


def test_the_toleration_of_a_taint_tolerates_it() -> None:
    assert GPU.toleration.tolerates(GPU)
    assert GPU.toleration.manifest == {
        "key": "nvidia.com/gpu",
        "operator": "Equal",
        "value": "true",
        "effect": "NoSchedule",
    }


@pytest.mark.parametrize("other", [
    Toleration("nvidia.com/gpus", "true", "NoSchedule"),
    Toleration("nvidia.com/gpu", "false", "NoSchedule"),
    Toleration("nvidia.com/gpu", "true", "NoExecute"),
])  # fmt: skip
def test_a_toleration_of_another_taint_does_not(other: Toleration) -> None:
    assert not other.tolerates(GPU)


DISK = {"sizeGib": 300, "iops": 6000, "throughputMibps": 500}


def test_amazon_linux_has_one_volume() -> None:
    (only,) = volumes(spec(preset="cpu", disk=DISK))
    assert (only.device, only.size_gib, only.iops, only.throughput_mibps) == ("/dev/xvda", 300, 6000, 500)
    assert only.holds_data


def test_bottlerocket_has_separate_volumes_for_system_and_data() -> None:
    system, data = volumes(spec(preset="cpu", os="bottlerocket", disk=DISK))
    assert (system.device, system.size_gib, system.holds_data) == ("/dev/xvda", 4, False)
    assert (data.device, data.size_gib, data.iops, data.holds_data) == ("/dev/xvdb", 300, 6000, True)


def test_the_drain_bounds_a_job_and_not_the_age_of_the_node() -> None:
    pool = {"preset": "h100", "disruption": {"expireAfter": "2h", "terminationGracePeriod": "30h"}}
    assert guaranteed_seconds(spec(**pool)) == 30 * 3600


def test_managed_groups_and_spot_pools_have_no_drain_to_rely_on() -> None:
    assert guaranteed_seconds(spec(**MANAGED_A100)) is None
    assert guaranteed_seconds(spec(preset="gpu-spot")) is None


# Allocatable resources of nodes.


@pytest.mark.parametrize(
    ("groups", "nodes"),
    [([(8, 2)], 2), ([(4, 1), (2, 2)], 1), ([(1, 1), (4, 3)], 2), ([(2, 5), (3, 5)], 4), ([(9, 2)], 2), ([(1, 57)], 8)],
)
def test_groups_of_pods_share_nodes_the_large_ones_first(groups: list[tuple[int, int]], nodes: int) -> None:
    (room,) = allocatable(spec(**MANAGED_A100))
    eight = replace(room, devices={"nvidia.com/gpu": 8})
    assert nodes_of(eight, [({"nvidia.com/gpu": Decimal(each)}, count) for each, count in groups]) == nodes


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


@pytest.mark.parametrize(("pool", "devices"), [
    (BLOCK, {"nvidia.com/gpu": 8, "vpc.amazonaws.com/efa": 32}),
    ({**MANAGED_A100, "mig": {"layout": "all-1g.5gb"}}, {"nvidia.com/mig-1g.5gb": 56}),
    ({"preset": "cpu"}, {}),
])  # fmt: skip
def test_devices_are_those_of_the_pool(pool: dict[str, object], devices: dict[str, int]) -> None:
    assert all(dict(node.devices) == devices for node in allocatable(spec(**pool)))


@pytest.mark.parametrize("mode", ["time-slicing", "mps"])
@pytest.mark.parametrize("replicas", [2, 4, 48])
def test_the_name_of_a_configuration_contains_its_replicas(mode: str, replicas: int) -> None:
    assert replicas_of(config_name(mode, replicas)) == replicas


@pytest.mark.parametrize("name", ["", "exclusive", "mps-0", "mps-", "mps-4x", "vgpu-4", "time-slicing-04"])
def test_any_other_name_means_no_sharing(name: str) -> None:
    assert replicas_of(name) == 1
