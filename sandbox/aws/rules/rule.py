"""What AWS refuses of a request and no row of `requests-*.yaml` can say: one function per rule, with code and source.

A rule of the parameters alone is also asked at preview, as soon as those that it reads are known. One that reads other
objects (`live`) is asked right before the request is answered: at preview the others may be about to change too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from sandbox.aws.client import Aws, AwsError
from sandbox.rpc.diff import value
from spec import strict_yaml

Inputs: TypeAlias = Mapping[str, Any]
TABLES: Mapping[str, Any] = strict_yaml.beside(__file__, "tables")


@dataclass(frozen=True)
class Case:
    """What a rule reads: the parameters, and what the object of a change is, as its service describes it."""

    aws: Aws
    given: Inputs
    has: Inputs = field(default_factory=dict)

    def value(self, path: str) -> Any:
        """A parameter; if it isn't given, what the object has."""
        found = value(self.given, path)
        return value(self.has, path) if found is None else found

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
    """One rule."""

    on: tuple[str, ...]  # operations, as `service.operation` of boto3
    code: str  # the service's error code
    at: tuple[str, ...]  # the parameters that it reads. With an unknown in one of them it is not asked.
    source: str  # where AWS says so
    live: bool  # whether it reads other objects
    found: Found  # the rule itself

    @property
    def name(self) -> str:
        """Its name, for tests and listings."""
        return self.found.__name__.removeprefix("_")

    @property
    def words(self) -> str:
        """What it says."""
        return (self.found.__doc__ or self.name).split(".")[0].strip()


def rule(on: str, code: str, at: str, source: str, *, live: bool = False) -> Callable[[Found], Rule]:
    """Make a rule of a function; `on` and `at` are separated by spaces."""
    return lambda found: Rule(tuple(on.split()), code, tuple(at.split()), source, live, found)


def listed(items: Iterable[Any]) -> str:
    """Items as AWS's messages list them."""
    return f"[{', '.join(str(item) for item in items)}]"
