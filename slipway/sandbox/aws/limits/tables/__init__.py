"""The operations of every type that the stacks use or moto keeps."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from slipway.sandbox.aws.limits.operations import Operations
from slipway.sandbox.aws.limits.tables import costs, data, ec2, eks, iam, messages, s3

OPERATIONS: Mapping[str, Operations] = MappingProxyType(
    {one.type: one for family in (ec2, eks, iam, s3, data, messages, costs) for one in family.OPERATIONS}
)
"""By type token."""
