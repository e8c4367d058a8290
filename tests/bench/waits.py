"""Which resource waits for which while a stack comes up, and the longest chain of waits."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from graphlib import TopologicalSorter

from slipway.render.recording import RecordedResource, Recording

Closure = Mapping[str, frozenset[str]]
"""For each name, all that comes before it, by way of any number of others."""


@dataclass(frozen=True)
class Chain:
    """Names in the order in which each waits for the one before, and the seconds of all together."""

    links: tuple[str, ...]
    seconds: float


@dataclass(frozen=True)
class Graph:
    """How long each resource takes, and what it waits for.

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

    def until(self, names: Iterable[str]) -> Graph:
        """These names and what must have ended before them, and nothing else."""
        reached: set[str] = set()
        ahead = list(names)
        while ahead:
            link = ahead.pop()
            if link not in reached:
                reached.add(link)
                ahead += self.after[link]
        return Graph({link: self.seconds[link] for link in reached}, {link: self.after[link] for link in reached})

    def without(self, name: str, other: str) -> Graph:
        """The same where `name` does not wait for `other` itself; it may still do so by way of a third."""
        return Graph(self.seconds, {**self.after, name: self.after[name] - {other}})


def closure(after: Mapping[str, frozenset[str]]) -> Closure:
    """All that comes before each name.

    Raises:
        graphlib.CycleError: Something waits for itself.
    """
    before: dict[str, frozenset[str]] = {}
    for name in TopologicalSorter(after).static_order():
        before[name] = after[name].union(*(before[other] for other in after[name]))
    return before


def waits_of(resource: RecordedResource) -> frozenset[str]:
    """URNs of the resources that must exist before the engine asks the provider for this one.

    The SDK resolves dependencies, provider, parent and `deleted_with` before it registers a resource (pulumi 3.258.0,
    runtime/resource.py, `prepare_resource`), and the engine answers when a resource exists.
    """
    options = resource.options
    others = (*options.dependencies, options.provider, options.deleted_with, resource.parent)
    return frozenset(urn for urn in others if urn)


def waits(recording: Recording) -> dict[str, frozenset[str]]:
    """`waits_of` every resource, by URN."""
    return {urn: waits_of(resource) for urn, resource in recording.resources.items()}
