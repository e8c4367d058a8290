"""Which resource waits for which while a stack comes up."""

from collections.abc import Mapping
from graphlib import TopologicalSorter

from slipway.render.recording import RecordedResource, Recording

Closure = Mapping[str, frozenset[str]]
"""For each name, all that comes before it, by way of any number of others."""


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
