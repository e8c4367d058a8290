"""Facts about node groups that only the sandbox's AWS has: zones of subnets, names of Auto Scaling groups.

moto runs in the daemon's own process, so its memory is read directly: a call over HTTP needs account and region, which
the observer does not get.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Protocol


class CloudFacts(Protocol):
    """Look-ups of AWS objects in any account and region."""

    def zone_of(self, subnet: str) -> str | None:
        """The Availability Zone of a subnet; None if there is no such subnet."""

    def asg_of(self, cluster: str, node_group: str) -> str | None:
        """The name of a node group's Auto Scaling group; None if there is no such group."""


class MotoFacts:
    """Reads the moto of this process."""

    def zone_of(self, subnet: str) -> str | None:
        """The Availability Zone of a subnet."""
        for backend in _backends("ec2"):
            for by_zone in backend.subnets.values():
                if subnet in by_zone:
                    return str(by_zone[subnet].availability_zone)
        return None

    def asg_of(self, cluster: str, node_group: str) -> str | None:
        """The name that moto generated for the group's Auto Scaling group."""
        for backend in _backends("eks"):
            group = cluster in backend.clusters and backend.clusters[cluster].nodegroups.get(node_group)
            if group:
                return str(group.resources["autoScalingGroups"][0]["name"])
        return None


def _backends(service: Any) -> Iterator[Any]:
    # Imported here: it takes a second, and only a process that serves AWS needs it.
    from moto.backends import get_backend  # noqa: PLC0415

    for account in list(get_backend(service).values()):
        yield from list(account.values())
