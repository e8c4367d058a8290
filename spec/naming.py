"""Names: how logical names become AWS names, and the length of those.

Logical names are kebab-case paths of roles and config keys (`pool-a100-launch-template`); they contain no
environment, region or index, so nothing is replaced when those change. AWS names follow from them by the engine's
auto-naming.
"""

from collections.abc import Mapping
from typing import Final

PROJECT: Final = "slipway"  # name of the Pulumi project; keys of stack files begin with it

NETWORK_ONLY: Final = "SLIPWAY_NETWORK_ONLY"
"""Environment variable by which the program declares the network and nothing else: the engine's `--target` alone does
not do it, because it never leaves out a provider, and that of Kubernetes waits for the cluster."""

_HEX_DIGITS: Final = 7


def physical_length(project: str, stack: str, logical: str) -> int:
    """Length of the AWS name that auto-naming derives from a logical name."""
    return len(f"{project}-{stack}-{logical}-") + _HEX_DIGITS


def zone_letter(zone: str) -> str:
    """The letter by which a zone is named inside its region: `a` of `us-east-1a`."""
    return zone[-1]


def control_plane_logs(cluster: str) -> str:
    """The log group of EKS for a cluster, whose name nobody chooses."""
    return f"/aws/eks/{cluster}/cluster"


COMPUTED_TAGS: Final = frozenset({"environment", "owner", "cost-center", "managed-by", "name"})
"""Keys that Slipway sets itself, in lower case; a stack file's own tags may not repeat them."""


def platform_tags(environment: str, owner: str, cost_center: str, more: Mapping[str, str]) -> dict[str, str]:
    """Tags that the AWS provider sets on every resource, sorted by key so that order causes no diff."""
    tags = {"environment": environment, "owner": owner, "cost-center": cost_center, "managed-by": "slipway", **more}
    return dict(sorted(tags.items()))
