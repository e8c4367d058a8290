"""DaemonSets that select a node and don't tolerate its taints: their pod is missing there, and nothing else says so.

A DaemonSet without a toleration runs on the other nodes and counts as complete: its controller leaves out nodes with a
taint that the pod does not tolerate (kubernetes 1.36, pkg/controller/daemon, NodeShouldRunDaemonPod).
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from spec.pools.keys import POOL

Object = Mapping[str, Any]
ADDED: Final = tuple(
    {"key": f"node.kubernetes.io/{name}", "operator": "Exists"}
    for name in (
        "not-ready", "unreachable", "disk-pressure", "memory-pressure", "pid-pressure", "unschedulable",
        "network-unavailable",
    )
)  # fmt: skip
"""Tolerations that the DaemonSet controller adds (kubernetes.io, "DaemonSet", taints and tolerations)."""
INTENDED: Final = {
    # The DCGM of EKS's node monitoring agent. With `cluster.repairGpus` it tolerates every taint; otherwise the agent
    # doesn't watch GPUs, and the GPU Operator's DCGM is the one that runs (docs/adr/0063-nodes-outlast-their-jobs.md).
    "kube-system/dcgm-server"
}
"""DaemonSets that the stack keeps off tainted nodes."""


@dataclass(frozen=True)
class Unreached:
    """A DaemonSet, the pools that it selects and does not reach, and a taint that keeps it away."""

    daemon_set: str
    pools: tuple[str, ...]
    taints: tuple[str, ...]


def unreached(daemon_sets: Iterable[Object], nodes: Iterable[Object]) -> list[Unreached]:
    """The DaemonSets whose node selector and affinity admit a node that they do not tolerate, except `INTENDED`."""
    every = list(nodes)
    found = []
    for each in daemon_sets:
        name = f"{each['metadata']['namespace']}/{each['metadata']['name']}"
        if name in INTENDED:
            continue
        spec = each["spec"]["template"]["spec"]
        tolerations = (*ADDED, *(spec.get("tolerations") or ()))
        pools: dict[str, None] = {}
        taints: dict[str, None] = {}
        for node in every:
            if not selects(spec, node):
                continue
            refused = [taint for taint in _taints(node) if not any(_tolerates(one, taint) for one in tolerations)]
            if refused:
                pools[(node["metadata"].get("labels") or {}).get(POOL, node["metadata"]["name"])] = None
                taints |= dict.fromkeys(map(_written, refused))
        if pools:
            found.append(Unreached(name, tuple(sorted(pools)), tuple(sorted(taints))))
    return found


def selects(spec: Object, node: Object) -> bool:
    """Whether a pod's node selector and required node affinity admit a node."""
    labels = {**(node["metadata"].get("labels") or {})}
    if any(labels.get(key) != value for key, value in (spec.get("nodeSelector") or {}).items()):
        return False
    affinity = (spec.get("affinity") or {}).get("nodeAffinity") or {}
    terms = (affinity.get("requiredDuringSchedulingIgnoredDuringExecution") or {}).get("nodeSelectorTerms")
    fields = {"metadata.name": node["metadata"]["name"]}
    return terms is None or any(
        all(_holds(one, labels) for one in term.get("matchExpressions") or ())
        and all(_holds(one, fields) for one in term.get("matchFields") or ())
        for term in terms
    )


def _holds(expression: Object, labels: Mapping[str, str]) -> bool:
    """One requirement (kubernetes.io, "Assigning Pods to Nodes", operators)."""
    key, values = labels.get(expression["key"]), expression.get("values") or ()
    match expression["operator"]:
        case "In":
            return key in values
        case "NotIn":
            return key not in values
        case "Exists":
            return key is not None
        case "DoesNotExist":
            return key is None
        case operator:
            if key is None or not key.isdigit():
                return False
            (limit,) = map(int, values)
            return int(key) > limit if operator == "Gt" else int(key) < limit


def _taints(node: Object) -> list[Object]:
    """The taints that keep a new pod away."""
    return [taint for taint in node["spec"].get("taints") or () if taint["effect"] != "PreferNoSchedule"]


def _tolerates(toleration: Object, taint: Object) -> bool:
    """Whether a toleration matches a taint (kubernetes.io, "Taints and Tolerations")."""
    key, effect = toleration.get("key") or "", toleration.get("effect") or ""
    any_value = toleration.get("operator") == "Exists"
    return (
        (key == taint["key"] or (not key and any_value))
        and effect in ("", taint["effect"])
        and (any_value or (toleration.get("value") or "") == (taint.get("value") or ""))
    )


def _written(taint: Object) -> str:
    return f"{taint['key']}{'=' if taint.get('value') else ''}{taint.get('value') or ''}:{taint['effect']}"
