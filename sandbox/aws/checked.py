"""The limits of the requests of each type as a list: what `slipway sandbox status --limits` shows."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from botocore.model import ListShape, MapShape, Shape, StringShape, StructureShape

from sandbox.aws import rules
from sandbox.aws.client import Aws, Clients
from sandbox.aws.limits.operations import OPERATIONS
from sandbox.aws.limits.values import OPEN_LISTS
from sandbox.aws.rules import requests
from sandbox.aws.rules.rule import Rule

_NOWHERE = "http://127.0.0.1:9"
"""The service models are read from files; nothing is called."""

_ENUM_SHOWN = 6
_PATTERN_SHOWN = 60


@dataclass(frozen=True)
class Limit:
    """One parameter that is limited, or one rule of a type."""

    type: str  # token of the type
    parameter: str  # the operation and the path of its parameter; of a rule the operation
    limits: str  # what the model says, or the rule
    source: str = ""  # where a rule comes from; empty for a parameter


def limits(containing: str = "", region: str = "us-east-1") -> Iterator[Limit]:
    """The limits of the types whose token contains a text, without regard to case."""
    aws = Aws(Clients(_NOWHERE), region)
    for token, row in sorted(OPERATIONS.items()):
        if containing.lower() not in token.lower():
            continue
        for operation in row.operations:
            shape = aws.input_shape(row.service, operation)
            for path, words in _limited(shape, operation, frozenset()):
                yield Limit(token, path, ", ".join(words))
        deletes = f"delete_{row.operations[0].partition('_')[2]}"
        said = [(row.service, one) for one in dict.fromkeys((*row.operations, deletes))]
        for service, operation in [*said, (token, "")]:
            found: list[requests.Row | Rule] = [*requests.rows().get((service, operation), ())]
            for one in (*found, *rules.of(service, operation)):
                yield Limit(token, operation or "inputs", f"{one.code}: {one.words}", one.source)


def _limited(shape: Shape, path: str, above: frozenset[str]) -> Iterator[tuple[str, list[str]]]:
    """The parameters that have limits, at any depth; a shape in itself is listed once."""
    if isinstance(shape, ListShape):
        if words := _bounds(shape, "items"):
            yield path, words
        yield from _limited(shape.member, path, above)
    elif isinstance(shape, StructureShape):
        for name, member in shape.members.items() if shape.name not in above else ():
            required = ["required"] if name in shape.required_members else []
            found = list(_limited(member, f"{path}.{name}", above | {shape.name}))
            own = found.pop(0)[1] if found and found[0][0] == f"{path}.{name}" else []
            yield from [(f"{path}.{name}", required + own)] if required + own else []
            yield from found
    elif words := _words(shape):
        yield path, words


def _words(shape: Shape) -> list[str]:
    """Lengths, range, enumeration and pattern of a shape; of a map those of its keys and values."""
    if isinstance(shape, MapShape):
        return [f"key {word}" for word in _words(shape.key)] + [f"value {word}" for word in _words(shape.value)]
    if isinstance(shape, StringShape) and shape.enum:
        if shape.name in OPEN_LISTS:
            return []
        more = f", and {len(shape.enum) - _ENUM_SHOWN} more" if len(shape.enum) > _ENUM_SHOWN else ""
        return [f"one of {', '.join(shape.enum[:_ENUM_SHOWN])}{more}"]
    pattern = str(shape.metadata.get("pattern") or "")
    shown = pattern if len(pattern) <= _PATTERN_SHOWN else f"{pattern[:_PATTERN_SHOWN]}..."
    unit = "characters" if isinstance(shape, StringShape) else ""
    return [*_bounds(shape, unit), *([f"matches {shown}"] if pattern else [])]


def _bounds(shape: Shape, unit: str) -> list[str]:
    low, high = shape.metadata.get("min"), shape.metadata.get("max")
    if low is None and high is None:
        return []
    text = f"{low} to {high}" if None not in (low, high) else f"at least {low}" if high is None else f"at most {high}"
    return [f"{text} {unit}".strip()]


def summary(found: list[Limit]) -> str:
    """How many parameters are limited, and how many rules there are."""
    types, rows = len({one.type for one in found}), sum(1 for one in found if one.source)
    return f"{types} types: {len(found) - rows} parameters with limits of AWS's models, {rows} rules"
