"""Small inputs of the engine: one pool of nodes with eight GPUs, queues with quotas, and jobs."""

from collections.abc import Sequence
from typing import Any

from spec.catalog.kubernetes import scheduler_configuration

GPU = "nvidia.com/gpu"
KUEUE = "kueue.x-k8s.io/v1beta2"
FAIR: dict[str, Any] = {"apiVersion": "config.kueue.x-k8s.io/v1beta2", "kind": "Configuration"}


def manifest(kind: str, name: str, spec: dict[str, Any] | None = None, **fields: Any) -> dict[str, Any]:
    """An object of Kueue as it is rendered: without what the API server fills in."""
    body = {"apiVersion": KUEUE, "kind": kind, "metadata": {"name": name}, **fields}
    return body if spec is None else {**body, "spec": spec}


def queue(
    name: str, gpus: int, *, device: str = GPU, flavors: Sequence[str] = ("a100",), **spec: Any
) -> list[dict[str, Any]]:
    """A ClusterQueue with this quota of each flavor, and the LocalQueue of its name in namespace `team`."""
    resources = [{"name": "cpu", "nominalQuota": "1000"}, {"name": device, "nominalQuota": str(gpus)}]
    offered = [{"name": flavor, "resources": resources} for flavor in flavors]
    group = {"coveredResources": ["cpu", device], "flavors": offered}
    local = manifest("LocalQueue", name, {"clusterQueue": name})
    local["metadata"]["namespace"] = "team"
    return [manifest("ClusterQueue", name, {"namespaceSelector": {}, "resourceGroups": [group], **spec}), local]


def pool(**fields: Any) -> dict[str, Any]:
    """A pool of Karpenter with one instance type."""
    offering = {
        "instanceType": "p4d.24xlarge",
        "zone": "us-east-1a",
        "capacityType": "on-demand",
        "usdPerHour": 32.77,
        "allocatable": {"cpu": "94", "memory": "1100Gi", GPU: "8", "pods": "110"},
        "labels": {},
    }
    return {
        "name": "gpu",
        "scaler": "karpenter",
        "labels": {},
        "taints": [],
        "min": 0,
        "max": 4,
        "limits": {},
        "weight": 10,
        "launchSeconds": 180,
        "consolidateAfterSeconds": 300,
        "expireAfterSeconds": None,
        "warmNodes": 0,
        "offerings": [offering],
        **fields,
    }


def job(
    name: str, submitted: float, duration: float, *, gpus: int = 8, count: int = 1, **fields: Any
) -> dict[str, Any]:
    """A job of pods that are alike, in the queue `default`."""
    pods = {
        "name": "main",
        "count": count,
        "requests": {"cpu": "1", GPU: str(gpus)},
        "nodeSelector": {},
        "affinity": None,
        "tolerations": [],
        "topologyRequest": {"required": None, "preferred": None},
    }
    return {
        "name": name,
        "namespace": "team",
        "queue": "default",
        "team": "team",
        "class": "training",
        "priorityClass": "",
        "submitted": submitted,
        "duration": duration,
        "gracePeriod": 30,
        "checkpointEvery": None,
        "podSets": [pods],
        **fields,
    }


def document(
    jobs: list[dict[str, Any]],
    *,
    objects: list[dict[str, Any]] | None = None,
    pools: list[dict[str, Any]] | None = None,
    **fields: Any,
) -> dict[str, Any]:
    """A whole input."""
    configuration = fields.pop("configuration", {})
    return {
        "version": 1,
        "start": "2026-01-05T00:00:00Z",
        "until": None,
        "maxWallSeconds": 200,
        "kueue": {
            "configuration": configuration,
            "objects": [manifest("ResourceFlavor", "a100"), *(objects or queue("default", 8))],
        },
        "cluster": {"objects": [], "scheduler": scheduler_configuration(fields.pop("scheduling", {}))},
        "pools": pools or [pool()],
        "jobs": jobs,
        **fields,
    }
