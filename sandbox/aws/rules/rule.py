"""What AWS refuses and its service models do not say: one function per rule, with the service's code and a source.

A rule of the inputs alone (`Moment.PREVIEW`) is evaluated as soon as the inputs that it reads are known, at preview or
at `up`. A rule that reads other objects is evaluated at `up`, right before the object is created, changed or deleted:
at preview the other objects may be about to change too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any, TypeAlias

from sandbox.aws.client import Aws, AwsError
from spec import strict_yaml

Inputs: TypeAlias = Mapping[str, Any]
TABLES: Mapping[str, Any] = strict_yaml.read(Path(__file__).with_name("tables.yaml").read_text(encoding="utf-8"))


class Moment(StrEnum):
    """When a rule is evaluated."""

    PREVIEW = "preview"
    """Of the inputs alone."""
    CHANGE = "change"
    """Of old and new inputs, at the preview of an update and before it."""
    CREATE = "create"
    UPDATE = "update"
    DELETE = "delete"


@dataclass(frozen=True)
class Case:
    """What a rule reads: the new inputs, or at deletion the outputs; before an update also the old ones."""

    type: str
    aws: Aws
    new: Inputs
    old: Inputs = field(default_factory=dict)
    id: str = ""

    def seen(self, service: str, operation: str, **parameters: Any) -> dict[str, Any]:
        """The answer to a question; empty if AWS says that there is no such object."""
        try:
            return self.aws.call(service, operation, **parameters)
        except AwsError as error:
            if error.not_found:
                return {}
            raise


Found: TypeAlias = Callable[[Case], str | None]
"""Returns AWS's message, None if there is nothing to refuse."""


@dataclass(frozen=True)
class Rule:
    """One rule.

    Attributes:
        types: Tokens of the types.
        code: The service's error code; empty if not AWS but its provider refuses the value, which it does at plan.
        at: The inputs that it reads, the one to report first. With an unknown in one of them it is not evaluated.
        source: Where AWS says so.
        moments: When it is evaluated.
        found: The rule itself.
    """

    types: tuple[str, ...]
    code: str
    at: tuple[str, ...]
    source: str
    moments: frozenset[Moment]
    found: Found

    @property
    def name(self) -> str:
        """Its name, for tests and listings."""
        return self.found.__name__.removeprefix("_")


def rule(types: str, code: str, at: str, source: str, *moments: Moment) -> Callable[[Found], Rule]:
    """Make a rule of a function; `types` and `at` are separated by spaces."""
    when = frozenset(moments) or frozenset({Moment.PREVIEW})
    return lambda found: Rule(tuple(types.split()), code, tuple(at.split()), source, when, found)


def value(inputs: Mapping[str, Any], path: str) -> Any:
    """The value at a dotted path; None if there is none."""
    current: Any = inputs
    for part in path.split("."):
        current = current.get(part) if isinstance(current, Mapping) else None
    return current


def is_true(given: Any) -> bool:
    """Whether a boolean input is true; the engine also passes text."""
    return given in (True, "true")


def listed(items: Iterable[Any]) -> str:
    """Items as AWS's messages list them."""
    return f"[{', '.join(str(item) for item in items)}]"
