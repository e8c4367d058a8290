"""Fixtures of rules: small resources and stacks in the provider's spelling, and how to vary them."""

from __future__ import annotations

from collections.abc import Mapping
from copy import deepcopy
from dataclasses import dataclass, field, replace
from datetime import date
from typing import Any, Final

from policies.access import MISSING

DAY: Final = date(2026, 11, 21)
"""Day on which fixtures are evaluated: Kubernetes versions and approvals in them are good or bad on it."""


@dataclass(frozen=True, kw_only=True)
class FixtureResource:
    """A resource in a fixture.

    Attributes:
        type: Type token; the rule's first where not given.
        props: Its properties.
        takes: Names of resources of the fixture, by the property that comes from them.
    """

    type: str = ""
    props: Mapping[str, Any] = field(default_factory=dict)
    protect: bool = False
    ignore_changes: tuple[str, ...] = ()
    delete_before_replace: bool | None = None
    provider: Mapping[str, Any] = field(default_factory=dict)
    takes: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


Fixture = Mapping[str, FixtureResource]
"""Resources by logical name: one for a rule of one resource, all that matter for a rule of a stack."""


def one(props: Mapping[str, Any], **options: Any) -> Fixture:
    """A fixture of a single resource."""
    return {"it": FixtureResource(props=props, **options)}


def edited(props: Mapping[str, Any], path: str, value: Any = MISSING) -> dict[str, Any]:
    """A copy of properties with one value changed, or removed where none is given; `a.b.0.c` is a path."""
    copy: Any = deepcopy(dict(props))
    target = copy
    *above, last = [int(part) if part.isdigit() else part.replace("|", ".") for part in path.split(".")]
    for part in above:
        target = target[part]
    if value is MISSING:
        del target[last]
    else:
        target[last] = value
    return dict(copy)


def with_(fixture: Fixture, name: str, path: str, value: Any = MISSING) -> Fixture:
    """A fixture with one value of one of its resources changed or removed; `|` in a path is a dot within a key."""
    return {**fixture, name: replace(fixture[name], props=edited(fixture[name].props, path, value))}


def without(fixture: Fixture, *names: str) -> Fixture:
    """A fixture without some of its resources."""
    return {name: made for name, made in fixture.items() if name not in names}
