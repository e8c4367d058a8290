"""Who waits for whom while a stack comes up, and the longest chain of waits."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from graphlib import TopologicalSorter

from slipway.render.recording import RecordedResource, Recording


@dataclass(frozen=True)
class Chain:
    """Names in the order in which each waits for the one before, and the seconds of all together."""

    links: tuple[str, ...]
    seconds: float


@dataclass(frozen=True)
class Graph:
    """What takes how long, and after what.

    Attributes:
        seconds: Duration by name.
        after: By name, the names that must have ended before it begins.
    """

    seconds: Mapping[str, float]
    after: Mapping[str, frozenset[str]]

    def longest(self) -> Chain:
        """The chain that ends last, if everything begins as soon as it may.

        Raises:
            graphlib.CycleError: Something waits for itself.
        """
        ends: dict[str, float] = {}
        before: dict[str, str | None] = {}
        for name in TopologicalSorter({name: sorted(self.after[name]) for name in sorted(self.after)}).static_order():
            last = max(sorted(self.after[name]), key=ends.__getitem__, default=None)
            before[name] = last
            ends[name] = self.seconds[name] + (ends[last] if last is not None else 0.0)
        if not ends:
            return Chain((), 0.0)
        link: str | None = max(ends, key=ends.__getitem__)
        seconds = ends[link or ""]
        links: list[str] = []
        while link is not None:
            links.append(link)
            link = before[link]
        return Chain(tuple(reversed(links)), seconds)

    def until(self, name: str) -> Graph:
        """What has to have happened until then, and nothing else."""
        found: set[str] = set()
        ahead = [name]
        while ahead:
            link = ahead.pop()
            if link not in found:
                found.add(link)
                ahead += self.after[link]
        return Graph({link: self.seconds[link] for link in found}, {link: self.after[link] for link in found})

    def without(self, name: str, other: str) -> Graph:
        """The same where `name` does not wait for `other` itself; it may still do so by way of a third."""
        return Graph(self.seconds, {**self.after, name: self.after[name] - {other}})


def waits_of(resource: RecordedResource) -> frozenset[str]:
    """URNs that must stand before the engine asks the provider for this one.

    The SDK resolves dependencies, provider, parent and `deleted_with` before it registers a resource (pulumi 3.258.0,
    runtime/resource.py, `prepare_resource`), and answers come when a resource stands.
    """
    options = resource.options
    others = (*options.dependencies, options.provider, options.deleted_with, resource.parent)
    return frozenset(urn for urn in others if urn)


def waits(recording: Recording) -> dict[str, frozenset[str]]:
    """`waits_of` every resource, by URN."""
    return {urn: waits_of(resource) for urn, resource in recording.resources.items()}
