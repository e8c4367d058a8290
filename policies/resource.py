"""A resource and a stack as rules see them, whether the engine analyses, a recording is checked or a test speaks."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from pulumi_policy import PolicyResource, ResourceValidationArgs

from policies.access import Node, tree
from policies.reading import Unread


@dataclass(frozen=True, eq=False, kw_only=True)
class Resource:
    """One resource.

    Attributes:
        type: Type token.
        name: Logical name.
        urn: URN.
        read: Gives its properties: inputs for rules of one resource, outputs for those of a stack. They are read when
            first asked for, because most rules look at few of a stack's resources.
        protect: Whether the engine refuses to delete it.
        ignore_changes: Properties whose changes the engine ignores.
        delete_before_replace: Whether a replacement comes after the deletion; None where the provider decides.
        provider: Properties of its provider.
        sources: Resources whose outputs it takes, by the property that takes them; filled in by `link`.
    """

    type: str
    name: str
    urn: str
    read: Callable[[], Any]
    protect: bool = False
    ignore_changes: tuple[str, ...] = ()
    delete_before_replace: bool | None = None
    provider: Mapping[str, Any] = field(default_factory=dict)
    sources: dict[str, tuple[Resource, ...]] = field(default_factory=dict)

    @cached_property
    def props(self) -> Node:
        """Its properties."""
        found = self.read()
        return Node("", found.values) if isinstance(found, Unread) else tree(found)

    def __getitem__(self, key: str) -> Node:
        return self.props[key]

    def source(self, key: str, *types: str) -> list[Resource]:
        """Resources of these types from which a property comes."""
        return [found for found in self.sources.get(key, ()) if found.type in types]

    def takes_from(self, other: Resource) -> bool:
        """Whether any property comes from the other resource."""
        return any(other is found for sources in self.sources.values() for found in sources)


@dataclass(frozen=True, eq=False)
class Stack:
    """All resources of a stack."""

    resources: Sequence[Resource]

    def of(self, *types: str) -> list[Resource]:
        """Resources of these types."""
        return [resource for resource in self.resources if resource.type in types]


def from_validation(args: ResourceValidationArgs) -> Resource:
    """The resource that the engine asks about."""
    options = args.opts
    return Resource(
        type=args.resource_type,
        name=args.name,
        urn=args.urn,
        read=lambda: args.props,
        protect=options.protect,
        ignore_changes=tuple(options.ignore_changes),
        delete_before_replace=options.delete_before_replace,
        provider=args.provider.props if args.provider else {},
    )


_LAST: dict[str, tuple[Sequence[PolicyResource], Stack]] = {}


def from_analysis(given: Sequence[PolicyResource]) -> Stack:
    """The stack that the engine asks about, with what takes from what. The same resources are read once, however many
    rules ask: they do so one after another."""
    last = _LAST.get("stack")
    if last is None or last[0] is not given:
        last = _LAST["stack"] = (given, _analysed(given))
    return last[1]


def _analysed(given: Iterable[PolicyResource]) -> Stack:
    found = list(given)
    resources = {one.urn: _from_policy(one) for one in found}
    for one in found:
        for key, sources in one.property_dependencies.items():
            resources[one.urn].sources[key] = tuple(resources[source.urn] for source in sources)
    return Stack(tuple(resources.values()))


def _from_policy(one: PolicyResource) -> Resource:
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
