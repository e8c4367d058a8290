"""A recorded run of a program: resources with their options and values, exports, messages.

`[secret]` replaces a secret, so that a rendering can be committed or shown in a pull request; a list with a secret
element is secret as a whole. `[unknown]` replaces a value that only a cloud can provide: every output in a preview,
otherwise an output without a sample in `samples`.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from google.protobuf import struct_pb2
from pulumi.runtime import rpc as sdk

from sandbox.rpc import wire
from sandbox.rpc.wire import REDACTED, Mask
from spec.errors import SlipwayError
from spec.settings import Platform

# URNs in the engine's format (pulumi v3.258.0, pkg/resource/deploy/deployment.go, generateURN).


STACK_TYPE: Final = "pulumi:pulumi:Stack"


def qualified_type(urn: str) -> str:
    """The type part of a URN: the types of its ancestors and its own, joined by `$`."""
    return urn.split("::")[2]


def resource_type(urn: str) -> str:
    """The type of the resource itself."""
    return qualified_type(urn).rpartition("$")[2]


def make_urn(stack: str, project: str, parent: str | None, type_: str, name: str) -> str:
    """The URN of a resource with a parent; the chain omits the stack's own type."""
    above = qualified_type(parent) if parent else STACK_TYPE
    chain = type_ if above == STACK_TYPE else f"{above}${type_}"
    return f"urn:pulumi:{stack}::{project}::{chain}::{name}"


# Property values for readers: secrets and unknowns are replaced by placeholders, and their paths are listed.


SECRET: Final = REDACTED
UNKNOWN: Final = "[unknown]"


@dataclass(frozen=True)
class Values:
    """Properties of a resource, with the dotted paths of its secrets and unknowns."""

    plain: Mapping[str, Any]
    secrets: tuple[str, ...] = ()
    unknowns: tuple[str, ...] = ()


def read(struct: struct_pb2.Struct) -> Values:
    """The values of a struct.

    Raises:
        ProviderError: It has a value of an unknown kind.
    """
    paths: dict[str, list[str]] = {SECRET: [], UNKNOWN: []}
    plain = _masked(wire.decode(struct), wire.secrets_in(struct).mask, "", paths)
    return Values(plain, tuple(sorted(paths[SECRET])), tuple(sorted(paths[UNKNOWN])))


def is_plain(struct: struct_pb2.Struct) -> bool:
    """Whether a struct is a plain map, not the envelope of a secret or another special value."""
    return sdk._special_sig_key not in struct.fields


def _masked(value: Any, mask: Mask, path: str, paths: Mapping[str, list[str]]) -> Any:
    placeholder = SECRET if mask is True else UNKNOWN if value == wire.UNKNOWN else None
    if placeholder is not None:
        paths[placeholder].append(path)
        return placeholder
    if isinstance(value, dict):
        below = mask if isinstance(mask, dict) else {}
        inside = {key: f"{path}.{key}" if path else str(key) for key in value}
        return {key: _masked(item, below.get(key, False), inside[key], paths) for key, item in sorted(value.items())}
    if isinstance(value, list):
        return [_masked(item, False, f"{path}[{index}]", paths) for index, item in enumerate(value)]
    return value


# A recorded run of a program: resources with their options, exports, messages.


PROVIDER_PREFIX = "pulumi:providers:"


class RenderError(SlipwayError):
    """The program needs a value that exists only after a deployment, or the rendered files can't be written."""


@dataclass(frozen=True, kw_only=True)
class Options:
    """Options of a resource as the engine applies them, including those inherited from its parent."""

    protect: bool = False
    retain_on_delete: bool = False
    delete_before_replace: bool | None = None  # `None` if the provider decides
    provider: str | None = None
    """URN of the provider; `None` for components, providers, and resources that use the default one."""
    deleted_with: str | None = None
    dependencies: tuple[str, ...] = ()  # URNs that the engine waits for, by `depends_on` or through a property
    property_dependencies: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """URNs by the property whose value comes from them."""
    ignore_changes: tuple[str, ...] = ()
    replace_on_changes: tuple[str, ...] = ()
    additional_secret_outputs: tuple[str, ...] = ()
    aliases: tuple[str | Mapping[str, str | bool], ...] = ()
    """Previous identities: a URN, or the parts that differ from the current one."""
    custom_timeouts: Mapping[str, str] = field(default_factory=dict)
    others: Mapping[str, Any] = field(default_factory=dict)
    """All further options that are set, by the names of the engine: an ID to import, a plugin's address."""

    @property
    def depends_on(self) -> tuple[str, ...]:
        """Dependencies from `depends_on` only, without those through a property."""
        by_property = {urn for urns in self.property_dependencies.values() for urn in urns}
        return tuple(urn for urn in self.dependencies if urn not in by_property)


@dataclass(frozen=True, kw_only=True)
class RecordedResource:
    """One registered resource."""

    urn: str
    type: str
    name: str
    parent: str | None  # URN of the parent; `None` for the stack itself
    custom: bool
    inputs: Values  # inputs with the provider's property names; secrets and unknowns are marked
    options: Options
    outputs: Values = field(default_factory=lambda: Values({}))
    """Outputs from `samples`; for a component, those it registered."""
    id: str = ""  # its id from `samples`; empty for a component and in a preview

    @property
    def exists(self) -> bool:
        """Whether it is created in AWS or in a cluster: a component or a provider is not. Every count is of these."""
        return self.custom and not self.type.startswith(PROVIDER_PREFIX)

    @property
    def uses_default_provider(self) -> bool:
        """Whether the engine would fall back to a default provider with ambient credentials."""
        return self.exists and self.options.provider is None


@dataclass(frozen=True, kw_only=True)
class Recording:
    """A recorded run. Resources are keyed and sorted by URN, so that two runs of a program are equal."""

    project: str
    stack: str
    resources: Mapping[str, RecordedResource]
    exports: Values
    messages: tuple[tuple[str, str], ...] = ()  # what the program logged at level info or above, as (level, text)
    platform: Platform | None = None  # the settings that the platform's program was run with; None for another program

    def __iter__(self) -> Iterator[RecordedResource]:
        return iter(self.resources.values())

    def __len__(self) -> int:
        return len(self.resources)

    def of_type(self, token: str) -> list[RecordedResource]:
        """Resources of one type, sorted by URN."""
        return [resource for resource in self if resource.type == token]

    def named(self, name: str) -> RecordedResource:
        """The resource with a logical name.

        Raises:
            KeyError: No resource has the name, or several of different types have it.
        """
        matches = [resource for resource in self if resource.name == name]
        if len(matches) != 1:
            types = ", ".join(resource.type for resource in matches) or "none"
            msg = f"exactly one resource must be named {name!r}; there are: {types}"
            raise KeyError(msg)
        return matches[0]

    @property
    def default_provider_users(self) -> tuple[str, ...]:
        """URNs of resources that would use a default provider."""
        return tuple(resource.urn for resource in self if resource.uses_default_provider)
