"""EKS managed add-ons: pinned versions, service accounts, policies, and when to install them."""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Final, Literal

from spec.catalog.document import Source, load, source


@dataclass(frozen=True)
class Pin:
    """A version for one Kubernetes version, and how reliable its source is."""

    version: str
    source: Source
    confidence: Literal["observed", "configured"]
    """`observed`: seen active on such a cluster, or offered for it by the EKS API; `configured`: only set in a file."""


@dataclass(frozen=True)
class AddonFacts:
    """Facts about one add-on."""

    name: str  # name in EKS
    namespace: str
    service_accounts: tuple[str, ...]  # accounts of its pods; the first is the one that calls AWS
    policy: str | None  # path and name of its AWS managed policy; None if it does not call AWS or AWS has none
    calls_aws: bool  # whether its pods call AWS with a role of their own
    before_compute: bool  # nodes or pods can't start well without it: install it before the first node group
    needs_nodes: bool  # it becomes ACTIVE only when its pods run on a node: install it after the first node group
    why: str  # reason for the order
    minimum: str | None  # oldest version that works with the platform's configuration and permissions; None if unknown
    reports_gpus: tuple[str, ...]  # releases whose reports of broken GPUs can be relied on
    pins: Mapping[str, Pin]  # pinned version by Kubernetes version; AWS's default if there is none

    def version(self, kubernetes: str) -> str | None:
        """Pinned version for a Kubernetes version; None if AWS's default applies."""
        pin = self.pins.get(kubernetes)
        return pin.version if pin else None

    def too_old(self, version: str) -> bool:
        """Whether a version, `v1.6.0-eksbuild.1`, is older than the oldest that works."""
        return self.minimum is not None and numbers(version) < numbers(self.minimum)

    def reports_gpus_well(self, version: str | None) -> bool:
        """Whether a version, `v1.6.7-eksbuild.1`, reports broken GPUs, and no others; not known of AWS's default."""
        return version is not None and numbers(version) in map(numbers, self.reports_gpus)

    def policy_arn(self, partition: str) -> str | None:
        """ARN of the managed policy in a partition."""
        return f"arn:{partition}:iam::aws:policy/{self.policy}" if self.policy else None


def numbers(version: str) -> tuple[int, ...]:
    """The numbers of a version, to compare it: those of `v1.6.0-eksbuild.1` are 1, 6 and 0."""
    return tuple(int(part) for part in version.removeprefix("v").partition("-")[0].split("."))


_DOCUMENT: Final = load("addons.yaml")
SOURCE: Final[Source] = source(_DOCUMENT)


def _pin(entry: Mapping[str, Any]) -> Pin:
    by = _DOCUMENT["sources"][entry["by"]]
    return Pin(entry["version"], Source(by["text"], by["date"]), by["confidence"])


def _facts(name: str, entry: Mapping[str, Any]) -> AddonFacts:
    return AddonFacts(
        name=name,
        namespace="kube-system",  # of all of these (EKS User Guide)
        service_accounts=tuple(entry["service_accounts"]),
        policy=entry["policy"],
        calls_aws=entry.get("calls_aws", entry["policy"] is not None),
        before_compute=entry["before_compute"],
        needs_nodes=entry["needs_nodes"],
        why=entry["why"],
        minimum=entry.get("minimum"),
        reports_gpus=tuple(entry.get("reports_gpus", ())),
        pins=MappingProxyType({k8s: _pin(pin) for k8s, pin in entry["pins"].items() if pin["version"]}),
    )


ADDONS: Final[Mapping[str, AddonFacts]] = MappingProxyType(
    {name: _facts(name, entry) for name, entry in _DOCUMENT["addons"].items()}
)
"""Add-ons by name, in the order in which they may be installed."""


def get(name: str) -> AddonFacts:
    """Return the add-on of that name; a KeyError lists the known ones."""
    if name not in ADDONS:
        message = f"the catalog has no add-on {name!r}: it has {', '.join(ADDONS)}"
        raise KeyError(message)
    return ADDONS[name]
