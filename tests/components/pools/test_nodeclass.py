"""The EC2NodeClass of an elastic pool."""

from __future__ import annotations

from typing import Any

from components.pools.nodeclass import NodeClassArgs, node_class
from tests.components.pools.samples import ONE_ZONE, spec


def manifest(placement_group: str | None = None, **pool: Any) -> dict[str, Any]:
    return node_class(
        NodeClassArgs(
            spec=spec(**pool),
            cluster="ml",
            instance_profile="ml-nodes",
            placement_group=placement_group,
            tags={"owner": "ml-platform"},
        )
    )


def test_subnets_and_groups_are_selected_by_tags_of_this_cluster() -> None:
    result = manifest(preset="cpu")
    assert result["subnetSelectorTerms"] == [{"tags": {"karpenter.sh/discovery": "ml"}}]
    assert result["securityGroupSelectorTerms"] == [{"tags": {"aws:eks:cluster-name": "ml"}}]


def test_nodes_use_an_existing_instance_profile() -> None:
    result = manifest(preset="cpu")
    assert result["instanceProfile"] == "ml-nodes"
    assert "role" not in result


def test_the_ami_is_the_newest_unless_pinned() -> None:
    assert manifest(preset="cpu")["amiSelectorTerms"] == [{"alias": "al2023@latest"}]
    pinned = manifest(preset="cpu", os="bottlerocket", amiRelease="v1.50.0")
    assert pinned["amiSelectorTerms"] == [{"alias": "bottlerocket@v1.50.0"}]


def test_pods_cannot_reach_the_metadata_service() -> None:
    assert manifest(preset="cpu")["metadataOptions"] == {
        "httpEndpoint": "enabled",
        "httpTokens": "required",
        "httpPutResponseHopLimit": 1,
    }


def test_volumes_are_encrypted() -> None:
    (only,) = manifest(preset="cpu", disk={"sizeGib": 120})["blockDeviceMappings"]
    assert only == {
        "deviceName": "/dev/xvda",
        "rootVolume": True,
        "ebs": {
            "volumeType": "gp3",
            "volumeSize": "120Gi",
            "iops": 3000,
            "throughput": 125,
            "encrypted": True,
            "deleteOnTermination": True,
        },
    }
    system, data = manifest(preset="cpu", os="bottlerocket")["blockDeviceMappings"]
    assert (system["rootVolume"], data["rootVolume"]) == (False, True)
    assert system["ebs"]["encrypted"] is True


def test_local_disks_are_used_only_if_configured() -> None:
    assert manifest(preset="h100")["instanceStorePolicy"] == "RAID0"
    assert "instanceStorePolicy" not in manifest(preset="h100", localNvme="none")


def test_a_reservation_is_selected_by_id() -> None:
    capacity = {"market": "reserved", "reservation": {"kind": "odcr", "id": "cr-0a1b2c3d4e5f67890"}}
    result = manifest(preset="h100", capacity=capacity)
    assert result["capacityReservationSelectorTerms"] == [{"id": "cr-0a1b2c3d4e5f67890"}]
    assert "capacityReservationSelectorTerms" not in manifest(preset="h100")


def test_an_efa_pool_has_interfaces_security_group_and_placement_group() -> None:
    result = manifest(placement_group="together", preset="h100", efa=True, zones=ONE_ZONE)
    assert result["networkInterfaces"][:2] == [
        {"networkCardIndex": 0, "deviceIndex": 0, "interfaceType": "interface"},
        {"networkCardIndex": 0, "deviceIndex": 1, "interfaceType": "efa-only"},
    ]
    assert len(result["networkInterfaces"]) == 33
    assert result["placementGroupSelector"] == {"name": "together"}
    assert result["securityGroupSelectorTerms"][1] == {
        "tags": {"platform.slipway/cluster": "ml", "platform.slipway/pool": "work"}
    }
    assert "networkInterfaces" not in manifest(preset="h100")


def test_gpu_nodes_have_detailed_monitoring() -> None:
    assert manifest(preset="h100")["detailedMonitoring"] is True
    assert manifest(preset="cpu")["detailedMonitoring"] is False
    assert manifest(preset="cpu", maxPods=58)["kubelet"] == {"maxPods": 58}


def test_only_bottlerocket_has_user_data_for_gpu_sharing() -> None:
    shared: dict[str, Any] = {"preset": "gpu-spot", "localNvme": "none", "sharing": {"mode": "mps", "replicas": 4}}
    assert manifest(**shared, os="bottlerocket")["userData"] == (
        "[settings.kubelet-device-plugins.nvidia]\n"
        'device-sharing-strategy = "mps"\n'
        "[settings.kubelet-device-plugins.nvidia.mps]\n"
        "replicas = 4\n"
        "rename-by-default = false\n"
    )
    assert "userData" not in manifest(**shared)
    assert "userData" not in manifest(preset="gpu-spot", os="bottlerocket", localNvme="none")
