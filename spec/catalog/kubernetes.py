"""Kubernetes versions of EKS: their support periods, and the version skew between nodes and control plane."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from types import MappingProxyType
from typing import Any, Final, Literal

from spec.catalog.document import Source, load, source

Support = Literal["standard", "extended", "ended", "unknown"]

WARN_DAYS: Final = 90
"""Days before the end of standard support at which to warn: the 60 days' notice that AWS gives (EKS User Guide, version
FAQs) and a month to take the upgrade through three environments."""
LAST_OF_AL2: Final = "1.32"
"""Last version with images of Amazon Linux 2 (EKS User Guide, eks-ami-deprecation-faqs.html, read 2026-11)."""
SKEW: Final = 3
"""Minor versions that nodes may be behind their control plane (kubernetes.io/releases/version-skew-policy, kubelet)."""
MUTATES: Final = 36
"""First minor version of Kubernetes 1 that serves MutatingAdmissionPolicies by default (KEP 3962)."""
_MINOR: Final = re.compile(r"1\.(\d{1,3})")


@dataclass(frozen=True)
class EksVersion:
    """A minor version, and the dates on which its support changes; from that date (UTC), the next stage applies."""

    name: str
    released: date
    standard_until: date
    extended_until: date


_DOCUMENT: Final = load("kubernetes.yaml")
SOURCE: Final[Source] = source(_DOCUMENT)
DEFAULT: Final[str] = _DOCUMENT["default"]  # version of stacks that set none
VERSIONS: Final[Mapping[str, EksVersion]] = MappingProxyType(
    {name: EksVersion(name, **days) for name, days in _DOCUMENT["versions"].items()}
)
"""Versions that the catalog knows, oldest first."""


def support(version: str, today: date) -> Support:
    """Stage of support of a version on a date; `unknown` if the catalog lacks it or EKS has not released it yet."""
    known = VERSIONS.get(version)
    if known is None or today < known.released:
        return "unknown"
    if today < known.standard_until:
        return "standard"
    return "extended" if today < known.extended_until else "ended"


def minor(version: str) -> int | None:
    """Return the 35 of `1.35`; None for text that is not a minor version of Kubernetes 1."""
    match = _MINOR.fullmatch(version)
    return int(match[1]) if match else None


def next_minor(version: str) -> str:
    """The version after this one; EKS upgrades a control plane by one minor version at a time (EKS User Guide)."""
    number = minor(version)
    if number is None:
        message = f"{version!r} is not a Kubernetes minor version: write it like 1.35"
        raise ValueError(message)
    return f"1.{number + 1}"


def skew(node: str, control_plane: str) -> int | None:
    """Minor versions that nodes are behind their control plane, negative if ahead; None if either is not a version."""
    of_node, of_plane = minor(node), minor(control_plane)
    return None if of_node is None or of_plane is None else of_plane - of_node


def scheduler_configuration(config: Mapping[str, Any]) -> dict[str, Any]:
    """The KubeSchedulerConfiguration that EKS makes of a cluster's `kubeSchedulerConfig`; that of Kubernetes if it is
    empty (EKS User Guide, "Advanced Kubernetes control plane configuration", read 2026-11: all else has upstream's
    defaults).
    """
    scoring = (config.get("nodeResourcesFit") or {}).get("scoringStrategy") or {}
    fit = [{"name": "NodeResourcesFit", "args": {"scoringStrategy": dict(scoring)}}] if scoring else []
    return {
        "apiVersion": "kubescheduler.config.k8s.io/v1",
        "kind": "KubeSchedulerConfiguration",
        "profiles": [{"schedulerName": "default-scheduler", "pluginConfig": fit}],
    }
