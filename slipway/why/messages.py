"""Messages of the scheduler, of Kueue and of Karpenter, taken apart."""

import re
from dataclasses import dataclass
from typing import Final

_NODES: Final = re.compile(r"^(\d+)/(\d+) nodes are available: ")
_PREEMPTION: Final = re.compile(r"\.? (?:no new claims to deallocate, )?preemption: .*", re.DOTALL)
"""Ends a scheduler's message: whether other pods could make room (kubernetes 1.36, scheduler/framework/types.go)."""
_REASON: Final = re.compile(r"(\d+) (.+)")


@dataclass(frozen=True)
class Unschedulable:
    """A scheduler's message."""

    nodes: int  # number of nodes of the cluster
    reasons: dict[str, int]  # numbers of nodes by reason: `Insufficient cpu`, `node(s) had untolerated taint(s)`
    whole: str = ""  # a reason that concerns the pod and no node, such as a missing claim; empty if there is none


def unschedulable(message: str) -> Unschedulable:
    """Take a scheduler's message apart: `0/7 nodes are available: 3 Insufficient memory, 4 Insufficient cpu. ...`."""
    head = _NODES.match(message)
    body = _PREEMPTION.sub("", message[head.end() :] if head else message).strip()
    reasons, whole = {}, []
    for part in body.rstrip(".").split(", "):
        match = _REASON.fullmatch(part)
        if match:
            reasons[match[2]] = int(match[1])
        elif part:
            whole.append(part)
    return Unschedulable(int(head[2]) if head else 0, reasons, ", ".join(whole))


@dataclass(frozen=True)
class FlavorReason:
    """Why one flavor does not take a pod set (kueue v0.19.2, pkg/scheduler/flavorassigner/flavorassigner.go)."""

    flavor: str  # its name: that of the pool
    resource: str = ""  # resource that is short; empty for taints and labels
    missing: str = ""  # what has to become unused; empty if waiting does not help
    requested: str = ""  # what the pod sets request
    limit: str = ""  # most that the flavor can ever give, borrowed quota included
    taint: str = ""  # the taint that is not tolerated


_UNUSED: Final = re.compile(r"insufficient unused quota for (\S+) in flavor (\S+), (\S+) more needed")
_EXCEEDED: Final = re.compile(
    r"insufficient quota for (\S+) in flavor (\S+), previously considered podsets requests \((\S+)\) "
    r"\+ current podset request \((\S+)\) > maximum capacity \((\S+)\)"
)
_UNTOLERATED: Final = re.compile(r"untolerated taint (.+?) in flavor ([^\s,;]+)")
_GO_TAINT: Final = re.compile(r"\{(\S+) (\S*) (NoSchedule|NoExecute|PreferNoSchedule) \S+\}")
"""How Go prints a taint: key, value, effect, time."""
_AFFINITY: Final = re.compile(r"flavor (\S+) doesn't match node affinity")
_POD_SET: Final = re.compile(r"couldn't assign flavors to pod set \S+: ")


def by_pod_set(message: str) -> list[str]:
    """The parts of the message of the condition QuotaReserved, one for each pod set (kueue v0.19.2,
    pkg/scheduler/flavorassigner/flavorassigner.go, Message); the whole message if it names none."""
    return _POD_SET.split(message)[1:] or [message]


def flavor_reasons(message: str) -> list[FlavorReason]:
    """Why each flavor does not take a pod set, from its part of the message of the condition QuotaReserved."""
    found = [FlavorReason(one[2], resource=one[1], missing=one[3]) for one in _UNUSED.finditer(message)]
    for one in _EXCEEDED.finditer(message):
        requested = one[4] if one[3] == "0" else f"{one[3]} + {one[4]}"
        found.append(FlavorReason(one[2], resource=one[1], requested=requested, limit=one[5]))
    found += [FlavorReason(one[2], taint=_taint(one[1])) for one in _UNTOLERATED.finditer(message)]
    found += [FlavorReason(one[1]) for one in _AFFINITY.finditer(message)]
    return found


def unused_or_exceeded(message: str) -> bool:
    """Whether a flavor would take the pods, were there more of it."""
    exceeded = (match[5] for match in _EXCEEDED.finditer(message))
    return bool(_UNUSED.search(message)) or any(limit != "0" for limit in exceeded)


def _taint(text: str) -> str:
    """`{nvidia.com/gpu true NoSchedule <nil>}` as kubectl writes taints: `nvidia.com/gpu=true:NoSchedule`."""
    match = _GO_TAINT.fullmatch(text)
    return f"{match[1]}={match[2]}:{match[3]}" if match else text


UNAVAILABLE: Final = re.compile(r"resource (\S+) unavailable in ClusterQueue")
"""A resource for which the queue has no flavor."""
LIMIT: Final = re.compile(
    r"(?:all available instance types exceed limits|node limits have been exhausted) for nodepool "
    r"\(NodePool=([^)\s]+)\)"
)
"""A NodePool whose limits keep Karpenter from launching a node (karpenter v1.14.1, provisioning/scheduling)."""
OFFERING: Final = re.compile(
    r"^no instance type (?!.*(?:met the scheduling requirements or|offering (?:met|had))).*offering"
)
"""A clause: Karpenter knows of no zone and purchase option with capacity: EC2 refused them a short time ago."""
RESOURCES: Final = re.compile(r"^no instance type (?:has enough resources|.*had the required resources)")
"""A clause: no instance type of a NodePool is large enough."""
_CLAUSE: Final = re.compile(r"; (?!key \S+, )")
_KEY: Final = re.compile(r"\bkey (\S+), ")
_NOMINATED: Final = re.compile(r"Pod should schedule on: (.+)")


def clauses(message: str) -> list[str]:
    """What Karpenter says of each NodePool (karpenter v1.14.1, provisioning/scheduling/scheduler.go,
    addToNewNodeClaim): several keys of one NodePool stay together."""
    return _CLAUSE.split(message.removeprefix("Failed to schedule pod, "))


def keys_of(clause: str) -> list[str]:
    """Labels about which a clause says that a NodePool does not have what the pod requires."""
    return _KEY.findall(clause) if clause.startswith("incompatible requirements") else []


def nominated(message: str) -> dict[str, str]:
    """The node or NodeClaim on which Karpenter wants a pod, by kind: `{"nodeclaim": "h100-x7b2f"}`."""
    match = _NOMINATED.search(message)
    parts = match[1].split(", ") if match else []
    return {kind: name for kind, _, name in (part.partition("/") for part in parts) if name}
