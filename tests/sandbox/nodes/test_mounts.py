"""What pods mount: Secrets, ConfigMaps and volumes."""

from typing import Any

import pytest

from sandbox.nodes.mounts import Reference, event, references
from sandbox.nodes.volumes import DRIVERS, refusal, volume

# What a pod can't start without, and what is reported of it.


def pod(volumes: list[dict[str, Any]] | None = None, **container: Any) -> dict[str, Any]:
    return {"metadata": {"name": "train", "namespace": "vision", "uid": "u-1"}, "spec": {"nodeName": "n-0",
            "volumes": volumes or [], "containers": [{"name": "main", "image": "x", **container}]}}  # fmt: skip


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (pod(), []),
        (pod([{"name": "v", "emptyDir": {}}]), []),
        (pod([{"name": "v", "secret": {"secretName": "s"}}]), [Reference("Secret", "s", volume="v")]),
        (pod([{"name": "v", "secret": {"secretName": "s", "optional": True}}]), []),
        (pod([{"name": "v", "configMap": {"name": "c"}}]), [Reference("ConfigMap", "c", volume="v")]),
        (pod(env=[{"name": "X", "value": "1"}]), []),
        (
            pod(env=[{"name": "X", "valueFrom": {"secretKeyRef": {"name": "s", "key": "k"}}}]),
            [Reference("Secret", "s", key="k")],
        ),
        (pod(env=[{"name": "X", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}}]), []),
        (pod(envFrom=[{"configMapRef": {"name": "c"}}]), [Reference("ConfigMap", "c")]),
        (pod(envFrom=[{"secretRef": {"name": "s", "optional": True}}]), []),
    ],
)
def test_references_are_what_is_mounted_or_read_and_not_optional(
    made: dict[str, Any], expected: list[Reference]
) -> None:
    assert list(references(made)) == expected


def test_the_token_and_certificate_of_every_pod_are_no_references() -> None:
    sources = [
        {"serviceAccountToken": {"path": "token"}},
        {"configMap": {"name": "kube-root-ca.crt", "items": []}},
        {"downwardAPI": {"items": []}},
    ]
    assert list(references(pod([{"name": "kube-api-access", "projected": {"sources": sources}}]))) == []
    assert list(references(pod([{"name": "v", "projected": {"sources": [{"secret": {"name": "s"}}]}}]))) == [
        Reference("Secret", "s", volume="v")
    ]


def test_containers_that_run_first_are_looked_at_as_well() -> None:
    made = pod()
    made["spec"]["initContainers"] = [{"name": "init", "image": "x", "envFrom": [{"secretRef": {"name": "s"}}]}]
    assert list(references(made)) == [Reference("Secret", "s")]


def test_the_event_is_that_of_a_kubelet() -> None:
    mounted = event(pod(), *Reference("Secret", "s", volume="v").reason)
    assert (mounted["reason"], mounted["message"]) == (
        "FailedMount",
        'MountVolume.SetUp failed for volume "v" : secret "s" not found',
    )
    assert mounted["involvedObject"]["uid"] == "u-1"
    read = event(pod(), *Reference("ConfigMap", "c", key="k").reason)
    assert (read["reason"], read["message"]) == ("Failed", 'Error: configmap "c" not found (key "k")')


# Volumes by the rules of the CSI drivers.

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
