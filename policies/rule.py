"""What a rule is: what it requires, how strictly, why, and the sources.

The pack, the levels of each environment, the documentation page and the coverage table are generated from these values,
so a new rule is one `Rule` in a module of `policies/rules`, and its fixtures in the module of the same name in
`tests/policies/fixtures`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import date
from typing import Any, Final, Generic, TypeVar

from pulumi_policy import Severity

from policies.access import Node
from policies.levels import ENVIRONMENTS, Levels
from policies.resource import Resource, Stack

Subject = TypeVar("Subject", Resource, Stack)
_NAME: Final = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*")
ANY: Final = ("*",)
"""`types` of a rule that looks at every resource."""


@dataclass(frozen=True, kw_only=True)
class Violation:
    """One place in a resource or stack where a check does not hold.

    Attributes:
        path: Property that is wrong; empty where the resource as a whole is.
        got: What is there, in words that fit behind "it is": a value, or a phrase.
        at: Resource that is wrong; the one that was asked about where not given.
    """

    path: str
    got: str
    at: Resource | None = None


def violation(node: Node, got: str | None = None, at: Resource | None = None) -> Violation:
    """A violation by a property."""
    return Violation(path=node.path, got=got or node.shown, at=at)


@dataclass(frozen=True, kw_only=True)
class Setting:
    """A number or list that a rule compares with, which environments may have different.

    Attributes:
        asks: What it is, with its unit.
        schema: JSON Schema of its value.
        values: Value by environment.
    """

    asks: str
    schema: Mapping[str, Any]
    values: Mapping[str, Any]

    def __post_init__(self) -> None:
        if tuple(self.values) != ENVIRONMENTS:
            msg = f"setting {self.asks!r} has values for {', '.join(self.values)}; give one for each of {ENVIRONMENTS}"
            raise ValueError(msg)


def everywhere(value: Any) -> dict[str, Any]:
    """One value for all environments."""
    return dict.fromkeys(ENVIRONMENTS, value)


@dataclass(frozen=True, kw_only=True)
class Context:
    """What a check may know beside its subject.

    Attributes:
        settings: Settings of the rule.
        today: Day on which versions, approvals and suppressions are judged.
    """

    settings: Mapping[str, Any]
    today: date


@dataclass(frozen=True, kw_only=True)
class Check(Generic[Subject]):
    """One question of a rule, with an identity of its own: coverage and suppressions are per check.

    Attributes:
        asks: What must hold, as the end of a sentence that begins with the property: "must be true".
        find: Gives every place where it certainly does not.
        external_ids: Ids of the same question elsewhere: `CKV_AWS_38`, `AVD-AWS-0041`, `CIS-5.4.1`.
        fix: How to mend it, where it differs from the rule's.
    """

    asks: str
    find: Callable[[Subject, Context], Iterable[Violation]]
    external_ids: tuple[str, ...] = ()
    fix: str | None = None


@dataclass(frozen=True, kw_only=True)
class Rule(Generic[Subject]):
    """One rule of the pack.

    Attributes:
        name: Stable id, in kebab case: configuration and suppressions name it.
        title: What it asks for, in one sentence.
        types: Type tokens that it looks at, from `policies.tokens`.
        severity: How much harm its violation does.
        levels: How hard it is enforced, by environment.
        why: What goes wrong otherwise, with where that is known from.
        fix: How to mend a violation, in terms of the stack file or the component.
        checks: Its questions by key.
        settings: What it compares with, by name.
    """

    name: str
    title: str
    types: tuple[str, ...]
    severity: Severity
    levels: Levels
    why: str
    fix: str
    checks: Mapping[str, Check[Subject]]
    settings: Mapping[str, Setting] = field(default_factory=dict)

    def __post_init__(self) -> None:
        names = (self.name, *self.checks)
        strange = [name for name in names if not _NAME.fullmatch(name)]
        if strange or not self.checks:
            got = strange or "no check"
            msg = f"rule {self.name!r}: its name and the keys of its checks must be kebab-case words; got {got}"
            raise ValueError(msg)

    @property
    def external_ids(self) -> tuple[str, ...]:
        """Anchors of all its checks."""
        return tuple(external_id for check in self.checks.values() for external_id in check.external_ids)

    def defaults(self, environment: str) -> dict[str, Any]:
        """Its settings in an environment."""
        return {name: setting.values[environment] for name, setting in self.settings.items()}

    def looks_at(self, token: str) -> bool:
        """Whether a type is its concern."""
        return self.types == ANY or token in self.types


@dataclass(frozen=True, kw_only=True)
class ResourceRule(Rule[Resource]):
    """A rule that one resource's inputs decide: the engine makes nothing that breaks it."""


@dataclass(frozen=True, kw_only=True)
class StackRule(Rule[Stack]):
    """A rule over several resources, asked once all of them are registered. It looks at outputs, which in a preview
    hold the inputs and unknowns, and at what takes from what."""


AnyRule = ResourceRule | StackRule
