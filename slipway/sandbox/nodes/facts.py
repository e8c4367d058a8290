"""Facts about node groups that only the sandbox's AWS has: zones of subnets, names of Auto Scaling groups.

moto runs in the daemon's own process, so its memory is read directly: a call over HTTP needs account and region, which
the observer does not get.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias

Selectors: TypeAlias = Sequence[Mapping[str, Any]]
"""Terms of an EC2NodeClass: each has an ID, or tags, of which an object must have all."""


@dataclass(frozen=True, order=True)
class Subnet:
    """A subnet and its Availability Zone."""

    id: str
    zone: str
    zone_id: str

    @property
    def region(self) -> str:
        """Its region: a zone's name is its region's name and a letter."""
        return self.zone[:-1]


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

    def subnets(self, selectors: Selectors) -> list[Subnet]:
        """The subnets that one of the terms selects, sorted."""
        every = [subnet for backend in _backends("ec2") for by in backend.subnets.values() for subnet in by.values()]
        selected = [one for one in every if any(_selects(term, one) for term in selectors)]
        return sorted(
            Subnet(str(one.id), str(one.availability_zone), str(one.availability_zone_id)) for one in selected
        )

    def asg_of(self, cluster: str, node_group: str) -> str | None:
        """The name that moto generated for the group's Auto Scaling group."""
        for backend in _backends("eks"):
            group = cluster in backend.clusters and backend.clusters[cluster].nodegroups.get(node_group)
            if group:
                return str(group.resources["autoScalingGroups"][0]["name"])
        return None


def _selects(term: Mapping[str, Any], subnet: Any) -> bool:
    if "id" in term:
        return bool(subnet.id == term["id"])
    tags = {tag["key"]: tag["value"] for tag in subnet.get_tags()}
    wanted = term.get("tags") or {}
    return bool(wanted) and all(key in tags and value in ("*", tags[key]) for key, value in wanted.items())


def _backends(service: Any) -> Iterator[Any]:
    # Imported here: it takes a second, and only a process that serves AWS needs it.
    from moto.backends import get_backend  # noqa: PLC0415

    for account in list(get_backend(service).values()):
        yield from list(account.values())
