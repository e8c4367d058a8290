"""What only the AWS of the sandbox knows about node groups: zones of subnets, names of Auto Scaling groups.

moto runs in the daemon's own process, so its memory is asked directly: over HTTP one would have to know account and
region, of which the observer is told nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Protocol


class CloudFacts(Protocol):
    """Questions about objects of AWS, in whatever account and region they are."""

    def zone_of(self, subnet: str) -> str | None:
        """The availability zone of a subnet, None when it is not known."""

    def asg_of(self, cluster: str, node_group: str) -> str | None:
        """The name of a node group's Auto Scaling group, None when it is not known."""


class MotoFacts:
    """Asks the moto of this process."""

    def zone_of(self, subnet: str) -> str | None:
        """The availability zone of a subnet."""
        for backend in _backends("ec2"):
            for by_zone in backend.subnets.values():
                if subnet in by_zone:
                    return str(by_zone[subnet].availability_zone)
        return None

    def asg_of(self, cluster: str, node_group: str) -> str | None:
        """The name that moto made up for the group's Auto Scaling group."""
        for backend in _backends("eks"):
            group = cluster in backend.clusters and backend.clusters[cluster].nodegroups.get(node_group)
            if group:
                return str(group.resources["autoScalingGroups"][0]["name"])
        return None


def _backends(service: Any) -> Iterator[Any]:
    # Imported here: it takes a second, and whoever does not serve AWS needs it not.
    from moto.backends import get_backend  # noqa: PLC0415

    for account in list(get_backend(service).values()):
        yield from list(account.values())
