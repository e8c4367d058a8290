"""One row of the table of needs, and how a row finds resources in a recorded program.

A row looks at types and inputs, and at the outputs that inputs come from. It never looks at `depends_on`: that is what
is checked.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from slipway.render.recording import RecordedResource, Recording

POLICIES: Final = ("aws:iam/rolePolicy:RolePolicy", "aws:iam/rolePolicyAttachment:RolePolicyAttachment")
ROLE: Final = "aws:iam/role:Role"


class Index:
    """The resources of one program, by type and by where their inputs come from."""

    def __init__(self, recording: Recording) -> None:
        self.recording: Final = recording
        self._by_type: dict[str, list[RecordedResource]] = defaultdict(list)
        for resource in recording:
            self._by_type[resource.type].append(resource)

    def of_type(self, *tokens: str) -> list[RecordedResource]:
        """Resources of these types."""
        return [resource for token in tokens for resource in self._by_type.get(token, ())]

    def matching(self, *tokens: str, **inputs: Any) -> list[RecordedResource]:
        """Resources of these types with these inputs."""
        return [
            resource
            for resource in self.of_type(*tokens)
            if all(resource.inputs.plain.get(name) == value for name, value in inputs.items())
        ]

    def behind(self, resource: RecordedResource, *properties: str) -> list[RecordedResource]:
        """Resources whose outputs are in the values of these properties."""
        sources = resource.options.property_dependencies
        return [self.recording.resources[urn] for name in properties for urn in sources.get(name, ())]

    def policies_of(self, roles: Iterable[RecordedResource]) -> list[RecordedResource]:
        """Inline and managed policies of these roles."""
        urns = {role.urn for role in roles if role.type == ROLE}
        return [each for each in self.of_type(*POLICIES) if urns & {role.urn for role in self.behind(each, "role")}]


Selector = Callable[[RecordedResource], bool]
Finder = Callable[[Index, RecordedResource], Iterable[RecordedResource]]


@dataclass(frozen=True, kw_only=True)
class Need:
    """Resources that must wait for others.

    Attributes:
        later: Whether a resource is one of those that wait.
        earlier: What such a resource must wait for.
        why: What goes wrong otherwise, and the source of the fact.
        required: A resource that finds nothing to wait for is an error, too.
    """

    later: Selector
    earlier: Finder
    why: str
    required: bool = False


def of(*tokens: str) -> Selector:
    """Resources of these types."""
    return lambda resource: resource.type in tokens


def every(*tokens: str) -> Finder:
    """All resources of these types."""
    return lambda index, _: index.of_type(*tokens)


def source_of(*properties: str) -> Finder:
    """The resources that an input comes from."""
    return lambda index, later: index.behind(later, *properties)


def policies_behind(*properties: str) -> Finder:
    """The policies of the roles that an input names."""
    return lambda index, later: index.policies_of(index.behind(later, *properties))


def inputs(resource: RecordedResource) -> Mapping[str, Any]:
    """Inputs of a resource as plain values."""
    return resource.inputs.plain
