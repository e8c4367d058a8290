"""Taints and tolerations as values, in the spellings of Kubernetes and of EKS."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final, Literal

Effect = Literal["NoSchedule", "PreferNoSchedule", "NoExecute"]

_EKS_EFFECTS: Final[Mapping[Effect, str]] = MappingProxyType(
    # eks:CreateNodegroup, TaintEffect (botocore 1.44.5, eks service-2.json).
    {"NoSchedule": "NO_SCHEDULE", "PreferNoSchedule": "PREFER_NO_SCHEDULE", "NoExecute": "NO_EXECUTE"}
)


@dataclass(frozen=True, order=True)
class Toleration:
    """Lets a pod run on a tainted node."""

    key: str
    value: str
    effect: Effect

    @property
    def manifest(self) -> dict[str, str]:
        """Entry of a pod's `tolerations`."""
        return {"key": self.key, "operator": "Equal", "value": self.value, "effect": self.effect}

    def tolerates(self, taint: Taint) -> bool:
        """Whether the taint no longer keeps the pod away (kubernetes.io, "Taints and Tolerations")."""
        return (self.key, self.value, self.effect) == (taint.key, taint.value, taint.effect)


@dataclass(frozen=True, order=True)
class Taint:
    """Keeps pods off a node unless they tolerate it."""

    key: str
    value: str
    effect: Effect

    def __str__(self) -> str:
        return f"{self.key}={self.value}:{self.effect}"

    @property
    def manifest(self) -> dict[str, str]:
        """Entry of `taints` in a Node or a NodePool; without an empty value, which Karpenter's CRD refuses."""
        return {"key": self.key, **({"value": self.value} if self.value else {}), "effect": self.effect}

    @property
    def eks_effect(self) -> str:
        """Effect in the spelling of EKS node groups: `NO_SCHEDULE`."""
        return _EKS_EFFECTS[self.effect]

    @property
    def toleration(self) -> Toleration:
        """The toleration of exactly this taint."""
        return Toleration(self.key, self.value, self.effect)


def all_tolerated(taints: Iterable[Taint], tolerations: Iterable[Toleration]) -> bool:
    """Whether a pod with these tolerations may be scheduled on a node with these taints."""
    of_pod = tuple(tolerations)
    return all(any(toleration.tolerates(taint) for toleration in of_pod) for taint in taints)
