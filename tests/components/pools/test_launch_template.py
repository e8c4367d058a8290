"""Launch templates: metadata, volumes, tags, network interfaces."""

from __future__ import annotations

from typing import Any

import pulumi_aws as aws

from tests.components.pools.samples import MANAGED_A100, ONE_ZONE, record_fleet
from tests.support.mocks import Recording

NAME = "pool-work-launch-template"
EFA: dict[str, Any] = {**MANAGED_A100, "efa": True, "zones": ONE_ZONE}


def template(pool: dict[str, Any]) -> Any:
    return record_fleet({"work": pool}).of(aws.ec2.LaunchTemplate)[NAME].inputs


def test_pods_cannot_reach_the_metadata_service() -> None:
    assert template({**MANAGED_A100})["metadataOptions"] == {
        "httpEndpoint": "enabled",
        "httpTokens": "required",
        "httpPutResponseHopLimit": 1,
    }


def test_the_root_volume_is_encrypted_gp3_as_configured() -> None:
    assert template({**MANAGED_A100})["blockDeviceMappings"] == [
        {
            "deviceName": "/dev/xvda",
            "ebs": {
                "volumeType": "gp3",
                "volumeSize": 200,
                "iops": 6000,
                "throughput": 500,
                "encrypted": "true",
                "deleteOnTermination": "true",
            },
        }
    ]


def test_both_volumes_of_bottlerocket_are_encrypted() -> None:
    manifest = template({"preset": "system", "os": "bottlerocket"})["blockDeviceMappings"]
    assert [device["deviceName"] for device in manifest] == ["/dev/xvda", "/dev/xvdb"]
    assert {device["ebs"]["encrypted"] for device in manifest} == {"true"}


def test_instances_volumes_and_interfaces_have_the_platforms_and_the_pools_tags() -> None:
    manifest = template({**MANAGED_A100})["tagSpecifications"]
    assert [each["resourceType"] for each in manifest] == ["instance", "network-interface", "volume"]
    expected = {
        "Name": "slipway-test-work",
        "environment": "test",
        "owner": "ml-platform",
        "platform.slipway/pool": "work",
    }
    assert all(each["tags"] == expected for each in manifest)


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


def test_without_efa_eks_sets_interfaces_and_security_groups() -> None:
    manifest = template({**MANAGED_A100})
    assert "networkInterfaces" not in manifest
    assert "vpcSecurityGroupIds" not in manifest
    assert "placement" not in manifest


def test_an_efa_pool_has_a_placement_group() -> None:
    recording = record_fleet({"work": EFA})
    placement = recording.one(aws.ec2.PlacementGroup)
    assert placement.inputs["strategy"] == "cluster"
    assert recording.of(aws.ec2.LaunchTemplate)[NAME].input_sources["placement"] == (placement.urn,)


def test_gpu_nodes_have_detailed_monitoring() -> None:
    assert template({**MANAGED_A100})["monitoring"] == {"enabled": True}
    assert template({"preset": "system"})["monitoring"] == {"enabled": False}
