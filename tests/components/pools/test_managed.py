"""Managed node groups: capacity types, updates, repair and size."""

from __future__ import annotations

from typing import Any

import pulumi_aws as aws
import pytest

from tests.components.pools.samples import BLOCK, MANAGED_A100, ONE_ZONE, record_fleet
from tests.support.mocks import Recording, Registered

ODCR = {"market": "reserved", "reservation": {"kind": "odcr", "id": "cr-0a1b2c3d4e5f67890"}}


def group(recording: Recording, pool: str = "work") -> Registered:
    return recording.of(aws.eks.NodeGroup)[f"pool-{pool}-node-group"]


def inputs(**pool: Any) -> Any:
    return group(record_fleet({"work": pool})).inputs


def test_the_autoscaler_sets_the_size_of_a_group_that_scales() -> None:
    resource_group = group(record_fleet({"work": MANAGED_A100}))
    assert resource_group.inputs["scalingConfig"] == {"minSize": 0, "maxSize": 2, "desiredSize": 0}
    assert resource_group.ignore_changes == ("scalingConfig.desiredSize",)


def test_the_settings_set_the_size_of_a_fixed_group() -> None:
    resource_group = group(record_fleet({"work": {**MANAGED_A100, "min": 2, "max": 2}}))
    assert resource_group.inputs["scalingConfig"] == {"minSize": 2, "maxSize": 2, "desiredSize": 2}
    assert resource_group.ignore_changes == ()


@pytest.mark.parametrize(
    ("pool", "ami"),
    [
        ({"preset": "system"}, "AL2023_x86_64_STANDARD"),
        (MANAGED_A100, "AL2023_x86_64_NVIDIA"),
        ({"preset": "system", "os": "bottlerocket"}, "BOTTLEROCKET_x86_64"),
        ({**MANAGED_A100, "os": "bottlerocket", "localNvme": "none"}, "BOTTLEROCKET_x86_64_NVIDIA"),
    ],
)
def test_the_ami_type_matches_architecture_and_gpus(pool: dict[str, Any], ami: str) -> None:
    assert inputs(**pool)["amiType"] == ami


def test_labels_and_taints_are_the_pools_in_eks_spelling() -> None:
    group_inputs = inputs(**MANAGED_A100, dedicated=True)
    assert group_inputs["labels"]["platform.slipway/pool"] == "work"
    assert group_inputs["taints"] == [
        {"key": "dedicated", "value": "ml-workloads", "effect": "NO_SCHEDULE"},
        {"key": "nvidia.com/gpu", "value": "true", "effect": "NO_SCHEDULE"},
        {"key": "platform.slipway/pool", "value": "work", "effect": "NO_SCHEDULE"},
    ]


def test_on_demand_and_spot_list_their_types_in_configured_order() -> None:
    types = ["g6.4xlarge", "g6.xlarge", "g6.2xlarge"]
    spot = inputs(preset="gpu-spot", provisioner="managed", instanceTypes=types)
    assert (spot["capacityType"], spot["instanceTypes"]) == ("SPOT", types)
    assert inputs(**MANAGED_A100)["capacityType"] == "ON_DEMAND"


def test_a_capacity_block_has_its_type_in_the_template_and_its_market_in_template_and_group() -> None:
    recording = record_fleet({"work": BLOCK})
    resource_group = group(recording)
    template = recording.of(aws.ec2.LaunchTemplate)["pool-work-launch-template"].inputs
    assert resource_group.inputs["capacityType"] == "CAPACITY_BLOCK"
    assert "instanceTypes" not in resource_group.inputs
    assert template["instanceType"] == "p5.48xlarge"
    assert template["instanceMarketOptions"] == {"marketType": "capacity-block"}
    target = {"capacityReservationId": "cr-0a1b2c3d4e5f67890"}
    assert template["capacityReservationSpecification"] == {"capacityReservationTarget": target}
    assert resource_group.inputs["subnetIds"] == ["subnet-private-b"]


def test_a_capacity_block_has_no_nodes_until_it_is_active() -> None:
    reservation = {**BLOCK["capacity"]["reservation"], "active": False}
    waiting = group(record_fleet({"work": {**BLOCK, "capacity": {"market": "reserved", "reservation": reservation}}}))
    assert waiting.inputs["scalingConfig"] == {"minSize": 0, "maxSize": 4, "desiredSize": 0}
    # The program sets the size: once the block is active, and to 0 for an upgrade.
    assert waiting.ignore_changes == ()
    active = group(record_fleet({"work": BLOCK}))
    assert active.inputs["scalingConfig"] == {"minSize": 4, "maxSize": 4, "desiredSize": 4}


def test_an_on_demand_reservation_is_on_demand_and_targeted() -> None:
    recording = record_fleet({"work": {**BLOCK, "capacity": ODCR}})
    template = recording.of(aws.ec2.LaunchTemplate)["pool-work-launch-template"].inputs
    assert group(recording).inputs["capacityType"] == "ON_DEMAND"
    assert group(recording).inputs["instanceTypes"] == ["p5.48xlarge"]
    assert "instanceMarketOptions" not in template
    assert "instanceType" not in template
    assert template["capacityReservationSpecification"]["capacityReservationTarget"] == {
        "capacityReservationId": "cr-0a1b2c3d4e5f67890"
    }


def test_reserved_nodes_are_replaced_without_surge() -> None:
    reserved = group(record_fleet({"work": BLOCK}))
    assert reserved.inputs["updateConfig"]["updateStrategy"] == "MINIMAL"
    assert reserved.delete_before_replace
    other = group(record_fleet({"work": MANAGED_A100}))
    assert other.inputs["updateConfig"] == {"maxUnavailablePercentage": 33, "updateStrategy": "DEFAULT"}
    assert not other.delete_before_replace


def test_updates_and_repair_are_as_configured() -> None:
    group_inputs = inputs(**MANAGED_A100, update={"maxUnavailablePercentage": 10, "force": True}, nodeRepair=False)
    assert group_inputs["updateConfig"]["maxUnavailablePercentage"] == 10
    assert group_inputs["forceUpdateVersion"] is True
    assert group_inputs["nodeRepairConfig"] == {"enabled": False}
    assert inputs(**MANAGED_A100)["nodeRepairConfig"] == {"enabled": True, "maxParallelNodesRepairedCount": 1}


def test_version_and_ami_release_can_be_pinned() -> None:
    group_inputs = inputs(**MANAGED_A100, version="1.34", amiRelease="1.34.0-20260801")
    assert (group_inputs["version"], group_inputs["releaseVersion"]) == ("1.34", "1.34.0-20260801")
    assert "releaseVersion" not in inputs(**MANAGED_A100)


def test_a_group_is_in_the_subnets_of_its_zones() -> None:
    assert inputs(**MANAGED_A100)["subnetIds"] == ["subnet-private-a", "subnet-private-b", "subnet-private-c"]
    assert inputs(**MANAGED_A100, zones=ONE_ZONE)["subnetIds"] == ["subnet-private-b"]


def test_the_group_uses_the_latest_template_version() -> None:
    recording = record_fleet({"work": MANAGED_A100})
    template = recording.of(aws.ec2.LaunchTemplate)["pool-work-launch-template"]
    assert template.inputs["updateDefaultVersion"] is True
    assert group(recording).input_sources["launchTemplate"] == (template.urn,)
    assert group(recording).inputs["launchTemplate"]["version"] == "1"


def test_a_group_depends_on_every_policy_of_its_node_role() -> None:
    # A node without its policies can't join the cluster. The engine creates a dependency first and deletes it last.
    recording = record_fleet({"work": MANAGED_A100})
    role = recording.of(aws.iam.Role)["nodes-role"]
    attachments = {one.urn for one in recording.of(aws.iam.RolePolicyAttachment).values() if role.urn in one.depends_on}
    assert attachments
    assert attachments <= set(group(recording).depends_on)


def test_only_groups_that_scale_tag_their_auto_scaling_group() -> None:
    recording = record_fleet({"work": MANAGED_A100, "block": BLOCK})
    tags = {name: tag for name, tag in recording.of(aws.autoscaling.Tag).items() if name.startswith("pool-work-")}
    assert tags["pool-work-tag-label/accelerator"].inputs["tag"] == {
        "key": "k8s.io/cluster-autoscaler/node-template/label/accelerator",
        "value": "nvidia-a100",
        "propagateAtLaunch": False,
    }
    assert tags["pool-work-tag-cluster"].inputs["tag"]["key"] == "k8s.io/cluster-autoscaler/slipway-test"
    assert {tag.input_sources["autoscalingGroupName"] for tag in tags.values()} == {(group(recording).urn,)}
    assert not [name for name in recording.of(aws.autoscaling.Tag) if name.startswith("pool-block-")]


def test_the_component_has_plain_outputs_about_the_pool() -> None:
    recording = record_fleet({"work": MANAGED_A100}, preview=True)
    outputs = recording.of("slipway:pools:ManagedPool")["pool-work"].outputs["pool"]
    assert outputs["gpu"] == "A100-40GB"
    assert (outputs["min"], outputs["max"], outputs["gpuCount"]) == (0, 2, 8)
    assert outputs["resources"] == {"nvidia.com/gpu": 8}
