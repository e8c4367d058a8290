"""Which operation and member of AWS's API an input of a type is sent as: one entry per type, in `tables`.

An input belongs to the member of the same name (`shapes.normal`) of the first operation that has one. `members` lists
those with another name, as a path in Pulumi's spelling and a path in AWS's: `vpcConfig: resourcesVpcConfig`. An input
that is no parameter of AWS has a reason in `unmapped`; a test counts them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from types import MappingProxyType


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
        operations: The operations, as boto3 names them.
        wrap: The member of the first operation that takes the inputs which the operation itself does not have.
        members: Inputs whose member has another name.
        supplied: Required members that no input gives: the provider sends them.
        unmapped: Inputs without a member, with the reason.
    """

    type: str
    service: str
    operations: tuple[str, ...]
    wrap: str = ""
    members: Mapping[str, str] = field(default_factory=dict)
    supplied: frozenset[str] = frozenset()
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


def sends(
    type_token: str,
    service: str,
    operations: str,
    *,
    wrap: str = "",
    members: Mapping[str, str] | None = None,
    supplied: str = "",
    **unmapped: str,
) -> Operations:
    """An entry of a table; `unmapped` has inputs by reason, both in lower case, separated by spaces."""
    reasons = {name: Reason[reason.upper()] for reason, names in unmapped.items() for name in names.split()}
    return Operations(
        type_token, service, tuple(operations.split()), wrap, members or {}, frozenset(supplied.split()),
        MappingProxyType(reasons),
    )  # fmt: skip
