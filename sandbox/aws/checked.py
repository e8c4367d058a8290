"""The limits of every input as a list: what `slipway sandbox status --limits` shows."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from botocore.model import ListShape, MapShape, Shape, StringShape

from sandbox.aws import rules, validators
from sandbox.aws.client import Aws, Clients
from sandbox.aws.limits.members import Tree, tree
from sandbox.aws.limits.operations import OPERATIONS
from sandbox.aws.limits.values import OPEN_LISTS

_NOWHERE = "http://127.0.0.1:9"
"""The service models are read from files; nothing is called."""

_ENUM_SHOWN = 6
_PATTERN_SHOWN = 60


@dataclass(frozen=True)
class Limit:
    """One input, or one rule of a type.

    Attributes:
        type: Token of the type.
        input: Path of the input.
        parameter: The operation and the member that it is sent as; empty if it is not sent.
        limits: What the model says, the reason why it is not mapped, or what the rule says.
        mapped: Whether the input is a member of AWS's model.
        source: Where a rule or a sentence of the documentation comes from; empty for an input.
    """

    type: str
    input: str
    parameter: str
    limits: str
    mapped: bool = True
    source: str = ""


def limits(containing: str = "", region: str = "us-east-1") -> Iterator[Limit]:
    """The limits of the types whose token contains a text, without regard to case."""
    aws = Aws(Clients(_NOWHERE), region)
    for type_token in sorted(OPERATIONS):
        known = tree(aws, type_token) if containing.lower() in type_token.lower() else None
        if known is not None:
            yield from _inputs(type_token, known)
            yield from _rules(type_token)
            yield from _validated(type_token)


def _inputs(type_token: str, known: Tree) -> Iterator[Limit]:
    required = set(known.shape.required_members)
    for one in known.all():
        if one.shape is None:
            yield Limit(type_token, one.path, "", str(one.reason or ""), mapped=False)
        else:
            words = _words(one.shape)
            is_required = one.member in required and one.operation == known.operations.operations[0]
            parameter = f"{one.operation}.{one.member}".strip(".")
            yield Limit(type_token, one.path, parameter, ", ".join(["required"] * is_required + words))


def _rules(type_token: str) -> Iterator[Limit]:
    for one in rules.BY_TYPE.get(type_token, ()):
        moments = ", ".join(sorted(one.moments))
        text = (one.found.__doc__ or one.name).split(".")[0].strip()
        yield Limit(type_token, one.at[0], f"rule at {moments}", f"{one.code}: {text}", source=one.source)


def _validated(type_token: str) -> Iterator[Limit]:
    """Rows of `validators`."""
    for path, found in validators.paths(type_token).items():
        for one in found:
            yield Limit(type_token, path, "at preview", one.shown, source=one.text)


def _words(shape: Shape) -> list[str]:
    """Lengths, range, enumeration and pattern of a shape; of a list also those of its items."""
    if isinstance(shape, ListShape):
        return [*_bounds(shape, "items"), *_words(shape.member)]
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
    """How many inputs are mapped, limited, and not mapped, and how many rules there are."""
    inputs = [one for one in found if not one.source]
    mapped = [one for one in inputs if one.mapped]
    limited = sum(1 for one in mapped if one.limits)
    types = len({one.type for one in found})
    return (
        f"{types} types, {len(inputs)} inputs: {len(mapped)} are members of AWS's models, {limited} of them with "
        f"limits; {len(inputs) - len(mapped)} are not mapped; {len(found) - len(inputs)} rules and statements of the "
        "provider"
    )
