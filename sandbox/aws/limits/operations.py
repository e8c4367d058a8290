"""Which operations of AWS's API make and change an object of a type: the rows of `operations.yaml`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from spec import strict_yaml


@dataclass(frozen=True)
class Operations:
    """The operations of one type, as boto3 names them and their service; the first one creates the object."""

    service: str
    operations: tuple[str, ...]


OPERATIONS: Mapping[str, Operations] = MappingProxyType(
    {token: Operations(row["service"], tuple(row["operations"])) for token, row in strict_yaml.beside(__file__).items()}
)
"""By type: every type that the stacks use or the sandbox's provider keeps in the account."""
