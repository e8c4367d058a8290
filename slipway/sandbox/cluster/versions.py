"""Which Kubernetes version an API server serves: the cluster's, as far as its binary can emulate it.

A server of Kubernetes emulates the three minor versions before its own: it serves their APIs and features
(`kube-apiserver --help` of 1.36.3, `--emulated-version`: kube=1.33..1.36). An emulated version is not that version: its
faults and its patches are those of the binary.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from spec.catalog import kubernetes

OLDER: Final = 3
"""Minor versions before its own that a binary emulates."""


@dataclass(frozen=True)
class Emulation:
    """The version that is wanted of an API server, and the one that it serves.

    Attributes:
        wanted: Minor version of the cluster, `1.35`.
        served: Minor version that is served, the value of `--emulated-version`.
        binary: Version of the binary, `1.36.3`.
    """

    wanted: str
    served: str
    binary: str

    @property
    def text(self) -> str:
        """What a user has to know, in one sentence."""
        if self.wanted != self.served:
            relation = "newer" if _minor(self.wanted) > _minor(self.served) else "older"
            return (
                f"Kubernetes {self.served} is served instead of {self.wanted}, which is {relation} than anything that "
                f"kube-apiserver {self.binary} serves: what differs between the two is not checked"
            )
        if _minor(self.served) == _minor(self.binary):
            return f"Kubernetes {self.served} is served by kube-apiserver {self.binary}"
        return f"Kubernetes {self.served} is emulated by kube-apiserver {self.binary}"


def emulation(wanted: str, binary: str) -> Emulation:
    """What a binary serves for a cluster of a version; the default version of EKS clusters if none is named."""
    named = wanted if kubernetes.minor(wanted) is not None else kubernetes.DEFAULT
    newest = _minor(binary)
    served = min(max(_minor(named), newest - OLDER), newest)
    return Emulation(named, f"1.{served}", binary)


def _minor(version: str) -> int:
    return int(version.split(".")[1])
