"""What `slipway why` says of the messages of a replay: the engine's words are those of Kueue, of the scheduler and of
Karpenter, and its tables are the same as for a cluster.
"""

from typing import Any, Final

from slipway.why import pods, queue
from slipway.why.answer import Answer, Layer, Part
from slipway.why.bundle import Bundle

_UID: Final = "replayed"
_SPACE: Final = "default"


def sentence(job: str, layer: str, message: str) -> str:
    """One sentence about a job that a message held; empty if there is none.

    Args:
        layer: Which part said it: `queue`, `placement` or `node`.
        message: Its words.
    """
    part = _PARTS[layer](job, message) if layer in _PARTS and message else None
    return Answer(subject=f"job/{job}", part=part).sentence if part is not None else ""


def _condition(kind: str, reason: str, message: str) -> dict[str, Any]:
    return {"type": kind, "status": "False", "reason": reason, "message": message}


def _queue(job: str, message: str) -> Part | None:
    workload = {
        "kind": "Workload",
        "metadata": {"name": job, "uid": _UID},
        "spec": {"queueName": _SPACE},
        "status": {"conditions": [_condition("QuotaReserved", "Pending", message)]},
    }
    return queue.held(workload, Bundle(subject=workload))


def _pod(job: str, message: str) -> dict[str, Any]:
    return {
        "kind": "Pod",
        "metadata": {"name": job, "namespace": _SPACE, "uid": _UID},
        "spec": {},
        "status": {"phase": "Pending", "conditions": [_condition("PodScheduled", "Unschedulable", message)]},
    }


def _placement(job: str, message: str) -> Part | None:
    pod = _pod(job, message)
    return pods.held(pod, Bundle(subject=pod))


_WAITS: Final = "waits for node"  # begins what the engine says of a job whose node has been launched

_MAXIMUM: Final = "has its maximum of"
"""What the engine says of a job that no node of a full pool has room for (sandbox/toolchain/go/replay/pools.go)."""


def _node(job: str, message: str) -> Part | None:
    if message.startswith(_WAITS):
        return Part(layer=Layer.NODE, cause=message, fix="wait")
    if _MAXIMUM in message:
        return Part(layer=Layer.POOL_LIMIT, cause=message, fix="wait until a node has room, or raise the pool's `max`")
    pod = _pod(job, "")
    event = {
        "kind": "Event",
        "metadata": {"name": job, "namespace": _SPACE},
        "involvedObject": {"kind": "Pod", "name": job, "namespace": _SPACE, "uid": _UID},
        "reason": "Nominated" if message.startswith("Pod should schedule on") else "FailedScheduling",
        "reportingComponent": "karpenter",
        "message": message,
    }
    return pods.held(pod, Bundle(subject=pod, events=(event,)))


_PARTS: Final = {"queue": _queue, "placement": _placement, "node": _node}
