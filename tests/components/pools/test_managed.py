"""Managed node groups: capacity types, updates, repair and size."""

from typing import Any

import pulumi_aws as aws

from components.pools.managed import group_tags
from tests.components.pools.samples import BLOCK, MANAGED_A100, ONE_ZONE, SYSTEM, record_fleet, spec
from tests.support.mocks import Recording


def test_the_component_has_plain_outputs_about_the_pool() -> None:
    recording = record_fleet({"work": MANAGED_A100}, preview=True)
    outputs = recording.of("slipway:pools:ManagedPool")["pool-work"].outputs["pool"]
    assert outputs["gpu"] == "A100-40GB"
    assert (outputs["min"], outputs["max"], outputs["gpuCount"]) == (0, 2, 8)
    assert outputs["resources"] == {"nvidia.com/gpu": 8}


PREFIX = "k8s.io/cluster-autoscaler/"


def test_a_mig_group_has_tags_for_its_resources() -> None:
    manifest = spec(**MANAGED_A100, mig={"layout": "all-balanced"})
    assert {tag.key.removeprefix(PREFIX): tag.value for tag in group_tags(manifest, "ml")} == {"enabled": "true",
        "ml": "owned", "node-template/autoscaling-options/ignoredaemonsetsutilization": "true",
        "node-template/autoscaling-options/scaledowngpuutilizationthreshold": "0.01",
        "node-template/autoscaling-options/scaledownutilizationthreshold": "0.01",
        "node-template/label/accelerator": "nvidia-a100", "node-template/label/gpu-count": "8",
        "node-template/label/nvidia.com/gpu": "true", "node-template/label/nvidia.com/mig.config": "all-balanced",
        "node-template/label/platform.slipway/pool": "work", "node-template/label/platform.slipway/role": "training",
        "node-template/resources/ephemeral-storage": "7450Gi", "node-template/resources/nvidia.com/gpu": "0",
        "node-template/resources/nvidia.com/mig-1g.5gb": "16", "node-template/resources/nvidia.com/mig-2g.10gb": "8",
        "node-template/resources/nvidia.com/mig-3g.20gb": "8", "node-template/taint/nvidia.com/gpu": "true:NoSchedule",
        "node-template/taint/platform.slipway/pool": "work:NoSchedule"}  # fmt: skip


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


NAME = "pool-work-launch-template"
EFA: dict[str, Any] = {**MANAGED_A100, "efa": True, "zones": ONE_ZONE}


def template(pool: dict[str, Any]) -> Any:
    return record_fleet({"work": pool}).of(aws.ec2.LaunchTemplate)[NAME].inputs


def test_both_volumes_of_bottlerocket_are_encrypted() -> None:
    manifest = template({"preset": "system", "os": "bottlerocket"})["blockDeviceMappings"]
    assert [device["deviceName"] for device in manifest] == ["/dev/xvda", "/dev/xvdb"]
    assert {device["ebs"]["encrypted"] for device in manifest} == {"true"}


def test_an_efa_node_has_an_interface_per_card_in_both_security_groups() -> None:
    recording = record_fleet({"work": {**EFA, "instanceTypes": ["p4d.24xlarge"]}})
    launch = recording.of(aws.ec2.LaunchTemplate)[NAME]
    layout = [(i["networkCardIndex"], i["deviceIndex"], i["interfaceType"]) for i in launch.inputs["networkInterfaces"]]
    assert layout == [(0, 0, "efa"), (1, 1, "efa-only"), (2, 1, "efa-only"), (3, 1, "efa-only")]
    groups = {tuple(interface["securityGroups"]) for interface in launch.inputs["networkInterfaces"]}
    assert len(groups) == 1
    assert {source.urn for source in sources(recording, launch.input_sources["networkInterfaces"])} == {
        recording.one(aws.eks.Cluster).urn,
        recording.one(aws.ec2.SecurityGroup).urn,
    }
    assert "vpcSecurityGroupIds" not in launch.inputs


def sources(recording: Recording, urns: tuple[str, ...]) -> list[Any]:
    return [recording.resources[urn] for urn in urns]


def test_a_p5_has_32_interfaces() -> None:
    manifest = template({**EFA, "preset": "h100"})["networkInterfaces"]
    assert [interface["networkCardIndex"] for interface in manifest] == list(range(32))
