"""Resources and stacks for rules, from the engine, from a recording of the program or from a test."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from pulumi_policy import PolicyResource, ResourceValidationArgs

from policies.resources.access import Node, tree
from policies.resources.reading import Unread


@dataclass(frozen=True, eq=False, kw_only=True)
class Resource:
    """One resource."""

    type: str  # type token
    name: str  # logical name
    urn: str
    read: Callable[[], Any]
    """Returns its properties: inputs for resource rules, outputs for stack rules. It is called on first access, because
    most rules look at few of a stack's resources."""
    protect: bool = False  # whether the engine refuses to delete it
    ignore_changes: tuple[str, ...] = ()  # properties whose changes the engine ignores
    delete_before_replace: bool | None = None
    """Whether the engine deletes it before it creates the replacement; None if the provider decides."""
    provider: Mapping[str, Any] = field(default_factory=dict)  # properties of its provider
    options: Mapping[str, Any] = field(default_factory=dict)  # all options that a recording has, as in a rendering
    sources: dict[str, tuple[Resource, ...]] = field(default_factory=dict)
    """Resources whose outputs it uses, by the property that uses them."""

    @cached_property
    def props(self) -> Node:
        """Its properties."""
        properties = self.read()
        return Node("", properties.values) if isinstance(properties, Unread) else tree(properties)

    def __getitem__(self, key: str) -> Node:
        return self.props[key]

    def source(self, key: str, *types: str) -> list[Resource]:
        """Resources of these types whose outputs a property uses."""
        return [source for source in self.sources.get(key, ()) if source.type in types]

    def takes_from(self, other: Resource) -> bool:
        """Whether any property uses an output of the other resource."""
        return any(other is source for sources in self.sources.values() for source in sources)


@dataclass(frozen=True, eq=False)
class Stack:
    """All resources of a stack."""

    resources: Sequence[Resource]

    def of(self, *types: str) -> list[Resource]:
        """Resources of these types."""
        return [resource for resource in self.resources if resource.type in types]


def from_engine(one: ResourceValidationArgs | PolicyResource) -> Resource:
    """The resource in a request of the engine, without dependencies."""
    options = one.opts
    return Resource(
        type=one.resource_type,
        name=one.name,
        urn=one.urn,
        read=lambda: one.props,
        protect=options.protect,
        ignore_changes=tuple(options.ignore_changes),
        delete_before_replace=options.delete_before_replace,
        provider=one.provider.props if one.provider else {},
    )


_LAST: dict[str, tuple[Sequence[PolicyResource], Stack]] = {}


def from_analysis(resources: Sequence[PolicyResource]) -> Stack:
    """The stack in a request of the engine, with dependencies. It is built once for all rules of a request, which are
    evaluated one after another."""
    last = _LAST.get("stack")
    if last is None or last[0] is not resources:
        last = _LAST["stack"] = (resources, _analysed(resources))
    return last[1]


def _analysed(policy_resources: Sequence[PolicyResource]) -> Stack:
    resources = {one.urn: from_engine(one) for one in policy_resources}
    for one in policy_resources:
        for key, sources in one.property_dependencies.items():
            resources[one.urn].sources[key] = tuple(resources[source.urn] for source in sources)
    return Stack(tuple(resources.values()))
