"""The part of the CSI drivers: claims get volumes, by the rules of each driver, and released volumes go.

The controller manager binds what is created here. Until then a claim, and the pod that mounts it, is Pending; an event
of the claim says why, as on EKS.
"""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from sandbox.kubernetes.client import KubeClient
from sandbox.kubernetes.objects import Object, Ref
from sandbox.kubernetes.waiting import Follower, Watch

MANAGER: Final = "slipway-sandbox-csi"
CLAIMS: Final = "/api/v1/persistentvolumeclaims"
VOLUMES: Final = "/api/v1/persistentvolumes"
SELECTED_NODE: Final = "volume.kubernetes.io/selected-node"
"""Set on a claim by the scheduler, for a class that waits for the first pod (kubernetes.io, "Volume Binding Mode")."""
PROVISIONED_BY: Final = "pv.kubernetes.io/provisioned-by"
ZONE: Final = "topology.kubernetes.io/zone"


@dataclass(frozen=True)
class Driver:
    """What a CSI driver can do."""

    name: str  # name of the driver, the provisioner of its classes
    prefix: str  # begins the handle of its volumes
    modes: frozenset[str]  # access modes of a volume
    zonal: bool = False  # a volume can be mounted in its zone alone
    zone_key: str = ZONE  # label by which the driver knows a node's zone


_ONE: Final = frozenset({"ReadWriteOnce", "ReadWriteOncePod"})
_MANY: Final = _ONE | {"ReadOnlyMany", "ReadWriteMany"}
DRIVERS: Final[Mapping[str, Driver]] = {
    driver.name: driver
    for driver in (
        # github.com/kubernetes-sigs/aws-ebs-csi-driver, docs/faq.md: a volume of a file system is of one node.
        Driver("ebs.csi.aws.com", "vol-", _ONE, zonal=True),
        # github.com/kubernetes-sigs/aws-efs-csi-driver, README: a directory that every zone reaches.
        Driver("efs.csi.aws.com", "fs-0::fsap-", _MANY),
        # github.com/kubernetes-sigs/aws-fsx-csi-driver, README: one zone's file system, which others reach as well.
        Driver("fsx.csi.aws.com", "fs-", _MANY),
    )
}


class Provisioner(Follower):
    """Follows claims and volumes of one cluster."""

    def __init__(self, client: KubeClient) -> None:
        self._client = client
        self._watches = (Watch(client, CLAIMS, self._claim), Watch(client, VOLUMES, self._volume))

    def _claim(self, change: str, claim: Object) -> None:
        spec, metadata = claim["spec"], claim["metadata"]
        bound = spec.get("volumeName") or (claim.get("status") or {}).get("phase") != "Pending"
        if change == "DELETED" or bound or metadata.get("deletionTimestamp") or not spec.get("storageClassName"):
            return
        storage_class = self._client.get(Ref("storage.k8s.io/v1", "StorageClass", spec["storageClassName"]))
        driver = DRIVERS.get(str((storage_class or {}).get("provisioner")))
        if storage_class is None or driver is None:
            return
        node_name = (metadata.get("annotations") or {}).get(SELECTED_NODE)
        if storage_class.get("volumeBindingMode") == "WaitForFirstConsumer" and node_name is None:
            return
        if (why := refusal(driver, claim)) is not None:
            self._fail(claim, driver, why)
            return
        node = self._client.get(Ref("v1", "Node", node_name)) if node_name else None
        self._client.ensure(volume(driver, claim, storage_class, node), MANAGER)

    def _volume(self, change: str, found: Object) -> None:
        ours = (found["metadata"].get("annotations") or {}).get(PROVISIONED_BY) in DRIVERS
        released = (found.get("status") or {}).get("phase") == "Released"
        if change != "DELETED" and ours and released and found["spec"].get("persistentVolumeReclaimPolicy") == "Delete":
            self._client.delete(Ref("v1", "PersistentVolume", found["metadata"]["name"]))

    def _fail(self, claim: Object, driver: Driver, why: str) -> None:
        """The event that the driver's provisioner would write; one for each claim."""
        metadata = claim["metadata"]
        about = {"apiVersion": "v1", "kind": "PersistentVolumeClaim"}
        about |= {key: metadata[key] for key in ("name", "namespace", "uid")}
        event = {
            "apiVersion": "v1",
            "kind": "Event",
            "involvedObject": about,
            "type": "Warning",
            "metadata": {"name": f"{metadata['name']}.provisioning", "namespace": metadata["namespace"]},
            "reason": "ProvisioningFailed",
            "source": {"component": driver.name},
            "message": f"failed to provision volume with StorageClass {claim['spec']['storageClassName']!r}: {why}",
        }
        self._client.apply(event, MANAGER, force=True)


def refusal(driver: Driver, claim: Object) -> str | None:
    """Why the driver makes no volume for a claim; None where it does."""
    spec = claim["spec"]
    unknown = sorted(set(spec.get("accessModes") or ()) - driver.modes)
    if spec.get("volumeMode") == "Block" and driver.zonal:
        return None
    return f"{driver.name} has no access mode {', '.join(unknown)}" if unknown else None


def volume(driver: Driver, claim: Object, storage_class: Object, node: Object | None) -> Object:
    """The PersistentVolume of a claim: its size and modes, and the node's zone where the driver is zonal."""
    metadata, spec = claim["metadata"], claim["spec"]
    digest = hashlib.sha256(metadata["uid"].encode()).hexdigest()[:17]
    source: dict[str, Any] = {"driver": driver.name, "volumeHandle": f"{driver.prefix}{digest}"}
    made: dict[str, Any] = {
        "apiVersion": "v1",
        "kind": "PersistentVolume",
        "metadata": {"name": f"pvc-{metadata['uid']}", "annotations": {PROVISIONED_BY: driver.name}},
        "spec": {
            "accessModes": spec["accessModes"],
            "capacity": {"storage": spec["resources"]["requests"]["storage"]},
            "claimRef": {
                "apiVersion": "v1",
                "kind": "PersistentVolumeClaim",
                "name": metadata["name"],
                "namespace": metadata["namespace"],
                "uid": metadata["uid"],
            },
            "csi": source,
            "persistentVolumeReclaimPolicy": storage_class.get("reclaimPolicy") or "Delete",
            "storageClassName": storage_class["metadata"]["name"],
            "volumeMode": spec.get("volumeMode") or "Filesystem",
        },
    }
    if options := storage_class.get("mountOptions"):
        made["spec"]["mountOptions"] = options
    zone = ((node or {}).get("metadata") or {}).get("labels", {}).get(driver.zone_key)
    if driver.zonal and zone:
        term = {"matchExpressions": [{"key": driver.zone_key, "operator": "In", "values": [zone]}]}
        made["spec"]["nodeAffinity"] = {"required": {"nodeSelectorTerms": [term]}}
    return made
