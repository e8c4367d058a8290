"""Which operation and member of AWS's API an input of a type is sent as: the rows of `operations.yaml`.

An input belongs to the member of the same name (`shapes.normal`) of the first operation that has one. `members` lists
those with another name, as a path in Pulumi's spelling and a path in AWS's: `vpcConfig: resourcesVpcConfig`. An input
that is no parameter of AWS has a reason in `unmapped`; a test counts them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from types import MappingProxyType
from typing import Any

from spec import strict_yaml


class Reason(StrEnum):
    """Why an input is no member of an operation, or not checked as one."""

    PROVIDER = "an argument of the AWS provider; AWS has no such parameter"
    OUTPUT = "AWS computes it"
    ATTRIBUTE = "a value in a map of attributes, about which the model says nothing"
    OTHER_TYPE = "deprecated here: a type of its own has it"
    RENDERED = "the provider rewrites it into a structure of another form"


@dataclass(frozen=True)
class Operations:
    """The operations that take the inputs of one type; the first one creates the object.

    Attributes:
        type: Token of the type.
        service: Service of the operations, as boto3 names it.
        operations: The operations, as boto3 names them; after the first, those that change the object.
        wrap: The member of the first operation that takes the inputs which the operation itself does not have.
        members: Inputs whose member has another name; with an operation before a colon, in that one alone.
        supplied: Required members that no input gives: the provider sends them.
        read: What describes the object that a change names, if a rule reads that too (a fact, as `rules.requests` has).
        unmapped: Inputs without a member, with the reason.
    """

    type: str
    service: str
    operations: tuple[str, ...]
    wrap: str = ""
    members: Mapping[str, str] = field(default_factory=dict)
    supplied: frozenset[str] = frozenset()
    read: str = ""
    unmapped: Mapping[str, Reason] = field(default_factory=dict)


EVERYWHERE: Mapping[str, Reason] = MappingProxyType(
    {
        # It selects the endpoint.
        "region": Reason.PROVIDER,
        # The provider generates a name from them.
        "namePrefix": Reason.PROVIDER,
        "bucketPrefix": Reason.PROVIDER,
        "identifierPrefix": Reason.PROVIDER,
        "nodeGroupNamePrefix": Reason.PROVIDER,
        # What the provider does at deletion.
        "forceDestroy": Reason.PROVIDER,
        "skipDestroy": Reason.PROVIDER,
    }
)
"""Inputs that are no parameters of AWS in any type."""


def _row(token: str, row: dict[str, Any]) -> Operations:
    reasons = {name: one for one in Reason for name in row.pop(one.name.lower().replace("_", "-"), ())}
    service, operations, supplied = row.pop("service"), tuple(row.pop("operations")), frozenset(row.pop("supplied", ()))
    return Operations(token, service, operations, supplied=supplied, unmapped=reasons, **row)


_TEXT = Path(__file__).with_name("operations.yaml").read_text(encoding="utf-8")
OPERATIONS: Mapping[str, Operations] = MappingProxyType(
    {token: _row(token, row) for token, row in strict_yaml.read(_TEXT).items()}
)
"""By type: every type that the stacks use or the sandbox's provider keeps in the account."""
