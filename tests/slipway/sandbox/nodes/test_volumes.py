"""Volumes by the rules of the CSI drivers."""

from __future__ import annotations

from typing import Any

import pytest

from slipway.sandbox.nodes.volumes import DRIVERS, refusal, volume

EBS, EFS, FSX = (DRIVERS[f"{name}.csi.aws.com"] for name in ("ebs", "efs", "fsx"))
NODE = {"metadata": {"name": "n-0", "labels": {"topology.kubernetes.io/zone": "us-east-1b"}}}
CLASS = {"metadata": {"name": "gp3"}, "reclaimPolicy": "Retain", "mountOptions": ["noatime"]}


def claim(*modes: str, **spec: Any) -> dict[str, Any]:
    return {
        "metadata": {"name": "data", "namespace": "vision", "uid": "0a1b"},
        "spec": {"accessModes": list(modes), "resources": {"requests": {"storage": "8Gi"}}, **spec},
    }


@pytest.mark.parametrize(
    ("driver", "modes", "refused"),
    [
        (EBS, ("ReadWriteOnce",), False),
        (EBS, ("ReadWriteMany",), True),
        (EBS, ("ReadWriteOnce", "ReadOnlyMany"), True),
        (EFS, ("ReadWriteMany",), False),
        (FSX, ("ReadWriteMany", "ReadOnlyMany"), False),
    ],
)
def test_access_modes_are_those_of_the_driver(driver: Any, modes: tuple[str, ...], refused: bool) -> None:
    why = refusal(driver, claim(*modes))
    assert (why is not None) is refused
    assert why is None or f"{driver.name} has no access mode Read" in why


def test_a_raw_block_volume_may_be_attached_to_several_nodes() -> None:
    assert refusal(EBS, claim("ReadWriteMany", volumeMode="Block")) is None


def test_a_volume_has_the_claims_size_and_the_classes_policy() -> None:
    made = volume(EFS, claim("ReadWriteMany"), CLASS, None)
    assert made["metadata"]["name"] == "pvc-0a1b"
    assert made["spec"]["capacity"] == {"storage": "8Gi"}
    assert made["spec"]["persistentVolumeReclaimPolicy"] == "Retain"
    assert made["spec"]["mountOptions"] == ["noatime"]
    assert made["spec"]["claimRef"]["uid"] == "0a1b"
    assert "nodeAffinity" not in made["spec"]


def test_a_block_volume_stays_in_the_zone_of_its_first_node() -> None:
    (term,) = volume(EBS, claim("ReadWriteOnce"), CLASS, NODE)["spec"]["nodeAffinity"]["required"]["nodeSelectorTerms"]
    assert term["matchExpressions"][0]["values"] == ["us-east-1b"]


def test_two_claims_never_share_a_handle() -> None:
    other = claim("ReadWriteOnce")
    other["metadata"]["uid"] = "0a1c"
    handles = {volume(EBS, one, CLASS, None)["spec"]["csi"]["volumeHandle"] for one in (claim("ReadWriteOnce"), other)}
    assert len(handles) == 2
