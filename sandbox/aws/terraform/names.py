"""Terraform's names of pulumi-aws's types, functions and properties, and the forms of their values."""

from __future__ import annotations

import functools
from collections.abc import Container, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from sandbox.aws.kinds import snake
from sandbox.aws.schema import of_function, schema, tokens
from sandbox.aws.terraform.forms import Block, of_block
from spec import strict_yaml

_NAMES: Final = strict_yaml.beside(__file__)
EXCEPTIONS: Final[Mapping[str, str]] = _NAMES["types"]
"""Terraform's types that no rule gives, by token."""
SINGULAR: Final = frozenset(_NAMES["singular"])
"""Pulumi's plural names of lists whose Terraform name is singular."""
GIVEN: Final[Mapping[str, Mapping[str, Any]]] = _NAMES["given"]
"""What a configuration has whatever the program says, by Terraform's type."""


def terraform_type(token: str, known: Container[str]) -> str | None:
    """Terraform's type of a token: `aws:eks/nodeGroup:NodeGroup` is `aws_eks_node_group`; None if it isn't known."""
    if token in EXCEPTIONS:
        found = EXCEPTIONS[token]
        return found if found in known else None
    _, module, name = token.split(":")
    group = module.partition("/")[0]
    rest = snake(name.removeprefix("get"))
    beginnings = _NAMES["modules"].get(group, [f"{group}_"])
    return next((found for one in beginnings if (found := f"aws_{one}{rest}") in known), None)


@dataclass(frozen=True)
class Type:
    """A resource type, or a data source: Terraform's name, the provider's schema, and the forms of the properties."""

    token: str
    name: str
    block: Any
    form: Block


class Types:
    """The types of a provider."""

    def __init__(self, schemas: Any) -> None:
        self._schemas = schemas

    def tokens(self) -> Iterator[str]:
        """The resource types that the provider and the SDK have."""
        return (token for token in tokens() if terraform_type(token, self._schemas.resource_schemas))

    @functools.cache  # noqa: B019 - one for a process
    def resource(self, token: str) -> Type | None:
        """The type of a token; None if the provider or the SDK has none."""
        known, name = schema(token), terraform_type(token, self._schemas.resource_schemas)
        if known is None or name is None:
            return None
        block = self._schemas.resource_schemas[name].block
        # Outputs have what the provider adds, too; a secret that it doesn't keep is an input alone.
        return Type(token, name, block, of_block(block, {**known.inputs, **known.outputs}, _renamed()))

    @functools.cache  # noqa: B019 - one for a process
    def function(self, token: str) -> Type | None:
        """The data source of a function; None if the provider or the SDK has none."""
        name = terraform_type(token, self._schemas.data_source_schemas)
        fields = of_function(token) if name is not None else None
        if name is None or fields is None:
            return None
        block = self._schemas.data_source_schemas[name].block
        return Type(token, name, block, of_block(block, fields, _renamed()))


def _renamed() -> Mapping[str, str]:
    found: Mapping[str, str] = _NAMES["properties"]
    return found
