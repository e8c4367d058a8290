"""Changes of the production stack, one at a time, and the checks that must report them: mutations.yaml."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from policies.rules import BY_NAME
from tests.policies.build import parts
from tests.policies.fixtures import TYPES, load, plain

Edits = Mapping[tuple[Any, ...], Any]
_DATA, _ = load(Path(__file__).with_suffix(".yaml"))


def _edits(values: Mapping[str, Any]) -> Edits:
    return {parts(path): plain(value) for path, value in values.items()}


@dataclass(frozen=True, kw_only=True)
class OfCheck:
    """What the change for a check of a resource rule has besides the difference of its fixtures."""

    subject: str = ""  # name of the resource to change; by default the first of its type
    more: Edits = field(default_factory=dict)  # further edits that make it a violation
    options: Mapping[str, Any] = field(default_factory=dict)  # further options of the resource
    also: frozenset[str] = frozenset()  # further checks that report it
    silent: str = ""  # why the check reports nothing in production


def _of_check(check: str, row: dict[str, Any]) -> OfCheck:
    rule, _, key = check.partition("/")
    assert key in BY_NAME[rule].checks, f"mutations.yaml: there is no check {check}"
    options = {"provider": row.pop("provider")} if "provider" in row else {}
    return OfCheck(more=_edits(row.pop("more", {})), also=frozenset(row.pop("also", ())), options=options, **row)


@dataclass(frozen=True, kw_only=True)
class Mutation:
    """One change of the production stack."""

    name: str  # logical name of the resource
    violates: tuple[str, ...]  # the checks that must report it; no others may
    edits: Edits | None = None  # changed properties; None if the resource is removed
    adds: str = ""  # type of a resource without properties that is added with this name


def _mutation(row: dict[str, Any]) -> Mutation:
    violates = tuple(row.pop("reports"))
    if "add" in row:
        return Mutation(name=row["add"], violates=violates, adds=TYPES[row["type"]])
    if "remove" in row:
        return Mutation(name=row["remove"], violates=violates)
    return Mutation(name=row.pop("edit"), violates=violates, edits=_edits(row))


TEAM_RESOURCES: Final[Mapping[str, Mapping[str, Any]]] = {
    TYPES[kind]: plain(one) for kind, one in _DATA["team"].items()
}
"""Valid resources of a team, by type; production declares none of these types."""
OF_CHECKS: Final[Mapping[str, OfCheck]] = {check: _of_check(check, row) for check, row in _DATA["checks"].items()}
OTHERWISE: Final = OfCheck()
"""Of a check without a row."""
OF_GIVEN_OBJECTS: Final = frozenset(_DATA["given"])
"""Checks that report any change of an object that the stack file gives."""
MUTATIONS: Final = tuple(map(_mutation, _DATA["stack"]))
"""For stack rules."""
WITHOUT_MUTATION: Final[Mapping[str, str]] = _DATA["without"]
"""Stack rules without a mutation, with the reason."""
