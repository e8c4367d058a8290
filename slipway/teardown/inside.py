"""Objects of the cluster behind which controllers keep AWS resources: removed while those controllers still run.

Karpenter terminates the instances of its pools, the load balancer controller deletes load balancers with their security
groups, the EBS driver deletes volumes. `pulumi destroy` deletes the controllers with the cluster, and what they made
would remain.
"""

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Final

from sandbox.kubernetes.client import ApiError, KubeClient, NoSuchKindError, UnreachableError
from sandbox.kubernetes.objects import Object, Ref

POLL: Final = 10.0
RECONNECT: Final = 600.0  # seconds after which a new token is fetched: one is valid for 14 minutes
EBS: Final = "ebs.csi.aws.com"


def _any(_: Object) -> bool:
    return True


def _balanced(service: Object) -> bool:
    return bool(service["spec"].get("type") == "LoadBalancer")


@dataclass(frozen=True)
class ObjectKind:
    """Objects of one kind to remove."""

    api_version: str
    kind: str
    wanted: Callable[[Object], bool] = _any  # which of them
    delete: bool = True  # whether to delete them, or only to wait until they are gone


KINDS: Final = (
    ObjectKind("karpenter.sh/v1", "NodePool"),
    # An instance each; a NodePool is gone when its last NodeClaim is.
    ObjectKind("karpenter.sh/v1", "NodeClaim", delete=False),
    # KServe would create the Ingress of a service again.
    ObjectKind("serving.kserve.io/v1beta1", "InferenceService"),
    ObjectKind("gateway.networking.k8s.io/v1", "Gateway"),
    ObjectKind("networking.k8s.io/v1", "Ingress"),
    ObjectKind("v1", "Service", _balanced),
)


@dataclass(frozen=True)
class Emptied:
    """What is left after the deadline, and the volumes that may be deleted with the cluster."""

    left: tuple[str, ...]  # references to the objects that are left, as text
    volumes: frozenset[str]  # IDs of EBS volumes of claims, whose storage class deletes them with the claim


def empty(
    connect: Callable[[], KubeClient],
    say: Callable[[str], None],
    seconds: float,
    *,
    sleep: Callable[[float], None] = time.sleep,
    clock: Callable[[], float] = time.monotonic,
) -> Emptied:
    """Delete them all at once, and wait until they are gone.

    Args:
        connect: Connects to the API server with a fresh token.
        say: Reports progress, when the number of objects changes.
    """
    began = connected = clock()
    client = connect()
    volumes = frozenset(_volumes(client))
    _release(client)
    left: list[str] = []
    said = ""
    while True:
        try:
            left = [str(ref) for kind in KINDS for ref in _request(client, kind)]
            state = f"{len(left)} objects of the cluster still keep AWS resources" if left else "the cluster keeps none"
        except UnreachableError as error:
            # Waiting may take hours, in which a connection breaks.
            left, state = left or ["what is left is unknown"], str(error)
        if state != said:
            said = state
            say(state)
        if not left or clock() - began >= seconds:
            return Emptied(tuple(left), volumes)
        sleep(POLL)
        if clock() - connected >= RECONNECT:
            client, connected = connect(), clock()


def _request(client: KubeClient, kind: ObjectKind) -> Iterator[Ref]:
    """Request deletion of those that are not being deleted; references to all that exist."""
    for found in _existing(client, kind.api_version, kind.kind):
        if kind.wanted(found):
            ref = Ref.of(found)
            if kind.delete and not found["metadata"].get("deletionTimestamp"):
                client.delete(ref)
            yield ref


def _existing(client: KubeClient, api_version: str, kind: str) -> list[Object]:
    try:
        return list(client.list(client.discovery.find(api_version, kind)))
    except NoSuchKindError:
        return []
    except ApiError as error:
        if error.not_found:
            return []
        raise


def _volumes(client: KubeClient) -> Iterator[str]:
    for volume in _existing(client, "v1", "PersistentVolume"):
        csi: dict[str, Any] = volume["spec"].get("csi") or {}
        if csi.get("driver") == EBS and volume["spec"].get("persistentVolumeReclaimPolicy") == "Delete":
            yield csi["volumeHandle"]


def _release(client: KubeClient) -> None:
    """Delete claims with a volume of EBS that no pod mounts. Those that a pod mounts would stay until it ends: their
    volumes are removed by tag once the cluster is gone."""
    mounted = {
        (pod["metadata"]["namespace"], volume["persistentVolumeClaim"]["claimName"])
        for pod in _existing(client, "v1", "Pod")
        for volume in pod["spec"].get("volumes") or ()
        if "persistentVolumeClaim" in volume
    }
    for claim in _existing(client, "v1", "PersistentVolumeClaim"):
        metadata = claim["metadata"]
        dynamic = (metadata.get("annotations") or {}).get("volume.kubernetes.io/storage-provisioner") == EBS
        if dynamic and (metadata["namespace"], metadata["name"]) not in mounted:
            client.delete(Ref.of(claim))
