"""Properties of pulumi-aws that the provider's commit lacks, such as a cluster's `kubeSchedulerConfig`.

What changes an object of the type takes some of them: it is called with them after the provider has acted. The others
exist in the Pulumi state alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from sandbox.aws.client import Aws
from sandbox.aws.limits.operations import OPERATIONS
from sandbox.aws.shapes import normal, to_api


def send(aws: Aws, type_token: str, names: Mapping[str, Any], values: Mapping[str, Any]) -> list[str]:
    """Send the values that an operation takes; returns the properties that none does. Raises AwsError.

    Args:
        aws: The account.
        type_token: Token of the type.
        names: What the object is called by: its outputs.
        values: The properties.
    """
    left, row = dict(values), OPERATIONS.get(type_token)
    if row is None:
        return sorted(left)
    for operation in row.operations[1:]:
        given = dict(_taken(aws, row.service, operation, left))
        named = dict(_taken(aws, row.service, operation, names, required=True))
        if given and not set(aws.input_shape(row.service, operation).required_members) - {*named, *given}:
            aws.call(row.service, operation, **named, **given)
            taken = {normal(name) for name in given}
            left = {key: value for key, value in left.items() if normal(key) not in taken}
    return sorted(left)


def _taken(
    aws: Aws, service: str, operation: str, values: Mapping[str, Any], *, required: bool = False
) -> Iterator[tuple[str, Any]]:
    """The members of an operation that some values are."""
    shape = aws.input_shape(service, operation)
    members = {normal(name): name for name in (shape.required_members if required else shape.members)}
    for key, value in values.items():
        if (name := members.get(normal(key))) is not None:
            yield name, to_api(shape.members[name], value)
