"""Builders of fixtures: small resources and stacks with the property names of the provider."""

from collections.abc import Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, field, replace
from typing import Any

from policies.resources.access import MISSING


@dataclass(frozen=True, kw_only=True)
class FixtureResource:
    """A resource in a fixture."""

    type: str = ""  # type token; by default the first type of the rule
    props: Mapping[str, Any] = field(default_factory=dict)  # its properties
    protect: bool = False
    ignore_changes: tuple[str, ...] = ()
    delete_before_replace: bool | None = None
    provider: Mapping[str, Any] = field(default_factory=dict)
    takes: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """By property, names of resources of the fixture whose outputs the property uses."""


PropertyPath = tuple[str | int, ...]
"""Of a value in properties."""
Fixture = Mapping[str, FixtureResource]
"""Resources by logical name: one for a resource rule, all relevant ones for a stack rule."""


class Row(dict[str, FixtureResource]):
    """A fixture with its place, `FILE:LINE`."""

    def __init__(self, fixture: Fixture, place: str) -> None:
        super().__init__(fixture)
        self.place = place


def one(props: Mapping[str, Any], **options: Any) -> Fixture:
    """A fixture of a single resource."""
    return {"it": FixtureResource(props=props, **options)}


def parts(path: str) -> PropertyPath:
    """The keys and indexes of a dotted path; `|` in it is a dot in a key."""
    return tuple(int(part) if part.isdigit() else part.replace("|", ".") for part in path.split("."))


def edited(props: Mapping[str, Any], path: str | PropertyPath, value: Any = MISSING) -> dict[str, Any]:
    """A copy of properties with one value changed, or removed if there is no value; `a.b.0.c` is a path."""
    copy: Any = deepcopy(dict(props))
    target = copy
    *above, last = parts(path) if isinstance(path, str) else path
    for part in above:
        target = target[part]
    if value is MISSING:
        del target[last]
    else:
        target[last] = value
    return dict(copy)


def with_(fixture: Fixture, name: str, path: str, value: Any = MISSING) -> Fixture:
    """A fixture with one value of one of its resources changed or removed; `|` in a path is a dot in a key."""
    return {**fixture, name: replace(fixture[name], props=edited(fixture[name].props, path, value))}


@dataclass(frozen=True, kw_only=True)
class RuleFixtures:
    """Fixtures of one rule."""

    good: Sequence[Row]  # fixtures in which no check of the rule reports a violation, with production's settings
    bad: Mapping[str, Sequence[Row]]
    """By check: fixtures in which this check, and no other of the rule, reports a violation with production's settings.
    """
    bad_elsewhere: Mapping[str, Mapping[str, Sequence[Row]]] = field(default_factory=dict)
    """By check and environment: fixtures in which this check reports a violation with the settings of that environment,
    and none with production's."""
    deferred: Mapping[str, Sequence[PropertyPath]] = field(default_factory=dict)
    """By reason: paths of properties whose unknown value defers a check to the update. The value decides, although no
    fixture shows it."""
