"""What the Cluster Autoscaler decides, from its own flags: which group grows for pods without a node. Pure.

Source: kubernetes/autoscaler, tag cluster-autoscaler-1.36.1, core/scaleup/orchestrator, estimator, expander/waste (read
2026-11).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Final

from sandbox.nodes.karpenter import matches
from sandbox.nodes.spec import NodeSpec
from spec.quantities import CPU, MEMORY, parse

PODS: Final = "pods"
AT_MAXIMUM: Final = "max node group size reached"
"""core/scaleup/orchestrator/skippedreasons.go."""
IN_BACKOFF: Final = "in backoff after failed scale-up"
_UNITS: Final = {"h": 3600.0, "m": 60.0, "s": 1.0, "ms": 0.001}
_DURATION: Final = re.compile(r"(\d+(?:\.\d+)?)(ms|h|m|s)")

Amounts = Mapping[str, Decimal]
Object = Mapping[str, Any]


@dataclass(frozen=True)
class Flags:
    """Those of its container that matter here, in seconds; defaults of config/flags/flags.go."""

    expander: str = "least-waste"
    scan: float = 10
    unneeded: float = 600
    after_add: float = 600
    provision: float = 900
    scales_down: bool = True

    @classmethod
    def of(cls, arguments: Iterable[str]) -> Flags:
        """From the arguments of its container."""
        given = dict(each.lstrip("-").partition("=")[::2] for each in arguments if each.startswith("--"))

        def duration(name: str, default: float) -> float:
            return seconds(given[name]) if name in given else default

        return cls(
            given.get("expander", cls.expander),
            duration("scan-interval", cls.scan),
            duration("scale-down-unneeded-time", cls.unneeded),
            duration("scale-down-delay-after-add", cls.after_add),
            duration("max-node-provision-time", cls.provision),
            given.get("scale-down-enabled", "true") != "false",
        )


@dataclass(frozen=True)
class Option:
    """A group that could grow: by how many nodes, and for which pods."""

    group: str
    count: int
    pods: tuple[Object, ...]
    template: NodeSpec


def seconds(text: str) -> float:
    """A duration of Go, such as 1m30s."""
    return sum(float(number) * _UNITS[unit] for number, unit in _DURATION.findall(text))


def requests(pod: Object) -> dict[str, Decimal]:
    """What a pod requests: its containers together, or its largest init container."""
    spec = pod["spec"]
    wanted: dict[str, Decimal] = {PODS: Decimal(1)}
    for container in spec["containers"]:
        for name, amount in _of(container).items():
            wanted[name] = wanted.get(name, Decimal(0)) + amount
    for container in spec.get("initContainers") or ():
        for name, amount in _of(container).items():
            wanted[name] = max(wanted.get(name, Decimal(0)), amount)
    return wanted


def _of(container: Object) -> dict[str, Decimal]:
    resources = container.get("resources") or {}
    # The API server fills in requests from limits.
    return {name: parse(amount) for name, amount in (resources.get("requests") or {}).items()}


@dataclass(frozen=True)
class Place:
    """A node, or one that a group would launch, with what is free on it."""

    labels: Mapping[str, str]
    taints: Sequence[Object]
    free: dict[str, Decimal]

    @classmethod
    def of(cls, found: Object, pods: Iterable[Object] = ()) -> Place:
        """A Node object and the pods on it."""
        free = {name: parse(amount) for name, amount in (found["status"].get("allocatable") or {}).items()}
        place = cls(found["metadata"].get("labels") or {}, found["spec"].get("taints") or (), free)
        for pod in pods:
            place.take(pod)
        return place

    def empty(self) -> Place:
        """The same with its own count of what is free."""
        return Place(self.labels, self.taints, dict(self.free))

    def take(self, pod: Object) -> None:
        """Put a pod there."""
        for name, amount in requests(pod).items():
            self.free[name] = self.free.get(name, Decimal(0)) - amount

    def refusal(self, pod: Object) -> str:
        """Why it would not take a pod, in words of the scheduler; empty if it would."""
        spec = pod["spec"]
        if not _selected(spec, self.labels):
            return "node(s) didn't match Pod's node affinity/selector"
        tolerations = spec.get("tolerations") or ()
        for taint in self.taints:
            if taint["effect"] != "PreferNoSchedule" and not any(_tolerates(one, taint) for one in tolerations):
                return "node(s) had untolerated taint(s)"
        wanted = requests(pod).items()
        lacking = next((name for name, amount in wanted if amount > self.free.get(name, 0)), None)
        return f"Insufficient {lacking}" if lacking else ""


def _selected(spec: Object, labels: Mapping[str, str]) -> bool:
    if any(labels.get(key) != value for key, value in (spec.get("nodeSelector") or {}).items()):
        return False
    affinity = (spec.get("affinity") or {}).get("nodeAffinity") or {}
    required = affinity.get("requiredDuringSchedulingIgnoredDuringExecution")
    if not required:
        return True
    return any(matches(labels, term.get("matchExpressions") or ()) for term in required["nodeSelectorTerms"])


def _tolerates(toleration: Object, taint: Object) -> bool:
    return (
        toleration.get("effect") in (None, "", taint["effect"])
        and toleration.get("key") in (None, "", taint["key"])
        and (toleration.get("operator") == "Exists" or toleration.get("value", "") == taint.get("value", ""))
    )


def left_over(pods: Iterable[Object], places: Sequence[Place]) -> list[Object]:
    """The pods for which none of some nodes has room, each after those before it."""
    left = []
    for pod in pods:
        place = next((one for one in places if not one.refusal(pod)), None)
        if place is None:
            left.append(pod)
        else:
            place.take(pod)
    return left


def estimate(pods: Sequence[Object], template: Place, most: int) -> tuple[int, tuple[Object, ...]]:
    """How many nodes of a group are needed, at most some, and the pods that they take, the largest first."""
    nodes: list[Place] = []
    taken = []
    for pod in sorted(pods, key=lambda one: _size(requests(one), template.free), reverse=True):
        place = next((one for one in nodes if not one.refusal(pod)), None)
        if place is None and len(nodes) < most:
            place = template.empty()
            nodes.append(place)
        if place is not None:
            place.take(pod)
            taken.append(pod)
    return len(nodes), tuple(taken)


def _size(wanted: Amounts, whole: Amounts) -> Decimal:
    parts = (wanted.get(name, Decimal(0)) / whole[name] for name in (CPU, MEMORY) if whole.get(name))
    return sum(parts, Decimal(0))


def best(options: Sequence[Option], expander: str) -> Option:
    """The option of an expander; of several equal ones the first by name, where the autoscaler chooses at random."""
    order: Callable[[Option], Any] = waste if expander == "least-waste" else lambda one: -len(one.pods)
    if expander not in ("least-waste", "most-pods"):
        return min(options, key=lambda one: one.group)
    return min(options, key=lambda one: (order(one), one.group))


def waste(option: Option) -> Decimal:
    """The fraction of CPU and memory that the pods leave unused on the new nodes."""
    parts = []
    for name in (CPU, MEMORY):
        whole = parse(option.template.capacity[name]) * option.count
        used = sum((requests(pod).get(name, Decimal(0)) for pod in option.pods), Decimal(0))
        parts.append((whole - used) / whole)
    return sum(parts, Decimal(0))
