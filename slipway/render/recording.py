"""What a program asked of the engine: resources with their options, exports, messages."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from slipway.render.values import Values

PROVIDER_PREFIX = "pulumi:providers:"


@dataclass(frozen=True, kw_only=True)
class Options:
    """Options of a resource as the engine applies them, so with what it inherits from its parent.

    Attributes:
        provider: URN of the provider; `None` for components, providers, and where the default one would be used.
        dependencies: URNs that the engine waits for, by `depends_on` or through a property.
        property_dependencies: URNs by the property whose value comes from them.
        aliases: Former identities: a URN, or the parts that differ from the present one.
        delete_before_replace: `None` where the program leaves it to the provider.
    """

    protect: bool = False
    retain_on_delete: bool = False
    delete_before_replace: bool | None = None
    provider: str | None = None
    deleted_with: str | None = None
    dependencies: tuple[str, ...] = ()
    property_dependencies: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    ignore_changes: tuple[str, ...] = ()
    replace_on_changes: tuple[str, ...] = ()
    additional_secret_outputs: tuple[str, ...] = ()
    aliases: tuple[str | Mapping[str, str | bool], ...] = ()
    custom_timeouts: Mapping[str, str] = field(default_factory=dict)

    @property
    def depends_on(self) -> tuple[str, ...]:
        """Dependencies that no property explains: those that `depends_on` alone makes."""
        explained = {urn for urns in self.property_dependencies.values() for urn in urns}
        return tuple(urn for urn in self.dependencies if urn not in explained)


@dataclass(frozen=True, kw_only=True)
class RecordedResource:
    """One registration.

    Attributes:
        parent: URN of the parent; `None` for the stack itself.
        inputs: Inputs in the provider's spelling, secrets and unknowns marked.
        outputs: Outputs given back by `samples`; of a component, what it registered.
        id: Its id from `samples`; empty for a component and in a preview.
    """

    urn: str
    type: str
    name: str
    parent: str | None
    custom: bool
    inputs: Values
    options: Options
    outputs: Values = field(default_factory=lambda: Values({}))
    id: str = ""

    @property
    def uses_default_provider(self) -> bool:
        """Whether the engine would fall back to a provider made of the credentials that happen to be around."""
        return self.custom and not self.type.startswith(PROVIDER_PREFIX) and self.options.provider is None


@dataclass(frozen=True, kw_only=True)
class Recording:
    """A whole run. Resources are keyed and sorted by URN, so two runs of one program are equal.

    Attributes:
        messages: What the program logged at level info or above, as (level, text).
    """

    project: str
    stack: str
    resources: Mapping[str, RecordedResource]
    exports: Values
    messages: tuple[tuple[str, str], ...] = ()

    def __iter__(self) -> Iterator[RecordedResource]:
        return iter(self.resources.values())

    def __len__(self) -> int:
        return len(self.resources)

    def of_type(self, token: str) -> list[RecordedResource]:
        """Resources of one type, in the order of their URNs."""
        return [resource for resource in self if resource.type == token]

    def named(self, name: str) -> RecordedResource:
        """The one resource of a logical name.

        Raises:
            KeyError: No resource has the name, or several of different types have it.
        """
        found = [resource for resource in self if resource.name == name]
        if len(found) != 1:
            types = ", ".join(resource.type for resource in found) or "none"
            msg = f"one resource must be named {name!r}; there are: {types}"
            raise KeyError(msg)
        return found[0]

    @property
    def default_provider_users(self) -> tuple[str, ...]:
        """URNs of resources that would use a default provider."""
        return tuple(resource.urn for resource in self if resource.uses_default_provider)
