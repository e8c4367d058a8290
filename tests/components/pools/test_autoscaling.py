"""Tags from which Cluster Autoscaler predicts the nodes of an empty group."""

from __future__ import annotations

from components.pools.autoscaling import group_tags
from tests.components.pools.samples import BLOCK, MANAGED_A100, ONE_ZONE, SYSTEM, spec

PREFIX = "k8s.io/cluster-autoscaler/"


def test_a_mig_group_has_tags_for_its_resources() -> None:
    manifest = spec(**MANAGED_A100, mig={"layout": "all-balanced"})
    assert {tag.key.removeprefix(PREFIX): tag.value for tag in group_tags(manifest, "ml")} == {
        "enabled": "true",
        "ml": "owned",
        "node-template/autoscaling-options/ignoredaemonsetsutilization": "true",
        "node-template/autoscaling-options/scaledowngpuutilizationthreshold": "0.01",
        "node-template/autoscaling-options/scaledownutilizationthreshold": "0.01",
        "node-template/label/accelerator": "nvidia-a100",
        "node-template/label/gpu-count": "8",
        "node-template/label/nvidia.com/gpu": "true",
        "node-template/label/nvidia.com/mig.config": "all-balanced",
        "node-template/label/platform.slipway/pool": "work",
        "node-template/label/platform.slipway/role": "training",
        "node-template/resources/ephemeral-storage": "7450Gi",
        "node-template/resources/nvidia.com/gpu": "0",
        "node-template/resources/nvidia.com/mig-1g.5gb": "16",
        "node-template/resources/nvidia.com/mig-2g.10gb": "8",
        "node-template/resources/nvidia.com/mig-3g.20gb": "8",
        "node-template/taint/nvidia.com/gpu": "true:NoSchedule",
        "node-template/taint/platform.slipway/pool": "work:NoSchedule",
    }


def test_whole_gpus_need_no_resource_tag_but_efa_does() -> None:
    manifest = spec(**MANAGED_A100, efa=True, zones=ONE_ZONE)
    roles = {tag.role: tag.value for tag in group_tags(manifest, "ml")}
    assert "resources/nvidia.com/gpu" not in roles
    assert roles["resources/vpc.amazonaws.com/efa"] == "4"
    assert roles["label/k8s.amazonaws.com/accelerator"] == "nvidia-a100"


def test_shared_gpus_have_a_resource_tag() -> None:
    manifest = spec(**{**MANAGED_A100, "role": "inference"}, sharing={"mode": "mps", "replicas": 3})
    roles = {tag.role: tag.value for tag in group_tags(manifest, "ml")}
    assert roles["resources/nvidia.com/gpu"] == "24"
    assert roles["label/nvidia.com/device-plugin.config"] == "mps-3"


def test_a_cpu_group_has_a_tag_for_ephemeral_storage() -> None:
    roles = {tag.role: tag.value for tag in group_tags(spec(**SYSTEM), "ml")}
    assert roles["resources/ephemeral-storage"] == "50Gi"
    assert not any(role.startswith(("taint/", "autoscaling-options/")) for role in roles)


def test_a_fixed_group_has_no_tags() -> None:
    assert group_tags(spec(**BLOCK), "ml") == ()


def test_tag_roles_do_not_contain_the_cluster_and_are_sorted() -> None:
    roles = [tag.role for tag in group_tags(spec(**SYSTEM), "slipway-prod")]
    assert roles == sorted(roles)
    assert not any("slipway-prod" in role for role in roles)
