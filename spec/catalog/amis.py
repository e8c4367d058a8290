"""Operating systems of nodes, in the names of managed node groups, Karpenter and Systems Manager."""

import re
from datetime import UTC, date, datetime
from typing import Any, Final, Literal

from spec.catalog.document import Source, load, source

Os = Literal["al2023", "bottlerocket"]
Arch = Literal["x86_64", "arm64"]

_DOCUMENT: Final = load("amis.yaml")
SOURCE: Final[Source] = source(_DOCUMENT)


def _family(os: Os) -> Any:
    return _DOCUMENT["families"][os]


def _variant(*, gpu: bool) -> str:
    return "nvidia" if gpu else "standard"


def ami_type(os: Os, *, gpu: bool, arch: Arch = "x86_64") -> str:
    """`amiType` of a managed node group (eks:CreateNodegroup): `AL2023_x86_64_NVIDIA`."""
    name: str = _family(os)["types"][_variant(gpu=gpu)][arch]
    return name


def karpenter_alias(os: Os, release: str | None = None) -> str:
    """Alias for `amiSelectorTerms` of an EC2NodeClass: `al2023@v20261101`, or `@latest`.

    Karpenter picks the NVIDIA variant by itself for GPU types, and drifts nodes when `latest` moves. A release that EKS
    names with its Kubernetes version, `1.35.0-20261101`, is `v20261101` there.
    """
    day = _day(release)
    return f"{_family(os)['karpenter']}@{f'v{day}' if day else release or 'latest'}"


def released(release: str) -> date | None:
    """The day in the name of a release, `1.35.0-20261101` or `v20261101`; None if it has none, as Bottlerocket's."""
    day = _day(release)
    try:
        return datetime.strptime(day, "%Y%m%d").replace(tzinfo=UTC).date() if day else None
    except ValueError:
        return None


def isolates_gpus_since(os: Os) -> date:
    """The first release whose containers see the GPUs that they asked for alone."""
    return date.fromisoformat(str(_family(os).get("isolates_gpus_since", date.min)))


def _day(release: str | None) -> str | None:
    match = re.search(r"(?:-|^v)(\d{8})$", release or "")
    return match[1] if match else None


def release_parameter(os: Os, version: str, *, gpu: bool, arch: Arch = "x86_64") -> str:
    """Public Systems Manager parameter that holds the newest AMI release for a Kubernetes version."""
    path: str = _family(os)["parameters"][_variant(gpu=gpu)]
    return path.format(version=version, arch=arch)
