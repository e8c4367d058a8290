"""Jobs that are more important than the rows, and leave them no quota.

Kueue preempts no more than it must, so each takes all that its team may have of a pool, borrowed quota included.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from tests.e2e.workloads.rows import Row

GPU: Final = {"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule"}
HIGH: Final = "production-training"


@dataclass(frozen=True, kw_only=True)
class Taken:
    """What a preemptor takes: pods on a pool, so many that its team can have nothing else there."""

    pods: int
    resources: Mapping[str, str]
    spot: bool = False


ALL: Final[Mapping[tuple[str, str], Mapping[str, Taken]]] = {
    ("dev", "vision"): {
        "cpu": Taken(pods=5, resources={"cpu": "12300m", "memory": "2Gi"}),
        "a100": Taken(pods=1, resources={"cpu": "1", "memory": "2Gi", "nvidia.com/mig-1g.5gb": "35"}),
        "gpu-spot": Taken(pods=16, resources={"cpu": "500m", "memory": "1Gi", "nvidia.com/gpu": "1"}, spot=True),
    },
    ("dev", "language"): {"h100": Taken(pods=3, resources={"cpu": "8", "memory": "100Gi", "nvidia.com/gpu": "1"})},
    ("prod", "vision-training"): {
        "cpu": Taken(pods=18, resources={"cpu": "15300m", "memory": "2Gi"}),
        "gpu-spot": Taken(pods=24, resources={"cpu": "1", "memory": "2Gi", "nvidia.com/gpu": "1"}, spot=True),
    },
    ("prod", "vision-serving"): {
        "a100": Taken(pods=2, resources={"cpu": "1", "memory": "2Gi", "nvidia.com/mig-2g.20gb": "24"})
    },
    ("prod", "language-training"): {
        "h100": Taken(pods=4, resources={"cpu": "8", "memory": "100Gi", "nvidia.com/gpu": "8"})
    },
}
"""By stack and namespace, and by pool."""


def preemptors(stack: str, namespace: str, rows: Sequence[Row]) -> Iterator[dict[str, Any]]:
    """A Job for each pool that the rows of a namespace use."""
    for pool, taken in ALL[stack, namespace].items():
        if any(row.namespace == namespace and pool in row.pools for row in rows):
            yield _job(f"takes-{pool}", pool, taken)


def _job(name: str, pool: str, taken: Taken) -> dict[str, Any]:
    claim = {"volumes": [{"name": "out", "persistentVolumeClaim": {"claimName": "checkpoints"}}]}
    mounts = {"volumeMounts": [{"name": "out", "mountPath": "/out"}]}
    limits = {key: value for key, value in taken.resources.items() if key != "cpu"}
    container = {
        "name": "main",
        "image": "registry.example.com/training:1.0.0",
        "resources": {"requests": dict(taken.resources), "limits": limits},
        **(mounts if taken.spot else {}),
    }
    spec = {
        "restartPolicy": "Never",
        "priorityClassName": HIGH,
        "nodeSelector": {"platform.slipway/pool": pool},
        **({"tolerations": [GPU]} if len(taken.resources) > len(("cpu", "memory")) else {}),
        "containers": [container],
        **(claim if taken.spot else {}),
    }
    annotations = {"sandbox.slipway/duration": "7200s"}
    labels = {"kueue.x-k8s.io/queue-name": "default", "kueue.x-k8s.io/priority-class": HIGH}
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": name, "labels": labels},
        "spec": {
            "parallelism": taken.pods,
            "completions": taken.pods,
            "activeDeadlineSeconds": 3600,
            "backoffLimit": 1,
            "ttlSecondsAfterFinished": 600,
            "template": {"metadata": {"annotations": annotations}, "spec": spec},
        },
    }
